#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: beside.sh [OUTDIR]
#
# cudatrace beside other tools, on a machine with a GPU and no module: the program must
# behave as without us, and the tool see the same, whichever of the two came first: record around
# the tool, the tool around record, and record --pid of a process that the tool has already.
# Tools that are not there are skipped aloud.  PARTS: some of "cudart tools asan torch nccl".
# Prints TAP.
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
parts=${PARTS:-cudart tools asan torch nccl}
part() { [[ " $parts " == *" $1 "* ]]; }
nvcc -o "$out/vectoradd" tests/gpu/vectoradd.cu && nvcc -cudart shared -o "$out/vectoradd-shared" tests/gpu/vectoradd.cu ||
	{ echo "Bail out! no nvcc"; exit 1; }

if part cudart; then
	"$out/vectoradd-shared" >"$out/bare"
	record --runtime -- "$out/vectoradd-shared" >"$out/said" 2>"$out/err"
	is $? 0 "shared cudart: its status"
	cmp -s "$out/bare" "$out/said"
	ok $? "shared cudart: its output"
	is "$(lines '"name":"cudaMalloc".*"phase":"E"|"phase":"E".*"name":"cudaMalloc"')" 3 "shared cudart: three cudaMalloc"
	is "$(lines '"name":"cudaMemcpy".*"phase":"E"|"phase":"E".*"name":"cudaMemcpy"')" 3 "shared cudart: three cudaMemcpy"
fi

# What a tool says, but for addresses, times and what we say.  (A line of the program may come in the
# middle of one of the debugger's, behind its bracket.)
clean() { grep -v '^cudatrace: ' "$1" | sed -E 's/\(?LWP [0-9]+\)?/LWP/g; s/0x[0-9a-f]+/ADDR/g; s/[0-9]+(\.[0-9]+)? *(ns|us|ms|s|sec)\b/TIME/g; s/(process|Process|PID|pid)[ :]*[0-9]+/PID/g; s/^\[[0-9]+\]/PID/; s/^\[//; s/==+ ?[0-9]*//' | sort; }

# as_bare NAME HOW STATUS: it ended with this status, said the same, and launches are in the trace.
as_bare()
{
	is "$3" "$bare" "$1, $2: the same status ($bare)"
	diff <(clean "$out/$1.bare") <(clean "$out/$1.traced") >"$out/$1.diff"
	ok $? "$1, $2: the same output" || head -n 6 "$out/$1.diff"
	local launches
	launches=$(lines '"name":"cuLaunchKernel')
	# A process whose libcuda goes through another tool's functions already is recorded in part.
	[ "${launches:-0}" -gt 0 ] || [[ $2 == *--pid* && $(cat "$out/attach.err") == *" in part: "* ]]
	ok $? "$1, $2: its launches are in the trace (${launches:-0} lines), or it is said that they can't be"
}

# meets COMMAND...: a program that waits for $go, and what is done to it meanwhile; its status.
go=$out/go meanwhile=nothing
meets()
{
	rm -f "$go" "$go".*
	timeout 120 "$@" &
	local tool=$!
	until [ -s "$go.ready" ] || ! kill -0 $tool 2>/dev/null; do sleep 0.1; done
	between='' debugger=''
	[ ! -s "$go.ready" ] || $meanwhile "$(cat "$go.ready")"
	touch "$go"
	until [ -e "$go.done" ] || ! kill -0 $tool 2>/dev/null; do sleep 0.1; done
	[ -z "$between" ] || wait "$between"
	rm -f "$go"
	wait $tool
	local status=$?
	[ -z "$debugger" ] || wait "$debugger"
	return $status
}
# What is done to it.
nothing() { :; }
attach() { build/cudatrace record --no-module -q -f -o "$out/trace" --pid "$1" --duration 8 >"$out/attach.err" 2>&1 & between=$!; sleep 4; }
debug() { timeout 60 cuda-gdb -q -batch -p "$1" -ex continue >"$out/debugger" 2>&1 & debugger=$!; sleep 8; }

# beside NAME TOOL...: its way around a program.
beside()
{
	local name=$1 bare
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name: not there"
		return
	fi
	timeout 120 "$@" "$out/vectoradd" >"$out/$name.bare" 2>&1
	bare=$?
	record -- timeout 120 "$@" "$out/vectoradd" >"$out/$name.traced" 2>&1
	as_bare "$name" "inside record" $?
	timeout 120 "$@" build/cudatrace record --no-module -q -f -o "$out/trace" "$out/vectoradd" >"$out/$name.traced" 2>&1
	as_bare "$name" "around record" $?
	meanwhile=nothing meets "$@" "$out/vectoradd" "$go" >"$out/$name.bare" 2>&1
	bare=$?
	rm -rf "$out/trace"
	meanwhile=attach meets "$@" "$out/vectoradd" "$go" >"$out/$name.traced" 2>&1
	as_bare "$name" "in the process before record --pid" $?
	sed 's/^/# /' "$out/attach.err"
}

export PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer
if part tools; then
	beside compute-sanitizer compute-sanitizer --target-processes all
	beside ncu ncu --target-processes all --clock-control none --section LaunchStats
	beside nsys nsys profile -f true -o "$out/nsys" --stats=false
fi
if part tools && command -v cuda-gdb >/dev/null; then
	timeout 120 cuda-gdb -q -batch -ex run "$out/vectoradd" >"$out/cuda-gdb.bare" 2>&1
	bare=$?
	record -- timeout 120 cuda-gdb -q -batch -ex run "$out/vectoradd" >"$out/cuda-gdb.traced" 2>&1
	as_bare cuda-gdb "inside record" $?
	# The debugger comes when the program runs already.
	meanwhile=debug meets "$out/vectoradd" "$go" >"$out/debugged.bare" 2>&1
	bare=$?
	mv "$out/debugger" "$out/debugger.bare"
	meanwhile=debug meets build/cudatrace record --no-module -q -f -o "$out/trace" "$out/vectoradd" "$go" >"$out/debugged.traced" 2>&1
	as_bare debugged "by cuda-gdb after record" $?
	diff <(clean "$out/debugger.bare") <(clean "$out/debugger") >"$out/debugger.diff"
	ok $? "cuda-gdb -p: the same output" || head -n 6 "$out/debugger.diff"
	# A process has one tracer: record --pid says so and leaves it alone.
	meanwhile=nothing meets cuda-gdb -q -batch -ex run --args "$out/vectoradd" "$go" >"$out/cuda-gdb.bare" 2>&1
	bare=$?
	meanwhile=attach meets cuda-gdb -q -batch -ex run --args "$out/vectoradd" "$go" >"$out/cuda-gdb.traced" 2>&1
	is $? $bare "cuda-gdb before record --pid: the same status ($bare)"
	diff <(clean "$out/cuda-gdb.bare") <(clean "$out/cuda-gdb.traced") >"$out/cuda-gdb.diff"
	ok $? "cuda-gdb before record --pid: the same output" || head -n 6 "$out/cuda-gdb.diff"
	grep -q . "$out/attach.err"
	ok $? "cuda-gdb before record --pid: it says $(head -n 1 "$out/attach.err")"
elif part tools; then
	skip "cuda-gdb: not there"
fi

if ! part asan; then
	:
elif nvcc -cudart shared -Xcompiler -fsanitize=address -o "$out/asan" tests/gpu/vectoradd.cu 2>"$out/asan.log"; then
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

torch=
python3 -c 'import torch' 2>/dev/null && torch=1
if part torch && [ $torch ]; then
	python3 tests/gpu/profiled.py >"$out/bare" 2>"$out/bare.err"
	record -- python3 tests/gpu/profiled.py >"$out/said" 2>"$out/err"
	is $? 0 "torch.profiler: its status" || tail -n 3 "$out/err"
	diff "$out/bare" "$out/said" >"$out/diff"
	ok $? "torch.profiler (CUPTI) sees the same: $(tail -n 1 "$out/said")" || cat "$out/diff"
	is "$(lines '"step [012]"')" 3 "NVTX ranges of torch.cuda.nvtx" || grep -m 3 step "$out/trace.jsonl"
	is "$(lines '"half way"')" 3 "NVTX marks"
	for when in before after; do
		how="record --pid $when it begins"
		[ $when = before ] || how="record --pid after it began"
		rm -rf "$out/trace"
		meanwhile=attach meets python3 tests/gpu/profiled.py "$go" $when >"$out/said" 2>"$out/err"
		is $? 0 "torch.profiler, $how: its status" || tail -n 3 "$out/err"
		sed 's/^/# /' "$out/attach.err"
		diff "$out/bare" "$out/said" >"$out/diff"
		ok $? "torch.profiler, $how, sees the same: $(tail -n 1 "$out/said")" || cat "$out/diff"
		[ "$(lines '"name":"cuLaunchKernel')" -gt 0 ]
		ok $? "torch.profiler, $how: launches are in the trace"
	done
fi
if part nccl && [ $torch ]; then
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
fi
[ $torch ] || skip "torch.profiler, NVTX, NCCL: no PyTorch"
plan
