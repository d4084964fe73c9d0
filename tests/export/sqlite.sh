# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# export --format sqlite: sqlite3 reads the database; its counts and sums are those of the JSON Lines,
# its tables of reports are what the reports print.  Sourced by tests/export/run.sh.

# sqlite_export NAME: the database of a real trace: the path of a file, made once
sqlite_export()
{
	local file=$work/sqlite-${1//\//-}.db
	[ -e "$file" ] || "$(reader "$1")" export --format sqlite -o "$file" "$traces/$1" 2>"$work/sqlite.err" || return
	echo "$file"
}

# The records with the words of the JSON Lines, for $table_sums.
sqlite_lines="create temp view t as select n.value as name,
		case when e.unfinished then 'B' when e.end is null or e.end = e.start and e.selfTime is null and not e.flags & 4
			then 'I' else 'E' end as phase,
		e.size, e.duration as duration_ns, coalesce(e.end, e.start) +
			(select value from CUDATRACE_META where key = 'start_monotonic_ns') as ts_ns,
		e.layer, e.type, e.op, case when e.details like '%direction%' then e.details ->> '\$.direction' end as direction,
		coalesce(e.resultName, '') as result, e.result as result_code,
		i.deviceName as device, s.value as \"escape\",
		case when i.have & 4 then i.command end as control,
		case when i.have & 12 = 8 then i.command end as class,
		case when i.have & 16 then coalesce(i.statusName, printf('0x%x', i.status)) end as status,
		case e.flags >> 6 & 3 when 1 then 'softirq' when 2 then 'hardirq' when 3 then 'nmi' end as context,
		l.gridX * l.gridY * l.gridZ * l.blockX * l.blockY * l.blockZ as threads,
		e.pid, e.tid, e.cpu, e.depth, e.unfinished, e.flags >> 3 & 1 as begin_lost, e.flags >> 2 & 1 as abandoned,
		e.flags >> 8 & 1 as truncated, max(e.id, 0) as op_id, e.kernel
	from CUDATRACE_EVENTS e join CUDATRACE_RECORDS r on r.id = e.id join CUDATRACE_CLASSES c on c.id = r.classId
	join StringIds n on n.id = c.plainNameId left join CUDATRACE_IOCTLS i on i.id = e.id
	left join StringIds s on s.id = i.ioctlName left join CUDATRACE_LAUNCHES l on l.id = e.id;"

# sqlite_same NAME: records, counts and sums of a real trace are those of its JSON Lines.
sqlite_same()
{
	local p=$work/sqlite db wanted
	wanted=$(jsonl_sums "$1") && db=$(sqlite_export "$1") || return
	sqlite3 -separator ' ' "$db" "$sqlite_lines $table_sums" >"$p.sums" || return
	sed 's/ \([0-9]*\)\.0\>/ \1/g' "$p.sums" | sort >"$p.got"
	cmp -s "$p.got" "$wanted" || { diff "$p.got" "$wanted" | head -n 6; false; }
}

t_sqlite_records()
{
	local name db
	for name in $(real_traces); do
		db=$(sqlite_export "$name")
		ok $? "sqlite of $name: it is written" || { head -n 3 "$work/sqlite.err"; continue; }
		is "$(sqlite3 "$db" 'pragma integrity_check; pragma foreign_key_check' 2>&1)" ok \
			"sqlite of $name: it is sound, and each reference leads to a row"
		sqlite_same "$name"
		ok $? "sqlite of $name: counts and sums are those of JSON Lines"
	done
}

# All fields of all records, and the calls around them.
t_sqlite_fields()
{
	local name db p=$work/sqlite
	for name in guest-two guest-flight guest-uvm graph processes train-nvtx; do
		db=$(sqlite_export "$name") || { ok 1 "sqlite of $name: it is written"; continue; }
		sqlite3 "$db" 'select json_array(id, json(details)) from CUDATRACE_EVENTS where not unfinished order by id' |
			jq -c -S '.[1] |= with_entries(select(.value != null))' >"$p.got"
		jq -n -c -S 'foreach inputs as $e (0; if $e.phase != "B" and $e.op_id == null then . - 1 else . end;
				if $e.phase == "B" then empty else
				[$e.op_id // ., ($e.details | with_entries(select(.value != null)))] end)' "$(jsonl "$name")" |
			jq -s -c 'sort_by(.[0]) | .[]' >"$p.wanted"
		cmp -s "$p.got" "$p.wanted" && [ -s "$p.got" ]
		ok $? "sqlite of $name: all fields of all records are those of JSON Lines" ||
			diff "$p.got" "$p.wanted" | head -n 6
		# The call around a call began before it, ended after it, and is one less deep.
		is "$(sqlite3 "$db" "select count(*) > 0, coalesce(sum(p.start <= r.start and p.end >= r.end), 0) = count(*)
			from CUDATRACE_RECORDS r join CUDATRACE_RECORDS p on p.id = r.parentId
			where p.end not null and r.end not null and not p.flags & 12 and r.tid = p.tid")" \
			"1|1" "sqlite of $name: calls are inside their parents"
	done
}

# Numbers may differ in the digit that a report rounds.
sqlite_compare='
	def close($a; $b): ($a | type) == "number" and ($b | type) == "number" and
		(($a - $b) | if . < 0 then -. else . end) <= 0.1001;
	def key: [.Name, .Range, .Operation, .Device, .Ioctl, .Command, .Type, .Result, .Code, .CorrId, .CorrID,
		.["Start (ns)"], .Pid, .Tid, .Metric];
	$report[0] as $wanted | . as $got | $wanted | keys_unsorted[] as $table |
	(.[$table] | sort_by(key)) as $w | ($got[$table] // [] | sort_by(key)) as $g |
	if ($w | length) != ($g | length) then "\($table): \($g | length) rows, not \($w | length)" else
	range($w | length) as $i | $w[$i] | keys_unsorted[] as $k |
	select(.[$k] != $g[$i][$k] and (close(.[$k]; $g[$i][$k]) | not)) |
	"\($table): \($k) of row \($i): \($g[$i][$k]), not \(.[$k])" end'

# sqlite_tables DB TABLE...: the reports of these names as one JSON object.  One sqlite3 reads all: it
# prints nothing of a table without rows.
sqlite_tables()
{
	local db=$1
	shift
	printf ".print '#%s'\nselect * from report_%s;\n" $(printf '%s %s ' $(printf '%s\n' "$@" | sed 's/.*/& &/')) |
		sqlite3 -json "$db" 2>&1 | awk '
		/^#/ { printf "%s%s\"%s\":", (empty ? "[]" : ""), (begun ? "," : "{"), substr($0, 2); empty = begun = 1; next }
		{ empty = 0; print }
		END { print (empty ? "[]" : "") "}" }'
}

t_sqlite_reports()
{
	local name db p=$work/sqlite tables
	for name in $(real_traces); do
		db=$(sqlite_export "$name") || { ok 1 "sqlite of $name: it is written"; continue; }
		build/cudatrace report --from start --all --format json "$traces/$name" >"$p.reports" 2>/dev/null
		mapfile -t tables < <(jq -r 'keys_unsorted[]' "$p.reports")
		sqlite_tables "$db" "${tables[@]}" >"$p.tables"
		jq -r --slurpfile report "$p.reports" "$sqlite_compare" "$p.tables" >"$p.differ" 2>&1
		[ ${#tables[@]} -gt 25 ] && [ ! -s "$p.differ" ]
		ok $? "sqlite of $name: ${#tables[@]} tables are what the reports say" || head -n 6 "$p.differ"
		# What lists every record is a view: it would be there twice.
		is "$(sqlite3 "$db" "select group_concat(name) from sqlite_master where type = 'view' and name glob 'report_*'")" \
			report_cuda_api_trace,report_cuda_gpu_trace "sqlite of $name: all other reports are tables"
	done
	# Lists of all calls, and of all kernels and copies.
	for name in graph guest-two guest-flight inference; do
		db=$(sqlite_export "$name") || continue
		for table in cuda_api_trace cuda_gpu_trace; do
			build/cudatrace report --from start --format json $table "$traces/$name" 2>/dev/null | jq "{$table: .}" >"$p.reports"
			sqlite_tables "$db" $table >"$p.tables"
			jq -r --slurpfile report "$p.reports" "$sqlite_compare" "$p.tables" >"$p.differ" 2>&1
			[ ! -s "$p.differ" ]
			ok $? "sqlite of $name: $table is what the report says" || head -n 6 "$p.differ"
		done
	done
	for name in gpt2 off_cpu guest-off-cpu; do
		name=$(real_traces | grep -x "\(.*/\)\?$name")
		db=$(sqlite_export "$name") || continue
		for table in VERDICTS FINDINGS; do
			is "$(sqlite3 -csv "$db" "select count(*) from CUDATRACE_$table")" \
				"$(build/cudatrace explain --format json "$traces/$name" 2>/dev/null |
				jq ".$([ $table = VERDICTS ] && echo verdict || echo findings) | length")" "sqlite of $name: $table of explain"
		done
	done
}

# Queries as scripts for nsys's databases have them.
t_sqlite_nsys()
{
	local db p=$work/sqlite
	db=$(sqlite_export gpt2)
	ok $? "sqlite of gpt2: it is written" || return
	# The functions that took longest, by name through StringIds, with pid and tid out of globalTid.
	sqlite3 -separator ' ' "$db" 'SELECT s.value AS name, COUNT(*) AS calls, SUM(r.end - r.start) AS ns,
			r.globalTid / 0x1000000 % 0x1000000 AS pid, r.globalTid % 0x1000000 AS tid
		FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN StringIds AS s ON r.nameId = s.id
		GROUP BY s.value, r.globalTid ORDER BY ns DESC LIMIT 5' >"$p.got"
	jq -n -r '[inputs | select(.phase == "E" and .layer == "user" and .type != "syscall")] |
		group_by(.name) | map("\(.[0].name) \(length) \(map(.duration_us * 1000 | round) | add) \(.[0].pid) \(.[0].tid)")[]' \
		"$(jsonl gpt2)" | sort -k3,3nr | head -n 5 >"$p.wanted"
	cmp -s "$p.got" "$p.wanted" && [ -s "$p.got" ]
	ok $? "a script's query for the functions that took longest" || diff "$p.got" "$p.wanted"
	is "$(sqlite3 "$db" "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
		ON r.correlationId = k.correlationId JOIN StringIds s ON s.id = k.demangledName")" 0 \
		"no kernel of the GPU where none was recorded"
	is "$(sqlite3 "$db" "SELECT t.value, p.pid FROM ThreadNames n JOIN StringIds t ON t.id = n.nameId
		JOIN PROCESSES p ON p.globalPid = n.globalTid / 0x1000000 * 0x1000000")" "python3|489" "names of threads and processes"
	is "$(sqlite3 "$db" "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV ORDER BY nameEnum")" \
		"$(printf 'Hostname|vm\nOsVersion|6.18.44-fc-v657-gpu\nNvDriverVersion|580.159.04')" "the machine"
	is "$(sqlite3 "$db" "SELECT count(*), sum(end - start), min(eventClass) FROM OSRT_API")" \
		"$(jq -n -r '[inputs | select(.phase == "E" and .type == "syscall") | .duration_us * 1000 | round] |
		"\(length)|\(add)|27"' "$(jsonl gpt2)")" "OSRT_API has the ioctls"
	db=$(sqlite_export train-nvtx)
	is "$(sqlite3 "$db" "SELECT COALESCE(n.text, s.value), COUNT(*) FROM NVTX_EVENTS n
		LEFT JOIN StringIds s ON s.id = n.textId JOIN ENUM_NSYS_EVENT_TYPE e ON e.id = n.eventType
		WHERE e.name = 'NvtxPushPopRange' AND n.end - n.start > 0 GROUP BY 1 ORDER BY 1")" \
		"$(jq -n -r '[inputs | select(.name == "range_push") | .text] | group_by(.) | map("\(.[0])|\(length)")[]' \
		"$(jsonl train-nvtx)")" "a script's query for NVTX ranges"
	# A range's calls, by time, as scripts find them.
	is "$(sqlite3 "$db" "SELECT count(*) FROM NVTX_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
		ON r.globalTid = n.globalTid AND r.start >= n.start AND r.end <= n.end WHERE n.text = 'forward'")" \
		"$(jq -n -r '[foreach inputs as $e ([]; if $e.name == "range_push" then . + [$e.text] elif $e.name == "range_pop"
		then .[:-1] else . end; select($e.phase == "E" and $e.layer == "user" and $e.type != "syscall" and
		any(.[]; . == "forward")))] | length' "$(jsonl train-nvtx)")" "a script's query for the calls of a range"
}

# Records of the GPU: the trace has its times, and they are in nsys's tables.
t_sqlite_gpu()
{
	local p=$work/sqlite-gpu tables
	"$b/make_trace" gpu "$p" >/dev/null
	"$cudatrace" export --format sqlite -o "$p.db" "$p" 2>"$p.err"
	ok $? "a trace with records of the GPU: it is written" || { head -n 3 "$p.err"; return; }
	build/cudatrace export -f -o "$p.jsonl" "$p" 2>/dev/null
	is "$(sqlite3 "$p.db" "select count(*), sum(k.end - k.start), sum(gridX * blockX), group_concat(distinct s.value)
			from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName")" \
		"$(jq -n -r '[inputs | select(.phase == "E" and .layer == "gpu" and .type == "kernel")] |
		"\(length)|\(map(.duration_us * 1000 | round) | add)|\(map(.details | .grid_x * .block_x) | add)|\(
		reduce .[].kernel as $k ([]; if any(. == $k) then . else . + [$k] end) | join(","))"' "$p.jsonl")" "kernels of the GPU"
	is "$(sqlite3 "$p.db" "select count(*), sum(m.bytes), sum(m.end - m.start), group_concat(distinct e.label)
			from CUPTI_ACTIVITY_KIND_MEMCPY m join ENUM_CUDA_MEMCPY_OPER e on e.id = m.copyKind")" \
		"$(jq -n -r '{"H2D": "Host-to-Device", "D2H": "Device-to-Host", "D2D": "Device-to-Device"} as $words |
		[inputs | select(.phase == "E" and .layer == "gpu" and .op == "copy")] |
		"\(length)|\(map(.size) | add)|\(map(.duration_us * 1000 | round) | add)|\(
		reduce .[].direction as $k ([]; if any(. == $k) then . else . + [$k] end) | map($words[.]) | join(","))"' \
		"$p.jsonl")" "copies of the GPU"
	is "$(sqlite3 "$p.db" "select count(*), sum(bytes) from CUPTI_ACTIVITY_KIND_MEMSET")" \
		"$(jq -n -r '[inputs | select(.phase == "E" and .layer == "gpu" and .op == "set") | .size] |
		"\(length)|\(add // "")"' "$p.jsonl")" "memory sets of the GPU"
	build/cudatrace report --from start --all --format json "$p" >"$p.reports" 2>/dev/null
	mapfile -t tables < <(jq -r 'keys_unsorted[]' "$p.reports")
	sqlite_tables "$p.db" "${tables[@]}" >"$p.tables"
	jq -r --slurpfile report "$p.reports" "$sqlite_compare" "$p.tables" >"$p.differ" 2>&1
	[ ! -s "$p.differ" ]
	ok $? "and the tables on the GPU's work are what the reports say" || head -n 6 "$p.differ"
}

