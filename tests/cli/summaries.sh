# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Summaries of traces in place of the traces.  The job of 1,024 ranks is generated: it is the recording of two
# ranks, copied and shifted, so that it is known who is late.  Sourced by run.sh.

# summary_of NAME: of the kept trace, below $work/summaries
summary_of()
{
	local d=$work/summaries
	mkdir -p "$d"
	[ -e "$d/$1.summary" ] || "$plain" summarize -q -o "$d/$1.summary" "$(ranks_trace "$1")" 2>/dev/null
	echo "$d/$1.summary"
}

# many_ranks SUMMARY DIR RANKS LATE: of 8 ranks a host; each is rank 0 of the recording but LATE, which is its rank 1
many_ranks()
{
	mkdir -p "$2"
	awk -v dir="$2" -v ranks="$3" -v late="$4" '
	function random(most) { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 2147483648 * most) }
	BEGIN { rows = shapes = 0 }
	$1 == "clock" { start = $2; wall = $3; end = $4 }
	$1 == "process" { n++; from[n] = $5; to[n] = $6 }
	$1 == "sum" { sums[n] = sums[n] $0 "\n" }
	$1 == "step" { steps[n]++; step[n, steps[n]] = $2; took[n, steps[n]] = $3 }
	$1 == "communicator" { id = $2 }
	$1 == "row" { of[rows++] = $2 + 1 }
	$1 == "shape" { made[shapes] = of[$2]; sub(/^shape [0-9]+/, ""); text[shapes++] = $0 }
	$1 == "call" || $1 == "same" {
		at += $3; p = made[$2]; calls[p]++; i = calls[p]
		shape[p, i] = $2; begin[p, i] = at; long[p, i] = $4; after[p, i] = $5; gpu[p, i] = $6; more[p, i] = $7
	}
	END {
		seed = 1
		for (host = 0; host * 8 < ranks; host++) {
			file = dir "/node-" sprintf("%03d", host) ".summary"
			shift = host ? random(2000000000) : 0	# of its clock; CLOCK_REALTIME is wrong by up to 4 ms
			print "cudatrace summary 1\nhost node-" host > file
			print "clock", sprintf("%.0f", start + shift + (host ? random(4000000) : 0)), wall, sprintf("%.0f", end + shift) > file
			print "records 1000 0\ngpu 1 0\nstride 1" > file
			for (rank = host * 8; rank < host * 8 + 8 && rank < ranks; rank++) {
				p = rank == late ? 2 : 1
				printf "process %d %d %d %.0f %.0f python\n%s", 1000 + rank, rank, rank % 8, from[p] + shift, to[p] + shift, sums[p] > file
				for (i = 1; i <= steps[p]; i++)
					printf "step %.0f %d\n", step[p, i] + shift, took[p, i] > file
			}
			print "communicator", id, ranks, 0, 0 > file
			lines = last = count = 0
			for (rank = host * 8; rank < host * 8 + 8 && rank < ranks; rank++) {
				p = rank == late ? 2 : 1
				print "row", rank % 8, 0, rank > file
				for (s = 0; s < shapes; s++)
					if (made[s] == p) {
						print "shape " (rank % 8) text[s] > file
						number[s] = lines++
					}
				jitter = random(2000)
				for (i = 1; i <= calls[p]; i++)
					list[count++] = sprintf("%.0f %d %d %d %d%s", begin[p, i] + shift + jitter, number[shape[p, i]], long[p, i],
						after[p, i], gpu[p, i] - jitter, more[p, i] == "" ? "" : " " more[p, i])
			}
			close(file)
			sorter = "LC_ALL=C sort -s -n -k1,1"
			sorted = file ".sorted"
			for (i = 0; i < count; i++)
				print list[i] | (sorter " > " sorted)
			close(sorter " > " sorted)
			while ((getline line < sorted) > 0) {
				split(line, f, " ")
				printf "call %d %.0f %d %d %d%s\n", f[2], f[1] - last, f[3], f[4], f[5], f[6] == "" ? "" : " " f[6] >> file
				last = f[1]
			}
			close(sorted)
			print "calls", count >> file
			close(file)
			system("rm " sorted)
		}
	}' "$1"
}

