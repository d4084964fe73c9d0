# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What several formats are compared with.  Sourced by tests/export/run.sh.

# The sums by which the tables are compared with JSON Lines.  An E or I is a row, and a B that has
# no E; only name has the latter.
table_sums="select 'name', name, phase, count(*), coalesce(sum(size), 0), coalesce(sum(duration_ns), 0), sum(ts_ns % 1000003)
		from t group by name, phase;
	select 'word', layer, type, op, direction, result, result_code, device, \"escape\", control, class, status, context,
		count(*), coalesce(sum(threads), 0) from t where phase != 'B' group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;
	select 'who', pid, tid, cpu, depth, unfinished, begin_lost, abandoned, truncated, count(*), coalesce(sum(op_id), 0)
		from t where phase != 'B' group by 1, 2, 3, 4, 5, 6, 7, 8, 9;
	select 'kernel', kernel, count(*) from t where kernel != '' group by kernel;"

# columns FILE: of each line of JSON Lines what the formats are compared with, with tabs between: the path
# of a file, made once by jq
#
#	1 phase  2 op_id  3 name  4 size  5 duration_us  6 ts_ns  7 layer  8 type  9 op  10 direction
#	11 result  12 result_code  13 device  14 escape  15 control  16 class  17 status  18 context
#	19 threads  20 pid  21 tid  22 cpu  23 depth  24 unfinished  25 begin_lost  26 abandoned
#	27 truncated  28 kernel  29 ts  30 text, or the name  31 true: an ioctl
columns()
{
	local file=$1.columns
	[ "$file" -nt "$1" ] ||
		jq -r '[.phase, .op_id, .name, .size, .duration_us, .ts_ns, .layer, .type, .op, .direction, .result, .result_code,
			.device, .escape, .control, .class, .status, .context, .threads, .pid, .tid, .cpu, .depth,
			.unfinished, .begin_lost, .abandoned, .truncated, .kernel, .ts, .text // .name,
			(.cmd or .details.cmd)] | @tsv' "$1" >"$file" || return
	echo "$file"
}

# jsonl_sums NAME: those of a real trace: the path of a file, made once
jsonl_sums()
{
	local lines sums rows
	lines=$(jsonl "$1") && rows=$(columns "$lines") || return
	sums=${lines%.jsonl}.sums
	[ ! "$sums" -nt "$rows" ] || { echo "$sums"; return; }
	awk -F '\t' '
			function name(key, size, us, ts) {
				n[key]++; bytes[key] += size; time[key] += int(us * 1000 + 0.5); when[key] += ts % 1000003
			}
			$1 == "B" { open[$2] = $3; ts[$2] = $6; next }
			{
				delete open[$2]
				name($3 " " $1, $4, $5, $6)
				# A result without a name is its number.
				result = $12 == "" ? " " $11 : $11 " " $12
				key = $7 " " $8 " " $9 " " $10 " " result
				for (i = 13; i <= 18; i++) key = key " " $i
				word[key]++; threads[key] += $19
				key = $20 " " $21 " " $22 " " $23
				for (i = 24; i <= 27; i++) key = key " " ($i == "true")
				who[key]++; ops[key] += $2
				if ($28 != "") kernel[$28]++
			}
			END {
				for (i in open) name(open[i] " B", 0, 0, ts[i])
				for (i in n) printf "name %s %d %d %d %d\n", i, n[i], bytes[i], time[i], when[i]
				for (i in word) printf "word %s %d %d\n", i, word[i], threads[i]
				for (i in who) printf "who %s %d %d\n", i, who[i], ops[i]
				for (i in kernel) printf "kernel %s %d\n", i, kernel[i]
			}' "$rows" | sort >"$sums.new" && mv "$sums.new" "$sums" && echo "$sums"
}
