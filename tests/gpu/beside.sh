#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: beside.sh [OUTDIR]
#
# cudatrace beside other tools, on a machine with a GPU and no module: the program must
# behave as without us.  Tools that are not there are skipped aloud.  Prints TAP.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-beside}
mkdir -p "$out"
. tests/judge.sh
record() { build/cudatrace record --no-module -q -f -o "$out/trace" "$@"; }
lines() { build/cudatrace export --format jsonl -f -o "$out/trace.jsonl" "$out/trace" && grep -cE "$1" "$out/trace.jsonl"; }

for file in /sys/devices/system/clocksource/clocksource0/current_clocksource; do
	echo "# clock source: $(cat $file), $(grep -oE -m1 'constant_tsc|nonstop_tsc' /proc/cpuinfo | sort -u | tr '\n' ' ')"
done
nvcc -o "$out/vectoradd" tests/gpu/vectoradd.cu && nvcc -cudart shared -o "$out/vectoradd-shared" tests/gpu/vectoradd.cu ||
	{ echo "Bail out! no nvcc"; exit 1; }

"$out/vectoradd-shared" >"$out/bare"
record --runtime -- "$out/vectoradd-shared" >"$out/said" 2>"$out/err"
is $? 0 "shared cudart: its status"
cmp -s "$out/bare" "$out/said"
ok $? "shared cudart: its output"
is "$(lines '"name":"cudaMalloc".*"phase":"E"|"phase":"E".*"name":"cudaMalloc"')" 3 "shared cudart: three cudaMalloc"
is "$(lines '"name":"cudaMemcpy".*"phase":"E"|"phase":"E".*"name":"cudaMemcpy"')" 3 "shared cudart: three cudaMemcpy"

# A tool around the recording, and inside it: their output but for addresses and times.
clean() { grep -v '^cudatrace: ' "$1" | sed -E 's/\(LWP [0-9]+\)/LWP/g; s/0x[0-9a-f]+/ADDR/g; s/[0-9]+(\.[0-9]+)? *(ns|us|ms|s|sec)\b/TIME/g; s/(process|Process|PID|pid)[ :]*[0-9]+/PID/g; s/^\[[0-9]+\]/PID/; s/==+ ?[0-9]*//' | sort; }
beside()
{
	local name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name: not there"
		return
	fi
	timeout 120 "$@" >"$out/$name.bare" 2>&1
	local bare=$?
	record -- timeout 120 "$@" >"$out/$name.traced" 2>&1
	is $? $bare "$name: the same status ($bare)"
	diff <(clean "$out/$name.bare") <(clean "$out/$name.traced") >"$out/$name.diff"
	ok $? "$name: the same output" || head -n 6 "$out/$name.diff"
	[ "$(lines '"name":"cuLaunchKernel')" -gt 0 ]
	ok $? "$name: and its launches are in the trace"
}
export PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer
beside compute-sanitizer compute-sanitizer "$out/vectoradd"
beside cuda-gdb cuda-gdb -q -batch -ex run "$out/vectoradd"
beside ncu ncu --clock-control none --section LaunchStats "$out/vectoradd"
beside nsys nsys profile -f true -o "$out/nsys" --stats=false "$out/vectoradd"

if nvcc -cudart shared -Xcompiler -fsanitize=address -o "$out/asan" tests/gpu/vectoradd.cu 2>"$out/asan.log"; then
	export ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0
	"$out/asan" >"$out/bare" 2>&1
	bare=$?
	for way in "" --inject; do
		record $way -- "$out/asan" >"$out/said" 2>"$out/err"
		is $? $bare "AddressSanitizer${way:+, by $way}: its status ($bare)"
		[ $bare -ne 0 ] || { [ "$(lines '"name":"cuLaunchKernel')" -gt 0 ]; ok $? "... its launches are in the trace"; }
	done
	unset ASAN_OPTIONS
else
	skip "AddressSanitizer: $(tail -n 1 "$out/asan.log")"
fi

if python3 -c 'import torch' 2>/dev/null; then
	python3 tests/gpu/profiled.py >"$out/bare" 2>"$out/bare.err"
	record -- python3 tests/gpu/profiled.py >"$out/said" 2>"$out/err"
	is $? 0 "torch.profiler: its status" || tail -n 3 "$out/err"
	diff "$out/bare" "$out/said" >"$out/diff"
	ok $? "torch.profiler (CUPTI) sees the same: $(tail -n 1 "$out/said")" || cat "$out/diff"
	is "$(lines '"step [012]"')" 3 "NVTX ranges of torch.cuda.nvtx" || grep -m 3 step "$out/trace.jsonl"
	is "$(lines '"half way"')" 3 "NVTX marks"
	# NVLink multicast is not there in every virtual machine; NCCL tries it else.
	export NCCL_NVLS_ENABLE=0
	timeout 120 python3 tests/gpu/nccl.py >"$out/bare" 2>"$out/bare.err"
	bare=$?
	record -- timeout 120 python3 tests/gpu/nccl.py >"$out/said" 2>"$out/err"
	is $? $bare "NCCL: the same status ($bare)" || tail -n 3 "$out/err"
	diff "$out/bare" "$out/said" >"$out/diff"
	ok $? "NCCL: the same sums: $(tail -n 1 "$out/said")" || cat "$out/diff"
	ranks=$(grep -oE 'ranks: [0-9]+' "$out/bare" | grep -oE '[0-9]+')
	if [ "$ranks" = 1 ]; then
		skip "NCCL between GPUs: there is one, which launches nothing for it"
	else
		lines . >/dev/null
		is "$(grep -E '"name":"cuLaunchKernel.*nccl' "$out/trace.jsonl" | grep -oE '"pid":[0-9]+' | sort -u | wc -l)" \
			"$ranks" "NCCL: each rank's launches are in the trace"
	fi
else
	skip "torch.profiler, NVTX, NCCL: no PyTorch"
fi
plan
