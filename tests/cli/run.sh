#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The command line on synthetic traces, built with the address sanitizer: what is
# read, in which order, what is printed, and what damaged input does.  babeltrace2
# and jq are the judges.  Reports are judged by their numbers, those of the command
# that users have, which is many times faster; t_sanitized compares the two.  Prints TAP.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/judge_trace.sh
. tests/pick.sh
. tests/sizes.sh
# Each t_NAME is a part.  Those of the files beside this one, which only define functions, are
# about reports: they run with --reports, the parts of this file without.
for file in tests/cli/*.sh; do
	[ "$file" = tests/cli/run.sh ] || . "$file"
done
work=$PWD/build/tests/cli${full:+-long}
files=tests/cli/run.sh
if [ "${1:-}" = --reports ]; then
	shift
	work=$PWD/build/tests/reports${full:+-long}
	files=$(find tests/cli -name '*.sh' ! -name run.sh | LC_ALL=C sort)
fi
# shellcheck disable=SC2046,SC2086
choose_parts "$(sed -n 's/^t_\([a-z0-9_]*\)()$/\1/p' $files | paste -sd ' ')" "$@"
b=$PWD/build/cli-dev
rm -rf "$work"
mkdir -p "$work"
# The command prints the same in each; the judges are several times faster in this one.
export LC_ALL=C
# A report of a sanitizer must not look like a status of ours.
export ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1

if ! flock build/.cli-dev.lock make -s -j"$(nproc)" -f tests/cli/build.mk all >"$work/build.log" 2>&1; then
	tail -n 20 "$work/build.log"
	echo "Bail out! the tests of the command line don't build"
	exit 1
fi
ct=$b/cudatrace
plain=$PWD/build/cudatrace

# fact NAME KEY: what the generator says of the trace NAME
fact() { jq ".$2" "$work/$1.facts"; }
# generate NAME: the trace $work/NAME, where it is not there yet
generate()
{
	[ -e "$work/$1" ] || "$b/make_trace" "$1" "$work/$1" >"$work/$1.facts"
}
# lines FILTER FILE: how many lines of JSON a user's jq gives
lines() { grep '^{' "$2" | jq -c "$1" | wc -l; }

# What most of the tests look at: a trace of everything, and its JSON Lines.
generate basic
j=$work/basic.jsonl t=$work/basic
"$ct" export -o "$j" "$t" 2>"$work/basic.err"
basic_status=$?

# What judges every trace (tests/judge_trace.sh): each promise is broken here once, and must be missed.
# lines_of_judges: JSON Lines that keep all promises, and $work/judged.txt, which babeltrace2 could say of them
lines_of_judges()
{
	local id=0 ts=0 op=0 line name type
	for line in cuInit:init cuMemAlloc:'memory","op":"alloc' cuLaunchKernel:'kernel","op":"launch' cuLaunchKernel:'kernel","op":"launch' \
		cuStreamSynchronize:sync nv_ctx_make:kernel; do
		name=${line%%:*} type=${line#*:} op=$((op + 1))
		for phase in B E; do
			id=$((id + 1)) ts=$((ts + op * 1000))
			printf '{"event_id":%d,"ts":0.%06d,"ts_ns":5%09d,"layer":"user","type":"%s","name":"%s","phase":"%s","pid":7,"op_id":%d' \
				$id $ts $ts "$([ $phase = B ] && echo userspace || echo "$type")" "$name" $phase $op
			[ $phase = B ] || printf ',"duration_us":%d%s' $op "$([ $op != 2 ] || echo ',"size":64')"
			echo '}'
		done
		echo "[10:00:00.000000$op] (+0.0) host $name: { cpu_id = 0 }, { op = $op }" >&3
	done 3>"$work/judged.txt"
}

# broken_promise PROMISE COMMAND...: the judge that COMMAND starts misses PROMISE
broken_promise()
{
	local promise=$1
	shift
	("$@") >"$work/judged.tap" 2>&1
	grep -q "^not ok [0-9]* - it: $promise" "$work/judged.tap"
	ok $? "a judge finds out: $promise" || cat "$work/judged.tap"
}

# mutated PROGRAM: what the judge says of the lines that sed's PROGRAM has changed
mutated()
{
	sed -E "$1" "$work/judged-whole" >"$work/judged"
	judge_lines "$work/judged" it "$work/judged.txt"
}

# instead_of_the_command SCRIPT: what judge_trace says of a trace if the command does what SCRIPT does
instead_of_the_command()
{
	local cudatrace=$work/judged.command
	printf '#!/bin/sh\n%s\n' "$1" >"$cudatrace"
	chmod +x "$cudatrace"
	judge_trace "$work/judged-trace" it
}

t_judges()
{
	local promise
	lines_of_judges >"$work/judged-whole"
	(mutated ''; judge_commands "$work/judged" it) >"$work/judged.tap"
	is "$(grep -c '^ok' "$work/judged.tap"),$(grep '^not ok' "$work/judged.tap")" 14, "whole lines keep all promises"
	while read -r program promise; do
		broken_promise "$promise" mutated "$program"
	done <<-'END'
	$s/.*/{garbage/ every line is an object with the common words
	3s/^/[],/ every line is an object with the common words
	2s/"layer":"user",// every line is an object with the common words
	$s/.*/[1]/ every line is an object with the common words
	d every line is an object with the common words
	2{h;d};3G lines are in the order of time
	2s/"phase":"E"/"phase":"B"/ every call is B then E, or I
	2s/"op_id":1/"op_id":9/ every call is B then E, or I
	2s/cuInit/cuExit/ every call is B then E, or I
	2s/,"duration_us":1// type, size and duration stand where a call ends
	1s/userspace/init/ type, size and duration stand where a call ends
	4s/,"size":64// type, size and duration stand where a call ends
	4s/"event_id":4/"event_id":5/ lines are numbered
	2s/cuInit/cuExit/ each name is there as often as babeltrace2 says
	$d each name is there as often as babeltrace2 says
	END
	# What a user's grep does not find.
	(mutated 's/^/ /' >/dev/null; judge_commands "$work/judged" it) >"$work/judged.commands"
	for promise in "names are counted" "the longest calls are listed" "memory events have ts and size" "each launch counts once" \
		"the longest gaps between launches" "synchronisations have ts and duration" "what the driver does with contexts" \
		"types are counted"; do
		broken_promise "$promise" cat "$work/judged.commands"
	done

	generate layers
	cp -r "$work/layers" "$work/judged-trace"
	build/cudatrace report "$work/judged-trace" >/dev/null 2>&1
	is "$(judge_trace "$work/judged-trace" it | grep '^not ok')" "" "a whole trace keeps all promises"
	broken_promise "report counts as many records" instead_of_the_command 'echo "trace 8 records"'
	broken_promise "exports JSON Lines" instead_of_the_command 'exit 1'
	rm -rf "$work/judged-trace"
	cp -r "$t" "$work/judged-trace"
	broken_promise "babeltrace2 has nothing to warn of" judge_trace "$work/judged-trace" it
	echo damage >"$work/judged-trace/metadata"
	broken_promise "babeltrace2 reads it" judge_trace "$work/judged-trace" it
}

# Small parts.
t_units()
{
	"$b/units" >"$work/units.tap" 2>&1
	ok $? "units: $(grep -c '^ok' "$work/units.tap") tests" || grep -v '^ok' "$work/units.tap"
}

# Reading the module's rings while they are written, and what happened by that.
t_rings()
{
	"$b/rings" >"$work/rings.tap" 2>&1
	ok $? "rings: $(grep -c '^ok' "$work/rings.tap") tests" || grep -v '^ok' "$work/rings.tap"
}

# Following a directory: streams that are made anew, and from a moment on.
t_follow()
{
	rm -rf "$work/follow" && mkdir "$work/follow"
	"$b/follow" "$work/follow" >"$work/follow.tap" 2>"$work/follow.err"
	is "$? $(wc -c <"$work/follow.err")" "0 0" "follow: $(grep -c '^ok' "$work/follow.tap") tests" || grep -v '^ok' "$work/follow.tap" "$work/follow.err"
}

# The module's ring with a clock that moves by days, and the reader.
t_ring()
{
	mkdir -p "$work/ring"
	"$b/ring" "$work/ring" >"$work/ring.tap" 2>&1
	ok $? "the ring and its reader: $(grep -c '^ok' "$work/ring.tap") tests" || grep -v '^ok' "$work/ring.tap"
	"$ct" report "$work/ring/week" >"$work/ring.txt" 2>"$work/err"
	is "$?$(grep -c 'left out' "$work/err")" 00 "a week's last snapshot has a report" || cat "$work/err"
	is "$("$ct" export "$work/ring/week" 2>/dev/null | jq -s 'map(.ts) | . == sort and (last - first) / 3.6e6 > 150')" true \
		"whose times are in order, and go over days"
}

# The module's rates.
t_rate()
{
	"$b/rate" >"$work/rate.tap" 2>&1
	ok $? "the module's rates: $(grep -c '^ok' "$work/rate.tap") tests" || grep -v '^ok' "$work/rate.tap"
}

