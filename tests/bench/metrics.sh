#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: metrics.sh [SECONDS]
#
# What 'cudatrace metrics' takes of a processor while it follows a recording and is asked every five
# seconds: of a program that makes no calls, and of one that makes 100,000 a second over the
# simulated libcuda, for SECONDS (30) each.
#
# Prints a table and writes it to build/bench/metrics.tsv: calls a second, records read, seconds by the clock,
# seconds of processor time, percent of a processor.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-30}
out=${CUDATRACE_BUILD:-$PWD/build}/bench
cudatrace=$PWD/build/cudatrace
mkdir -p "$out"
env -u MAKEFLAGS -u MAKELEVEL make -s programs sim
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$out/steady" tests/bench/steady.c -ldl
work=$(mktemp -d "$out/metrics.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
export LC_ALL=C LD_LIBRARY_PATH=$PWD/build/tests/sim
ask() { curl -s --unix-socket "$work/socket" http://localhost/metrics; }

rows="calls/s\trecords\tseconds\tprocessor\tpercent\n"
for calls in 0 100; do
	rm -rf "$work/trace" "$work/socket"
	"$cudatrace" record -q --no-module -o "$work/trace" -- "$out/steady" $calls $((seconds + 10)) >/dev/null &
	until [ -s "$work/trace/.registry" ]; do sleep 0.1; done
	"$cudatrace" metrics -l "$work/socket" "$work/trace" 2>/dev/null &
	metrics=$!
	until [ -S "$work/socket" ]; do sleep 0.1; done
	ask >/dev/null
	first=$(awk '{ print $14 + $15 }' /proc/$metrics/stat) began=$(date +%s%N)
	for ((i = 0; i < seconds; i += 5)); do
		sleep 5
		ask >"$work/answer"
	done
	last=$(awk '{ print $14 + $15 }' /proc/$metrics/stat) ended=$(date +%s%N)
	rows+=$(awk -v calls=$((calls * 1000)) -v ticks=$((last - first)) -v hz="$(getconf CLK_TCK)" -v ns=$((ended - began)) '
		/^cudatrace_records_total / { records = $2 }
		END { printf "%d\\t%d\\t%.1f\\t%.2f\\t%.2f\\n", calls, records, ns / 1e9, ticks / hz, 100 * ticks / hz / (ns / 1e9) }' "$work/answer")
	kill $metrics
	wait
done
printf '%b' "$rows" >"$out/metrics.tsv"
column -t -s $'\t' "$out/metrics.tsv"
