# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: programs that do what has broken tracers (tests/userlib/victim.c),
# by thread buffers and by ioctls: the same calls must be there, and nothing lost.  No probe is
# armed, for calls alone are counted: arming all of the driver's takes seconds under emulation.

victim=/mnt/build/tests/userlib/victim
# both COMMAND STATUS CALLS: CALLS of cuCtxSetCurrent return
both()
{
	local threadbufs way
	for threadbufs in 1 0; do
		way=$([ $threadbufs = 1 ] && echo threadbufs || echo ioctls)
		CUDATRACE_THREADBUFS=$threadbufs LD_LIBRARY_PATH=/mnt/build/tests/userlib \
			cudatrace record -f --groups added -o victim -- $victim "$1" >victim.out 2>victim.err
		is $? "$2" "$1 by $way: its status"
		cudatrace export --format jsonl -f -o victim.jsonl victim
		is "$(named victim.jsonl cuCtxSetCurrent | grep -c '"duration_us":')" "$3" "$1 by $way: its calls"
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
		cudatrace record -q -f --groups added -o victim -- sh -c '
			"$0" hang &
			# It hangs in pause().
			until [ "$(cut -d " " -f 1 /proc/$!/syscall)" = 34 ]; do sleep 0.1; done
			kill -KILL $!
			wait' $victim >/dev/null 2>&1
	cudatrace export --format jsonl -f -o victim.jsonl victim
	is "$(named victim.jsonl cuMockHang | jq -c .phase)" '"B"' "a call that hangs shows (thread buffers: $threadbufs)"
done
rm -rf victim victim.*
