# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Several traces as one.  The "hosts" are made of one real recording of two ranks: one rank's clock is
# shifted, so what the fit must find is known.  Sourced by run.sh.

# ranks_trace NAME: the kept trace of two ranks, below $work/ranks
ranks_trace()
{
	mkdir -p "$work/ranks"
	[ -e "$work/ranks/$1" ] || tar -xJf "tests/data/ranks/$1.tar.xz" -C "$work/ranks"
	echo "$work/ranks/$1"
}

# two_hosts NAME PIDS PIDS CLOCK...: $work/hosts/NAME/node-a and node-b, each with some of the processes
two_hosts()
{
	local d=$work/hosts/$1 from
	from=$(ranks_trace "$1")
	[ ! -e "$d" ] || return 0
	mkdir -p "$d"
	"$b/make_hosts" "$from" "$d/node-a" pids="$2" host=node-a &&
		"$b/make_hosts" "$from" "$d/node-b" pids="$3" host=node-b "${@:4}"
}


t_hosts()
{
	local d=$work/hosts/sleep one fit

	# 3 s ahead and 20 ppm fast, and CLOCK_REALTIME 4 ms wrong: as where NTP does its best.
	two_hosts sleep 735,751 752 ahead=3000000000 ppm=20 wall=4000000
	one=$work/ranks/sleep
	read -r -a fit <<<"$("$b/make_hosts" fit "$d/node-a" "$d/node-b" ahead=3000000000 ppm=20)"
	echo "# the fitted clock is wrong by ${fit[0]} ns at most, it says ${fit[1]} ns; ${fit[2]} ns far from collectives"
	[ "${fit[0]}" -le 5000 ] && [ "${fit[1]}" -le 5000 ]
	ok $? "a clock of another host is fitted back to within 5 us" || echo "# ${fit[*]}"
	[ "${fit[0]}" -le "${fit[1]}" ]
	ok $? "... and is not wrong by more than it says"
	two_hosts bandwidth 798,814 815 ahead=-7000000000 ppm=-35 wall=-20000000
	read -r -a fit <<<"$("$b/make_hosts" fit "$work/hosts/bandwidth/node-a" "$work/hosts/bandwidth/node-b" ahead=-7000000000 ppm=-35)"
	[ "${fit[0]}" -le 5000 ] && [ "${fit[1]}" -le 5000 ]
	ok $? "one that is behind and slow, too" || echo "# ${fit[*]}"

	"$plain" report --format json ranks "$d/node-a" "$d/node-b" 2>"$d.err" >"$d.ranks"
	grep -q '^cudatrace: node-b: clock fitted to the ends of [0-9]* collectives .*exact to .* us: offset -3.000 s, drift 2[01].[0-9]* ppm$' "$d.err"
	ok $? "how exact the clocks are is said" || cat "$d.err"
	is "$(jq -c 'map([.Rank, .Pid, .Process])' "$d.ranks")" '[[0,751,"python@node-a"],[1,10000752,"python@node-b"]]' \
		"processes are named with their host"
	"$plain" report --format json ranks "$one" 2>/dev/null >"$d.one"
	jq -e -n --slurpfile a "$d.ranks" --slurpfile b "$d.one" '[range(2) as $i | ("Waiting (ns/step)", "Moving (ns/step)", "Compute (ns/step)",
		"Makes Others Wait (ns/step)", "Application (ns/step)") as $k | ($a[0][$i][$k] - $b[0][$i][$k]) | fabs] | max < 20000' >/dev/null
	ok $? "the ranks' figures are those of the recording as a whole, but for the clocks' uncertainty" || cat "$d.ranks" "$d.one"
	"$plain" explain "$d" 2>/dev/null | grep -q 'Rank 1 (node-b) makes 1 other rank wait for 3[23]\.'
	ok $? "a folder of traces is one; explain names the rank of the other host"
	"$plain" explain "$d" 2>/dev/null | grep -q 'rank 1 (python@node-b 10000752'
	ok $? "... with its host"

	# All else is the sum of both.
	for report in cuda_api_sum cuda_gpu_kern_sum memory; do
		"$plain" report --format csv --from start --top 0 "$report" "$d" 2>/dev/null | cut -d, -f2-4 | LC_ALL=C sort >"$d.both"
		"$plain" report --format csv --from start --top 0 "$report" "$one" 2>/dev/null | cut -d, -f2-4 | LC_ALL=C sort >"$d.whole"
		# Names are equal, and numbers; times on the other host's clock differ by 20 ppm.
		is "$(wc -l <"$d.both")" "$(wc -l <"$d.whole")" "$report has as many rows"
	done
	is "$("$plain" report --format json --from start --top 0 cuda_api_sum "$d" 2>/dev/null | jq -S -c 'map({(.Name): ."Num Calls"}) | add' | cksum)" \
		"$("$plain" report --format json --from start --top 0 cuda_api_sum "$one" 2>/dev/null | jq -S -c 'map({(.Name): ."Num Calls"}) | add' | cksum)" \
		"each function has as many calls"
	is "$("$plain" report --format json --from start --top 0 cuda_gpu_kern_sum "$d" 2>/dev/null | jq -S -c 'map({(.Name): .Instances}) | add' | cksum)" \
		"$("$plain" report --format json --from start --top 0 cuda_gpu_kern_sum "$one" 2>/dev/null | jq -S -c 'map({(.Name): .Instances}) | add' | cksum)" \
		"each kernel as many launches"
	is "$("$plain" report --format json --from start --top 0 lines "$d" 2>/dev/null | jq '[.[].Line] | sort' | cksum)" \
		"$("$plain" report --format json --from start --top 0 lines "$one" 2>/dev/null | jq '[.[].Line] | sort' | cksum)" \
		"the program's lines are those of the recording"
	"$plain" export "$d/node-a" "$d/node-b" 2>/dev/null | awk '
		match($0, /"ts_ns":[0-9]+/) { t = substr($0, RSTART + 8, RLENGTH - 8) + 0; if (t < last) bad++; last = t; n++ }
		/"phase":"B"/ { b++ } /"phase":"E"/ { e++ }
		END { print (bad + 0) " " (n > 100000) " " (b == e) }' >"$d.order"
	is "$(cat "$d.order")" "0 1 1" "exported in the order of time, each call with its end"

	# One folder.
	"$plain" merge -o "$d-merged" "$d/node-b" "$d/node-a" 2>/dev/null
	ok $? "merge"
	is "$(ls "$d-merged" | paste -sd ' ')" "node-a node-b" "... makes a folder for each host"
	cmp -s <("$plain" report ranks "$d-merged" 2>/dev/null) <("$plain" report ranks "$d" 2>/dev/null)
	ok $? "... which is read as the traces are"
	"$plain" merge -o "$d-merged" "$d/node-b" "$d/node-a" >/dev/null 2>&1
	is $? 1 "... and writes into none that is there"
	"$plain" merge -o "$d-other" "$d/node-b" >/dev/null 2>&1
	is $? 1 "... nor of one trace"
	"$plain" diff --format json "$d" "$d-merged" 2>/dev/null | jq -e '[.. | objects | ."Effect (ns)" | numbers] | all(.[]; . == 0)' >/dev/null
	ok $? "diff of both: no change"
}

