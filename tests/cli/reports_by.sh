# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# report --by, compared with what awk and sqlite3 make of the rows of the same trace.  Sourced by
# run.sh; the functions that all need are in reports.sh.

# calls_of NAME: a database that has the rows of export --format csv as table t, made once
calls_of()
{
	local dir file=$work/data/$1.calls
	dir=$(trace "$1")
	if [ ! -e "$file.db" ]; then
		mkdir -p "${file%/*}"
		"$plain" export --format csv -f -o "$file.csv" "$dir" 2>/dev/null
		sqlite3 "$file.db" ".import --csv $file.csv t"
	fi
	echo "$file.db"
}

# by NAME "OPTIONS" "COLUMN..." KEY VALUE WHERE: the table of report --by, by its keys' columns, is
# what sqlite3 makes of the rows: KEY is an expression for them with | between, VALUE is summed up.
by()
{
	local name=$1 options=$2 columns=$3 out=$work/data/$1.by got column unit="${7:-ns}" tails='' kinds=tnndndpnnd

	# Of times also where the longest are.
	[ "$unit" != ns ] || { tails=', "P95 (ns)", "P99 (ns)"'; kinds=${kinds}pp; }
	sqlite3 -batch -tabs "$(calls_of "$name")" "select replace(replace($4, char(10), '\\n'), char(9), ' '), $5, failed from t $6;" \
		2>/dev/null | tr -d '\200-\377' | distribution |
		cut -f "1-${#kinds}" >"$out.want"
	# shellcheck disable=SC2086
	"$plain" report --from start $options --format csv "$(trace "$name")" 2>"$out.notes" >"$out.csv"
	ok $? "$name: report $options" || cat "$out.notes"
	got=
	for column in $columns; do
		got="$got${got:+ || '|' || }\"$column\""
	done
	sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.csv t" "select replace(replace($got, char(10), '\\n'), char(9), ' '),
		Count, Failed, \"$([ "$unit" = ns ] && echo Time || echo Share) (%)\", \"Total$([ "$unit" = ns ] && echo ' Time') ($unit)\",
		\"Avg ($unit)\", \"Med ($unit)\", \"Min ($unit)\", \"Max ($unit)\", \"StdDev ($unit)\"$tails from t" |
		LC_ALL=C tr -d '\200-\377' >"$out.got"
	same "$out.want" "$out.got" "$kinds" "$name: report $options: every row and every number"
	falling "$out.got" 5 "$name: report $options: the largest first"
}

launches="layer = 'user' and op = 'launch' and type in ('kernel', 'graph')"
api="layer = 'user' and op_id <> '' and type not in ('syscall', 'marker', 'process', 'tracer')"

t_reports_by()
{
	local name

	for name in $(real) basic gpu; do
		by "$name" "--by kernel,stream --of launches" "Kernel Stream" \
			"case when kernel = '' and type = 'kernel' then '(unknown)' else kernel end || '|' || stream" duration_ns "where $launches"
		by "$name" "--by thread,process --of calls --measure self" "Tid Pid" "tid || '|' || pid" self_ns "where $api"
	done
	for name in jax gpu guest-inference; do
		by "$name" "--by operation --of calls --measure bytes" "Operation" \
			"case when op = 'set' and type = 'transfer' then '[CUDA memset]' when op <> 'copy' or type <> 'transfer' then '' else '[CUDA memcpy ' || case direction when 'H2D' then
			'Host-to-Device' when 'D2H' then 'Device-to-Host' when 'D2D' then 'Device-to-Device' when 'H2H' then 'Host-to-Host'
			when 'P2P' then 'Peer-to-Peer' else 'Unknown' end || ']' end" "size" "where $api" bytes
		by "$name" "--by type,layer,cpu --of waits" "Type Layer CPU" "type || '|' || layer || '|' || cpu" duration_ns \
			"where layer = 'user' and type = 'sync'"
	done
}