# Tables and their formats; sqlite3 and jq judge what programs read.
t_tables()
{
	local p=$work/table several

	"$b/tables" >"$p.tap" 2>"$p.err"
	ok $? "tables: $(grep -c '^ok' "$p.tap") tests" || grep -v '^ok' "$p.tap"
	for format in csv tsv json; do
		"$b/tables" print $format >"$p.$format" 2>"$p.$format.err"
		is "$(cat "$p.$format.err")" "cudatrace: every_type: a note of 4?[1m words" "$format: notes are on stderr"
	done
	iconv -f utf-8 -t utf-8 "$p.json" >/dev/null 2>&1 && jq -e 'length == 25 and
		.[0] == {"Text": "cuMemAlloc", "Kernel": "void ns::add<float, 3ul>(float*, int)", "Count": 1234567,
			"Id": 1234567, "Hex": "0x12d687", "Time (ns)": 1234567, "At (ns)": 1234567,
			"Size (bytes)": 1234567, "Avg (ns)": 1234.6, "Avg (bytes)": 1234.6,
			"Number": 1234.56, "Time (%)": 1234.6} and
		(.[1] | length == 12 and all(.[]; . == null)) and .[4]["Number"] == null and .[6].Text == "" and
		(map(.Text) | index("two\nlines") and index("esc\u001b[31mred") and index("say \"hi\"") and
			index("invalid \ufffd\ufffd end") and index("gemm_é€"))' "$p.json" >/dev/null
	ok $? "json: jq reads each cell" || cat "$p.json"
	# Bytes that are not UTF-8 are compared as they are.
	sqlite3 :memory: ".import --csv $p.csv t" "select Text from t" >"$p.texts"
	printf '%s\n' cuMemAlloc '' cuMemAlloc cuMemAlloc cuMemAlloc plain '' a,b 'say "hi"' $'two\nlines' \
		$'car\rriage' $'tab\there' =1+1 -x @y $'esc\033[31mred' $'bell\a' $'invalid \xff\xfe end' \
		$'half \xc3' gemm_é€ $'c1 \xc2\x9b31m' ' space ' 'back\slash' '"' $'\x7f' >"$p.right"
	cmp "$p.texts" "$p.right"
	ok $? "csv: sqlite3 reads each text"
	is "$(sqlite3 :memory: ".import --csv $p.csv t" 'select "Kernel", "Count", "Hex", "Avg (ns)", "Number" from t limit 1')" \
		"void ns::add<float, 3ul>(float*, int)|1234567|0x12d687|1234.6|1234.56" "csv: and each number"
	is "$(awk -F '\t' 'NF != 12' "$p.tsv" | wc -l),$(wc -l <"$p.tsv")" 0,26 "tsv: each row is a line of all cells"
	several=$("$b/tables" several json 3)
	is "$(jq -c 'map_values(length)' <<<"$several")" '{"table_0":1,"table_1":2,"table_2":3}' "json: several tables"
	is "$("$b/tables" several json 0 | jq -c .)" '{}' "json: none of several"
	is "$("$b/tables" several csv 3 | grep -c '^$')" 2 "csv: an empty line between tables"
	for format in csv json; do
		is "$("$b/tables" stream $format 50000 | if [ $format = csv ]; then
			awk -F , 'NR > 1 {n++; s += $5} END {printf "%d %d\n", n, s}'; else
			jq -r '"\(length) \(map(.Count) | add)"'; fi)" "50000 1249975000000" "$format: 50000 rows one by one"
	done
	is "$("$b/tables" stream table 3 | tail -n +2 | awk '{print length}' | sort -u | wc -l)" 1 "table: rows that come one by one are aligned"
	"$b/tables" stream csv 100000 >/dev/full 2>"$p.full"
	is "$?,$(cat "$p.full")" "1,error 28" "a full disk is an error"
	# csv on a terminal: what could be an escape sequence is not sent.
	script -qec "$b/tables print csv" /dev/null 2>/dev/null >"$p.tty"
	grep -q 'esc?\[31mred' "$p.tty" && ! LC_ALL=C grep -q $'\033\\|\xc2\x9b' "$p.tty"
	ok $? "csv: no control characters on a terminal"
}

# Stages and iterations, of synthetic programs and of the real traces.
t_phases()
{
	local name traces=()
	for name in $(real); do
		traces+=("$(trace "$name")")
	done
	"$b/phases" "$work/phases" "${traces[@]}" >"$work/phases.tap" 2>&1
	ok $? "phases: $(grep -c '^ok' "$work/phases.tap") tests" || grep -v '^ok' "$work/phases.tap"
}

# A whole trace.
t_trace()
{
	is $basic_status 0 "export of a trace"
	grep -q '13 records were lost' "$work/basic.err"
	ok $? "says what was lost"
	babeltrace2 "$t" >"$work/basic.txt" 2>"$work/basic.bt"
	is "$(wc -l <"$work/basic.txt")" "$(fact basic records)" "babeltrace2 reads every record"
	is "$(grep -vc 'Tracer discarded 5 events' "$work/basic.bt")" 0 "and warns of nothing but the losses"
	is "$("$ct" report "$t" 2>/dev/null | sed -n 's/^trace *\([0-9,]*\) records.*/\1/p' | tr -d ,)" \
		"$(fact basic records)" "report counts the same"
	grep -q 'vectorAdd(float const\*, float const\*, float\*, int)" : container = 1' "$work/basic.txt"
	ok $? "babeltrace2 shows kernels by name"
	grep -q 'NV0000_CTRL_CMD_SYSTEM_GET_BUILD_VERSION' "$work/basic.txt" && grep -q 'CUDA_ERROR_OUT_OF_MEMORY' "$work/basic.txt" &&
		grep -q 'direction = ( "H2D"' "$work/basic.txt"
	ok $? "and commands, results and directions"
	grep -qF 'text = "step 12 */ é"' "$work/basic.txt" && grep -qF 'gemm\"quoted\\\?é*/' "$work/basic.txt"
	ok $? "texts with quotes, comment ends and UTF-8"

	iconv -f utf-8 -t utf-8 "$j" >/dev/null 2>&1 && [ "$(jq -c . "$j" | wc -l)" = "$(wc -l <"$j")" ]
	ok $? "every line is JSON in valid UTF-8"
	jq -s -e '. as $l | all(range(0; length); $l[.].event_id == . + 1)' "$j" >/dev/null
	ok $? "event_id counts from 1"
	jq -s -e '[.[].ts_ns] as $t | all(range(1; $t | length); $t[.] >= $t[. - 1])' "$j" >/dev/null
	ok $? "lines are in the order of time"
	jq -s -e '[.[] | select(.phase == "B" or (.phase == "I" and .op_id)) | .op_id] as $o |
		all(range(0; $o | length); $o[.] == . + 1)' "$j" >/dev/null
	ok $? "op_id counts from 1 in the order of begins"
	jq -s -e 'map(select(.op_id)) | group_by(.op_id) | all(.[]; map(.phase) | . == ["B","E"] or . == ["I"])' "$j" >/dev/null
	ok $? "every call that returned is a B and an E"
	# A stack for each thread: an E ends the call that began last, at its depth.
	jq -n -e 'reduce (inputs | select(.op_id and .phase != "I" and (.context | not))) as $e ({};
		if $e.phase == "B" then
			(if (.[$e.tid|tostring] // []) | length == $e.depth then . else error("depth") end) |
			.[$e.tid|tostring] += [$e.op_id]
		elif .[$e.tid|tostring][-1] == $e.op_id then .[$e.tid|tostring] |= .[:-1]
		else error("nesting at \($e.event_id)") end) | all(.[]; length == 0)' "$j" >/dev/null 2>"$work/nest.err"
	ok $? "calls of a thread nest, over streams and CPUs, and depth is how deep" || cat "$work/nest.err"
	jq -s -e '(map(select(.name == "cuMemcpyHtoD" and .phase == "B"))[0]) as $c |
		(map(select(.name == "nvidia_ioctl"))) as $i | ($i[0].depth == $c.depth + 1) and
		$i[0].cpu == 0 and $i[1].cpu == 1 and $i[1].phase == "E" and $i[1].duration_us == 0.9 and
		$i[0].op_id == $i[1].op_id' "$j" >/dev/null
	ok $? "an ioctl that moves between CPUs is one call inside its caller"

	jq -s -e 'all(.[] | select(.layer == "user" and .phase == "B"); has("cpu") | not) and
		all(.[] | select(.name == "cuMemcpyHtoD" and .phase == "E"); .cpu == 1) and
		all(.[] | select(.name == "cudaMalloc"); has("cpu") | not)' "$j" >/dev/null
	ok $? "cpu stands where it is known"

	# Part E: what users type, with what they expect.
	is "$(lines 'select(.type=="kernel" and .op=="launch")' "$j")" "$(fact basic launches)" "jq: kernel launches"
	is "$(grep '^{' "$j" | jq -r '.name' | sort | uniq -c | awk '$2 == "cuLaunchKernel" {print $1}')" $((2 * $(fact basic launches))) "jq: names"
	is "$(lines 'select(.type=="memory" and .op=="alloc" and .layer=="user") | {ts, size}' "$j")" "$(fact basic allocs)" "jq: allocations"
	is "$(jq -s '[.[] | select(.type=="memory") | select(.size == null)] | length' "$j")" 0 "jq: memory lines have a size"
	is "$(grep '^{' "$j" | jq 'select(.duration_us) | {name, duration_us}' | jq -s 'sort_by(.duration_us) | reverse | .[0:10] | .[0].name')" '"cuCtxCreate"' "jq: the longest call"
	is "$(lines 'select(.name=="cuStreamSynchronize") | {ts, duration_us} | select(.duration_us == 4.99)' "$j")" 200 "jq: synchronisations"
	is "$(grep '^{' "$j" | jq 'select(.name=="cuLaunchKernel") | .ts' | awk 'NR>1 {print $1-prev} {prev=$1}' | sort -n | tail -10 | wc -l)" 10 "jq: gaps between launches"
	is "$(lines 'select(.type=="kernel" and (.name | contains("ctx")))' "$j")" 1 "jq: contexts in the kernel driver"
	is "$(grep '^{' "$j" | jq -r '.type' | sort | uniq -c | awk '$2 == "ioctl" {print $1}')" "$(fact basic ioctls)" "jq: types"
	jq -s -e 'map(select(.phase == "B")) | all(.[]; .type == (if .layer == "user" then "userspace" else .layer end) and
		(has("op") or has("size") or has("direction") or has("threads") or has("duration_us") or has("result") | not))' "$j" >/dev/null
	ok $? "a B has its layer's type and nothing that is counted"
	jq -s -e 'map(select(.phase == "I")) | all(.[]; has("duration_us") | not)' "$j" >/dev/null
	ok $? "what has no duration shows none"
	jq -s -e '[.[] | select(.type == "ioctl")][0] | .cmd == 3223340586 and .decoded == {dir:3,type:70,nr:42,size:32} and
		.escape == "NV_ESC_RM_CONTROL" and .control == "NV0000_CTRL_CMD_SYSTEM_GET_BUILD_VERSION" and
		.status == "NV_OK" and .device == "nvidiactl" and .symbol == "nvidia_unlocked_ioctl"' "$j" >/dev/null
	ok $? "an ioctl is decoded and named"
	jq -s -e '[.[] | select(.op == "launch")][0] | .threads == 32768 and .details.grid_x == 128 and
		.kernel == "vectorAdd(float const*, float const*, float*, int)" and .result == "CUDA_SUCCESS" and .result_code == 0' "$j" >/dev/null
	ok $? "a launch has threads, kernel and result"
	is "$(jq -s '[.[] | select(.result == "CUDA_ERROR_OUT_OF_MEMORY" and .result_code == 2)] | length' "$j")" 28 "failed calls are named"
	jq -s -e '[.[] | select(.name == "cuMemAlloc")] | (.[0].details | has("size") and (has("ptr") | not)) and
		(map(select(.phase == "E"))[0].details | has("size") and (.ptr | startswith("0x"))) and .[0].symbol == "cuMemAlloc_v2"' "$j" >/dev/null
	ok $? "a B has the arguments, an E the results too"
	jq -s -e 'any(.[]; .context == "hardirq" and .name == "nvidia_isr" and .depth == 0) and
		any(.[]; .abandoned == true) and any(.[]; .type == "marker" and .text == "step 12 */ é")' "$j" >/dev/null
	ok $? "interrupts, abandoned calls and markers"

	mkdir "$work/nodot" && cp "$t"/[!.]* "$work/nodot"
	"$ct" export "$work/nodot" 2>/dev/null | cmp -s - "$j"
	ok $? "a copy without hidden files reads the same"
}

