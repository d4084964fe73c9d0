# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --functions, --types, --no-queries: which calls are recorded.  Sourced by run.sh.

# chosen NAME OPTION...: the functions of a trace of examples/inference with these options, in $names
chosen()
{
	local dir=$work/trace-chosen-$1
	shift
	"$cudatrace" record -q --no-module -f -o "$dir" "$@" -- "$inference" --iterations 3 >/dev/null 2>"$work/chosen.err" || return 1
	"$cudatrace" export --format jsonl -f -o "$dir.jsonl" "$dir"
	# cuInit, and those that give kernels their names, are always there.
	names=$(jq -r 'select(.phase != "B" and .op_id != null) | .name' "$dir.jsonl" | sort | uniq -c | awk '$2 !~ /^(cuInit|cuGetProcAddress|cuModuleGetFunction)$/ { print $2 "=" $1 }' | tr '\n' ' ')
}

# chosen_names TRACE [PREFIX]: its functions, but for getters of libcuda
chosen_names()
{
	"$cudatrace" export --format csv -f -o "$work/chosen.csv" "$work/$1" 2>/dev/null
	awk -F, -v prefix="${2:-cu}" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } index($c["name"], prefix) == 1 { print $c["name"] }' "$work/chosen.csv" |
		sort -u | grep -vE '^cu[A-Z].*Get' | tr '\n' ' '
}

# A pattern that no function fits is told before the program starts; each line: PATTERN|what is said
chosen_misspelled()
{
	local wrong= pattern said
	while IFS='|' read -r pattern said; do
		"$cudatrace" record -q --no-module -f -o "$work/trace-chosen-wrong" --functions "$pattern" -- touch "$work/chosen-started" >/dev/null 2>"$work/chosen.err"
		[ "$?$(sed 's/^cudatrace record: --functions: //' "$work/chosen.err")" = "64$said" ] || wrong="$wrong [$pattern: $(cat "$work/chosen.err")]"
	done <<-'END'
		cuLanchKernl|no function fits 'cuLanchKernl'; did you mean 'cuLaunchKernel'?
		cuLaunch*,!cuEvnt*|no function fits 'cuEvnt*'; did you mean 'cuEventCreate', 'cuEventCreateFromEGLSync', 'cuEventDestroy' or another?
		memcpyHtoD|no function fits 'memcpyHtoD'; did you mean 'cuMemcpyHtoD' or 'cuMemcpyHtoDAsync'?
		cumemalloc|no function fits 'cumemalloc'; did you mean 'cuMemAlloc'?
		ncclAlReduce|no function fits 'ncclAlReduce'; did you mean 'ncclAllReduce'?
		cuStreamSync|no function has the whole name 'cuStreamSync'; did you mean 'cuStreamSync*'?
		cuMemAlloc_v2|names have no _v2 here; did you mean 'cuMemAlloc'?
		cuMem[CA]*|no function fits 'cuMem[CA]*': only * and ? stand for other letters
		*gemm*|no function fits '*gemm*': their names begin with cu (libcuda), nccl, or cuda (libcudart)
		cudaMalloc*|'cudaMalloc*' fits functions of libcudart only, which are recorded with --runtime
		cuMem*,!cu*|'cuMem*,!cu*' leaves no function
		,|give patterns with commas between them, as 'cuLaunch*,cuMemcpy*'
		!|after ! give a pattern, as '!cuEvent*'
	END
	is "$wrong$(ls -d "$work/trace-chosen-wrong" "$work/chosen-started" 2>/dev/null)" "" "--functions: a pattern that no function fits is a usage error that says what may be meant, and nothing starts"
	"$cudatrace" record -q --no-module -f -o "$work/trace-chosen-newer" --functions 'cuFooBar*' -- touch "$work/chosen-started" >/dev/null 2>"$work/chosen.err"
	is "$? $(grep -c "^cudatrace record: --functions: 'cuFooBar\*' fits no function that is known here, perhaps one of a newer driver" "$work/chosen.err") $(ls "$work/chosen-started")" \
		"0 1 $work/chosen-started" "... but one that a newer driver may have is taken, and told" || cat "$work/chosen.err"
	is "$("$cudatrace" session attach --all --functions 'cuLanchKernl' 2>&1)" "cudatrace session: --functions: no function fits 'cuLanchKernl'; did you mean 'cuLaunchKernel'?" "... and the same of session attach"
	"$cudatrace" record -q --no-module -f -o "$work/trace-chosen-runtime-word" --runtime --functions 'cudaMalloc*' -- true 2>"$work/chosen.err"
	is $? 0 "... functions of libcudart are known where --runtime records them" || cat "$work/chosen.err"
}

