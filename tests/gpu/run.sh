#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: run.sh [OUTDIR]
#
# The preload library on a machine with a GPU and no module: programs by every way
# to libcuda are run bare and recorded, and must behave alike.  Wants `make all examples`
# done (build/ may come from another machine), nvcc and, for the Python programs, PyTorch and transformers (skipped aloud where
# missing).  Prints TAP and each summary; traces go to OUTDIR.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu}
mkdir -p "$out"
. tests/judge.sh

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
uname -r

# try NAME COMMAND...: same output and status bare and recorded.
try()
{
	local name=$1
	shift
	"$@" >"$out/$name.bare" 2>&1
	local bare=$?
	build/cudatrace record --no-module -f -o "$out/trace-$name" -- "$@" >"$out/$name.traced" 2>"$out/$name.err"
	is $? $bare "$name: same status"
	diff <(grep -v ' s$' "$out/$name.bare") <(grep -v ' s$' "$out/$name.traced") >"$out/$name.diff"
	ok $? "$name: same output" || head -n 5 "$out/$name.diff"
	cat "$out/$name.err"
	build/cudatrace export --format jsonl -f -o "$out/$name.jsonl" "$out/trace-$name"
	ok $? "$name: exports"
	echo "$name: $(wc -l <"$out/$name.jsonl") lines; functions: $(grep -o '"name":"cu[A-Za-z0-9_]*"' "$out/$name.jsonl" | sort -u | wc -l)"
}

gcc -O2 -o "$out/proc_address" tests/gpu/proc_address.c -ldl &&
	sed -n 's/^CT_PARAM(\(cu[A-Z][^,]*\),.*/\1/p' userlib/call/tables/param_counts.h |
	"$out/proc_address" >"$out/proc_address.out"
ok $? "every pointer of cuGetProcAddress is an exported symbol" || head -n 5 "$out/proc_address.out"
tail -n 1 "$out/proc_address.out"

try inference build/examples/inference --iterations 200
try linked env LD_LIBRARY_PATH=/usr/local/nvidia/lib64:${LD_LIBRARY_PATH:-} build/examples/inference-linked --iterations 50
if command -v nvcc >/dev/null; then
	nvcc -o "$out/vectoradd-static" tests/gpu/vectoradd.cu
	nvcc -cudart shared -o "$out/vectoradd-shared" tests/gpu/vectoradd.cu
	try vectoradd-static "$out/vectoradd-static"
	try vectoradd-shared "$out/vectoradd-shared"
else
	skip "vectoradd: no nvcc"
fi
if python3 -c 'import torch' 2>/dev/null; then
	try mlp python3 examples/mlp.py
	try gpt2 python3 examples/gpt2.py --tokens 64
else
	skip "mlp.py, gpt2.py: no PyTorch"
fi
plan
