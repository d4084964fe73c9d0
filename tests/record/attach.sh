# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --pid and --all: programs that already run.  Sourced by run.sh.

# start_running NAME THREADS [ROUNDS]: tests/record/running.c, as $pid; its output in $work/NAME.out
start_running()
{
	# Ten thousand cycles take hours.
	local seconds=600
	[ -z "${CT_TEST_LONG:-}" ] || seconds=80000
	# "ready" is not the word of one before, which would be found before the program is there.
	: >"$work/$1.out"
	"$PWD/build/tests/record-running" "$2" $seconds "${3:-0}" >"$work/$1.out" 2>"$work/$1.err" &
	pid=$!
	until grep -q ready "$work/$1.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

# ended_well NAME [recorded]: it ends with all results right, and (unless it is recorded) libcuda's
# word as it was
ended_well()
{
	kill -TERM $pid
	wait $pid
	[ $? = 0 ] && grep -q '^wrong 0$' "$work/$1.out" && { [ -n "${2:-}" ] || ! grep -q CHANGED "$work/$1.out"; }
	ok $? "$1: the program's results are right$([ -n "${2:-}" ] || echo ", and libcuda's table is as it was")" || cat "$work/$1.out" "$work/$1.err"
}

# attach TRACE SECONDS [OPTION...]: records $pid
attach()
{
	local trace=$1 seconds=$2
	shift 2
	"$cudatrace" record -q -f -o "$work/$trace" --pid $pid --duration "$seconds" "$@" 2>"$work/$trace.said"
}

# every_call TRACE: of each thread all allocations from its first to its last are there, each freed
every_call()
{
	"$cudatrace" export --format csv -f -o "$work/$1.csv" "$work/$1" 2>"$work/$1.notes" || return 1
	[ ! -s "$work/$1.notes" ] || grep -v "^cudatrace: $work" "$work/$1.notes"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		$col["name"] == "cuMemAlloc" && $col["phase"] == "E" {
			n = $col["size"] / 16; t = $col["tid"]
			if (t in last && n != last[t] % 5000000 + 1) { printf "# thread %s: %d follows %d\n", t, n, last[t]; bad = 1 }
			last[t] = n; allocations++
		}
		$col["name"] == "cuMemFree" && $col["phase"] == "E" { frees++ }
		END { for (t in last) threads++
			d = allocations - frees
			if (d < 0) d = -d
			printf "# %d allocations in %d threads\n", allocations, threads
			exit bad || !allocations || d > 2 * threads }' "$work/$1.csv"
}

# A recorded process becomes another program; and others come and go.
t_attach_exec()
{
	local dir=$work/trace-exec running=$PWD/build/tests/record-running
	rm -f "$work/exec.go"
	mkfifo "$work/exec.go"
	LD_PRELOAD=libcuda.so.1 bash -c 'read -r x; exec "$@"' - "$running" 1 60 30 <"$work/exec.go" >"$work/exec.out" 2>&1 &
	pid=$!
	exec 7>"$work/exec.go"
	wait_until grep -q libcuda "/proc/$pid/maps"
	"$cudatrace" record -q -f -o "$dir" --pid $pid 2>"$work/exec.said" &
	wait_until grep -q 'recording bash' "$work/exec.said"
	echo go >&7
	wait $!
	is "$? $(grep -c "process $pid runs another program by now (exec), which is not recorded" "$work/exec.said")" "0 1" "record --pid ends where the process becomes another program, and says so" ||
		cat "$work/exec.said"
	wait_until grep -q ready "$work/exec.out"
	kill -TERM $pid
	wait $pid
	is "$(grep -c '^wrong 0$' "$work/exec.out")" 1 "... which works" || cat "$work/exec.out"
	if [ "$(id -u)" != 0 ] || ! unshare -pf --mount-proc true 2>/dev/null; then
		skip "record --all and exec: needs root, and a namespace of pids"
		exec 7>&-
		return
	fi
	# shellcheck disable=SC2016
	timeout $hang unshare -pf --mount-proc bash -c 'work=$1 running=$2 dir=$3 cudatrace=$4
		LD_PRELOAD=libcuda.so.1 bash -c "read -r x; exec $running 1 60 30" <"$work/exec.go" >"$work/exec.out" 2>&1 & program=$!
		until grep -qs libcuda /proc/$program/maps; do sleep 0.05; done
		"$cudatrace" record -q -f -o "$dir" --all 2>"$work/exec.said" & recorder=$!
		until grep -q "recording bash" "$work/exec.said"; do sleep 0.05; done
		# It ends before it can be taken: nothing is said of it.
		LD_PRELOAD=libcuda.so.1 bash -c : ; touch "$work/exec.ready"
		until grep -q "recording record-running" "$work/exec.said"; do sleep 0.05; done
		sleep 0.3; kill -TERM $program; wait $program; kill -INT $recorder; wait $recorder' - "$work" "$running" "$dir" "$cudatrace" &
	wait_until test -e "$work/exec.ready"
	echo go >&7
	wait $!
	is "$? $(grep -c '^wrong 0$' "$work/exec.out")" "0 1" "record --all takes what it became" || cat "$work/exec.said"
	every_call trace-exec
	ok $? "... and has its calls"
	is "$(grep -vc 'recording \|trace in' "$work/exec.said")" 0 "... no more is said" || cat "$work/exec.said"
	exec 7>&-
	rm -f "$work/exec.go" "$work/exec.ready"
}

t_attach()
{
	start_running attach 6 200
	attach trace-attach 0.3
	is $? 0 "attach: record --pid" || cat "$work/trace-attach.said"
	grep -qE "recording record-running\[$pid\].* stood still for [0-9.]+ ms" "$work/trace-attach.said"
	ok $? "... says for how long a thread stood still"
	every_call trace-attach
	ok $? "... every call of each thread is there"
	# Of hundreds of thousands of calls: what is different is few.
	is "$("$cudatrace" export --format jsonl -o - "$work/trace-attach" 2>/dev/null | grep '"op":"launch"' | grep '"phase":"E"' |
		grep -o '"kernel":[^,}]*' | sort -u)" '"kernel":"early()"' "... a kernel that was looked up before has its name"
	! grep -q GetName "$work/trace-attach/.registry"
	ok $? "... for which the library's own question is not recorded"
	! "$cudatrace" report "$work/trace-attach" 2>&1 | grep -q "not recorded"
	ok $? "... calls from before are not called missing"
	babeltrace2 "$work/trace-attach" >/dev/null 2>"$work/attach.bt" && [ ! -s "$work/attach.bt" ]
	ok $? "... and babeltrace2 reads it"
	! find "$work/trace-attach" -name '.open*' | grep -q .
	ok $? "... the trace is finished while the program goes on"
	# Again and again, with one copy of the library.
	for i in 1 2 3 4 5; do
		attach trace-again 0.2 && every_call trace-again >/dev/null || break
	done
	is "$i" 5 "attached again, five times"
	is "$(grep -c 'r-xp.*memfd:libcudatrace-' "/proc/$pid/maps")" 1 "... there is one copy of the library"
	! grep "$work/.*\.open-" "/proc/$pid/maps"
	ok $? "... and no stream of a trace is mapped"
	# SIGUSR2 is the command's here, also where all is kept.
	nohup "$cudatrace" record -q -f -o "$work/trace-attach-copy" --pid $pid 2>"$work/attach-copy.said" >/dev/null &
	local recorder=$!
	wait_until grep -q 'stood still' "$work/attach-copy.said"
	rm -rf "$work/trace-attach-copy-1"
	kill -HUP $recorder
	sleep 0.3
	kill -USR2 $recorder
	wait_until grep -q "snapshot in $work/trace-attach-copy-1 (SIGUSR2)" "$work/attach-copy.said"
	kill -INT $recorder
	wait $recorder
	is $? 0 "SIGUSR2 to record --pid, and SIGHUP under nohup: it goes on" || cat "$work/attach-copy.said"
	every_call trace-attach-copy-1 && every_call trace-attach-copy
	ok $? "... with a copy" || cat "$work/attach-copy.said"
	"$cudatrace" record -q -f -o "$work/trace-attach-closed" --pid $pid --duration 0.2 <&- >&- 2>&-
	is "$? $(cat "$work/trace-attach-closed/.registry" "$work/trace-attach-closed/metadata" | grep -c '^cudatrace: ')" "0 0" "its files are closed: no message goes into the trace"
	ended_well attach
}

