# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --capture-range: one part of a process's time.  Sourced by run.sh.

ranged=$PWD/build/tests/record-ranged

# in_range TRACE: calls of a round, by their numbers, the GPU's kernels and the other functions, of a trace of ranged.c
in_range()
{
	"$cudatrace" export --format csv -f -o "$work/$1.csv" "$work/$1" 2>/dev/null
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["phase"] != "E" { next }
		$c["layer"] == "gpu" { gpu++; next }
		$c["name"] == "cuMemAlloc" { n = $c["size"] / 16; if (!first) first = n; if (last && n != last + 1) gap = " GAP"; last = n }
		$c["name"] ~ /^cuProfiler/ { other = other " " $c["name"]; next }
		$c["name"] !~ /^cu(MemAlloc|LaunchKernel|MemFree|CtxSynchronize)$/ { other = other " " $c["name"] }
		{ calls[$c["name"]]++ }
		END { for (f in calls) if (calls[f] != last - first + 1 && calls[f] > 1) gap = " MISSING " f
			printf "%d-%d%s%s%s\n", first, last, gpu ? " gpu " gpu : "", gap, other }' "$work/$1.csv"
}

# capture NAME HOW WHAT OPTION...: ranged.c in that way
capture()
{
	local name=$1 how=$2 what=$3
	shift 3
	"$cudatrace" record -q -f -o "$work/trace-$name" --capture-range "$what" "$@" -- "$ranged" "$how" >"$work/$name.out" 2>"$work/$name.said" &&
		grep -q '^wrong 0$' "$work/$name.out"
}

# capture_running NAME HOW WHAT OPTION...: of one that runs already and waits until it is recorded
capture_running()
{
	local name=$1 how=$2 what=$3 recorder
	shift 3
	rm -f "$work/go"
	: >"$work/$name.out"
	WAIT=$work/go "$ranged" "$how" >"$work/$name.out" 2>&1 &
	pid=$!
	until grep -q ready "$work/$name.out"; do sleep 0.05; done
	"$cudatrace" record -q -f -o "$work/trace-$name" --pid $pid --capture-range "$what" "$@" 2>"$work/$name.said" &
	recorder=$!
	until grep -q 'recording record-ranged' "$work/$name.said" || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	touch "$work/go"
	wait $recorder && wait $pid && grep -q '^wrong 0$' "$work/$name.out"
}

t_capture()
{
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	capture profiler profiler cudaProfilerApi --gpu
	is "$? $(in_range trace-profiler)" "0 400-599 gpu 200 cuProfilerStart cuProfilerStop" "--capture-range cudaProfilerApi: these calls, all of them, and what the GPU did for them" || cat "$work/profiler.said"
	"$cudatrace" report "$work/trace-profiler" 2>/dev/null | grep -q '^range  *cudaProfilerApi: calls before and after it were not recorded'
	ok $? "... which the summary says"
	"$cudatrace" report "$work/trace-profiler" 2>&1 | grep -E 'not recorded|were lost|damaged' | grep -v '^range '
	is $? 1 "... and nothing is called missing"
	grep -q 'the range has ended' "$work/profiler.said"
	ok $? "... and record, when it begins and ends"
	capture twice twice cudaProfilerApi
	is "$(in_range trace-twice)" "400-599 cuProfilerStart cuProfilerStop" "... the first one only"
	capture range range mark:part
	is "$(in_range trace-range)" 400-599 "--capture-range mark:NAME: a range of that name, with others around it and inside"
	capture mark mark mark:part
	is "$(in_range trace-mark)" 400-1000 "... from a mark on"
	capture numbered numbered nvtx:part
	is "$(in_range trace-numbered)" 400-599 "--capture-range nvtx:NAME: one that may end in another thread"
	capture other range mark:nothing
	grep -q 'the range mark:nothing never began: nothing was recorded' "$work/other.said"
	ok $? "a range that never begins" || cat "$work/other.said"
	is "$("$cudatrace" report "$work/trace-other" 2>/dev/null | grep -cE '^range  *mark:nothing: it never began|^No call was recorded: the capture range never began')" 2 "... the report says why there is nothing"
	capture fork fork cudaProfilerApi
	is "$(in_range trace-fork)" "400-599 cuProfilerStart cuProfilerStop" "... in a child" || cat "$work/fork.said"
	CUDATRACE_TABLE=0 capture pointers profiler cudaProfilerApi
	is "$(in_range trace-pointers)" "400-599 cuProfilerStart cuProfilerStop" "... without libcuda's table" || cat "$work/pointers.said"
	capture only profiler cudaProfilerApi --functions 'cuMemAlloc'
	is "$(in_range trace-only)" "400-599 cuProfilerStart cuProfilerStop" "... with --functions" || cat "$work/only.said"
	unset CUDATRACE_CUPTI
	refuse "a range of no known kind" "give cudaProfilerApi, nvtx:NAME, mark:NAME or iteration:FIRST-LAST" "$cudatrace" record --capture-range profiler -- true
	refuse "a range without a name" "give cudaProfilerApi, nvtx:NAME, mark:NAME or iteration:FIRST-LAST" "$cudatrace" record --capture-range nvtx: -- true
	refuse "--inject" "inject does not go with" "$cudatrace" record --inject --capture-range cudaProfilerApi -- true
}

