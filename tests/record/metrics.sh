# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What NVML says of the GPUs while a program is recorded, by a stand-in for libnvidia-ml whose figures are known.
# Sourced by run.sh.

nvml=$PWD/build/tests/sim/nvml/libnvidia-ml.so.1

# metrics NAME [OPTION...] -- COMMAND...: recorded as $work/NAME with the stand-in; its status
metrics()
{
	local name=$1
	shift
	LD_LIBRARY_PATH=$PWD/build/tests/sim:$PWD/build/tests/sim/cupti CUDATRACE_NVML=${nvml_path:-$nvml} \
		"$cudatrace" record -q -f --no-module -o "$work/$name" "$@" >"$work/$name.out" 2>"$work/$name.err"
}
# metrics_row NAME GPU COLUMN...: cells of the report gpu_metrics
metrics_row()
{
	local name=$1 gpu=$2
	shift 2
	"$cudatrace" report --format json gpu_metrics "$work/$name" 2>/dev/null |
		jq -r --argjson gpu "$gpu" '(if type == "array" then . else (.gpu_metrics // .rows // .) end)[] | select(.GPU == $gpu) | [.[$ARGS.positional[]]] | join(" ")' --args "$@"
}

t_metrics()
{
	NVMLSIM_LIMITED=0x24 metrics metrics --gpu --gpu-metrics=100 -- "$gpu" work 3000
	is $? 0 "record --gpu --gpu-metrics: with a stand-in for libnvidia-ml"
	judge_trace "$work/metrics" metrics
	"$cudatrace" export -f -o "$work/metrics.jsonl" "$work/metrics" 2>/dev/null
	is "$(jq -s '[.[] | select(.name == "gpu_metrics")] | group_by(.details.gpu) | map([length > 3, (map(.details.clock)[0:4])]) | tostring' -r "$work/metrics.jsonl")" \
		'[[true,[1000,1100,1200,1300]],[true,[1000,1100,1200,1300]]]' "each look has its figures, of both GPUs"
	is "$(jq -c 'select(.name == "gpu_metrics" and .details.gpu == 1) | .details | del(.clock, .memory)' "$work/metrics.jsonl" | sed -n '1p;3p')" \
		'{"limited":"0x24","power":350500,"pcie_tx":null,"pcie_rx":null,"nvlink_tx":null,"nvlink_rx":null,"gpu":1,"temperature":41,"busy":750,"sm":null,"occupancy":null,"tensor":null,"dram":null}
{"limited":"0x24","power":350500,"pcie_tx":2048000,"pcie_rx":2150400,"nvlink_tx":null,"nvlink_rx":null,"gpu":1,"temperature":41,"busy":750,"sm":205,"occupancy":308,"tensor":513,"dram":1025}' \
		"what is not known is null: averages at the first look, NVLink always"
	is "$(metrics_row metrics 1 Name "Busy (%)" "SM Active (%)" "Tensor Active (%)" "SM Clock Max (MHz)" "Limited by Power (%)" "Limited by Temperature (%)" \
		"Power Avg (W)" "Power Limit (W)" "Temperature Max (C)" "Memory Max (bytes)" "PCIe Sent (bytes/s)")" \
		"simulated GPU 75 20.5 51.3 1980 100 100 350.5 700 41 2147483648 2097152000" "the report gpu_metrics has them"
	is "$(metrics_row metrics 0 "Busy (%)" "NVLink Sent (bytes/s)" "Power Avg (W)")" "  70" "... and nothing where nothing is known"
	# Those between two moments: the median clock by jq.
	is "$("$cudatrace" report --from 20ms --to 100ms --format json gpu_metrics "$work/metrics" 2>/dev/null |
		jq -r 'flatten | map(select(.GPU == 0))[0] | "\(.Looks) \(."SM Clock Med (MHz)")"')" \
		"$(jq -rs '[.[] | select(.name == "gpu_metrics" and .details.gpu == 0 and .ts >= 20 and .ts < 100) | .details.clock] | sort |
			"\(length) \((.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 + 0.5 | floor)"' "$work/metrics.jsonl")" \
		"... of the looks between --from and --to"
	"$cudatrace" export -f --format sqlite -o "$work/metrics.sqlite" "$work/metrics" 2>/dev/null
	is "$(sqlite3 "$work/metrics.sqlite" "SELECT metric, unit, min(value), max(value) FROM CUDATRACE_GPU_METRICS WHERE gpu = 1 AND metric IN ('power', 'SM active', 'PCIe sent') GROUP BY metric" | paste -sd ' ')" \
		"PCIe sent|bytes/s|2097152000|2097152000 SM active|permille|205|205 power|mW|350500|350500" "sqlite has them"
	is "$(sqlite3 "$work/metrics.sqlite" "SELECT count(*) FROM CUDATRACE_GPU_METRICS WHERE gpu = 0 AND metric = 'SM clock'")" \
		"$(jq -s '[.[] | select(.name == "gpu_metrics" and .details.gpu == 0)] | length' "$work/metrics.jsonl")" "... each change once"
	"$cudatrace" export -f --format chrome -o "$work/metrics.json" "$work/metrics" 2>/dev/null
	is "$(jq -r '[.traceEvents[] | select(.ph == "C" and .name == "GPU 1 SM clock") | .args.MHz][0:3] | join(" ")' "$work/metrics.json")" "1000 1100 1200" \
		"chrome has counters"
	"$cudatrace" export -f --format perfetto -o "$work/metrics.pftrace" "$work/metrics" 2>/dev/null
	is "$(protoc --decode perfetto.protos.Trace -I tests/export tests/export/perfetto.proto <"$work/metrics.pftrace" | grep -c 'name: "GPU [01] of the machine (NVML)"')" 2 \
		"perfetto a track for each GPU"
	"$cudatrace" export -f --format html -o "$work/metrics.html" "$work/metrics" 2>/dev/null
	# shellcheck disable=SC2016
	node -e 'const m = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8").match(/id="ct-manifest">(.*?)<\/script>/s)[1]);
		console.log(m.gpus.map((g) => [g.gpu, g.clock_max, g.metrics.find((x) => x.name === "SM clock").unit].join(" ")).join(", "))' "$work/metrics.html" >"$work/metrics.page"
	is "$(cat "$work/metrics.page")" "0 1980 MHz, 1 1980 MHz" "the page has the curves"
}

