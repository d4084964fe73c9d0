# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Parquet files, as DuckDB reads them, against JSON Lines; the queries of docs/fleet.md.
# Sourced by tests/export/run.sh.

# DuckDB comes from npm, once.  parquet_reader: is it there?  $parquet_without says why not.
parquet_modules=${CUDATRACE_CACHE:-$PWD/build/cache}/duckdb-$(cat tests/export/package-lock.json | sha256sum | cut -c 1-16)
parquet_without=
parquet_reader()
{
	[ ! -e "$parquet_modules/complete" ] || return 0
	if [ -z "$parquet_without" ]; then
		if ! command -v npm >/dev/null; then
			parquet_without="npm is missing"
		elif mkdir -p "$parquet_modules" && cp tests/export/package.json tests/export/package-lock.json "$parquet_modules" &&
			(cd "$parquet_modules" && timeout $hang npm install --no-audit --no-fund) >"$work/npm.log" 2>&1; then
			touch "$parquet_modules/complete"
			return 0
		else
			parquet_without="npm can't install it: $(grep -m 1 -i error "$work/npm.log")"
		fi
	fi
	skip "$1: no DuckDB, $parquet_without"
	return 1
}

# duckdb SQL: the rows as JSON arrays, one a line; a number of more than 32 bits is a string
duckdb() { printf '%s\n' "$1" | node tests/export/duckdb.cjs "$parquet_modules"; }
# values SQL: with a | between the values of a row, and nothing for NULL
values() { duckdb "$1" | jq -r 'map(if . == null then "" else tostring end) | join("|")'; }

parquet_view="CREATE VIEW records AS SELECT * FROM read_parquet('PLACE/**/*.parquet', hive_partitioning = true);"
parquet_files() { (cd "$1" && find . -name '*.parquet' -printf '%P\n' | LC_ALL=C sort); }
# uuid TRACE: as the files have it
uuid() { sed -n '1s/.*uuid=\(.\{8\}\)\(....\)\(....\)\(....\)\([^ ]*\).*/\1-\2-\3-\4-\5/p' "$1/.registry"; }

# All real traces in one directory, and of each its own rows.
t_parquet_real()
{
	local name p=$work/parquet all=() query
	parquet_reader "parquet of real traces" || return
	mapfile -t all < <(real_traces)
	query=${parquet_view/PLACE/$p}
	for name in "${all[@]}"; do
		"$(reader "$name")" export --format parquet -o "$p" "$traces/$name" 2>/dev/null || break
		query+="CREATE OR REPLACE VIEW t AS SELECT * REPLACE (unfinished::INT AS unfinished, begin_lost::INT AS begin_lost,
				abandoned::INT AS abandoned, truncated::INT AS truncated)
			FROM records WHERE trace = '$(uuid "$traces/$name")';
			SELECT '= $name'; $table_sums"
	done
	is "$(parquet_files "$p" | wc -l)" ${#all[@]} "each trace has a file in the directory"
	duckdb "$query" | jq -r 'map(if . == null then "" else tostring end) | join(" ")' >"$work/parquet.rows"
	for name in "${all[@]}"; do
		awk -v name="= $name" '/^= / { on = $0 == name; next } on' "$work/parquet.rows" | LC_ALL=C sort >"$work/parquet.got"
		diff "$work/parquet.got" "$(jsonl_sums "$name")" >"$work/parquet.diff"
		ok $? "parquet of $name: counts and sums are those of JSON Lines" || head -n 6 "$work/parquet.diff"
	done
}