# Names with quotes, HTML, control characters and bytes that are no UTF-8.
t_sqlite_hostile()
{
	local p=$work/sqlite-hostile kind status view
	for kind in $("$b/hostile_trace" --list); do
		rm -rf "$p" "$p.db"
		# Also in full few of a kind: each view is read, and some join records with records.
		"$b/hostile_trace" "$kind" "$p" "${hostile_count:-20000}" >/dev/null 2>&1 || continue
		timeout $hang "$cudatrace" export --format sqlite -o "$p.db" "$p" >"$p.out" 2>&1
		status=$?
		[ $status -lt 2 ] && ! grep -q 'runtime error\|Sanitizer' "$p.out"
		ok $? "hostile trace $kind: written or refused (status $status)" || head -n 5 "$p.out"
		[ $status = 0 ] || continue
		is "$(sqlite3 "$p.db" 'pragma integrity_check' 2>&1)" ok "hostile trace $kind: the database is sound"
		is "$(sqlite3 "$p.db" 'pragma foreign_key_check' 2>&1 | head -n 3)" "" "hostile trace $kind: each reference leads to a row"
		sqlite3 "$p.db" "select 'select * from ' || name || ';' from sqlite_master where type = 'view' or name glob 'report_*'" >"$p.sql"
		sqlite3 "$p.db" <"$p.sql" >"$p.rows" 2>"$p.err"
		iconv -f utf-8 -t utf-8 "$p.rows" >/dev/null 2>>"$p.err"
		is "$(cat "$p.err"),$(($(wc -l <"$p.sql") > 40))" ",1" "hostile trace $kind: each view can be read, as UTF-8"
	done
}

