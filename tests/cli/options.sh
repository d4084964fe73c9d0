# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# What users type wrong, and the options that say what of a trace counts.  Sourced by run.sh, which has
# $plain (the command without the sanitizers), $ct (with them), $work, trace().

# wrong_line STATUS PATTERN ARGUMENT...: this status, one line, which has the pattern, and no output
wrong_line()
{
	local want=$1 pattern=$2 status
	shift 2
	"$ct" "$@" >"$work/wrong.out" 2>"$work/wrong.err" </dev/null
	status=$?
	sed -i '/ lost while this was recorded$/d' "$work/wrong.err"
	[ $status = "$want" ] && [ "$(wc -l <"$work/wrong.err")" = 1 ] && [ ! -s "$work/wrong.out" ] &&
		grep -qE -- "$pattern" "$work/wrong.err"
	ok $? "status $want of: cudatrace ${*//"$work"/...}" || { echo "# $status"; cat "$work/wrong.err"; }
}

t_options_words()
{
	local t
	t=$(trace basic)
	wrong_line 64 "'reprot' is no command; did you mean 'report'\?" reprot
	wrong_line 64 "'expalin' is no command; did you mean 'explain'\?" help expalin
	wrong_line 64 "no report 'cuda_api_smu'; did you mean 'cuda_api_sum'\?" report cuda_api_smu "$t"
	wrong_line 64 "no report 'kern_sum'; did you mean 'cuda_gpu_kern_sum' or 'nvtx_kern_sum'\?" report kern_sum "$t"
	wrong_line 64 "no column 'Num Cals'; did you mean 'Num Calls'\? It has: Time \(%\), .*, Failed" \
		report --sort 'Num Cals' cuda_api_sum "$t"
	wrong_line 64 "no column 'x'\. It has: Time \(%\), " report --sort x cuda_api_sum "$t"
	wrong_line 64 "'stedy' is no moment; did you mean 'steady'\?" report --from stedy "$t"
	wrong_line 64 "iterations are numbered from 1" export --to iteration:0 "$t"
	wrong_line 64 "there is no 'kernl'; did you mean 'kernel'\?" export --layer kernl "$t"
	wrong_line 64 "--layer: there is no 'x': it takes user, kernel, gpu$" report --layer x "$t"
	wrong_line 64 "--type: there is no 'x': it takes .*memory, transfer" timeline --type x "$t"
	wrong_line 64 "--name is empty" report --name '' "$t"
	wrong_line 64 "--call takes a number of at least 1, not '0'" explain --call 0 "$t"
	wrong_line 64 "--width takes a number from 40 to 1000, not '5'" timeline --width 5 "$t"
	wrong_line 64 "an empty word is no trace" report ''
	wrong_line 64 "an empty word is no trace" explain ''
	# What would do nothing.
	wrong_line 64 "--rules .* give it alone" explain --rules --format json
	wrong_line 64 "--rules .* give it alone" explain --rules "$t"
	wrong_line 64 "--new goes with DIR" top --new
	wrong_line 64 "--stuck goes with DIR" top --stuck 5
	wrong_line 64 "--new goes with DIR" live --new
	wrong_line 64 "--watermark is of /dev/cudatrace" live --watermark 64k "$t"
	wrong_line 1 "not a cudatrace trace" live "$work"
	is "$("$ct" merge -o "$work" "$t" "$(trace inference)" 2>&1 | tail -1)" "cudatrace: $work exists already: give another -o" "merge makes its folder"
	wrong_line 64 'probe add: no function' probe add
	wrong_line 64 'probe: no verb' probe frobnicate
	wrong_line 64 'session: no verb' session frobnicate
	cmp -s <("$ct" help report) <("$ct" report --help)
	ok $? "help report is report --help"
	is "$("$ct" version)" "$("$ct" --version)" "version is --version"
	"$ct" --help >"$work/help" && cmp -s "$work/help" <("$ct" help)
	ok $? "help is --help"
	"$plain" report --from start cuda_api_sum "$t" >"$work/right" 2>/dev/null
	"$ct" report --from start "$t" cuda_api_sum 2>/dev/null | cmp -s - "$work/right"
	ok $? "the directory may stand before the reports"
	# Long texts are wrapped on a terminal, but for commands that are to be copied; in a pipe they have a line each.
	for command in "report --list" "explain --rules" doctor; do
		script -qec "stty cols 80; '$plain' $command" /dev/null </dev/null >"$work/terminal" 2>&1
		is "$(tr -d '\r' <"$work/terminal" | sed 's/\x1b\[[0-9]*m//g' | awk 'length > 80 && !/^        /')" "" "$command fits a terminal of 80 columns"
	done
	is "$("$plain" report --list | wc -l)" "$("$plain" report --list | grep -c '^[a-z_]* *[a-z]')" "... report --list in a pipe: a line for each"
	for command in report explain timeline export diff; do
		is "$("$ct" $command --help | grep -cE -- '^      --(from|to|pid|tid|name)=')" 5 "$command has --from, --to, --pid, --tid and --name"
		is "$("$ct" $command --help | awk 'length > 79')" "" "$command --help fits 79 columns"
	done
}

