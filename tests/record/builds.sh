# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --pid of two builds of cudatrace, as two versions or two checkouts: each brings its own library.  Sourced by run.sh.

# other_build: a library of another build, in $other
other_build()
{
	other=$work/other-build/libcudatrace.so
	mkdir -p "${other%/*}"
	cp build/libcudatrace*.so "${other%/*}"
	# Behind what is loaded of it.
	echo another build >>"$other"
}

attach_other() { CUDATRACE_LIBRARY=$other attach "$@"; }

# refuse_other WHAT DIR RECORDER: the other build's command refuses $pid, and says who records it, and into what
refuse_other()
{
	refuse "$1" "process $pid is being recorded already, by process $3 into $2: wait for its end, or end it first" \
		env CUDATRACE_LIBRARY="$other" "$cudatrace" record -q -f -o "$work/trace-no" --pid $pid --duration 1
}

# copies_there: how many libraries of ours were brought into $pid
copies_there() { grep -c 'r-xp.*memfd:libcudatrace-' "/proc/$pid/maps"; }

t_attach_builds()
{
	local dir=$work/trace-builds recorder n
	other_build
	start_running builds 3 30
	# One after the other.
	for n in 1 2 3; do
		attach trace-builds-one 0.1 && every_call trace-builds-one && attach_other trace-builds-two 0.1 && every_call trace-builds-two || break
	done
	is "$n $(copies_there)" "3 2" "two builds attach in turn, three times: each has every call" || cat "$work"/trace-builds-*.said
	# While one records.
	"$cudatrace" record -q -f -o "$dir" --pid $pid 2>"$dir.said" &
	recorder=$!
	wait_until grep -q 'stood still' "$dir.said"
	refuse_other "another build's process" "$dir" $recorder
	wait_until grep -q "$dir/.open-" "/proc/$pid/maps"
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	# Not by trying again and again.
	attach_other trace-builds-two 0.2 && every_call trace-builds-two
	ok $? "the recorder is killed: another build attaches when the process has noticed" || cat "$work/trace-builds-two.said"
	! grep -q "$dir/.lost-" "/proc/$pid/maps"
	ok $? "... and nothing there says any more that the first one records"
	every_call trace-builds
	ok $? "... which has all calls until then"
	ended_well builds
	# It makes no call, as one that hangs.
	rm -f "$work/builds.go"
	WAIT=$work/builds.go "$PWD/build/tests/record-ranged" none 10 >"$work/builds_silent.out" 2>&1 &
	pid=$!
	wait_until grep -q ready "$work/builds_silent.out"
	# Not the words of the one before.
	: >"$dir.said"
	"$cudatrace" record -q -f -o "$dir" --pid $pid 2>"$dir.said" &
	recorder=$!
	wait_until grep -q 'stood still' "$dir.said"
	refuse_other "a process of another build's that makes no call" "$dir" $recorder
	kill -INT $recorder
	wait $recorder
	attach_other trace-builds-two 0.2
	is "$? $(wc -l <"$work/trace-builds-two.said")" "0 2" "... and afterwards it goes" || cat "$work/trace-builds-two.said"
	touch "$work/builds.go"
	wait $pid && grep -q '^wrong 0$' "$work/builds_silent.out"
	ok $? "... its results are right"
	# Started by record.
	: >"$work/builds_started.out"
	CUDATRACE_LIBRARY=$other "$cudatrace" record -q -f -o "$dir" --no-module -- "$PWD/build/tests/record-running" 1 600 >"$work/builds_started.out" 2>/dev/null &
	recorder=$!
	wait_until grep -q ready "$work/builds_started.out"
	pid=$(awk '/ready/ { print $2 }' "$work/builds_started.out")
	refuse "a process that another build has started" "process $pid is being recorded already, by process $recorder into $dir: wait" \
		"$cudatrace" record -q -f -o "$work/trace-no" --pid $pid --duration 1
	kill -TERM $pid
	wait $recorder
}

# Two commands of different builds at the same moment: in a new process, and in one that has both libraries.
t_attach_builds_both()
{
	local n times=${CT_TEST_LONG:+200} bad=0
	other_build
	for n in $(seq "${times:-20}"); do
		[ $((n % 2)) = 0 ] || start_running builds_both 3 30
		attach_both 2 "$other" || { bad=$((bad + 1)); sed 's/^/# /' "$work"/turn-[12].said "$work/turn.calls"; kill -0 $pid 2>/dev/null || break; }
		[ $((n % 2)) = 1 ] && continue
		kill -TERM $pid
		wait $pid && ! grep -q 'CHANGED\|wrong [1-9]' "$work/builds_both.out" || bad=$((bad + 1))
	done
	is $bad 0 "two builds attach at the same moment, $n times: one records all calls, the other says one line"
}
