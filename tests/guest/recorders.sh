# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: recorders that end too early, and what the next one finds.

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
is "$(named limited.jsonl stream_stat | jq -s 'map(select(.details.reason==2) | .details.lost) | add')" $((1000 - seen)) "a trace tells what its limits cost ($seen of 1000 were taken)"
cudatrace report lossy-limited 2>/dev/null | grep -Eq "lost records +$((1000 - seen))\$"
ok $? "and so does the report" || cudatrace report lossy-limited 2>&1 | grep -i lost
