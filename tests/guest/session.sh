# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: session attach and detach: calls of programs that already run, in the module's session.

# An emulated thread may need long, where the machine has other work.
export CUDATRACE_ATTACH_DEADLINE=300

# calls_of PID TRACE: how many of its calls that returned are there
calls_of() { cudatrace export --format jsonl -f -o calls.jsonl "$2" 2>calls.notes && named calls.jsonl cuMemFree | grep -F '"phase":"E"' | grep -cF "\"pid\":$1,"; }

# in_session PID: its calls are in a snapshot of the session
in_session()
{
	cudatrace session flush && cudatrace snapshot -q -f -o session-copy 2>snapshot.err || return 1
	[ "$(calls_of "$1" session-copy)" -gt 10 ]
}

# has_left PID: neither the module's page nor its device is there any more
has_left() { ! grep -qF '[cudatrace-clock]' "/proc/$1/maps" && ! readlink "/proc/$1"/fd/* | grep -qx /dev/cudatrace; }

# refused TEXT PATTERN COMMAND...: one line that matches
refused()
{
	local text=$1 pattern=$2
	shift 2
	"$@" >refused.out 2>refused.err
	[ $? -ne 0 ] && [ "$(wc -l <refused.err)" = 1 ] && grep -qE -- "$pattern" refused.err
	ok $? "$text" || cat refused.err
}

start_as env RANK=2 WORLD_SIZE=4
refused "session attach without a session" "no session runs" cudatrace session attach --pid $pid
cudatrace session start
ok $? "a session"
cudatrace session attach --pid $pid 2>session.said
ok $? "session attach" || cat session.said
grep -qE "^cudatrace: record-running\[$pid\] is in the session, one of its threads stood still for [0-9.]+ ms$" session.said
ok $? "... says for how long a thread stood still" || cat session.said
wait_until in_session $pid
ok $? "... the program's calls are in the session" || cat snapshot.err calls.notes
is "$(grep '"op":"launch"' calls.jsonl | grep '"phase":"E"' | grep -o '"kernel":[^,}]*' | sort -u)" '"kernel":"early()"' "... with the names of its kernels"
refused "one that is in it" "is in the session already" cudatrace session attach --pid $pid
cudatrace session attach --all 2>session.said
is "$? $(cat session.said)" "0 cudatrace: attach: in the session already: 1; recorded into a trace's directory, which goes on: 0" "session attach --all has nothing to do then, and says so"
refused "one that is in it, with other options" "with other options only after session detach" cudatrace session attach --pid $pid --types kernel
grep -qF "info rank $pid%20rank=2%20size=4" session-copy/.registry && grep -qF "info thread_name $pid%20$pid%20record-running" session-copy/.registry
ok $? "a snapshot has the process's rank and name" || grep -a '^info' session-copy/.registry

# A pause is no end.
cudatrace session pause && sleep 8 && cudatrace session resume
! has_left $pid
ok $? "it stays while the session pauses"
cudatrace session stop && cudatrace session start
wait_until in_session $pid
ok $? "... and is in the next session"

# In that of a recorder, which reads the memory that threads write into.
cudatrace session stop
cudatrace record -q -f -o session-record -- sleep 3 2>session.err
ok $? "beside it, record through the module" || cat session.err
n=$(calls_of $pid session-record)
[ "${n:-0}" -gt 10 ] && ! grep -q lost calls.notes
ok $? "... has its calls, too, and none is lost ($n)" || cat calls.notes
ls session-record/u-$pid-* >/dev/null 2>&1
ok $? "... from its threads' own buffers" || ls session-record

# Nobody records any more.
wait_until has_left $pid
ok $? "when no session runs, it leaves by itself"
unload-module && load-module
ok $? "... and the module can be unloaded while it runs on"

cudatrace session start
cudatrace session attach --pid $pid 2>session.said && wait_until in_session $pid
ok $? "attached again, to a module that was loaded anew" || cat session.said
cudatrace session detach --all 2>session.said
is "$? $(grep -c "record-running\[$pid\] is as before" session.said)" "0 1" "session detach --all" || cat session.said
has_left $pid
ok $? "... has left at once"
# Which calls come, as with record.
cudatrace session stop && cudatrace session start
cudatrace session attach --pid $pid --functions 'cuMemFree*' 2>session.said && wait_until in_session $pid
ok $? "session attach --functions" || cat session.said
is "$(grep -F "\"pid\":$pid," calls.jsonl | grep -o '"name":"cu[A-Z][^"]*"' | sort -u)" '"name":"cuMemFree"' "... has calls of these alone"
cudatrace session detach --pid $pid 2>/dev/null
refused "detach of one that was left" "is not in the session" cudatrace session detach --pid $pid
refused "session attach of a user who may not" "memory map can't be read|ptrace_scope|may not be opened" setpriv --reuid 1000 --regid 1000 --clear-groups cudatrace session attach --pid $pid
refused "a thread of the kernel's" "process 2 has no memory of its own" cudatrace session attach --pid 2
ends_well "session attach"

# One that stands by needs no ptrace.
LD_PRELOAD=/mnt/build/libcudatrace.so CUDATRACE_STANDBY=1 start_as env
cudatrace session attach --pid $pid 2>session.said
is "$? $(grep -c "record-running\[$pid\] is in the session, which stood by$" session.said)" "0 1" "session attach: a program that stands by" || cat session.said
wait_until in_session $pid
ok $? "... has its calls there"
cudatrace session detach --pid $pid 2>/dev/null && has_left $pid
ok $? "... until session detach"
ends_well "standby"

# Who may not have the device.
start_as unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@"' sh
refused "a container without the device" "process $pid has no /dev/cudatrace in its root: give its container the device" cudatrace session attach --pid $pid
ends_well "without the device"
start_as setpriv --reuid 1000 --regid 1000 --clear-groups
mode=$(stat -c %a /dev/cudatrace)
chmod 600 /dev/cudatrace
refused "a user who may not open the device" "process $pid may not open /dev/cudatrace for writing" cudatrace session attach --pid $pid
chmod "$mode" /dev/cudatrace
cudatrace session attach --pid $pid 2>session.said && wait_until in_session $pid
ok $? "... and who may" || cat session.said
first=$pid
mv attach.out attach-first.out

# Programs that start meanwhile.
cudatrace session attach --all --watch 2>watch.said &
watch=$!
start_as env
wait_for watch.said "record-running\[$pid\] is in the session"
ok $? "session attach --all --watch: one that starts later" || cat watch.said
wait_until in_session $pid && wait_until in_session $first
ok $? "... both are there"
cudatrace session stop
wait $watch
is "$? $(tail -n 1 watch.said)" "0 cudatrace: attach: the session has ended" "... and it ends with the session, and says so" || cat watch.said
wait_until has_left $pid && wait_until has_left $first
ok $? "... which both have left"
ends_well "--watch"
kill -TERM $first
wait $first
! grep -q CHANGED attach-first.out && grep -q '^wrong 0$' attach-first.out
ok $? "... so has the first" || cat attach-first.out
rm -rf session-copy session-record
unset CUDATRACE_ATTACH_DEADLINE
