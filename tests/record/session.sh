# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# cudatrace session attach and detach: calls of programs that run already go to a module, which tests have inside
# the library (tests/userlib/fake_device.c).  The real one: tests/guest/attach.sh.  Sourced by run.sh.

in_session=$PWD/build/tests/record-in-session	# the command, which has another way to see the module
in_session() { "$in_session" "$@" 2>"$work/session.said"; }

# start_for_session NAME THREADS [VARIABLE=VALUE...]: as start_running, as $pid; the module's session runs
start_for_session()
{
	make -s -j2 -f tests/userlib/build.mk build/tests/userlib/libcudatrace-fake.so || ok 1 "the library with a module of its own builds"
	export CUDATRACE_LIBRARY=$PWD/build/tests/userlib/libcudatrace-fake.so CUDATRACE_DEVICE=$work/session.device FAKE_SESSION=$work/session.page
	: >"$work/session.log"
	: >"$CUDATRACE_DEVICE"
	# magic, abi, newest, session, recording, running
	perl -e 'print pack("V6 x4072", 0xc1fc1fc1, 1, 0, 0, 1, 1)' >"$work/session.page"
	start_in_session "$1" env "${@:3}" "$PWD/build/tests/record-running" "$2" 600 1
}

# start_in_session NAME COMMAND...: a program for the session that runs already, as $pid
start_in_session()
{
	: >"$work/$1.out"
	FAKE_LOG=$work/session.log "${@:2}" >"$work/$1.out" 2>"$work/$1.err" &
	pid=$!
	until grep -q ready "$work/$1.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

no_session() { unset CUDATRACE_LIBRARY CUDATRACE_DEVICE FAKE_SESSION; }

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
	in_session attach --pid $pid
	is $? 0 "session attach" || cat "$work/session.said"
	calls_come
	ok $? "... calls come to the module"
	grep -q '^begin .* cuMemAlloc_v2 ' "$work/session.log" && grep -q '^mark .* process ' "$work/session.log" && grep -q '^string .*early' "$work/session.log"
	ok $? "... with begins, the process and names of kernels"
	! has_left $pid
	ok $? "... which its maps show"
	refuse "one that is in it" "process $pid is in the session already$" "$in_session" attach --pid $pid
	refuse "... and which a command with another library can't leave" "was attached to by a command of another version, or with another library" \
		env CUDATRACE_LIBRARY="$PWD/build/libcudatrace.so" "$in_session" detach --pid $pid
	refuse "... by the library, too" "being recorded already" env SESSION_BLIND=1 "$in_session" attach --pid $pid
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
		in_session attach --pid $pid && calls_come && in_session detach --pid $pid && has_left $pid || break
	done
	is "$n" 3 "session detach, and attach again, three times" || cat "$work/session.said"
	calls_stay_away
	ok $? "... no calls come any more"
	# From one way to the other: its own clock, and a directory.
	no_session
	attach trace-in-session 0.3 && every_call trace-in-session
	ok $? "record --pid afterwards has every call" || cat "$work/trace-in-session.said"
	ended_well in_session
}

# A program that calls nothing has its own thread that looks.
t_in_session_idle()
{
	start_for_session in_session_idle 0
	in_session attach --pid $pid
	is $? 0 "session attach: a program that calls nothing" || cat "$work/session.said"
	! has_left $pid
	ok $? "... has the module's page"
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... and leaves by itself when no session runs"
	is "$(cat /proc/$pid/task/*/comm | grep -cx cudatrace)" 0 "... no thread of the library's is left"
	no_session
	ended_well in_session_idle
}