# Readers leave out row groups by their ranges: those have to be right, also of negative numbers.
t_parquet_ranges()
{
	local p=$work/parquet-ranges name column query=
	parquet_reader "ranges" || return
	for name in guest-inference guest-uvm train; do
		"$cudatrace" export --format parquet -o "$p" "$traces/$name" 2>/dev/null || return
	done
	for column in ts_ns:BIGINT begin_ns:BIGINT duration_ns:BIGINT result_code:BIGINT size:UBIGINT pid:UINTEGER cpu:INTEGER cmd:UINTEGER \
		stream:UBIGINT name:VARCHAR symbol:VARCHAR status:VARCHAR trace:VARCHAR failed:BOOLEAN time:TIMESTAMPTZ; do
		query+="SELECT '${column%:*}', (SELECT min(stats_min_value::${column#*:}) = (SELECT min(${column%:*}) FROM '$p/**/*.parquet') AND
				max(stats_max_value::${column#*:}) = (SELECT max(${column%:*}) FROM '$p/**/*.parquet') AND
				sum(stats_null_count) = (SELECT count(*) - count(${column%:*}) FROM '$p/**/*.parquet') AND sum(num_values) = (SELECT count(*) FROM '$p/**/*.parquet')
			FROM parquet_metadata('$p/**/*.parquet') WHERE path_in_schema = '${column%:*}');"
	done
	is "$(values "$query" | grep -vc '|true$'),$(values "$query" | wc -l)" 0,15 "the ranges of columns are those of their values" || values "$query"
	is "$(values "SELECT bool_or(result_code < 0), bool_or(result_code > 0) FROM '$p/**/*.parquet'")" "true|true" "with negative ones"
}

# A trace again with other words in its registry: with_registry FROM TO SED-SCRIPT
with_registry()
{
	rm -rf "$2"
	cp -r "$1" "$2"
	sed -i "$3" "$2/.registry"
}

# Which files there are.
t_parquet_directory()
{
	local p=$work/parquet-dir t=$work/parquet-trace one two midnight start
	one=$(uuid "$traces/inference") two=$(uuid "$traces/train")
	rm -rf "$p"
	export_to parquet "$traces/inference" "$p" && export_to parquet "$traces/train" "$p"
	is "$(parquet_files "$p" | tr '\n' ' ')" \
		"$(printf '%s\n' "day=2026-11-23/host=vm/$one.parquet" "day=2026-11-23/host=vm/$two.parquet" | LC_ALL=C sort | tr '\n' ' ')" \
		"two traces of a host and a day"
	cp "$p/day=2026-11-23/host=vm/$two.parquet" "$work/parquet-two"
	touch -d @1000000000 "$p"/*/*/*
	"$cudatrace" export --format parquet -o "$p" "$traces/inference"
	is "$?,$(find "$p" -name '*.parquet' -newermt @1000000001 -printf '%f'),$(find "$p" -type f | wc -l)" "0,$one.parquet,2" \
		"the same trace again takes the place of its own file alone, without -f"

	# A day ends 2 ms after the trace began.
	start=$(jq -n 'first(inputs) | .ts_ns' "$(jsonl inference)")
	midnight=$(($(date -u -d 2026-11-24 +%s) * 1000000000))
	with_registry "$traces/inference" "$t" "1s/realtime=.*/realtime=$((midnight - 2000000 - start + $(sed -n '1s/.*start=\([0-9]*\).*/\1/p' "$traces/inference/.registry")))/"
	export_to parquet "$t" "$p"
	is "$(parquet_files "$p" | grep -F "$one" | tr '\n' ' ')" \
		"day=2026-11-23/host=vm/$one.parquet day=2026-11-24/host=vm/$one.parquet " "a trace over midnight has a file for each day"
	if parquet_reader "a trace over midnight"; then
		is "$(values "SELECT bool_and(day = CAST(time AT TIME ZONE 'UTC' AS DATE)), count(*), count(DISTINCT day),
				sum(duration_ns) FROM read_parquet('$p/*/*/$one.parquet', hive_partitioning = true)")" \
			"true|$(jsonl_rows inference)" "with the rows of that day, and all of them together"
	fi
	export_to parquet "$traces/inference" "$p"
	is "$(parquet_files "$p" | grep -cF "$one")" 1 "what an earlier export of the trace left is removed"

	with_registry "$traces/inference" "$t" 's,^info hostname .*,info hostname ../../a%20b%0a%1b'\'','
	export_to parquet "$t" "$p-host"
	is "$(parquet_files "$p-host" | cut -d / -f 2)" "host=_._.._a_b___" "a host's name can't leave the directory"
	is "$(find "$work" -name '*.partial')" "" "no part of a file is left"
}

# jsonl_rows NAME: how many rows, 2 days, and the sum of durations
jsonl_rows()
{
	awk '$1 == "name" { n += $(NF - 3); d += $(NF - 1) } END { printf "%d|2|%d\n", n, d }' "$(jsonl_sums "$1")"
}

# What lets a query read little; and memory, whatever the trace has.
t_parquet_groups()
{
	local t=$work/parquet-large p=$work/parquet-large-dir
	"$b/hostile_trace" growth "$t" 1600000 && "$b/usage" "$work/parquet.used" build/cudatrace export --format parquet -o "$p" "$t"
	ok $? "a trace of more than two million records"
	[ "$(awk '{ print int($3 / 1024) }' "$work/parquet.used")" -le 200 ]
	ok $? "takes at most 200 MiB of memory ($(awk '{ print int($3 / 1024) }' "$work/parquet.used"))"
	parquet_reader "row groups" || return
	is "$(values "SELECT max(row_group_num_rows), count(DISTINCT row_group_id), max(compression), min(compression),
			count(*) FILTER (path_in_schema = 'time' AND stats_min_value IS NOT NULL) FROM parquet_metadata('$p/**/*.parquet')")" \
		"1000000|3|ZSTD|ZSTD|3" "row groups of a million records, with zstd and ranges"
	is "$(values "SELECT count(*) FROM (SELECT stats_min_value::BIGINT AS least,
			lag(stats_max_value::BIGINT) OVER (ORDER BY row_group_id) AS most
			FROM parquet_metadata('$p/**/*.parquet') WHERE path_in_schema = 'ts_ns') WHERE least < most")" 0 \
		"whose times do not overlap"
	is "$(values "SELECT string_agg(DISTINCT encodings) FROM parquet_metadata('$p/**/*.parquet') WHERE path_in_schema IN ('name', 'kernel')")" \
		"RLE, PLAIN, RLE_DICTIONARY" "names are in dictionaries"
	is "$(values "SELECT count(*), count(DISTINCT op_id), max(op_id), sum(size) FROM '$p/**/*.parquet' WHERE name = 'cuMemAlloc'" | cut -d '|' -f 1,2)" \
		"1600000|1600000" "all rows are there"
	rm -rf "$t" "$p"
}

# Traces that no recorder writes: all values can be read, in csv too, and are UTF-8.
t_parquet_hostile()
{
	local name p=$work/parquet-hostile t=$work/parquet-hostile-trace status columns
	parquet_reader "hostile traces" || return
	for name in empty one absurd ids classes texts threads nested early; do
		rm -rf "$p" "$t"
		# shellcheck disable=SC2086
		"$b/hostile_trace" "$name" "$t" $hostile_count || return
		export_to csv "$t" "$p.csv" && iconv -f utf-8 -t utf-8 "$p.csv" >/dev/null 2>&1 && ! LC_ALL=C grep -qaP '\x00' "$p.csv"
		ok $? "csv of hostile trace $name is UTF-8 without NULs"
		export_to parquet "$t" "$p"
		status=$?
		if [ $status = 1 ]; then
			is "$(wc -l <"$work/command.err"),$(find "$p" -type f)" "1," "parquet refuses hostile trace $name in one line" ||
				cat "$work/command.err"
			continue
		fi
		is $status 0 "parquet of hostile trace $name" || head -n 5 "$work/command.err"
		# time is rounded to us there, and stream no hexadecimal text.
		columns=$(head -n 1 "$p.csv" | tr , '\n' | grep -vxE 'time|stream' | sed 's/.*/count(nullif("&", '\'\'')), md5(max(nullif("&", '\'\'')))/' | paste -sd ,)
		values "SELECT count(*), $columns FROM (SELECT COLUMNS(*)::VARCHAR FROM (SELECT * REPLACE (failed::INT AS failed, unfinished::INT AS unfinished,
				begin_lost::INT AS begin_lost, abandoned::INT AS abandoned, truncated::INT AS truncated) FROM '$p/**/*.parquet'));
			SELECT count(*), $columns FROM read_csv('$p.csv', header = true, quote = '\"', escape = '\"', delim = ',',
				strict_mode = true, all_varchar = true, max_line_size = 4000000)" >"$work/parquet.values" 2>"$work/parquet.err"
		is "$(wc -l <"$work/parquet.values"),$(sort -u "$work/parquet.values" | wc -l)" 2,1 "and csv has the same rows, of which DuckDB reads each value" ||
			{ head -c 300 "$work/parquet.err"; cut -c 1-300 "$work/parquet.values"; }
	done
}