# A name or a number that the trace does not have is told.
t_options_unknown()
{
	local t command
	t=$(trace basic)
	for command in report explain timeline "export --format csv"; do
		wrong_line 1 'no process 99999; there is 4242$' $command --pid 99999 "$t"
	done
	wrong_line 1 "no process 99999; there are [0-9]+, [0-9]+" report --pid 99999 "$(trace processes)"
	wrong_line 1 'no thread 99999' export --tid 99999 "$t"
	wrong_line 1 "--from 99999s: the trace ends at [0-9.]+ ms$" report --from 99999s cuda_api_sum "$t"
	wrong_line 1 "--from 99999s: the trace ends at" timeline --from 99999s "$t"
	wrong_line 1 "names match whole: '\*Alloc\*' matches [0-9]+ of them" report --name Alloc "$t"
	wrong_line 1 "names match whole: '\*vectorAdd\*' matches" export --name vectorAdd "$t"
	wrong_line 1 "--name cuMemAlocc: .* did you mean 'cuMemAlloc'\?" timeline --name cuMemAlocc "$t"
	wrong_line 1 "--name nothing\*: no function, kernel or range has this name$" explain --slowest 1 --name 'nothing*' "$t"
	wrong_line 1 "has no stage 'weights'; it has " report --from weights "$t"
}

# The ending of a file's name says the format.
t_options_ending()
{
	local t=$(trace inference) out=$work/ending
	rm -rf "$out"
	mkdir "$out"
	for name in a.jsonl:jsonl a.csv:csv a.pftrace:perfetto a.folded:folded a.SQLite:sqlite a.html:html a:jsonl; do
		"$plain" export --list | grep -q "^${name#*:} " || continue
		"$plain" export -o "$out/${name%:*}" "$t" && "$plain" export --format "${name#*:}" -o "$out/want" "$t" &&
			{ cmp -s "$out/${name%:*}" "$out/want" || [ "${name#*:}" = sqlite ]; }
		ok $? "-o ${name%:*} is ${name#*:}"
		rm -f "$out/want"
	done
	is "$(head -c 6 "$out/a.SQLite")" SQLite "-o a.SQLite is a database"
	wrong_line 64 "its ending '.txt' is that of no format" export -o "$out/a.txt" "$t"
	wrong_line 64 "may be chrome or jsonl: say which by --format" export -o "$out/a.json" "$t"
	"$plain" export --format csv -o "$out/b.txt" "$t" && head -n 1 "$out/b.txt" | grep -q ^time,
	ok $? "--format counts more than the ending"
	wrong_line 64 'a page shows all that processes did' export --name 'cu*' -o "$out/b.html" "$t"
	is "$(find "$out" -name 'a.txt' -o -name 'a.json' -o -name b.html)" "" "what is refused leaves no file"
}