# Threads write into memory of the module, which goes while they do.
t_in_session_buffers()
{
	local n
	start_for_session in_session_buffers 16
	session_has 7 1 1
	for n in 1 2 3 4 5 6 7 8 9 10; do
		in_session attach --pid $pid && sleep 0.05 && in_session detach --pid $pid && has_left $pid || break
	done
	is "$n" 10 "session detach while threads write into the module's memory, ten times" || cat "$work/session.said"
	! grep -q '^mark .* cuMemAlloc_v2 ' "$work/session.log"
	ok $? "... they did: nothing came by ioctl"
	in_session attach --pid $pid
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... and they leave by themselves"
	no_session
	ended_well in_session_buffers
}

t_in_session_standby()
{
	local threads
	start_for_session in_session_standby 2 LD_PRELOAD="$PWD/build/tests/userlib/libcudatrace-fake.so" CUDATRACE_STANDBY=1
	until [ -n "$(standby_page)" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	threads=$(ls /proc/$pid/task | wc -l)
	in_session attach --pid $pid && calls_come
	ok $? "session attach: a program that stands by" || cat "$work/session.said"
	session_has 0 0 0
	wait_until has_left $pid
	ok $? "... leaves by itself when no session runs"
	session_has 0 1 1
	in_session attach --pid $pid && calls_come && in_session detach --pid $pid && has_left $pid
	ok $? "... and is there again, until session detach"
	is "$(ls /proc/$pid/task | wc -l)" "$threads" "... by the thread that it has"
	no_session
	ended_well in_session_standby
}

# Why the device can't be used is told to who asks, and not on the program's terminal.
t_in_session_refused()
{
	start_for_session in_session_refused 2
	CUDATRACE_DEVICE=$work/no-device refuse "no device in the process's root" "process $pid has no /dev/cudatrace in its root: give its container the device" \
		"$in_session" attach --pid $pid
	CUDATRACE_DEVICE=$work refuse "another error" "process $pid can't use /dev/cudatrace: " "$in_session" attach --pid $pid
	refuse "detach of one that is not in it" "process $pid is not in the session$" "$in_session" detach --pid $pid
	[ ! -s "$work/in_session_refused.err" ]
	ok $? "... without a word on its standard error" || cat "$work/in_session_refused.err"
	in_session attach --pid $pid && calls_come && in_session detach --pid $pid
	ok $? "... and with it it goes" || cat "$work/session.said"
	ended_well in_session_refused
	start_for_session in_session_version 1 FAKE_ABI=99
	refuse "a module of another version" "process $pid: the loaded module and the library there are of different versions" \
		"$in_session" attach --pid $pid
	ended_well in_session_version
	if [ "$(id -u)" = 0 ]; then
		start_for_session in_session_user 1 setpriv --reuid 65534 --clear-groups
		chmod 600 "$work/session.device"
		refuse "a device that its user may not open" "process $pid may not open /dev/cudatrace for writing" "$in_session" attach --pid $pid
		ended_well in_session_user
	fi
	no_session
}

# Which options each verb takes, of all that there are.
declare -A session_takes=(
	[start]="--groups=ioctl --ring-size=32M --subbuf-size=65536 --subbufs=16"
	[stop]="" [status]="" [pause]="" [resume]="" [flush]=""
	[filter]="--pid=1 --children --uid=root --comm=x --cgroup=/ --type=memory --none"
	[limit]="--rate=5 --bandwidth=5 --share=50 --by=user"
	[attach]="--pid=1 --all --watch --force --functions=cuMem* --types=memory --no-queries --time-queries --runtime --capture-range=cudaProfilerApi"
	[detach]="--pid=1 --all"
)

# session_line STATUS PATTERN COMMAND...: one line that matches, and nothing else
session_line()
{
	local status=$1 pattern=$2
	shift 2
	"$@" >"$work/line.out" 2>"$work/line.err"
	[ $? = "$status" ] && [ ! -s "$work/line.out" ] && [ "$(wc -l <"$work/line.err")" = 1 ] && grep -qE -- "$pattern" "$work/line.err"
}

t_session_options()
{
	local verb option name all wrong=0 count=0 allowed
	all=$(printf '%s\n' ${session_takes[*]} | sort -u)
	set -f
	for verb in "${!session_takes[@]}"; do
		for option in $all; do
			case " ${session_takes[$verb]} " in *" $option "*) continue ;; esac
			name=${option%%=*}
			count=$((count + 1))
			session_line 64 "^cudatrace session: $verb takes no $name, which goes with [a-z, ]+$" "$cudatrace" session $verb $option ||
				{ wrong=$((wrong + 1)); echo "# session $verb $option: $(cat "$work/line.err")"; }
		done
	done
	set +f
	[ $count -gt 150 ] && [ $wrong = 0 ]
	ok $? "session: an option of another verb is refused in one line, $count times"
	# What it names is true.
	session_line 64 "session: start takes no --pid, which goes with filter, attach and detach$" "$cudatrace" session start --pid 1
	ok $? "... which says whose it is" || cat "$work/line.err"
	allowed=$("$cudatrace" session --help | grep -oE '^ +--[a-z-]+' | tr -d ' ' | grep -vxE -- '--(help|usage|version)' | sort -u)
	is "$allowed" "$(printf '%s\n' $all | cut -d= -f1 | sort -u)" "... and --help has the same options"
	wrong=
	while IFS='|' read -r option name; do
		session_line 64 "$name" "$cudatrace" session $option || wrong="$wrong [$option: $(cat "$work/line.err")]"
	done <<-'END'
		attach|attach: give --pid or --all$
		detach|detach: give --pid or --all$
		attach --pid 1 --all|attach: give --pid or --all$
		attach --pid 1 --watch|--watch goes with attach --all$
		attach --pid ,|--pid: give process numbers
		filter --none --pid 1|--none goes alone$
		filter --children|--children goes with --pid$
		stop start|one verb at a time, not 'start' too$
		frobnicate|no verb 'frobnicate' \(start, stop, status, pause, resume, flush, filter, limit, attach, detach\)$
		attach --all --gpu|--gpu: .*: use cudatrace record --pid PID --keep 60s --gpu
		attach --all --gpu=nodes|--gpu: .*: use cudatrace record --pid PID --keep 60s --gpu
		attach --all --gpu-metrics|--gpu-metrics: .*: use cudatrace record --pid PID
		attach --all --stacks=all|--stacks: .*: use cudatrace record --pid PID --keep 60s --stacks
		attach --all --sample=0|--sample: .*: use cudatrace record --pid PID
		attach --all --no-nvtx|--no-nvtx: .* stands by .*: start it without
		attach --all --capture-range iteration:5|a session does not cut itself: cudatrace record --pid PID --capture-range iteration:5$
	END
	is "$wrong" "" "... what can't be is refused in one line that says what to do"
	for option in "--pid 1x" "--pid 0" "--pid -1" "--all --types kernels" "--all --capture-range x" "--all --functions $(printf 'cuMem%0600d' 1)"; do
		"$cudatrace" session attach $option >/dev/null 2>"$work/line.err"
		is "$? $(grep -c '^cudatrace session: --' "$work/line.err")" "64 1" "session attach: a bad value: ${option:0:40}" || cat "$work/line.err"
	done
	if [ ! -e /dev/cudatrace ]; then
		wrong=
		for verb in "${!session_takes[@]}"; do
			case $verb in attach) option=--all ;; detach) continue ;; *) option= ;; esac
			session_line 1 "the module is not loaded .*record --keep" "$cudatrace" session $verb $option || wrong="$wrong [$verb: $(cat "$work/line.err")]"
		done
		is "$wrong" "" "without the module each verb says so, and what there is instead"
	fi
}