t_summaries()
{
	local d=$work/summaries name report

	mkdir -p "$d"

	# What a summary says is what its trace says.
	for name in sleep bandwidth hang; do
		summary_of "$name" >/dev/null
		for report in ranks collectives_sum collectives; do
			cmp -s <("$plain" report --format csv --top 0 "$report" "$(ranks_trace "$name")" 2>/dev/null) \
				<("$ct" report --format csv --top 0 "$report" "$(summary_of "$name")" 2>/dev/null)
			ok $? "$report of the summary of $name is that of its trace"
		done
	done
	is "$("$plain" report --format json ranks "$(ranks_trace sleep)" 2>/dev/null | jq -c 'map([.Pid, ."Peak Memory (bytes)"])')" \
		"$("$plain" report --format json --from start memory "$(ranks_trace sleep)" 2>/dev/null | jq -c '[.memory_processes[] | select(.Kind == "gpu") | [.Pid, ."Peak (bytes)"]]')" \
		"a rank's memory is that of report memory"
	is "$("$plain" explain --format json "$(summary_of hang)" 2>/dev/null | jq -r '.verdict[0].Verdict')" \
		"$("$plain" report summary "$(ranks_trace hang)" 2>/dev/null | tr -s ' \n' ' ' | sed -n 's/.* job \(AllReduce.*\) verdict .*/\1/p' |
			sed 's/, its last ioctl is [A-Z0-9_ ]*, [0-9.]* m*s before the end//g')" \
		"a hang is told by the summary as by the trace"
	"$plain" explain "$(summary_of sleep)" 2>/dev/null | tr -s ' \n' ' ' |
		grep -q 'Rank 1 makes 1 other rank wait for 32\.[0-9]* ms in each iteration (86\.[0-9] %): in a step it spends 34\.85 ms in the application, the other 3\.89 ms'
	ok $? "... and who waits for whom, and why"
	# The first steps of two ranks are far longer than those of the others, whose steps are as long as theirs from then on.
	xz -dc tests/data/ranks/mesh_sleep.summary.xz >"$d/mesh_sleep.summary"
	"$plain" explain "$d/mesh_sleep.summary" 2>/dev/null | tr -s ' \n' ' ' |
		grep -q 'job, 4 ranks recorded Rank 1 makes 2 other ranks wait for 31\.[0-9]* ms in each iteration (67\.[0-9] %, the one that waits most): in a step it spends 32\.75 ms'
	ok $? "... of a mesh of ranks, too, with long first steps"
	for name in sleep bandwidth hang; do
		"$plain" summarize -f -o "$d/again" "$(ranks_trace "$name")" 2>&1 |
			grep -Eq '\(([0-9]{1,3} B|[12]\.[0-9]+ KiB) a rank and step|: 2 ranks, 0 steps, [0-9.]+ KiB$'
		ok $? "at most 3 KB of $name for a rank and step"
	done
	cmp -s "$d/again" "$(summary_of hang)"
	ok $? "-f replaces a file"
	"$plain" summarize -o "$d/again" "$(ranks_trace hang)" 2>/dev/null
	is $? 1 "... which stays otherwise"
	"$plain" summarize -o "$d/none" "$t" 2>"$d/err"
	is "$? $([ -e "$d/none" ] && echo there) $(grep -c 'no rank called a collective' "$d/err")" "1  1" "of a trace without ranks there is none"

	# Fewer calls: figures are those of all of them, nearly.
	"$plain" summarize -q --step 300 -o "$d/few.summary" "$(ranks_trace sleep)" 2>/dev/null
	"$plain" explain "$d/few.summary" 2>/dev/null | tr -s ' \n' ' ' >"$d/few.txt"
	grep -q 'Rank 1 makes 1 other rank wait for [23][0-9]\.[0-9]* ms in each iteration .* Each 2nd collective was kept' "$d/few.txt"
	ok $? "where not all calls have room, each second one is judged" || cat "$d/few.txt"
	"$plain" summarize -q --step 64 -o "$d/hang.few" "$(ranks_trace hang)" 2>/dev/null
	"$plain" explain "$d/hang.few" 2>/dev/null | grep -q 'AllReduce 44 .* was never complete: rank 1 did not call it'
	ok $? "... and the last of them are there: a hang is found"

	# What takes no summary says so.
	"$plain" report cuda_api_sum "$(summary_of sleep)" 2>"$d/err"
	is "$? $(cat "$d/err")" "64 cudatrace: cuda_api_sum is not made of summaries: ranks, collectives_sum and collectives are" "other reports need the trace"
	"$plain" export "$(summary_of sleep)" >/dev/null 2>"$d/err"
	is "$? $(grep -c 'a summary, which report ranks' "$d/err")" "64 1" "... and so do other commands"
	"$plain" report ranks "$(summary_of sleep)" "$(ranks_trace hang)" 2>"$d/err"
	is "$? $(grep -c 'no summary, as others are' "$d/err")" "64 1" "summaries and traces do not mix"
	"$plain" report --pid 751 ranks "$(summary_of sleep)" 2>/dev/null
	is $? 64 "... and they have no part of the time, or of the processes"

	# Of two hosts, with the clocks as of their traces.
	two_hosts sleep 735,751 752 ahead=3000000000 ppm=20 wall=4000000
	mkdir -p "$d/two"
	for name in node-a node-b; do
		"$plain" summarize -q -f -o "$d/two/$name.summary" "$work/hosts/sleep/$name" 2>/dev/null
	done
	"$ct" report --format json ranks "$d/two" 2>"$d/err" >"$d/two.json"
	grep -q '^cudatrace: node-b: clock fitted to the ends of [0-9]* collectives .*exact to .* us: offset -3.000 s, drift 2[01].[0-9]* ppm$' "$d/err"
	ok $? "clocks of summaries are fitted" || cat "$d/err"
	"$plain" report --format json ranks "$work/hosts/sleep/node-a" "$work/hosts/sleep/node-b" 2>/dev/null >"$d/of-traces.json"
	# But the number of the GPU, which is that on its host; sums are by the clock of the host, which is 20 ppm fast.
	jq -e -n --slurpfile a "$d/two.json" --slurpfile b "$d/of-traces.json" '[range(2) as $i | $a[0][$i] | to_entries[] |
		select(.key != "GPU") | .value as $x | $b[0][$i][.key] as $y |
		if $x | type == "number" then ($x - $y | fabs) <= 0.001 * ($y | fabs) else $x == $y end] | length > 20 and all' >/dev/null
	ok $? "... and the ranks' figures are those of the traces" || cat "$d/two.json" "$d/of-traces.json"
	"$plain" explain "$d/two" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'Rank 1 (node-b) makes 1 other rank wait for 3[23]\.[0-9]* ms in each iteration'
	ok $? "... what each trace alone could not say"
}