t_chosen()
{
	local names all
	chosen all
	all=$names
	chosen functions --functions 'cuLaunch*,cuMemcpyHtoD'
	is "$names" "$(printf '%s\n' $all | grep -E '^(cuLaunch.*|cuMemcpyHtoD)=' | tr '\n' ' ')" "--functions: these calls, all of them, and no others"
	jq -s -e 'map(select(.op == "launch" and .phase == "E")) | length > 0 and all(.[]; .details.kernel | length > 0 and (startswith("kernel_") | not))' "$work/trace-chosen-functions.jsonl" >/dev/null
	ok $? "... kernels have their names"
	"$cudatrace" report "$work/trace-chosen-functions" 2>/dev/null | grep -q '^only .*functions cuLaunch\*,cuMemcpyHtoD: other calls were not recorded'
	ok $? "... which the summary says"
	chosen but --functions '!cuEvent*,!cuMem*'
	is "$names" "$(printf '%s\n' $all | grep -vE '^cu(Event|Mem).*=' | tr '\n' ' ')" "--functions with !: all calls but these"
	chosen none --types memory
	"$cudatrace" report "$work/trace-chosen-none" 2>/dev/null | grep -q '^verdict .*No call that gives the GPU work was recorded'
	ok $? "... a verdict says nothing of calls that were left out"
	chosen types --types kernel,sync
	is "$names" "$(printf '%s\n' $all | grep -E '^cu(LaunchKernel|.*Synchronize)=' | tr '\n' ' ')" "--types: calls of these types"
	chosen queries --no-queries
	is "$(jq -s 'map(select(.type == "query")) | length' "$work/trace-chosen-queries.jsonl") $(jq -s 'map(select(.type == "query")) | length > 0' "$work/trace-chosen-all.jsonl")" "0 true" "--no-queries: no getter"
	"$cudatrace" report "$work/trace-chosen-all" 2>/dev/null | grep -q '^only '
	is $? 1 "without these options nothing is said to be left out"
	refuse "a type that is none" "give some of init, context" "$cudatrace" record --types kernels -- true
	refuse "too many patterns" "at most 400 characters" "$cudatrace" record --functions "$(printf 'cuMem%0600d' 1)" -- true
	chosen_misspelled
	# A process that runs already; what was asked for before is forgotten.
	start_running chosen 2
	attach trace-chosen-pid 0.5 --functions 'cuMemAlloc'
	is "$(chosen_names trace-chosen-pid)" "cuMemAlloc " "--functions with --pid" || cat "$work/trace-chosen-pid.said"
	attach trace-chosen-pid 0.5
	is "$(chosen_names trace-chosen-pid)" "cuLaunchKernel cuMemAlloc cuMemFree " "... then all" || cat "$work/trace-chosen-pid.said"
	attach trace-chosen-pid 0.5 --types kernel
	is "$(chosen_names trace-chosen-pid)" "cuLaunchKernel " "... then others, also of those that were recorded before" || cat "$work/trace-chosen-pid.said"
	ended_well chosen
	: >"$work/chosen-runtime.out"
	"$PWD/build/tests/record-runtime" >"$work/chosen-runtime.out" &
	pid=$!
	wait_until grep -q ready "$work/chosen-runtime.out"
	attach trace-chosen-runtime 0.5
	is "$(chosen_names trace-chosen-runtime cuda)" "" "--pid: calls of libcudart are not recorded" || cat "$work/trace-chosen-runtime.said"
	attach trace-chosen-runtime 0.5 --runtime
	is "$(chosen_names trace-chosen-runtime cuda)" "cudaGetDevice " "--runtime with --pid: they are" || cat "$work/trace-chosen-runtime.said"
	kill -TERM $pid
	wait $pid
	is "$? $(grep wrong "$work/chosen-runtime.out")" "0 wrong 0" "... and its results are right"
}