# Who can't be attached to or left: one line each.
t_session_who()
{
	local wrong= who= line verb pattern zombie
	start_for_session session_who 2
	bash -c 'sleep 0 & echo $! >"$1"; exec sleep 600' - "$work/zombie" &
	zombie=$!
	wait_until test -s "$work/zombie" && wait_until grep -qs '^State:.*Z' "/proc/$(cat "$work/zombie")/status"
	while IFS='|' read -r verb who pattern; do
		case $verb in
		user:*) [ "$(id -u)" != 0 ] || session_line 1 "$pattern" setpriv --reuid 65534 --regid 65534 --clear-groups "$in_session" "${verb#user:}" --pid "$who" ;;
		self:*) session_line 1 "$pattern" sh -c 'exec "$0" "$1" --pid $$' "$in_session" "${verb#self:}" ;;
		# In a namespace of pids there may be none.
		kernel:*) [ "$(id -u):$(cat /proc/2/comm 2>/dev/null)" != 0:kthreadd ] || session_line 1 "$pattern" "$in_session" "${verb#kernel:}" --pid "$who" ;;
		*) session_line 1 "$pattern" "$in_session" "$verb" --pid "$who" ;;
		esac || wrong="$wrong [$verb $who, wanted $pattern: $(cat "$work/line.err")]"
	done <<-END
		attach|4194000|there is no process 4194000$
		detach|4194000|there is no process 4194000$
		attach|$(ls /proc/$pid/task | tail -n 1)|is a thread of process $pid: give that$
		detach|$(ls /proc/$pid/task | tail -n 1)|is a thread of process $pid: give that$
		detach|$pid|process $pid is not in the session$
		attach|$(cat "$work/zombie")|process $(cat "$work/zombie") has ended$
		detach|$(cat "$work/zombie")|process $(cat "$work/zombie") has ended$
		self:attach|itself|process [0-9]+ is this command itself$
		self:detach|itself|process [0-9]+ is this command itself$
		user:attach|$pid|process $pid: its memory map can't be read: Permission denied \\(run as root\\)$
		user:detach|$pid|process $pid: its memory map can't be read: Permission denied \\(run as root\\)$
		kernel:attach|2|process 2 has no memory of its own: it is a thread of the kernel's
		kernel:detach|2|process 2 has no memory of its own: it is a thread of the kernel's
	END
	is "$wrong" "" "session attach, detach: nobody, a thread, a zombie, itself, another user's, the kernel's"
	in_session attach --pid 4194000,$pid,4194001
	is "$? $(grep -c '^cudatrace: there is no process 419400[01]$' "$work/session.said") $(grep -c "\[$pid\] is in the session, " "$work/session.said") $(tail -n 1 "$work/session.said")" \
		"1 2 1 cudatrace: attach: 2 of 3 processes failed" "... of several, those that can be are in it" || cat "$work/session.said"
	in_session detach --pid $pid
	is $? 0 "... and leave it" || cat "$work/session.said"
	kill $zombie
	no_session
	ended_well session_who
}

