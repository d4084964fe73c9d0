# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: what ends while it records, and what that costs in memory.

load=/mnt/build/tests/load

# A recorder that is killed: its packet was not full, so nothing is in its files yet.
# killed DIR: leaves a recorder of 500 events dead
killed()
{
	cudatrace record -q -o "$1" -- sh -c "$load killed 500; echo made \$\$; exec sleep 1000" >"$1.out" 2>/dev/null & recorder=$!
	wait_for "$1.out" made
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	kill "$(sed -n 's/^made //p' "$1.out")"
}
killed trace-killed
printf 'string 4000000 half' >>trace-killed/.registry	# it died in a line
size=$(cat trace-killed/k-* 2>/dev/null | wc -c)
cudatrace export --format jsonl -o killed.jsonl trace-killed 2>killed.err
ok $? "the trace of a killed recorder can be read" || cat killed.err
is "$(count '.name=="killed"' killed.jsonl)" 500 "and has what the module still held (its files had $size bytes)"
grep -q 'its recorder was killed' killed.err
ok $? "a line says so"
cudatrace report trace-killed >/dev/null 2>killed.err
! grep -q 'was killed' killed.err
ok $? "once"

killed dead-2
cudatrace record -q -o trace-next -- true 2>next.err
ok $? "the next recorder starts"
grep -q "$(printf 'trace-next-left')" next.err
ok $? "and says where it saved what the killed one left"
cudatrace export --format jsonl -o left.jsonl trace-next-left
is "$(count '.name=="killed"' left.jsonl)" 500 "which is all of it"

killed dead-3
cudatrace snapshot -q -o trace-snapshot-left 2>/dev/null
cudatrace export --format jsonl -o left2.jsonl trace-snapshot-left
is "$(count '.name=="killed"' left2.jsonl)" 500 "a snapshot takes it as well"
! cudatrace snapshot -q -o trace-snapshot-none 2>none.err
ok $? "after which there is nothing to take ($(cat none.err))"

# A flight recorder goes on when who started it is gone.
cudatrace session start --groups added && $load flight 100 >/dev/null
cudatrace snapshot -q -o trace-flight 2>/dev/null && cudatrace session stop
cudatrace export --format jsonl -o flight.jsonl trace-flight
is "$(count '.name=="flight"' flight.jsonl)" 100 "a flight recorder needs nobody to hold it"

# What a limit cost is in the trace, with its reason, and in the report.
cudatrace record -q --groups added -o lossy-limited -- sh -c "cudatrace session limit --rate 10 --by process && exec $load limited 1000" >/dev/null 2>&1
cudatrace export --format jsonl -o limited.jsonl lossy-limited 2>/dev/null
seen=$(count '.name=="limited"' limited.jsonl)
is "$(jq -s 'map(select(.name=="stream_stat" and .details.reason==2) | .details.lost) | add' limited.jsonl)" $((1000 - seen)) "a trace tells what its limits cost ($seen of 1000 were taken)"
cudatrace report lossy-limited 2>/dev/null | grep -Eq "lost records +$((1000 - seen))\$"
ok $? "and so does the report" || cudatrace report lossy-limited 2>&1 | grep -i lost

# Memory is on the account of who starts the session, and bounded there.
mkdir -p cg && { mountpoint -q cg || mount -t cgroup2 none cg; }
if grep -q memory cg/cgroup.controllers && echo +memory >cg/cgroup.subtree_control; then
	mkdir cg/recorder
	cpus=$(getconf _NPROCESSORS_CONF)
	before=$(cat cg/recorder/memory.current)
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace session start --groups added --subbufs 256'
	after=$(cat cg/recorder/memory.current)
	[ $((after - before)) -ge $((cpus * 256 * 65536)) ]
	ok $? "rings are charged to the cgroup of who starts the session ($((after - before)) bytes)"
	cudatrace session stop
	# The kernel frees and counts some of it later.
	given_back() { [ "$(cat cg/recorder/memory.current)" -lt $((after / 4)) ]; }
	wait_until given_back
	ok $? "and given back at the end"
	echo $((16 << 20)) >cg/recorder/memory.max
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace session start --groups added --subbufs 1024' 2>memory.err
	is $? 1 "what its cgroup may not have is refused"
	grep -qi 'memory' memory.err
	ok $? "in words: $(cat memory.err)"
	! cudatrace session status >/dev/null 2>&1
	ok $? "and nothing is left half done"
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace record -q --groups added --ring-size 64M -o smaller -- true' 2>smaller.err
	ok $? "record takes smaller rings where there is no memory for those that were asked for"
	grep -Eq "each CPU's ring has [1-8].00 MiB instead of 64.00 MiB" smaller.err
	ok $? "and says so: $(grep 'ring has' smaller.err)" || cat smaller.err
	cudatrace record -q -o threadbufs-refused -- sleep 1000 2>/dev/null & recorder=$!
	wait_for_session
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec threadbuf refused'
	ok $? "a thread buffer that its cgroup may not have is refused, too"
	threadbuf_limits order cg/recorder/cgroup.procs
	ok $? "who has used up his quota is told so before there is memory"
	kill $recorder; wait $recorder
	! dmesg | grep -E 'vmalloc error|(page )?allocation failure|Mem-Info|invoked oom-killer'
	ok $? "and the kernel's log is spared"
	rmdir cg/recorder
else
	skip "no memory controller in this kernel"
fi
umount cg 2>/dev/null

# Sleep: all of it but the last step, which this machine would not wake from.
if grep -q freezer /sys/power/pm_test 2>/dev/null && grep -Eqw 'mem|freeze' /sys/power/state; then
	follow sleep.jsonl
	echo freezer >/sys/power/pm_test
	if grep -qw mem /sys/power/state; then echo mem; else echo freeze; fi >/sys/power/state
	ok $? "the machine goes to sleep and wakes"
	echo none >/sys/power/pm_test
	told sleep.jsonl
	grep -q '"name":"clock"' sleep.jsonl
	ok $? "then the clocks are told anew"
	cudatrace snapshot -q -o trace-slept 2>/dev/null
	cudatrace export --format jsonl -o slept.jsonl trace-slept
	is "$(jq -c 'select(.name=="clock" and .cpu) | .details.monotonic' slept.jsonl | sort -u)" \
		"$(jq -c 'select(.name=="clock") | .details.monotonic' sleep.jsonl)" "in a trace as well"
	unfollow
	jq -e -s 'map(select(.name=="clock")) | length == 1 and (.[0] |
		.details.monotonic == .ts_ns and .details.boottime >= .details.monotonic and
		.details.realtime > 1.6e18)' sleep.jsonl >/dev/null
	ok $? "monotonic, boot time and real time of one moment" || grep clock sleep.jsonl
else
	skip "this kernel can't try to sleep ($(cat /sys/power/state /sys/power/pm_test 2>&1 | tr '\n' ' '))"
fi
