#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: stacks.sh [OUTDIR]
#
# record --stacks on a machine with a GPU, with PyTorch: each stack equals what traceback says, in
# modules, hooks, autograd functions and their backward pass; frames of compiled code in autograd's threads; JAX; graphs; and
# what stacks cost GPT-2.  Wants build/ (it may come from
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
# Threads of autograd have no frames of Python but those of functions that are written in it.
jq -r 'select(.phase == "E" and .op == "launch" and .stack) | [.stack[][2]] | map(select(test("Backward"))) | .[0] // empty' "$out/stacks.jsonl" |
	sort | uniq -c | sort -rn >"$out/backward"
head -n 8 "$out/backward"
grep -Eq 'Backward0(::|_)apply' "$out/backward"
ok $? "launches of autograd's threads name its function"
record all --stacks=all
build/cudatrace report stacks --module '*' --top 3 "$out/all" | cut -c 1-600
for kind in jax graph; do
	timeout 60 build/cudatrace record -q --no-module -f -o "$out/$kind" --stacks -- python3 tests/gpu/running.py $kind 3 >"$out/$kind.out" 2>"$out/$kind.err"
	ok $? "$kind: the program runs"
	build/cudatrace report lines --top 8 "$out/$kind"
	build/cudatrace report lines --format json "$out/$kind" 2>/dev/null | grep -q running.py
	ok $? "$kind: lines of the program are named"
done
# GPT-2, 64 tokens, s: fastest and median of six, in turns.
for turn in 1 2 3; do
	for how in bare plain stacks sampled; do
		case $how in
		bare) record= ;;
		plain) record="build/cudatrace record -q -f --no-module -o $out/gpt2 --" ;;
		stacks) record="build/cudatrace record -q -f --no-module -o $out/gpt2 --stacks --sample=0 --" ;;
		sampled) record="build/cudatrace record -q -f --no-module -o $out/gpt2 --stacks --" ;;
		esac
		# shellcheck disable=SC2086
		$record python3 examples/gpt2.py --tokens 64 --repeat 6 >"$out/gpt2.out" 2>/dev/null
		echo "gpt2 $how $turn: $(sed -n 's/.* in \([0-9.]*\) s/\1/p' "$out/gpt2.out" | sort -n | awk '{ s[NR] = $1 } END { print s[1], s[int((NR + 1) / 2)] }')"
	done
done
build/cudatrace explain "$out/gpt2" | head -n 40
build/cudatrace report lines --top 8 "$out/gpt2"
plan
