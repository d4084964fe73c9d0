#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: traces.sh OUTDIR
#
# Records on a machine with a GPU the traces that tests/data keeps, without the module, and
# packs each to OUTDIR/NAME.tar.xz.  Wants cudatrace, its libraries and the examples in
# build/, and PyTorch, transformers and JAX.
set -u
cd "$(dirname "$0")/../.."
out=$1 status=0
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# trace NAME COMMAND...
trace()
{
	local name=$1
	shift
	if ! build/cudatrace record --no-module -q -o "$work/$name" -- "$@" >"$work/$name.out" 2>&1; then
		echo "$name: failed" >&2
		tail -n 5 "$work/$name.out" >&2
		status=1
		return
	fi
	build/cudatrace report "$work/$name" | grep -E '^(command|recorded|trace)|lost'
	tar -C "$work" -cf - "$name" | xz -9e -T0 >"$out/$name.tar.xz"
	echo "$name: $(du -sk "$work/$name" | cut -f 1) KiB, packed $(stat -c %s "$out/$name.tar.xz") bytes"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
trace gpt2 python3 examples/gpt2.py --tokens 32 --repeat 2
trace train python3 examples/train.py --steps 40
trace train-nvtx python3 examples/train.py --steps 20 --nvtx
trace graph python3 examples/graph.py --replays 300
trace jax env XLA_PYTHON_CLIENT_PREALLOCATE=false python3 examples/jax_mlp.py --steps 100
trace processes python3 examples/processes.py --requests 60
trace sampler env XLA_PYTHON_CLIENT_PREALLOCATE=false python3 examples/sampler.py --samples 100
trace bert python3 tests/gpu/programs/bert.py
trace inference build/examples/inference --iterations 200
exit $status