# What the GPU does, from a CUPTI that begins late and ends; and stacks.
t_attach_gpu()
{
	local i dir
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUPTISIM_SAYS=1
	start_running attach_gpu 3 30
	unset CUDATRACE_CUPTI CUPTISIM_SAYS
	for i in 1 2 3; do
		dir=$work/trace-attach-gpu-$i
		attach trace-attach-gpu-$i 1 "$([ $i = 2 ] && echo --stacks || echo --gpu)"
		is $? 0 "record --pid $([ $i = 2 ] && echo --stacks || echo --gpu), time $i" || cat "$dir.said"
		every_call trace-attach-gpu-$i
		ok $? "... every call of each thread is there"
		"$cudatrace" report "$dir" >"$dir.report" 2>&1 && ! grep -E 'is empty|damaged|were lost' "$dir.report"
		ok $? "... nothing is lost"
		"$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null >"$dir.jsonl"
		if [ $i = 2 ]; then
			! grep -q '"layer":"gpu"' "$dir.jsonl"
			ok $? "... nothing of the GPU"
			continue
		fi
		grep -q '^info gpu_activity nodes' "$dir/.registry"
		ok $? "... what is in graphs one by one: whole graphs that were made before would end the program"
		grep -qE 'CUPTI took [0-9.]+ ms to begin' "$dir.said"
		ok $? "... says how long CUPTI took to begin" || cat "$dir.said"
		grep -E '"op":"(exec|launch)"' "$dir.jsonl" | grep '"phase":"E"' | jq -n -r 'reduce inputs as $e ([0, 0, 0];
			if $e.op == "launch" then .[1] += 1 elif $e.layer != "gpu" then . else
			.[0] += 1 | if $e.launch_op_id != null then .[2] += 1 else . end end) | join(" ")' >"$dir.counts"
		awk '{ exit !($1 > 10 && $1 <= $2 && $1 > $2 / 4) }' "$dir.counts"
		ok $? "... kernels on the GPU, no more than launches" || cat "$dir.counts"
		awk '{ exit !($3 > $1 * 0.9) }' "$dir.counts"
		ok $? "... with the calls that launched them" || grep '"layer":"gpu"' "$dir.jsonl" | head -n 3
		"$cudatrace" report "$dir" >"$dir.report" 2>&1
		is $? 0 "... and a report" || cat "$dir.report"
		# CUPTI ends before the process is left.
		is "$(tr -s ' \n' ' ' <"$dir.report" | sed -n 's/.*GPU records until [0-9.]* ms only: \([0-9,]*\) launch.* after are missing.*/\1/p' | tr -d ,)" \
			"$(grep -E '"name":"gpu_state"|"op":"launch"' "$dir.jsonl" | jq -n '[inputs] | (map(select(.details.state == 3)) | .[0].ts_ns) as $over |
				map(select(.op == "launch" and .ts_ns - (.duration_us * 1000 | round) >= $over)) | length')" \
			"... which says how many launches come after CUPTI's end" || grep -A 2 'GPU records' "$dir.report"
	done
	ended_well attach_gpu
	is "$(grep -c 'CUPTI collects nothing' "$work/attach_gpu.err")" 2 "CUPTI collects nothing when the process was left" || cat "$work/attach_gpu.err"
}

