#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: summaries.sh [TRACES [RANKS]]
#
# How fast traces of a job are summarised, and summaries are read: TRACES (64) times a trace of a million
# records, which is the kept recording of two ranks repeated seven times, and a job of RANKS (1024) that is generated of
# its summary (tests/cli/summaries.sh).  Prints seconds of processor time, records a second and peak memory.  The files are in
# the page cache.  The numbers depend on the machine: printed, never a limit.
set -eu
cd "$(dirname "$0")/../.."
traces=${1:-64} ranks=${2:-1024}
make -s all
flock build/.cli-dev.lock make -s -f tests/cli/build.mk build/cli-dev/make_hosts build/cli-dev/usage
work=$(mktemp -d build/bench-summaries.XXXXXX)
trap 'rm -rf "$work"' EXIT
. tests/cli/summaries.sh

# measure WORD COMMAND...: seconds of processor time and MiB, by "wall user+system MiB" of usage
measure()
{
	build/cli-dev/usage "$work/used" "${@:2}" >"$work/out" 2>"$work/err"
	echo "$1: $(cat "$work/used")"
}

tar -xJf tests/data/ranks/sleep.tar.xz -C "$work"
build/cli-dev/make_hosts "$work/sleep" "$work/million" repeat=7
records=$(build/cudatrace report --format json summary "$work/million" 2>/dev/null | jq '[.. | objects | select(.Metric == "records").Value] | first | tonumber')
echo "a trace: $records records"
seconds=0
for ((i = 0; i < traces; i++)); do
	measure summarize build/cudatrace summarize -q -f -o "$work/million.summary" "$work/million" >"$work/line"
	seconds=$(awk -v sum="$seconds" '{ print sum + $3 }' "$work/line")
done
cat "$work/line"
awk -v n="$traces" -v records="$records" -v s="$seconds" 'BEGIN { printf "summarize, %d traces: %.1f s of processor time, %.2f million records a second\n", n, s, n * records / s / 1e6 }'
build/cudatrace summarize -q -o "$work/sleep.summary" "$work/sleep"
many_ranks "$work/sleep.summary" "$work/many" "$ranks" $((ranks * 3 / 4))
measure "explain of $ranks ranks" build/cudatrace explain "$work/many"
grep -o 'Rank [0-9]* ([^)]*) makes' "$work/out" | head -n 1