# Work of the GPU, by the calls that caused it, and where it ran.
t_reports_by_gpu()
{
	local name out

	for name in idle devices graphs nodes unjoined two busy; do
		gpu_trace $name
		out=$g.by
		# A call counts with its name and thread; "" are those that name no call.
		jq -rn '[inputs] | INDEX(.[] | select(.layer == "user" and .phase == "E"); .op_id) as $calls |
			.[] | select(.layer == "gpu" and .phase == "E") | . as $w |
			(if $w.launch_op_id then $calls[$w.launch_op_id | tostring] else null end) as $c |
			[(if $c then "\($c.name)|\($c.tid)" else "" end), (.duration_us * 1000 | round), 0] | @tsv' "$gl" |
			distribution | cut -f1,2,5,8,9 >"$out.all"
		"$plain" report --from start --by function,thread --measure gpu --format csv "$g" 2>"$out.notes" >"$out.csv"
		ok $? "gpu $name: report --by function,thread --measure gpu" || cat "$out.notes"
		sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.csv t" \
			'select Name || "|" || Tid, Count, "Total Time (ns)", "Min (ns)", "Max (ns)" from t' >"$out.got"
		grep -v "^$tab" "$out.all" >"$out.want"
		same "$out.want" "$out.got" tnnnn "gpu $name: the GPU's time by the function and thread of its calls"
		is "$(sed -n 's/.*: \([0-9]*\) records of the GPU name no call that is known, and.*/\1/p' "$out.notes")" \
			"$(sed -n "s/^$tab\([0-9]*\).*/\1/p" "$out.all")" "gpu $name: work without a call is counted"
		jq -r 'select(.layer == "gpu" and .phase == "E") |
			["GPU \(.details.gpu)|\(.details.context_id)|\(.details.stream_id // .details.stream)", (.duration_us * 1000 | round), 0] | @tsv' "$gl" |
			distribution | cut -f1,2,5,8,9 >"$out.want"
		"$plain" report --from start --by device,context,stream --of work --format csv "$g" 2>"$out.notes" >"$out.csv"
		sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.csv t" \
			'select Device || "|" || Context || "|" || Stream, Count, "Total Time (ns)", "Min (ns)", "Max (ns)" from t' >"$out.got"
		same "$out.want" "$out.got" tnnnn "gpu $name: work by device, context and stream"
	done
	gpu_trace unjoined
	grep -q 'name no call that is known' "$g.by.notes" || "$plain" report --from start --by function --measure gpu "$g" 2>&1 | grep -q 'name no call that is known'
	ok $? "gpu unjoined: people read it, too"
}

# Stages and iterations are those of their reports; the range is the innermost one around a call.
t_reports_by_phases()
{
	local name=train-nvtx out

	out=$work/data/$name.phases
	facts "$name"
	report "$name" iterations
	report "$name" stages
	part 2 "$work/data/$name.iterations.csv" >"$out.iterations.csv"
	"$plain" report --from start --by iteration --of launches --measure count --format csv "$(trace $name)" 2>/dev/null >"$out.csv"
	ok $? "$name: report --by iteration"
	sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.csv t" "select Iteration, Count from t where Iteration <> ''" >"$out.got"
	sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.iterations.csv t" 'select Iteration, Launches from t where Launches > 0' >"$out.want"
	[ -s "$out.want" ]
	ok $? "$name has iterations with launches"
	same "$out.want" "$out.got" nn "$name: launches by iteration, as the report iterations counts them"

	awk -F'\t' -v OFS='\t' '
	$5 == "range_push" { text[$9, ++depth[$9]] = $19 }
	$5 == "range_pop" && depth[$9] { depth[$9]-- }
	$1 == "E" && $2 == "user" && $4 == "launch" && ($3 == "kernel" || $3 == "graph") {
		print depth[$9] ? text[$9, depth[$9]] : "", $12, $14
	}' "$work/data/$name.tsv" | distribution | cut -f1-3,5 >"$out.want"
	"$plain" report --from start --by range --of launches --format csv "$(trace $name)" 2>/dev/null >"$out.csv"
	csv "$out.csv" Range Count Failed "Total Time (ns)" >"$out.got"
	same "$out.want" "$out.got" tnnn "$name: launches by the innermost range around them"

	# A call is of the stage in which it began.
	part 1 "$work/data/$name.stages.csv" >"$out.stages.csv"
	sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $out.stages.csv t" \
		'select Pid, Stage, "Start (ns)", "Start (ns)" + "Duration (ns)" from t' >"$out.stages"
	[ -s "$out.stages" ]
	ok $? "$name has stages"
	awk -F'\t' -v OFS='\t' '
	NR == FNR { pid[++n] = $1; stage[n] = $2; from[n] = $3; to[n] = $4; next }
	$1 == "E" && $2 == "user" && $4 == "launch" && ($3 == "kernel" || $3 == "graph") {
		begin = $7 - $12; of = ""
		for (i = 1; i <= n; i++)
			if (pid[i] == $8 && begin >= from[i] && begin < to[i])
				of = stage[i]
		print of, $12, $14
	}' "$out.stages" "$work/data/$name.tsv" | distribution | cut -f1-3,5 >"$out.want"
	"$plain" report --from start --by stage --of launches --format csv "$(trace $name)" 2>/dev/null >"$out.csv"
	csv "$out.csv" Stage Count Failed "Total Time (ns)" >"$out.got"
	same "$out.want" "$out.got" tnnn "$name: launches by stage"
}

