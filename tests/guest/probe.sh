# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: cudatrace probe, on NVIDIA's real driver.

mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
# armed: the number of breakpoints and hooks, and of ftrace sites in use
armed() { echo "$(wc -l </sys/kernel/debug/kprobes/list) $(wc -l </sys/kernel/tracing/enabled_functions)"; }

# ------------------------------------------------------------------- list ---
cudatrace probe list 'nvidia_isr*' 'rm_isr*' >list.txt 2>list.err
ok $? "probe list" || cat list.err
is "$(awk '$2 == "nvidia_isr" { print $1, $3 }' list.txt)" "nvidia ftrace" "a function that kbuild compiled is probed by its ftrace site"
is "$(awk '$2 == "rm_isr" { print $1, $3 }' list.txt)" "nvidia breakpoint" "one of the prebuilt core by breakpoint"
grep -qw rm_isr /sys/kernel/tracing/available_filter_functions
[ $? -ne 0 ]
ok $? "which tracefs does not offer"
! echo 'p:ct/refused nvidia:rm_isr' 2>/dev/null >>/sys/kernel/tracing/kprobe_events
ok $? "and refuses as a kprobe event"
is "$(cudatrace probe list nothing_like_this 2>&1 | wc -l)" 1 "a glob that matches nothing: one line"
! cudatrace probe list nothing_like_this 2>/dev/null
ok $? "and a status"

# ------------------------------------------------------------ add, remove ---
follow added.jsonl
cudatrace probe add nvidia:nvidia_poll ret:mask:x32
ok $? "a probe is added while a session runs"
cudatrace probe add nvidia:rm_get_firmware_version arg0:sp:ptr 2>/dev/null
cudatrace probe add nvidia:rm_init_private_state arg0:sp:ptr ret:done:u8
ok $? "and one on a function of the prebuilt core"
cudatrace probe add nvidia:osIoctl 2>/dev/null
! cudatrace probe add nvidia:nvidia_poll 2>twice.err
ok $? "not twice"
grep -q 'probed already' twice.err
ok $? "and it says so"
! cudatrace probe add nvidia:rm_ioctl 2>twice.err && grep -q 'probed already' twice.err
ok $? "nor beside a group's that is armed"
! cudatrace probe add nvidia:no_such_function 2>absent.err && [ "$(wc -l <absent.err)" = 1 ]
ok $? "a function that is not there: one line"
! cudatrace probe add nvidia:nvidia_poll arg9:x 2>bad.err && grep -q "arg9:x" bad.err
ok $? "an argument that can't be: named"
# The last function, and whether memory is mapped behind it, depend on kernel and driver.
last=nvidia_frontend_exit_module
case $(uname -r):$(cat /sys/module/nvidia/version) in
6.12.*:535.*)
	! cudatrace probe add nvidia:$last 2>/dev/null
	ok $? "the last function of the driver's memory, which the kernel would fall over, is refused"
esac
cuinit >/dev/null
cudatrace probe status >status.txt
unfollow
grep '^added' status.txt | sed 's/^/# /'
# Probes that are added while no session runs are armed with the next session.
cudatrace probe add nvidia:rm_ioctl arg3:cmd:u32 arg5:size:u32 ret:status:x32
ok $? "a probe is added while none runs"
follow added.jsonl
cuinit >/dev/null
told added.jsonl
cudatrace probe status >status.txt
unfollow
is "$(awk '$1 == "added" && $3 == "rm_ioctl" { print $2, $4, $5, ($6 > 0) }' status.txt)" "nvidia armed breakpoint 1" "it is armed with the next session; status counts its hits"
is "$(named added.jsonl rm_ioctl | jq -c 'select(.phase=="E" and .details.cmd==42) | [.details.size, .details.status, .type]' | sort -u | head -n 1)" '[32,"0x0","driver"]' "its record has the arguments and what it returned, of their types"
case $(cat /sys/module/nvidia/version) in 535.*) other=nvidia_unlocked_ioctl ;; *) other=nvidia_frontend_unlocked_ioctl ;; esac
is "$(awk -v f=$other '$3 == f { print $5 }' status.txt)" "absent" "$other, the name of another driver, is told to be absent"
grep -qE '^[0-9]+ names: [1-9][0-9]* by ftrace site, [1-9][0-9]* by breakpoint, .* [1-9][0-9]* armed, [0-9]+ calls missed' status.txt
ok $? "status sums up what resolved, what is absent, what was missed"
for f in nvidia_poll rm_init_private_state rm_ioctl; do cudatrace probe remove nvidia:$f || echo "# $f"; done
! cudatrace probe remove nvidia:nvidia_poll 2>/dev/null
ok $? "what is removed is not removed twice"
for f in osIoctl rm_get_firmware_version $last; do cudatrace probe remove nvidia:$f 2>/dev/null; done
is "$(cudatrace probe status | grep -c '^added')" 0 "and is gone from status"