# What counts, in each format: the lines of JSON that jq chooses.
t_options_export()
{
	local t p=$work/only from to begin
	t=$(trace basic)
	"$plain" export "$t" 2>/dev/null >"$p.all"
	begin=$(jq -n '[inputs | select(.type == "tracer" or .type == "process" | not)] | .[0].ts_ns - .[0].ts * 1e6 | round' "$p.all")
	from=0.5 to=3
	# only NAME JQ OPTION...: the export with the options has the calls that jq chooses by their begin and end
	only()
	{
		local name=$1 which=$2
		shift 2
		"$ct" export "$@" "$t" 2>"$work/err" | jq -c 'select(.op_id) | [.op_id, .phase, .name]' | sort >"$p.got"
		jq -s -c --argjson from "$from" --argjson to "$to" --argjson begin "$begin" \
			"map(select(.op_id)) | group_by(.op_id) | map(select(any(.[]; $which))) | .[][] | [.op_id, .phase, .name]" "$p.all" |
			sort >"$p.want"
		cmp -s "$p.got" "$p.want" && [ -s "$p.got" ] && [ "$(wc -l <"$p.got")" -lt "$(jq -c 'select(.op_id)' "$p.all" | wc -l)" ]
		ok $? "export $name: $(wc -l <"$p.got") lines" || diff "$p.got" "$p.want" | head -n 5
	}
	only "--from --to" '.phase != "E" and .ts >= $from and .ts < $to' --from $from --to "${to}ms"
	only "--name GLOB" '.name | startswith("cuMem")' --name 'cuMem*'
	only "--name of a kernel" '(.kernel // "") | startswith("vectorAdd")' --name 'vectorAdd*'
	only "--tid" '.tid == 4243 and (.context | not)' --tid 4243 --layer user
	only "--layer" '.layer == "kernel"' --layer kernel
	only "--type" '.type == "sync"' --type sync
	# The same calls in the other formats, by their numbers.
	"$ct" export --format csv --name 'cuMem*' "$t" 2>/dev/null >"$p.csv"
	is "$(sqlite3 :memory: ".import --csv $p.csv t" "select count(*) from t where op_id != ''")" \
		"$(jq -s 'map(select(.op_id and .phase != "B" and (.name | startswith("cuMem")))) | length' "$p.all")" "csv has them, too"
	"$ct" export --format chrome --name 'cuMemAlloc' "$t" 2>/dev/null >"$p.json"
	is "$(jq -c '[.traceEvents[] | select(.ph == "X" or .ph == "B" or .ph == "i") | .name] | unique' "$p.json")" '["cuMemAlloc"]' "chrome has them alone"
	is "$(jq '[.traceEvents[] | select(.ph == "C")] | length' "$p.json")" 0 "and no counters of what is not there as a whole"
	"$ct" export --format folded --name cuMemAlloc "$t" 2>/dev/null >"$p.folded"
	[ -s "$p.folded" ] && ! grep -v ');cuMemAlloc ' "$p.folded"
	ok $? "folded has them alone"
	"$ct" export --no-queries "$t" 2>/dev/null | jq -c 'select(.type == "query")' | wc -l >"$p.queries"
	is "$(cat "$p.queries"),$(jq -c 'select(.type == "query")' "$p.all" | wc -l | sed 's/^0$/none/; s/[0-9]*/some/')" "0,some" "--no-queries leaves getters out"

	# A range and its end; GPU work by the thread that launched it.
	t=$(trace train-nvtx)
	"$plain" export "$t" 2>/dev/null | jq -r 'select(.name == "range_push") | .text' | sort | uniq -c | sort -rn >"$p.ranges"
	name=$(awk 'NR == 1 { sub(/^ *[0-9]+ /, ""); print }' "$p.ranges")
	"$plain" export --name "$name" "$t" 2>/dev/null | jq -r 'select(.name | startswith("range_")) | .name + " " + (.text // "")' | sort | uniq -c >"$p.got"
	is "$(awk '{ print $1, $2 }' "$p.got" | paste -sd,)" "$(awk 'NR == 1 { print $1 " range_pop," $1 " range_push" }' "$p.ranges")" \
		"a range's end is exported with its begin" || head "$p.got" "$p.ranges"
}

# Times as the command prints them, and as a page does.
t_options_times()
{
	local t p=$work/times time
	t=$(trace basic)
	"$plain" report --format csv --from 1.5 --to 3 cuda_api_sum "$t" >"$p.want" 2>/dev/null
	for time in 1.5ms '1.5 ms' 1500us '1,500 us' 1500000ns 0.0015s '1,500.000 us' $'1.5\u00a0ms' $'1,500\u00a0\u00b5s'; do
		"$ct" report --format csv --from "$time" --to 3 cuda_api_sum "$t" 2>/dev/null | cmp -s - "$p.want"
		ok $? "--from $time is --from 1.5"
	done
	for time in 1,5 1.5h -1 1e 1,5000 ''; do
		wrong_line 64 'is no moment' report --from "$time" "$t"
	done
}