# The recorder is killed: the process notices, and can be attached to again.
t_attach_killed()
{
	# With --gpu: CUPTI's records have nowhere to go then.
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	start_running attach_killed 3 30
	unset CUDATRACE_CUPTI
	again_after_kill attach_killed --gpu && every_call trace-again
	ok $? "attached again after the recorder was killed" || cat "$work/trace-again.said"
	every_call trace-attach_killed
	ok $? "... what was recorded before is there"
	ended_well attach_killed
}

# again_after_kill NAME OPTION...: the recorder of $pid is killed; it can be recorded again, when it has noticed
again_after_kill()
{
	local name=$1 recorder i
	shift
	"$cudatrace" record -q -f -o "$work/trace-$name" --pid $pid "$@" 2>"$work/$name.said" &
	recorder=$!
	wait_until grep -q 'stood still' "$work/$name.said"
	sleep 0.3
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	for i in $(seq 100); do
		attach trace-again 0.3 && return
		sleep 0.2
	done
	return 1
}

# ... where no packet can begin by which the process would notice: it makes no call, or what is kept is full.
t_attach_deserted()
{
	rm -f "$work/deserted.go"
	WAIT=$work/deserted.go "$PWD/build/tests/record-ranged" none 10 >"$work/deserted.out" 2>&1 &
	pid=$!
	until grep -q ready "$work/deserted.out"; do sleep 0.05; done
	again_after_kill deserted
	ok $? "the recorder of a process that makes no call is killed: it can be recorded again" || cat "$work/trace-again.said"
	is "$("$cudatrace" report "$work/trace-again" 2>/dev/null | grep -c '^No call was recorded: the processes made none in that time')" 1 "... the report says that it made no call"
	touch "$work/deserted.go"
	wait $pid && grep -q '^wrong 0$' "$work/deserted.out"
	ok $? "... its results are right"
	start_running deserted_full 3 30
	again_after_kill deserted_full --keep 16M && every_call trace-again
	ok $? "... and of one that has filled all that is kept" || cat "$work/trace-again.said"
	ended_well deserted_full
}

