#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: formats.sh [RECORDS [ROUNDS]]
#
# How long each format of 'cudatrace export' takes, and how large it is: a synthetic trace of
# RECORDS records (1,000,000) in one stream of a thread and one of a CPU.  The best of ROUNDS (3)
# is kept.  The trace is in the page cache.
#
# Prints a table and writes it to build/bench/formats.tsv: format, records, seconds by the clock,
# seconds of processor time, records a second, bytes, bytes a record, peak resident MiB; or "not
# run" for the seconds.  The first row, "trace", has the size of the trace itself.  The numbers
# depend on the machine: printed, never a limit.
set -eu
cd "$(dirname "$0")/../.."
records=${1:-1000000}
rounds=${2:-3}
out=${CUDATRACE_BUILD:-$PWD/build}/bench
cudatrace=$PWD/build/cudatrace
mkdir -p "$out"
env -u MAKEFLAGS -u MAKELEVEL make -s programs
for program in make_reading usage; do
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$out/$program" "tests/bench/$program.c"
done
work=$(mktemp -d "$out/formats.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
dir=$work/trace
count=$("$out/make_reading" "$dir" "$records" 1 module)
# Writes the metadata.
"$cudatrace" report --top 1 "$dir" > /dev/null 2>&1

bytes_of() { find "$1" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d\n", n }'; }
printf 'trace\t%s\t\t%s\n' "$count" "$(bytes_of "$dir")" > "$work/rows"
status=0
for format in $("$cudatrace" export --list | awk '{ print $1 }'); do
	best=""
	for ((i = 0; i < rounds; i++)); do
		rm -rf "$work/exported"
		if ! "$out/usage" "$work/used" "$cudatrace" export --format "$format" -o "$work/exported" "$dir" \
			> "$work/output" 2> "$work/err"; then
			best="not run"
			echo "formats.sh: $format: $(tail -n 1 "$work/err")" >&2
			# What was built without a library says so: no failure.
			grep -q 'built without' "$work/err" || status=1
			break
		fi
		best=$(printf '%s\n%s\n' "$best" "$(cat "$work/used")" | grep . | sort -n | head -n 1)
	done
	size=0
	[ ! -e "$work/exported" ] || size=$(bytes_of "$work/exported")
	printf '%s\t%s\t%s\t%s\n' "$format" "$count" "$best" "$size" >> "$work/rows"
done

awk -F '\t' -v tsv="$out/formats.tsv" '
	BEGIN {
		print "format\trecords\tseconds\tcpu_seconds\trecords_per_second\tbytes\tbytes_per_record\tpeak_mib" > tsv
		printf "%-16s %11s %8s %8s %12s %13s %9s %9s\n", "exporting", "records", "seconds", "CPU s",
			"records/s", "bytes", "a record", "peak MiB"
	}
	$3 == "not run" {
		printf "%-16s %11d %8s\n", $1, $2, "not run"
		print $1 "\t" $2 "\tnot run\t\t\t\t\t" > tsv
		next
	}
	$3 == "" {
		printf "%-16s %11d %8s %8s %12s %13d %9.1f\n", $1, $2, "", "", "", $4, $4 / $2
		printf "%s\t%s\t\t\t\t%s\t%.1f\t\n", $1, $2, $4, $4 / $2 > tsv
		next
	}
	{
		split($3, used, " ")
		rate = used[1] > 0 ? $2 / used[1] : 0
		printf "%-16s %11d %8.2f %8.2f %12d %13d %9.1f %9.1f\n", $1, $2, used[1], used[2], rate, $4,
			$4 / $2, used[3] / 1024
		printf "%s\t%s\t%s\t%s\t%d\t%s\t%.1f\t%.1f\n", $1, $2, used[1], used[2], rate, $4, $4 / $2,
			used[3] / 1024 > tsv
	}' "$work/rows"
exit $status
