# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: cudatrace probe discover, on functions of ct_events.ko and of the
# kernel; no driver is needed.  probe.sh tests the driver's functions.

mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
# armed: the number of breakpoints and hooks, and of ftrace sites in use
armed() { echo "$(wc -l </sys/kernel/debug/kprobes/list) $(wc -l </sys/kernel/tracing/enabled_functions)"; }
gone() { [ "$(armed)" = "$before" ]; }
# calls FILE FUNCTION: how often it was called, according to discover
calls() { awk -v f="$2" '$2 == f { print $1 }' "$1"; }
# left_out FILE WHY: how many functions were not armed for that reason
left_out() { sed -n "s/^cudatrace: left out: \([0-9]*\) $2\$/\1/p" "$1"; }

insmod $share/module/ct_events.ko
before=$(armed)
cudatrace probe discover 'ct_events:ct_events_*' -- \
	sh -c 'for c in task softirq hardirq task deep; do echo $c >/dev/ct_events; done; exit 3' >own.out 2>own.err
is $? 3 "discover over a module of ours" || cat own.err
for f in ct_events_site ct_events_plain; do
	is "$(calls own.out ct_events:$f)" 4 "$f: each of its calls is counted, in a task and in interrupts"
done
is "$(calls own.out ct_events:ct_events_deep)" 5 "a function that calls itself: each of its calls"
is "$(calls own.out ct_events:ct_events_write)" 5 "and what called them all"
is "$(armed)" "$before" "no probe is left behind"

cudatrace probe discover 'ct_events:ct_events_*' -- sh -c '
	echo task >/dev/ct_events; cudatrace session pause; echo task >/dev/ct_events
	cudatrace session resume; echo task >/dev/ct_events' >pause.out 2>pause.err
is "$(calls pause.out ct_events:ct_events_site) $(calls pause.out ct_events:ct_events_plain)" "2 2" \
	"while the session is paused, nothing is counted" || cat pause.out pause.err

# Functions of this module, and those where the kernel takes no probe.
cudatrace probe discover 'cudatrace:*' -- sh -c 'cudatrace probe status >/dev/null; exit 4' >self.out 2>self.err
is $? 4 "discover over functions of cudatrace itself"
is "$(tail -n 1 self.out)" "0 of 0 functions were called" "counts none of them"
[ "$(left_out self.err "of cudatrace's own module")" -gt 100 ]
ok $? "and says so" || cat self.err
cudatrace probe discover 'vmlinux:asm_exc_int3' 'vmlinux:vfs_read' -- true >refused.out 2>refused.err
is "$? $(left_out refused.err "where the kernel allows no probe")" "0 1" \
	"a function that the kernel lets nobody probe is left out" || cat refused.err
# What runs inside a breakpoint's handler, and where ftrace calls us: the kernel allows no kprobe
# there, but by their sites they can be counted.
cudatrace probe discover 'vmlinux:*kprobe*' 'vmlinux:*hook*' 'vmlinux:*ftrace*' 'vmlinux:*int3*' 'ct_events:*' -- \
	sh -c 'for c in task softirq hardirq; do echo $c >/dev/ct_events; done' >inside.out 2>inside.err
is "$? $(calls inside.out ct_events:ct_events_site) $(calls inside.out ct_events:ct_events_plain)" "0 3 3" \
	"discover over what kprobes and ftrace run themselves" || cat inside.err
sed -n 's/^cudatrace: \(.*armed.*\|left out.*\)/# \1/p' inside.err
cudatrace probe discover '*' -- sh -c 'echo task >/dev/ct_events; cudatrace probe status >/dev/null; exit 5' >all.out 2>all.err
is $? 5 "discover over all functions of all modules" || cat all.err
sed -n 's/^cudatrace: \(.*armed.*\|left out.*\)/# \1/p' all.err
is "$(calls all.out ct_events:ct_events_site) $(calls all.out ct_events:ct_events_plain)" "1 1" "counts them"
is "$(grep -c ' cudatrace:' all.out)" 0 "but for its own"
is "$(armed)" "$before" "no probe is left behind"

# Thousands of functions with an ftrace site are armed in one pass.
cudatrace probe discover 'vmlinux:[de]*' -- true >many.out 2>many.err
ok $? "discover over thousands of functions" || cat many.err
[ "$(sed -n 's/.*cudatrace: \([0-9]*\) of [0-9]* functions armed.*/\1/p' many.err)" -gt 1000 ]
ok $? "which are armed" || cat many.err
sed -n 's/^cudatrace: \(.*armed.*\|left out.*\|probes removed.*\)/# \1/p' many.err
is "$(armed)" "$before" "no probe is left behind"

# A module goes, and comes again, perhaps to the same place.
cudatrace probe discover 'ct_events:ct_events_*' 'vmlinux:vfs_read' -- sh -c "
	echo task >/dev/ct_events; rmmod ct_events; insmod $share/module/ct_events.ko
	echo task >/dev/ct_events" >goes.out 2>goes.err
ok $? "a module goes while its functions are counted" || cat goes.err
is "$(calls goes.out ct_events:ct_events_site) $(calls goes.out ct_events:ct_events_plain)" "1 1" \
	"calls until then are counted"
is "$(armed)" "$before" "no probe is left behind"

# A function that is called too often, by site and by breakpoint.
timeout $hang cudatrace probe discover --hot 10 'ct_events:ct_events_site' 'ct_events:ct_events_plain' -- sh -c '
	until [ "$(grep -c "called too often" hot.err)" = 2 ]; do
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo task >/dev/ct_events; done
	done' >hot.out 2>hot.err
is "$? $(grep -c '[0-9]+  ct_events:' hot.out)" "0 2" "a function that is called too often is cut off, its count is a least" ||
	cat hot.out hot.err
is "$(armed)" "$before" "no probe is left behind"

cudatrace probe discover 'vmlinux:vfs_*' -- sh -c 'read -r line </proc/self/stat' >vfs.out 2>vfs.err
ok $? "discover over functions of the kernel" || cat vfs.err
sed -n 's/.*cudatrace: \([0-9]* of [0-9]*\) functions armed.*/# \1/p' vfs.err
[ "$(awk '$2 ~ /vfs_read$/ { print $1 }' vfs.out)" -ge 1 ]
ok $? "which the program called" || cat vfs.out
is "$(armed)" "$before" "and none is left behind"

cudatrace probe discover 'ct_events:ct_events_*' 'vmlinux:vfs_*' -- \
	sh -c 'echo task >/dev/ct_events; echo runs $$; exec sleep 1000' >killed.out 2>killed.err & discover=$!
wait_for killed.out runs
kill -KILL $discover
wait $discover 2>/dev/null
wait_until gone
is "$(armed)" "$before" "nor when it is killed while the program runs"
kill "$(sed -n 's/^runs //p' killed.out)"
rmmod ct_events
