# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Counters for monitoring systems: export --format openmetrics against JSON Lines, and what
# cudatrace metrics answers to a client, to promtool and to a real Prometheus.  Sourced by
# tests/export/run.sh.

# metric NAME LABEL: "value sum" of the samples of NAME in stdin, by LABEL, sorted
metric()
{
	awk -v name="$1" -v label="$2" '
		index($0, name "{") == 1 {
			value = $0; sub(/.*} /, "", value)
			match($0, label "=\"[^\"]*\"")
			key = substr($0, RSTART + length(label) + 2, RLENGTH - length(label) - 3)
			sum[key] += value
		}
		END { for (key in sum) printf "%s %.9g\n", key, sum[key] }' | LC_ALL=C sort
}

# Sums of a trace, by jq.
t_openmetrics_sums()
{
	local name om lines
	for name in train-nvtx inference guest-cuinit; do
		om=$work/openmetrics-$name.txt
		"$(reader $name)" export --format openmetrics "$traces/$name" >"$om" 2>"$work/openmetrics.err"
		ok $? "openmetrics: $name" || cat "$work/openmetrics.err"
		lines=$(jsonl $name)
		is "$(tail -n 1 "$om")" "# EOF" "openmetrics $name: ends as the format says"
		is "$(awk '/^#/ { next } { sub(/ [^ ]*$/, ""); if (seen[$0]++) print }' "$om")" "" "openmetrics $name: each sample once"
		is "$(metric cudatrace_calls_total function <"$om")" \
			"$(jq -r 'select(.phase != "B" and .layer == "user" and .op_id and .type != "syscall" and .type != "marker" and (.name | test("^(cu|nccl)"))) | .name' "$lines" |
				awk '{ n[$1]++ } END { for (k in n) print k, n[k] }' | LC_ALL=C sort)" "openmetrics $name: calls by function"
		is "$(metric cudatrace_copied_bytes_total direction <"$om")" \
			"$(jq -r 'select(.phase != "B" and .layer == "user" and .type == "transfer" and .op == "copy" and .result_code == 0 and .size) | [(.direction // "unknown"), .size] | @tsv' "$lines" |
				awk '{ n[$1] += $2 } END { for (k in n) printf "%s %.9g\n", k, n[k] }' | LC_ALL=C sort)" "openmetrics $name: copied bytes"
		is "$(metric cudatrace_ioctls_total escape <"$om" | grep -v ^0x)" \
			"$(jq -r 'select(.phase != "B" and .escape) | .escape' "$lines" | awk '{ n[$1]++ } END { for (k in n) print k, n[k] }' | LC_ALL=C sort)" \
			"openmetrics $name: ioctls by escape"
		is "$(sed -n 's/^cudatrace_records_total //p' "$om")" "$(jq -r 'select(.phase != "B" and .name != "machine") | 1' "$lines" | wc -l)" "openmetrics $name: records"
	done
	# Buckets grow up to the count, and hold what jq finds.
	om=$work/openmetrics-train-nvtx.txt
	is "$(awk -F 'le="|"} ' '/^cudatrace_call_duration_seconds_bucket/ { if ($1 != last) before = 0; if ($3 + 0 < before) print; before = $3 + 0; last = $1 }' "$om")" "" \
		"openmetrics: buckets grow"
	is "$(sed -n 's/^cudatrace_call_duration_seconds_bucket{category="transfer",le="0.0001"} //p' "$om")" \
		"$(jq -r 'select(.phase == "E" and .layer == "user" and .type == "transfer" and .duration_us <= 100 and (.name | test("^cu"))) | 1' "$(jsonl train-nvtx)" | wc -l)" \
		"openmetrics: a bucket has what took no longer"
}

# A program may call its functions anything, and as many as it likes.
t_openmetrics_hostile()
{
	local name om=$work/openmetrics-hostile.txt
	for name in names many; do
		"$b/hostile_trace" $name "$work/openmetrics-$name" >/dev/null 2>&1 || continue
		"$cudatrace" export --format openmetrics "$work/openmetrics-$name" >"$om" 2>/dev/null
		is "$?$(LC_ALL=C grep -c '[^ -~]' "$om")" 00 "openmetrics: $name: printable"
		is "$(grep -v '^#' "$om" | grep -vcE '^[a-z_]+(\{([a-z_]+="([^"\\]|\\["\\])*",?)*\})? [0-9.]+$')" 0 "openmetrics: $name: samples as the format asks"
	done
}

# metrics_get PATH [HEADER]: what the server at $metrics_at answers, without its head
metrics_get()
{
	exec 8<>"/dev/tcp/${metrics_at%:*}/${metrics_at##*:}" || return
	printf 'GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n' "$1" "${2:+$2$'\r\n'}" >&8
	cat <&8 | sed '1,/^\r$/d'
	exec 8>&-
}

metrics_started() { grep -q 'http://' "$work/metrics.err"; }
metrics_counted() { metrics_get /metrics | grep -q '^cudatrace_recording 0'; }

