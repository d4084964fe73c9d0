# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: cudatrace record through the module, with the simulated
# libcuda.

LD_LIBRARY_PATH=$sim cudatrace record -o trace-inference -- /mnt/build/examples/inference --iterations 20 >inference.out 2>inference.err
ok $? "the inference program runs under record, with its own status" || cat inference.out inference.err
grep -q 'through the module' inference.err
ok $? "record says that it goes through the module"
grep -qi 'simulated GPU' inference.err
ok $? "the summary says that the GPU is simulated"
cudatrace export --format jsonl -o inference.jsonl trace-inference
LD_LIBRARY_PATH=$sim ltrace_count=$(count '.type=="kernel" and .op=="launch"' inference.jsonl)
[ "$ltrace_count" -gt 20 ]
ok $? "launches are in the trace ($ltrace_count)"
is "$(count '.name=="cuLaunchKernel" and .phase=="E"' inference.jsonl)" "$ltrace_count" "each is counted once"
is "$(count '.phase=="E" and .layer=="user" and .op_id and (.duration_us|not)' inference.jsonl)" 0 "every call that returned has its duration"

# What the GPU did goes into files of its own, beside what comes through the module.
LD_LIBRARY_PATH=$sim:$sim/cupti CUDATRACE_CUPTI=$sim/cupti/libcupti.so.13 cudatrace record --gpu -q -o trace-gpu -- \
	/mnt/build/examples/inference --iterations 20 >gpu.out 2>gpu.err
ok $? "record --gpu through the module" || cat gpu.out gpu.err
cudatrace export --format jsonl -o gpu.jsonl trace-gpu
is "$(count '.name=="gpu_kernel" and .phase=="E"' gpu.jsonl)" 80 "each kernel that ran is in the trace"
is "$(count '.op=="exec" and .phase=="E" and (.launch_op_id|not)' gpu.jsonl)" 0 "and has its launch"
is "$(jq -rs '([.[] | select(.name=="cuLaunchKernel" and .phase=="E") | .kernel] | unique) ==
	([.[] | select(.name=="gpu_kernel" and .phase=="E") | .kernel] | unique)' gpu.jsonl)" true "under the same names"

# Beside a recorder, cat sees the program's calls as well: all of them, once.
rm -f beside.jsonl
LD_LIBRARY_PATH=$sim cudatrace record -q -o trace-beside -- sh -c '
	cat /dev/cudatrace >beside.jsonl & cat=$!
	until [ -s beside.jsonl ]; do /mnt/build/tests/load here 1 >/dev/null; sleep 0.1; done
	/mnt/build/examples/inference --iterations 20 >/dev/null
	/mnt/build/tests/load mark:told 1
	until grep -q "\"text\":\"told" beside.jsonl; do sleep 0.1; done
	kill $cat' 2>beside.err
cudatrace export --format jsonl -o beside-record.jsonl trace-beside
beside=$(count '.name=="cuLaunchKernel" and .phase=="E"' beside.jsonl)
[ "$beside" -gt 20 ]
ok $? "cat beside a recorder sees the program's launches ($beside)" || tail -n 3 beside.err beside.jsonl
is "$(count '.name=="cuLaunchKernel" and .phase=="E"' beside-record.jsonl)" "$beside" "and so does the recorder"

cudatrace record -o trace-status -- sh -c 'echo out; echo err >&2; exit 37' >status.out 2>status.err
is $? 37 "record returns the program's status"
is "$(cat status.out)" out "and leaves its output alone"
cudatrace record -o trace-status -- true 2>status.err
is $? 125 "a DIR that exists is refused"
grep -q 'trace-status exists' status.err
ok $? "and named"
cudatrace record -q -f -o trace-status -- true 2>/dev/null
ok $? "unless -f is given"
