# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What the formats for timelines (perfetto, chrome) must show of a trace, from its JSON Lines.
# Sourced by tests/export/run.sh; only functions.

# Rows by tabs, sorted; times in ns since the recording began:
#
#	call NAME CATEGORY BEGIN DURATION OP_ID		DURATION "?" and CATEGORY "*": it is not known,
#							because it never returned or was left
#	instant NAME CATEGORY TIME OP_ID
#	range TEXT BEGIN DURATION
sort_slices()
{
	gawk -F '\t' -v OFS='\t' '$1 == "call" && $5 == "?" { $3 = "*" } { print }' | LC_ALL=C sort
}

# slices_of_jsonl FILE: the rows of a trace as JSON Lines.
slices_of_jsonl()
{
	jq -r 'def ns: . * 1000000 | round;
		if .type == "tracer" or .name == "process" then empty
		elif .phase == "E" then ["call", .name, .type, (.ts | ns) - ((.duration_us // 0) * 1000 | round),
			(if .duration_us then .duration_us * 1000 | round else "?" end), .op_id]
		elif .name == "range_push" then ["push", .tid, (.ts | ns), .text // .name]
		elif .name == "range_pop" then ["pop", .tid, (.ts | ns)]
		elif .phase == "I" then ["instant", (if .name == "mark" then .text // .name else .name end), .type,
			(.ts | ns), .op_id // ""]
		else ["begin", .name, .op_id, (.ts | ns)] end | @tsv' "$1" |
		gawk -F '\t' -v OFS='\t' '
			$1 == "begin" { name_of[$3] = $2; began[$3] = $4; next }
			$1 == "call" {
				# It begins where its B stands, if that was recorded.
				if ($6 in began)
					$4 = began[$6]
				delete began[$6]
				print
				next
			}
			$1 == "push" { d = ++depth[$2]; at[$2, d] = $3; text[$2, d] = $4; next }
			$1 == "pop" && !depth[$2] { print "instant", "range_pop", "marker", $3, ""; next }
			$1 == "pop" {
				d = depth[$2]--
				print "range", text[$2, d], at[$2, d], $3 - at[$2, d]
				next
			}
			{ print }
			END {
				for (op in began) print "call", name_of[op], "*", began[op], "?", op
				for (t in depth) for (d = depth[t]; d > 0; d--) print "range", text[t, d], at[t, d], "?"
			}' | sort_slices
}

# slices NAME: the file of these rows of a trace of $traces, made once.
slices()
{
	local file=$work/slices/$1.rows
	if [ ! -e "$file" ]; then
		mkdir -p "${file%/*}"
		slices_of_jsonl "$(jsonl "$1")" >"$file" || return
	fi
	echo "$file"
}

# same_slices GOT WANTED TEXT: two files of rows are equal.
same_slices()
{
	[ -s "$2" ] && cmp -s "$1" "$2"
	ok $? "$3: $(wc -l <"$2") rows, as jsonl has them" || diff "$1" "$2" | head -n 6
}

# ioctls_in_calls FILE: how many ioctls of JSON Lines have a call of libcuda around them; one that the
# program and the kernel saw counts once.
ioctls_in_calls()
{
	jq -r 'select(.phase != "I" and (.layer == "user" or .cmd or .details.cmd)) |
		[.phase, (.cmd or .details.cmd), .tid] | @tsv' "$1" | awk '
		$2 == "true" && $1 == "B" { n += !ioctls[$3]++ && calls[$3] > 0; next }
		$2 == "true" { ioctls[$3]--; next }
		{ calls[$3] += $1 == "B" ? 1 : -1 }
		END { print n + 0 }'
}
