# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The order in which calls, instants and ranges are handed out.  Sourced by run.sh.

# Rows of csv: by their ends; at one ns the inner call before the outer one, and in the end what has none.
t_reports_row_order()
{
	local name

	for name in $(real) basic begin left open gpu; do
		mkdir -p "$work/data"
		"$plain" export --format csv -f -o "$work/data/$name.calls.csv" "$(trace "$name")" 2>/dev/null
		sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $work/data/$name.calls.csv t" \
			"select ts_ns, begin_ns, op_id, parent_op_id, unfinished, tid, depth, layer from t" |
			awk -F'\t' '
			# What never ended comes where it began, or last in the order of begins.
			$5 == 1 { if (left && ($2 < begun)) bad++; left = 1; begun = $2; next }
			left && $1 < last { bad++ }
			{ left = 0 }
			$1 < last { bad++ }
			$1 == last && $8 == "user" && $6 == tid && $7 > depth && $3 != "" && $2 < begin { bad++ }
			{ last = $1; tid = $6; depth = $3 == "" ? 1e9 : $7; begin = $2 }
			$3 != "" && $3 in done { bad++ }
			$3 != "" { done[$3] }
			# The call around it has not ended yet.
			$4 != "" && $4 in done && $8 != "gpu" { bad++ }
			END { exit bad > 0 }'
		ok $? "csv of $name: in the order of ends, inner calls before outer ones, each once"
	done
}
