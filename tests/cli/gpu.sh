# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Reports from records of the GPU, on traces whose figures are known exactly (make_gpu.c says them),
# and against what jq makes of their JSON Lines.  Sourced by run.sh, which has $plain and $ct (the command, without and with the
# sanitizers), $b, $work.

# gpu_trace NAME [host]: makes the trace and its JSON Lines once; sets $g and $gl.
gpu_trace()
{
	g=$work/gpu-$1${2:+-$2}
	gl=$g.jsonl
	[ -e "$g" ] && return
	"$b/make_gpu" "$1" "$g" ${2:+"$2"} >"$g.facts" && "$plain" export -o "$gl" "$g" 2>/dev/null
}

# gpu_json REPORT [OPTION...]: a report on $g.
gpu_json() { "$plain" report --format json "$@" "$g" 2>"$g.err"; }

# Intervals of the GPU of JSON Lines: busy ns (overlap counted once) and gaps, by device.
# shellcheck disable=SC2016
gpu_union='[inputs | select(.layer == "gpu" and .phase == "E") | {gpu: .details.gpu, e: .ts_ns, b: (.ts_ns - (.duration_us * 1000 | round))}]
	| group_by(.gpu) | map(sort_by(.b) | reduce .[] as $x ({gpu: .[0].gpu, end: null, busy: 0, gaps: []};
		if .end == null then .busy = $x.e - $x.b | .end = $x.e
		elif $x.b > .end then .gaps += [$x.b - .end] | .busy += $x.e - $x.b | .end = $x.e
		elif $x.e > .end then .busy += $x.e - .end | .end = $x.e else . end))'

t_gpu_lines()
{
	local name bt
	for name in idle overlap devices graphs nodes unjoined stopped refused two busy; do
		gpu_trace $name
		ok $? "gpu $name: it is read"
		if command -v babeltrace2 >/dev/null; then
			bt=$(babeltrace2 "$g" 2>"$g.bt" | wc -l)
			is "$bt$(grep -v 'may have discarded events' "$g.bt")" "$(jq .records "$g.facts")" "gpu $name: babeltrace2 reads as many records"
		else
			skip "gpu $name: babeltrace2 is missing"
		fi
		is "$(jq -n '[inputs | select(.layer == "gpu" and .op_id) | {op_id, phase}] | group_by(.op_id) |
			map(map(.phase) | join("")) | unique | join(",")' "$gl")" \
			"$([ $name = refused ] && echo '""' || echo '"BE"')" "gpu $name: each has a begin and an end"
	done
	gpu_trace idle
	is "$(lines 'select(.type=="kernel" and .op=="launch")' "$gl")" 20 "launches are counted once"
	is "$(lines 'select(.layer=="gpu" and .phase=="E" and (has("tid") | not) and .op=="exec")' "$gl")" 20 "and the kernels are there"
	# Each kernel belongs to the launch of the same name that began before it.
	is "$(jq -s 'INDEX(.[] | select(.name == "cuLaunchKernel" and .phase == "E"); .op_id) as $l |
		map(select(.layer == "gpu" and .phase == "E")) | map($l[.launch_op_id | tostring] as $c |
		$c.kernel == .kernel and $c.tid == .launch_tid and $c.ts_ns <= .ts_ns) | all' "$gl")" true "each kernel names its launch"
}