# ------------------------------------------------------------ docs/fleet.md ---
# Three hosts: real traces, with other names, days and drivers.
fleet_make()
{
	local row name host day driver t=$work/fleet-trace
	rm -rf "$work/fleet"
	for row in train:node1:2026-11-20:535.261.03 train-nvtx:node1:2026-11-21:580.159.04 inference:node2:2026-11-20:580.159.04 \
		graph:node2:2026-11-22:580.159.04 jax:node3:2026-11-21:550.90.07 guest-inference:node3:2026-11-23:535.261.03; do
		IFS=: read -r name host day driver <<<"$row"
		with_registry "$traces/$name" "$t" "1s/realtime=.*/realtime=$(date -u -d "$day 10:30" +%s)000000000/
			s/^info hostname .*/info hostname $host/; s/^info driver .*/info driver $driver/"
		"$cudatrace" export --format parquet -o "$work/fleet" "$t" 2>/dev/null || return
	done
}

# The queries of the document, each as a file; the first one makes the view.
fleet_queries()
{
	awk -v out="$work/fleet-query" -v place="$work/fleet" '/^```sql$/ { on = 1; file = sprintf("%s-%02d", out, n++); next }
		/^```/ { on = 0 } on { gsub("/srv/traces", place); print > file }' docs/fleet.md
}

# fleet_sums NAME FILTER: of the E and I lines of a real trace
fleet_sums() { jq -n "[inputs | select(.phase != \"B\")] | $2" "$(jsonl "$1")"; }
# fleet_query WORDS: the query of the document that has these words
fleet_query() { cat "$work/fleet-query-00" "$(grep -l -- "$1" "$work"/fleet-query-*)"; }

t_parquet_fleet()
{
	local query rows bad=
	parquet_reader "the queries of docs/fleet.md" || return
	fleet_make
	ok $? "traces of three hosts, three days and three drivers in one directory"
	rm -f "$work"/fleet-query-*
	fleet_queries
	for query in "$work"/fleet-query-*; do
		[ "$query" != "$work/fleet-query-00" ] || continue
		# None of these traces has stacks: tests/record/stacks.sh runs these.
		! grep -q stacks "$query" || continue
		duckdb "$(cat "$work/fleet-query-00" "$query")" >"$work/fleet.rows" 2>"$work/fleet.err" || bad="$bad$(cat "$work/fleet.err")"
		grep -qv '^{' "$work/fleet.rows" || grep -q unfinished "$query" || bad="$bad$(head -n 3 "$query")"
	done
	is "$(find "$work" -name 'fleet-query-*' | wc -l),$bad" "11," "each query of the document runs, and has rows"

	is "$(values "$(fleet_query 'AS traces')" | cut -d '|' -f 1-3,5 | tr '\n' ' ')" \
		"node1|2026-11-20|1|535.261.03 node1|2026-11-21|1|580.159.04 node2|2026-11-20|1|580.159.04 node2|2026-11-22|1|580.159.04 node3|2026-11-21|1|550.90.07 node3|2026-11-23|1|535.261.03 " \
		"what is there"
	# Self times are not in JSON Lines; the outermost calls' count and greatest duration are.
	values "$(fleet_query p99_us)" >"$work/fleet.slowest"
	is "$(awk -F '|' '{ print $1, $2 }' "$work/fleet.slowest" | sort | uniq -c | awk '$1 > 5' | wc -l)" 0 "at most five functions of a host and day"
	awk -F '|' '$1 == "node1" && $2 == "2026-11-20" { printf "%s %d %.0f\n", $3, $4, $8 * 1000000 }' "$work/fleet.slowest" | head -n 2 | while read -r name count most; do
		is "$count $most" "$(fleet_sums train "map(select(.name == \"$name\" and .duration_us)) |
			\"\(length) \((map(.duration_us) | max) * 1000 | . / 1000 | round * 1000)\"" | tr -d '"')" "slowest functions: $name of node1"
	done >"$work/fleet.tap"
	[ -s "$work/fleet.tap" ] && ! grep '^not ok' "$work/fleet.tap"
	ok $? "the slowest functions have the counts and durations of the trace"

	# node1: train on one day, train-nvtx on the next.
	launches='map(select(.type == "kernel" and .op == "launch" and .layer == "user" and .duration_us) | .duration_us) | sort |
		if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end * 1000 | round | . / 1000'
	for row in node1:train:train-nvtx node2:inference:graph; do
		IFS=: read -r host before now <<<"$row"
		before=$(fleet_sums "$before" "$launches") now=$(fleet_sums "$now" "$launches")
		rows=$(values "$(fleet_query rose_percent)" | awk -F '|' -v host="$host" '$1 == host { print $4 + 0, $5 + 0 }')
		if jq -en "$now >= 1.1 * $before" >/dev/null; then want="$before $now"; else want=; fi
		is "$rows" "$want" "launches of $host: median $before us, then $now us"
	done

	is "$(values "$(fleet_query 'AS error')" | cut -d '|' -f 1-5 | awk -F '|' '$1 == "550.90.07" { n += $4 } END { print n + 0 }')" \
		"$(values "$(cat "$work/fleet-query-00") SELECT count(*) FROM records WHERE failed AND driver = '550.90.07'")" "errors by driver"
	is "$(values "$(fleet_query 'AS copies')" | awk -F '|' '$1 == "node2" { print $2, $3, $4 }' | sort)" \
		"$(jq -n -r '[inputs | select(.type == "transfer" and .direction and .phase != "B")] | group_by(.direction)[] |
			"\(.[0].direction) \(length) \(map(.size) | add)"' <(cat "$(jsonl inference)" "$(jsonl graph)") | sort)" "bytes by direction"

	# The document has a row for each column.
	is "$(sed -n 's/^| \(`[^|]*\) |.*/\1/p' docs/fleet.md | grep -o '`[a-z_]*`' | tr -d '`' | sort -u | tr '\n' ' ')" \
		"$(duckdb "$(cat "$work/fleet-query-00") DESCRIBE records" | grep '^\[' | jq -r '.[0]' |
			grep -vxE '(grid|block)_y|grid_z|block_x' | sort | tr '\n' ' ')" "docs/fleet.md names each column"
}