# The ranks of a job: each one's launches, as the records of its process count them.
t_reports_by_rank()
{
	local dir=$work/data/by-rank out=$work/data/by-rank.out
	mkdir -p "$dir" "$work/data"
	tar -xJf tests/data/ranks/sleep.tar.xz -C "$dir"
	"$plain" report --from start --by rank --of launches --measure count --format json "$dir/sleep" 2>/dev/null |
		jq -c 'map([.Rank, .Count]) | sort' >"$out.got"
	"$plain" export --format jsonl -f -o "$out.jsonl" "$dir/sleep" 2>/dev/null
	jq -s -c '[.[] | select(.op == "launch" and .phase == "E" and .layer == "user")] | group_by(.pid) | map([length]) | sort' "$out.jsonl" >"$out.want"
	is "$(jq -c 'map([.[1]]) | sort' "$out.got")" "$(cat "$out.want")" "report --by rank: the launches of each rank"
	is "$(jq -c 'map(.[0])' "$out.got")" "[0,1]" "... and which rank it is"
	rm -r "$dir"
}

# What a user gets wrong is one line that has the words; the formats, filters and orders are those of all reports.
t_reports_by_words()
{
	local dir out=$work/data/by words
	dir=$(trace gpt2)
	mkdir -p "$work/data"

	for words in "--by kernels" "--by kernel, --of launches" "--by kernel --of launch" "--by kernel --measure time" "--of calls" \
		"--by kernel,kernel" "--by kernel,stream,thread,process,stage" "--by ioctl --measure gpu" "--by kernel --open"; do
		# shellcheck disable=SC2086
		"$plain" report --from start $words "$dir" >"$out.out" 2>"$out.err"
		is "$?,$(wc -l <"$out.err"),$(wc -c <"$out.out")" 64,1,0 "report $words: one line, and the status of a wrong call" || cat "$out.err"
	done
	"$plain" report --from start --by kernels "$dir" 2>&1 | grep -q "no 'kernels': it takes function, kernel, thread, process, rank, stage, .*, cpu, line, stack, work, category$"
	ok $? "a wrong key: the line has all keys"
	"$plain" report --from start --by kernel --of x "$dir" 2>&1 | grep -q "it takes calls, launches, .*, switches$"
	ok $? "a wrong --of: the line has all words"
	"$plain" report --from start --by kernel --measure x "$dir" 2>&1 | grep -q "it takes duration, self, count, bytes, gpu$"
	ok $? "a wrong --measure: the line has all words"

	"$plain" report --from start --by function --format json "$dir" 2>/dev/null | jq -e 'type == "array" and .[0]["Total Time (ns)"] >= .[1]["Total Time (ns)"]' >/dev/null
	ok $? "report --by: json is one array"
	"$plain" report --from start --by function errors --format json "$dir" 2>/dev/null | jq -e 'has("by") and has("errors")' >/dev/null
	ok $? "report --by: beside other reports"
	is "$("$plain" report --from start --by function --format csv "$dir" 2>/dev/null | tail -n +2 | cut -d, -f2,3,12 | sort)" \
		"$("$plain" report --from start cuda_api_sum --format csv "$dir" 2>/dev/null | tail -n +2 | cut -d, -f2,3,9 | sort)" "report --by function is cuda_api_sum"
	is "$("$plain" report --by function --name 'cuMem*' --from steady --to steady --format csv "$dir" 2>/dev/null | tail -n +2 | cut -d, -f2,3,12 | sort)" \
		"$("$plain" report cuda_api_sum --name 'cuMem*' --from steady --to steady --format csv "$dir" 2>/dev/null | tail -n +2 | cut -d, -f2,3,9 | sort)" \
		"report --by: filters are those of all reports"
	is "$("$plain" report --from start --by kernel --sort -count --top 3 --format csv "$dir" 2>/dev/null | wc -l)" 4 "report --by: --sort and --top"
	COLUMNS=100 "$plain" report --from start --by kernel,stream --of launches "$dir" >"$out.txt" 2>/dev/null
	grep -qi '^calls that launch kernels and graphs by kernel and stream: duration$' "$out.txt"
	ok $? "report --by: the title says what it is" || head -n 3 "$out.txt"
	"$plain" report --from start --by range,ioctl,class,command,error,device --format csv "$dir" >/dev/null 2>"$out.err"
	is "$?" 64 "six keys are too many"
}
