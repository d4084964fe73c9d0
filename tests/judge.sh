# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For tests in shell: TAP, and what every trace must stand.  Sourced.

tap_count=0 tap_failed=0

# After so many seconds a command hangs: a busy machine takes no test as long.
hang=600

# wait_until COMMAND...: until it succeeds; 1: it has not before $hang
wait_until()
{
	local end=$((SECONDS + hang))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# ok STATUS TEXT: a test passed if STATUS is 0.
ok()
{
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

# is GOT WANTED TEXT
is()
{
	[ "$1" = "$2" ]
	ok $? "$3 (got '$1', wanted '$2')"
}

# skip TEXT
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP $1"
}

plan()
{
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ]
}

# judge_trace DIR NAME: babeltrace2 reads it without a warning and counts what
# cudatrace counts; the JSON Lines keep their promises.
judge_trace()
{
	local dir=$1 name=$2 json=$1.jsonl err=$1.err records events

	babeltrace2 "$dir" >"$1.txt" 2>"$err"
	ok $? "$name: babeltrace2 reads it" || head -n 3 "$err"
	[ ! -s "$err" ]
	ok $? "$name: babeltrace2 has nothing to warn of" || head -n 3 "$err"
	events=$(wc -l <"$1.txt")
	records=$(build/cudatrace report "$dir" 2>&1 | sed -n 's/^trace *\([0-9,]*\) records.*/\1/p' | tr -d ,)
	is "$records" "$events" "$name: report counts as many records as babeltrace2"
	build/cudatrace export --format jsonl -f -o "$json" "$dir" 2>"$err"
	ok $? "$name: exports JSON Lines" || head -n 3 "$err"
	jq -e -s 'length > 0 and all(.[]; has("event_id") and has("ts") and has("ts_ns") and
		has("layer") and has("type") and has("name") and has("phase"))' "$json" >/dev/null
	ok $? "$name: every line is an object with the common words"
	jq -s -e '[.[].ts_ns] as $t | [range(1; $t | length)] | all($t[.] >= $t[. - 1])' "$json" >/dev/null
	ok $? "$name: lines are in the order of time"
	# A call is one B and one E, in this order; a B alone is a call that is open.
	jq -s -e 'map(select(.op_id)) | group_by(.op_id) | all(.[];
		map(.phase) | . == ["B","E"] or . == ["I"] or . == ["B"])' "$json" >/dev/null
	ok $? "$name: every call is B then E, or I"
	part_e "$json" "$name"
}

# part_e FILE NAME: the commands that users type must work as they stand.
part_e()
{
	local f=$1 name=$2 n

	cat "$f" | grep '^{' | jq -r '.name' | sort | uniq -c >/dev/null
	ok $? "$name: names are counted"
	n=$(cat "$f" | grep '^{' | jq 'select(.duration_us) | {name, duration_us}' | jq -s 'sort_by(.duration_us) | reverse | .[0:10]' | jq length)
	is "${n:-none}" "$(jq -s '[.[] | select(.duration_us)] | .[0:10] | length' "$f")" "$name: the longest calls are listed"
	cat "$f" | grep '^{' | jq -e 'select(.type=="memory") | {ts, size}' >/dev/null 2>&1
	[ $? -le 4 ]
	ok $? "$name: memory events have ts and size"
	cat "$f" | grep '^{' | jq -r '.type' | sort | uniq -c >/dev/null
	ok $? "$name: types are counted"
}
