# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: who waits while a session ends, which may take long.  The end waits for an
# RCU grace period, and none ends while ct_events.ko holds the other CPU.

waits_held() { [ "$(cat /sys/module/ct_events/parameters/holding)" = Y ]; }
# waits_asleep PID: it waits in the kernel, so that only a fatal signal, or none, wakes it
waits_asleep() { [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = D ]; }
waits_gone() { ! kill -0 "$1" 2>/dev/null; }

if [ "$(nproc)" -lt 2 ]; then
	skip "who waits while a session ends: needs two CPUs"
else
	insmod $share/module/ct_events.ko
	taskset -p 1 $$ >/dev/null
	cudatrace session start --groups added
	taskset 2 bash -c 'echo hold >/dev/ct_events' & holder=$!
	wait_until waits_held
	cudatrace session stop & stop=$!
	wait_until waits_asleep $stop
	ok $? "the end of a session waits for the other CPU"
	cudatrace session status >/dev/null 2>&1 & status=$!
	wait_until waits_asleep $status
	insmod $share/module/nvidia.ko 2>/dev/null & load=$!
	wait_until waits_asleep $load
	insmod $share/module/ct_other.ko
	loaded ct_other && waits_asleep $stop && waits_held
	ok $? "meanwhile a module that nothing probes is loaded"
	kill -KILL $status $load
	wait_until waits_gone $status
	waits_asleep $stop && waits_held
	ok $? "a command that waits for the session can be killed"
	echo release >/dev/ct_events
	wait $holder
	wait $stop
	ok $? "then the session ends"
	wait $load
	! loaded nvidia
	ok $? "and the load that was killed while it waited has not been done"
	! loaded nvidia || rmmod nvidia
	wait $status
	taskset -p ffffffff $$ >/dev/null
	rmmod ct_other
	rmmod ct_events
	ok $? "the tests' modules unload"
fi