t_summaries_hostile()
{
	local d=$work/summaries from bad=0 line
	from=$(summary_of sleep)

	for line in 1 2 3 4 5 6 7 9 20 30 72 73 74 80 100 200 400; do
		head -n "$line" "$from" >"$d/cut"
		"$ct" report ranks "$d/cut" >/dev/null 2>"$d/err"
		[ $? = 1 ] && [ "$(wc -l <"$d/err")" = 1 ] || { bad=1; echo "# cut at $line: $(cat "$d/err")"; }
	done
	is $bad 0 "a summary that is cut short is told in one line"
	for line in 99999999999999999999 -1 18446744073709551615 4611686018427387904 x; do
		for field in 2 3 4 5 6; do
			for what in process sum step row shape call clock next communicator doing; do
				awk -v what="$what" -v field="$field" -v value="$line" '$1 == what && !done && NF >= field { $field = value; done = 1 } 1' "$from" >"$d/bent"
				"$ct" report collectives ranks "$d/bent" >/dev/null 2>"$d/err"
				[ $? -le 1 ] && [ "$(grep -c -v '^cudatrace: ' "$d/err")" = 0 ] || { bad=1; echo "# $what, field $field: $line: $(head -n 3 "$d/err")"; }
			done
		done
	done
	is $bad 0 "numbers that nobody writes do no harm"
}