t_gpu_sums()
{
	gpu_trace overlap
	is "$(gpu_json cuda_gpu_kern_sum | jq -c '.[] | [.Name, .Instances, ."Total Time (ns)", ."Time (%)"]' | paste -sd ' ')" \
		'["softmax(float*)",1,30000,56.6] ["gemm(float*)",1,20000,37.7] ["copy(float*)",1,3000,5.7]' "cuda_gpu_kern_sum has the GPU's times"
	is "$(gpu_json cuda_gpu_mem_time_sum | jq -c '.[] | [.Operation, .Count, ."Total Time (ns)"]' | paste -sd ' ')" \
		'["[CUDA memcpy Host-to-Device]",1,15000] ["[CUDA memset]",1,10000]' "cuda_gpu_mem_time_sum"
	is "$(gpu_json cuda_gpu_mem_size_sum | jq -c '.[] | [.Operation, ."Total (MB)"]' | paste -sd ' ')" \
		'["[CUDA memcpy Host-to-Device]",1.049] ["[CUDA memset]",0.004]' "cuda_gpu_mem_size_sum"
	is "$("$plain" report --format csv cuda_gpu_trace "$g" 2>/dev/null | head -n 1)" \
		"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name,Pid,Tid" \
		"cuda_gpu_trace has nsys's columns"
	is "$("$plain" report --format csv cuda_gpu_trace "$g" 2>/dev/null | sed -n '2p;5p;6p' | paste -sd ' ')" \
		"10000,20000,1,4,2,1,128,1,1,40,0.002,0.001,,,,,0,1,7,gemm(float*),4242,4242 45000,15000,4,,,,,,,,,,1.049,69905.067,Pinned,Device,0,1,8,[CUDA memcpy Host-to-Device],4242,4242 80000,10000,9,,,,,,,,,,0.004,409.6,,Device,0,1,7,[CUDA memset],4242,4242" \
		"and the GPU's records"
	is "$(join -t, <("$plain" report --format csv cuda_gpu_trace "$g" 2>/dev/null | sed 1d | cut -d, -f3 | LC_ALL=C sort) \
		<("$plain" report --format csv cuda_api_trace "$g" 2>/dev/null | sed 1d | awk -F, '{ print $5 "," $3 }' | LC_ALL=C sort) | cut -d, -f2 | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd,)" \
		"3 cuLaunchKernel,1 cuMemcpyHtoDAsync,1 cuMemsetD8Async" "CorrId is that of cuda_api_trace"
	gpu_trace idle
	is "$(gpu_json cuda_kern_exec_sum | jq -c '.[] | [."Kernel Name", .Count, .QCount, ."AMed (ns)", ."QMed (ns)", ."KMed (ns)", ."TMed (ns)"]' | paste -sd ' ')" \
		'["softmax(float*)",10,10,5000,999000,100000,1104000] ["gemm(float*)",10,10,5000,3000,1000000,1008000]' "cuda_kern_exec_sum: from the launch to the start"
	is "$(COLUMNS=80 "$plain" report --from start cuda_kern_exec_sum "$g" 2>/dev/null | sed -n 2p | tr -s ' ')" " tid runs all avg wait median run median call kernel" \
		"for people: by which it is sorted, and what tells rows of one kernel apart"
	gpu_trace nodes
	is "$(gpu_json cuda_gpu_kern_sum | jq -c '.[] | [.Name, .Instances, ."Total Time (ns)"]' | paste -sd ' ')" \
		'["gemm(float*)",20,200000] ["softmax(float*)",20,200000]' "kernels of graphs"
	is "$(gpu_json cuda_gpu_trace | jq -c 'map(.CorrId) | group_by(.) | map(length) | unique')" "[2]" \
		"two kernels belong to each launch of a graph"
	gpu_trace graphs
	"$plain" report --from start cuda_gpu_kern_sum "$g" 2>/dev/null | grep -q '20 graph launches (420.00 us on the GPU) are left out.*--gpu=nodes'
	ok $? "graphs without their kernels are said"
	is "$(gpu_json cuda_gpu_trace | jq -r '.[0] | "\(.Name) \(."Duration (ns)")"')" "[CUDA graph 5] 21000" "a graph is one row of cuda_gpu_trace"
}