# Where clocks are only guessed nothing is said of who waits for whom; that a rank did not come is.
t_hosts_guessed()
{
	local d=$work/hosts/hang

	two_hosts hang 1121,1141 1142 ahead=-50000000 wall=3000000
	"$ct" report ranks "$d/node-a" "$d/node-b" >"$d.ranks" 2>"$d.err"
	grep -q 'node-b: clock guessed by CLOCK_REALTIME: there are no 8 collectives' "$d.err"
	ok $? "a clock that is only guessed is said to be" || cat "$d.err"
	"$ct" explain "$d" 2>/dev/null >"$d.explain"
	grep -q 'was never complete: rank 1 did not call it' "$d.explain"
	ok $? "a hang of two hosts is found all the same"
	grep -q 'makes .* wait' "$d.explain"
	is $? 1 "... and nothing is said of who waits"

	# Traces of one host that were recorded one by one have one clock.
	mkdir -p "$work/hosts/one"
	"$b/make_hosts" "$(ranks_trace hang)" "$work/hosts/one/first" pids=1121,1141
	"$b/make_hosts" "$(ranks_trace hang)" "$work/hosts/one/second" pids=1142
	"$ct" report --format json ranks "$work/hosts/one" 2>"$d.err" | jq -c 'map(.Process)' >"$d.ranks"
	is "$(cat "$d.ranks")" '["python@first","python@second"]' "traces of one host are called as their folders are"
	grep -q clock "$d.err"
	is $? 1 "... and have one clock" || cat "$d.err"
	# The second was recorded before the first one's machine was started.
	is "$("$ct" report --format csv summary "$(trace guest-two)" "$(trace train)" 2>/dev/null | awk -F, '$1 == "duration" { print ($2 > 900e9 && $2 < 1100e9 ? "right" : $2) }')" right "a trace from before the other clock was 0"
}