# --------------------------------------------------------------- discover ---
before=$(armed)
cuinit >plain.out
plain=$?
cudatrace probe discover 'nvidia:nvidia_*' -- cuinit >discover.out 2>discover.err
is $? $plain "discover returns the program's status" || cat discover.err
is "$(head -n 1 discover.out)" "$(cat plain.out)" "and leaves its output alone"
[ "$(awk '$2 == "nvidia:nvidia_frontend_unlocked_ioctl" || $2 == "nvidia:nvidia_unlocked_ioctl" { print $1 }' discover.out | head -1)" -ge 16 ]
ok $? "it counts the ioctls"
is "$(armed)" "$before" "no probe is left behind"
cudatrace probe discover 'nvidia:nvidia_*' -- sh -c 'cat; echo out; echo err >&2; exit 7' <plain.out >other.out 2>other.err
is "$? $(head -n 2 other.out | tail -n 1) $(grep -cx err other.err)" "7 out 1" "so do a program's input, its errors and a status of its own"
cudatrace probe discover 'nvidia:nvidia_*' -- sh -c 'kill -TERM $$' >other.out 2>other.err
is $? 143 "and its end by a signal"

# The kernel's own function tracer must count the same calls of functions with an ftrace site.
tracing=/sys/kernel/tracing
echo 'uvm_*' >$tracing/set_ftrace_filter && echo function >$tracing/current_tracer
cudatrace probe discover 'nvidia_uvm:uvm_*' -- /mnt/build/tests/rm >judged.out 2>judged.err
sed -n 's/.*: \(uvm_[a-z0-9_]*\) <-.*/\1/p' $tracing/trace | sort | uniq -c | awk '{ print $2, $1 }' >traced.txt
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
# A name may be that of several functions: each of them must have a site, and they are one sum.
awk 'FILENAME == ARGV[1] { sites[$1]++; next } $2 ~ /[tT]/ { functions[$3]++ }
     END { for (name in sites) if (sites[name] == functions[name]) print name }' \
	$tracing/available_filter_functions /proc/kallsyms >whole.txt
sed -n 's/^ *\([0-9]*\) .*nvidia_uvm:\(uvm_[a-z0-9_]*\)$/\2 \1/p' judged.out |
	awk 'NR == FNR { whole[$1] = 1; next } $1 in whole { sum[$1] += $2 }
	     END { for (name in sum) print name, sum[name] }' whole.txt - | sort >judged.txt
awk 'NR == FNR { whole[$1] = 1; next } $1 in whole' whole.txt traced.txt | sort >sums.txt
mv sums.txt traced.txt
[ "$(wc -l <judged.txt)" -gt 20 ] && cmp -s traced.txt judged.txt
ok $? "its counts are those of the kernel's own function tracer ($(wc -l <judged.txt) functions)" || diff traced.txt judged.txt