t_gpu_gaps()
{
	local name want
	gpu_trace overlap
	"$plain" report "$g" 2>/dev/null | tr -s ' ' | grep -A1 'done by the GPU 5 busy for 60.00 us' | grep -q 'kernels 3 (53.00 us), copies 1 (15.00 us), sets 1 (10.00 us)'
	ok $? "streams that overlap: the GPU is busy for 60 of 80 us, with 78 us of work"
	"$plain" report "$g" 2>/dev/null | tr -s ' ' | grep -A1 'KERNELS by time on the GPU (of 3): share, time, launches' | grep -q '^ 56.6 % 30.00 us 1 softmax$'
	ok $? "the summary's kernels are those with most time on the GPU"
	gpu_trace graphs
	"$plain" report "$g" 2>/dev/null | tr -s ' ' | grep -q '^ graph launches 20$'
	ok $? "the summary has launches of graphs"
	gpu_trace idle
	gpu_json gaps >"$g.gaps"
	is "$(jq -c '.gaps_sum[] | [.Cause, .Gaps, ."Total Time (ns)"]' "$g.gaps" | paste -sd ' ')" \
		'["application",9,7074000] ["memory calls",9,540000] ["kernel driver",9,360000] ["in the launch or copy call",9,45000] ["synchronisation that had ended",9,36000] ["start latency",9,27000] ["work was queued",10,20000]' \
		"idle times by cause, exactly"
	is "$(jq -c '.gaps[0] | [."Start (ns)", ."Duration (ns)", ."Application (ns)", ."Sync (ns)", ."Launch (ns)", ."Start Latency (ns)", ."Memory (ns)", ."Driver (ns)", .CorrId]' "$g.gaps")" \
		"[1210000,898000,786000,4000,5000,3000,60000,40000,10]" "the longest"
	is "$(jq -c '.gaps[0,9] | [.Cause, .Previous, .Next]' "$g.gaps" | paste -sd ' ')" '["application","softmax(float*)","gemm(float*)"] ["work was queued","gemm(float*)","softmax(float*)"]' \
		"its cause, and the work around it"
	gpu_trace overlap
	is "$(gpu_json gaps | jq -c '.gaps[] | [.Previous, .Next]')" '["[CUDA memcpy Host-to-Device]","[CUDA memset]"]' "copies and sets are named as in cuda_gpu_trace"
	gpu_trace graphs
	is "$(gpu_json gaps | jq -c '[.gaps[] | .Previous, .Next] | unique')" '["[CUDA graph 5]"]' "and so are graphs"
	for name in idle overlap devices nodes graphs unjoined stopped busy; do
		gpu_trace $name
		gpu_json gaps >"$g.gaps"
		want=$(jq -n -c "$gpu_union | [.[].gaps[]] | [length, add // 0]" "$gl")
		is "$(jq -c '[.gaps | length, (map(."Duration (ns)") | add // 0)]' "$g.gaps")" "$want" "gpu $name: number and sum of the gaps"
		is "$(jq '[.gaps_sum[]."Total Time (ns)"] | add // 0' "$g.gaps")" "$(echo "$want" | jq '.[1]')" "gpu $name: the causes add up to them"
		is "$(jq '.gaps | map(."Duration (ns)" as $d | [to_entries[] | select(.key | test("^(Application|Sync|Launch|Start Latency|Queued|Memory|Module|Driver|Off CPU|Other Calls|Unknown) ")) | .value // 0] | add == $d) | all' "$g.gaps")" \
			true "gpu $name: the parts of each add up to it"
		is "$(jq -c '[.gaps_pairs[] | [.Pid, .Device, .Previous, .Next, .Gaps, ."Total Time (ns)", ."Max (ns)", ."Med (ns)"]] | sort' "$g.gaps")" \
			"$(jq -c '.gaps | group_by([.Pid, .Device, .Previous, .Next]) | map((map(."Duration (ns)") | sort) as $v | ($v | length) as $n |
				[.[0].Pid, .[0].Device, .[0].Previous, .[0].Next, $n, ($v | add), $v[-1],
				($v[(($n - 1) / 2 | floor)] + $v[($n / 2 | floor)]) / 2]) | sort' "$g.gaps")" "gpu $name: gaps by the work before and after them"
	done
	gpu_trace devices
	is "$(gpu_json gaps | jq -c '.gaps_idle[] | [.Device, ."Busy (ns)", ."Device Idle (ns)"]' | paste -sd ' ')" \
		"[0,20000,30000] [1,30000,20000]" "two GPUs: each has its idle time"
	gpu_trace idle
	is "$(gpu_json stages | jq -c '.stages[] | select(.Stage == "steady") | [."GPU Busy (ns)", ."Device Idle (ns)", ."Duration (ns)"] | .[0] + .[1] == .[2]')" true \
		"stages: busy and idle are all of the steady state"
	gpu_trace busy
	is "$(gpu_json iterations | jq -c '[.iterations[]."GPU Busy (ns)"] | unique')" "[120000]" "iterations: how long the GPU worked in each"
	is "$(gpu_json stages | jq -c '.stages[] | select(.Stage == "steady") | [."GPU Busy (%)", ."Device Idle (ns)"]')" "[100,0]" "stages: a GPU without idle time"
}