# The program ends, execs or forks meanwhile.
t_attach_ends()
{
	start_running attach_ends 4 30
	"$cudatrace" record -q -f -o "$work/trace-ends" --pid $pid 2>"$work/trace-ends.said" &
	local recorder=$!
	wait_until grep -q 'stood still' "$work/trace-ends.said"
	ended_well attach_ends recorded
	wait $recorder
	is $? 0 "attach_ends: record ends with the program" || cat "$work/trace-ends.said"
	every_call trace-ends
	ok $? "... with all calls"
	# All of them.
	start_running attach_all 2 30
	local first=$pid
	"$cudatrace" record -q -f -o "$work/trace-all" --all 2>"$work/trace-all.said" &
	recorder=$!
	wait_until grep -q "recording record-running\[$first\]" "$work/trace-all.said"
	start_running attach_all_2 2 30
	wait_until grep -q "recording record-running\[$pid\]" "$work/trace-all.said"
	sleep 0.3
	kill -TERM $recorder
	wait $recorder
	is $? 0 "record --all" || cat "$work/trace-all.said"
	is "$("$cudatrace" report --format csv processes "$work/trace-all" 2>/dev/null | grep -cE "(^|,)\"?($first|$pid)\"?,")" 2 "... has both, the one that came meanwhile, too"
	ended_well attach_all_2
	pid=$first
	ended_well attach_all
}

# leaves_by_itself TRACE SAID: $recorder, which records $pid, is stopped until that has left
leaves_by_itself()
{
	wait_until grep -q 'stood still' "$2"
	wait_until grep -q "$1/.open-" "/proc/$pid/maps"
	kill -STOP $recorder
	wait_until sh -c "! grep -q $1/.open- /proc/$pid/maps"
}

