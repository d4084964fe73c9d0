# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What every trace must stand.  Sourced, behind judge.sh, where the command is built.

# judge_trace DIR NAME: babeltrace2 reads it without a warning and counts what
# cudatrace counts; the JSON Lines keep their promises.
judge_trace()
{
	local dir=$1 name=$2 json=$1.jsonl err=$1.err command=${cudatrace:-build/cudatrace} records

	babeltrace2 "$dir" >"$dir.txt" 2>"$err"
	ok $? "$name: babeltrace2 reads it" || head -n 3 "$err"
	[ ! -s "$err" ]
	ok $? "$name: babeltrace2 has nothing to warn of" || head -n 3 "$err"
	records=$("$command" report "$dir" 2>&1 | sed -n 's/^trace *\([0-9,]*\) records.*/\1/p' | tr -d ,)
	is "$records" "$(wc -l <"$dir.txt")" "$name: report counts as many records as babeltrace2"
	"$command" export --format jsonl -f -o "$json" "$dir" 2>"$err"
	ok $? "$name: exports JSON Lines" || head -n 3 "$err"
	judge_lines "$json" "$name" "$dir.txt"
	judge_commands "$json" "$name"
}

# same_text GOT WANTED TEXT: as is(), of many lines
same_text()
{
	[ "$1" = "$2" ]
	ok $? "$3" || diff <(echo "$1") <(echo "$2") | head -n 6
}

# judge_counts: as `sort | uniq -c`, by another program
judge_counts() { awk '{ n[$0]++ } END { for (line in n) printf "%7d %s\n", n[line], line }' | LC_ALL=C sort; }

# Of each line, what is judged, with tabs between.  The first is 0 where a common word is missing.
judge_columns='if type != "object" then [0] else
	([has("event_id", "ts", "ts_ns", "layer", "type", "name", "phase", "pid")] | if all then 1 else 0 end) as $whole |
	[$whole, .event_id, .ts_ns, .ts, .phase, .type, .op, .name, .op_id, .duration_us, .size,
		(has("cpu") or .phase != "B"), .begin_lost, .layer, .abandoned] end | @tsv'

# judge_lines JSON NAME TEXT: the promises of JSON Lines; TEXT is what babeltrace2 says of the trace.
# jq reads the lines once, into JSON.rows.
judge_lines()
{
	local json=$1 name=$2 text=$3 status whole back unpaired

	jq -r "$judge_columns" "$json" >"$json.rows" 2>"$json.err"
	status=$?
	# A call is one B and one E, in this order, or an I.  A B alone is a call that is open, or whose
	# end was lost; an E alone says that its begin was lost.
	read -r whole back unpaired < <(awk -F '\t' '
		{ whole += $1; back += $3 + 0 < last; last = $3 + 0 }
		$9 == "" { next }
		!($9 in state) { state[$9] = $5 == "B" ? "B" $8 : "done"; unpaired += $5 == "E" && $13 != "true"; next }
		{ unpaired += $5 != "E" || state[$9] != "B" $8; state[$9] = "done" }
		END { print whole + 0, back + 0, unpaired + 0
		}' "$json.rows")
	[ $status = 0 ] && [ "$whole" -gt 0 ]
	is "$?,$whole" "0,$(wc -l <"$json")" "$name: every line is an object with the common words" || head -n 3 "$json.err"
	is "$back" 0 "$name: lines are in the order of time"
	is "$unpaired" 0 "$name: every call is B then E, or I"
	# So that each call counts once.
	is "$(awk -F '\t' '$5 == "B" && ($10 != "" || $11 != "" || $6 != ($14 == "user" ? "userspace" : $14)) ||
		$5 == "E" && $15 != "true" && $10 == "" || $5 != "B" && $6 == "memory" && $7 == "alloc" && $11 == ""' "$json.rows" | wc -l)" 0 \
		"$name: type, size and duration stand where a call ends"
	is "$(cut -f 2 "$json.rows" | cmp - <(seq "$(wc -l <"$json")") 2>&1)" "" "$name: lines are numbered"
	# What was recorded when it began has a line of its own, which has a CPU.
	# What the trace says of its machine is a line, and no record.
	same_text "$(awk -F '\t' '$12 == "true" && !($6 == "tracer" && $8 == "machine") { print $8 }' "$json.rows" | judge_counts)" \
		"$(sed -E 's/^\[[^]]*\] \([^)]*\) ([^ ]+ )?([^ :]+): \{.*/\2/' "$text" | judge_counts)" \
		"$name: each name is there as often as babeltrace2 says"
}

# judge_commands JSON NAME: the commands that users type work as they stand.  What they should say is
# made from JSON.rows, by other programs.
judge_commands()
{
	local json=$1 name=$2
	rows() { awk -F '\t' "$1" "$json.rows"; }

	same_text "$(cat "$json" | grep '^{' | jq -r '.name' | sort | uniq -c | LC_ALL=C sort)" \
		"$(rows '{ print $8 }' | judge_counts)" "$name: names are counted"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.duration_us) | {name, duration_us}' | jq -s 'sort_by(.duration_us) | reverse | .[0:10]' |
		sed -n 's/.*"duration_us": //p')" "$(rows '$10 != "" { print $10 }' | sort -gr | sed 10q)" "$name: the longest calls are listed"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.type=="memory") | {ts, size}' | tr -d ' \n' | sed 's/}/}\n/g')" \
		"$(rows '$6 == "memory" { printf "{\"ts\":%s,\"size\":%s}\n", $4, $11 == "" ? "null" : $11 }')" "$name: memory events have ts and size"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.type=="kernel" and .op=="launch")' | grep -c '^{')" \
		"$(rows '$5 != "B" && $6 == "kernel" && $7 == "launch" { n++ } END { print n + 0 }')" "$name: each launch counts once"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.name=="cuLaunchKernel") | .ts' | awk 'NR>1 {print $1-prev} {prev=$1}' | sort -n | tail -10)" \
		"$(rows '$8 == "cuLaunchKernel" { if (n++) print $4 - last; last = $4 }' | sort -rn | sed 10q | tac)" \
		"$name: the longest gaps between launches"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.name=="cuStreamSynchronize") | {ts, duration_us}' | tr -d ' \n' | sed 's/}/}\n/g')" \
		"$(rows '$8 == "cuStreamSynchronize" { printf "{\"ts\":%s,\"duration_us\":%s}\n", $4, $10 == "" ? "null" : $10 }')" \
		"$name: synchronisations have ts and duration"
	same_text "$(cat "$json" | grep '^{' | jq 'select(.type=="kernel" and (.name | contains("ctx")))' | grep -c '^{')" \
		"$(rows '$6 == "kernel" && $8 ~ /ctx/ { n++ } END { print n + 0 }')" "$name: what the driver does with contexts"
	same_text "$(cat "$json" | grep '^{' | jq -r '.type' | sort | uniq -c | LC_ALL=C sort)" \
		"$(rows '{ print $6 }' | judge_counts)" "$name: types are counted"
}