t_capture_running()
{
	capture_running attached profiler cudaProfilerApi
	is "$? $(in_range trace-attached)" "0 400-599 cuProfilerStart cuProfilerStop" "--capture-range with --pid" || cat "$work/attached.said"
	capture_running none mark mark:part
	grep -q 'has no library that could tell the range' "$work/none.said"
	ok $? "... a range of the program's own, which it can't tell" || cat "$work/none.said"
	export LD_PRELOAD=$PWD/build/libcudatrace.so CUDATRACE_STANDBY=1 CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	capture_running stands range mark:part --gpu
	is "$? $(LD_PRELOAD='' in_range trace-stands)" "0 400-599 gpu 200" "... of a program that stands by" || cat "$work/stands.said"
	unset LD_PRELOAD CUDATRACE_STANDBY CUDATRACE_CUPTI
}

# near FIRST LAST TRACE: rounds that ranged.c made, from FIRST to LAST, and at most 60 more at each end (packets of 4 KiB)
near()
{
	local said first last
	said=$(in_range "$3") first=${said%%-*} last=${said#*-}
	last=${last%% *}
	[ "$first" -le "$1" ] && [ "$first" -ge $(($1 - 60)) ] && [ "$last" -ge "$2" ] && [ "$last" -le $(($2 + 60)) ] && ! [[ $said = *GAP* ]]
	ok $? "$4 ($said)"
}

t_capture_iterations()
{
	export CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	"$cudatrace" record -q -f -o "$work/trace-iterations" --capture-range iteration:1500-1600 --gpu -- "$ranged" none 3000 >"$work/iterations.out" 2>"$work/iterations.said"
	near 1500 1600 trace-iterations "--capture-range iteration:1500-1600: these iterations, and what is in their packets"
	grep -q 'iteration 1500 has begun' "$work/iterations.said" && grep -q '^wrong 0$' "$work/iterations.out"
	ok $? "... the program goes on to its end" || cat "$work/iterations.said"
	[ "$(jq -s 'map(select(.layer == "gpu" and .op == "exec" and .phase == "E")) | length >= 100' <("$cudatrace" export --format jsonl -o - "$work/trace-iterations" 2>/dev/null))" = true ]
	ok $? "... with what the GPU did"
	is "$(jq -s -c '[([.[] | select(.op == "launch" and .phase == "E")] | length), ([.[] | select(.layer == "gpu" and .op == "exec" and .phase == "E")] | length)] | .[0] - .[1]' \
		<("$cudatrace" export --format jsonl -o - "$work/trace-iterations" 2>/dev/null))" 0 "... for these launches, and nothing else"
	"$cudatrace" report "$work/trace-iterations" 2>/dev/null | grep -q '^range  *iteration:1500-1600, and what else is in the packets'
	ok $? "... the summary says it"
	"$cudatrace" report "$work/trace-iterations" 2>&1 | grep -E 'not recorded|were lost|damaged|is empty'
	is $? 1 "... and nothing is called missing"
	# Of packets that were dropped within the first block of a file nothing may stay in the way.
	"$cudatrace" record -q -f -o "$work/trace-block" --capture-range iteration:20-40 --gpu -- "$ranged" none 600 >/dev/null 2>"$work/block.said"
	near 20 40 trace-block "... soon after the begin" || cat "$work/block.said"
	[ "$(jq -s 'map(select(.layer == "gpu" and .op == "exec" and .phase == "E")) | length >= 20' <("$cudatrace" export --format jsonl -o - "$work/trace-block" 2>/dev/null))" = true ]
	ok $? "... with what the GPU did, for which the first call waits"
	unset CUDATRACE_CUPTI
	"$cudatrace" record -q -f -o "$work/trace-early" --capture-range iteration:5-10 -- "$ranged" none 600 >/dev/null 2>"$work/early.said"
	near 5 10 trace-early "... the first ones, which are over when the pattern is known" || cat "$work/early.said"
	LAYERS=12 "$cudatrace" record -q -f -o "$work/trace-layers" --capture-range iteration:200-220 -- "$ranged" none 600 >/dev/null 2>"$work/layers.said"
	near 200 220 trace-layers "... layers of a model, launched by another thread, are no iterations" || cat "$work/layers.said"
	"$cudatrace" record -q -f -o "$work/trace-few" --capture-range iteration:5000 -- "$ranged" none 600 >/dev/null 2>"$work/few.said"
	grep -qE '(59.|600) iterations were found, so the trace has the last one only' "$work/few.said"
	ok $? "... that never come" || cat "$work/few.said"
	"$cudatrace" report "$work/trace-few" 2>/dev/null | grep -q '^range  *iteration:5000: it never began'
	ok $? "... which the summary says, too"
	for n in iteration: iteration:0 iteration:3-2 iteration:x iteration:1-2x; do
		refuse "--capture-range $n" "iteration:FIRST-LAST" "$cudatrace" record --capture-range $n -- true
	done
}

t_slow_iteration()
{
	SLOW=700 "$cudatrace" record -q -f -o "$work/trace-slow" --keep 60s --on slow-iteration=300x -- "$ranged" none 1500 >/dev/null 2>"$work/slow.said"
	grep -qE 'snapshot in .*trace-slow-1 \(iteration [67]..? took [12]\.[0-9]+ s, [0-9.]+ times the median of' "$work/slow.said"
	ok $? "--on slow-iteration: a copy when an iteration takes long" || cat "$work/slow.said"
	"$cudatrace" report "$work/trace-slow-1" >/dev/null 2>&1
	ok $? "... which is a trace"
	refuse "--on slow-iteration=1" "how many times the median" "$cudatrace" record --keep 60s --on slow-iteration=1 -- true
	refuse "options of the module with --pid" "of the module, which --pid" "$cudatrace" record --pid 1 --ring-size 4M
	refuse "--on slow-iteration without --keep" "on goes with --keep" "$cudatrace" record --on slow-iteration=3x -- true
}

# A child that is forked after its parent's first call; and what a killed process leaves.
t_standby_forked()
{
	local parent page
	export LD_PRELOAD=$PWD/build/libcudatrace.so CUDATRACE_STANDBY=1
	rm -f "$work/go"
	WAIT=$work/go "$ranged" forked >"$work/forked.out" 2>&1 &
	parent=$!
	until grep -q ready "$work/forked.out" || ! kill -0 $parent 2>/dev/null; do sleep 0.05; done
	unset LD_PRELOAD CUDATRACE_STANDBY
	pid=$(sed -n 's/^ready //p' "$work/forked.out")
	is "$(grep -c 'cudatrace-standby-' "/proc/$pid/maps") $(ls /dev/shm/cudatrace-standby-"$pid"-* /dev/shm/cudatrace-standby-$parent-* | wc -l)" "1 2" "standby: a child that was forked later has a page of its own"
	"$cudatrace" record -q -f -o "$work/trace-forked" --pid "$pid" --capture-range cudaProfilerApi 2>"$work/forked.said" &
	until grep -q 'which stood by' "$work/forked.said" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
	touch "$work/go"
	wait $!
	is "$? $(in_range trace-forked)" "0 400-599 cuProfilerStart cuProfilerStop" "... and is recorded when it is asked" || cat "$work/forked.said"
	wait $parent
	is "$? $(ls /dev/shm/cudatrace-standby-"$pid"-* /dev/shm/cudatrace-standby-$parent-* 2>/dev/null)" "0 " "... it and its parent end well, with their pages"
	start_standby killed 1
	page=$(standby_page)
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ -e "$page" ]
	ok $? "standby: who is killed leaves a page"
	start_standby next 1
	[ ! -e "$page" ] && [ -e "$(standby_page)" ]
	ok $? "... which the next one removes"
	ended_well next
}
