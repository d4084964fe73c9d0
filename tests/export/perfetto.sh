# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# --format perfetto: protoc decodes it, and perfetto.awk reads it as a viewer does.  Sourced by
# tests/export/run.sh.

# perfetto_decode FILE: its packets as text.
perfetto_decode() { protoc --decode perfetto.protos.Trace -I tests/export tests/export/perfetto.proto <"$1"; }

# perfetto_export DIR NAME [shown]: exports DIR; $work/perfetto-NAME.rows is what is in it.
perfetto_export()
{
	local out=$work/perfetto-$2
	build/cudatrace export --format perfetto -f -o "$out" "$1" 2>"$out.err" &&
		perfetto_decode "$out" 2>"$out.err" | gawk -v show="${3:-}" -f tests/export/perfetto.awk >"$out.rows" &&
		[ ! -s "$out.err" ]
}

# perfetto_sane NAME TEXT: what a viewer reads makes sense.
perfetto_sane() { is "$(grep -c '^error' "$work/perfetto-$1.rows")" 0 "$2: a viewer finds nothing wrong" ||
	grep '^error' "$work/perfetto-$1.rows" | sort | uniq -c | head -n 5; }

t_perfetto_rows()
{
	local name file
	for name in $(real_traces); do
		file=${name//\//-}
		perfetto_export "$traces/$name" "$file"
		ok $? "perfetto: $name: protoc decodes it" || cat "$work/perfetto-$file.err"
		perfetto_sane "$file" "perfetto: $name"
		grep -E '^(call|instant|range)' "$work/perfetto-$file.rows" | sort_slices >"$work/perfetto-$file.slices"
		same_slices "$work/perfetto-$file.slices" "$(slices "$name")" "perfetto: $name"
	done
	# Measured: 37.6 bytes; chrome takes 209.
	is "$(($(stat -c %s "$work/perfetto-gpt2") <= 40 * $(wc -l <"$(slices gpt2)")))" 1 \
		"perfetto: GPT-2 takes at most 40 bytes a record"
}

# perfetto_numbers NAME...: the numbers of sequences, tracks and arrows in the files of these
# traces, each as WORD NUMBER, once a file.
perfetto_numbers()
{
	local name
	for name in "$@"; do
		perfetto_decode "$work/perfetto-$name" | awk '$1 ~ /^(trusted_packet_sequence_id|uuid|flow_ids|terminating_flow_ids):$/ {
			sub(/terminating_/, ""); print $1, $2 }' | sort -u
	done
}

# `cat a b` is one view of both: no number of the one is used by the other.
t_perfetto_two()
{
	local name
	for name in train jax; do
		perfetto_export "$traces/$name" $name || return
	done
	is "$(perfetto_numbers train jax | sort | uniq -d | head -n 3)" "" "perfetto: two files share no sequence, track or arrow"
	is "$(perfetto_numbers train jax | awk '{ print $1 }' | sort -u | paste -sd ' ')" \
		"flow_ids: trusted_packet_sequence_id: uuid:" "perfetto: ... and have all three"
	cat "$work/perfetto-train" "$work/perfetto-jax" >"$work/perfetto-both"
	is "$(perfetto_decode "$work/perfetto-both" | grep -c track_event)" \
		"$(($(perfetto_decode "$work/perfetto-train" | grep -c track_event) + $(perfetto_decode "$work/perfetto-jax" | grep -c track_event)))" \
		"perfetto: one behind the other they have the events of both"
	perfetto_export "$traces/train" again || return
	cmp "$work/perfetto-train" "$work/perfetto-again"
	ok $? "perfetto: a trace always gives the same file"
}

