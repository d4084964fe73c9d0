# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: a snapshot of the module's session when a program's iteration takes long, and when ranks wait
# for one that does not come.  The programs are preloaded, the ioctls of their calls are nobody's.

# Before a command: its calls are in the session.  No function: the pid of one in the background is its shell's.
preloaded=(env "LD_LIBRARY_PATH=$sim:$sim/cupti:$sim/nccl" LD_PRELOAD=/mnt/build/libcudatrace.so)

cudatrace session start --groups added 2>session.err
ok $? "a flight recorder" || cat session.err
cudatrace snapshot -q -o trouble --on slow-iteration=20x,stuck=3s --again 1 2>trouble.err & waiting=$!
wait_for trouble.err 'waiting for a trigger'

# A second more in one of many.  An emulated processor is slow now and then by itself.
SLOW=700 "${preloaded[@]}" /mnt/build/tests/record-ranged none 1500 >ranged.out 2>&1
is "$(tail -n 1 ranged.out)" "wrong 0" "a program with a slow iteration"
wait_for trouble.err 'packets in trouble-[0-9]* (iteration [67].. took [0-9.]* s, [0-9.]* times the median of'
ok $? "leaves a snapshot that says which one" || cat trouble.err

rm -f job.id*
for rank in 0 1 2; do
	RANK=$rank WORLD_SIZE=3 "${preloaded[@]}" /mnt/build/tests/record-ranks job.id 6 hang=1 >job.$rank 2>&1 & ranks[rank]=$!
done
wait_for trouble.err 'packets in trouble-[0-9]* (AllReduce 6 of communicator .*: rank 1 has not called it'
ok $? "ranks that wait for one leave a snapshot that says for whom" || cat trouble.err job.?
dir=$(sed -n 's/.*packets in \(trouble-[0-9]*\) (AllReduce 6.*/\1/p' trouble.err | head -n 1)
COLUMNS=300 cudatrace explain "$dir" 2>/dev/null | grep -q 'AllReduce 6 .* was never complete: rank 1 did not call it'
ok $? "which explain explains" || cudatrace explain "$dir"
sleep 3
is "$(grep -c 'AllReduce 6 of' trouble.err)" 1 "and a hang is told once"
kill -KILL "${ranks[@]}"
wait "${ranks[@]}" 2>/dev/null
kill -TERM $waiting
wait $waiting
is $? 0 "the command ends when it is told to"
cudatrace session stop
rm -rf trouble-*
