# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --gpu over the simulated libcuda and a stand-in for libcupti, which delivers what that
# libcuda did.  Sourced by run.sh.

gpu=$PWD/build/tests/record-gpu
cupti=$PWD/build/tests/sim/cupti

# activity NAME [OPTION...] -- COMMAND...: recorded as $work/NAME.jsonl; its status
activity()
{
	local name=$1 status
	shift
	LD_LIBRARY_PATH=$PWD/build/tests/sim:${cupti_dir:-$cupti} "$cudatrace" record -q -f --no-module -o "$work/$name" "$@" \
		>"$work/$name.out" 2>"$work/$name.err"
	status=$?
	"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name" 2>>"$work/$name.err" || status=99
	return $status
}
# gpu_records NAME FILTER: how many records of the GPU, by their end or moment
gpu_records() { jq -s "[.[] | select(.layer == \"gpu\" and .phase != \"B\" and ($2))] | length" "$work/$1.jsonl"; }
# gpu_said NAME STATE: the text of the process's record of this state
gpu_said() { jq -r "select(.name == \"gpu_state\" and .details.state == $2) | .text" "$work/$1.jsonl"; }
gpu_losses() { "$cudatrace" report "$work/$1" | sed -n 's/^ *lost records *//p'; }

t_gpu()
{
	activity gpu --gpu -- "$gpu" work 100
	is $? 0 "record --gpu"
	judge_trace "$work/gpu" gpu
	is "$(gpu_records gpu '.name == "gpu_kernel"') $(gpu_records gpu '.name == "gpu_set"') $(gpu_records gpu '.name == "gpu_copy"')" "200 100 100" \
		"each kernel, set and copy is there"
	is "$(gpu_records gpu '.op == "exec" and .launch_op_id == null')" 0 "each has its call"
	# The call says what the GPU has done.
	is "$(jq -s '[.[] | select(.phase == "E")] as $all |
		($all | map(select(.layer == "user")) | INDEX(.op_id)) as $calls |
		[$all[] | select(.op == "exec") | . as $r | $calls[.launch_op_id | tostring] |
		 select((($r.kernel // .kernel) != .kernel) or (($r.size // .size) != .size) or
			($r.details.grid_x // .details.grid_x) != .details.grid_x or
			($r.details.shared // .details.shared) != .details.shared or
			$r.ts_ns - $r.duration_us * 1000 < .ts_ns - .duration_us * 1000 - 1)] | length' "$work/gpu.jsonl")" 0 \
		"the right one: kernel, grid and bytes are the same, and it began before"
	is "$(jq -s '[.[] | select(.phase == "E" and .op == "exec") | .launch_op_id] | unique | length' "$work/gpu.jsonl")" 400 "and no other record has it"
	is "$(jq -s '[.[] | select(.type == "kernel" and .op == "launch")] | length' "$work/gpu.jsonl")" 200 "launches are counted once"
	is "$(jq -rs '[.[] | select(.name == "gpu_kernel" and .phase == "E" and .kernel == "large()")][0].details |
		[.grid_x, .grid_y, .grid_z, .block_x, .block_y, .block_z, .shared, .shared_static, .registers] | join(" ")' "$work/gpu.jsonl")" \
		"2 3 4 8 8 1 0 16 32" "a kernel's shape"
	is "$(jq -rs '[.[] | select(.name == "gpu_copy" and .phase == "E")][0] | [.direction, .details.src_kind, .details.dst_kind] | join(" ")' "$work/gpu.jsonl")" \
		"D2H device pageable" "a copy's direction and kinds of memory"
	gpu_said gpu 1 | grep -q "^$cupti/libcupti.so.13, version 130000, it is in the program already$"
	ok $? "the trace says which libcupti it was"
	is "$(gpu_said gpu 3)" "the process ended" "and that the records are complete"
	is "$(gpu_losses gpu)" 0 "nothing is lost"
}

t_gpu_options()
{
	activity plain -- "$gpu" work 10
	is "$(ls "$work/plain" | grep -c '^g-')$(jq -s '[.[] | select(.layer == "gpu")] | length' "$work/plain.jsonl")" 00 "without --gpu there is nothing of it"
	activity env -- env
	! grep -q 'CUDATRACE_GPU\|libcudatrace-gpu\|CUDA_INJECTION64_PATH' "$work/env.out"
	ok $? "nor in the program's environment" || grep GPU "$work/env.out"
	CUDATRACE_GPU=kernels CUDA_INJECTION64_PATH=$PWD/build/libcudatrace-gpu.so activity inside -- "$gpu" work 10
	is "$(ls "$work/inside" | grep -c '^g-')" 0 "nor inside another recorder that was asked for it"
	refuse "--gpu=sometimes" 'give kernels, graphs or nodes' "$cudatrace" record --gpu=sometimes -- true
	activity injected --gpu --inject -- "$gpu" work 10
	is "$?$(gpu_records injected '.name == "gpu_kernel"')" 020 "with --inject, too"
	CUDA_INJECTION64_PATH=$B/inject_tool.so activity chained --gpu -- "$gpu" work 10
	is "$?$(gpu_records chained '.name == "gpu_kernel"')" 020 "beside a tool that libcuda loads"
	grep -q tool "$work/chained.out"
	ok $? "which is called, too" || cat "$work/chained.out"
}

# A program that sets memory, or sets and copies, gives the GPU work: no other rule says so than what a class is.
t_gpu_transfers()
{
	local what option name pid
	while read -r what option; do
		name=transfers-$what$option
		activity $name $option -- "$gpu" $what 300
		is $? 0 "record $option: $what alone"
		"$cudatrace" report "$work/$name" >"$work/$name.report" 2>/dev/null
		COLUMNS=100 "$cudatrace" explain "$work/$name" 2>/dev/null | sed -n '/^VERDICT/,/^$/p' >"$work/$name.verdict"
		pid=$(jq -rs '[.[] | select(.name | startswith("cuMemset"))][0].pid' "$work/$name.jsonl")
		grep -q "^  record-gpu ($pid)$" "$work/$name.verdict" && grep -q '^    simulated GPU, execution, ' "$work/$name.verdict" &&
			! grep -q "Gave the GPU no work:.*($pid)" "$work/$name.verdict"
		ok $? "explain: it gave the GPU work" || cat "$work/$name.verdict"
		grep -q '^verdict   execution, ' "$work/$name.report" && grep -q "^STAGES of record-gpu ($pid)" "$work/$name.report" &&
			! grep -q 'no work' "$work/$name.report"
		ok $? "the summary is of it and says the same" || head -30 "$work/$name.report"
		is "$("$cudatrace" report --format json "$work/$name" stages 2>/dev/null |
			jq -r --argjson pid "$pid" '[.. | objects | select(.Pid? == $pid and .Stage? == "execution")][0].Copies')" \
			"$(jq -s '[.[] | select(.layer == "user" and .phase != "B" and (.name | test("^cuMem(set|cpy)")))] | length' "$work/$name.jsonl")" \
			"all of it is in its execution"
	done <<-END
		sets
		sets --gpu
		copies
		copies --gpu
	END
	# The child that only initialises is no process that the summary is of.
	grep -q '^  Gave the GPU no work: record-gpu ([0-9]*)$' "$work/transfers-copies--gpu.verdict"
	ok $? "a process that only calls cuInit gave it none" || cat "$work/transfers-copies--gpu.verdict"
}

# The inference example has a graph of five kernels and copies.
t_gpu_nodes()
{
	local graph='.details.graph > 0'
	for what in kernels graphs nodes; do
		CUDATRACE_CUPTI=$cupti/libcupti.so.13 activity graph-$what --gpu=$what -- "$inference" --iterations 20
	done
	is "$(gpu_records graph-kernels '.name == "gpu_graph"') $(gpu_records graph-kernels '.name == "gpu_kernel"') $(gpu_records graph-kernels "$graph and .name != \"gpu_graph\"")" \
		"1 80 0" "a graph launch is one record"
	is "$(gpu_records graph-graphs '.name == "gpu_graph"') $(gpu_records graph-graphs '.name == "gpu_kernel"')" "1 0" "--gpu=graphs: no kernels"
	is "$(gpu_records graph-nodes '.name == "gpu_graph"') $(gpu_records graph-nodes "$graph and .name == \"gpu_kernel\"") $(gpu_records graph-nodes '.name == "gpu_kernel"')" \
		"0 4 84" "--gpu=nodes: what is inside"
	is "$(jq -rs '[.[] | select(.phase == "E")] | (map(select(.name == "cuGraphLaunch"))[0].op_id) as $id |
		[.[] | select((.details.graph // 0) != 0 and .layer == "gpu") | .launch_op_id] | unique == [$id]' "$work/graph-nodes.jsonl")" true "nodes have the call that launched the graph"
	is "$(gpu_records graph-kernels '.op == "exec" and .launch_op_id == null')$(gpu_records graph-nodes '.op == "exec" and .launch_op_id == null')" 00 "launches into a capture are taken for nothing else"
}

t_gpu_capture()
{
	activity capture --gpu -- "$gpu" capture
	is "$?$(gpu_records capture '.name == "gpu_kernel"')" 040 "kernels that run before and after a capture"
	is "$(gpu_records capture '.op == "exec" and .launch_op_id == null')" 0 "a capture that is refused is none: each has its launch"
	is "$(jq -s '[.[] | select(.phase == "E")] as $all | ($all[] | select(.name == "cuStreamEndCapture" and .result == "CUDA_SUCCESS") | .op_id) as $after |
		[$all[] | select(.name == "gpu_kernel") | .launch_op_id | select(. != null and . > $after)] | unique | length' "$work/capture.jsonl")" 20 \
		"each has a launch of its own, none of the capture"
	is "$(jq -s '[.[] | select(.phase == "E")] as $all | ($all | map(select(.layer == "user")) | INDEX(.op_id)) as $calls |
		[$all[] | select(.name == "gpu_kernel") | $calls[.launch_op_id | tostring] | select(.result != "CUDA_SUCCESS")] | length' "$work/capture.jsonl")" 0 "and not the one that failed"
	is "$(jq -s '[.[] | select(.name == "cuStreamEndCapture" and .phase == "E") | .result] | join(" ")' "$work/capture.jsonl")" \
		'"CUDA_ERROR_INVALID_VALUE CUDA_SUCCESS"' "an end that is refused ends nothing"
}

# Without a clock of its user, CUPTI's times are converted.
t_gpu_clock()
{
	activity clock --gpu -- "$gpu" work 10
	is "$(jq -rs '[.[] | select(.name == "gpu_clock") | .details.method] | unique[]' "$work/clock.jsonl")" 1 "CUPTI reads the trace's clock"
	cupti_dir=$cupti-old CUDATRACE_CUPTI=$cupti-old/libcupti.so.13 CUPTISIM_SHIFT=-5000000000 activity pairs --gpu -- "$gpu" work 1000
	is "$(jq -rs '[.[] | select(.name == "gpu_clock") | .details.method] | unique[]' "$work/pairs.jsonl")" 2 "where it has no clock to set: by pairs of clocks"
	is "$(gpu_records pairs '.op == "exec"')" 4000 "each record is there"
	is "$(gpu_records pairs '.op == "exec" and .launch_op_id == null')" 0 "and joined"
	# Its clock goes 1 % faster: what lies between two pairs must not be off by that.
	jq -s '[.[] | select(.phase == "E")] as $all | ($all | map(select(.layer == "user")) | INDEX(.op_id)) as $calls |
		([.[] | select(.name == "gpu_clock") | .details.uncertainty_ns] | max) as $u |
		[$all[] | select(.op == "exec") | (.ts_ns - .duration_us * 1000) - ($calls[.launch_op_id | tostring] | .ts_ns - .duration_us * 1000)] |
		min > -($u + 1000)' "$work/pairs.jsonl" | grep -q true
	ok $? "none begins before its call, beyond the uncertainty"
}

t_gpu_times()
{
	CUPTISIM_ZERO=10 activity zero --gpu -- "$gpu" work 50
	is "$(gpu_records zero '.name == "gpu_kernel"') $(gpu_losses zero)" "90 10" "records without a time are lost, and counted"
	is "$(gpu_records zero '.op == "exec" and .launch_op_id == null')" 0 "the others are joined"
}

t_gpu_numbers()
{
	CUPTISIM_GAP=7 activity gap --gpu -- "$gpu" work 200
	is "$(gpu_records gap '.op == "exec"') $(gpu_records gap '.op == "exec" and .launch_op_id == null')" "800 0" "numbers that nothing has: each record is joined"
	is "$(jq -s '[.[] | select(.phase == "E")] as $all | ($all | map(select(.layer == "user")) | INDEX(.op_id)) as $calls |
		[$all[] | select(.name == "gpu_copy") | $calls[.launch_op_id | tostring].size - .size] | unique' "$work/gap.jsonl" | tr -d ' \n')" "[0]" \
		"to a call that fits"
}

t_gpu_threads()
{
	activity threads --gpu -- "$gpu" threads 500
	is "$(gpu_records threads '.name == "gpu_kernel"') $(gpu_records threads '.op == "exec" and .launch_op_id == null')" "2000 0" "four threads, one kernel, one grid: all joined"
	is "$(jq -s '[.[] | select(.name == "gpu_kernel" and .phase == "E")] | group_by(.details.stream_id) | map(map(.launch_tid) | unique | length) | max' "$work/threads.jsonl")" 1 \
		"each to the thread whose stream it ran in"
	judge_trace "$work/threads" threads
}

# What is delivered long after later records.
t_gpu_late()
{
	CUPTISIM_RECORDS=20 CUPTISIM_HOLD=1 activity held --gpu -- "$gpu" held 500
	is "$(gpu_records held '.op == "exec"') $(gpu_losses held)" "2000 0" "a buffer that comes last of all: nothing is lost"
	ls "$work/held" | grep -q '^g-[0-9]*-2$'
	ok $? "it has a stream of its own"
	judge_trace "$work/held" held
}

t_gpu_lost()
{
	CUPTISIM_DROP=5 activity dropped --gpu -- "$gpu" work 50
	is "$(gpu_records dropped '.op == "exec"') $(gpu_losses dropped)" "160 40" "what CUPTI drops is counted as lost"
	is "$(gpu_records dropped '.op == "exec" and .launch_op_id == null')" 0 "the others have the right calls"
	is "$(jq -s '[.[] | select(.phase == "E")] as $all | ($all | map(select(.layer == "user")) | INDEX(.op_id)) as $calls |
		[$all[] | select(.name == "gpu_copy") | $calls[.launch_op_id | tostring].size - .size] | unique' "$work/dropped.jsonl" | tr -d ' \n')" "[0]" \
		"copies theirs by their bytes"
}

t_gpu_full()
{
	if ! mkdir -p "$work/small" || ! mount -t tmpfs -o size=1M none "$work/small" 2>/dev/null; then
		skip "a full disk: no right to mount"
		return
	fi
	LD_LIBRARY_PATH=build/tests/sim:$cupti "$cudatrace" record -q --gpu --no-module -o "$work/small/trace" -- sh -c "'$gpu' work 5000; echo \$?" \
		>"$work/full.out" 2>"$work/full.err"
	is "$(cat "$work/full.out")" 0 "a full disk: the program goes on"
	cp -r "$work/small/trace" "$work/full"
	umount "$work/small"
	rm -f "$work/full"/.lock
	"$cudatrace" export -f -o "$work/full.jsonl" "$work/full" 2>/dev/null
	# The calls found no room either: 20,000 of each, and what else the program calls.
	there=$(jq -s '[.[] | select(.op == "exec" and .phase == "E" or .op == "launch" and .phase == "E" or .type == "transfer" and .layer == "user" and .phase == "E")] | length' "$work/full.jsonl")
	[ "$(gpu_records full '.op == "exec"')" -lt 20000 ] && [ $((there + $(gpu_losses full | tr -d ,))) -ge 40000 ]
	ok $? "what found no room is counted ($there are there, $(gpu_losses full) lost)"
}

t_gpu_limit()
{
	activity limit --gpu -- "$gpu" limit 50
	is "$?$(gpu_said limit 1 | wc -l)" 01 "no right to write files any more: the program ends as ever"
}

t_gpu_company()
{
	activity profiler --gpu -- "$gpu" profiler 20
	is "$?$(cat "$work/profiler.out")" "0profiler: buffers 1, of somebody else 0" "another collector comes: it gets its records, and only those"
	is "$(gpu_records profiler '.op == "exec"')" 80 "what came before is in the trace"
	gpu_said profiler 2 | grep -q 'another tool in the program began'
	ok $? "which says from when on there is none"
	CUPTISIM_EAGER=1 activity eager --gpu -- "$gpu" profiler 20
	is "$?$(sed 's/.*of somebody else //' "$work/eager.out")" 00 "a buffer of ours that is still in use is not given to it"
	activity first --gpu -- "$gpu" first 20
	is "$?$(gpu_records first '.op == "exec"')" 00 "another collector was first: we stay out"
	gpu_said first 0 | grep -q 'another tool in the program collects GPU activity already'
	ok $? "the trace says so"
	CUPTISIM_BUSY=1 activity busy --gpu -- "$gpu" work 20
	is "$?$(gpu_records busy '.op == "exec"')" 00 "another tool has CUPTI: the rest is recorded"
	gpu_said busy 0 | grep -q 'another tool uses CUPTI'
	ok $? "the trace says so"
}

# The writer is stuck in a write(): nobody waits for it for ever, and what it has counts as lost.
t_gpu_blocked()
{
	local there lost
	activity blocked --gpu -- "$gpu" blocked 50
	is "$?$(sed 's/, of.*//' "$work/blocked.out")" "0profiler: buffers 1" "a disk that blocks: the program ends, and another collector gets its records"
	there=$(gpu_records blocked '.op == "exec"') lost=$(gpu_losses blocked | tr -d ,)
	is $((there + lost)) 400 "each record is there or counted as lost ($there, $lost)"
	is "$(gpu_said blocked 3)" "" "nothing says that they are complete"
}

t_gpu_inside()
{
	activity inside2 --gpu -- timeout -s KILL $hang "$gpu" inside
	is "$?$(gpu_said inside2 3)" 5 "exit() in a handler that interrupted CUPTI: the program ends"
}

t_gpu_meets()
{
	CUPTISIM_SLOW=300 activity meets --gpu -- "$gpu" meets
	is "$?$(cat "$work/meets.out")" "0profiler: buffers 1, of somebody else 0" "another collector comes while we begin: it gets its records"
	gpu_said meets 2 | grep -q 'another tool in the program began'
	ok $? "and the trace says that it has none" || jq -c 'select(.name == "gpu_state")' "$work/meets.jsonl"
}

t_gpu_hardware()
{
	CUPTISIM_HARDWARE=1 activity hardware --gpu -- "$gpu" profiler 20
	gpu_said hardware 1 | grep -q 'by hardware events'
	ok $? "hardware events where CUPTI has them"
	is "$(grep -c 'still on' "$work/hardware.out")" 0 "another collector does not get them from us"
	CUPTISIM_BUSY=1 CUPTISIM_HARDWARE=1 activity hardware-busy --gpu -- "$gpu" profiler 20
	is "$(grep -c 'still on' "$work/hardware-busy.out")" 0 "nor where CUPTI refused to collect"
}

t_gpu_names()
{
	local status
	activity names --gpu -- "$gpu" names 5000
	status=$?
	if [ $status = 77 ]; then
		skip "names that can't be written: no inotify"
		return
	fi
	is $status 0 "no right to write files: kernels with new names"
	# Some 600 times for the program's own calls.
	[ "$(cat "$work/names.out")" -lt 2000 ]
	ok $? "the registry is not asked for each record ($(cat "$work/names.out") times)"
}

t_gpu_missing()
{
	CUDATRACE_CUPTI=$work/nothing.so activity missing --gpu -- "$inference" --iterations 5
	is "$?$(gpu_records missing '.op == "exec"')" 00 "no libcupti: the rest is recorded"
	gpu_said missing 0 | grep -q 'CUDATRACE_CUPTI names .*nothing.so, which is no libcupti'
	ok $? "the trace says so"
	CUDATRACE_CUPTI=$cupti-ancient/libcupti.so.13 activity ancient --gpu -- "$inference" --iterations 5
	is "$?$(gpu_records ancient '.op == "exec"')" 00 "a libcupti that is too old"
	gpu_said ancient 0 | grep -q 'is too old: it lacks cuptiActivityGetNumDroppedRecords'
	ok $? "the trace says so"
	CUDATRACE_CUPTI=$cupti/libcupti.so.13 "$cudatrace" doctor | grep -q "record --gpu takes $cupti/libcupti.so.13 (version 130000): CUDATRACE_CUPTI names it"
	ok $? "doctor says which would be taken" || "$cudatrace" doctor | grep -e --gpu
	# As in a program that is linked to a libcudart: its directory has the libcupti.
	mkdir -p "$work/cuda/lib" "$work/nsight-compute"
	cp "$cupti/libcupti.so.13" "$work/cuda/lib/"
	cp "$cupti/libcupti.so.13" "$work/nsight-compute/"
	cp "$B/libcudart.so.12" "$work/cuda/lib/libcudart.so.13" 2>/dev/null || cp "$cupti/libcupti.so.13" "$work/cuda/lib/libcudart.so.13"
	LD_PRELOAD=$work/cuda/lib/libcudart.so.13 activity beside --gpu -- "$inference" --iterations 5
	gpu_said beside 1 | grep -q "^$work/cuda/lib/libcupti.so.13, .* beside the program's libcudart$"
	ok $? "the libcupti beside the program's libcudart is taken" || gpu_said beside 1
}

t_gpu_processes()
{
	activity forked --gpu -- "$gpu" fork
	is "$?$(gpu_records forked '.op == "exec"')" 080 "parent and child, each with its own records"
	is "$(jq -rs '[.[] | select(.op == "exec") | .pid] | unique | length' "$work/forked.jsonl")" 2 "under their pids"
	is "$(gpu_records forked '.name == "gpu_state" and .details.state == 3')" 2 "a child that has nothing ends without a word"
	is "$(gpu_records forked '.op == "exec" and .launch_op_id == null')" 0 "each record has its call"
	activity executed --gpu -- bash -c "'$gpu' work 5; exec '$gpu' work 5"
	is "$?$(gpu_records executed '.op == "exec"')" 040 "programs one after the other"
	activity again --gpu -- "$gpu" again 50
	is "$?$(gpu_records again '.op == "exec"') $(jq -s '[.[] | select(.op == "exec" and .phase == "E") | .launch_op_id // empty] | unique | length' "$work/again.jsonl")" \
		"0400 400" "one in the process of the other: its numbers begin anew, and each record has a call of its own"
}

# What CUPTI had not delivered when a program calls exec is missing; who reads must know it.
t_gpu_exec()
{
	local note='Process [0-9]*: GPU records may be missing'
	activity cut --gpu -- "$gpu" exec "$gpu" work 50
	is "$?$([ "$(gpu_records cut '.op == "exec"')" -lt 600 ] && echo less)" 0less "exec() at once: records of the program before are missing"
	"$cudatrace" report --from start cuda_gpu_kern_sum "$work/cut" | tr -s '\n ' '  ' | grep -q "$note between .* ms: it called exec\."
	ok $? "the reports say when" || "$cudatrace" report --from start cuda_gpu_kern_sum "$work/cut"
	activity cut2 --gpu -- "$gpu" exec true
	"$cudatrace" report cuda_gpu_trace "$work/cut2" | tr -s '\n ' '  ' | grep -q "Process [0-9]*: no GPU records: it was killed, left by _exit or exec, or still runs"
	ok $? "also where the next program has nothing of the GPU" || "$cudatrace" report cuda_gpu_trace "$work/cut2"
	# What its GPU did is not known, but what its calls show: it is not said to be measured, nor to be never idle.
	activity unknown --gpu -- "$gpu" killed 50
	is "$("$cudatrace" report --from start --format json stages "$work/unknown" 2>/dev/null | jq '[.. | objects | ."Device Idle (ns)"? | select(. > 100000000)] | length')" 1 \
		"of a program that is killed idle times are what its calls show"
	"$cudatrace" report --from start gaps "$work/unknown" 2>/dev/null | grep -q 'GPU idle is at least: from a synchronisation'
	ok $? "and are said to be that" || "$cudatrace" report --from start gaps "$work/unknown"
	activity whole --gpu -- "$gpu" again 50
	! "$cudatrace" report --from start cuda_gpu_kern_sum "$work/whole" | grep -q 'GPU records'
	ok $? "and nothing where all of them came in time"
}

# With the module (here one that is linked into the library: tests/userlib/fake_device.c), ids come
# from there, and the records go into the directory as well.
t_gpu_device()
{
	local d=$work/device library=$work/fake/libcudatrace.so uuid
	make -s -j2 -f tests/userlib/build.mk || ok 1 "the preload library's test programs build"
	"$cudatrace" record -q -f --no-module -o "$d" -- true 2>"$work/device.err"
	uuid=$(sed -n 's/.*uuid=\([0-9a-f]*\).*/\1/p' "$d/.registry")
	mkdir -p "$work/fake"
	cp "$B/libcudatrace-fake.so" "$library"
	cp build/libcudatrace-gpu.so "$work/fake/"
	LD_LIBRARY_PATH=$PWD/build/tests/sim:$cupti CUDATRACE_DEVICE=/dev/null CUDATRACE_SINK=device CUDATRACE_DIR=$d \
		CUDATRACE_TRACE=$uuid CUDATRACE_GPU=kernels CUDA_INJECTION64_PATH=$work/fake/libcudatrace-gpu.so \
		LD_PRELOAD=$library:$work/fake/libcudatrace-gpu.so FAKE_LOG=$work/device.log "$gpu" work 10
	is $? 0 "a program whose calls go to the device"
	grep -q '^string [0-9]* _Z5smallv$' "$work/device.log"
	ok $? "a kernel's name gets its id there"
	"$cudatrace" export -f -o "$work/device.jsonl" "$d"
	is "$(gpu_records device '.name == "gpu_kernel"') $(gpu_said device 3)" "20 the process ended" "what the GPU did is in the directory"
}

t_gpu_exit()
{
	activity left --gpu -- "$gpu" exit 100
	is "$?$(gpu_records left '.op == "exec"')" 3400 "_exit(): what was delivered before is there"
	is "$(gpu_said left 3)" "" "and nothing says that it is complete"
}

# A program without CUDA, and one that is killed at once.
t_gpu_absent()
{
	activity nothing --gpu -- true
	is "$?$(ls "$work/nothing" | grep -c '^g-')" 00 "a program without CUDA has no GPU streams"
}
