#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: attach.sh [OUTDIR]
#
# record --pid on a machine with a GPU and no module: programs that run are attached to and left
# five times: plainly, with --gpu, with --stacks, as a flight recorder with --gpu, and with --gpu again.
# Prints TAP, and of each program the iterations a second before, while and after.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu}
mkdir -p "$out"
. tests/judge.sh
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2

# rate FILE FROM TO: the median of the seconds in between
rate() { awk -v a="$2" -v b="$3" '$1 > a && $1 <= b { print $2 }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }'; }

for kind in ${KINDS:-eager training graph jax}; do
	module=torch
	[ $kind = jax ] && module=jax
	python3 -c "import $module" 2>/dev/null || { skip "$kind: no $module"; continue; }
	python3 tests/gpu/running.py $kind 34 >"$out/attach-$kind.out" 2>"$out/attach-$kind.err" &
	pid=$!
	until grep -q ready "$out/attach-$kind.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 5
	for i in 1 2 3 4 5; do
		options=("" --gpu --stacks "--gpu --keep 1s,64M" --gpu)
		dir=$out/trace-attach-$kind-$i
		# shellcheck disable=SC2086
		build/cudatrace record -q -f -o "$dir" --pid $pid --duration 2 ${options[i - 1]} 2>"$out/attach-$kind-$i.said"
		is $? 0 "$kind: attached, time $i ${options[i - 1]}"
		cat "$out/attach-$kind-$i.said"
		kill -0 $pid 2>/dev/null || { tail -n 3 "$out/attach-$kind.err"; break; }
	done
	ended=$(tail -n 1 "$out/attach-$kind.out" | cut -d' ' -f1)
	wait $pid
	is $? 0 "$kind: the program ends as it would"
	grep -q '^wrong 0$' "$out/attach-$kind.out"
	ok $? "$kind: with the same results" || tail -n 3 "$out/attach-$kind.out" "$out/attach-$kind.err"
	for i in 2 4 5; do
		build/cudatrace report "$out/trace-attach-$kind-$i" >"$out/attach-$kind-$i.report" 2>&1
		launches=$(build/cudatrace export --format csv "$out/trace-attach-$kind-$i" 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			$c["phase"] == "E" && $c["op"] == "launch" { n++ } $c["phase"] == "E" && $c["name"] == "gpu_kernel" { k++ } END { print n + 0, k + 0 }')
		echo "$kind, time $i: launches, and kernels of the GPU: $launches"
		[ "${launches#* }" -gt 0 ]
		ok $? "$kind, time $i: there are kernels of the GPU" || cat "$out/attach-$kind-$i.report"
	done
	cat "$out/attach-$kind-2.report"
	grep -c . "$out/attach-$kind-4.report"
	du -sk "$out/trace-attach-$kind-4"
	[ $kind = jax ] || { build/cudatrace report --top 5 lines "$out/trace-attach-$kind-3" 2>&1 | head -n 12; }
	# All iterations in the window are alike: no launch is missing in one.
	build/cudatrace report --format csv iterations "$out/trace-attach-$kind-2" 2>/dev/null | head -n 3
	build/cudatrace report --format csv cuda_api_sum --from start "$out/trace-attach-$kind-2" 2>/dev/null | head -n 12
	echo "$kind: iterations a second before $(rate "$out/attach-$kind.out" 0 5), while $(rate "$out/attach-$kind.out" 5.5 "${ended:-20}"), after $(rate "$out/attach-$kind.out" "${ended:-25}" 34)"
done
plan