# A host that is far ahead when the GPU begins: the cause is still that of the launch.  What is held for it is bounded.
t_gpu_gaps_late()
{
	local causes='[.gaps_sum[] | [.Cause, ."Total Time (ns)"]] | sort'
	gpu_trace late=100
	is "$(gpu_json gaps --from start | jq -c "$causes")" '[["application",8000],["in the launch or copy call",1000],["start latency",219000],["synchronisation that had ended",2000]]' \
		"100 launches before the GPU begins: why it was idle"
	gpu_trace late=40000
	is "$(gpu_json gaps --from start | jq -c "$causes")" '[["call not known",80030000]]' "40,000 are too many"
}

# explain --call: what the GPU did for it, from the begin of the call on.
t_gpu_call()
{
	local op
	gpu_trace overlap
	call_gpu() { "$plain" explain --format json --call "$1" "$g" 2>/dev/null | jq -c '[.call_gpu[] | [."Begin (ns)", ."End (ns)", .Stream, .Launch, .Name, .Detail]]'; }
	ops() { jq -r "select(.layer == \"user\" and .phase == \"B\" and .name == \"$1\") | .op_id" "$gl" | sed -n "$2p"; }
	op=$(ops cuLaunchKernel 2)
	is "$(call_gpu "$op")" "[[18000,48000,8,$op,\"gpu_kernel\",\"softmax(float*), grid 4x2x1, block 128x1x1\"]]" "explain --call: when the kernel of a launch ran"
	op=$(ops cuMemcpyHtoDAsync 1)
	is "$(call_gpu "$op")" "[[41000,56000,8,$op,\"gpu_copy\",\"1.00 MiB, H2D, src_kind pinned, dst_kind device, async 1\"]]" "the copy of a copy"
	"$plain" explain --call "$op" "$g" 2>/dev/null | grep -q '^ *41.00 us *56.00 us *15.00 us *0 *8 .*gpu_copy'
	ok $? "also for people" || "$plain" explain --call "$op" "$g"
	gpu_trace idle
	is "$(call_gpu "$(ops cuStreamSynchronize 2)" | jq -c '[.[] | [.[0], .[1], .[4]]]')" \
		'[[-4000,996000,"gpu_kernel"],[998000,1098000,"gpu_kernel"]]' "the work that a synchronisation waited for, and no other"
	gpu_trace nodes
	is "$(call_gpu "$(ops cuGraphLaunch 3)" | jq length)" 2 "each kernel of a graph launch"
	# A call that makes a graph gives the GPU nothing to do: nothing can be missing.
	"$plain" explain --call "$(ops cuGraphInstantiate 1)" "$g" >"$g.make" 2>/dev/null
	is "$?,$(grep -c 'ON THE GPU\|No record of the GPU' "$g.make")" 0,0 "no work of the GPU is expected of the call that makes a graph"
	gpu_trace stopped
	"$plain" explain --call "$(ops cuLaunchKernel 15)" "$g" 2>/dev/null | grep -q 'No record of the GPU names call'
	ok $? "a launch without a record"
	gpu_trace idle host
	is "$("$plain" explain --format json --call "$(ops cuLaunchKernel 2)" "$g" 2>/dev/null | jq 'has("call_gpu")')" false "and nothing of it without records of the GPU"
}

# Memory is bounded: what very many threads did is not known, and that is said.
t_gpu_crowd()
{
	gpu_trace crowd
	gpu_json gaps >"$g.gaps"
	is "$(jq -c '[.gaps_sum[] | select(.Cause == "call not known") | .Gaps]' "$g.gaps")" "[3617]" "20,000 threads: of some it is not known what they did"
	is "$(jq -c '[.gaps_sum[]."Total Time (ns)"] | add' "$g.gaps")" $((19999 * 7000)) "the causes add up to the gaps"
	"$plain" report --from start gaps "$g" 2>/dev/null | tr -s '\n ' '  ' | grep -q 'very many threads: what those after the first 16,384 did is not known'
	ok $? "the report says so"
}

