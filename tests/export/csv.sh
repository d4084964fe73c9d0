# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# csv against JSON Lines, and against sqlite3, which reads it.  Sourced by tests/export/run.sh.

# csv_columns FILE: the names of its columns, one a line
csv_columns() { head -n 1 "$1" | tr , '\n'; }

# csv_same NAME: rows, counts and sums of a real trace are those of its JSON Lines.
csv_same()
{
	local p=$work/csv lines
	lines=$(jsonl "$1") && "$cudatrace" export --format csv -f -o "$p.csv" "$traces/$1" 2>/dev/null || return
	rm -f "$p.db"
	sqlite3 "$p.db" ".import --csv $p.csv t" || return
	# An E or I is a row, and a B that has no E.
	sqlite3 -separator ' ' "$p.db" "select 'name', name, phase, count(*), sum(size), sum(duration_ns), sum(ts_ns % 1000003) from t
			group by name, phase;
		select 'word', layer, type, op, direction, result, result_code, device, [escape], control, class, status, context,
			count(*), sum(threads) from t where phase != 'B' group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;
		select 'who', pid, tid, cpu, depth, unfinished, begin_lost, abandoned, truncated, count(*), sum(op_id)
			from t where phase != 'B' group by 1, 2, 3, 4, 5, 6, 7, 8, 9;
		select 'kernel', kernel, count(*) from t where kernel != '' group by kernel" |
		sed 's/ \([0-9]*\)\.0\>/ \1/g' | LC_ALL=C sort >"$p.got"
	jq -n -r 'def n: . // 0; def w: if . == null then "" else . end; def ns: if . == null then 0 else . * 1000 | round end;
		def bit: if . then 1 else 0 end;
		def words: map(w | tostring) | join(" ");
		def name($e): (["name", $e.name, $e.phase] | words) as $key |
			.sums[$key] |= [.[0] + 1, .[1] + ($e.size | n), .[2] + ($e.duration_us | ns), .[3] + $e.ts_ns % 1000003];
		reduce inputs as $e ({open: {}};
			if $e.phase == "B" then .open[$e.op_id | tostring] = $e else
				del(.open[$e.op_id | tostring]) | name($e) |
				(["word", $e.layer, $e.type, $e.op, $e.direction,
					if $e.result_code == null then "" else $e.result end, $e.result_code // $e.result,
					$e.device, $e.escape, $e.control, $e.class, $e.status, $e.context] | words) as $word |
				(["who", $e.pid, $e.tid, $e.cpu, $e.depth, ($e.unfinished | bit), ($e.begin_lost | bit),
					($e.abandoned | bit), ($e.truncated | bit)] | words) as $who |
				.sums[$word] |= [.[0] + 1, .[1] + ($e.threads | n)] |
				.sums[$who] |= [.[0] + 1, .[1] + ($e.op_id | n)] |
				if $e.kernel then .sums["kernel " + $e.kernel] |= [.[0] + 1] else . end
			end) |
		reduce .open[] as $e (.; name($e)) |
		.sums | to_entries[] | "\(.key) \(.value | map(tostring) | join(" "))"' "$lines" | LC_ALL=C sort >"$p.wanted"
	cmp -s "$p.got" "$p.wanted" || { diff "$p.got" "$p.wanted" | head -n 6; false; }
}

t_csv_real()
{
	local name
	for name in $(real_traces); do
		csv_same "$name"
		ok $? "csv of $name: counts and sums are those of JSON Lines"
	done
}