# Report.
t_report()
{
	"$ct" report "$t" >"$work/report.txt" 2>/dev/null
	has() { grep -qE "$1" "$work/report.txt"; ok $? "report: $1"; }
	has 'SIMULATED GPU'
	has '^  API calls +3,403   28 failed, of them 1,000 of libcudart$'
	has '^  kernel launches +600$'
	has '^  memory allocations +1,200   671.90 MiB, 28 failed$'
	has '^    H2D 200 \(781.25 MiB\)$'
	has '^  ioctl calls +200   180.00 us, seen in the kernel$'
	has '^  scheduler calls +200$'
	has '^  lost records +13$'
	has '^    why: 3: the ring of a CPU was full$'
	has '^    do:  record again with --ring-size 8M '
	has '^  kernel +600 +180.60 us +180.60 us +10.7 %$'
	has '^  sync +200 +998.00 us +998.00 us +59.3 %$'
	has '^verdict   steady state, 200 iterations of 8.89 us \(median\): limited by'
	has '^  cuMemAlloc +1,200 +150.00 us +8.9 %$'
	is "$(awk '$1 ~ /^[a-z]+$/ && $NF == "%" {s += $(NF - 1)} END {print (s > 99.5 && s < 100.5)}' "$work/report.txt")" 1 "report: shares add up to 100 %"
	! grep -q $'\033' "$work/report.txt"
	ok $? "report: no colour in a file"
	COLUMNS=80 "$ct" report "$t" 2>/dev/null >"$work/report80.txt"
	is "$(awk 'length > 80 && !/^    do:/' "$work/report80.txt")" "" "report: in 80 columns"
	local wide="" width
	for width in 60 66 73 80 100 140 200; do
		COLUMNS=$width "$ct" report "$t" 2>/dev/null | awk -v w=$width 'length > w && !/^    do:/' >"$work/report.wide"
		[ ! -s "$work/report.wide" ] || wide="$wide $width"
	done
	is "$wide" "" "report: no line is wider than the terminal, from 60 to 200 columns"
	script -qec "stty cols 100; TERM=xterm NO_COLOR= '$ct' report '$t'" /dev/null 2>/dev/null | tr -d '\r' >"$work/report.tty"
	grep -q $'^\033\[1mSUMMARY' "$work/report.tty" && grep -q $'^\033\[2mverdict   \033\[0m\033\[1m' "$work/report.tty"
	ok $? "report: heads and the verdict are bold on a terminal"
	script -qec "stty cols 100; TERM=xterm NO_COLOR=1 '$ct' report '$t'" /dev/null 2>/dev/null >"$work/report.tty"
	! grep -q $'\033' "$work/report.tty"
	ok $? "report: and plain with NO_COLOR"
	script -qec "stty cols 100; TERM=xterm NO_COLOR= '$ct' explain '$t'" /dev/null 2>/dev/null | tr -d '\r' >"$work/report.tty"
	grep -q $'^\033\[1mVERDICT' "$work/report.tty"
	ok $? "explain: the same"
	COLUMNS=80 "$ct" report --from start cuda_api_sum "$t" 2>/dev/null >"$work/report80.txt"
	grep -qE "^ +[0-9.]+ % +150.00 us +1,200 +10 ns +700 ns +cuMemAlloc +28\$" "$work/report80.txt"
	ok $? "report: total, calls, median, longest and failures of each" || cat "$work/report80.txt"
}

# Top: the figures of jq, and the views of a pipe.
t_top()
{
	COLUMNS=140 "$ct" top --views 1 -n 1000 "$t" >"$work/top.txt" 2>/dev/null
	ok $? "top"
	is "$(awk '$NF == "cuLaunchKernel" { print $5, $(NF - 2) }' "$work/top.txt")" \
		"$(jq -s -r '[.[] | select(.name == "cuLaunchKernel" and .phase != "B")] | "\(length) \(map(select(.result_code != 0)) | length)"' "$j")" \
		"top: calls and failures of a function"
	is "$(awk 'on { gsub(",", "", $5); sum += $5 } / TIME% / { on = 1 } END { print sum }' "$work/top.txt")" \
		"$(jq -s '[.[] | select(.op_id and .phase != "B" and .type != "switch")] | length' "$j")" "top: all calls"
	COLUMNS=80 "$ct" top -n 3 "$t" 2>/dev/null >"$work/top80.txt"
	is "$(awk 'length > 80' "$work/top80.txt")" "" "top: in 80 columns"
	! grep -q $'\033' "$work/top80.txt"
	ok $? "top: no escape sequences in a pipe"
	# The last view is of the whole recording, however many came before.
	"$plain" top --delay 0.1 "$(trace gpt2)" >"$work/top.txt" 2>/dev/null
	"$plain" top --delay 1000 "$(trace gpt2)" >"$work/top.whole" 2>/dev/null
	is "$(awk -v RS= 'END { print }' "$work/top.txt")" "$(awk -v RS= 'END { print }' "$work/top.whole")" \
		"top: the last view of $(grep -c '^cudatrace top' "$work/top.txt")"
	"$plain" top --batch --views 1 --sort p99 -n 3 "$(trace gpt2)" 2>/dev/null >"$work/top.p99"
	is "$(head -n 1 "$work/top.p99" | grep -c 'by p99$') $(sed -n '5,7p' "$work/top.p99" | awk '{ print $2 }' | sort -u)" "1 $(awk 'NR == 5 { print $2 }' "$work/top.p99")" "top --sort p99"
	is "$("$plain" top -n 1000 --filter 'cuMem*' "$(trace gpt2)" 2>/dev/null | sed '1,/ TIME% /d' | awk 'NF { print $NF }' | grep -vc '^cuMem')" 0 "top --filter: these functions alone"
	is "$("$plain" top -n 1000 --pid 1 "$(trace gpt2)" 2>/dev/null | sed -n 's/.*  \([0-9]*\) functions.*/\1/p')" 0 "top --pid: this process alone"
	# What the process copied, allocated and did not free, and how many calls failed: the summary has the same.
	COLUMNS=140 "$plain" top -n 1 --sort bytes "$(trace gpt2)" 2>/dev/null >"$work/top.bytes"
	"$plain" report "$(trace gpt2)" 2>/dev/null >"$work/top.summary"
	is "$(awk 'NR == 3 { print $4, $7, $8 }' "$work/top.bytes")" "$(awk '/^  API calls/ { failed = $4 } /^  memory allocations/ { print failed, $4, $5 }' "$work/top.summary")" \
		"top: failed calls and memory of a process" || cat "$work/top.bytes"
	is "$(awk 'NR == 1 { seconds = $3 } NR == 3 { printf "%.0f\n", $5 * seconds / 10 }' "$work/top.bytes")" "$(awk '/^  transfers/ { printf "%.0f\n", $3 / 10 }' "$work/top.summary")" \
		"top: bytes that it copies a second" || cat "$work/top.bytes"
	is "$(awk 'NR == 5 { print $(NF - 2), $(NF - 1), $NF }' "$work/top.bytes")" "$(awk '/^  memory allocations/ { print $4, $5 }' "$work/top.summary") cuMemAlloc" "top --sort bytes"
	"$plain" top --sort size "$(trace gpt2)" >/dev/null 2>&1
	is $? 64 "top --sort of no known column"
	is "$("$plain" top --new "$(trace gpt2)" 2>/dev/null | sed -n 's/.*  \([0-9]*\) functions.*/\1/p')" 0 "top --new of a recording that is over"
	# A process of another machine is not the one that has its pid here.
	cp -r "$(trace guest-flight)" "$work/pid1"
	perl -pi -e 's/\x0c\x01\0\0/\x01\0\0\0/g' "$work"/pid1/k-0 "$work"/pid1/k-1 "$work/pid1/state"
	is "$("$ct" top "$work/pid1" 2>/dev/null | awk '$2 == 1 { print $1 }' | sort -u)" "?" "top: a process without a name"
	"$ct" top --delay 0 "$t" >/dev/null 2>&1
	is $? 64 "top: a wrong delay"
}

