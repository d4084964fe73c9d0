# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Programs that stand by (CUDATRACE_STANDBY=1) until record --pid asks.  Sourced by run.sh.

# start_standby NAME THREADS: as start_running, and it stands by
start_standby()
{
	: >"$work/$1.out"
	LD_PRELOAD=$PWD/build/libcudatrace.so CUDATRACE_STANDBY=1 "$PWD/build/tests/record-running" "$2" 600 30 >"$work/$1.out" 2>"$work/$1.err" &
	pid=$!
	# It has looked at libcuda's table by then: it would find the library there, where somebody was faster.
	until grep -q ready "$work/$1.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

standby_page() { sed -n 's|.* \(/dev/shm/cudatrace-standby-.*\)|\1|p' "/proc/$pid/maps"; }

t_standby()
{
	local i page dir
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	start_standby standby 3
	unset CUDATRACE_CUPTI
	page=$(standby_page)
	is "$(stat -c %a "$page")" 600 "standby: only the program's user may ask"
	for i in 1 2; do
		attach trace-standby-$i 0.5
		is $? 0 "standby: record --pid, time $i" || cat "$work/trace-standby-$i.said"
		grep -q "record-running\[$pid\], which stood by" "$work/trace-standby-$i.said"
		ok $? "... by the page, no thread stood still" || cat "$work/trace-standby-$i.said"
		every_call trace-standby-$i
		ok $? "... every call of each thread is there"
	done
	"$cudatrace" record -q -f -o "$work/trace-standby-p" --pid $pid --duration 1 --gpu --stacks 2>"$work/trace-standby-p.said"
	is $? 0 "standby: --gpu and --stacks, plugins from beside the library" || cat "$work/trace-standby-p.said"
	"$cudatrace" export --format jsonl -o - "$work/trace-standby-p" 2>/dev/null | jq -s -e 'map(select(.layer == "gpu" and .op == "exec" and .phase == "E")) | length > 10' >/dev/null
	ok $? "... kernels on the GPU are there"
	"$cudatrace" report "$work/trace-standby-p" >"$work/standby-p.txt" 2>&1 && ! grep -E 'is empty|damaged|were lost' "$work/standby-p.txt"
	ok $? "... nothing is lost"
	# The page is what its user may cut short; nothing of it may hurt the command.
	refuse "a process that is recorded" "being recorded already" twice
	cp "$page" "$work/page"
	truncate -s 100 "$page"
	refuse "a page that was cut short" "its page is damaged" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	cat "$work/page" >"$page"
	printf '\377' | dd of="$page" bs=1 seek=8 conv=notrunc status=none
	refuse "a library of another version" "preload library of another version" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	dd if="$work/page" of="$page" bs=1 count=16 conv=notrunc status=none
	if [ "$(id -u)" = 0 ]; then
		# In a place that everybody reaches.
		dir=$(mktemp -d) && chmod 777 "$dir" && cp "$cudatrace" build/libcudatrace.so "$dir"
		refuse "another user" "can't be opened|can't be read|Permission denied" \
			setpriv --reuid 65534 --clear-groups "$dir/cudatrace" record -q -f -o "$dir/trace" --pid $pid
		rm -rf "$dir"
	fi
	kill -STOP $pid
	refuse "one that is stopped" "is stopped: kill -CONT" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	kill -CONT $pid
	attach trace-standby-4 0.3 && every_call trace-standby-4
	ok $? "... and afterwards it goes" || cat "$work/trace-standby-4.said"
	ended_well standby
	[ ! -e "$page" ]
	ok $? "standby: its page goes with the program"
}

twice()
{
	"$cudatrace" record -q -f -o "$work/trace-one" --pid $pid --duration 2 2>"$work/trace-one.said" &
	until grep -q 'stood by' "$work/trace-one.said"; do sleep 0.05; done
	"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
	local rc=$?
	wait $!
	return $rc
}

# Off, nothing of the library is in the way of a call, and nothing is written.
t_standby_off()
{
	start_standby standby_off 2
	! ls -d cudatrace-$pid "$work"/cudatrace-$pid 2>/dev/null
	ok $? "standby: nothing is recorded before it is asked for"
	grep -qx cudatrace /proc/$pid/task/*/comm
	ok $? "... one of them is the library's, and waits"
	ended_well standby_off
	! grep -q 'word LIBRARY' "$work/standby_off.out"
	ok $? "standby: after the first call the table's pointers are libcuda's own"
	# A program without CUDA gets neither page nor thread.
	LD_PRELOAD=$PWD/build/libcudatrace.so CUDATRACE_STANDBY=1 sleep 2 &
	pid=$!
	sleep 0.3
	is "$(standby_page)$(ls /proc/$pid/task | wc -l)" 1 "standby: a program that calls no CUDA has no page and no thread more"
	wait $pid
}

# The recorder is killed: the process notices, and can be asked again.
t_standby_killed()
{
	start_standby standby_killed 3
	timeout -s KILL 1 "$cudatrace" record -q -f -o "$work/trace-standby-killed" --pid $pid 2>/dev/null
	for i in $(seq 100); do
		attach trace-standby-after 0.3 && break
		sleep 0.2
	done
	[ "$i" -lt 100 ] && every_call trace-standby-after
	ok $? "standby: asked again after the recorder was killed" || cat "$work/trace-standby-after.said"
	ended_well standby_killed
}

# record --delay and --duration of a program that is started here.
t_standby_window()
{
	local running=$PWD/build/tests/record-running dir=$work/trace-window
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	"$cudatrace" record -q -f -o "$dir" --duration 1 --gpu -- "$running" 2 4 30 >"$work/window.out" 2>"$work/window.err"
	is $? 0 "record --duration: the program's own status" || cat "$work/window.err"
	grep -q '^wrong 0$' "$work/window.out"
	ok $? "... it went on to its end"
	"$cudatrace" export --format jsonl -f -o "$dir.jsonl" "$dir"
	is "$(jq -r 'select(.phase == "E" or .phase == "B") | .name' "$dir.jsonl" | grep -v '^$' | head -n 1)" cuGetProcAddress "... the first call is recorded"
	jq -s -e 'map(select(.phase == "E" and .name == "cuMemAlloc")) | (last.ts - first.ts) < 3000' "$dir.jsonl" >/dev/null
	ok $? "... and nothing long after the end" || jq -s 'map(select(.phase == "E" and .name == "cuMemAlloc")) | [first.ts, last.ts]' "$dir.jsonl"
	jq -s -e 'map(select(.layer == "gpu" and .op == "exec" and .phase == "E")) | length > 10' "$dir.jsonl" >/dev/null
	ok $? "... kernels on the GPU are there"
	unset CUDATRACE_CUPTI
	"$cudatrace" record -q -f -o "$dir" --delay 1 --duration 1 -- sh -c "'$running' 2 4 30; exit 7" >"$work/window.out" 2>"$work/window.err"
	is $? 7 "record --delay: the status, of a shell that starts the program" || cat "$work/window.err"
	grep -q 'word LIBRARY' "$work/window.out"
	is $? 1 "... until then the table's pointers are libcuda's own"
	every_call trace-window
	ok $? "... every call in that time is there"
	"$cudatrace" export --format jsonl -f -o "$dir.jsonl" "$dir"
	! grep -q cuInit "$dir.jsonl"
	ok $? "... and none from before"
	! "$cudatrace" report "$dir" 2>&1 | grep -q "not recorded"
	ok $? "... which are not called missing"
	refuse "a program that calls nothing in that time" "called no CUDA in that time" "$cudatrace" record -f -o "$work/trace-no" --delay 5 -- "$running" 1 1
	refuse "--inject with --delay" "inject does not go with" "$cudatrace" record --delay 1 --inject -- true
	refuse "no time" "give a time" "$cudatrace" record --delay x -- true
	refuse "a time without end" "give a time" "$cudatrace" record --duration 1e12 -- true
	refuse "a delay without end" "give a time" "$cudatrace" record --delay inf -- true
	"$cudatrace" record -f -o "$work/trace-no" --delay 1 -- nothing-of-this-name 2>"$work/window.err"
	is $? 127 "a program that is not there" || cat "$work/window.err"
}

# doctor says which ways into a program work here.
t_ways_doctor()
{
	local scope=/proc/sys/kernel/yama/ptrace_scope noexec=/proc/sys/vm/memfd_noexec
	"$cudatrace" doctor >"$work/ways.txt" 2>&1
	is "$(grep -cE '^(ok|note) +(record --pid|record --stacks|standby)[ :]' "$work/ways.txt")" 3 "doctor: a line for attaching, stacks and standby" || cat "$work/ways.txt"
	# as_if TEXT PATTERN: doctor in a mount namespace in which these are other files
	as_if()
	{
		unshare -m sh -c "$1 && exec '$cudatrace' doctor" >"$work/ways-if.txt" 2>&1
		grep -qE "$2" "$work/ways-if.txt"
		ok $? "doctor: $2" || cat "$work/ways-if.txt"
	}
	if ! unshare -m true 2>/dev/null; then
		skip "doctor where attaching is refused: no mount namespace can be made"
		return
	fi
	as_if "mount -o remount,ro,bind /dev/shm 2>/dev/null || mount -t tmpfs -o ro tmpfs /dev/shm" '^note +standby: no file can be made in /dev/shm \(Read-only'
	as_if "mount -t tmpfs -o size=64k tmpfs /dev/shm && ! head -c 128k /dev/zero >/dev/shm/full 2>/dev/null" '^note +standby: /dev/shm is full'
	if [ "$(id -u)" = 0 ] && unshare -Ur true 2>/dev/null; then
		unshare -Ur "$cudatrace" doctor 2>/dev/null | grep -q "^ok .*record --pid: this user namespace's processes"
		ok $? "doctor: root of a user namespace has no right to others' processes"
		setpriv --bounding-set -sys_ptrace "$cudatrace" doctor 2>/dev/null | grep -qE "^(ok .*record --pid: your own processes|note .*only root with CAP_SYS_PTRACE)"
		ok $? "doctor: nor has root without that capability, as in a container"
	fi
	echo 2 >"$work/two" && echo 3 >"$work/three"
	[ ! -e $noexec ] || as_if "mount --bind '$work/two' $noexec" '^note +record --pid: no library can be brought .*memfd_noexec=2'
	[ ! -e $scope ] || as_if "mount --bind '$work/three' $scope" '^note +record --pid: nothing can be attached to .*ptrace_scope=3'
}
