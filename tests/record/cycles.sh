# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Attaching and leaving again and again, and at wrong moments.  Sourced by run.sh.

# In make test-long ten thousand times.
t_attach_cycles()
{
	local n times=${CT_TEST_LONG:+10000} bad=0
	times=${times:-15}
	start_running cycles 64 2000
	for n in $(seq "$times"); do
		"$cudatrace" record -q -f -o "$work/trace-cycle" --pid $pid --duration 0.02 2>"$work/cycle.said" && continue
		bad=$((bad + 1))
		echo "# time $n:" && sed 's/^/# /' "$work/cycle.said"
		kill -0 $pid 2>/dev/null || break
	done
	is $bad 0 "attached $times times to a process of 64 threads"
	attach trace-cycle 0.2 && every_call trace-cycle
	ok $? "... and afterwards every call is there" || cat "$work/trace-cycle.said"
	ended_well cycles
}

# slow MICROSECONDS: from now on, of each thing that the loader does in $pid
slow() { perl -e 'print pack("V", shift)' "$1" | dd of="$work/slow" conv=notrunc status=none; }

start_slow()
{
	head -c 4096 /dev/zero >"$work/slow"
	: >"$work/$1.out"
	SLOW=$work/slow LD_PRELOAD=$PWD/build/tests/record-slow-loader "$PWD/build/tests/record-running" 3 600 30 >"$work/$1.out" 2>"$work/$1.err" &
	pid=$!
	until grep -q ready "$work/$1.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}

# works: whoever was at it has let go of $pid; then it is attached to at once, and all calls are there
works()
{
	local n
	slow 0
	for n in $(seq 600); do
		grep -q '^TracerPid:.0$' "/proc/$pid/status" && attach trace-slow 0.2 && every_call trace-slow >"$work/slow.calls" && return 0
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	cat "$work/trace-slow.said" "$work/slow.calls"
	return 1
}

# The time is over while the library is brought in, at each of its steps.
t_attach_late()
{
	local seconds steps bad=0 late=0 said recorder hogs n
	steps=${CT_TEST_LONG:+$(seq 0.01 0.03 2)}
	for seconds in ${steps:-0.02 0.1 0.25 0.4 0.6 1}; do
		start_slow attach_late
		slow 20000
		CUDATRACE_ATTACH_DEADLINE=$seconds attach trace-late 0.1
		said=$(grep -v '^cudatrace: recording ' "$work/trace-late.said")
		[ -z "$said" ] || late=$((late + 1))
		[ "$(echo "$said" | wc -l)" = 1 ] && works || { bad=$((bad + 1)) && echo "# after $seconds s: $said"; }
		kill -TERM $pid
		wait $pid && grep -q '^wrong 0$' "$work/attach_late.out" || { bad=$((bad + 1)) && echo "# after $seconds s: it did not end well"; }
	done
	# And while it is left, by a process that gets no processor.
	for seconds in 0.3 0.5; do
		start_slow attach_late
		CUDATRACE_ATTACH_DEADLINE=$seconds "$cudatrace" record -q -f -o "$work/trace-late" --pid $pid 2>"$work/trace-late.said" &
		recorder=$!
		until grep -q 'recording record-running' "$work/trace-late.said" || ! kill -0 $recorder 2>/dev/null; do sleep 0.02; done
		chrt -a -i -p 0 $pid 2>/dev/null
		hogs=
		for n in $(seq "$(($(nproc) * 2))"); do
			while :; do :; done &
			hogs="$hogs $!"
		done
		kill -TERM $recorder
		sleep 2
		kill $hogs
		wait $recorder $hogs 2>/dev/null
		chrt -a -o -p 0 $pid 2>/dev/null
		works && ! grep -q "$work/trace-late" "/proc/$pid/maps" || { bad=$((bad + 1)) && echo "# it was not left within $seconds s" && cat "$work/trace-late.said"; }
		kill -TERM $pid
		wait $pid && grep -q '^wrong 0$' "$work/attach_late.out" || { bad=$((bad + 1)) && echo "# left within $seconds s: it did not end well"; }
	done
	is $bad 0 "the time is over at each step of attaching and leaving: one line, and the program works, is attached to again, and ends"
	[ $late -gt 1 ]
	ok $? "... it was over $late times"
}

# The command is killed while it attaches.
t_attach_shot()
{
	local n times=${CT_TEST_LONG:+60} bad=0
	start_slow attach_shot
	for n in $(seq "${times:-4}"); do
		slow 1000
		"$cudatrace" record -q -f -o "$work/trace-shot" --pid $pid 2>/dev/null &
		sleep "0.$(printf %03d $((n * 37 % 200)))"
		kill -KILL $!
		wait $! 2>/dev/null
		works || { bad=$((bad + 1)) && kill -0 $pid 2>/dev/null || break; }
	done
	is $bad 0 "the command is killed at any moment of attaching: the program works, and is attached to again"
	ended_well attach_shot
}

# attach_both COPIES [LIBRARY]: two commands attach to $pid at the same moment, the second with that library; one records, and the
# other says one line.  So many libraries are there then, at most
attach_both()
{
	local one bad=0 recorders=() libraries=("${CUDATRACE_LIBRARY:-}" "${2:-${CUDATRACE_LIBRARY:-}}")
	# Not the words of those before.
	: >"$work/turn-1.said"
	: >"$work/turn-2.said"
	for one in 1 2; do
		CUDATRACE_LIBRARY=${libraries[one - 1]} CUDATRACE_ATTACH_DEADLINE=60 "$cudatrace" record -q -f -o "$work/trace-turn-$one" --pid $pid 2>"$work/turn-$one.said" &
		recorders+=($!)
	done
	# Until one of them has ended; or both record.
	while kill -0 "${recorders[0]}" 2>/dev/null && kill -0 "${recorders[1]}" 2>/dev/null && kill -0 $pid 2>/dev/null &&
		! { grep -q '^cudatrace: recording' "$work/turn-1.said" && grep -q '^cudatrace: recording' "$work/turn-2.said"; }; do
		sleep 0.02
	done
	wait_until grep -q '^cudatrace: recording' "$work"/turn-[12].said
	wait_until sh -c "grep -q /.open- /proc/$pid/maps || ! kill -0 $pid"
	kill -TERM "${recorders[@]}" 2>/dev/null
	for one in 1 2; do
		wait "${recorders[one - 1]}"
		case $? in
		0) bad=$((bad + 1)) && every_call "trace-turn-$one" >"$work/turn.calls" || bad=10 ;;
		1) is_one_line "$work/turn-$one.said" || bad=10 ;;
		*) bad=10 ;;
		esac
	done
	[ $bad = 1 ] && [ "$(sed -n 's/.*r-xp.*memfd:libcudatrace-/x/p' "/proc/$pid/maps" | wc -l)" -le "$1" ]
}