# Timeline.
t_timeline()
{
	COLUMNS=80 "$ct" timeline "$t" >"$work/timeline.txt" 2>/dev/null
	ok $? "timeline"
	is "$(LC_ALL=C awk '/\|/ && length > m {m = length} END {print m}' "$work/timeline.txt")" 80 "timeline: is as wide as the terminal"
	for word in init memory transfer kernel sync; do
		grep -q "^legend:.* $word" "$work/timeline.txt"
		ok $? "timeline: legend has $word"
	done
	"$ct" timeline --from 4.3 --to 4.35 -w 80 "$t" 2>/dev/null | grep -q '1 |smTTLSSSSSsMTLSSSSSS'
	ok $? "timeline: letters stand where the calls are"
}

# Chrome.
t_folded()
{
	# Self times of JSON Lines, made by another program: each call without those inside it.
	"$ct" export --format folded "$t" >"$work/folded" 2>/dev/null
	ok $? "export to folded stacks"
	is "$(awk '{ sum += $NF } END { print sum }' "$work/folded")" \
		"$(jq -n '[inputs | select(.duration_us and .depth == 0) | .duration_us * 1000 | round] | add' "$j")" \
		"folded: all stacks together are the time of the outermost calls"
	grep -qE '^python.* \([0-9]+\);(main|thread) \([0-9]+\);cuMemcpyHtoD;nvidia_ioctl [0-9]+$' "$work/folded"
	ok $? "folded: an ioctl stands behind its call, in its thread and process" || head -5 "$work/folded"
	is "$(grep -cvE '^[^;]+(;[^;]+)+ [0-9]+$' "$work/folded")" 0 "folded: every line is a stack and a number"
}

t_chrome()
{
	"$ct" export --format chrome -o "$work/basic.json" "$t" 2>/dev/null
	ok $? "export to chrome"
	jq -e '.traceEvents | all(.[]; .ph == "M" or .ts != null) and all(.[] | select(.ph == "X"); .dur >= 0) and
		([.[] | select(.ph == "s") | .id] == [.[] | select(.ph == "f") | .id]) and
		([.[] | select(.ph == "s")] | length) == 200 and
		([.[] | select(.ph == "B")] | length) == ([.[] | select(.ph == "E")] | length) and
		([.[] | select(.ph == "M" and .name == "process_name" and .pid == 4242)][0].args.name | startswith("python")) and
		([.[] | select(.ph == "C" and .name == "device memory")][-1].args.bytes > 0)' "$work/basic.json" >/dev/null
	ok $? "chrome: tracks, pairs, arrows from calls to ioctls, memory"
	jq -e '.traceEvents as $e | [$e[] | select(.ph == "s")][0] as $s | [$e[] | select(.ph == "f")][0] as $f |
		any($e[]; .ph == "X" and .name == "cuMemcpyHtoD" and .tid == $s.tid and .ts <= $s.ts and .ts + .dur >= $s.ts) and
		any($e[]; .ph == "B" and .name == "nvidia_ioctl" and .tid == $f.tid and .ts == $f.ts)' "$work/basic.json" >/dev/null
	ok $? "chrome: an arrow begins in the call and ends at its ioctl"

	"$ct" export -o "$j" "$t" 2>"$work/err"
	is "$?$(grep -c 'is there already; -f replaces it' "$work/err")" 11 "a file is not replaced"
	"$ct" export -f -o "$j" "$t" 2>/dev/null
	ok $? "but with -f"
}

# A call that was left.
t_left()
{
	# How long it took is not known, only when it was noticed.
	generate left
	"$ct" export "$work/left" >"$work/left.jsonl" 2>/dev/null
	is "$(jq -r 'select(.abandoned) | [.phase, .name, has("duration_us")] | join(" ")' "$work/left.jsonl")" \
		"E cuStreamSynchronize false" "a call that was left has no duration"
	"$ct" live "$work/left" 2>/dev/null | grep -qE 'cuStreamSynchronize .*  abandoned$'
	ok $? "... in live"
	"$b/live_text" <"$work/left.jsonl" 2>/dev/null | grep -qE 'cuStreamSynchronize .*  abandoned$'
	ok $? "... in live, from the device's text"
	"$ct" timeline -w 80 "$work/left" 2>/dev/null | grep -qE '\|s +M+\|$'
	ok $? "... and stands in the timeline where it began, no further"
	is "$("$ct" export --format chrome "$work/left" 2>/dev/null | jq -r '.traceEvents[] | select(.args.abandoned) | .ph + " " + .name')" \
		"X cuStreamSynchronize" "... and a slice says what it is"
	"$ct" report --from start --format csv cuda_api_sum "$work/left" 2>/dev/null | grep -q '^,,1,,,,,,cuStreamSynchronize,,,0'
	ok $? "... and no report has its time"
}

# Order at one ns.
t_ties()
{
	generate ties
	"$ct" export "$work/ties" 2>/dev/null | jq -r '[.phase, .name, .depth, .ts_ns % 1000] | join(" ")' >"$work/ties.got"
	cat >"$work/ties.want" <<'EOF'
B cuInit 0 100
B cuStreamSynchronize 1 100
B nv_ctx_make 2 100
E nv_ctx_make 2 150
E cuStreamSynchronize 1 150
B cuStreamSynchronize 1 150
B nv_ctx_make 2 150
E nv_ctx_make 2 200
E cuStreamSynchronize 1 200
E cuInit 0 200
B cuStreamSynchronize 0 200
B cuMemFree 1 200
E cuMemFree 1 200
E cuStreamSynchronize 0 200
B cuStreamSynchronize 0 200
E cuStreamSynchronize 0 300
EOF
	cmp -s "$work/ties.got" "$work/ties.want"
	ok $? "calls that begin or end in one ns stay nested" || diff "$work/ties.got" "$work/ties.want"
}

# Ioctls, by who saw them.
t_ioctls()
{
	generate files
	generate both
	"$ct" export -o "$work/files.jsonl" "$work/files" 2>/dev/null
	jq -s -e '[.[] | select(.type == "syscall" and .name == "ioctl")] | length == 2 and
		.[0].cmd == 3223340586 and .[0].control == "0x12345678" and (.[0].status | startswith("NV_ERR_")) and .[0].depth == 1 and
		.[1].device == "nvidia-uvm" and .[1].escape == "UVM_INITIALIZE" and .[1].result == 0' "$work/files.jsonl" >/dev/null
	ok $? "the program's ioctls have names, device and status"
	"$ct" report "$work/files" >"$work/files.txt" 2>/dev/null
	grep -qE '^  ioctl calls +2   700 ns, 1 failed, seen by the program$' "$work/files.txt" &&
		grep -qE '^  ioctl +2 +700 ns +700 ns +70.0 %$' "$work/files.txt" && grep -qE '^  init +1 +1.00 us +300 ns +30.0 %$' "$work/files.txt"
	ok $? "report counts them where the module saw nothing"
	generate bypassed
	"$ct" report "$work/bypassed" 2>/dev/null | grep -q '^  not recorded: CUDA calls of process 4242,' &&
		! grep -q 'not recorded' "$work/files.txt"
	ok $? "and names a process that uses the driver as CUDA does and calls nothing but lookups"
	"$ct" report --format csv errors "$work/files" 2>/dev/null | grep -qE '^1,ioctl,(NV_ERR|E)[A-Z_]+,'
	ok $? "report: a failed ioctl is listed with its status or errno" || "$ct" report errors "$work/files"
	"$ct" report "$work/both" >"$work/both.txt" 2>/dev/null
	grep -qE '^  ioctl calls +1   280 ns, 1 failed, seen in the kernel$' "$work/both.txt" &&
		grep -qE '^  ioctl +2 +280 ns +280 ns +28.0 %$' "$work/both.txt"
	ok $? "and the kernel's alone where it did" || cat "$work/both.txt"
	"$ct" export --format chrome "$work/both" 2>/dev/null | jq -e '[.traceEvents[] | select(.ph == "s")] | length == 2' >/dev/null
	ok $? "chrome: one arrow to each ioctl, whoever saw it"
}

