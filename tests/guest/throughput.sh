# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: text keeps up with so many events a second, by the guest's own
# clock.  The guest is emulated, and its host has other things to do: what fails is
# tried again, three times in all.  A try in which not even the load could be made at
# that rate, or the machine was slower than this takes, says nothing about readers.

load=/mnt/build/tests/load

# follow RATE COUNT BATCH FILTER: COUNT events at RATE a second while FILTER follows the
# text; prints what came of it.  0: all lines came and nothing was lost.
follow()
{
	local rate=$1 count=$2 batch=$3 made lines lost
	shift 3
	"$@" </dev/cudatrace >rate.jsonl & local reader=$!
	sleep 0.5
	made=$($load paced "$count" "$rate" "$batch" | sed 's/.*, \([0-9]*\) a second/\1/')
	$load last 1 >/dev/null
	wait_for rate.jsonl '"name":"last"'
	pkill -P $reader
	kill $reader 2>/dev/null
	wait $reader 2>/dev/null
	lines=$(grep -c '"name":"paced"' rate.jsonl)
	lost=$(jq -s 'map(select(.name=="lost") | .count) | add // 0' <(grep '"name":"lost"' rate.jsonl))
	echo "$made a second made, $lines of $count lines, $lost lost"
	# Within 5 %: it sleeps between batches.
	[ "$lines" = "$count" ] && [ "$lost" = 0 ] && [ "$made" -ge $((rate - rate / 20)) ]
}

# follow_null RATE COUNT BATCH: the same of cat >/dev/null.  Lines are numbered, so the number
# of one that comes later tells how many cat had: where something was lost, there is one
# line for at least a packet of a thousand.
follow_null()
{
	local rate=$1 count=$2 batch=$3 made number
	exec 7</dev/cudatrace
	cat <&7 >/dev/null & local reader=$!
	sleep 0.5
	made=$($load paced "$count" "$rate" "$batch" | sed 's/.*, \([0-9]*\) a second/\1/')
	sleep 0.5
	kill $reader
	wait $reader 2>/dev/null
	$load last 1 >/dev/null
	number=$(grep -m 1 '"name":"last"' <&7 | jq .event_id)
	exec 7<&-
	echo "$made a second made, line $number is behind the $count"
	[ "$number" -gt "$count" ] && [ "$number" -lt $((count + 10)) ] && [ "$made" -ge $((rate - rate / 20)) ]
}

# keeps_up SPEED TEXT FOLLOW RATE COUNT BATCH [FILTER...]: SPEED is what it takes of the machine, in
# the units of "load speed", with a half more to spare.
keeps_up()
{
	local wanted=$1 text=$2 said try before after judged=no
	shift 2
	for try in 1 2 3; do
		before=$($load speed)
		said=$("$@")
		if [ $? = 0 ]; then
			ok 0 "$text: $said (try $try, speed $before)"
			return
		fi
		after=$($load speed)
		echo "# $text: try $try: $said, speed $before and $after of $wanted"
		[ "$before" -ge "$wanted" ] && [ "$after" -ge "$wanted" ] && [ "${said%% *}" -ge $(($2 - $2 / 20)) ] && judged=yes
		sleep 2
	done
	if [ $judged = yes ]; then
		ok 1 "$text: $said"
	else
		skip "$text: the machine is too slow or too busy to tell: $said, speed $before and $after of $wanted"
	fi
}

# The rings hold 1.5 s of these events at most, so 5 s of them pass through.
cudatrace session start --groups added --subbufs 128
keeps_up 150 "cat >/dev/null keeps up with 100,000 events a second (rings of 8 MiB a CPU)" follow_null 100000 500000 30
keeps_up 150 "cat | jq with 5,000" follow 5000 20000 5 sh -c 'cat | jq -c --unbuffered .'
cudatrace session stop

# Beyond that, what is missing is told in the stream itself, to the record.
cudatrace session start --groups added --subbuf-size 4096 --subbufs 4
sh -c 'sleep 2; exec cat' </dev/cudatrace >beyond.jsonl & reader=$!
sleep 0.5
$load paced 20000 0 36 >/dev/null
sleep 2
$load last 1 >/dev/null
wait_for beyond.jsonl '"name":"last"'
kill $reader; wait $reader 2>/dev/null
cudatrace session stop
seen=$(count '.name=="paced"' beyond.jsonl)
others=$(count '.name!="paced" and .name!="lost" and .name!="last"' beyond.jsonl)
lost=$(jq -s 'map(select(.name=="lost") | .count) | add // 0' beyond.jsonl)
[ "$lost" -gt 0 ]
ok $? "a reader that is too slow is told what it missed ($seen seen, $lost lost)"
# The process record of the load, too, may be among those overwritten.
[ $((seen + lost)) -ge 20000 ] && [ $((seen + lost + others)) -le 20004 ]
ok $? "to the record: seen and lost are what was made ($((seen + lost)) and $others others)"