# What is missing is said wherever it would be taken for what did not happen.
t_gpu_missing()
{
	gpu_trace strangers
	is "$(timeout $hang "$plain" report --from start --format json cuda_gpu_kern_sum "$g" | jq '.[].Instances')" 60000 \
		"many records that fit none of many calls: it does not take for ever"
	local report
	says()
	{
		gpu_trace "$1"
		"$plain" report --from start "$2" "$g" 2>/dev/null | tr -s '\n ' '  ' | grep -qF "$3"
		ok $? "$2 of $1: $3" || "$plain" report --from start "$2" "$g" 2>&1 | tail -n 5
	}
	for report in cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_trace cuda_kern_exec_sum gaps stages iterations; do
		says stopped $report "Process 4242: GPU records until 0.100 ms only: torch.profiler collects the GPU's activity from now on."
		says two $report "Process 5000: no GPU records"
		says unjoined $report "3 GPU records lost"
	done
	for report in cuda_gpu_kern_sum cuda_gpu_trace; do
		says refused $report "without records of the GPU"
		says refused $report "no GPU records: no libcupti was found"
	done
	for report in cuda_gpu_trace gaps cuda_kern_exec_sum; do
		says unjoined $report "2 of 5 GPU records could not be joined to a call"
	done
	says unjoined cuda_gpu_kern_sum "GPU records may be missing after 0.049 ms"
	gpu_trace unjoined
	is "$(lines 'select(.layer=="gpu" and .phase=="E" and .joined == false and (has("launch_op_id") | not))' "$gl")" 2 "records that name no call say so"
	is "$(gpu_json gaps | jq '[.gaps_sum[] | select(.Cause == "call not known")."Gaps"] | add')" 2 "and so do idle times before them"
	is "$(gpu_json stages | jq '[.stages[]."Device Idle (ns)"] | add')" 29000 "a process that does not end well is not idle after its last record"
	gpu_trace stopped
	# From 99 us on, when the last kernel ended, nothing is known.
	is "$(gpu_json gaps | jq '[.gaps[]."Duration (ns)"] | add')" 54000 "no idle time is made of what was not recorded"
	is "$(gpu_json stages | jq '[.stages[]."Device Idle (ns)"] | add')" 60000 "nor in the stages: until 100 us it is known"
	is "$(gpu_json gaps | jq -c '.gaps_idle[] | [."Busy (ns)", ."Device Idle (ns)", ."Device Idle (%)", .Gaps]')" "[null,null,null,null]" \
		"nor for other work: the stage was not recorded until its end"
	is "$(gpu_json stages | jq -c '.stages[] | [."GPU Busy (ns)", ."GPU Busy (%)"]')" "[40000,null]" "stages: no share of a stage that was recorded in part"
	is "$(gpu_json iterations | jq -c '.iterations[0,19] | [."GPU Busy (ns)", ."GPU Busy (%)", ."Device Idle (ns)"]' | paste -sd ' ')" \
		"[4000,40,6000] [null,null,null]" "iterations: nothing of those that were not recorded"
	gpu_trace idle
	! "$plain" report --from start cuda_gpu_kern_sum gaps stages "$g" 2>&1 | grep -q 'Process 4242: .*GPU records'
	ok $? "a complete trace says nothing of the kind"
}

# Calls that make and destroy graphs give the GPU no work: nothing of it is missing, also before an exec.
t_gpu_graphs_made()
{
	local call name
	gpu_trace made
	is "$("$ct" report --from start --all "$g" 2>/dev/null | tr -s '\n ' '  ' | grep -o 'GPU records may be missing[^:]*: it called exec' | head -n 1)" "" \
		"no record is missing of what makes and destroys graphs"
	is "$("$ct" explain --call 3 "$g" 2>/dev/null | grep -c 'ON THE GPU')" 1 "explain --call: a launch has a part on the GPU"
	jq -r 'select(.phase == "E" and (.name | startswith("cuGraph"))) | "\(.op_id) \(.name)"' "$gl" >"$g.calls"
	is "$(wc -l <"$g.calls")" 4 "four calls of graphs"
	while read -r call name; do
		is "$("$ct" explain --call "$call" "$g" 2>/dev/null | grep -o 'cuGraph[A-Za-z]*\|ON THE GPU\|No record of the GPU' | sort -u | paste -sd,)" \
			"$name" "explain --call: $name has none"
	done <"$g.calls"
}

