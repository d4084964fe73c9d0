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
calls() { awk -v f="$2" '$4 == f { print $1 }' "$1"; }

insmod $share/module/ct_events.ko
before=$(armed)
cudatrace probe discover 'ct_events:ct_events_*' -- \
	sh -c 'for c in task softirq hardirq task; do echo $c >/dev/ct_events; done; exit 3' >own.out 2>own.err
is $? 3 "discover over a module of ours" || cat own.err
for f in ct_events_site ct_events_plain ct_events_write; do
	is "$(calls own.out ct_events:$f)" 4 "$f: each of its calls is counted"
done
is "$(armed)" "$before" "no probe is left behind"

cudatrace probe discover 'vmlinux:vfs_*' -- sh -c 'read -r line </proc/self/stat' >vfs.out 2>vfs.err
ok $? "discover over functions of the kernel" || cat vfs.err
sed -n 's/.*cudatrace: \([0-9]* of [0-9]*\) functions armed.*/# \1/p' vfs.err
[ "$(awk '$4 ~ /vfs_read$/ { print $1 }' vfs.out)" -ge 1 ]
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