# What comes again and again is of the steady state; a range, or --from start, says otherwise.
t_options_steady()
{
	local t p=$work/steady report
	t=$(trace train)
	for report in gaps sync cuda_api_sum cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_sum \
		"--by kernel" "--by function,thread --of waits"; do
		cmp -s <("$ct" report --format csv $report "$t" 2>/dev/null) \
			<("$plain" report --format csv --from steady --to steady $report "$t" 2>/dev/null)
		ok $? "report $report: of the steady state"
	done
	for report in stages iterations memory errors processes ioctl_sum nvtx_sum "--by stage" "--by function --of allocations"; do
		cmp -s <("$ct" report --format csv $report "$t" 2>/dev/null) \
			<("$plain" report --format csv --from start --to end $report "$t" 2>/dev/null)
		ok $? "report $report: of the whole run"
	done
	"$plain" report --from start --format csv cuda_api_sum "$t" 2>/dev/null | grep -q ',cuInit,'
	ok $? "--from start: the whole run"
	"$plain" report --to end --format csv cuda_api_sum "$t" 2>/dev/null | grep -q ',cuInit,'
	ok $? "--to end, too"
	! "$plain" report --format csv cuda_api_sum "$t" 2>"$p.err" | grep -q ',cuInit,'
	ok $? "which the steady state does not have"
	grep -qE '^cudatrace: cuda_api_sum: The steady state of process [0-9]+: from [0-9,.]+ ms to [0-9,.]+ ms. --from start: the whole run.$' "$p.err"
	ok $? "it is said on stderr" || cat "$p.err"
	COLUMNS=160 "$ct" report stages cuda_gpu_kern_sum "$t" >"$p.out" 2>/dev/null
	grep -qE '^GPU KERNELS IN THE STEADY STATE: ' "$p.out" && grep -q '^STAGES OF EACH PROCESS$' "$p.out" &&
		grep -qE ' [0-9]+ +init ' "$p.out" && [ "$(grep -c -- '--from start: the whole run' "$p.out")" = 1 ]
	ok $? "titles say which is which" || cat "$p.out"
	# Another process, whose steady state is not the first one's: each counts in its own.
	t=$(trace processes)
	is "$("$ct" report --format csv --by process --of launches "$t" 2>"$p.err" | sed 1d | awk -F, '{ n += $3 } END { print NR, n }')" \
		"$(for pid in $("$plain" report --format csv stages "$t" 2>/dev/null | awk -F, '$0 ~ /,steady,/ { print $2 }' | sort -u); do
			"$plain" report --format csv --pid "$pid" --from steady --to steady --by process --of launches "$t" 2>/dev/null | sed 1d
		done | awk -F, '{ n += $3 } END { print NR, n }')" "each process in its own steady state"
	grep -qE 'The steady state of process [0-9]+: from .* ms, process [0-9]+: from .* ms\. --from start' "$p.err"
	ok $? "both are said" || cat "$p.err"
	for pid in $("$plain" report --format csv stages "$t" 2>/dev/null | awk -F, '$0 ~ /,steady,/ { print $2 }' | sort -u); do
		cmp -s <("$ct" report --format csv --pid "$pid" cuda_api_sum "$t" 2>/dev/null) \
			<("$plain" report --format csv --pid "$pid" --from steady --to steady cuda_api_sum "$t" 2>/dev/null)
		ok $? "--pid: its steady state"
	done
	# A trace without one.
	t=$(trace guest-cuinit)
	cmp -s <("$ct" report cuda_api_sum gaps "$t" 2>/dev/null) <("$plain" report --from start cuda_api_sum gaps "$t" 2>/dev/null)
	ok $? "where there is no steady state: the whole run"
	wrong_line 1 '--from takes start, and --to takes end' report --to start "$t"
	wrong_line 1 '--from takes start, and --to takes end' report --from end "$t"
}