t_sqlite_refused()
{
	local p=$work/sqlite-refused db status
	"$cudatrace" export --format sqlite "$traces/inference" >"$p.out" 2>"$p.err"
	is "$? $(stat -c %s "$p.out") $(wc -l <"$p.err")" "1 0 1" "not to the standard output"
	echo mine >"$p.db"
	"$cudatrace" export --format sqlite -o "$p.db" "$traces/inference" 2>"$p.err"
	is "$? $(cat "$p.db")" "1 mine" "a file that is there stays without -f"
	"$cudatrace" export --format sqlite -f -o "$p.db" "$traces/inference" 2>"$p.err"
	is "$? $(sqlite3 "$p.db" 'pragma integrity_check')" "0 ok" "with -f it is replaced"
	mkdir -p "$p.disk"
	mount -t tmpfs -o size=300k tmpfs "$p.disk" 2>/dev/null || { skip "no right to mount a small file system"; return; }
	"$cudatrace" export --format sqlite -o "$p.disk/x.db" "$traces/graph" 2>"$p.err"
	status=$?
	db=$(find "$p.disk" -type f -size +0)
	umount "$p.disk"
	is "$status $db $(grep -c 'No space left' "$p.err")" "1  1" "a full disk: said in a line, and no file that looks complete"
}