t_perfetto_tracks()
{
	local rows=$work/perfetto-train-nvtx.rows
	perfetto_export "$traces/train-nvtx" train-nvtx cuLaunchKernel || return
	is "$(grep -c '^range' "$rows")" "$(jq -n '[inputs | select(.name == "range_push")] | length' "$(jsonl train-nvtx)")" \
		"perfetto: each range is a slice"
	is "$(awk -F '\t' '$1 == "track" && $3 == $2 { print $4 }' "$rows" | sort | paste -sd,)" "driver,main,ranges" \
		"perfetto: a thread, its ranges and what the driver does for it"
	is "$(awk -F '\t' '$1 == "process" { print $3 }' "$rows")" \
		"$(jq -r 'select(.name == "process") | .text' "$(jsonl train-nvtx)" | head -n 1)" "perfetto: the process has its name"
	is "$(grep -c '^flow' "$rows")" "$(ioctls_in_calls "$(jsonl train-nvtx)")" \
		"perfetto: an arrow to each ioctl from the call around it"
	is "$(awk -F '\t' '$1 == "flow" && $3 != "ioctl"' "$rows" | wc -l)" 0 "perfetto: arrows end at ioctls"
	# Fields of a record: the same values, of each launch.
	is "$(awk -F '\t' '$1 == "note" && $3 == "grid_x" { n++; s += $4 } END { print n, s }' "$rows")" \
		"$(jq -rn '[inputs | select(.phase == "E" and .name == "cuLaunchKernel") | .details.grid_x] | "\(length) \(add)"' \
			"$(jsonl train-nvtx)")" "perfetto: fields are annotations"
	is "$(awk -F '\t' '$1 == "note" && $3 == "kernel" { print $4 }' "$rows" | sort | uniq -c | sort -rn | awk '{ print $1 }' | head -n 5 | paste -sd ' ')" \
		"$(jq -r 'select(.phase == "E" and .name == "cuLaunchKernel") | .kernel' "$(jsonl train-nvtx)" | sort | uniq -c | sort -rn | awk '{ print $1 }' | head -n 5 | paste -sd ' ')" \
		"perfetto: kernels have their names"

	# Interrupts, by CPU, and the label of a simulated GPU.
	perfetto_export "$traces/guest-two" guest-two nvidia_ioctl || return
	awk -F '\t' '$1 == "track" { print $4 }' "$work/perfetto-guest-two.rows" | grep -q '^CPU [01]$'
	ok $? "perfetto: interrupts have a track for each CPU"
	is "$(perfetto_decode "$work/perfetto-guest-two" | grep -c 'process_labels: "simulated GPU"')" \
		"$(perfetto_decode "$work/perfetto-guest-two" | grep -c 'process {')" "perfetto: each process of a simulated GPU says so"
	is "$(awk -F '\t' '$1 == "note" && $3 == "result" { print $4 }' "$work/perfetto-guest-two.rows" | sort | uniq -c | awk '{ print $2, $1 }')" \
		"$(jq -r 'select(.name == "nvidia_ioctl" and .phase == "E" and .result_code) | .result' "$(jsonl guest-two)" | sort | uniq -c | awk '{ print $2, $1 }')" \
		"perfetto: results of what failed"
}

# timeline_peaks FILE: from rows "counter NAME PID TIME VALUE": pid, the most and when it was reached.
timeline_peaks()
{
	awk -F '\t' '$1 == "counter" && $2 == "device memory" && $5 + 0 > peak[$3] + 0 { peak[$3] = $5; at[$3] = $4 }
		END { for (p in peak) print p, peak[p], at[p] }' "$1" | sort
}

# memory_peaks NAME: the same from the report on memory.
memory_peaks()
{
	build/cudatrace report --format json memory "$traces/$1" 2>/dev/null |
		jq -r '.memory_processes[] | select(.Kind == "gpu") | "\(.Pid) \(."Peak (bytes)") \(."Peak Time (ns)")"' | sort
}

t_perfetto_counters()
{
	local name
	for name in gpt2 jax processes leak; do
		perfetto_export "$traces/$name" "$name" || return
		is "$(timeline_peaks "$work/perfetto-$name.rows" | paste -sd ';')" "$(memory_peaks $name | paste -sd ';')" \
			"perfetto: $name: device memory has the peak of the report"
	done
}

# A terminal, a full disk, a trace of names that nobody should have.
t_perfetto_refusals()
{
	local out=$work/perfetto-refused name
	script -qec "$cudatrace export --format perfetto $traces/inference" /dev/null >"$out" 2>&1 </dev/null
	is "$? $(wc -l <"$out") $(grep -c 'perfetto is binary, and this is a terminal: write it to a file with -o' "$out")" \
		"1 1 1" "perfetto: not to a terminal"
	build/cudatrace export --format perfetto "$traces/inference" | cmp - <(build/cudatrace export --format perfetto "$traces/inference" 2>/dev/null)
	ok $? "perfetto: but to a pipe"
	"$cudatrace" export --format perfetto "$traces/inference" >/dev/full 2>"$out"
	is "$? $(cat "$out")" "1 cudatrace: standard output: No space left on device" "perfetto: a full disk is an error"
	for name in $("$b/hostile_trace" --list); do
		# shellcheck disable=SC2086
		"$b/hostile_trace" "$name" "$out-$name" $hostile_count || return
		timeout $hang "$cudatrace" export --format perfetto -f -o "$out.trace" "$out-$name" >"$out" 2>&1
		[ $? = 0 ] && perfetto_decode "$out.trace" >"$out.txt" 2>"$out.err" && [ ! -s "$out.err" ] &&
			iconv -f utf-8 -t utf-8 "$out.txt" >/dev/null
		ok $? "perfetto: hostile trace $name: protoc decodes it" || head -n 3 "$out" "$out.err"
		gawk -f tests/export/perfetto.awk "$out.txt" >"$work/perfetto-hostile.rows"
		perfetto_sane hostile "perfetto: hostile trace $name"
		rm -rf "$out-$name"
	done
}