# Findings of a range are those of its phases: shares are of its time.
t_options_explain()
{
	local t p=$work/explain
	t=$(trace train)
	"$ct" explain --format json --from steady --to steady "$t" >"$p.json" 2>/dev/null
	ok $? "explain of a range"
	is "$(jq -c '[.findings[].Scope] | unique' "$p.json")" '["steady"]' "only findings of the steady state" || jq -c . "$p.json" | head -c 500
	is "$(jq -c '.verdict[] | select(.Scope == "steady") | .Limit' "$p.json")" \
		"$("$plain" explain --format json "$t" 2>/dev/null | jq -c '.verdict[] | select(.Scope == "steady") | .Limit')" \
		"whose verdict is that of the whole"
	"$ct" explain --from iteration:2 --to iteration:3 "$t" 2>/dev/null | grep -qE '^Only from [0-9.]+ ms to [0-9.]+ ms: shares are of this time\.$'
	ok $? "it says of which time"
	wrong_line 64 'findings are of all calls: --name goes with --slowest' explain --name cuInit "$t"
	wrong_line 64 '--from and --to go with findings' explain --call 1 --from 1 "$t"
	t=$(trace processes)
	"$plain" explain --format json "$t" 2>/dev/null | jq -c '[.verdict[].Pid] | unique | .[0]' >"$p.pid"
	is "$("$ct" explain --format json --pid "$(cat "$p.pid")" "$t" 2>/dev/null | jq -c '[.verdict[].Pid, .findings[].Pid] | unique')" \
		"[$(cat "$p.pid")]" "findings of one process"
}

# Shades, launches and kernels, and the rows of the GPU.
t_options_timeline()
{
	local p=$work/shades t
	gpu_trace busy
	t=$g
	"$ct" timeline -w 100 "$t" >"$p" 2>/dev/null
	ok $? "timeline of a trace with records of the GPU"
	# What the GPU's rows show is what jq finds: a share of the picture's time, and of which process.
	jq -n -r --argjson whole "$("$plain" export "$t" 2>/dev/null | jq -n '[inputs | .ts_ns] | max - min')" \
		'[inputs | select(.layer == "gpu" and .phase == "E")] | group_by([.pid, .details.gpu, .details.stream_id // .details.stream]) | .[] |
		(map(.duration_us) | add * 100000 / $whole | round | if . < 1 then "<1" else tostring end) + "% of \(.[0].pid)"' "$gl" | sort >"$p.want"
	sed -nE 's/^GPU ?[0-9]+ .*of ([0-9]+) *([<0-9]+)%\|.*/\2% of \1/p' "$p" | sort >"$p.got"
	diff "$p.want" "$p.got" >"$work/err" && [ -s "$p.got" ]
	ok $? "the GPU's rows have their share of the time and their process" || { cat "$work/err"; head -20 "$p"; }
	grep -E '^GPU' "$p" | grep -q '|.*[Kk].*|' && ! grep -E '^GPU' "$p" | grep -q '|.*[Ll].*|'
	ok $? "the GPU runs kernels (K)"
	"$ct" timeline --type kernel -w 100 "$t" 2>/dev/null | grep -vE '^(GPU|legend| )' >"$p.host"
	grep -q '|.*[Ll].*|' "$p.host" && ! grep -q '|.*[Kk].*|' "$p.host"
	ok $? "threads launch them (L)"
	is "$("$ct" timeline --threads 1 "$t" 2>/dev/null | grep -cE '^GPU|^[0-9]+ ')" \
		"$(("$(grep -cE '^GPU' "$p" | sed 's/^[2-9].*/1/')" + 1))" "--threads counts threads, and streams of the GPU apart"
	# Half of a column is a capital, less a small letter.
	"$plain" timeline -w 60 "$(trace basic)" 2>/dev/null | grep -q '^        small letters: less than half of the column'
	ok $? "the legend tells small letters"
	"$ct" timeline --type sync "$(trace basic)" 2>/dev/null | grep '|' | grep -v '^ms' | cut -d'|' -f2 | tr -d ' Ss\n' | wc -c >"$p.sync"
	is "$(cat "$p.sync")" 0 "--type sync shows nothing else"
	cmp -s <("$ct" timeline --from 1.5ms --to '2,000us' "$(trace basic)" 2>/dev/null) <("$plain" timeline --from 1.5 --to 2 "$(trace basic)" 2>/dev/null)
	ok $? "times as in other commands"
	mkdir "$work/void" && sed '/^class\|^string/d' "$(trace basic)/.registry" >"$work/void/.registry"
	"$ct" report "$work/void" >/dev/null 2>&1
	is "$("$ct" timeline "$work/void" 2>/dev/null | grep -v SIMULATED)" "the trace has no records" "a trace without records has no axis"
	is "$("$ct" timeline --to 0.001 "$(trace train)" 2>/dev/null | grep -v SIMULATED)" "no calls in this time" "nor has a time without calls"
}