# Begins at the entry.
t_begins()
{
	generate begin
	"$ct" export "$work/begin" 2>/dev/null | jq -r '[.phase, .tid, .op_id, .duration_us // "-", if .begin_lost then "lost" else empty end] | join(" ")' >"$work/begin.got"
	printf '%s\n' 'B 10 1 -' 'B 11 2 -' 'B 11 3 -' 'E 11 3 0.002' 'E 11 2 0.014' 'E 12 4 0.028 lost' 'B 13 5 -' 'E 13 5 0.01' | cmp -s - "$work/begin.got"
	ok $? "a call without an end is a B, one whose begin was overwritten an E that says so" || cat "$work/begin.got"
	"$ct" report "$work/begin" 2>/dev/null | grep -qE 'never returned +1 '
	ok $? "report counts the call that never returned"
	generate forged
	"$ct" export "$work/forged" 2>/dev/null | jq -r '[.tid, .phase, .begin_lost // false] | join(" ")' | sort | uniq -c | tr -s ' ' >"$work/forged.got"
	printf '%s\n' ' 100 20 B false' ' 99 20 E false' ' 100 21 B false' ' 100 21 E false' | sort -k2 | cmp -s - <(sort -k2 "$work/forged.got")
	ok $? "a thread with the ops of another's calls hides none of them" || cat "$work/forged.got"
	is "$("$ct" export "$work/forged" 2>/dev/null | jq -s 'group_by(.op_id) | map(map(.tid) | unique | length) | max')" 1 "and ends none"
}

# Finishing.
t_finishing()
{
	generate open
	cp -r "$work/open" "$work/alive"
	cp -r "$work/open" "$work/locked"
	sizes() { (cd "$1" && find . -type f -exec cksum {} + | sort); }
	before=$(sizes "$work/alive")
	"$b/hurt_trace" hold "$work/alive" >"$work/hold" & holder=$!
	wait_until [ -s "$work/hold" ]
	before=$(sizes "$work/alive")
	"$ct" export "$work/alive" >"$work/alive.jsonl" 2>"$work/alive.err"
	is "$?$(grep -c 'still being recorded' "$work/alive.err")" 01 "a trace whose thread lives is read as it stands"
	[ "$(sizes "$work/alive")" = "$before" ]
	ok $? "and not touched"
	is "$(jq -c 'select(.unfinished)' "$work/alive.jsonl" | wc -l)" 2 "its open calls are shown"
	kill $holder
	wait $holder 2>/dev/null
	"$ct" export "$work/alive" >"$work/dead.jsonl" 2>/dev/null
	[ -e "$work/alive/metadata" ] && [ ! -e "$work/alive/.open-4242-1" ]
	ok $? "once it is dead the trace is finished"
	exec 9>"$work/locked/.lock"
	flock 9
	"$ct" report "$work/locked" >/dev/null 2>"$work/err"
	is "$?$(grep -c 'still being recorded' "$work/err")$(ls "$work/locked" | grep -c metadata)" 010 "nor is a trace finished whose recorder lives"
	exec 9>&-
	"$ct" export -o "$work/open.jsonl" "$work/open" 2>/dev/null
	is "$(jq -r 'select(.unfinished) | [.phase, .name, .depth] | join(" ")' "$work/open.jsonl" | paste -sd,)" \
		"B cuCtxCreate 0,B cuStreamSynchronize 1" "open calls are a B without an E"
	is "$(jq -s '[.[] | select(.name == "cuMemAlloc" and .phase == "B")] | length' "$work/open.jsonl")" 100 "a call with both a record and an entry is there once"
	babeltrace2 "$work/open" >"$work/open.txt" 2>"$work/open.bt"
	is "$?$(wc -l <"$work/open.txt")$(wc -c <"$work/open.bt")" 01030 "babeltrace2 reads the finished trace without a warning"
	is "$(grep -c 'call_open' "$work/open.txt")" 2 "with its open calls"
	before=$(sizes "$work/open")
	"$ct" report "$work/open" >/dev/null 2>&1
	[ "$(sizes "$work/open")" = "$before" ]
	ok $? "a finished trace is not touched again"

	# Four streams of 7 MB whose last packet their threads still had in a slot (one, of 256 KiB); without the
	# sanitizer, which takes more memory than that.
	"$b/make_trace" big "$work/large" 600000 >/dev/null
	build/cudatrace export "$work/large" 2>/dev/null | cksum >"$work/large.sum"
	rm -f "$work/large/metadata"
	for n in 1 2 3 4; do
		{ head -c 2048 /dev/zero; printf '\1\0\0\0\0\0\4\0'; head -c 2040 /dev/zero
			tail -c 262144 "$work/large/u-4242-$n"; } >"$work/large/.open-4242-$n"
		truncate -s -262144 "$work/large/u-4242-$n"
	done
	(ulimit -d 10000; exec build/cudatrace export "$work/large") >/dev/null 2>"$work/err"
	is "$?$(build/cudatrace export "$work/large" 2>/dev/null | cksum | cmp - "$work/large.sum" && echo same)" 0same \
		"the packet in hand of a long stream needs no memory for the stream" || cat "$work/err"
	rm -r "$work/large"

	# 160 MB in four streams: the pages behind the reader are given back.
	"$b/make_trace" big "$work/large" 3500000 >/dev/null
	"$b/usage" "$work/used" build/cudatrace report "$work/large" >/dev/null 2>"$work/err"
	is "$?$(awk '{ print ($3 > 0 && $3 < 80000) }' "$work/used")" 01 \
		"a long trace is read in little memory" || cat "$work/used" "$work/err"
	rm -r "$work/large"
}

