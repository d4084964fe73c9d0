#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: stacks.sh [OUTDIR]
#
# record --stacks on a machine with a GPU, with PyTorch: each stack equals what traceback says, in
# modules, hooks, autograd functions and their backward pass; and what stacks cost.  Wants build/ (it may come from
# another machine: cudatrace, libcudatrace*.so), python3 with PyTorch.  Prints TAP.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-stacks}
mkdir -p "$out"
. tests/judge.sh

python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__)' || exit 2

record()
{
	local name=$1
	shift
	build/cudatrace record -q --no-module -f -o "$out/$name" "$@" -- python3 tests/gpu/stacks.py "$out/$name.expected" 2>"$out/$name.err"
	ok $? "$name: the program runs"
	grep 'steps' "$out/$name.err"
}

python3 tests/gpu/stacks.py "$out/bare.expected"
record plain
record stacks --stacks
record gpu --stacks --gpu
for name in stacks gpu; do
	grep -a '^info stacks' "$out/$name/.registry"
	build/cudatrace export --format jsonl -f -o "$out/$name.jsonl" "$out/$name"
	python3 tests/record/stacks_check.py "$out/$name.jsonl" "$out/$name.expected" cuMemFree noted
	ok $? "$name: each stack is what traceback says"
	build/cudatrace report lines --top 12 "$out/$name"
	ok $? "$name: report lines"
	ls -l "$out/$name"/u-* "$out/$name/.registry" | awk '{ bytes += $5 } END { print bytes " bytes" }'
done
ls -l "$out/plain"/u-* "$out/plain/.registry" | awk '{ bytes += $5 } END { print "without stacks " bytes " bytes" }'
plan
