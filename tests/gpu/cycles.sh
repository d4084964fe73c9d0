#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: cycles.sh OUTDIR SECONDS PROCESSES [sim]
#
# Attaching and leaving again and again for SECONDS: PROCESSES recorders beside each other, each with a process of
# 64 threads that calls without a pause, every fourth time with --gpu and every hundredth time with a recorder that is killed.
# With sim over the simulated libcuda, which needs no GPU.  Wants build/ with tests/record-running (it may come from
# another machine).  Prints how often, and what went wrong; at the end every call of a window must be there.
set -u
cd "$(dirname "$0")/../.."
out=$1 seconds=$2 processes=$3 sim=${4:-}
mkdir -p "$out"
if [ "$sim" ]; then
	export LD_LIBRARY_PATH=$PWD/build/tests/sim CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13
	export CUDATRACE_NVML=$PWD/build/tests/sim/nvml/libnvidia-ml.so.1
fi

# every_call CSV: each thread's allocations are numbered without a gap, and each has its free (tests/record/running.c).
every_call()
{
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		$col["name"] == "cuMemAlloc" && $col["phase"] == "E" {
			n = $col["size"] / 16; t = $col["tid"]
			if (t in last && n != last[t] % 5000000 + 1) bad++
			last[t] = n; allocations++ }
		$col["name"] == "cuMemFree" && $col["phase"] == "E" { frees++ }
		END { for (t in last) threads++
			d = allocations - frees
			if (d < 0) d = -d
			printf "%d allocations of %d threads, %d gaps\n", allocations, threads, bad
			exit bad || !allocations || d > 2 * threads }' "$1"
}

one()
{
	local n=0 bad=0 killed=0 me=$out/cycles-$1 pid gpu end
	build/tests/record-running 64 3600 2000 >"$me.out" 2>"$me.err" &
	pid=$!
	until grep -q ready "$me.out" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		n=$((n + 1)) gpu=
		[ $((n % 4)) != 0 ] || gpu=--gpu
		if [ $((n % 100)) = 50 ]; then
			build/cudatrace record -q -f -o "$me.trace" --pid $pid 2>/dev/null &
			sleep 0.0$((n / 100 % 10))5
			kill -KILL $!
			wait $! 2>/dev/null
			killed=$((killed + 1))
			sleep 7		# until the library has seen it
			continue
		fi
		# shellcheck disable=SC2086
		build/cudatrace record -q -f -o "$me.trace" --pid $pid --duration 0.02 $gpu 2>"$me.said" && continue
		bad=$((bad + 1))
		echo "process $1, time $n $gpu: $(tail -n 2 "$me.said" | paste -sd' ')"
		kill -0 $pid 2>/dev/null || { echo "process $1 DIED"; break; }
		[ $bad -lt 20 ] || break
	done
	build/cudatrace record -q -f -o "$me.trace" --pid $pid --duration 0.2 2>"$me.said" &&
		build/cudatrace export --format csv -f -o "$me.csv" "$me.trace" 2>"$me.notes"
	echo "process $1: attached $n times, $bad failed, $killed recorders killed; at the end $(every_call "$me.csv"), status $?"
	kill -TERM $pid
	wait $pid
	echo "process $1: status $?, $(grep -E 'wrong|word' "$me.out" | paste -sd,)"
	rm -rf "$me.trace" "$me.csv" "$me.out" "$me.said" "$me.notes"
	[ -s "$me.err" ] || rm "$me.err"
}

for i in $(seq "$processes"); do
	one "$i" &
done
wait