# Thousands of functions, in batches, with an estimate before and progress; the traced
# program must behave as without tracing.  (All functions on 6.12 only, because it
# takes a minute under emulation.)
globs=('nv*' 'rm_*' 'uvm_*') least=2000
case $(uname -r) in 6.12.*) ;; *) globs=('rm_*' 'uvm_va_*') least=200 ;; esac
SECONDS=0
cudatrace probe discover "${globs[@]}" -- cuinit >big.out 2>big.err
is $? $plain "discover over all of ${globs[*]}"
took=$SECONDS
is "$(head -n 1 big.out)" "$(cat plain.out)" "the program does what it did"
grep -q 'takes about' big.err
ok $? "it says beforehand how long that takes"
count=$(sed -n 's/.*cudatrace: \([0-9]*\) of [0-9]* functions armed.*/\1/p' big.err)
[ "${count:-0}" -ge $least ]
ok $? "more than $least are armed ($count)"
# Progress is printed every two seconds.
armed_in=$(sed -n 's/.*functions armed in \([0-9]*\).*/\1/p' big.err)
[ "${armed_in:-9}" -lt 4 ] || grep -q 'arming, [0-9]* of [0-9]* to go, [0-9]* s' big.err
ok $? "with progress"
grep -E 'takes about|armed in|removed in|called too often' big.err | sed "s/^/# ($took s) /"
sed -n '$p' big.out | sed 's/^/# /'
is "$(armed)" "$before" "all are removed"
awk '$2 ~ /^nvidia:(rm_|nv)/' big.out | grep -q 'nvidia:rm_ioctl$'
ok $? "functions of the prebuilt core are counted too"

# No probe stays armed.
gone() { [ "$(armed)" = "$before" ]; }
# The command is interrupted and killed while it arms probes, by site and by breakpoint.
for how in INT TERM KILL; do
	rm -f stop.err
	cudatrace probe discover 'uvm_*' 'nv*' -- cuinit >stop.out 2>stop.err & discover=$!
	wait_for stop.err 'takes about'
	during=$(armed)
	kill -$how $discover
	wait $discover
	[ $? -ne 0 ] && ! grep -q 'functions were called' stop.out
	ok $? "discover ends when SIG$how comes while it arms"
	[ "${during% *}" -gt "$((${before% *} + 20))" ] && [ "${during#* }" -gt "$((${before#* } + 20))" ]
	ok $? "(breakpoints and ftrace sites in use: $before, then $during)"
	wait_until gone
	is "$(armed)" "$before" "and leaves no probe behind"
done
# The command is interrupted while the program runs.
running()
{
	rm -f stop.out
	cudatrace probe discover 'nvidia:nvidia_*' 'nvidia:rm_is*' -- sh -c 'echo runs $$; exec sleep 1000' >stop.out 2>stop.err & discover=$!
	wait_for stop.out runs
}
running
kill -KILL $discover
wait $discover 2>/dev/null
wait_until gone
kill "$(sed -n 's/^runs //p' stop.out)"
is "$(armed)" "$before" "nor when it is killed while the program runs"
running
kill -INT $discover
wait $discover 2>/dev/null
is $? 130 "a signal goes on to the program"
is "$(armed)" "$before" "and nothing is left behind"
grep -q 'functions were called' stop.out
ok $? "what it called until then is told"
is "$(cudatrace probe status | grep -c '^added')" 0 "status knows of none"

# UVM's own load test makes hundreds of thousands of calls a second.  (It fails where the scheduler
# moves its thread to another memory node: rm.sh judges it.)
if [ -x /mnt/build/tests/rm ]; then
	cudatrace probe discover --hot 100 'nvidia_uvm:nv_kthread_q_*' -- sh -c '
		/mnt/build/tests/rm selftest; /mnt/build/tests/rm selftest; true' >hot.out 2>hot.err
	ok $? "discover of a function that is called too often" || cat hot.err
	grep -q 'nv_kthread_q_schedule_q_item is called too often' hot.err
	ok $? "it is cut off and reported" || cat hot.err hot.out
	grep -q '[0-9]+ .*nv_kthread_q_schedule_q_item' hot.out
	ok $? "with its count as a least"
fi