# All processes of both traces, and the statuses that CI asks for.
t_options_diff()
{
	local p=$work/roles t one other
	t=$(trace processes)
	"$ct" diff --format json "$t" "$t" >"$p.json" 2>/dev/null
	is "$(jq -c '[.diff_processes[] | [."Pid A" == ."Pid B", .Verdict] | tostring] | unique' "$p.json")" \
		"$(jq -c '[.diff_processes[] | if ."Iterations A" > 0 then [true, "same"] else [true, null] end | tostring] | unique' "$p.json")" \
		"diff of several processes with themselves: the same ones side by side" || jq -c '.diff_processes[]' "$p.json"
	is "$(jq '.diff_processes | length' "$p.json")" "$("$plain" report --format json processes "$t" 2>/dev/null | jq 'if type == "array" then . else to_entries[0].value end | map(select((."API Calls" // ."Calls" // 1) > 0)) | length')" \
		"all that called libcuda are there" || "$plain" report processes "$t"
	read -r one other < <(jq -r '[.diff_processes[] | select(."Iterations A" > 0) | ."Pid A"] | .[:2] | join(" ")' "$p.json")
	"$ct" diff --format json --pid "$one,$other" "$t" "$t" 2>/dev/null >"$p.two"
	is "$(jq -c '[.diff_processes // empty | length]' "$p.two"),$(jq -c '.diff_summary[0] | ."A (ns)" > 0 and ."B (ns)" > 0' "$p.two")" \
		"[],true" "--pid A,B compares two processes" || jq -c . "$p.two" | head -c 400
	is "$(jq -c --argjson a "$one" --argjson b "$other" '[.diff_processes[] | select(."Pid A" == $a) | ."Median A (ns)"][0], [.diff_processes[] | select(."Pid B" == $b) | ."Median B (ns)"][0]' "$p.json" | paste -sd,)" \
		"$(jq -c '.diff_summary[0] | ."A (ns)", ."B (ns)"' "$p.two" | paste -sd,)" "whose medians are those of the table of all"
	wrong_line 1 'no process 99999' diff --pid "$one,99999" "$t" "$t"
	"$ct" diff --fail-above 10 "$(trace steps)" "$(trace slowed)" >/dev/null 2>&1
	is $? 1 "--fail-above: 1 is slower"
	wrong_line 2 'No such file' diff --fail-above 10 "$(trace steps)" "$work/nothing"
	wrong_line 1 'No such file' diff "$(trace steps)" "$work/nothing"
	wrong_line 64 'takes a percentage' diff --fail-above x "$(trace steps)" "$(trace steps)"
	"$ct" diff --format json --name 'cuMemcpy*' "$(trace steps)" "$(trace slowed)" 2>/dev/null |
		jq -c '[.diff_functions[].Name] | map(select(startswith("cuMemcpy") | not))' >"$p.names"
	is "$(cat "$p.names")" '["(application, between calls)"]' "--name compares these functions alone"
}