# What is known of these: a rank that sleeps no more, one whose kernels take 4 times as long, made of one recording.
t_hosts_diff()
{
	local d=$work/hosts-diff one

	mkdir -p "$d"
	one=$(ranks_trace sleep)
	"$b/make_hosts" "$one" "$d/awake" late=752:-28000000
	"$b/make_hosts" "$d/awake" "$d/slow" slow=752:4
	"$plain" diff "$d/awake" "$one" >"$d/sleep.txt" 2>/dev/null
	grep -q 'Rank 1 makes the others wait for 30\.[0-9]* ms more in a step than before: it spends 34\.[0-9]* ms in the application, before 6\.' \
		<(tr -s ' \n' ' ' <"$d/sleep.txt")
	ok $? "diff names the rank that sleeps, and not the one that waits" || head -n 12 "$d/sleep.txt"
	is "$("$plain" diff --format json "$d/awake" "$one" 2>/dev/null | jq -c '[.diff_ranks | map(.Verdict), .[1]."Pid B"]')" \
		'[["waits more","makes others wait"],752]' "... in the table of ranks"
	is "$("$plain" diff --format json "$d/awake" "$one" 2>/dev/null | jq -r '.diff_functions[0].Name')" "(application, between calls)" \
		"the other tables are of that rank"
	is "$("$plain" diff --format json "$one" "$d/awake" 2>/dev/null | jq -c '.diff_ranks | map(.Verdict)')" \
		'["waits less","makes others wait less"]' "the other way round it is mended"
	is "$("$plain" diff --format json "$one" "$one" 2>/dev/null | jq -c '.diff_ranks | map(.Verdict)')" '["same","same"]' \
		"with itself no rank differs"
	"$plain" diff "$d/awake" "$d/slow" 2>/dev/null | tr -s ' \n' ' ' |
		grep -q 'Rank 1 makes the others wait for 7[0-9]*\.[0-9]* us more in a step than before: it spends 1\.[34][0-9]* ms in kernels of its GPU, before 6[67]'
	ok $? "kernels that take longer on one rank's GPU are named"
	is "$("$plain" diff --format json "$d/awake" "$one" 2>/dev/null | jq -c '[.diff_processes[].Process]')" \
		'["python torchrun","rank 0: python","rank 1: python"]' "a rank is compared with the same rank"
}

# Without records of the GPU a bound of what ranks wait at most is no finding.
t_hosts_unmeasured()
{
	local d=$work/hosts-unmeasured one name

	mkdir -p "$d"
	one=$(ranks_trace sleep)
	# It comes as early as the other one makes possible: as in a job without a problem.
	"$b/make_hosts" "$one" "$d/healthy" late=752:-40000000
	"$plain" explain "$d/healthy" 2>/dev/null | grep -q 'No rank makes another wait for more than 5 %'
	ok $? "with records of the GPU no rank is late in a job without a problem"
	cp -r "$one" "$d/asleep"
	for name in healthy asleep; do
		rm "$d/$name"/g-*
		"$plain" explain "$d/$name" 2>/dev/null >"$d/$name.txt"
		tr -s ' \n' ' ' <"$d/$name.txt" | grep -q 'Whether ranks wait for each other is not known without records of the GPU .* rank 1 comes last to 100 % of the collectives, [0-9.]* [mu]s after the first one (median); rank 0 waits for at most [0-9.]* % .* and may not wait at all\.'
		ok $? "without them, $name: what is known is said, and what is not" || head -n 8 "$d/$name.txt"
		grep -q -e 'makes .* wait' -e late-rank "$d/$name.txt"
		is $? 1 "... and nobody is blamed"
	done
}

t_hosts_stuck()
{
	local d
	d=$(ranks_trace hang)
	"$plain" top --top 3 "$d" 2>/dev/null | grep -q '^STUCK: AllReduce 44 of communicator 4576: rank 1 has not called it 52\.5[0-9]* s after rank 0$'
	ok $? "top names the collective that waits, and the rank that has not called it"
	"$plain" top --top 3 --stuck 60 "$d" 2>/dev/null | grep -q STUCK
	is $? 1 "... not below its limit"
	"$plain" top --stuck 0.001 "$(ranks_trace sleep)" 2>/dev/null | grep -q STUCK
	is $? 1 "... nor where all ranks came"
}
