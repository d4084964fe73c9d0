#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: page.sh [RECORDS...]
#
# How fast the page of an HTML report opens and pans: synthetic traces of RECORDS records
# (1,000,000 and 10,000,000) in 16 streams of which 8 are CPUs', exported and opened in headless
# Chromium at 1600 by 1000 pixels.  By the browser's own performance trace; the best of three.
#
# Prints a table and writes it to build/bench/page.tsv: records, MiB of the file, and in ms:
# until the first screen is there, until the timeline, until all data are decoded; while panning
# and zooming the longest task of the page's thread by the clock, the same in processor time, and
# the longest task of drawing in processor time.  The numbers depend on the machine: printed,
# never a limit.
set -eu
cd "$(dirname "$0")/../.."
out=${CUDATRACE_BUILD:-$PWD/build}/bench
cudatrace=$PWD/build/cudatrace
mkdir -p "$out"
[ $# -gt 0 ] || set -- 1000000 10000000
env -u MAKEFLAGS -u MAKELEVEL make -s programs
. tests/export/html.sh
why=$(html_tools browser) || { echo "page.sh: not measured: $why"; exit 0; }
html_tools browser >/dev/null
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$out/make_reading" tests/bench/make_reading.c
work=$(mktemp -d "$out/page.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

printf 'records\tmib\tfirst_ms\ttimeline_ms\tcomplete_ms\tpan_task_ms\tpan_task_cpu_ms\tdraw_cpu_ms\n' >"$out/page.tsv"
for records; do
	"$out/make_reading" "$work/trace" "$records" 8 module >/dev/null
	"$cudatrace" export --format html -f -o "$work/report.html" "$work/trace" 2>/dev/null
	rm -rf "$work/trace"
	size=$(stat -c %s "$work/report.html" | awk '{printf "%.1f", $1 / 1048576}')
	for _ in 1 2 3; do
		node tests/bench/page.mjs "$work/report.html"
	done | awk -F '\t' -v records="$records" -v size="$size" '
		{ for (i = 1; i <= 6; i++) if (NR == 1 || $i < best[i]) best[i] = $i }
		END {
			printf "%s\t%s", records, size
			for (i = 1; i <= 6; i++) printf "\t%.1f", best[i]
			print ""
		}' >>"$out/page.tsv"
done
awk -F '\t' 'NR == 1 { $1 = "page of a report" } {
	printf "%-17s %6s %9s %12s %12s %12s %16s %12s\n", $1, $2, $3, $4, $5, $6, $7, $8 }' "$out/page.tsv"
