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
