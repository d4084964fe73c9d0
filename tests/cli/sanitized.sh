# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The command built with the sanitizers reads small traces of each kind, by every command, and says
# what the command says whose numbers the other tests judge.  Sourced by run.sh.

# both_say WORD...: the two commands print the same with these words, and end alike.  What differs
# is told; $both_bad counts.
both_say()
{
	local want said=$work/sanitized.plain
	"$plain" "$@" >"$said" 2>"$work/sanitized.plain.err" </dev/null
	want=$?
	"$ct" "$@" >"$work/sanitized.out" 2>"$work/sanitized.err" </dev/null
	[ $? = $want ] && cmp -s "$work/sanitized.out" "$said" && cmp -s "$work/sanitized.err" "$work/sanitized.plain.err" && return
	echo "# $*"
	diff "$work/sanitized.err" "$work/sanitized.plain.err" | head -n 5
	diff "$work/sanitized.out" "$said" | head -n 5
	both_bad=$((both_bad + 1))
}

# both_read DIR: every report in every format, and all other commands
both_read()
{
	local format call calls
	for format in table csv tsv json; do
		both_say report --format $format --all cuda_api_trace cuda_gpu_trace "$1"
	done
	both_say report --sort Name --top 3 cuda_api_sum cuda_api_trace "$1"
	both_say report --from steady --to steady --all "$1"
	both_say report --name 'cu*' --type sync cuda_api_sum sync gaps "$1"
	both_say explain --top 0 "$1"
	both_say explain --format json "$1"
	both_say explain --slowest 3 "$1"
	both_say explain --at 2 "$1"
	calls=$("$plain" explain --slowest 2 --format json "$1" 2>/dev/null | jq -r '.call_tree[]? | select(.Depth == 0) | ."Op ID"')
	for call in 1 $calls; do
		both_say explain --call "$call" "$1"
	done
	both_say diff "$1" "$work/basic"
	both_say diff --format json "$1" "$1"
	both_say timeline -w 100 "$1"
	both_say top --views 1 "$1"
}

t_sanitized()
{
	local both_bad name dir dirs=()
	for name in guest-flight guest-cuinit inference basic begin open left ties files both objects gpu deep layers steps memory; do
		dirs+=("$(trace "$name")")
	done
	for name in idle overlap devices graphs nodes unjoined stopped two ahead; do
		gpu_trace $name
		dirs+=("$g")
	done
	unpack_real
	dirs+=("$work/data/off_cpu" "$work/data/shared_gpu" "$work/data/lazy_loading-mended")
	for dir in "${dirs[@]}"; do
		both_bad=0
		both_read "$dir"
		is $both_bad 0 "${dir##*/}: the command with the sanitizers says the same as the one without"
	done
}

# A report needs no other one beside it: by itself it has the rows that it has among all.
t_sanitized_alone()
{
	local name report differ
	for name in guest-flight inference gpu; do
		every_report "$name"
		differ=
		for report in $("$plain" report --list | awk '{ print $1 }'); do
			whole_report "$name" "$report"
			"$ct" report --from start --format csv "$report" "$(trace "$name")" >"$work/alone.csv" 2>"$work/alone.notes"
			cmp -s "$work/alone.csv" "$work/data/$name.$report.csv" && cmp -s "$work/alone.notes" "$work/data/$name.$report.notes" ||
				differ="$differ $report"
		done
		is "$differ" "" "$name: each report by itself is the one among all"
	done
}
