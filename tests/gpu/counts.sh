#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: counts.sh [OUTDIR]
#
# Real programs on a machine with a GPU, recorded by cudatrace without the module and counted
# by CUPTI's callbacks at the same time (compare.sh): no function may be counted lower than
# by CUPTI, and none higher but for those that CUPTI cannot see: docs/measurements.md names
# them.  No record may be lost.  Programs whose packages are missing are skipped aloud.
# Prints TAP and the differences.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-counts}
mkdir -p "$out"
. tests/judge.sh

# CUPTI's library is loaded inside the first cuInit, has no callback for
# cuGetExportTable, and has ended when destructors release what they hold.
unseen='^(cuGetExportTable|cuInit|cuGetProcAddress_v2|cuGetProcAddress|cuDriverGetVersion|cuLibraryUnload|cuModuleUnload|cuDevicePrimaryCtxRelease(_v2)?)$'

count()
{
	local name=$1 status
	shift
	tests/gpu/compare.sh "$out" "$name" timeout 300 "$@" >"$out/$name.compared" 2>&1
	status=$?
	if [ $status = 77 ]; then
		skip "$name: a package is missing"
		return
	fi
	is $status 0 "$name: its status" || tail -n 3 "$out/$name.both.out"
	sed 's/^/# /' "$out/$name.compared"
	awk -v unseen="$unseen" '
		NR > 1 && NF == 3 && ($2 < $3 || $1 !~ unseen) { print "# " $1 ": cudatrace " $2 ", CUPTI " $3; bad = 1 }
		NR == 1 && !/, CUPTI [1-9]/ { print "# CUPTI counted nothing"; bad = 1 }
		END { exit bad }' "$out/$name.compared"
	ok $? "$name: every function is counted as by CUPTI"
	build/cudatrace report "$out/both-$name" >"$out/$name.report" 2>&1
	! grep -E '[1-9][0-9,]* (records )?lost|lost [1-9]' "$out/$name.report"
	ok $? "$name: nothing is lost"
	rm -rf "$out/both-$name"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
count gpt2 python3 examples/gpt2.py --tokens 32
count resnet python3 tests/gpu/programs/resnet.py
count compiled python3 tests/gpu/programs/compiled.py
count jax env XLA_PYTHON_CLIENT_PREALLOCATE=false python3 examples/jax_mlp.py --steps 100
count cupy python3 tests/gpu/programs/cupy_loop.py
count cuda-python python3 tests/gpu/programs/cuda_python.py
plan