# In a time namespace the clock of waits is not that of records, which is the machine's.
t_metrics_elsewhere()
{
	local by
	if [ "$(id -u)" != 0 ] || ! unshare -T --monotonic 1 true 2>/dev/null; then
		skip "clocks in a time namespace: needs root, and unshare -T"
		return
	fi
	for by in 1000 -1000; do
		CUDATRACE_NVML=$nvml unshare -T --monotonic $by "$cudatrace" record -q -f --no-module --gpu-metrics=20 -o "$work/metrics-ns" -- bash -c "\"$gpu\" work 10; sleep 2" \
			>/dev/null 2>"$work/metrics-ns.err"
		"$cudatrace" export -o - "$work/metrics-ns" 2>/dev/null | jq -r 'select(.name == "gpu_metrics" and .details.gpu == 0) | .ts' | sort -n |
			awk 'NR == 1 { first = $1 } { last = $1 } END { printf "%d %d\n", NR, (NR > 4 && NR < (last - first) * 0.02 + 4) }' >"$work/metrics-ns.looks"
		is "$(cut -d' ' -f2 "$work/metrics-ns.looks")" 1 "--gpu-metrics in a time namespace ($by s): as often as it is to look" || cat "$work/metrics-ns.looks" "$work/metrics-ns.err"
	done
}