# Live.
t_live()
{
	"$ct" live "$t" >"$work/live.txt" 2>&1
	is "$(($(wc -l <"$work/live.txt") - 1))" $(($(fact basic records) - $(fact basic ioctls) - 2)) "live: a row for each call that returned"
	head -n 1 "$work/live.txt" | grep -qE '^ +TIME\(ms\) PROCESS +PID EVENT +DETAILS$'
	ok $? "live: the table's head"
	grep -qE '^ +4.250220 python +4242 cuLaunchKernel +vectorAdd\(float const\*.* grid 128x1x1 block 256x1x1  300 ns$' "$work/live.txt"
	ok $? "live: a launch"
	"$b/live_text" <"$j" >"$work/text.txt" 2>"$work/err"
	is "$?$(wc -c <"$work/err")" 00 "live: reads the text of the device"
	grep -qE '^ +4.250220 .* 4242 cuLaunchKernel +kernel=vectorAdd.* 300 ns$' "$work/text.txt" &&
		grep -qE ' nvidia_ioctl +nvidiactl NV_ESC_RM_CONTROL NV0000_CTRL_CMD_SYSTEM_GET_BUILD_VERSION  900 ns$' "$work/text.txt" &&
		grep -qE ' cuMemAlloc .* = CUDA_ERROR_OUT_OF_MEMORY$' "$work/text.txt"
	ok $? "live: and makes the same rows of it"
	for chars in 'a-f" f",:}a{' '0-9, :,}7{10' '{}: "[,'; do
		head -n 2000 "$j" | tr ${chars% *} ${chars#* } | "$b/live_text" >/dev/null 2>"$work/err"
		ok $? "live: text that is no JSON is no harm: $chars" || head -n 5 "$work/err"
	done
	# Top, too.  What a process held before is not known there.
	mkfifo "$work/text.fifo" && exec 5<>"$work/text.fifo"
	COLUMNS=140 "$b/live_text" top <"$work/text.fifo" >"$work/text.top" 2>"$work/err" &
	live=$!
	cat "$j" >&5
	wait_until grep -qE ' 200 .* 781.25 MiB cuMemcpyHtoD$' "$work/text.top"
	ok $? "top: the text of the device, with bytes" || tail -n 20 "$work/text.top"
	grep -qE ' 4242 +[1-9][0-9]* +[0-9]+ +[1-9][0-9.]* [KMG]iB +-' "$work/text.top"
	ok $? "top: bytes that a process copies a second, by the text" || grep ' 4242 ' "$work/text.top" | head -n 20
	kill $live
	wait $live 2>/dev/null
	exec 5>&-
	mkdir "$work/grow" && cp "$t/.registry" "$work/grow"
	head -c 36864 "$t/u-4242-1" >"$work/grow/u-4242-1"
	timeout $hang "$ct" live "$work/grow" >"$work/grow.txt" 2>&1 & live=$!
	wait_until eval '[ "$(wc -l <"$work/grow.txt")" -gt 500 ]'
	some=$(wc -l <"$work/grow.txt")
	# As writers do: the first new packet's magic last, or half of a packet could be seen.
	append() { dd if="$t/u-4242-1" of="$work/grow/u-4242-1" iflag=skip_bytes,count_bytes oflag=seek_bytes conv=notrunc "$@" 2>/dev/null; }
	append bs=1M skip=36868 seek=36868
	append bs=4 skip=36864 seek=36864 count=4
	cp "$t/metadata" "$work/grow"
	wait $live
	is "$?" 0 "live: ends with the recording"
	all=$(wc -l <"$work/grow.txt")
	[ "$some" -gt 500 ] && [ "$all" -gt $((some + 500)) ] && [ "$all" = $(($(babeltrace2 "$work/grow" 2>/dev/null | wc -l) + 1)) ]
	ok $? "live: rows appear as they are written ($some, then $all)"
}

# Damaged input.
t_damaged()
{
	# refused NAME PATTERN: export and report of $work/NAME complain in one line
	refused()
	{
		local status lines
		for command in export report timeline; do
			"$ct" $command "$work/$1" >/dev/null 2>"$work/err"
			status=$?
			lines=$(wc -l <"$work/err")
			[ $status = 1 ] && [ "$lines" = 1 ] && grep -qE "$2" "$work/err"
			ok $? "$command of $1: $2" || cat "$work/err"
		done
	}
	damage() { cp -r "$t" "$work/$1"; }
	# left_out NAME PATTERN [STREAMS]: they say so in a line for each stream, and show the rest
	left_out()
	{
		local status
		for command in export report timeline; do
			"$ct" $command "$work/$1" >"$work/out" 2>"$work/err"
			status=$?
			[ $status = 0 ] && [ -s "$work/out" ] && grep -qE "$2" "$work/err" &&
				[ "$(grep -cE ': left out [0-9]+ damaged packets? of this stream$' "$work/err")" = "${3:-1}" ]
			ok $? "$command of $1: $2" || cat "$work/err"
		done
	}

	# lost NAME PATTERN [TEXT]: the rest is shown, and each output says in a line what is missing
	lost()
	{
		local status text=${3:-$2}
		for command in export "export --format chrome" report "report cuda_api_sum" timeline explain; do
			"$ct" $command "$work/$1" >"$work/out" 2>"$work/err"
			status=$?
			[ $status = 0 ] && [ "$(grep -cE "^cudatrace: $work/$1/$2" "$work/err")" = 1 ] &&
				tr -s ' \n' ' ' <"$work/out" | grep -qE "damaged.*$text"
			ok $? "$command of $1: $2" || { cat "$work/err"; head -n 3 "$work/out"; }
		done
		"$ct" diff "$work/$1" "$t" 2>/dev/null | grep -qE "A: damaged: $text"
		ok $? "diff of $1: $2"
	}

	[ -e "$work/basic.txt" ] || : >"$work/basic.txt"
	refused none 'none: No such file or directory'
	refused basic.txt 'basic.txt: not a directory'
	mkdir "$work/empty"
	refused empty 'empty: not a cudatrace trace'
	mkdir "$work/foreign" && printf '/* CTF 1.8 */\ntrace { };\n' >"$work/foreign/metadata"
	refused foreign 'foreign/metadata: not written by cudatrace'
	damage truncated && truncate -s 70000 "$work/truncated/u-4242-1"
	left_out truncated 'u-4242-1: offset 69632: (a truncated packet|the file ends)'
	damage notes && echo hello >"$work/notes/notes.txt"
	lost notes 'notes.txt: not a file of a cudatrace trace; move it out of the directory: left out'
	damage alien && printf 'GIF89a' | dd of="$work/alien/k-0" conv=notrunc bs=1 seek=8192 2>/dev/null
	left_out alien 'k-0: offset 8192: no packet begins here'
	damage other && printf '\377' | dd of="$work/other/k-1" conv=notrunc bs=1 seek=4 2>/dev/null
	lost other 'k-1: offset 0: a packet of another trace'
	damage gap && rm "$work/gap/u-4242-1" && echo 'info tracer x' >>"$work/gap/.registry"
	lost gap 'u-4242-1 is missing: its records are lost' '.*u-4242-1 is missing: its records are lost'
	damage hollow && : >"$work/hollow/u-4242-1"
	lost hollow 'u-4242-1 is empty: its records are lost'
	damage rot && echo rot >"$work/rot/.registry"
	lost rot '.registry is damaged: metadata is read instead'
	"$ct" export "$work/rot" 2>/dev/null | grep -v '"name":"damaged"' | cmp -s - "$j"
	ok $? "and so all is read"
	# Nothing is left.
	mkdir "$work/bare" && cp "$t/.registry" "$t/metadata" "$work/bare" && : >"$work/bare/u-4242-0"
	"$ct" report "$work/bare" 2>/dev/null >"$work/bare.txt"
	tr -s ' \n' ' ' <"$work/bare.txt" | grep -q 'damaged u-4242-0 is empty: its records are lost .*No call is left: the registry names functions that were called'
	ok $? "a trace without records says that they are lost" || cat "$work/bare.txt"
	damage version && sed -i '1s/cudatrace 1/cudatrace 9/' "$work/version/.registry"
	refused version 'a trace of format 9, this cudatrace reads format 1; use the newer version'
	damage headless && sed -i '1s/uuid=/uuid=x/' "$work/headless/.registry"
	rm "$work/headless/metadata"
	refused headless "headless/.registry: no line 'cudatrace ABI uuid= start= realtime='"
	damage unknown && sed -i '/^class 16385/d' "$work/unknown/.registry"
	left_out unknown 'offset [0-9]+: a record of a class that the registry does not have \(class 16385\)' 3
	damage fifo && rm "$work/fifo/k-1" && mkfifo "$work/fifo/k-1"
	lost fifo 'k-1: not a regular file'
	# put64 FILE OFFSET VALUE: content_size stands at 40, in bits
	put64()
	{
		local v=$3 bytes=
		for _ in 1 2 3 4 5 6 7 8; do
			bytes+=$(printf '\\%03o' $((v & 255)))
			v=$((v >> 8))
		done
		printf "$bytes" | dd of="$1" conv=notrunc bs=1 seek="$2" 2>/dev/null
	}
	# Its recorder was killed while it wrote: what is left of the packet is not one.
	damage torn && rm "$work/torn/metadata"
	for file in k-1 u-4242-1; do
		truncate -s $(($(stat -c %s "$t/$file") - 700)) "$work/torn/$file"
	done
	"$ct" report "$work/torn" >"$work/torn.txt" 2>"$work/torn.err"
	is "$?$(grep -c 'its last packet was not written whole' "$work/torn.err")" 02 "a trace that was cut off while it was written is finished, and told" || cat "$work/torn.err"
	tr -s ' \n' ' ' <"$work/torn.txt" | grep -q ' lost records 13 and 2 packets, overwritten, damaged or cut short '
	ok $? "the packets are counted as lost" || grep lost "$work/torn.txt"
	"$ct" report "$work/torn" 2>/dev/null | grep -qE '^  lost records +13   and 2 packets' && babeltrace2 "$work/torn" >"$work/torn.bt" 2>/dev/null
	ok $? "and stay counted, and babeltrace2 reads the rest"
	damage size && rm "$work/size/metadata" && put64 "$work/size/u-4242-1" 48 $((64 << 20))
	left_out size 'u-4242-1: offset 0: a truncated packet'
	head -c 5000 /dev/zero >"$work/letters"
	damage link && rm "$work/link/k-1" && ln -s "$work/letters" "$work/link/k-1" && rm "$work/link/metadata"
	lost link 'k-1: a symbolic link, not a regular file'
	is "$(stat -c %s "$work/letters")" 5000 "what a link leads to is not touched"
	damage short && put64 "$work/short/k-1" 40 $(($(od -An -tu8 -j40 -N8 "$t/k-1") - 64))
	left_out short 'k-1: offset [0-9]+: a record that does not fit its packet'
	damage stub && put64 "$work/stub/u-4242-1" 40 $((8 * (96 + 16)))
	left_out stub 'u-4242-1: offset 0: a record that does not fit its packet \(class 16384\) at byte 96'
	damage huge && put64 "$work/huge/u-4242-1" 40 $((8 * 4096 + 64))
	left_out huge 'u-4242-1: offset 0: a packet with 32832 of 32768 bits used'
	# live says the same of them, and shows the same calls but for those of the bad packets.
	for name in truncated alien unknown short stub huge; do
		"$ct" export "$work/$name" 2>&1 >/dev/null | grep ': left out' | sort >"$work/export.err"
		timeout $hang "$ct" live "$work/$name" 2>"$work/err" >"$work/live.bad"
		is "$?$(sort "$work/err" | diff - "$work/export.err" | wc -l)" 00 "live of $name: leaves out the same packets" ||
			cat "$work/err"
		"$ct" live "$t" | sort >"$work/live.good"
		[ "$(wc -l <"$work/live.bad")" -gt 100 ] &&
			[ "$(sort "$work/live.bad" | comm -23 - "$work/live.good" | wc -l)" = 0 ]
		ok $? "live of $name: and goes on with the next one ($(wc -l <"$work/live.bad") of $(wc -l <"$work/live.good") rows)"
	done
	# A packet whose size is not possible, in a trace that grows: the next one is searched for.
	mkdir "$work/badgrow" && cp "$t/.registry" "$t/k-0" "$work/badgrow" &&
		head -c 20480 "$t/u-4242-1" >"$work/badgrow/u-4242-1" && put64 "$work/badgrow/u-4242-1" $((16384 + 48)) 8
	timeout $hang "$ct" live "$work/badgrow" >"$work/badgrow.txt" 2>"$work/err" & live=$!
	wait_until eval '[ "$(grep -c cu "$work/badgrow.txt")" -gt 100 ]'
	tail -c +20481 "$t/u-4242-1" >>"$work/badgrow/u-4242-1"
	cp "$t/k-1" "$work/badgrow" && cp "$t/metadata" "$work/badgrow"
	wait $live
	is "$?$(grep -cE 'u-4242-1: offset 16384: a packet of 8 bits: left out 1 damaged packet of this stream$' "$work/err")" 01 \
		"live: a bad packet of a trace that grows" || cat "$work/err"
	"$ct" export "$work/badgrow" >"$work/badgrow.jsonl" 2>/dev/null
	is "$(($(wc -l <"$work/badgrow.txt") - 1))" "$(jq -c 'select(.phase != "B" and .type != "tracer" and (.unfinished | not))' "$work/badgrow.jsonl" | wc -l)" \
		"live: and all calls behind it"
	# get64 FILE OFFSET
	get64() { od -An -tu8 -j"$2" -N8 "$1" | tr -d ' '; }
	# last FILE: where its last packet begins
	last() { echo $(($(stat -c %s "$1") - $(get64 "$1" 48) / 8)); }
	# What an older module left: a packet that is open for 80 hours, and one whose head was wiped.
	damage old && at=$(last "$t/k-0") &&
		put64 "$work/old/k-0" $((at + 32)) $(($(get64 "$t/k-0" $((at + 24))) + 80 * 3600 * 1000000000))
	left_out old 'k-0: offset [0-9]+: a packet that ends before it begins'
	damage wiped && at=8192 && put64 "$work/wiped/k-0" $((at + 32)) 0 && put64 "$work/wiped/k-0" $((at + 40)) 0 &&
		put64 "$work/wiped/k-1" 32 0
	left_out wiped 'k-0: offset 8192: a packet with 0 of 65536 bits used' 2
	"$ct" report "$work/wiped" 2>/dev/null | tr -s ' \n' ' ' | grep -q ' lost records 13 and 2 packets, overwritten, damaged or cut short '
	ok $? "they count as lost"
	is "$("$ct" report --format json lost "$work/wiped" 2>/dev/null | jq -c '[.[] | select(.Reason == "damaged") | [.Stream, .Packets]]')" \
		'[["k-0",1],["k-1",1]]' "the report lost says of which streams"
	is "$("$ct" report --format json "$work/wiped" 2>/dev/null | jq -c '[.[] | select(.Metric == "lost packets" or .Metric == "damaged packets") | .Value]')" \
		'[2,2]' "and so do the figures"
	gaps=$("$ct" export "$work/wiped" 2>/dev/null | jq -c 'select(.name != "damaged") | {phase, ts_ns, tid, name}' | sort)
	is "$(comm -23 <(echo "$gaps") <(jq -c '{phase, ts_ns, tid, name}' "$j" | sort) | wc -l)" 0 "nothing is shown that did not happen"
	# A thread's claim cannot hide what others lost.
	damage claim && put64 "$work/claim/u-4242-1" $(($(last "$t/u-4242-1") + 64)) $((-1000)) &&
		put64 "$work/claim/u-4242-2" $(($(last "$t/u-4242-2") + 64)) 5000
	"$ct" report "$work/claim" 2>/dev/null | grep -qE '^  lost records +18,446,744,073,709,551,615'
	ok $? "a sum of losses does not begin anew at 0" || "$ct" report "$work/claim" | grep lost
	damage same && sed -n '/^class 16385/p' "$t/.registry" >>"$work/same/.registry" && printf 'class 99999 us' >>"$work/same/.registry"
	"$ct" export "$work/same" 2>/dev/null | cmp -s - "$j"
	ok $? "a line said twice, and one that is half written, do no harm"
	: >"$work/same/u-9-0"
	"$ct" export "$work/same" 2>/dev/null | grep -v '"name":"damaged"' | cmp -s - "$j"
	ok $? "nor does a stream without a packet"
}

# What processes without a lock, hostile ones, and those that died in a line leave behind.
t_registry()
{
	local kernels
	cp -r "$t" "$work/lines"
	rm "$work/lines/metadata"
	{
		sed '1q' "$t/.registry"
		sed -n '1s/uuid=..../uuid=0000/p' "$t/.registry"
		echo
		echo 'class 16385 user mem %'
		echo 'string 1 cu %'
		sed '1d' "$t/.registry"
		sed -n '/^class 16385/s/alloc/free/p' "$t/.registry"
		echo 'class 16399 user memory'
		echo 'class 99999 user memory alloc - cuToo cuLarge'
		echo 'class 16398 user  alloc - cuTwo cuBlanks extra'
		echo 'string 1 other'
		echo 'string 1048576 beyond'
		echo 'string 7 %zz'
		echo 'string  8 blanks'
		echo "string 9 $(head -c 17000 /dev/zero | tr '\0' x)"
		grep '^info' "$t/.registry"
		echo 'anything else'
		printf 'string 2 half'
	} >"$work/lines/.registry"
	"$ct" export "$work/lines" 2>/dev/null | cmp -s - "$j"
	ok $? "two heads, two texts of an id, cut, empty and damaged lines"
	cp "$work/lines/metadata" "$work/lines.metadata"
	"$ct" report --from start --all "$t" >/dev/null 2>&1
	diff "$t/metadata" "$work/lines.metadata" >"$work/err"
	ok $? "which leave metadata as it is" || head -n 5 "$work/err"

	cp -r "$t" "$work/merged"
	rm "$work/merged/metadata"
	sed -i 's/^string 2 .*/string 2 _Z9vectorAddPKfS0_Pfi/; s/cuLaunchKernel_ptsz/cuLaunchKernel/' \
		"$work/merged/.registry"
	kernels=$("$ct" report --from start --format csv cuda_gpu_kern_sum "$work/merged" 2>/dev/null | sed 1d | cut -d, -f3 | paste -sd,)
	is "$kernels" 400,200 "two ids of one text: one row of a report by kernel"
	is "$("$ct" report --from start --format csv cuda_api_sum "$work/merged" 2>/dev/null | grep -c ',cuLaunchKernel,')" 1 \
		"one row of a report by function"
	is "$("$ct" export "$work/merged" 2>/dev/null | jq -r 'select(.kernel > "") | .kernel' | sort | uniq -c | awk '{print $1}')" 400 \
		"the same name in an export"
	if command -v babeltrace2 >/dev/null; then
		is "$(babeltrace2 "$work/merged" 2>/dev/null | grep -c 'cuLaunchKernel:')" \
			"$(babeltrace2 "$t" 2>/dev/null | grep -c 'cuLaunchKernel:')" "babeltrace2 reads all of them"
	fi
	"$ct" export "$work/merged" >"$work/merged.jsonl" 2>/dev/null
	rm "$work/merged/.registry"
	"$ct" export "$work/merged" 2>/dev/null | cmp -s - "$work/merged.jsonl"
	ok $? "the same without the hidden files"
}

# Traces with bytes that were changed at random.
t_fuzz()
{
	local bad=0 seed source file command status
	for source in ties begin open both gpu; do
		generate $source
	done
	for seed in $(fuzz_seeds); do
		source=$(shuf -n 1 --random-source=<(yes $seed) -e ties begin open basic both gpu)
		rm -rf "$work/fuzz"
		cp -r "$work/$source" "$work/fuzz"
		file=$(find "$work/fuzz" -type f ! -name metadata -size +0 | sort | shuf -n 1 --random-source=<(yes $seed))
		"$b/hurt_trace" flip "$file" $seed
		# live may well wait for more: it does so while the others run.
		timeout 3 "$ct" live "$work/fuzz" >/dev/null 2>"$work/live.err" </dev/null &
		for command in "export --format chrome" report "report --format json --all" "report cuda_api_trace cuda_gpu_trace" live; do
			if [ "$command" = live ]; then
				wait $!
				status=$?
				[ $status != 124 ] || status=0
				mv "$work/live.err" "$work/err"
			else
				timeout $hang "$ct" $command "$work/fuzz" >/dev/null 2>"$work/err" </dev/null
				status=$?
			fi
			if [ $status -gt 1 ]; then
				echo "# seed $seed, $source, $(basename "$file"), $command: status $status"
				head -n 5 "$work/err" | sed 's/^/# /'
				bad=$((bad + 1))
			fi
		done
	done
	is $bad 0 "${CT_FUZZ:-$fuzz_count} damaged traces end in an answer or a message"
}

# Writers keep one buffer for the words of all classes: mappings do not grow with the classes.
t_many_classes()
{
	local p=$work/many-classes count format
	for count in 100 4000; do
		rm -rf "$p-$count"
		"$b/hostile_trace" classes "$p-$count" $count || return
		for format in jsonl chrome csv perfetto; do
			# malloc() maps what is as large, each time.
			MALLOC_MMAP_THRESHOLD_=131072 strace -f -o "$p.strace" -e trace=mmap \
				build/cudatrace export --format $format -f -o "$p.out" "$p-$count" 2>"$p.err"
			echo "$? $(grep -c '^[0-9]* *mmap' "$p.strace")" >"$p-$count.$format"
		done
	done
	for format in jsonl chrome csv perfetto; do
		is "$(cut -d ' ' -f 1 "$p-100.$format" "$p-4000.$format" | paste -sd,)" 0,0 "$format: traces of many classes"
		[ $(($(cut -d ' ' -f 2 "$p-4000.$format") - $(cut -d ' ' -f 2 "$p-100.$format"))) -lt 300 ]
		ok $? "$format: 3,900 classes more take few mappings more" || cat "$p-100.$format" "$p-4000.$format"
	done
}

# Objects and the driver's memory.
t_objects()
{
	"$b/make_trace" objects "$work/objects" >/dev/null
	"$ct" report --format csv handles "$work/objects" >"$work/tree"
	ok $? "report handles"
	diff - "$work/tree" <<'END'
Depth,Client,Handle,Parent,Class,Pid,Allocated (ns),Freed (ns),With Parent,Ioctls,Status
0,0xc1d00001,0xc1d00001,,NV01_ROOT_CLIENT,4242,1000000,,,0,
1,0xc1d00001,0x5c000001,0xc1d00001,NV01_DEVICE_0,4242,2000000,,,0,
2,0xc1d00001,0x5c000002,0x5c000001,NV20_SUBDEVICE_0,4242,3000000,,,1,
2,0xc1d00001,0x5c000003,0x5c000001,KEPLER_CHANNEL_GROUP_A,4242,5000000,12000000,no,0,
3,0xc1d00001,0x5c000004,0x5c000003,HOPPER_CHANNEL_GPFIFO_A,4242,6000000,12000000,yes,0,
2,0xc1d00001,0x5c000005,0x5c000001,NV01_MEMORY_LOCAL_USER,4242,7000000,10000000,no,1,
2,0xc1d00001,0x5c000006,0x5c000001,0xdead,4242,8000000,,,0,NV_ERR_INVALID_CLASS
2,0xc1d00001,0x5c000005,0x5c000001,NV01_MEMORY_SYSTEM,4242,11000000,,,0,
END
	ok $? "each object from its allocation to its free, below its parent" || cat "$work/tree"
	is "$("$ct" report --format csv switches "$work/objects" | sed -n '2p')" \
		",4242,4242,1,800000,800000,0,0,1,800000,0,0,0,0,1000" "how long threads were off the CPU"
	is "$("$ct" report --format csv driver_sum "$work/objects" | grep nvidia_open | cut -d, -f2,4,11)" \
		"4000000,1,nvidia_open" "that time stays with the call that it is in"
	"$ct" report --format csv blocks "$work/objects" >"$work/blocks"
	diff - "$work/blocks" <<'END'
Name,Blocks,Total (bytes),Allocated,Freed,Pid,Process,Call,Driver Function
nv_alloc_pages,1,20480,2,1,4242,,,nvidia_open

Address,Size (bytes),Time (ns),Name,Pid,Process,Call,Driver Function
0xffff800000002000,20480,15000000,nv_alloc_pages,4242,,,nvidia_open
END
	ok $? "memory that the driver did not give back: function, size, owner" || cat "$work/blocks"
}

# The command line.
t_commands()
{
	"$ct" --version | grep -qE '^cudatrace [0-9]+\.[0-9]+'
	ok $? "--version"
	"$ct" --help | grep -q EXAMPLES
	ok $? "--help"
	for command in record session probe snapshot live report explain diff merge summarize timeline export mcp metrics doctor; do
		"$ct" --help | grep -q "^  $command " && "$ct" $command --help | grep -q EXAMPLES
		ok $? "$command --help ends in examples"
	done
	# wrong PATTERN ARGUMENT...: one line, and not a status of success
	wrong()
	{
		local pattern=$1
		shift
		"$ct" "$@" >/dev/null 2>"$work/err" </dev/null
		[ $? = 64 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$pattern" "$work/err"
		ok $? "cudatrace $*: $pattern" || cat "$work/err"
	}
	wrong 'is no command' frobnicate
	wrong 'give the directory' report
	wrong 'no format' export --format xml "$t"
	wrong 'named twice' export "$t" "$t"
	wrong '-o is empty: give it a name' record -o "" -- true
	wrong '-o is empty' snapshot -o "" --on xid
	wrong '-o is empty' export -o "" "$t"
	wrong '-o is empty' report -o "" "$t"
	wrong 'a number from 40 to 1000' timeline -w 5 "$t"
	"$ct" export "$t" 2>/dev/null | head -n 1 >/dev/null
	is "${PIPESTATUS[0]}" 141 "a closed pipe is no crash"
	"$ct" export "$t" >/dev/full 2>"$work/err"
	is "$?$(grep -c 'No space left' "$work/err")" 11 "a full disk is told"
	"$ct" doctor >"$work/doctor.txt" 2>&1
	status=$?
	if grep -q "'cudatrace record' does not work" "$work/doctor.txt"; then want=1; else want=0; fi
	is $status $want "doctor's status is its verdict"
	grep -q 'record. ' "$work/doctor.txt" && grep -qE '^(ok|note|missing) ' "$work/doctor.txt" && ! grep -q $'\033' "$work/doctor.txt"
	ok $? "doctor tells what it found"
	is "$("$ct" doctor --json | jq -r '.findings[] | select(.level) | "\(.level) \(.text)"' | grep -v MiB)" \
		"$(sed -n 's/^\(ok\|note\|missing\) */\1 /p' "$work/doctor.txt" | grep -v MiB)" "doctor --json: the same findings"
	is "$("$ct" doctor --json | jq -r '.verdict')" "$(tail -n 1 "$work/doctor.txt")" "... and the same verdict"
	"${CC:-gcc}" -static -nostdlib -x c -o "$work/static" - <<<'void _start(void) { for (;;); }' 2>/dev/null
	is "$("$ct" doctor --json "$work/static" | jq -r '.findings[] | select(.check == "program") | .level + " " + .text' | grep -c '^missing .*linked statically')" 1 "doctor PROGRAM: a static one"
	cp "$b/usage" "$work/rights" && chmod u+s "$work/rights"
	is "$("$ct" doctor --json "$work/rights" | jq -r '.findings[] | select(.check == "program") | .text' | grep -c 'takes rights of its own')" 1 "... one with rights of its own"
	is "$("$ct" doctor --json bash | jq -r '.findings[] | select(.check == "program") | .level')" ok "... one that can be recorded, found by PATH"
	"${CC:-gcc}" -rdynamic -x c -o "$work/inside" - <<<'int ncclCommInitRank(void) { return 0; } int main(void) { return ncclCommInitRank(); }'
	is "$("$ct" doctor --json "$work/inside" | jq -r '.findings[] | select(.check == "program") | .level + " " + .text' | grep -c '^note .*there is a libnccl in it')" 1 "... one with a libnccl inside"
	is "$("$ct" doctor --json "$work/no-such" | jq -r '.findings[] | select(.check == "program") | .level')" missing "... one that is not there"
	doctor=$PWD/build/cudatrace
	"$doctor" doctor --selftest --json >"$work/selftest.json" 2>&1
	is "$(jq -r '.findings[] | select(.check == "selftest") | .level' "$work/selftest.json" | paste -sd ' ')" "ok note" "doctor --selftest records itself"
	jq -r '.findings[] | select(.check == "selftest") | .text' "$work/selftest.json" | grep -qE '^selftest: 100,000 ranges are recorded; one costs the program [1-9][0-9,]* ns'
	ok $? "... every range, and says what one costs"
	TMPDIR=$work/no-such "$doctor" doctor --selftest >"$work/selftest.txt" 2>&1
	is "$? $(grep -c "^missing selftest: no directory can be made in $work/no-such" "$work/selftest.txt")" "1 1" "... and fails where it can't"
	# The functions of a kernel that has everything; then of one without, and of an old one.
	printf '0000000000000000 T %s\n' register_kretprobe tracepoint_probe_register register_ftrace_function \
		cgroup_get_from_fd dma_fence_init >"$work/kernel-full"
	printf '0000000000000000 T %s\n' schedule dma_fence_init >"$work/kernel-small"
	printf '0000000000000000 t kretprobe_hash_lock\n' | cat "$work/kernel-full" - >"$work/kernel-old"
	if unshare -m mount --bind "$work/kernel-full" /proc/kallsyms 2>/dev/null; then
		for kernel in full small old; do
			unshare -m sh -c 'mount --bind "$1" /proc/kallsyms && exec "$2" doctor' sh \
				"$work/kernel-$kernel" "$doctor" >"$work/doctor-$kernel" 2>&1
		done
		is "$(grep -c 'this kernel is' "$work/doctor-full")" 0 "a kernel with all options is no news for doctor"
		is "$(grep -oE 'without CONFIG_[A-Z_]*' "$work/doctor-small" | paste -sd ' ')" \
			"without CONFIG_KRETPROBES without CONFIG_TRACEPOINTS without CONFIG_FUNCTION_TRACER without CONFIG_CGROUPS" \
			"doctor tells each option that the kernel is without"
		is "$(grep -c 'this kernel is' "$work/doctor-old") $(grep -c 'older than 5.11' "$work/doctor-old")" "1 1" \
			"and what an old one lacks"
	else
		skip "doctor on other kernels: /proc/kallsyms can't be mounted over"
	fi
	mkdir "$work/tiny"
	if mount -t tmpfs -o size=3m none "$work/tiny" 2>/dev/null; then
		(cd "$work/tiny" && "$doctor" doctor) >"$work/tiny.txt" 2>&1
		grep -q '^note .* has only [23] MiB for a trace$' "$work/tiny.txt"
		ok $? "doctor warns of a directory without space" || cat "$work/tiny.txt"
		umount "$work/tiny"
	else
		skip "doctor in a directory without space: tmpfs can't be mounted"
	fi
}

run_parts
plan