# The command is stopped for so long that the process leaves by itself; then it goes on.
t_attach_paused()
{
	local dir=$work/trace-paused recorder
	start_running attach_paused 2 30
	"$cudatrace" record -q -f -o "$dir" --pid $pid 2>"$work/paused.said" &
	recorder=$!
	leaves_by_itself "$dir" "$work/paused.said"
	kill -CONT $recorder
	wait_until grep -q "process $pid had left, since this command stood still: it is recorded again" "$work/paused.said"
	ok $? "a command that stood still for long: a process that has left is recorded again, which is said" || cat "$work/paused.said"
	wait_until grep -q /.open- "/proc/$pid/maps"
	sleep 0.3
	kill -INT $recorder
	wait $recorder
	is $? 0 "... and it ends as always" || cat "$work/paused.said"
	ended_well attach_paused
	"$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -r 'select(.name == "cuMemAlloc" and .phase == "E") | [.tid, .size / 16] | @tsv' |
		awk '{ if ($1 in last && $2 != last[$1] + 1) gaps[$1]++; last[$1] = $2 } END { for (t in last) { n++; bad += gaps[t] != 1 } exit n != 2 || bad }'
	ok $? "... of each thread what it did meanwhile is missing, and nothing else"
}

# Another command records the process by the time the first one goes on.
t_attach_taken_over()
{
	local first=$work/trace-first recorder other
	start_running attach_taken_over 2 30
	"$cudatrace" record -q -f -o "$first" --pid $pid 2>"$work/first.said" &
	recorder=$!
	leaves_by_itself "$first" "$work/first.said"
	"$cudatrace" record -q -f -o "$work/trace-second" --pid $pid 2>"$work/second.said" &
	other=$!
	wait_until grep -q 'stood still' "$work/second.said"
	wait_until grep -q trace-second/.open- "/proc/$pid/maps"
	kill -CONT $recorder
	wait $recorder
	is "$? $(grep -c "process $pid had left, since this command stood still, and is not recorded any more: another command records it now" "$work/first.said")" "0 1" \
		"a command that stood still, whose process another one records by then: it says so, and ends" || cat "$work/first.said"
	grep -q trace-second/.open- "/proc/$pid/maps"
	ok $? "... and the other one goes on"
	kill -INT $other
	wait $other
	is "$? $(grep -vc 'recording record-running\|trace in' "$work/second.said")" "0 0" "... to its end" || cat "$work/second.said"
	every_call trace-second
	ok $? "... with all calls"
	ended_well attach_taken_over
}

# The process itself stands still when the command goes on: it is tried again.
t_attach_both_paused()
{
	local dir=$work/trace-both recorder
	start_running attach_both 2 30
	"$cudatrace" record -q -f -o "$dir" --pid $pid 2>"$work/both.said" &
	recorder=$!
	leaves_by_itself "$dir" "$work/both.said"
	kill -STOP $pid
	kill -CONT $recorder
	sleep 1
	kill -CONT $pid
	wait_until grep -q "process $pid had left, since this command stood still" "$work/both.said"
	grep -q "stood still: it is recorded again" "$work/both.said"
	ok $? "a command and a process that stood still: it is tried again a second later" || cat "$work/both.said"
	kill -INT $recorder
	wait $recorder
	ended_well attach_both
}

t_attach_refused()
{
	start_running attach_refused 1 30
	kill -STOP $pid
	refuse "a stopped process" "is stopped: kill -CONT" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	kill -CONT $pid
	"$cudatrace" record -q -f -o "$work/trace-one" --pid $pid 2>"$work/trace-one.said" &
	local recorder=$!
	wait_until grep -q 'stood still' "$work/trace-one.said"
	refuse "a process that is recorded" "being recorded already" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	kill -TERM $recorder
	wait $recorder
	attach trace-no 0.2
	is $? 0 "afterwards it goes" || cat "$work/trace-no.said"
	ended_well attach_refused
	"$PWD/build/tests/record-moments" leader >"$work/leader.out" 2>&1 &
	pid=$!
	wait_until grep -qs '^State:.*Z' "/proc/$pid/status"
	refuse "a process whose main thread has ended" "process $pid: its main thread has ended, and the others can't be reached" \
		"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	kill -KILL $pid
	wait $pid 2>/dev/null
	refuse "no process" "there is no process 4194000" "$cudatrace" record -f -o "$work/trace-no" --pid 4194000
	# In a namespace of pids there may be no thread of the kernel's.
	if [ "$(id -u)" = 0 ] && [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
		refuse "a thread of the kernel's" "process 2 has no memory of its own" "$cudatrace" record -f -o "$work/trace-no" --pid 2
	fi
	refuse "no number" "no process number" "$cudatrace" record --pid 12x
	refuse "a program, too" "either a program or --pid" "$cudatrace" record --pid 1 -- true
	: >"$work/pre.out"
	"$cudatrace" record -q -f -o "$work/trace-pre" --no-module -- "$PWD/build/tests/record-running" 1 3 >"$work/pre.out" 2>/dev/null &
	until grep -q ready "$work/pre.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/pre.out")
	refuse "a process that was preloaded" "is being recorded already, by process" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	wait $!
}