is_one_line() { [ "$(wc -l <"$1")" = 1 ] && grep -q 'is being recorded already' "$1"; }

# In a process that has no library yet, in one that has it, and in one that stands by.
t_attach_both()
{
	local how n times=${CT_TEST_LONG:+100} bad
	for how in new again standby; do
		bad=0
		[ $how != standby ] || export LD_PRELOAD=$PWD/build/libcudatrace.so CUDATRACE_STANDBY=1
		start_running both_$how 4 30
		unset LD_PRELOAD CUDATRACE_STANDBY
		for n in $(seq "${times:-6}"); do
			if [ $how = new ] && [ "$n" != 1 ]; then
				kill -TERM $pid
				wait $pid && ! grep -q 'CHANGED\|wrong [1-9]' "$work/both_new.out" || bad=$((bad + 1))
				start_running both_new 4 30
			fi
			attach_both 1 || { bad=$((bad + 1)); sed 's/^/# /' "$work"/turn-[12].said "$work/turn.calls"; kill -0 $pid 2>/dev/null || break; }
		done
		is $bad 0 "two commands attach at the same moment ($how), $n times: one records all calls, the other says one line"
		ended_well both_$how "$([ $how != standby ] || echo standby)"
	done
}

# mapped_at FILE: where it begins in $pid
mapped_at() { sed -n "s|^\\([0-9a-f]*\\)-[0-9a-f]* r-.p 00000000 .*$1.*|\\1|p" "/proc/$pid/maps" | head -n 1; }

# symbol_at FILE NAME START: where an exported symbol of FILE is in $pid, by where that begins there
symbol_at() { echo $((0x$3 + 0x$(nm -D --defined-only "$1" | sed -n "s/^\\([0-9a-f]*\\) . $2\\(@@.*\\)*$/\\1/p" | head -n 1))); }

