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

# Beside a recorder, cat sees the program's calls as well: all of them, once.
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
is $? 1 "a DIR that exists is refused"
grep -q 'trace-status exists' status.err
ok $? "and named"
cudatrace record -q -f -o trace-status -- true 2>/dev/null
ok $? "unless -f is given"

# What has broken tracers (tests/userlib/victim.c), by thread buffers and by ioctls: the same
# calls must be there, and nothing lost.
victim=/mnt/build/tests/userlib/victim
# both COMMAND STATUS CALLS: CALLS of cuCtxSetCurrent return
both()
{
	local threadbufs way
	for threadbufs in 1 0; do
		way=$([ $threadbufs = 1 ] && echo threadbufs || echo ioctls)
		CUDATRACE_THREADBUFS=$threadbufs LD_LIBRARY_PATH=/mnt/build/tests/userlib \
			cudatrace record -f -o victim -- $victim "$1" >victim.out 2>victim.err
		is $? "$2" "$1 by $way: its status"
		cudatrace export --format jsonl -f -o victim.jsonl victim
		is "$(count '.name=="cuCtxSetCurrent" and .duration_us' victim.jsonl)" "$3" "$1 by $way: its calls"
		grep -q 'lost records  *0$' victim.err
		ok $? "$1 by $way: nothing lost" || cat victim.err
	done
	is "$(ls -d victim/u-* 2>/dev/null | wc -l)" 0 "$1 by ioctls: no thread buffer"
	rm -rf victim victim.*
}
both many 0 20000
both threads 0 10000
both fork 0 18
both vfork 0 7
both longjmp 0 6
both exits 0 6
both closes_all 0 3010
both killed 137 1000
both _exit 3 1000
for threadbufs in 1 0; do
	CUDATRACE_THREADBUFS=$threadbufs LD_LIBRARY_PATH=/mnt/build/tests/userlib \
		cudatrace record -q -f -o victim -- sh -c '
			"$0" hang &
			# It hangs in pause().
			until [ "$(cut -d " " -f 1 /proc/$!/syscall)" = 34 ]; do sleep 0.1; done
			kill -KILL $!
			wait' $victim >/dev/null 2>&1
	cudatrace export --format jsonl -f -o victim.jsonl victim
	is "$(jq -c 'select(.name=="cuMockHang") | .phase' victim.jsonl)" '"B"' "a call that hangs shows (thread buffers: $threadbufs)"
done
rm -rf victim victim.*