# metrics_serve TRACE: begins, on a port that is free
metrics_serve()
{
	"$cudatrace" metrics --listen 127.0.0.1:0 "$1" 2>"$work/metrics.err" &
	metrics_pid=$!
	wait_until metrics_started
	metrics_at=$(sed -n 's,.*http://\(.*\)/metrics.*,\1,p' "$work/metrics.err")
	wait_until metrics_counted
}

t_openmetrics_server()
{
	local all="$work/metrics.all"
	metrics_serve "$traces/train-nvtx"
	"$cudatrace" export --format openmetrics "$traces/train-nvtx" 2>/dev/null | sort >"$all"
	is "$(metrics_get /metrics 'Accept: application/openmetrics-text;version=1.0.0' | grep -v cudatrace_recording | sort | diff - "$all")" "" "metrics: what export has of the same trace"
	is "$(metrics_get /metrics | grep -v '^#' | grep -v cudatrace_recording | sort | diff - <(grep -v '^#' "$all"))" "" "metrics: the same samples in the older format"
	is "$(metrics_get /)$(metrics_get /other)" "cudatrace answers /metricscudatrace answers /metrics" "metrics: other paths"
	# Clients that say nothing, or too much, and then one that asks.
	exec 7<>"/dev/tcp/${metrics_at%:*}/${metrics_at##*:}"
	exec 7>&-
	{ exec 7<>"/dev/tcp/${metrics_at%:*}/${metrics_at##*:}" && head -c 20000 /dev/zero | tr '\0' x >&7; exec 7>&-; } 2>/dev/null
	metrics_get /metrics | grep -q '^cudatrace_records_total'
	ok $? "metrics: after clients that ask nothing"
	if command -v promtool >/dev/null; then
		is "$(metrics_get /metrics | promtool check metrics 2>&1)" "" "metrics: promtool has no complaint"
	else
		skip "metrics: promtool is missing (apt-get install prometheus)"
	fi
	kill -TERM $metrics_pid
	wait $metrics_pid
	is $? 0 "metrics: SIGTERM ends it" || cat "$work/metrics.err"
	"$cudatrace" metrics --listen "$work/metrics.sock" "$traces/train-nvtx" 2>"$work/metrics.err" &
	metrics_pid=$!
	wait_until test -S "$work/metrics.sock"
	"$cudatrace" metrics --listen "$work/metrics.sock" "$traces/train-nvtx" 2>"$work/metrics.err2"
	is "$?$(grep -c 'another server answers there' "$work/metrics.err2")" 11 "metrics: a unix socket has one server"
	kill -TERM $metrics_pid
	wait $metrics_pid
	[ ! -e "$work/metrics.sock" ]
	ok $? "metrics: and it is removed"
	is "$("$cudatrace" metrics --listen nowhere "$traces/train-nvtx" 2>&1 | grep -c 'no ADDRESS:PORT')" 1 "metrics: a wrong address is told"
	"$cudatrace" metrics --listen 127.0.0.1:0 "$work/nothing" 2>/dev/null
	is $? 1 "metrics: a directory that is not there"
}

prometheus_has() { promtool query instant "http://127.0.0.1:$prometheus_port" cudatrace_records_total 2>/dev/null | grep -q cudatrace_records_total; }

# A real Prometheus reads it.
t_openmetrics_prometheus()
{
	local prometheus
	if ! command -v prometheus >/dev/null; then
		skip "metrics: a Prometheus reads them: it is missing (apt-get install prometheus)"
		return
	fi
	metrics_serve "$traces/train-nvtx"
	printf 'global: {scrape_interval: 1s}\nscrape_configs: [{job_name: cudatrace, static_configs: [{targets: ["%s"]}]}]\n' "$metrics_at" >"$work/prometheus.yml"
	prometheus_port=$((20000 + $$ % 20000))
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" --web.listen-address="127.0.0.1:$prometheus_port" \
		>"$work/prometheus.log" 2>&1 &
	prometheus=$!
	wait_until prometheus_has
	ok $? "metrics: a Prometheus has scraped them" || tail -n 5 "$work/prometheus.log"
	is "$(promtool query instant "http://127.0.0.1:$prometheus_port" 'sum(cudatrace_calls_total)' | sed 's/.*=> \([0-9]*\) .*/\1/')" \
		"$(metrics_get /metrics | sed -n 's/^cudatrace_calls_total{.*} //p' | awk '{ n += $1 } END { print n }')" "... and adds them up"
	is "$(jq -r '.. | .expr? // empty' packaging/grafana/cudatrace.json | while read -r expr; do
		promtool query instant "http://127.0.0.1:$prometheus_port" "${expr//\$__rate_interval/1m}" >/dev/null 2>"$work/query.err" || echo "$expr: $(cat "$work/query.err")"
	done)" "" "... and answers each question of the dashboard"
	is "$(jq -r '.. | .expr? // empty' packaging/grafana/cudatrace.json | grep -oE 'cudatrace_[a-z_]+' | sed 's/_\(total\|bucket\|count\|sum\)$//' | sort -u |
		grep -vxF "$(sed -n 's/.*= { "\(cudatrace_[a-z_]*\)".*/\1/p' cli/export/openmetrics/metric_families.c)")" "" "... which asks of metrics that there are"
	kill $prometheus $metrics_pid
	wait $prometheus $metrics_pid
}