# The functions of which calls came to the module since byte $came_from of its log.
came() { tail -c "+$came_from" "$work/session.log" | awk '$1 == "begin" || $1 == "mark" { print $3 }' | grep -E '^cu(da)?[A-Z]' | sort -u | tr '\n' ' '; }
# attach_with NAMES TEXT OPTION...: the process, with these options, and these functions come
attach_with()
{
	local names=$1 text=$2
	shift 2
	came_from=$(($(stat -c %s "$work/session.log") + 1))
	in_session attach --pid $pid "$@" && calls_come && { calls_come; calls_come; } && in_session detach --pid $pid
	is "$? $(came)" "0 $names" "session attach $text" || cat "$work/session.said"
}

# Which calls come: as with record --pid.
t_in_session_options()
{
	local came_from
	start_for_session in_session_options 1
	attach_with "cuLaunchKernel cuMemAlloc_v2 cuMemFree_v2 " "without options"
	attach_with "cuMemAlloc_v2 " "--functions" --functions 'cuMemAlloc*'
	attach_with "cuLaunchKernel " "--types" --types kernel
	attach_with "cuLaunchKernel cuMemFree_v2 " "--functions, all but some" --functions '!cuMemAlloc*'
	attach_with "cuLaunchKernel cuMemAlloc_v2 cuMemFree_v2 " "again without options: those of before are forgotten"
	in_session attach --pid $pid
	refuse "session attach of one that is in it with other options" "is in the session already: with other options only after session detach$" \
		"$in_session" attach --pid $pid --types kernel
	in_session detach --pid $pid
	refuse "session attach: a range that it can't tell" "process $pid has no library that could tell the range mark:x" "$in_session" attach --pid $pid --capture-range mark:x
	ended_well in_session_options
	start_in_session in_session_runtime "$PWD/build/tests/record-runtime"
	attach_with "cuCtxGetCurrent " "of a program on libcudart"
	is "$(tail -c "+$came_from" "$work/session.log" | grep -c '^begin .*cuCtxGetCurrent')" 0 "... getters are only counted"
	attach_with "cuCtxGetCurrent " "--time-queries" --time-queries
	[ "$(tail -c "+$came_from" "$work/session.log" | grep -c '^begin .*cuCtxGetCurrent')" -gt 0 ]
	ok $? "... they are timed"
	attach_with "cuCtxGetCurrent cudaGetDevice " "--runtime" --runtime
	attach_with "cudaGetDevice " "--runtime --functions" --runtime --functions 'cuda*'
	# Both are getters.
	in_session attach --pid $pid --runtime --no-queries
	is $? 0 "session attach --no-queries" || cat "$work/session.said"
	calls_stay_away
	ok $? "... no call comes"
	in_session detach --pid $pid
	no_session
	kill -TERM $pid
	wait $pid
	is "$? $(grep wrong "$work/in_session_runtime.out")" "0 wrong 0" "... and its results are right"
}