t_metrics_clocks()
{
	local limit words
	while read -r limit words; do
		NVMLSIM_GPUS=1 NVMLSIM_LIMITED=$limit metrics clocks --gpu --gpu-metrics=100 -- "$gpu" work 4000
		"$cudatrace" explain --format json "$work/clocks" >"$work/clocks.json" 2>/dev/null
		jq -r '.findings[] | select(.Rule == "gpu-clocks") | .Finding // .What // .Text // tostring' "$work/clocks.json" | grep -q "limited by $words for 100 %"
		ok $? "explain: clocks that were limited by $words" || jq -c '.findings[].Rule' "$work/clocks.json"
	done <<-'END'
		0x4 power
		0x40 temperature
		0x2 a setting
	END
	NVMLSIM_GPUS=1 NVMLSIM_LIMITED=0 metrics clocks --gpu --gpu-metrics=100 -- "$gpu" work 4000
	is "$("$cudatrace" explain --format json "$work/clocks" 2>/dev/null | jq '[.findings[] | select(.Rule == "gpu-clocks")] | length')" 0 "... and by nothing: no finding"
	# Not idle is what the driver says: a GPU that only waits has low clocks, too.
	NVMLSIM_GPUS=1 NVMLSIM_LIMITED=0x5 metrics clocks --gpu --gpu-metrics=100 -- "$gpu" work 4000
	is "$("$cudatrace" explain --format json "$work/clocks" 2>/dev/null | jq '[.findings[] | select(.Rule == "gpu-clocks")] | length')" 0 "... nor of a GPU that was idle"
}

t_metrics_diff()
{
	NVMLSIM_LIMITED=0 metrics before --gpu --gpu-metrics=100 -- "$gpu" work 4000
	NVMLSIM_LIMITED=0x40 NVMLSIM_LOWER=700 metrics after --gpu --gpu-metrics=100 -- "$gpu" work 4000
	"$cudatrace" diff --format json "$work/before" "$work/after" >"$work/diff.json" 2>/dev/null
	is "$(jq -c '[.diff_clocks[] | [.GPU, ."Change (%)" < -30, ."Limited A", ."Limited B", ."Power A (W)", ."Temperature B (C)"]]' "$work/diff.json")" \
		'[[0,true,"by nothing","by temperature 100 %",70,40],[1,true,"by nothing","by temperature 100 %",350.5,41]]' "diff: clocks, and what limited them"
	for limit in before after; do
		is "$(metrics_row $limit 1 "SM Clock Med (MHz)")" \
			"$(jq --arg c "SM Clock $([ $limit = before ] && echo A || echo B) (MHz)" '.diff_clocks[1][$c]' "$work/diff.json")" "... as the report gpu_metrics has them"
	done
	"$cudatrace" diff "$work/before" "$work/after" 2>/dev/null | grep -q 'GPU 1 runs at lower clocks in B: kernels that compute take up to'
	ok $? "... and what that means"
	metrics without --gpu --gpu-metrics=0 -- "$gpu" work 1000
	is "$("$cudatrace" diff --format json "$work/before" "$work/without" 2>/dev/null | jq -c .diff_clocks)" null "... only where both looked"
}

t_metrics_absent()
{
	local said
	nvml_path=$work/none metrics absent --gpu -- "$gpu" work 10
	is "$?$(wc -l <"$work/absent.err")" 02 "without libnvidia-ml nothing is said and nothing lost" || cat "$work/absent.err"
	said=$("$cudatrace" report gpu_metrics "$work/absent" 2>&1)
	grep -q 'NVML was not read: there is no libnvidia-ml' <<<"$said"
	ok $? "... the report says why it has nothing" || echo "$said"
	NVMLSIM_FAILS=1 metrics absent --gpu -- "$gpu" work 10
	"$cudatrace" report gpu_metrics "$work/absent" 2>&1 | grep -q 'NVML was not read: nvmlInit fails'
	ok $? "... nor where the driver is out of reach"
	NVMLSIM_NO_GPM=1 metrics absent --gpu-metrics=50 -- "$gpu" work 1000
	is "$(metrics_row absent 1 "SM Active (%)" "Power Avg (W)")" " 350.5" "a GPU without GPM, and without --gpu"
	ls "$work"/absent/g-* >/dev/null 2>&1
	is $? 2 "... where nothing else of the GPU is recorded"
	metrics absent --gpu --gpu-metrics=0 -- "$gpu" work 10
	"$cudatrace" report gpu_metrics "$work/absent" 2>&1 | grep -q 'record --gpu or --gpu-metrics'
	ok $? "--gpu-metrics=0: none"
	refuse "--gpu-metrics=x" "give a number a second, at most 100" "$cudatrace" record --gpu-metrics=x -- true
	refuse "--gpu-metrics=1000" "give a number a second, at most 100" "$cudatrace" record --gpu-metrics=1000 -- true
}