# peek ADDRESS BYTES: of $pid, as hexadecimal digits
peek() { perl -e 'open F, "<", "/proc/$ARGV[0]/mem" or die; sysseek F, $ARGV[1], 0; sysread F, $b, $ARGV[2]; print unpack "H*", $b' $pid "$1" "$2"; }
poke() { perl -e 'open F, "+<", "/proc/$ARGV[0]/mem" or die; sysseek F, $ARGV[1], 0; syswrite(F, pack "H*", $ARGV[2]) or die' $pid "$1" "$2"; }

# fails_at ADDRESS: record --pid, where the call that it makes fails there, by an instruction that there is not
fails_at()
{
	local code
	code=$(peek "$1" 2)
	poke "$1" 0f0b
	refuse "a call that fails" "the call failed with signal 4 and was undone" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid --duration 1
	poke "$1" "$code"
}

# A beginning that fails is undone, but not that of another command, which with another mount of /proc has a turn of its own.
t_attach_undone()
{
	local libc library begins start other
	libc=$(ldd "$PWD/build/tests/record-running" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')
	if [ "$(id -u)" != 0 ] || ! nm -D --defined-only "$libc" | grep -q ' pthread_create@@'; then
		skip "a call that fails: needs root, and glibc 2.34"
		return
	fi
	start_running undone 3 30
	attach trace-undone 0.1
	ok $? "undone: the library is there" || cat "$work/trace-undone.said"
	library=$(mapped_at memfd:libcudatrace-)
	start=$(symbol_at build/libcudatrace.so cudatrace_attach_start "$library")
	if ! poke "$start" "$(peek "$start" 2)" 2>/dev/null; then
		skip "a call that fails: the kernel lets nobody change a program's code (proc_mem.force_override)"
		ended_well undone
		return
	fi
	# Behind 8 numbers, the last one to fill up.
	begins=$(($(symbol_at build/libcudatrace.so cudatrace_attach_answer "$library") + 32))
	fails_at "$(symbol_at "$libc" pthread_create "$(mapped_at libc.so.6)")"
	is "$(peek $begins 8)" 0000000000000000 "... nothing begins any more"
	attach trace-undone 0.2 && every_call trace-undone
	ok $? "... and it is attached to again" || cat "$work/trace-undone.said"
	other=$(perl -e 'print unpack "H*", pack "VV", 0x12345678, shift' $pid)
	poke $begins "$other"
	fails_at "$start"
	is "$(peek $begins 8)" "$other" "... another command's beginning is left alone"
	refuse "while that is not over" "process $pid: another beginning there is not over yet" \
		"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid --duration 1
	poke $begins 0000000000000000
	attach trace-undone 0.2 && every_call trace-undone
	ok $? "... then it goes" || cat "$work/trace-undone.said"
	ended_well undone
}

# What does the work is killed: its thread is no longer before others.
t_attach_guard_killed()
{
	local recorder guard
	if ! chrt -f 1 true 2>/dev/null; then
		skip "the process that does the work is killed: needs the right to SCHED_FIFO"
		return
	fi
	start_slow guard_killed
	slow 3000000
	"$cudatrace" record -q -f -o "$work/trace-guard" --pid $pid 2>"$work/guard.said" &
	recorder=$!
	wait_until is_before_others
	guard=$(awk '/^TracerPid:/ && $2 { print $2; exit }' /proc/$pid/task/*/status)
	kill -KILL "$guard"
	wait $recorder
	is "$? $(grep -c 'the process that does the work was killed' "$work/guard.said")" "1 1" "the process that does the work is killed: one line" || cat "$work/guard.said"
	! is_before_others
	ok $? "... and no thread of the program comes before others any more" || cut -d' ' -f2,41 /proc/$pid/task/*/stat
	kill -KILL $pid
	wait $pid 2>/dev/null
}

# is_before_others: a thread of $pid has the policy SCHED_FIFO
is_before_others() { sed 's/.*) //' /proc/$pid/task/*/stat 2>/dev/null | awk '$39 == 1 { found = 1 } END { exit !found }'; }

# Each attaching ends in success or one line, and the process lives.
t_attach_moments()
{
	local what n times=${CT_TEST_LONG:+200} bad
	times=${times:-4}
	for what in dlopen malloc fork handler threads exec exit; do
		bad=0
		pid=
		for n in $(seq "$times"); do
			if [ -z "$pid" ] || ! kill -0 $pid 2>/dev/null; then
				: >"$work/moments.out"
				"$PWD/build/tests/record-moments" $what >"$work/moments.out" 2>&1 &
				pid=$!
				until grep -q ready "$work/moments.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
			fi
			timeout -s KILL $hang "$cudatrace" record -q -f -o "$work/trace-moment" --pid $pid --duration 0.05 2>"$work/moment.said"
			case $? in
			0) ;;
			1) [ "$(grep -vc '^cudatrace: recording ' "$work/moment.said")" = 1 ] || bad=$((bad + 1)) ;;
			*) bad=$((bad + 1)) ;;
			esac
			[ $bad = 0 ] || { sed 's/^/# /' "$work/moment.said"; break; }
			[ $what = exec ] || [ $what = exit ] || kill -0 $pid 2>/dev/null || bad=$((bad + 1))
		done
		kill -TERM $pid 2>/dev/null
		wait $pid
		[ $bad = 0 ] && { [ $what = exec ] || grep -q '^wrong 0$' "$work/moments.out"; }
		ok $? "attached $times times to a process in the middle of: $what" || cat "$work/moments.out"
	done
	# A process that becomes another program at that moment, as it is not waited for: no call goes there by what the one before had.
	bad=0
	for n in $(seq $((times * 20))); do
		"$PWD/build/tests/record-running" 2 600 30 >"$work/moments.out" 2>&1 &
		pid=$!
		timeout -s KILL $hang "$cudatrace" record -q -f -o "$work/trace-moment" --pid $pid --duration 0.02 2>"$work/moment.said"
		! grep 'failed with signal\|still recorded' "$work/moment.said" || bad=$((bad + 1))
		kill -TERM $pid 2>/dev/null
		wait $pid 2>/dev/null
	done
	is $bad 0 "attached $n times to a process that is just becoming another program: no call fails there, and it is left"
	# A debugger has it.
	if command -v strace >/dev/null; then
		start_running traced 1
		strace -o /dev/null -p $pid 2>"$work/strace.said" &
		until grep -q attached "$work/strace.said" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		refuse "a process that strace has" "is traced by process" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid
		kill $! && wait $! 2>/dev/null
		ended_well traced
	fi
}

# Another tracer has breakpoints at the entries of the same functions, from before, and from meanwhile.
t_attach_uprobes()
{
	local prober recorder
	local probes=("$PWD/build/tests/record-uprobes" "$(readlink -f "$PWD/build/tests/sim/libcuda.so.1")" cuMemAlloc_v2 cuMemFree_v2 cuLaunchKernel)
	start_running uprobes 3 30
	set_uprobes
	if ! grep -q '^set$' "$work/uprobes.set"; then
		skip "uprobes on the same functions: $(cat "$work/uprobes.set")"
		kill -TERM $pid
		wait $pid
		return
	fi
	attach trace-uprobes 0.3
	is $? 0 "uprobes on the same functions: record --pid" || cat "$work/trace-uprobes.said"
	every_call trace-uprobes
	ok $? "... every call of each thread is there"
	unset_uprobes
	ok $? "... the uprobes were hit ($(tail -1 "$work/uprobes.set"))"
	rm -f "$work/trace-uprobes.said"
	attach trace-uprobes 1 &
	recorder=$!
	until grep -qs 'recording record-running' "$work/trace-uprobes.said" || ! kill -0 $recorder 2>/dev/null; do sleep 0.02; done
	set_uprobes
	wait $recorder && every_call trace-uprobes
	ok $? "... nor is one missing where they are set while it is recorded" || cat "$work/trace-uprobes.said"
	unset_uprobes
	ok $? "... and removed when it is over"
	attach trace-uprobes 0.3 && every_call trace-uprobes
	ok $? "... and afterwards"
	ended_well uprobes
}

set_uprobes()
{
	"${probes[@]}" >"$work/uprobes.set" 2>&1 &
	prober=$!
	until grep -qs . "$work/uprobes.set" || ! kill -0 $prober 2>/dev/null; do sleep 0.02; done
}

# They have been hit.
unset_uprobes()
{
	# So that the program's threads get a processor meanwhile.
	sleep 0.5
	kill -TERM $prober
	wait $prober && grep -q '^[1-9][0-9]* hits$' "$work/uprobes.set"
}