# In a namespace of pids, where --all finds nobody else's programs.
t_in_session_all()
{
	local from=$work/in-session-all
	[ "$(id -u)" = 0 ] || { skip "session attach --all: not root"; return; }
	start_for_session in_session_all 1
	kill -TERM $pid
	wait $pid
	mkdir -p "$from"
	timeout $hang unshare -pf --mount-proc bash -c '
		work=$1 from=$2 in_session=$3 running=$4
		. tests/judge.sh
		say() { "$in_session" "$@" >"$from/said" 2>&1; echo "$? $(cat "$from/said")"; }
		begin() { FAKE_LOG=$work/session.log "$running" 1 600 1 >"$from/$1.out" 2>&1 & eval "$1=$!"; wait_until grep -qs ready "$from/$1.out"; }
		session_has() { perl -e "print pack(q(V3), @ARGV)" "$@" | dd of="$FAKE_SESSION" bs=4 seek=3 conv=notrunc status=none; }
		say attach --all >"$from/none"
		begin a; begin b
		say attach --all >"$from/two"
		say attach --all >"$from/again"
		say detach --pid $a >"$from/left"
		"$in_session" attach --all --watch >"$from/watch" 2>&1 & watch=$!
		wait_until grep -q "record-running\[$a\] is in the session" "$from/watch"; echo $? >"$from/found"
		"$in_session" detach --pid $b 2>/dev/null
		begin c
		wait_until grep -q "record-running\[$c\] is in the session" "$from/watch"; echo $? >>"$from/found"
		# A look or two later.
		sleep 1.2
		say detach --pid $b >"$from/stays"
		session_has 0 0 0
		wait $watch; echo $? >>"$from/found"
		session_has 0 1 1
		"$in_session" attach --all --watch >"$from/interrupted" 2>&1 & watch=$!
		wait_until grep -q waiting "$from/interrupted"
		kill -INT $watch; kill -TERM $watch; wait $watch; echo $? >>"$from/found"
		say detach --all >"$from/all"
		say detach --all >"$from/nobody"
		kill -TERM $a $b $c; wait
		' - "$work" "$from" "$in_session" "$PWD/build/tests/record-running" 2>"$from/err"
	is $? 0 "session attach --all: it went through" || cat "$from/err"
	is "$(cat "$from/none")" "1 cudatrace: attach: no process with libcuda was there that can be brought in" "session attach --all of nobody"
	is "$(head -c 2 "$from/two")$(grep -c 'is in the session' "$from/two")" "0 2" "... of two" || cat "$from/two"
	is "$(cat "$from/again")" "0 cudatrace: attach: in the session already: 2; recorded into a trace's directory, which goes on: 0" "... of two that are in it"
	is "$(tr '\n' ' ' <"$from/found")" "0 0 0 0 " "session attach --all --watch: one that is there, one that comes; the session's end, a signal" || cat "$from/watch"
	grep -q 'attach: waiting for programs with libcuda, until the session ends or Ctrl-C$' "$from/watch" && grep -q 'attach: the session has ended$' "$from/watch"
	ok $? "... says what it waits for, and what ended it" || cat "$from/watch"
	grep -q 'is not in the session$' "$from/stays"
	ok $? "... one that another command has detached is left alone" || cat "$from/stays"
	is "$(cat "$from/nobody")" "0 cudatrace: detach: no process is in the session that was attached to" "session detach --all of nobody"
	is "$(grep -l CHANGED "$from"/*.out | wc -l) $(grep -l '^wrong 0$' "$from"/*.out | wc -l)" "0 3" "... all are as they were"
	no_session
}