# threads_are: of each thread of $pid its signals and its policy and priority, but for the library's own
threads_are()
{
	local task
	for task in /proc/$pid/task/*; do
		[ "$(cat "$task/comm")" = cudatrace ] && continue
		grep -E '^Sig(Blk|Ign|Cgt):' "$task/status"
		sed 's/.*) //' "$task/stat" | cut -d' ' -f17,38,39 | cut -d' ' -f1,3
	done
}

# A thread is held by its signals for faults, and comes before others meanwhile: then all is as it was.
t_attach_thread()
{
	local how before
	for how in handled blocked ignored; do
		: >"$work/attach_$how.out"
		case $how in
		handled) RUNNING_FAULTS=1 start_running attach_handled 3 30 ;;
		blocked) RUNNING_FAULTS=1 perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGSEGV, SIGUSR2)); exec @ARGV' \
				"$PWD/build/tests/record-running" 3 600 30 >"$work/attach_$how.out" 2>"$work/attach_$how.err" & ;;
		ignored) perl -e '$SIG{SEGV} = "IGNORE"; exec @ARGV' "$PWD/build/tests/record-running" 3 600 30 >"$work/attach_$how.out" 2>"$work/attach_$how.err" & ;;
		esac
		pid=$!
		wait_until grep -qs ready "$work/attach_$how.out"
		before=$(threads_are)
		attach trace-thread 0.1 && every_call trace-thread
		ok $? "attach_thread: SIGSEGV is $how" || cat "$work/trace-thread.said"
		is "$(threads_are | tr '\t\n' '  ')" "$(echo "$before" | tr '\t\n' '  ')" "... signals and priorities of its threads are as they were"
		ended_well attach_$how
	done
	# Where the kernel ends a thread that runs for long as one that comes before others (RLIMIT_RTTIME), it does not.
	head -c 4096 /dev/zero >"$work/slow"
	: >"$work/attach_rttime.out"
	SLOW_COMPUTES=1 SLOW=$work/slow LD_PRELOAD=$PWD/build/tests/record-slow-loader prlimit --rttime=1:1 \
		"$PWD/build/tests/record-running" 3 600 30 >"$work/attach_rttime.out" 2>"$work/attach_rttime.err" &
	pid=$!
	wait_until grep -qs ready "$work/attach_rttime.out"
	slow 2000
	attach trace-thread 0.1
	is $? 0 "attach_thread: one whose time before others is limited" || cat "$work/trace-thread.said"
	slow 0
	ended_well attach_rttime
	# One that calls nothing: it stands still once for each function that is called in it, and not at each system call of theirs.
	sleep 600 &
	pid=$!
	wait_until grep -q libc.so "/proc/$pid/maps"
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$pid/status")
	attach trace-thread 0.1
	before=$(($(awk '/^voluntary/ { print $2 }' "/proc/$pid/status") - before))
	[ $before -gt 0 ] && [ $before -lt 30 ]
	ok $? "attach_thread: it stops $before times" || cat "$work/trace-thread.said"
	kill $pid
}
