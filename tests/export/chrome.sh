# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# --format chrome: jq reads it, and gawk pairs its events as a viewer does.  Sourced by
# tests/export/run.sh.

# chrome_export DIR NAME: exports DIR to $work/chrome-NAME.
chrome_export() { build/cudatrace export --format chrome -f -o "$work/chrome-$2" "$1" 2>"$work/chrome-$2.err"; }

# chrome_events FILE: its events, one a line as JSON.  Each is a line of the file already.
chrome_events() { sed -n 's/^\({"ph".*}\),\{0,1\}$/\1/p' "$1"; }

# chrome_rows FILE: what perfetto.awk prints of the other format, and "error TEXT".
chrome_rows()
{
	chrome_events "$1" | jq -r 'def ns: . * 1000 | round;
		def open: if .args.unfinished or .args.abandoned then 1 else 0 end;
		if .ph == "M" then [.ph, .name, .pid, .tid, .args.name // .args.sort_index]
		elif .ph == "C" then ["counter", .name, .pid, (.ts | ns), (.args | add)]
		elif .ph == "s" or .ph == "f" then [.ph, .pid, .tid, (.ts | ns), .id, .name]
		else [.ph, .pid, .tid, (.ts | ns), .name // "", .cat, .args.op_id // "", (.dur // 0 | ns), open,
			.args.duration_ns // ""] end | @tsv' |
		gawk -F '\t' -v OFS='\t' '
			function slice(ph, name, cat, begin, dur, op)
			{
				if (cat == "marker") print "range", name, begin, dur
				else print "call", name, cat, begin, dur, op
			}
			$1 == "M" && $2 == "process_name" { process[$3] = $5; next }
			$1 == "M" && $2 == "thread_name" { if (($3, $4) in thread) print "error", "two names"; thread[$3, $4] = $5; next }
			$1 == "M" || $1 == "counter" { if ($1 == "counter") print; next }
			$1 == "s" { from[$5] = $2 "/" $3 " " $4; next }
			$1 == "f" {
				if ($5 in from) print "flow", $6, from[$5], $2 "/" $3 " " $4
				else print "error", "an arrow from nowhere"
				next
			}
			!(($2, $3) in thread) { print "error", "a track without a name" }
			{ used[$2] = 1 }
			$1 == "X" { slice($1, $5, $6, $4, $9 ? "?" : $8, $7); next }
			$1 == "i" { print "instant", $5, $6, $4, $7; next }
			$1 == "B" { d = ++depth[$2, $3]; b[$2, $3, d] = $0; next }
			$1 == "E" {
				d = depth[$2, $3]--
				if (d <= 0) { print "error", "an end without a begin"; next }
				split(b[$2, $3, d], f, OFS)
				slice($1, f[5], f[6], f[4], $9 ? "?" : $10 != "" ? $10 : $4 - f[4], f[7])
				next
			}
			{ print "error", "an event " $1 }
			END {
				for (t in depth) if (depth[t]) print "error", depth[t] " begins without an end"
				for (p in used) if (!(p in process)) print "error", "process " p " without a name"
				for (t in thread) { split(t, f, SUBSEP); print "track", f[1], f[2], thread[t] }
				for (p in process) print "process", p, process[p]
			}'
}

# chrome_sane NAME TEXT
chrome_sane() { is "$(grep -c '^error' "$work/chrome-$1.rows")" 0 "$2: every begin has its end, every track its name" ||
	grep '^error' "$work/chrome-$1.rows" | sort | uniq -c | head -n 5; }

t_chrome_rows()
{
	local name file
	for name in $(real_traces); do
		file=${name//\//-}
		chrome_export "$traces/$name" "$file" && chrome_rows "$work/chrome-$file" >"$work/chrome-$file.rows"
		ok $? "chrome: $name: jq reads it" || cat "$work/chrome-$file.err"
		chrome_sane "$file" "chrome: $name"
		grep -E '^(call|instant|range)' "$work/chrome-$file.rows" | sort_slices >"$work/chrome-$file.slices"
		same_slices "$work/chrome-$file.slices" "$(slices "$name")" "chrome: $name"
		is "$(grep -c '^flow	ioctl' "$work/chrome-$file.rows")" "$(ioctls_in_calls "$(jsonl "$name")")" \
			"chrome: $name: an arrow to each ioctl from the call around it"
	done
}

# What the counter of launches shows of the trace joined: time and value.
joined_counters()
{
	cat <<'EOF'
24000 1
29000 2
34000 3
60000 2
80000 1
92000 0
104000 1
120000 0
EOF
}

t_chrome_gpu()
{
	local rows=$work/chrome-joined.rows
	rm -rf "$work/joined"
	"$b/make_trace" joined "$work/joined" >/dev/null && chrome_export "$work/joined" joined &&
		chrome_rows "$work/chrome-joined" >"$rows"
	ok $? "chrome: a trace with records of the GPU"
	chrome_sane joined "chrome: with records of the GPU"
	# In the lanes of the streams; what overlaps has one of its own.
	is "$(awk -F '\t' '$1 == "track" { print $4 }' "$rows" | LC_ALL=C sort | paste -sd,)" \
		"GPU 0: context 1, stream 5,GPU 0: context 1, stream 6,GPU 0: context 1, stream 6 (2),main 4242" "chrome: each stream has a track"
	is "$(awk -F '\t' '$1 == "flow" && $2 == "launch" { sub(/.* /, "", $3); sub(/.* /, "", $4); print $3 ">" $4 }' "$rows" | paste -sd,)" \
		"20000>30000,30000>40000,25000>81000" "chrome: an arrow from each launch to its kernel" ||
		grep '^flow' "$rows"
	is "$(awk -F '\t' '$1 == "call" && $2 ~ /^vectorAdd/' "$rows" | wc -l)" 4 "chrome: what the GPU did bears the kernel's name"
	is "$(awk -F '\t' '$1 == "counter" { print $4, $5 }' "$rows" | paste -sd,)" "$(joined_counters | paste -sd,)" \
		"chrome: launches count until the GPU is done, or somebody waited"
}

t_chrome_ends()
{
	local name
	for name in begin open left ties layers; do
		rm -rf "$work/chrome-trace"
		"$b/make_trace" $name "$work/chrome-trace" >/dev/null && chrome_export "$work/chrome-trace" $name &&
			chrome_rows "$work/chrome-$name" >"$work/chrome-$name.rows"
		ok $? "chrome: the trace $name"
		chrome_sane $name "chrome: $name"
	done
	is "$(awk -F '\t' '$1 == "call" && $5 == "?"' "$work/chrome-begin.rows" | wc -l)" \
		"$(chrome_events "$work/chrome-begin" | jq -n '[inputs | select(.ph == "E" and .args.unfinished)] | length')" \
		"chrome: an end that was not recorded says so"
	chrome_events "$work/chrome-begin" | jq -e -n '[inputs] | (map(select(.ph == "E" and .args.unfinished)) | length) > 0' >/dev/null
	ok $? "chrome: there is one"
}

# Seen from the program an ioctl's result is one of its fields.
t_chrome_results()
{
	rm -rf "$work/chrome-trace"
	"$b/make_trace" files "$work/chrome-trace" >/dev/null && chrome_export "$work/chrome-trace" files
	is "$(chrome_events "$work/chrome-files" | jq -r 'select(.args.op_id and (.ph == "X" or .ph == "E")) | "\(.args.op_id) \(.args.result)"' | sort | paste -sd,)" \
		"$("$cudatrace" export "$work/chrome-trace" | jq -r 'select(.phase == "E") | "\(.op_id) \(.result)"' | sort | paste -sd,)" \
		"chrome: results are those of jsonl"
}

t_chrome_counters()
{
	local name
	for name in gpt2 jax processes leak; do
		chrome_export "$traces/$name" $name || return
		chrome_rows "$work/chrome-$name" | grep '^counter' >"$work/chrome-$name.counters"
		is "$(timeline_peaks "$work/chrome-$name.counters" | paste -sd ';')" "$(memory_peaks $name | paste -sd ';')" \
			"chrome: $name: device memory has the peak of the report"
	done
	# Each wait of a stream that has all launches on it covers them.
	is "$(awk -F '\t' '$2 ~ /^launches/ { last = $5 } END { print last }' "$work/chrome-gpt2.counters")" \
		"$(jq -n 'reduce (inputs | select(.phase == "E" and .result_code == 0)) as $e (0;
			if $e.type == "sync" then 0 elif $e.op == "launch" then . + 1 else . end)' "$(jsonl gpt2)")" \
		"chrome: at the end GPT-2 has not waited for its last launches"
	is "$(awk -F '\t' '$2 ~ /^launches/ && $5 == p + 1 { n++ } $2 ~ /^launches/ { p = $5 } END { print n }' "$work/chrome-gpt2.counters")" \
		"$(jq -n '[inputs | select(.phase == "E" and .op == "launch" and .result_code == 0)] | length' "$(jsonl gpt2)")" \
		"chrome: each launch counts once"
}

t_chrome_hostile()
{
	local out=$work/chrome-hostile name
	for name in $("$b/hostile_trace" --list); do
		# shellcheck disable=SC2086
		"$b/hostile_trace" "$name" "$out-$name" $hostile_count || return
		timeout $hang "$cudatrace" export --format chrome -f -o "$out.json" "$out-$name" >"$out" 2>&1
		[ $? = 0 ] && jq -e '.traceEvents | type == "array"' "$out.json" >/dev/null && iconv -f utf-8 -t utf-8 "$out.json" >/dev/null
		ok $? "chrome: hostile trace $name: jq reads it" || head -n 3 "$out"
		chrome_rows "$out.json" >"$work/chrome-hostile.rows"
		chrome_sane hostile "chrome: hostile trace $name"
		rm -rf "$out-$name"
	done
}

# What waits for a launch and what does not: the times are those of make_trace's waits().
t_chrome_launches()
{
	rm -rf "$work/waits"
	"$b/make_trace" waits "$work/waits" >/dev/null && chrome_export "$work/waits" waits
	ok $? "chrome: a trace of launches that are waited for"
	is "$(chrome_rows "$work/chrome-waits" | awk -F '\t' '$1 == "counter" { print $4, $5 }' | paste -sd,)" \
		"13000 1,14000 2,16000 3,17000 2,18000 1,19000 2,20000 0,24000 1,27000 2,32000 0,34000 1,40000 0" \
		"chrome: events, streams, the legacy stream, captures, a second thread, a second context, the end"
}

# An end that was lost: where the thread is seen outside the call.
t_chrome_lost_ends()
{
	rm -rf "$work/noends"
	"$b/make_trace" noends "$work/noends" >/dev/null && chrome_export "$work/noends" noends
	ok $? "chrome: a trace of lost ends"
	is "$(chrome_events "$work/chrome-noends" | jq -r 'select(.ph == "E") | [.name, .ts, .args.unfinished] | join(" ")' | paste -sd,)" \
		"cuStreamSynchronize 20 true,nvidia_ioctl 40 true" \
		"chrome: a call whose end was lost ends where its thread is seen outside it"
	# Of a thread that does something again the time off its CPU is over.
	mkdir -p "$work/flight"
	tar -xJf tests/data/guest-flight.tar.xz -C "$work/flight"
	chrome_export "$work/flight/guest-flight" flight
	is "$(chrome_events "$work/chrome-flight" | jq -rs '(map(select(.ph == "E" and .name == "sched_switch" and .args.unfinished)) | map([.args.op_id, .ts, .tid % 1073741824])) as $lost |
			map(select(.ph == "X" or .ph == "B")) as $calls | $lost[] | . as [$op, $over, $tid] |
			[$calls[] | select(.tid % 1073741824 == $tid and .args.op_id > $op) | .ts + (.dur // 0) - $over] | min | . * 1000 | round' | sort -n | head -n 1)" 0 \
		"chrome: nor is it off its CPU when it does something"
}