# CUPTI begins while the program launches: calls that were made meanwhile have records, older ones have none.
t_gpu_attached()
{
	gpu_trace attached
	is "$(jq -cs '(map(select(.name == "cuLaunchKernel" and .phase == "E")) | sort_by(.ts_ns) | map(.op_id)) as $launches |
		map(select(.name == "gpu_kernel" and .phase == "E")) | sort_by(.details.correlation) |
		map(.details.correlation - 101 == (.launch_op_id as $l | $launches | index($l)))' "$gl")" \
		"[true,true,true,true,true,true,true,true]" "each kernel names its launch where the process was attached to"
}

t_gpu_explain()
{
	gpu_trace idle
	"$plain" explain "$g" 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	grep -q 'The GPU is idle for 8.11 ms (42.5 %) between its work, in 19 gaps (measured). What the launching thread did meanwhile: application 7.07 ms, memory calls 540.00 us, kernel driver 360.00 us. The longest gap has 898.00 us.' "$g.explain"
	ok $? "explain: why the GPU is idle" || cat "$g.explain"
	grep -q '(gpu-idle, sure) record: cuLaunchKernel at 2.100 ms (--call 10)' "$g.explain"
	ok $? "and the record that shows it"
	grep -q 'the GPU works for 57.5 % of it (measured)' "$g.explain"
	ok $? "the verdict has the GPU's time"
	gpu_trace busy
	"$plain" explain "$g" 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	grep -q 'limited by the GPU.* the GPU works for 100.0 % of it (measured).*The GPU works for 5.88 ms (measured), so its kernels limit. Of that time: 33.3 % in ' "$g.explain"
	ok $? "explain: a GPU that limits, and its kernels" || cat "$g.explain"
	! grep -q 'gpu-idle\|host-bound' "$g.explain"
	ok $? "and no other limit"
	gpu_trace graphs
	"$plain" explain "$g" 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	grep -q '(gpu-idle' "$g.explain" && ! grep -q 'in a CUDA graph\|a CUDA graph of' "$g.explain"
	ok $? "explain: a program of graphs is not told to make one" || cat "$g.explain"
	gpu_trace full
	"$plain" explain "$g" 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	grep -q 'The GPU works for [0-9.]* ms (measured), so its kernels limit. Of that time: 100.0 % in launches of graphs (20 times)' "$g.explain"
	ok $? "explain: a GPU that works on graphs alone" || cat "$g.explain"
	gpu_trace ahead
	{ "$plain" explain "$g"; "$plain" report "$g"; } 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	is "$(grep -o 'limited by the GPU. The launching thread spends 75.0 % waiting in synchronisations, 12.5 % in the application and 12.5 % launching; the GPU works for 62.4 % of it and is idle for 37.4 % although work waits for it (measured)' "$g.explain" | wc -l)" 2 \
		"explain and the summary: a host that is ahead does not limit" || cat "$g.explain"
	grep -q '37.6 % The GPU is idle for 1.81 ms between .* work was queued 1.80 ms.* The host is not late' "$g.explain"
	ok $? "and what to try is not for the host"
	! grep -q '(host-bound\|(application' "$g.explain"
	ok $? "and nothing of the host is a finding"
	gpu_trace busy
	is "$("$plain" report --format json summary "$g" 2>/dev/null | jq -r 'tostring' | grep -c 'gpu_kernel')" 0 "the summary takes no kernel for a call"
}

# What was not recorded until the end is no verdict on the GPU.
t_gpu_part()
{
	gpu_trace stopped
	{ "$plain" explain "$g"; "$plain" report summary "$g"; } 2>/dev/null | tr -s '\n ' '  ' >"$g.explain"
	! grep -q '(measured)\. startup\|the GPU works for' "$g.explain" && grep -q 'GPU has nothing to do for at least' "$g.explain"
	ok $? "records that end half way: the idle time is a bound" || cat "$g.explain"
	is "$(grep -o 'GPU records until 0.100 ms only: torch.profiler' "$g.explain" | wc -l)" 2 "explain and the summary say why"
	gpu_trace busy
	is "$("$plain" report summary "$g" 2>/dev/null | grep -oE '^(KERNELS|CATEGORIES|FUNCTIONS)' | paste -sd,)" "KERNELS,CATEGORIES,FUNCTIONS" \
		"the summary has what the GPU did before what the host called"
	"$plain" report summary "$g" 2>/dev/null | tr -s '\n ' '  ' | grep -q 'GPU works for 100.0 % of it (measured)'
	ok $? "all of them: it is measured"
}

