#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [KINDS="eager training loader graph jax static"] [DURATION=SECONDS] attach.sh [OUTDIR]
#
# record --pid on a machine with a GPU and no module: programs that run are attached to and left
# ten times for DURATION (5 s), every other time with --gpu, once with --stacks and once as a flight recorder.
# The program notes when its iterations begin: each must have the same calls.  The text of all libraries must be as before.
# Prints TAP, and of each program the iterations a second before, while and after.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu}
mkdir -p "$out"
. tests/judge.sh
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
duration=${DURATION:-5}
options=("" --gpu --stacks --gpu "" "--gpu --keep 1s,64M" "" --gpu "" --gpu)

# rate FILE FROM TO: the median of the seconds in between
rate() { awk -v a="$2" -v b="$3" '$1 > a && $1 <= b { print $2 }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }'; }

# now FILE: how old the program is, as it said last
now() { tail -n 1 "$1" | cut -d' ' -f1; }

kind()
{
	local kind=$1 me=$out/attach-$1 life=$((${#options[@]} * (duration + 4) + 20)) pid i dir began ended
	set -- python3 tests/gpu/running.py "$kind" $life "$me.times"
	if [ "$kind" = static ]; then
		command -v nvcc >/dev/null || { skip "static: no nvcc"; return; }
		nvcc -o "$me.program" tests/gpu/running.cu
		set -- "$me.program" $life "$me.times"
	else
		python3 -c "import $([ "$kind" = jax ] && echo jax || echo torch)" 2>/dev/null || { skip "$kind: no such library"; return; }
	fi
	"$@" >"$me.out" 2>"$me.err" &
	pid=$!
	until grep -q ready "$me.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 6
	began=$(now "$me.out")
	python3 tests/gpu/attach_text.py $pid >"$me.text"
	for i in "${!options[@]}"; do
		dir=$out/trace-attach-$kind-$i
		# shellcheck disable=SC2086
		build/cudatrace record -q -f -o "$dir" --pid $pid --duration "$duration" ${options[i]} 2>"$me-$i.said"
		is $? 0 "$kind: attached, time $i ${options[i]}"
		cat "$me-$i.said"
		python3 tests/gpu/attach_text.py $pid | grep -Fxf - -c "$me.text" >"$me.same"
		is "$(cat "$me.same")" "$(grep -c . "$me.text")" "$kind, time $i: the text of libraries is as before"
		kill -0 $pid 2>/dev/null || { tail -n 3 "$me.err"; break; }
	done
	ended=$(now "$me.out")
	wait $pid
	is $? 0 "$kind: the program ends as it would"
	grep -q '^wrong 0$' "$me.out"
	ok $? "$kind: with the same results" || tail -n 3 "$me.out" "$me.err"
	for i in "${!options[@]}"; do
		dir=$out/trace-attach-$kind-$i
		echo "$kind, time $i ${options[i]}: $(du -sm "$dir" | cut -f1) MiB"
		build/cudatrace export --no-queries --format csv "$dir" 2>"$me-$i.notes" | python3 tests/gpu/attach_check.py "$me.times" >"$me-$i.counts"
		ok $? "$kind, time $i: each iteration has the same calls"
		cat "$me-$i.counts"
		build/cudatrace report "$dir" >"$me-$i.report" 2>&1
		case ${options[i]} in *--gpu*)
			build/cudatrace report --format csv cuda_gpu_kern_sum "$dir" 2>/dev/null | grep -qc .
			ok $? "$kind, time $i: there are kernels of the GPU" || cat "$me-$i.report"
		esac
	done
	echo "$kind: iterations a second before $(rate "$me.out" 0 "$began"), while $(rate "$me.out" "$began" "$ended"), after $(rate "$me.out" "$ended" 1000)"
	rm -rf "$out/trace-attach-$kind-"[!26]
}

for kind in ${KINDS:-eager training loader graph jax static}; do
	kind "$kind"
done
plan
