# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# The programs of examples/problems: each has its problem, its mended version has not, and the
# trace of each shows that.  Sourced by run.sh.

# problem_calls NAMES FILE: how many calls of functions that the pattern NAMES fits
problem_calls() { grep -E "\"name\":\"($1)\"" "$2" | grep -Ec '"phase":"[EI]"'; }

# What the problem is, as a number taken from a trace of 20 iterations.
problem_figure()
{
	local trace=$2
	case $1 in
	alloc_in_loop) problem_calls cuMemAlloc "$trace" ;;
	exact_repeats | host_bound) problem_calls cuLaunchKernel "$trace" ;;
	getters) problem_calls 'cuCtxGetDevice|cuDevicePrimaryCtxGetState|cuPointerGetAttribute' "$trace" ;;
	ignored_errors) jq -c 'select(.phase == "E" and (.result_code // 0) != 0) | .name' "$trace" | wc -l ;;
	lazy_loading) sed '1,/"name":"cuLaunchKernel"/d' "$trace" >"$trace.late" && problem_calls cuModuleLoadData "$trace.late" ;;
	leak) echo $(($(problem_calls cuMemAlloc "$trace") - $(problem_calls cuMemFree "$trace"))) ;;
	# Batches for which the launching thread waited a millisecond, between two calls.
	off_cpu) jq -s 'map(select(.layer == "user" and (.name | test("^cu(StreamSync|MemcpyHtoD)")))) |
		[.[:-1], .[1:]] | transpose |
		map(select(.[0].phase == "E" and .[1].phase == "B" and .[1].name == "cuMemcpyHtoDAsync" and
			   .[1].ts_ns - .[0].ts_ns > 1000000)) | length' "$trace" ;;
	pageable_copies) problem_calls cuMemHostAlloc "$trace" ;;
	shared_gpu) jq 'select(.name == "cuLaunchKernel") | .pid' "$trace" | sort -u | wc -l ;;
	small_copies) problem_calls cuMemcpyHtoDAsync "$trace" ;;
	sync_each_step) problem_calls cuStreamSynchronize "$trace" ;;
	esac
}

t_problems()
{
	local line name wanted mended program option figure of seen=
	# The figure with the problem, and mended; ..N: at most N, for it depends on time.
	while read -r name wanted mended; do
		seen="$seen $name"
		program=$PWD/build/examples/problems/$name
		for option in "" --mended; do
			of=$work/problem-$name$option
			figure=$wanted
			[ -z "$option" ] || figure=$mended
			line=$("$program" $option --iterations 20 2>&1) && [[ $line == "$name"*", simulated GPU: right" ]]
			ok $? "$name $option: its result is right" || echo "# $line"
			"$cudatrace" record -q -f --no-module -o "$of" -- "$program" $option --iterations 20 >"$of.out" 2>"$of.err" &&
				"$cudatrace" export -f --format jsonl -o "$of.jsonl" "$of" && grep -q ': right$' "$of.out"
			ok $? "and is so when it is recorded" || cat "$of.out" "$of.err"
			case $figure in
			..*) [ "$(problem_figure "$name" "$of.jsonl")" -le "${figure#..}" ]
				ok $? "its trace: at most ${figure#..}" ;;
			*) is "$(problem_figure "$name" "$of.jsonl")" "$figure" "its trace: $figure" ;;
			esac
		done
	done <<-END
		alloc_in_loop 80 4
		exact_repeats 600 30
		getters 20003 3
		host_bound 800 40
		ignored_errors 40 0
		lazy_loading 1 0
		leak 20 0
		off_cpu 20 ..10
		pageable_copies 0 2
		shared_gpu 2 1
		small_copies 20000 20
		sync_each_step 403 3
	END
	is "$(echo $seen)" "$(cd build/examples/problems && echo *)" "each of them was tried"

	name=$PWD/build/examples/problems/leak
	"$name" --nonsense >/dev/null 2>&1
	is $? 2 "a wrong option"
	"$name" --iterations 0 2>/dev/null
	is $? 2 "a wrong number"
	line=$(CUDASIM_FAIL=cuInit:1:100 "$name" 2>&1)
	is "$? $(echo "$line" | wc -l)" "77 1" "no GPU: status 77, one line"
	line=$(CUDASIM_FAIL=cuLaunchKernel:3:700 "$name" 2>&1)
	is "$?" 1 "a call that fails: $line"
}
