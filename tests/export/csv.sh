# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# csv against JSON Lines, and against sqlite3, which reads it.  Sourced by tests/export/run.sh.

# csv_same NAME: rows, counts and sums of a real trace are those of its JSON Lines.
csv_same()
{
	local p=$work/csv wanted
	wanted=$(jsonl_sums "$1") && "$(reader "$1")" export --format csv -f -o "$p.csv" "$traces/$1" 2>/dev/null || return
	rm -f "$p.db"
	sqlite3 "$p.db" ".import --csv $p.csv t" && sqlite3 -separator ' ' "$p.db" "$table_sums" >"$p.sums" || return
	sed 's/ \([0-9]*\)\.0\>/ \1/g' "$p.sums" | sort >"$p.got"
	cmp -s "$p.got" "$wanted" || { diff "$p.got" "$wanted" | head -n 6; false; }
}

t_csv_real()
{
	local name
	for name in $(real_traces); do
		csv_same "$name"
		ok $? "csv of $name: counts and sums are those of JSON Lines"
	done
}