# With and without records of the GPU the same is said of the host.
t_gpu_host()
{
	local name report
	for name in idle overlap busy; do
		for report in cuda_api_sum cuda_api_trace osrt_sum ioctl_sum driver_sum memory errors threads sync processes handles; do
			gpu_trace $name host
			"$plain" report --from start --format csv $report "$g" >"$g.csv" 2>/dev/null
			gpu_trace $name
			"$plain" report --from start --format csv $report "$g" 2>/dev/null | sed 's/,[0-9]*,4242,4242,0,/,ID,4242,4242,0,/' >"$g.csv"
			sed -i 's/,[0-9]*,4242,4242,0,/,ID,4242,4242,0,/' "$g-host.csv"
			cmp -s "$g.csv" "$g-host.csv"
			ok $? "gpu $name: $report is the same without the GPU's records" || diff "$g.csv" "$g-host.csv" | head -n 6
		done
		gpu_trace $name host
		"$plain" report --from start cuda_gpu_kern_sum "$g" 2>/dev/null | grep -q 'times of the launch calls on the host, without records of the GPU'
		ok $? "gpu $name: without them the report says what its times are"
	done
}

# Bytes of the GPU's streams changed at random: no crash, no report of a sanitizer.
t_gpu_fuzz()
{
	local bad=0 seed file name n status out=$work/gpu-fuzz
	mkdir -p "$out"
	for seed in $(fuzz_seeds); do
		for name in overlap nodes; do
			gpu_trace $name
			rm -rf "$work/gpu-hurt"
			cp -r "$g" "$work/gpu-hurt"
			file=$(find "$work/gpu-hurt" -name 'g-*' | sort | shuf -n 1 --random-source=<(yes "$seed"))
			"$b/hurt_trace" flip "$file" "$seed"
			printf "%s\t$work/gpu-hurt\n" "export\t--format\tchrome" "report\t--format\tjson\t--all" \
				"report\tcuda_gpu_trace" "explain" | sed 's/\\t/\t/g' >"$out/lines"
			"$b/many" "$out" <"$out/lines" >"$out/status"
			while read -r n status; do
				[ "$status" -le 1 ] && continue
				echo "# seed $seed, $name, $(basename "$file"), $(sed -n "${n}p" "$out/lines"): status $status"
				head -n 5 "$out/$n.err" | sed 's/^/# /'
				bad=$((bad + 1))
			done <"$out/status"
			[ "$(wc -l <"$out/status")" = 4 ] || bad=$((bad + 1))
		done
	done
	is $bad 0 "damaged streams of the GPU: an answer or one line"
}

# diff compares what the GPU did by its records, each under the iteration that caused it.
t_gpu_diff()
{
	local a
	gpu_trace step=100
	a=$g
	gpu_trace step=300
	is "$("$plain" diff --format json "$a" "$g" 2>/dev/null | jq -c '.diff_gpu[] | [.Name, ."Runs A", ."Runs B", ."Time A (ns)", ."Time B (ns)", ."Effect (ns)", .Verdict]' | paste -sd ' ')" \
		'["(all work of the GPU)",1,1,900000,700000,-200000,"faster"] ["gemm(float*)",1,1,900000,700000,-200000,"faster"]' "diff: times on the GPU, per iteration"
	gpu_trace step=300 host
	"$plain" diff "$a" "$g" >"$g.diff" 2>&1
	grep -q 'Only A has records of the GPU' "$g.diff" && ! grep -q '^GPU:' "$g.diff"
	ok $? "diff: one trace without records of the GPU" || head -n 20 "$g.diff"
}

# top shows the GPU's work beside the calls and counts it for none.
t_gpu_top()
{
	gpu_trace overlap
	is "$(COLUMNS=120 timeout $hang "$plain" top --views 1 -n 20 "$g" 2>/dev/null | sed -n 's/.* 0 \(\[.*\|cu[A-Z].*\)/\1/p' | sort | paste -sd,)" \
		"[CUDA kernel],[CUDA memcpy Host-to-Device],[CUDA memset],cuLaunchKernel,cuMemcpyHtoDAsync,cuMemsetD8Async" "top: names of the GPU's work"
}
