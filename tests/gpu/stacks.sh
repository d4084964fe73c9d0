#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [CALLS=N] stacks.sh [OUTDIR [KIND...]]
#
# record --stacks on a machine with a GPU: each stack equals what traceback says (tests/gpu/stacks.py has the kinds; CALLS of
# each, or 10,400); frames of compiled code in autograd's threads; and, as kind `lines`, lines of programs of JAX and of a graph.
# What stacks cost: tests/gpu/bench/run --stacks.  Wants build/ (it may come from another machine: cudatrace,
# libcudatrace*.so), python3 with PyTorch, JAX, CuPy (what is missing is skipped).  Prints TAP.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-stacks}
shift
[ $# != 0 ] || set -- eager threads compile graph jax cupy lines
mkdir -p "$out"
. tests/judge.sh

python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__)' || exit 2

# recorded NAME KIND OPTION...
recorded()
{
	local name=$1 kind=$2
	shift 2
	timeout 150 build/cudatrace record -q --no-module -f -o "$out/$name" "$@" -- python3 tests/gpu/stacks.py "$kind" "${CALLS:-10400}" \
		"$out/$name.expected" >"$out/$name.out" 2>"$out/$name.err"
	ok $? "$name: the program runs" || tail -n 5 "$out/$name.err"
}

# compared NAME: each stack is what traceback says.
compared()
{
	local functions=cuLaunchKernel,cuLaunchKernelEx
	[ "$1" != jax ] || functions=cuMemFree
	build/cudatrace export --format jsonl -f -o "$out/$1.jsonl" "$out/$1"
	python3 tests/record/stacks_check.py "$out/$1.jsonl" "$out/$1.expected" $functions noted
	ok $? "$1: each stack is what traceback says"
}

# autograd: threads of autograd have no frames of Python but those of functions that are written in it.
autograd()
{
	jq -r 'select(.phase == "E" and .op == "launch" and .stack) | [.stack[][2]] | map(select(test("Backward"))) | .[0] // empty' "$out/eager.jsonl" |
		sort | uniq -c | sort -rn >"$out/backward"
	head -n 8 "$out/backward"
	grep -Eq 'Backward0(::|_)apply' "$out/backward"
	ok $? "launches of autograd's threads name its function"
}

lines()
{
	local kind
	CALLS=1600 recorded gpu eager --stacks --gpu
	compared gpu
	build/cudatrace report lines --top 12 "$out/gpu"
	CALLS=1600 recorded all eager --stacks=all
	build/cudatrace report stacks --module '*' --top 3 "$out/all" | cut -c 1-600
	for kind in jax graph; do
		timeout 60 build/cudatrace record -q --no-module -f -o "$out/$kind-loop" --stacks -- \
			python3 tests/gpu/running.py $kind 3 >"$out/$kind-loop.out" 2>"$out/$kind-loop.err"
		ok $? "$kind: the program runs"
		build/cudatrace report lines --top 8 "$out/$kind-loop"
		build/cudatrace report lines --format json "$out/$kind-loop" 2>/dev/null | grep -q "running.py\|steps.py"
		ok $? "$kind: lines of the program are named"
	done
}

for kind; do
	case $kind in
	lines) lines ;;
	*)
		module=torch
		case $kind in jax) module=jax ;; cupy) module=cupy ;; esac
		python3 -c "import $module" 2>/dev/null || { skip "$kind: no $module"; continue; }
		recorded "$kind" "$kind" --stacks
		grep -a '^info stacks' "$out/$kind/.registry"
		compared "$kind"
		[ "$kind" != eager ] || autograd
		;;
	esac
done
plan