# names_of PID: the lines of the snapshot's registry about it, without the number
names_of() { sed -n "s/^info \(rank\|thread_name\) $1%20/\1 /p" "$work/session-names/.registry" | sed "s/ $1%20/ itself /; s/%20/ /g" | sort | tr '\n' ';'; }

# Of the session's processes that are there, a snapshot has the ranks and names that the library would write.
t_session_names()
{
	local first second gone
	start_for_session session_names 2 RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 TORCHELASTIC_RUN_ID=none
	first=$pid
	start_in_session session_names_mpi env OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "$PWD/build/tests/record-running" 1 600 1
	second=$pid
	start_in_session session_names_gone env RANK=7 WORLD_SIZE=8 "$PWD/build/tests/record-running" 1 600 1
	gone=$pid
	# It is no process of the session.
	start_in_session session_names_other env RANK=6 WORLD_SIZE=8 "$PWD/build/tests/record-running" 1 600 1
	in_session attach --pid $first,$second,$gone
	is $? 0 "three ranks in a session" || cat "$work/session.said"
	kill -TERM $gone
	wait $gone
	mkdir -p "$work/session-names"
	"$in_session" names "$work/session-names" $first $second $gone >"$work/session-names.out"
	is "$? $(names_of $first | grep -o 'rank .*node=1 launcher=torchrun;') $(names_of $first | grep -c 'thread_name itself record-running;')" \
		"0 rank rank=5 size=8 local_rank=1 local_size=4 node=1 launcher=torchrun; 1" "a snapshot: the rank that torchrun started, and its name" || cat "$work/session-names/.registry"
	is "$(names_of $second | grep -o 'rank .*=mpirun;')" "rank rank=3 size=4 local_rank=1 launcher=mpirun;" "... the rank that mpirun started"
	is "$(names_of $gone)$(names_of $pid)" "" "... and nothing of one that is gone, nor of one that is not in the session"
	is "$(tr '\n' ' ' <"$work/session-names.out")" "5 3 -1 " "snapshot --on stuck: the ranks of processes"
	if [ "$(id -u)" = 0 ]; then
		rm -rf "$work/session-names" && mkdir -m 777 "$work/session-names"
		setpriv --reuid 65534 --regid 65534 --clear-groups "$in_session" names "$work/session-names" >/dev/null
		is "$? $(grep -c '^info' "$work/session-names/.registry")" "0 0" "... nothing of another user's"
	fi
	kill -TERM $first $second
	wait $first $second
	no_session
	ended_well session_names_other
}
