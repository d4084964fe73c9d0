# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Records of the GPU in every format, from traces whose figures are known (tests/cli/make_gpu.c).
# Sourced by tests/export/run.sh.

# gpu_made NAME: the trace, its JSON Lines in $gpu.jsonl
gpu_made()
{
	gpu=$work/gpu-$1
	[ -e "$gpu" ] && return
	"$b/make_gpu" "$1" "$gpu" >/dev/null && build/cudatrace export -f -o "$gpu.jsonl" "$gpu" 2>/dev/null
}

t_gpu_sqlite()
{
	local name tables
	for name in idle overlap devices graphs nodes unjoined; do
		gpu_made $name
		"$cudatrace" export --format sqlite -f -o "$gpu.db" "$gpu" 2>/dev/null
		ok $? "sqlite, gpu $name: it is written" || continue
		is "$(sqlite3 "$gpu.db" "SELECT count(*), COALESCE(sum(n), 0), COALESCE(sum(k.correlationId), 0), COALESCE(sum(deviceId), 0), COALESCE(sum(streamId), 0) FROM
			(SELECT end - start AS n, correlationId, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT end - start, correlationId, deviceId, streamId
			FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL SELECT end - start, correlationId, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMSET UNION ALL
			SELECT end - start, correlationId, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE) k")" \
			"$(jq -n -r '[inputs | select(.layer == "gpu" and .phase == "E")] | "\(length)|\(map(.duration_us * 1000 | round) | add)|\(map(.launch_op_id // 0) | add)|\(map(.details.gpu) | add)|\(map(.details.stream_id) | add)"' "$gpu.jsonl")" \
			"sqlite, gpu $name: nsys's tables have it all"
		is "$(sqlite3 "$gpu.db" "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)
			JOIN StringIds s ON s.id = r.nameId WHERE s.value GLOB 'cu*Launch*' AND k.start >= r.start")" \
			"$(jq -n '[inputs | select(.layer == "gpu" and .phase == "E" and .type == "kernel" and .launch_op_id)] | length' "$gpu.jsonl")" \
			"sqlite, gpu $name: kernels join their launches, as with nsys"
		build/cudatrace report --from start --all --format json "$gpu" >"$gpu.reports" 2>/dev/null
		mapfile -t tables < <(jq -r 'keys_unsorted[]' "$gpu.reports")
		sqlite_tables "$gpu.db" "${tables[@]}" >"$gpu.tables"
		jq -r --slurpfile report "$gpu.reports" "$sqlite_compare" "$gpu.tables" >"$gpu.differ" 2>&1
		[ ! -s "$gpu.differ" ]
		ok $? "sqlite, gpu $name: views are what the reports say" || head -n 6 "$gpu.differ"
		diff <(sqlite3 -csv "$gpu.db" 'SELECT * FROM report_cuda_gpu_trace' | tr -d '"') \
			<(build/cudatrace report --format csv cuda_gpu_trace "$gpu" 2>/dev/null | sed 1d | tr -d '"') >"$gpu.differ"
		ok $? "sqlite, gpu $name: and cuda_gpu_trace" || head -n 6 "$gpu.differ"
	done
}

t_gpu_timelines()
{
	local name want
	for name in idle overlap devices graphs nodes unjoined; do
		gpu_made $name
		want=$(jq -n -r '[inputs | select(.layer == "gpu" and .phase == "B" and .launch_op_id)] | length' "$gpu.jsonl")
		"$cudatrace" export --format chrome -f -o "$gpu.json" "$gpu" 2>/dev/null
		is "$(jq '[.traceEvents[] | select(.ph == "f" and .name == "launch")] | length' "$gpu.json")" "$want" \
			"chrome, gpu $name: an arrow to each record that names its call"
		is "$(jq '[.traceEvents[] | select(.ph == "s" and .name == "launch")] as $s | [.traceEvents[] | select(.ph == "f" and .name == "launch")] | map(. as $f | any($s[]; .id == $f.id and .ts <= $f.ts)) | all' "$gpu.json")" \
			true "chrome, gpu $name: each begins in a launch"
		is "$(jq '[.traceEvents[] | select(.ph == "s" and .name == "launch") | .id] - [.traceEvents[] | select(.ph == "f" and .name == "launch") | .id] | length' "$gpu.json")" \
			"$([ $name = unjoined ] && echo 2 || echo 0)" "chrome, gpu $name: no arrow ends nowhere, but of a launch without a record"
		is "$(jq -r '.traceEvents[] | select(.name == "thread_name" and (.args.name | startswith("GPU"))) | .args.name | sub(" \\([0-9]+\\)$"; "")' "$gpu.json" | sort -u | paste -sd,)" \
			"$(jq -n -r '[inputs | select(.layer == "gpu" and .phase == "B") | "GPU \(.details.gpu): context \(.details.context_id), stream \(.details.stream_id)"] | unique | join(",")' "$gpu.jsonl")" \
			"chrome, gpu $name: a track for each device, context and stream"
		perfetto_export "$gpu" "gpu-$name"
		ok $? "perfetto, gpu $name"
		is "$(awk -F '\t' '$1 == "flow" && $3 !~ /ioctl/' "$work/perfetto-gpu-$name.rows" | wc -l)" "$want" "perfetto, gpu $name: as many arrows"
	done
	for name in overlap graphs; do
		gpu_made $name
		is "$(jq -r '.traceEvents[] | select(.ph == "X" and (.name | startswith("[CUDA"))) | .name' "$gpu.json" | sort -u | paste -sd,)" \
			"$(build/cudatrace report --format json cuda_gpu_trace "$gpu" 2>/dev/null | jq -r '.[].Name | select(startswith("[")) | sub(" [0-9]+"; "")' | sort -u | paste -sd,)" \
			"chrome, gpu $name: copies, sets and graphs are named as in cuda_gpu_trace"
	done
	gpu_made overlap
	build/cudatrace timeline --width 100 "$gpu" 2>/dev/null | grep -cE '^GPU 0 s[789] ' | grep -qx 3
	ok $? "timeline: a row for each stream"
}

# Arrows begin in what gives the GPU work, and each has an end.
t_gpu_graphs_made()
{
	gpu_made made
	"$cudatrace" export --format chrome -f -o "$gpu.json" "$gpu" 2>/dev/null
	is "$(jq -c '[.traceEvents[] | select(.name == "launch" and (.ph == "s" or .ph == "f")) | [.id, .ph]] | group_by(.[0]) | map(map(.[1]) | sort)' "$gpu.json")" \
		'[["f","s"],["f","s"]]' "chrome: no arrow from what makes or destroys a graph"
	"$cudatrace" export --format perfetto -f -o "$gpu.pftrace" "$gpu" 2>/dev/null
	is "$(perfetto_decode "$gpu.pftrace" | sed -n 's/^ *\(terminating_\)*flow_ids: //p' | sort | uniq -c | awk '{ print $1 }' | paste -sd,)" "2,2" \
		"perfetto: each arrow has two ends"
}

t_gpu_tables()
{
	gpu_made overlap
	"$cudatrace" export --format csv -f -o "$gpu.csv" "$gpu" 2>/dev/null
	is "$(sqlite3 :memory: ".import --csv $gpu.csv t" "SELECT name, count(*), sum(duration_ns), sum(parent_op_id) FROM t WHERE layer = 'gpu' AND phase = 'E' GROUP BY name" | paste -sd ' ')" \
		"gpu_copy|1|15000|4 gpu_kernel|3|53000|6 gpu_set|1|10000|9" "csv: the GPU's work, and the calls that caused it"
	parquet_reader "parquet of the GPU's records" || return
	rm -rf "$work/gpu-parquet"
	"$cudatrace" export --format parquet -o "$work/gpu-parquet" "$gpu" 2>/dev/null
	is "$(values "${parquet_view/PLACE/$work/gpu-parquet} SELECT g.name, count(*), sum(g.duration_ns)::INT, sum(c.op_id)::INT FROM records g
		JOIN records c ON c.op_id = g.parent_op_id AND c.layer = 'user' WHERE g.layer = 'gpu' GROUP BY g.name ORDER BY 1" | paste -sd ' ')" \
		"gpu_copy|1|15000|4 gpu_kernel|3|53000|6 gpu_set|1|10000|9" "parquet: the same, as DuckDB joins them"
}

t_gpu_html()
{
	local why
	why=$(html_tools browser) || { skip "html of the GPU's records: $why"; return; }
	html_tools browser >/dev/null
	gpu_made nodes
	"$cudatrace" export --format html -f -o "$gpu.html" "$gpu" 2>/dev/null
	ok $? "html: records of the GPU are exported"
	html_lines node tests/export/browser/gpu.js "$gpu.html"
	is "$(html_manifest "$gpu.html" 'm.gpu_missing.length')" 0 "html: nothing of them is missing"
	gpu_made stopped
	"$cudatrace" export --format html -f -o "$gpu.html" "$gpu" 2>/dev/null
	html_lines node tests/export/browser/gpu.js "$gpu.html" "Process 4242: GPU records until 0.100 ms only: torch.profiler"
}
