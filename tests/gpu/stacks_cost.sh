#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: stacks_cost.sh [OUTDIR]
#
# What stacks and samples cost on a machine with a GPU, in turns: a program bare, recorded, with stacks, and with
# samples, too; and which lines explain names.  Wants build/ (it may come from another machine), PyTorch.
# Prints iterations a second.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-stacks-cost}
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__)' || exit 2

rate() { awk '$1 + 0 > 1 { print $2 }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }'; }

for kind in eager:1 training:1 eager:2 training:2 graph:1 jax:1; do
	turn=${kind#*:} kind=${kind%:*}
	for how in bare plain stacks sampled; do
		name=$kind-$how-$turn
		record="build/cudatrace record -q -f --no-module -o $out/$name"
		case $how in
		bare) record= ;;
		plain) record="$record --" ;;
		stacks) record="$record --stacks --sample=0 --" ;;
		sampled) record="$record --stacks --" ;;
		esac
		begin=$(date +%s)
		# shellcheck disable=SC2086
		timeout 60 $record python3 tests/gpu/running.py "$kind" 5 >"$out/$name.out" 2>"$out/$name.err"
		echo "$name: $(rate "$out/$name.out") iterations a second; status $?; $(($(date +%s) - begin)) s in all"
	done
	ls -l "$out/$kind-plain-$turn"/u-* 2>/dev/null | awk '{ n += $5 } END { print "trace plain " n }'
	ls -l "$out/$kind-sampled-$turn"/[us]-* 2>/dev/null | awk '{ n += $5 } END { print "trace with stacks " n }'
	grep -a '^info s[ta]' "$out/$kind-sampled-$turn/.registry"
	grep -v 'trace in\|without the module' "$out/$kind-sampled-$turn.err" | tail -n 3
	build/cudatrace explain "$out/$kind-sampled-$turn" >"$out/$kind.explain" 2>&1
	build/cudatrace report lines --top 15 "$out/$kind-sampled-$turn" >"$out/$kind.lines" 2>&1
	[ "$turn" = 2 ] || cat "$out/$kind.explain" "$out/$kind.lines"
done
tar -cJf "$out/traces.tar.xz" -C "$out" eager-sampled-1 training-sampled-1 jax-sampled-1 2>/dev/null
rm -rf "$out"/*-[12]/
