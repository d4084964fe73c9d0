# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: readers of text keep up with a number of events per second, by the
# guest's own clock.  The guest may be emulated on a busy host, so a failure is tried again,
# three times in all.  A try does not count if the load could not be produced at that rate, or
# if the machine was too slow or stood still: "load watch" measures that all the time.

load=/mnt/build/tests/load

# follow_text RATE COUNT BATCH FILTER: makes COUNT events at RATE per second while FILTER
# follows the text, and prints the result.  Returns 0 if no line is missing.
follow_text()
{
	local rate=$1 count=$2 batch=$3 made lines lost
	shift 3
	# Opened here, so that it has begun.
	exec 7</dev/cudatrace
	"$@" <&7 >rate.jsonl & local reader=$!
	exec 7<&-
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

# follow_null RATE COUNT BATCH: the same for cat >/dev/null.  Lines are numbered, so the number
# of a later line says how many cat has read: a loss has one line for a whole packet of at
# least a thousand records.
follow_null()
{
	local rate=$1 count=$2 batch=$3 made number
	exec 7</dev/cudatrace
	cat <&7 >/dev/null & local reader=$!
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

# keeps_up SPEED TEXT FOLLOW RATE COUNT BATCH [FILTER...]: SPEED is the speed that the machine
# needs, in the units of "load watch", plus a half.
keeps_up()
{
	local wanted=$1 text=$2 said try good speed still judged=0
	shift 2
	for try in 1 2 3; do
		$load watch >speed.txt & local watch=$!
		said=$("$@")
		good=$?
		kill $watch
		wait $watch
		read -r speed still <speed.txt
		if [ $good = 0 ]; then
			ok 0 "$text: $said (try $try, speed $speed)"
			return
		fi
		echo "# $text: try $try: $said, speed $speed of $wanted, stood still for $still ms"
		[ "$speed" -ge "$wanted" ] && [ "$still" -lt 300 ] && [ "${said%% *}" -ge $(($2 - $2 / 20)) ] &&
			judged=$((judged + 1))
	done
	if [ $judged = 3 ]; then
		ok 1 "$text: $said"
	else
		skip "$text: the machine is too slow or too busy to tell: $said, speed $speed of $wanted, still for $still ms"
	fi
}

# The rings hold 1.5 s of these events at most, so 3 s of them pass through.
cudatrace session start --groups added --subbufs 128
keeps_up 150 "cat >/dev/null keeps up with 100,000 events a second (rings of 8 MiB a CPU)" follow_null 100000 300000 30
keeps_up 150 "cat | jq with 5,000" follow_text 5000 10000 5 sh -c 'cat | jq -c --unbuffered .'
cudatrace session stop

# A reader that is too slow finds the exact number of lost records in the text.
cudatrace session start --groups added --subbuf-size 4096 --subbufs 4
exec 7</dev/cudatrace
$load paced 20000 0 36 >/dev/null
cat <&7 >beyond.jsonl & reader=$!
exec 7<&-
$load last 1 >/dev/null
wait_for beyond.jsonl '"name":"last"'
kill $reader; wait $reader 2>/dev/null
cudatrace session stop
seen=$(count '.name=="paced"' beyond.jsonl)
others=$(count '.name!="paced" and .name!="lost" and .name!="last"' beyond.jsonl)
lost=$(named beyond.jsonl lost | jq -s 'map(.count) | add // 0')
[ "$lost" -gt 0 ]
ok $? "a reader that is too slow gets a report of its losses ($seen seen, $lost lost)"
# The process record of the load may be among the overwritten records.
[ $((seen + lost)) -ge 20000 ] && [ $((seen + lost + others)) -le 20004 ]
ok $? "exactly: seen plus lost is the number of events ($((seen + lost)) and $others others)"
