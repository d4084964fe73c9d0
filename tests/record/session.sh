# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# cudatrace session attach and detach: calls of programs that run already go to a module, which tests have inside
# the library (tests/userlib/fake_device.c).  The real one: tests/guest/attach.sh.  Sourced by run.sh.

in_session() { "$PWD/build/tests/record-in-session" "$@" 2>"$work/session.said"; }

# start_for_session NAME THREADS [VARIABLE=VALUE...]: as start_running, as $pid; the module's session runs
start_for_session()
{
	make -s -j2 -f tests/userlib/build.mk build/tests/userlib/libcudatrace-fake.so || ok 1 "the library with a module of its own builds"
	export CUDATRACE_LIBRARY=$PWD/build/tests/userlib/libcudatrace-fake.so CUDATRACE_DEVICE=$work/session.device
	: >"$work/session.log"
	: >"$CUDATRACE_DEVICE"
	# magic, abi, newest, session, recording, running
	perl -e 'print pack("V6 x4072", 0xc1fc1fc1, 1, 0, 0, 1, 1)' >"$work/session.page"
	FAKE_LOG=$work/session.log FAKE_SESSION=$work/session.page env "${@:3}" "$PWD/build/tests/record-running" "$2" 600 1 >"$work/$1.out" 2>"$work/$1.err" &
	pid=$!
	until grep -q ready "$work/$1.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

# session_has SESSION RECORDING RUNNING: words of the clock page
session_has() { perl -e 'print pack("V3", @ARGV)' "$@" | dd of="$work/session.page" bs=4 seek=3 conv=notrunc status=none; }

log_is_larger() { [ "$(stat -c %s "$work/session.log")" -gt "$1" ]; }
# Calls come to the module.
calls_come() { wait_until log_is_larger "$(stat -c %s "$work/session.log")"; }
log_rests()
{
	local size
	size=$(stat -c %s "$work/session.log")
	sleep 0.3
	! log_is_larger "$size"
}
calls_stay_away() { wait_until log_rests; }

# has_left PID: neither the module's page nor its device is there any more
has_left() { ! grep -qF "$work/session.page" "/proc/$1/maps" && ! readlink "/proc/$1"/fd/* | grep -qxF "$work/session.device"; }

has_one_thread_of_ours() { [ "$(cat /proc/$pid/task/*/comm | grep -cx cudatrace)" = 1 ]; }

t_in_session()
{
	local n child
	start_for_session in_session 2
	in_session attach $pid
	is $? 0 "session attach" || cat "$work/session.said"
	calls_come
	ok $? "... calls come to the module"
	grep -q '^begin .* cuMemAlloc_v2 ' "$work/session.log" && grep -q '^mark .* process ' "$work/session.log" && grep -q '^string .*early' "$work/session.log"
	ok $? "... with begins, the process and names of kernels"
	! has_left $pid
	ok $? "... which its maps show"
	refuse "one that is in it" "being recorded already" "$PWD/build/tests/record-in-session" attach $pid
	wait_until has_one_thread_of_ours
	ok $? "... which leaves no thread more there"
	kill -USR1 $pid
	wait_until grep -q '^child [0-9]' "$work/in_session.out"
	child=$(sed -n 's/^child \([0-9]*\)$/\1/p' "$work/in_session.out")
	wait_until grep -q "^mark $child cuMemFree_v2 " "$work/session.log"
	ok $? "... and those of a child that it forks"
	# A pause is no end, however long.
	session_has 0 0 1
	calls_stay_away
	sleep 6.5
	! has_left $pid
	ok $? "session attach: a session that pauses is not left"
	session_has 0 1 1
	calls_come
	ok $? "... and has calls again afterwards"
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "session attach: when no session runs the process leaves by itself"
	wait_until has_left "$child"
	ok $? "... and so does its child"
	kill -TERM "$child"
	wait_until grep -q "^child's word as before" "$work/in_session.out"
	ok $? "... where libcuda's table is as it was, too" || cat "$work/in_session.out"
	session_has 0 1 1
	for n in 1 2 3; do
		in_session attach $pid && calls_come && in_session detach $pid && has_left $pid || break
	done
	is "$n" 3 "session detach, and attach again, three times" || cat "$work/session.said"
	calls_stay_away
	ok $? "... no calls come any more"
	# From one way to the other: its own clock, and a directory.
	unset CUDATRACE_LIBRARY CUDATRACE_DEVICE
	attach trace-in-session 0.3 && every_call trace-in-session
	ok $? "record --pid afterwards has every call" || cat "$work/trace-in-session.said"
	ended_well in_session
}

# A program that calls nothing has its own thread that looks.
t_in_session_idle()
{
	start_for_session in_session_idle 0
	in_session attach $pid
	is $? 0 "session attach: a program that calls nothing" || cat "$work/session.said"
	! has_left $pid
	ok $? "... has the module's page"
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... and leaves by itself when no session runs"
	is "$(cat /proc/$pid/task/*/comm | grep -cx cudatrace)" 0 "... no thread of the library's is left"
	unset CUDATRACE_LIBRARY CUDATRACE_DEVICE
	ended_well in_session_idle
}

# Threads write into memory of the module, which goes while they do.
t_in_session_buffers()
{
	local n
	start_for_session in_session_buffers 16
	session_has 7 1 1
	for n in 1 2 3 4 5 6 7 8 9 10; do
		in_session attach $pid && sleep 0.05 && in_session detach $pid && has_left $pid || break
	done
	is "$n" 10 "session detach while threads write into the module's memory, ten times" || cat "$work/session.said"
	! grep -q '^mark .* cuMemAlloc_v2 ' "$work/session.log"
	ok $? "... they did: nothing came by ioctl"
	in_session attach $pid
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... and they leave by themselves"
	unset CUDATRACE_LIBRARY CUDATRACE_DEVICE
	ended_well in_session_buffers
}

t_in_session_standby()
{
	local threads
	start_for_session in_session_standby 2 LD_PRELOAD="$PWD/build/tests/userlib/libcudatrace-fake.so" CUDATRACE_STANDBY=1
	until [ -n "$(standby_page)" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	threads=$(ls /proc/$pid/task | wc -l)
	in_session attach $pid && calls_come
	ok $? "session attach: a program that stands by" || cat "$work/session.said"
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... leaves by itself when no session runs"
	session_has 0 1 1
	in_session attach $pid && calls_come && in_session detach $pid && has_left $pid
	ok $? "... and is there again, until session detach"
	is "$(ls /proc/$pid/task | wc -l)" "$threads" "... by the thread that it has"
	unset CUDATRACE_LIBRARY CUDATRACE_DEVICE
	ended_well in_session_standby
}

# Why the device can't be used is told to who asks, and not on the program's terminal.
t_in_session_refused()
{
	start_for_session in_session_refused 2
	CUDATRACE_DEVICE=$work/no-device refuse "no device in the process's root" "process $pid has no /dev/cudatrace in its root: give its container the device" \
		"$PWD/build/tests/record-in-session" attach $pid
	CUDATRACE_DEVICE=$work refuse "another error" "process $pid can't use /dev/cudatrace: " "$PWD/build/tests/record-in-session" attach $pid
	refuse "detach of one that is not in it" "was attached to by a command of another version, or with another library" \
		env CUDATRACE_LIBRARY="$PWD/build/libcudatrace.so" "$PWD/build/tests/record-in-session" detach $pid
	[ ! -s "$work/in_session_refused.err" ]
	ok $? "... without a word on its standard error" || cat "$work/in_session_refused.err"
	in_session attach $pid && calls_come && in_session detach $pid
	ok $? "... and with it it goes" || cat "$work/session.said"
	ended_well in_session_refused
	start_for_session in_session_version 1 FAKE_ABI=99
	refuse "a module of another version" "process $pid: the loaded module and the library there are of different versions" \
		"$PWD/build/tests/record-in-session" attach $pid
	ended_well in_session_version
	if [ "$(id -u)" = 0 ]; then
		start_for_session in_session_user 1 setpriv --reuid 65534 --clear-groups
		chmod 600 "$work/session.device"
		refuse "a device that its user may not open" "process $pid may not open /dev/cudatrace for writing" "$PWD/build/tests/record-in-session" attach $pid
		ended_well in_session_user
	fi
	unset CUDATRACE_LIBRARY CUDATRACE_DEVICE
	[ -e /dev/cudatrace ] || refuse "session attach without the module" "the module is not loaded" "$cudatrace" session attach --all
	refuse "session attach of nobody" "give --pid or --all" "$cudatrace" session attach
	refuse "... of somebody and all" "give --pid or --all" "$cudatrace" session detach --pid 1 --all
	refuse "... and --watch with --pid" "goes with attach --all" "$cudatrace" session attach --pid 1 --watch
	refuse "... and other verbs with --all" "go with attach and detach" "$cudatrace" session stop --all
}
