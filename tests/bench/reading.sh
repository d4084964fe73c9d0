#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: reading.sh [RECORDS [ROUNDS]]
#
# How fast a trace is read, and in how much memory: synthetic traces of RECORDS records
# (10,000,000) in one stream, in 16 streams of threads, and in 16 streams of which 8 are
# CPUs'.  Each is read by the summary, by all reports in one pass, and by babeltrace2,
# which only counts the records; then sqlite3 imports a tenth of the first one's records
# as CSV (its making is not measured) and adds up the time by function.  The best of
# ROUNDS (3) is kept, of the others' the only one.  The files are in the page cache.
#
# Prints a table and writes it to build/bench/reading.tsv: trace, reader, records, seconds
# by the clock, seconds of processor time, records a second, peak resident MiB; or "not
# run" for the seconds.  The numbers depend on the machine: printed, never a limit.
set -eu
cd "$(dirname "$0")/../.."
records=${1:-10000000}
rounds=${2:-3}
out=${CUDATRACE_BUILD:-$PWD/build}/bench
cudatrace=$PWD/build/cudatrace
mkdir -p "$out"
env -u MAKEFLAGS -u MAKELEVEL make -s programs
for program in make_reading usage; do
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$out/$program" "tests/bench/$program.c"
done
work=$(mktemp -d "$out/reading.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
: > "$work/rows"

# row TRACE READER RECORDS ROUNDS COMMAND...
row() {
	local best="" used status=0 i
	for ((i = 0; i < $4; i++)); do
		"$out/usage" "$work/used" "${@:5}" > "$work/output" 2> "$work/err" || status=$?
		if [ $status -ne 0 ]; then
			printf '%s\t%s\t%s\tnot run\n' "$1" "$2" "$3" >> "$work/rows"
			echo "reading.sh: $2: exit status $status: $(tail -n 1 "$work/err")" >&2
			return
		fi
		used=$(cat "$work/used")
		best=$(printf '%s\n%s\n' "$best" "$used" | grep . | sort -n | head -n 1)
	done
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$best" >> "$work/rows"
}

# skip TRACE READER RECORDS WHY
skip() {
	printf '%s\t%s\t%s\tnot run\n' "$1" "$2" "$3" >> "$work/rows"
	echo "reading.sh: $2: $4" >&2
}

# --all means something once there is more than the summary.
reports=$("$cudatrace" report --list 2>/dev/null | grep -c '^[ ]*[a-z]' || true)
has_all=$("$cudatrace" report --help | grep -c -e ' --all' || true)

for trace in "1 thread:1" "16 threads:16" "8 threads, 8 CPUs:8 module"; do
	name=${trace%:*}
	dir=$work/trace
	# shellcheck disable=SC2086 # THREADS [module]
	count=$("$out/make_reading" "$dir" "$records" ${trace#*:})
	# Writes the metadata.  What it prints is checked, or something else would be measured.
	"$cudatrace" report --top 1 "$dir" > "$work/summary" 2> /dev/null
	grep -q "^trace  *$(sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta' <<< "$count") records" "$work/summary" ||
		{ echo "reading.sh: the summary does not say $count records" >&2; exit 1; }
	row "$name" "report" "$count" "$rounds" "$cudatrace" report "$dir"
	if [ "$has_all" -gt 0 ] && [ "$reports" -gt 1 ]; then
		row "$name" "report --all" "$count" "$rounds" "$cudatrace" report --all "$dir"
	else
		skip "$name" "report --all" "$count" "there are no reports but the summary"
	fi
	if command -v babeltrace2 > /dev/null; then
		row "$name" "babeltrace2, counts" "$count" 1 babeltrace2 "$dir" -c sink.utils.counter
	else
		skip "$name" "babeltrace2, counts" "$count" "there is no babeltrace2"
	fi
	rm -rf "$dir"
done

# One row a record: what the summary needs of it.
count=$("$out/make_reading" "$dir" $((records / 10)) 1)
if command -v sqlite3 > /dev/null && command -v jq > /dev/null; then
	"$cudatrace" export "$dir" 2> /dev/null |
		jq -r 'select(.phase != "B") | [.ts, .pid, .tid, .type, .name, .duration_us] | @csv' > "$work/csv"
	cat > "$work/sql" <<- SQL
		CREATE TABLE records(ts INTEGER, pid INTEGER, tid INTEGER, type TEXT, name TEXT, duration_us REAL);
		.import --csv $work/csv records
		SELECT count(*) FROM records;
		SELECT type, name, count(*), sum(duration_us) FROM records GROUP BY type, name;
	SQL
	row "1 thread" "sqlite3, imports" "$count" 1 sqlite3 "$work/db" ".read $work/sql"
	[ "$(head -n 1 "$work/output")" = "$count" ] ||
		{ echo "reading.sh: sqlite3 does not count $count records" >&2; exit 1; }
else
	skip "1 thread" "sqlite3, imports" "$count" "there is no sqlite3 or no jq"
fi

awk -F '\t' -v tsv="$out/reading.tsv" '
	BEGIN {
		print "trace\treader\trecords\tseconds\tcpu_seconds\trecords_per_second\tpeak_mib" > tsv
		printf "%-18s %-20s %11s %8s %8s %12s %9s\n", "reading a trace", "", "records",
			"seconds", "CPU s", "records/s", "peak MiB"
	}
	$4 == "not run" {
		printf "%-18s %-20s %11d %8s\n", $1, $2, $3, "not run"
		print $1 "\t" $2 "\t" $3 "\tnot run\t\t\t" > tsv
		next
	}
	{
		split($4, used, " ")
		rate = used[1] > 0 ? $3 / used[1] : 0
		printf "%-18s %-20s %11d %8.2f %8.2f %12d %9.1f\n", $1, $2, $3, used[1], used[2],
			rate, used[3] / 1024
		printf "%s\t%s\t%d\t%s\t%s\t%d\t%.1f\n", $1, $2, $3, used[1], used[2], rate,
			used[3] / 1024 > tsv
	}' "$work/rows"
! awk -F '\t' '$4 == "not run" && $2 == "report"' "$work/rows" | grep -q .
