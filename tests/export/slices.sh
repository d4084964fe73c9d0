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
	gawk -F '\t' -v OFS='\t' '$1 == "call" && $5 == "?" { $3 = "*" } { print }' | sort
}

# slices_of_jsonl FILE: the rows of a trace as JSON Lines.
slices_of_jsonl()
{
	gawk -F '\t' -v OFS='\t' '
		function whole(n) { return n < 0 ? -int(0.5 - n) : int(n + 0.5) }
		function time() { return whole($29 * 1000000) }
		$8 == "tracer" || $3 == "process" { next }
		$1 == "E" {
			took = $5 == "" ? "?" : whole($5 * 1000)
			# It begins where its B stands, if that was recorded.
			print "call", $3, $8, ($2 in began ? began[$2] : time() - took), took, $2
			delete began[$2]
			next
		}
		$3 == "range_push" { d = ++depth[$21]; at[$21, d] = time(); text[$21, d] = $30; next }
		$3 == "range_pop" && !depth[$21] { print "instant", "range_pop", "marker", time(), ""; next }
		$3 == "range_pop" {
			d = depth[$21]--
			print "range", text[$21, d], at[$21, d], time() - at[$21, d]
			next
		}
		$1 == "I" { print "instant", $3 == "mark" ? $30 : $3, $8, time(), $2; next }
		{ name_of[$2] = $3; began[$2] = time() }
		END {
			for (op in began) print "call", name_of[op], "*", began[op], "?", op
			for (t in depth) for (d = depth[t]; d > 0; d--) print "range", text[t, d], at[t, d], "?"
		}' "$(columns "$1")" | sort_slices
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
	awk -F '\t' '
		$1 == "I" || ($7 != "user" && $31 != "true") { next }
		$31 == "true" && $1 == "B" { n += !ioctls[$21]++ && calls[$21] > 0; next }
		$31 == "true" { ioctls[$21]--; next }
		{ calls[$21] += $1 == "B" ? 1 : -1 }
		END { print n + 0 }' "$(columns "$1")"
}