# Reports that users of nsys know: their columns, and figures that make_gpu.c says.
t_options_nsys()
{
	local p=$work/nsys
	gpu_trace ranges
	"$ct" report --format csv nvtx_kern_sum "$g" >"$p.csv" 2>/dev/null
	diff - "$p.csv" <<-'END'
	NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Kernel Name
	backward,PushPop,4242,4242,50,100,1250000,12500.0,12500.0,10000,15000,2512.6,softmax(float*)
	step,PushPop,4242,4242,50,100,1250000,12500.0,12500.0,10000,15000,2512.6,softmax(float*)
	forward,PushPop,4242,4242,50,50,1000000,20000.0,20000.0,20000,20000,0.0,gemm(float*)
	step,PushPop,4242,4242,50,50,1000000,20000.0,20000.0,20000,20000,0.0,gemm(float*)
	END
	ok $? "nvtx_kern_sum: kernels by the ranges around their launches"
	"$ct" report --format csv nvtx_gpu_proj_sum "$g" >"$p.csv" 2>/dev/null
	diff - "$p.csv" <<-'END'
	Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child
	step,PushPop,2500000,550000,50,50000.0,50000.0,50000,50000,0.0,150,3,0,2
	backward,PushPop,1500000,200000,50,30000.0,30000.0,30000,30000,0.0,100,2,1,0
	forward,PushPop,1000000,200000,50,20000.0,20000.0,20000,20000,0.0,50,1,1,0
	END
	ok $? "nvtx_gpu_proj_sum: from the first to the last work of a range"
	is "$("$ct" report --format json --name 'gemm*' nvtx_kern_sum "$g" 2>/dev/null | jq -c '[.[] | ."Kern Inst"]')" '[50,50]' "--name chooses kernels"
	is "$("$ct" report --format json --name step nvtx_gpu_proj_sum "$g" 2>/dev/null | jq -c '[.[] | .Range]')" '["step"]' "and ranges"
	is "$("$ct" report --format json --from 10 nvtx_gpu_proj_sum "$g" 2>/dev/null | jq -c '[.[] | ."Range Instances"]')" '[40,40,40]' "--from counts ranges where they began"
	"$ct" report --from start --format csv cuda_gpu_sum "$g" >"$p.csv" 2>/dev/null
	diff - "$p.csv" <<-'END'
	Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation
	54.3,1250000,100,12500.0,12500.0,10000,15000,2512.6,CUDA_KERNEL,softmax(float*)
	43.5,1000000,50,20000.0,20000.0,20000,20000,0.0,CUDA_KERNEL,gemm(float*)
	2.2,50000,50,1000.0,1000.0,1000,1000,0.0,CUDA_KERNEL,copy(float*)
	END
	ok $? "cuda_gpu_sum: all work of the GPU"
	gpu_trace two
	is "$("$ct" report --from start --format json cuda_gpu_sum "$g" 2>/dev/null | jq -c '[.[] | select(.Category == "MEMORY_OPER") | .Operation, .Instances]')" \
		"$("$ct" report --from start --format json cuda_gpu_mem_time_sum "$g" 2>/dev/null | jq -c '[.[] | .Operation, .Count]')" "... copies and sets as in cuda_gpu_mem_time_sum"
	is "$("$ct" report nvtx_kern_sum "$(trace train-nvtx)" 2>/dev/null | grep -c 'no records of the GPU: record it with --gpu')" 1 "without records of the GPU it says so"
}

# A file of csv is one table.
t_options_tables()
{
	local p=$work/tables name t
	"$b/make_trace" objects "$work/tables-objects" >/dev/null
	t=$work/tables-objects
	rm -rf "$p"
	mkdir "$p"
	"$ct" report --format csv -o "$p/a.csv" blocks "$t" 2>/dev/null
	is "$?,$(find "$p" -name 'a*' -printf '%f\n' | sort | paste -sd,)" "0,$("$plain" report --format json blocks "$t" 2>/dev/null | jq -r 'keys_unsorted[] | "a_\(.).csv"' | sort | paste -sd,)" \
		"a report of two tables: a file of csv each, by their names"
	"$ct" report --from start --format csv -o "$p/b" blocks cuda_api_sum "$t" 2>/dev/null
	is "$(grep -c '^$' "$p"/*.csv | grep -vc ':0$')" 0 "no file has an empty line between tables"
	[ -s "$p/b_cuda_api_sum.csv" ]
	ok $? "a report of one table has its name"
	for name in "$p"/*.csv; do
		sqlite3 :memory: ".import --csv $name t" "select count(*) from t" >/dev/null 2>"$work/err"
		is "$?$(cat "$work/err")" 0 "sqlite3 reads $(basename "$name") as one table"
	done
	"$ct" report --format json -o "$p/c.json" blocks "$t" 2>/dev/null && jq -e 'length == 2' "$p/c.json" >/dev/null
	ok $? "json is one file"
}

# The guide has every option of record.
t_options_guide()
{
	local option missing=
	for option in $("$ct" record --help | grep -oE '^ +(-.,? +)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vE '^--(help|usage|version)$'); do
		grep -qE "^\| .*\`(-., )?[^|]*$option[\`\[ =,]" docs/guide.md || missing="$missing $option"
	done
	is "$missing" "" "docs/guide.md has every option of record"
}