# 128 hosts of 8 ranks.
t_summaries_many()
{
	local d=$work/summaries/many

	many_ranks "$(summary_of sleep)" "$d" 1024 777
	is "$(find "$d" -name '*.summary' | wc -l)" 128 "a job of 1,024 ranks is generated"
	"$ct" explain "$d" >"$d.txt" 2>"$d.err"
	tr -s ' \n' ' ' <"$d.txt" | grep -q 'job, 1024 ranks recorded Rank 777 (node-97) makes 1023 other ranks wait for 3[12]\.[0-9]* ms in each iteration (8[56]\.[0-9] %, the one that waits most): in a step it spends 34\.85 ms in the application, the others 3\.89 ms'
	ok $? "explain names the rank that is late, of 1,024, and why" || head -n 12 "$d.txt"
	is "$(grep -c '^cudatrace: node-[0-9]*: clock fitted' "$d.err") $(grep -c 'and 123 more hosts' "$d.err")" "4 1" "the clocks of its hosts are fitted" || cat "$d.err"
	"$plain" report --format json ranks "$d" 2>"$d.err" >"$d.json"
	is "$(jq -c '[length, ([.[] | select(."Came Last (%)" > 50) | .Rank]), ([.[]."Clock Uncertainty (ns)" | numbers] | max < 100000)]' "$d.json")" \
		'[1024,[777],true]' "report ranks has a row for each, and the late one came last"
	# Without the late one nobody is named.
	many_ranks "$(summary_of sleep)" "$d-fine" 64 -1
	"$plain" explain "$d-fine" 2>/dev/null | grep -q 'No rank makes another wait for more than 5 %'
	ok $? "where no rank is late none is named"
}

# Two runs of a job, of which only summaries are there.
t_summaries_diff()
{
	local d=$work/summaries/diff one

	one=$(ranks_trace sleep)
	mkdir -p "$d"
	"$b/make_hosts" "$one" "$d/awake" late=752:-28000000
	"$plain" summarize -q -f -o "$d/awake.summary" "$d/awake" 2>/dev/null
	"$ct" diff "$d/awake.summary" "$(summary_of sleep)" >"$d/sleep.txt" 2>/dev/null
	is "$? $(tr -s ' \n' ' ' <"$d/sleep.txt" | grep -c 'Rank 1 makes the others wait for 30\.[0-9]* ms more in a step than before: it spends 34\.[0-9]* ms in the application, before 6\.')" \
		"0 1" "diff of summaries names the rank that sleeps" || cat "$d/sleep.txt"
	is "$("$plain" diff --format json "$d/awake.summary" "$(summary_of sleep)" 2>/dev/null | jq -S -c .diff_ranks)" \
		"$("$plain" diff --format json "$d/awake" "$one" 2>/dev/null | jq -S -c .diff_ranks)" "... its table is that of the traces"
	"$plain" diff "$d/awake.summary" "$d/awake.summary" 2>/dev/null | grep -q 'No rank makes the others wait for more'
	ok $? "... with itself no rank differs"
	"$plain" diff "$d/awake.summary" "$one" >/dev/null 2>"$d/err"
	is "$? $(grep -c 'is a summary, .* is none' "$d/err")" "64 1" "a summary is not compared with a trace"
	"$plain" diff --fail-above 5 "$d/awake.summary" "$(summary_of sleep)" >/dev/null 2>&1
	is $? 64 "... and says nothing of noise"
	many_ranks "$(summary_of sleep)" "$d/fine" 64 -1
	many_ranks "$(summary_of sleep)" "$d/late" 64 37
	"$plain" diff --format json "$d/fine" "$d/late" 2>/dev/null >"$d/many.json"
	is "$(jq -c '[.diff_ranks | length, (.[0] | .Rank, .Verdict), (.[1:] | map(.Verdict) | unique)]' "$d/many.json")" \
		'[64,37,"makes others wait",["waits more"]]' "of 64 ranks on 8 hosts the one that became late comes first" || head -c 600 "$d/many.json"
}