t_perfetto_gpu()
{
	local rows=$work/perfetto-joined.rows
	rm -rf "$work/joined"
	"$b/make_trace" joined "$work/joined" >/dev/null && perfetto_export "$work/joined" joined
	ok $? "perfetto: a trace with records of the GPU"
	perfetto_sane joined "perfetto: with records of the GPU"
	is "$(awk -F '\t' '$1 == "track" && $4 !~ /^launches/ { print $4 }' "$rows" | LC_ALL=C sort | paste -sd,)" \
		"GPU 0: context 1, stream 5,GPU 0: context 1, stream 6,GPU 0: context 1, stream 6 (2),main" "perfetto: each stream has a track"
	is "$(awk -F '\t' '$1 == "flow" { print $2 ">" substr($3, 1, 9) }' "$rows" | uniq -c | awk '{ print $1, $2 }')" \
		"3 cuLaunchKernel>vectorAdd" "perfetto: an arrow from each launch to its kernel"
	is "$(awk -F '\t' '$1 == "counter" { print $4, $5 }' "$rows" | paste -sd,)" "$(joined_counters | paste -sd,)" \
		"perfetto: launches count until the GPU is done, or somebody waited"
}

# perfetto_collectives NAME: FUNCTION COUNT of the arrows between ranks
perfetto_collectives()
{
	awk -F '\t' '$1 == "flow" && $2 == $3 && $2 ~ /^(nccl)?(All|B)/ { sub(/^nccl/, "", $2); sub(/ .*/, "", $2); sub(/Broadcast/, "Bcast", $2); n[$2]++ }
		END { for (i in n) print i, n[i] }' "$work/perfetto-$1.rows" | LC_ALL=C sort | paste -sd,
}

# A job of two ranks: an arrow through each collective.
t_perfetto_ranks()
{
	local d=$work/perfetto-job want
	mkdir -p "$d"
	tar -xJf tests/data/ranks/sleep.tar.xz -C "$d"
	want=$(build/cudatrace report --format json --top 0 collectives "$d/sleep" 2>/dev/null |
		jq -r 'group_by(.Operation)[] | "\(.[0].Operation) \(length)"' | paste -sd,)
	perfetto_export "$d/sleep" ranks
	ok $? "perfetto: a job of two ranks"
	perfetto_sane ranks "perfetto: a job of two ranks"
	is "$(awk -F '\t' '$1 == "process" { print $2, substr($3, 1, 7) }' "$work/perfetto-ranks.rows" | LC_ALL=C sort | paste -sd,)" \
		"735 /opt/to,751 rank 0:,752 rank 1:" "perfetto: each rank's tracks stand below its number"
	is "$(perfetto_collectives ranks)" "$want" "perfetto: an arrow from rank to rank through each collective's kernels"
	rm "$d"/sleep/g-*
	perfetto_export "$d/sleep" ranks-host
	is "$(perfetto_collectives ranks-host)" "$want" "perfetto: without records of the GPU through its calls"
}

# Calls that never returned, or whose begin or end was lost.
t_perfetto_ends()
{
	local name
	for name in begin open left ties layers; do
		rm -rf "$work/perfetto-trace"
		"$b/make_trace" $name "$work/perfetto-trace" >/dev/null && perfetto_export "$work/perfetto-trace" $name
		ok $? "perfetto: the trace $name"
		perfetto_sane $name "perfetto: $name"
		build/cudatrace export -f -o "$work/perfetto-trace.jsonl" "$work/perfetto-trace" 2>/dev/null
		slices_of_jsonl "$work/perfetto-trace.jsonl" >"$work/perfetto-wanted"
		grep -E '^(call|instant|range)' "$work/perfetto-$name.rows" | sort_slices >"$work/perfetto-got"
		same_slices "$work/perfetto-got" "$work/perfetto-wanted" "perfetto: $name"
	done
}

# Trace processor wants three clocks of one moment; ours come from the trace's own record of them.
t_perfetto_clocks()
{
	perfetto_export "$traces/gpt2" gpt2 || return
	is "$(perfetto_decode "$work/perfetto-gpt2" | sed -n '/^}/q; s/^ *\(clock_id\|timestamp\|primary_trace_clock\): //p' | paste -sd ' ')" \
		"$(jq -rn 'first(inputs | select(.name == "clock")) | .details | "\(.monotonic) \(.boottime)"' "$(jsonl gpt2)" |
			awk -v start="$(sed -n '1s/.* start=\([0-9]*\) .*/\1/p' "$traces/gpt2/.registry")" \
				-v real="$(sed -n '1s/.*realtime=\([0-9]*\).*/\1/p' "$traces/gpt2/.registry")" \
				'{ printf "3 %s 64 %s 1 %s 6 %d 3\n", start, start, real, start + $2 - $1 }')" \
		"perfetto: the clocks of the recording's begin"
}

# Wherever the first bytes that do not fit are, also in the description of a track.
t_perfetto_full()
{
	local t=$work/perfetto-full i
	rm -rf "$t"
	"$b/hostile_trace" lanes "$t" 12000 || return
	for i in $(seq 12); do
		echo "info k$i xxxxxxxxx" >>"$t/.registry"
		"$cudatrace" export --format perfetto "$t" 2>&1 >/dev/full
	done | grep -v 'is empty: its records are lost$' | sort | uniq -c >"$work/perfetto-full.err"
	is "$(sed 's/^ *//' "$work/perfetto-full.err")" "12 cudatrace: standard output: No space left on device" \
		"perfetto: a full disk is told of as such"
	rm -rf "$t"
}
