# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The command built with the sanitizers reads small traces of each kind, by every command, and says
# what the command says whose numbers the other tests judge.  Sourced by run.sh.

# both_say WORD...: both_now runs the two commands with these words.
both_say()
{
	local IFS=$tab
	echo "$*" >>"$work/sanitized.lines"
}

# both_now: the two commands print the same with each of these words, and end alike.  What differs is
# told; $both_bad counts.
both_now()
{
	local n line a=$work/sanitized.said b_said=$work/sanitized.plain
	rm -rf "$a" "$b_said"
	mkdir "$a" "$b_said"
	"$b/many" "$a" <"$work/sanitized.lines" >"$a/status"
	"$b/many" "$b_said" "$plain" <"$work/sanitized.lines" >"$b_said/status"
	[ "$(wc -l <"$a/status")" = "$(wc -l <"$work/sanitized.lines")" ] || { echo "# not all commands ended"; both_bad=$((both_bad + 1)); }
	diff -rq "$a" "$b_said" >"$work/sanitized.diff" || {
		both_bad=$((both_bad + $(wc -l <"$work/sanitized.diff")))
		diff "$a/status" "$b_said/status"
		for n in $(sed -n 's,^Files .*/\([0-9]*\)\.[a-z]* and .*,\1,p' "$work/sanitized.diff" | sort -nu | head -n 3); do
			line=$(sed -n "${n}p" "$work/sanitized.lines")
			echo "# ${line//"$tab"/ }"
			diff "$a/$n.err" "$b_said/$n.err" | head -n 5
			diff "$a/$n.out" "$b_said/$n.out" | head -n 5
		done
	}
	rm -rf "$a" "$b_said" "$work/sanitized.lines"
}

# both_read DIR: every report in every format, and all other commands
both_read()
{
	local format call calls formats="table csv json"
	# Of csv it differs by a character.
	[ -z "$full" ] && [[ $1 != */guest-flight && $1 != */basic && $1 != */gpu ]] || formats="$formats tsv"
	for format in $formats; do
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
	both_now
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
	local name report reports n differ out=$work/alone
	mapfile -t reports < <("$plain" report --list | awk '{ print $1 }')
	for name in guest-flight inference gpu; do
		every_report "$name"
		differ=
		rm -rf "$out"
		mkdir "$out"
		for report in "${reports[@]}"; do
			whole_report "$name" "$report"
			printf 'report\t--from\tstart\t--format\tcsv\t%s\t%s\n' "$report" "$(trace "$name")"
		done | "$b/many" "$out" >"$out/status"
		n=0
		for report in "${reports[@]}"; do
			n=$((n + 1))
			cmp -s "$out/$n.out" "$work/data/$name.$report.csv" && cmp -s "$out/$n.err" "$work/data/$name.$report.notes" ||
				differ="$differ $report"
		done
		is "$differ,$(grep -c ' 0$' "$out/status")" ",${#reports[@]}" "$name: each report by itself is the one among all"
	done
}
