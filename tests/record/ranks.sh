# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Ranks of a job over the simulated libcuda and stand-ins for libnccl and libcupti.  Sourced by run.sh.

job=$PWD/build/tests/record-ranks
jobs=$work/jobs		# other tests have files of the same names
mkdir -p "$jobs"
job_libraries=$PWD/build/tests/sim:$PWD/build/tests/sim/cupti:$PWD/build/tests/sim/nccl

# ranks NAME RANKS ITERATIONS "OPTIONS OF RECORD" [PROBLEM...]: recorded as $jobs/NAME; by another program: $as
ranks()
{
	local name=$1 count=$2 iterations=$3 options=$4
	shift 4
	rm -f "$jobs/$name".id*
	# A hang ends once all ranks but one are in their last call.
	# shellcheck disable=SC2086,SC2016
	LD_LIBRARY_PATH=$job_libraries "$cudatrace" record -q -f --no-module $options -o "$jobs/$name" -- \
		bash -c 'job=$1 count=$2 file=$3; shift 3
			for ((r = 0; r < count; r++)); do
				RANK=$r LOCAL_RANK=$r WORLD_SIZE=$count LOCAL_WORLD_SIZE=$count GROUP_RANK=0 TORCHELASTIC_RUN_ID=test "$job" "$file" "$@" & pids+=($!)
			done
			if [[ $* == *hang=* ]]; then
				for ((r = 0; r < count; r++)); do while [ ! -e "$file.$r" ]; do sleep 0.05; done; done
				if [ -n "$until_told" ]; then
					for ((i = 0; i < 1200; i++)); do grep -q "$until_told" "${file%.id}.err" && break; sleep 0.05; done
				else
					sleep 0.5
				fi
				kill -9 "${pids[@]}"
			fi
			wait' ranks "${as:-$job}" "$count" "$jobs/$name.id" "$iterations" "$@" >"$jobs/$name.out" 2>"$jobs/$name.err"
}
# of NAME COLUMN REPORT [CONDITION IN AWK]: the sum of a column of a report, by its name
of()
{
	"$cudatrace" report --format tsv "$3" "$jobs/$1" 2>/dev/null |
		awk -F '\t' -v name="$2" "NR == 1 { for (i = 1; i <= NF; i++) c[\$i] = i; next } ${4:-1} { sum += \$c[name] } END { printf \"%.0f\\n\", sum }"
}
# job_said NAME: what explain says of the job, in a line
job_said() { COLUMNS=100 "$cudatrace" explain "$jobs/$1" 2>/dev/null | sed -n '/^  job/,/^  rank/p' | tr -s ' \n' ' '; }

t_ranks()
{
	local d=$jobs/ranks kernels parts
	ranks ranks 3 12 --gpu pairs=0 split=0 lookup=0
	is "$(grep -c ': right$' "$d.out")" 3 "three ranks run as without"
	is "$(grep -ac '^info rank [0-9]*%20rank=[012]%20size=3%20local_rank=[012]%20local_size=3%20node=0%20launcher=torchrun$' "$d/.registry")" 3 \
		"the trace says who is which rank"
	"$cudatrace" export -f -o "$d.jsonl" "$d" 2>/dev/null
	is "$(jq -s '[.[] | select(.name == "ncclAllReduce" and .phase == "E" and .result == "ncclSuccess") | .details.number] | group_by(.) | map(length) | [length, min, max] | join(" ")' "$d.jsonl")" \
		'"12 3 3"' "each all-reduce has its number, once on each rank"
	is "$(jq -s '[.[] | select(.name == "ncclCommInitRank" and .phase == "E") | .details | [.communicator, .ranks]] | unique | length' "$d.jsonl")" 1 \
		"a communicator is the same on all ranks"
	is "$(jq -rs '[.[] | select(.name == "ncclAllReduce" and .phase == "E" and .details.number == 7)][0] | [.type, .size, .details.count, .details.datatype, .details.reduction, .details.root, .details.ranks] | join(" ")' "$d.jsonl")" \
		"collective 1048576 262144 7 0 -1 3" "its arguments"
	is "$(jq -rs '[.[] | select(.name == "ncclAllReduce" and .phase == "E" and .result == "ncclInvalidArgument") | .details.number] | unique | join(" ")' "$d.jsonl")" 0 \
		"one that is refused has none"
	is "$(jq -s '[.[] | select((.name == "ncclSend" or .name == "ncclRecv") and .phase == "E")] | length' "$d.jsonl")" 72 "sends and receives"
	is "$(of ranks Count collectives_sum '$c["Operation"] == "AllReduce"') $(of ranks Count collectives_sum '$c["Operation"] == "AllGather"')" \
		"12 24" "collectives of all ranks are one operation; two halves have their own"
	is "$(of ranks 'Not Complete' collectives_sum)" 0 "each is complete"
	# A call whose record goes to the next packet counts once, too.
	CUDATRACE_PACKET=4096 ranks packets 2 1500 ""
	is "$("$cudatrace" export --format jsonl -o - "$jobs/packets" 2>/dev/null |
		jq -s '[.[] | select(.name == "ncclAllReduce" and .phase == "E" and .result == "ncclSuccess") | .details.number] | [length, max] | join(" ")')" \
		'"3000 1500"' "no number is left out where records go from packet to packet"
	# Waiting and moving are the time of the kernels, whose times are written in us with three digits.
	kernels=$(jq -s '[.[] | select(.name == "gpu_kernel" and .phase == "E" and (.kernel | startswith("nccl"))) | .duration_us * 1000] | add | round' "$d.jsonl")
	parts=$(($(of ranks 'Waiting (ns)' collectives_sum) + $(of ranks 'Moving (ns)' collectives_sum)))
	[ "$kernels" -gt 0 ] && [ $((kernels - parts)) -ge -2000 ] && [ $((kernels - parts)) -le 2000 ]
	ok $? "waiting and moving are the time in the kernels ($parts of $kernels ns)"
	is "$("$cudatrace" report --format tsv collectives "$d" 2>/dev/null | awk -F '\t' 'NR > 1 && $2 == "Send/Recv"' | wc -l)" 36 "a send and its receive are one"
	is "$("$cudatrace" report --format csv ranks "$d" 2>/dev/null | tail -n +2 | cut -d, -f1 | tr '\n' ' ')" "0 1 2 " "report ranks"
	"$cudatrace" explain "$d" 2>/dev/null | grep -qE '^  rank 1 \(record-ranks [0-9]+, GPU 0\)$'
	ok $? "a process is named by its rank"
	"$cudatrace" explain "$d" 2>/dev/null | head -1 | grep -q 'SIMULATED GPU'
	ok $? "and the GPU is said to be simulated"
}

t_ranks_late()
{
	local line
	ranks late 3 15 --gpu late=1
	line=$(job_said late)
	[[ $line == *"Rank 1 makes 2 other ranks wait for "*" in each iteration ("*"in a step it spends "*" in the application, the others "* ]]
	ok $? "a rank that sleeps is named, and that it is in the application" || echo "# $line"
	COLUMNS=200 "$cudatrace" explain "$jobs/late" 2>/dev/null | tr -s ' \n' ' ' >"$jobs/late.txt"
	grep -q 'rank 0 (record-ranks [0-9]*, GPU 0) simulated GPU, [^:]*: limited by other ranks, which it waits for in collectives\.' "$jobs/late.txt"
	ok $? "the GPU of another one waits; it does not work" || cat "$jobs/late.txt"
	is "$("$cudatrace" explain --format tsv "$jobs/late" 2>/dev/null | awk -F '\t' '$3 == "late-rank" { n++ } END { print n + 0 }')" 1 "one finding, of one process"
	is "$(of late 'Last Rank' collectives_sum)" 1 "it comes last"
	[ "$(of late 'Makes Others Wait (ns/step)' ranks '$c["Rank"] == 1')" -gt "$(of late 'Makes Others Wait (ns/step)' ranks '$c["Rank"] != 1')" ]
	ok $? "report ranks says so"
	# By the calls alone.
	ranks host 2 15 "" late=1
	line=$(job_said host)
	[[ $line == *"Rank 1 makes 1 other rank wait for "*" in each iteration ("*"in a step it spends "* ]]
	ok $? "without records of the GPU: by what its synchronisations show" || echo "# $line"
	"$cudatrace" report collectives_sum "$jobs/host" 2>/dev/null | grep -q 'known with --gpu only'
	ok $? "and what is not known"
}

# why NAME=VALUE PATTERN: what is said of two ranks of which one has that problem.  On a busy machine a rank is
# late, too, where it gets no processor, which is none of these causes: then it is tried again.
why()
{
	local try
	for try in 1 2 3; do
		ranks "${1%=*}" 2 12 --gpu "$1"
		line=$(job_said "${1%=*}")
		# shellcheck disable=SC2053
		[[ $line == $2 ]] && return
		echo "# try $try: $line"
	done
	return 1
}

t_ranks_why()
{
	local line
	why slow=1 "*Rank 1 makes 1 other rank wait for *: its GPU works slower, as many kernels take *"
	ok $? "slower kernels"
	why more=1 "*Rank 1 makes 1 other rank wait for *: it has more work, 10 kernels in a step that take *, the other 2 that take *"
	ok $? "more work"
	why alloc=1 "*Rank 1 makes 1 other rank wait for * allocating and freeing memory, the other *"
	ok $? "allocations"
}

t_ranks_hang()
{
	local other
	# What a rank does that is not in the trace is not known: it may be that of another node.
	rm -f "$jobs/alone.id"*
	RANK=1 WORLD_SIZE=2 LD_LIBRARY_PATH=$job_libraries "$job" "$jobs/alone.id" 40 >/dev/null 2>&1 & other=$!
	RANK=0 WORLD_SIZE=2 LD_LIBRARY_PATH=$job_libraries "$cudatrace" record -q -f --no-module -o "$jobs/alone" -- "$job" "$jobs/alone.id" 40 >"$jobs/alone.out" 2>"$jobs/alone.err"
	wait $other
	is "$?$("$cudatrace" explain "$jobs/alone" 2>/dev/null | grep -c 'never complete')" 00 "one rank of two is recorded: nothing is called incomplete" || cat "$jobs/alone.err"
	"$cudatrace" report ranks "$jobs/alone" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'Of the 2 ranks of communicator [0-9a-f]* 1 is in the trace. What the others do is not known'
	ok $? "... the report says that the other is missing"
	local line
	ranks hang 3 6 --gpu hang=1
	line=$(job_said hang)
	[[ $line == *"AllReduce 6 of communicator "*" was never complete: rank 1 did not call it. Rank 1 called cuLaunchKernel last, "*"; rank 0 is in cuStreamSynchronize for "* ]]
	ok $? "who did not come, and what each does" || echo "# $line"
	is "$(of hang 'Not Complete' collectives_sum)" 1 "one is not complete"
	cp -r "$jobs/hang" "$jobs/hang-part"
	other=$(sed -n 's/^info rank \([0-9]*\)%20rank=0%20.*/\1/p' "$jobs/hang/.registry")
	rm -f "$jobs/hang-part"/[a-z]-"$other"-*
	[[ $(job_said hang-part) == *"AllReduce 6 of communicator "*" was never complete: rank 1 did not call it. Rank 1 "* ]]
	ok $? "... and no rank that is not in the trace is said not to have come" || echo "# $(job_said hang-part)"
	ranks size 3 6 --gpu size=2
	line=$(job_said size)
	[[ $line == *"The ranks do not agree on AllReduce 6 of communicator "*"ranks 0-1 call AllReduce of 262,144 float32, sum; rank 2 calls AllReduce of 131,072 float32, sum."* ]]
	ok $? "sizes that differ" || echo "# $line"
	"$cudatrace" export -f --format html -o "$jobs/size.html" "$jobs/size" 2>/dev/null
	is "$(grep -ao '"line":"[^"]*"' "$jobs/size.html")" '"line":"The ranks do not agree on a collective"' "... which is the page's headline, too"
	ranks other 2 6 --gpu other=1
	line=$(job_said other)
	[[ $line == *"rank 0 calls AllReduce of 262,144 float32, sum; rank 1 calls Broadcast of 262,144 float32, root 0."* ]]
	ok $? "operations that differ" || echo "# $line"
}

# ranks_one NAME "OPTIONS OF RECORD" ARGUMENT...: one process that is several ranks, recorded as $jobs/NAME
ranks_one()
{
	local name=$1 options=$2
	shift 2
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$job_libraries "$cudatrace" record -q -f --no-module $options -o "$jobs/$name" -- \
		"$PWD/build/tests/record-ranks-one" "$@" >"$jobs/$name.out" 2>"$jobs/$name.err"
}

# A process with several GPUs is several ranks: by a thread for each, or by one thread.
t_ranks_one()
{
	local line d=$jobs/one kernels parts pid try
	for try in 1 2 3; do
		ranks_one one --gpu threads 3 12 late=1
		line=$(job_said one)
		[[ $line == *"Rank 1 makes 2 other ranks wait for "*" in each iteration ("*"in a step it spends "*" in the application, the others "* ]] && break
		echo "# try $try: $line"
	done
	is "$(cat "$d.out")" right "a process of three ranks runs as without"
	[ -n "$line" ] && [[ $line == *"Rank 1 makes 2 other ranks wait for "*"in the application, the others "* ]]
	ok $? "the rank whose thread sleeps is named, and why"
	is "$("$cudatrace" report --format json ranks "$d" 2>/dev/null | jq -c '[map(.Rank), (map(.Pid) | unique | length)]')" "[[0,1,2],1]" "report ranks: three ranks of one process"
	is "$(of one Count collectives_sum '$c["Operation"] == "AllReduce"') $(of one Count collectives_sum '$c["Operation"] == "AllGather"') $(of one 'Not Complete' collectives_sum)" \
		"12 24 0" "each collective is one of all ranks, those of halves, too"
	COLUMNS=200 "$cudatrace" explain "$d" 2>/dev/null | grep -qE '^  ranks 0-2 \(record-ranks-one [0-9]+\)$'
	ok $? "the process is named by its ranks"
	"$cudatrace" summarize -q -f -o "$d.summary" "$d" 2>/dev/null
	cmp -s <("$cudatrace" report --format csv ranks "$d.summary" 2>/dev/null) <("$cudatrace" report --format csv ranks "$d" 2>/dev/null)
	ok $? "its summary has the same ranks"
	# One that does not come.  On a busy machine another one may not have come to its synchronisation when it is killed.
	for try in 1 2 3; do
		rm -f "$jobs/one-hang.out"
		ranks_one one-hang "" threads 3 6 hang=1 &
		wait_until grep -qs hangs "$jobs/one-hang.out"
		sleep $((try * try)).5
		kill -9 "$(sed -n 's/^hangs //p' "$jobs/one-hang.out")"
		wait
		line=$(job_said one-hang)
		[[ $line == *"rank 0 is in cuStreamSynchronize for "* ]] && break
		echo "# try $try: $line"
	done
	[[ $line == *"AllReduce 6 of communicator "*" was never complete: rank 1 did not call it. Rank 1 called "*" last, "*"; rank 0 is in cuStreamSynchronize for "* ]]
	ok $? "a hang: which rank of the process did not come, and what it did" || echo "# $line"
	# Who makes communicators and never uses them exchanges data otherwise, as XLA does.
	ranks_one unused --gpu threads 3 12 unused=0
	"$cudatrace" report ranks "$jobs/unused" 2>/dev/null | tr -s ' \n' ' ' | grep -q '(none) Communicators of libnccl were made, but none of its collectives was called'
	ok $? "communicators that are never used: what is exchanged otherwise is not covered"
	# One thread for all ranks, in the default stream of each.
	ranks_one group --gpu group 3 12
	is "$(of group Count collectives_sum) $(of group 'Not Complete' collectives_sum) $("$cudatrace" report --format json ranks "$jobs/group" 2>/dev/null | jq -c 'map(.Rank)')" \
		"12 0 [0,1,2]" "ncclCommInitAll: each all-reduce is one of three ranks"
	"$cudatrace" export -f -o "$jobs/group.jsonl" "$jobs/group" 2>/dev/null
	kernels=$(jq -s '[.[] | select(.name == "gpu_kernel" and .phase == "E" and (.kernel | startswith("nccl"))) | .duration_us * 1000] | add | round' "$jobs/group.jsonl")
	parts=$(($(of group 'Waiting (ns)' collectives_sum) + $(of group 'Moving (ns)' collectives_sum)))
	[ "$kernels" -gt 0 ] && [ $((kernels - parts)) -ge -2000 ] && [ $((kernels - parts)) -le 2000 ]
	ok $? "... each rank has its own kernel ($parts of $kernels ns)"
}

# Of as many ranks as the stand-in takes: all of them, and a page that opens.
t_ranks_many()
{
	ranks many 64 6 --gpu
	is "$("$cudatrace" report --format json ranks "$jobs/many" 2>/dev/null | jq -c '[length, (map(.Rank) | unique | length)]')" "[64,64]" "64 ranks are recorded"
	is "$(of many Count collectives_sum) $(of many 'Not Complete' collectives_sum)" "6 0" "each collective is one of all of them"
	[ -s build/html/template.html ] || { skip "ranks: this build has no page (npm was missing)"; return; }
	"$cudatrace" export -f -o "$jobs/many.html" "$jobs/many" 2>/dev/null
	is "$? $(grep -o '"ranks_left_out":[0-9]*' "$jobs/many.html") $(sed -n '/"job":{/,/"operations"/p' "$jobs/many.html" | grep -c '"rank":')" \
		'0 "ranks_left_out":0 64' "their page has all of them"
	[ "$(stat -c %s "$jobs/many.html")" -lt 4000000 ]
	ok $? "... and is small"
}

# libnccl linked statically: calls through pointers are seen, those that its own object makes directly are not.
t_ranks_inside()
{
	local line how
	as=$PWD/build/tests/record-ranks-library ranks library 3 12 --gpu late=1 split=0
	is "$(grep -c ': right$' "$jobs/library.out")" 3 "a library with a libnccl inside runs as without" || cat "$jobs/library.err"
	is "$(of library Count collectives_sum '$c["Operation"] == "AllReduce"') $(of library 'Not Complete' collectives_sum)" "12 0" \
		"its calls through its own table of functions are recorded"
	line=$(job_said library)
	[[ $line == *"Rank 1 makes 2 other ranks wait for "* ]]
	ok $? "... and who makes the others wait is said" || echo "# $line"
	grep -q '^info nccl_inside .*/librecord-ranks.so$' "$jobs/library/.registry"
	ok $? "the trace says where libnccl is"
	# A library whose name is kept before libcuda comes, and found by a path that does not begin with a slash.
	mkdir -p "$jobs/torch/build/tests"
	cp build/tests/librecord-ranks.so "$jobs/torch/build/tests/libtorch_cuda.so.1"
	LC_ALL=C sed 's/librecord-ranks\.so/libtorch_cuda.so.1/' build/tests/record-ranks-library >"$jobs/torch/job"
	printf '#!/bin/sh\ncd "%s" && exec ./job "$@"\n' "$jobs/torch" >"$jobs/torch/run"
	chmod +x "$jobs/torch/job" "$jobs/torch/run"
	as=$jobs/torch/run ranks known 2 3 ""
	is "$(grep -a 'libtorch_cuda' "$jobs/known/.registry" | sort -u)" \
		"$(printf 'info %s build/tests/libtorch_cuda.so.1\n' library nccl_inside)" "... also in one that was known by its name" || cat "$jobs/known.err"
	as=$PWD/build/tests/record-ranks-exports ranks looked 2 12 "" lookup=0
	"$cudatrace" export -f -o "$jobs/looked.jsonl" "$jobs/looked" 2>/dev/null
	is "$(jq -s '[.[] | select(.name == "ncclAllReduce" and .phase == "E")] | length' "$jobs/looked.jsonl")" 24 "a program with a libnccl inside: calls by dlsym()"
	for how in --gpu ""; do
		as=$PWD/build/tests/record-ranks-exports ranks direct 2 12 "$how" pairs=0
		is "$(grep -c ': right$' "$jobs/direct.out")" 2 "a program that calls the libnccl inside it directly${how:+ ($how)}" || cat "$jobs/direct.err"
		"$cudatrace" report ranks "$jobs/direct" 2>/dev/null | tr -s ' \n' ' ' >"$jobs/direct.txt"
		grep -qE "AllReduce \(24 kernels${how:+, [0-9.]+ m?s}\) and SendRecv \(24 kernels${how:+, [0-9.]+ m?s}\) of NCCL ran without a recorded call|SendRecv \(24 kernels.* and AllReduce \(24" \
			"$jobs/direct.txt"
		ok $? "... its collectives are told without their calls" || cat "$jobs/direct.txt"
		grep -q 'There is a libnccl in the program: what that calls of it directly is not recorded' "$jobs/direct.txt"
		ok $? "... and why"
		line=$(job_said direct)
		[[ $line == *"how long ranks wait in them is not known, and a GPU that waits counts as busy"* ]]
		ok $? "... by explain, too" || echo "# $line"
	done
}

# shape NAME RANKS ITERATIONS [hang=1]: a job of that shape (ranks_shapes.c), recorded as $jobs/NAME
shape()
{
	local name=$1 count=$2 iterations=$3
	shift 3
	rm -f "$jobs/$name".id*
	as=$PWD/build/tests/record-ranks-shapes ranks "$name" "$count" "$iterations" "--gpu --stuck 0.5" "$name" "$@"
}
# shaped NAME RANKS ITERATIONS PATTERN: what is said of it.  On a busy machine a rank may be late that gets no processor.
shaped()
{
	local try
	for try in 1 2 3; do
		shape "$1" "$2" "$3"
		line=$(job_said "$1")
		# shellcheck disable=SC2053
		[[ $line == $4 ]] && return
		echo "# try $try: $line"
	done
	return 1
}

# Jobs as people have them.
t_ranks_shapes()
{
	local line
	shaped accumulate 3 12 "*Rank 1 makes 2 other ranks wait for * in each iteration (*in a step it spends * in the application, *"
	ok $? "gradients are added up: the rank that sleeps in each part"
	shaped checkpoint 3 60 "*Rank 0 makes 2 other ranks wait for * in each iteration in the mean, nearly all of it in 2 of [56]* in the application, *"
	ok $? "a rank that saves now and then: in how many iterations"
	shaped tenth 3 60 "*Rank 2 makes 2 other ranks wait for * in each iteration in the mean, nearly all of it in every 10th (*"
	ok $? "one that is late in every tenth"
	"$cudatrace" explain "$jobs/tenth" 2>/dev/null | sed -n '/^  rank 2 /,/^  rank [01] /p' | tr -s ' \n' ' ' | grep -q 'limited by the host\.'
	ok $? "... which is no server that waits for requests"
	shaped first 3 20 "*Outside of it rank 1 made rank [02] wait for *, in AllReduce 1 of communicator *"
	ok $? "one that is late only once, before the steady state"
	shaped turns 3 18 "*The ranks wait for each other by turns: rank * waits most, for * of its steady state, and no rank comes last to more than * In a step a rank spends * in the application*"
	ok $? "ranks that are late by turns: none is named"
	shaped alike 3 15 "*No rank makes another wait for more than 5 % of its steady state.*"
	ok $? "ranks that are all slow: none is named"
	shaped pipeline 4 8 "*Rank 2 makes * other ranks wait for *: its GPU works slower, *. The longest wait is *, in * from rank * to rank * (communicator *"
	ok $? "a pipeline: the slow stage, and between whom"
}

# made NAME CALL: the stage of the communicators of rank 0 contains all of the longest call; for one that does not block all answers
# that it is in progress.  And explain names what it costs.
made()
{
	local d=$jobs/$1 pid stage calls
	"$cudatrace" export -f -o "$d.jsonl" "$d" 2>/dev/null
	pid=$(jq -rs '[.[] | select(.name == "ncclCommInitRank" or .name == "ncclCommInitRankConfig") | select(.details.rank == 0)][0].pid' "$d.jsonl")
	stage=$("$cudatrace" report --format json --pid "$pid" stages "$d" 2>/dev/null |
		jq -c '[.stages[] | select(.Stage == "communicators")][0] | [."Start (ns)", ."Start (ns)" + ."Duration (ns)"] | map(. / 1000000)')
	calls=$(jq -cs --argjson pid "$pid" --arg call "$2" '[.[] | select(.pid == $pid and .name == $call and (.details.state // 7) == 7)] |
		[.[0].ts, .[-1].ts]' "$d.jsonl")
	echo "# $1: the stage is $stage, the calls are $calls"
	"$cudatrace" explain --json --pid "$pid" "$d" 2>/dev/null | jq -e 'any(.findings[]; .Rule == "startup-communicators")' >/dev/null &&
		jq -ne --argjson s "$stage" --argjson c "$calls" '$s[0] != null and $s[0] <= $c[0] and $s[1] + 0.001 >= $c[1]' >/dev/null
}

# Communicators whose call returns before they are made.
t_ranks_making()
{
	shape together 3 12
	is "$(grep -c ': right$' "$jobs/together.out")" 3 "communicators that are made at the end of a group"
	made together ncclGroupEnd
	ok $? "... are a stage, and a finding"
	shape meanwhile 3 12
	is "$(grep -c ': right$' "$jobs/meanwhile.out")" 3 "communicators that do not block"
	made meanwhile ncclCommGetAsyncError
	ok $? "... are a stage until they are ready, and a finding"
}

# Groups of ranks have communicators of their own, in which they have other numbers.
t_ranks_groups()
{
	local line
	shaped grid 4 15 "*Rank 3 makes * other ranks wait for * in each iteration (*in the application, *"
	ok $? "rows and columns of ranks: the rank that sleeps"
	is "$("$cudatrace" report --format tsv collectives_sum "$jobs/grid" 2>/dev/null |
		awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["Operation"] ": " $c["Its Ranks"] " " $c["Ranks"] " " $c["Not Complete"] }' | LC_ALL=C sort | tr '\n' ';')" \
		"AllReduce: 0, 2 2 0;AllReduce: 0-1 2 0;AllReduce: 1, 3 2 0;AllReduce: 2-3 2 0;Send/Recv: 0, 2 2 0;Send/Recv: 1, 3 2 0;" \
		"which ranks a communicator has; a send finds its receive in one that was split off"
	is "$("$cudatrace" report --format tsv --top 0 collectives "$jobs/grid" 2>/dev/null | awk -F '\t' 'NR > 1 && $2 == "Send/Recv" { print $12 }' | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
		" 15 0 to 2; 15 1 to 3; 15 2 to 0; 15 3 to 1;" "sender and receiver are ranks of the job"
	is "$("$cudatrace" report --format tsv collectives_sum "$jobs/grid" 2>/dev/null |
		awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["Operation"] == "AllReduce" && $c["Its Ranks"] == "1, 3" { print $c["Last Rank"] }')" 3 \
		"and so is the one that comes last"
	until_told='STUCK: AllReduce 45' shape leaves 4 12 hang=1
	line=$(job_said leaves)
	[[ $line == *"AllReduce 45 of communicator "*" was never complete: rank 3 did not call it."*"Rank 3 called cuStreamSynchronize last, "*"; rank 0 is in cuStreamSynchronize for "* ]]
	ok $? "who does not come to a group's collective is named by its rank in the job" || echo "# $line"
	is "$(grep -o 'Rank 3 called' <<<"$line" | wc -l)" 1 "... and what the ranks do once"
	grep -qE 'STUCK: AllReduce 45 of communicator [0-9a-f]*: rank 3 has not called it [0-9.]+ m?s after rank 2$' "$jobs/leaves.err"
	ok $? "... also while it runs" || cat "$jobs/leaves.err"
	as=$PWD/build/tests/record-ranks-shapes until_told='snapshot in' ranks leaves-kept 4 12 "--stuck 0 --keep 60s --on stuck=500ms" leaves hang=1
	grep -qE '(AllReduce 45 of communicator [0-9a-f]*: rank 3 has not called it [0-9.]+ m?s after rank 2|AllReduce 12 of communicator [0-9a-f]*: rank 3 has not called it [0-9.]+ m?s after rank 1)' "$jobs/leaves-kept.err"
	ok $? "... and by --on stuck" || cat "$jobs/leaves-kept.err"
	# The other half of the ranks is recorded by nobody.
	local r others=()
	rm -f "$jobs/half.id"*
	for r in 2 3; do
		RANK=$r WORLD_SIZE=4 LD_LIBRARY_PATH=$job_libraries "$PWD/build/tests/record-ranks-shapes" "$jobs/half.id" 15 grid >/dev/null 2>&1 & others+=($!)
	done
	# shellcheck disable=SC2016
	LD_LIBRARY_PATH=$job_libraries "$cudatrace" record -q -f --no-module --gpu -o "$jobs/half" -- bash -c \
		'for r in 0 1; do RANK=$r WORLD_SIZE=4 "$1" "$2" 15 grid & done; wait' half "$PWD/build/tests/record-ranks-shapes" "$jobs/half.id" >/dev/null 2>&1
	wait "${others[@]}"
	line=$(job_said half)
	[[ $line == *"Of the 4 ranks of communicator "*" 2 are in the trace. How long ranks wait for those is not known, and a GPU that waits for them counts as busy."* && $line != *"never complete"* ]]
	ok $? "half of the ranks are not recorded: that is said, and nothing of them" || echo "# $line"
	is "$(of half 'Not Complete' collectives_sum) $(of half Count collectives_sum '$c["Operation"] == "AllReduce" && $c["Ranks"] == ""')" "0 30" "... their collectives are neither complete nor not"
}

# By these libraries ranks may exchange data that nobody sees.
t_ranks_uncovered()
{
	local lib
	for lib in libmpi.so.40 libnvshmem_host.so.3; do
		${CC:-cc} -shared -o "$jobs/$lib" -x c /dev/null
		ok $? "a $lib that does nothing"
	done
	LD_PRELOAD="$jobs/libmpi.so.40 $jobs/libnvshmem_host.so.3" ranks uncovered 2 6 ""
	"$cudatrace" report ranks "$jobs/uncovered" 2>/dev/null | tr -s ' \n' ' ' |
		grep -q 'libmpi.so.40 and libnvshmem_host.so.3 are mapped: what ranks exchange by them is not covered\.'
	ok $? "report ranks says that what is exchanged by MPI and NVSHMEM is not covered" || "$cudatrace" report ranks "$jobs/uncovered"
	"$cudatrace" report "$jobs/uncovered" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'are mapped: what ranks exchange by them is not covered\.'
	ok $? "... and so does the summary"
	ranks covered 2 6 ""
	"$cudatrace" report ranks "$jobs/covered" 2>/dev/null | grep -q 'is not covered'
	is $? 1 "... but not where neither is mapped"
}

# While the job runs.
t_ranks_stuck()
{
	until_told=STUCK ranks stuck 3 6 "--stuck 0.5" hang=1
	is "$(grep -c STUCK "$jobs/stuck.err")" 1 "record warns of a collective that waits for a rank, once" || cat "$jobs/stuck.err"
	grep -qE '^cudatrace: STUCK: AllReduce 6 of communicator [0-9a-f]{4}: rank 1 has not called it [0-9.]+ m?s after rank [02]$' "$jobs/stuck.err"
	ok $? "... by operation, number, communicator, and who has not called it" || cat "$jobs/stuck.err"
	until_told=STUCK LD_PRELOAD=$PWD/build/tests/record-other-date ranks stuckback 3 6 "--stuck 0.5" hang=1
	is "$(grep -c STUCK "$jobs/stuckback.err")" 1 "... also where the date was set back" || cat "$jobs/stuckback.err"
	ranks unstuck 2 12 "--stuck 0.5"
	is "$(grep -c STUCK "$jobs/unstuck.err")" 0 "a job in which all ranks come has no warning"
	until_told='snapshot in' ranks hangs 3 6 "--stuck 0 --keep 60s --on stuck=500ms" hang=1
	grep -qE "snapshot in $jobs/hangs-1 \(AllReduce 6 of communicator [0-9a-f]{4}: rank 1 has not called it [0-9.]+ m?s after rank [02]\)" "$jobs/hangs.err"
	ok $? "--on stuck: a copy when a collective waits for a rank" || cat "$jobs/hangs.err"
	"$cudatrace" explain "$jobs/hangs-1" 2>/dev/null | tr -s " \n" " " | grep -q "AllReduce 6 .* was never complete: rank 1 did not call it"
	ok $? "... which explain reads"
	refuse "--on stuck=soon" "give a time, as stuck=60s" "$cudatrace" record --keep 60s --on stuck=soon -- true
	ranks silent 3 6 "--stuck 0" hang=1
	is "$(grep -c STUCK "$jobs/silent.err")" 0 "--stuck 0: nor has another one"
}

# Jobs of two GPUs that were recorded on a server (tests/data/README.md).
t_ranks_real()
{
	local line bytes
	for name in sleep bandwidth hang; do
		tar -xJf tests/data/ranks/$name.tar.xz -C "$jobs"
	done
	line=$(job_said sleep)
	[[ $line == *"Rank 1 makes 1 other rank wait for 32.38 ms in each iteration (86.4 %): "*" in the application, the other "* ]]
	ok $? "a rank that sleeps is named" || echo "# $line"
	COLUMNS=200 "$cudatrace" explain "$jobs/sleep" 2>/dev/null | grep -A1 '^  rank 0 ' | grep -q 'limited by other ranks, which it waits for in collectives'
	ok $? "the other one waits for it: its GPU does not work meanwhile"
	COLUMNS=200 "$cudatrace" explain "$jobs/sleep" 2>/dev/null | grep -qE '^ +lines: [89][0-9] % before ranks_ddp.py:71 \(main\), .* \(of the [0-9]+ % that has a line'
	ok $? "the line of the program that follows the sleep"
	# The program makes 22 of each size, on both ranks.
	for bytes in 1024 4096 16384 65536 262144 1048576 4194304 16777216 67108864 268435456; do
		is "$(of bandwidth Count collectives_sum "\$c[\"Operation\"] == \"AllReduce\" && \$c[\"Size (bytes)\"] == $bytes")" 22 "all-reduces of $bytes bytes"
	done
	! "$cudatrace" report iterations "$jobs/bandwidth" 2>/dev/null | grep "range 'NCCL"
	ok $? "ranges in which libnccl marks its own calls are no iterations of the program"
	"$cudatrace" explain "$jobs/bandwidth" 2>/dev/null | tr -s ' \n' ' ' | grep -qE 'The launching thread spends [0-9.]+ % in calls of libnccl, '
	ok $? "the verdict says what share libnccl's calls have"
	line=$(job_said hang)
	[[ $line == *"AllReduce 44 of communicator "*" was never complete: rank 1 did not call it. Rank 1 called "*" last, "*"; rank 0 is in cuStreamSynchronize "* ]]
	ok $? "a collective that one rank never calls" || echo "# $line"
	is "$("$cudatrace" report --format json ranks "$jobs/hang" 2>/dev/null | jq -c 'map([.["Compute (ns/step)"] == null, .["Waiting (ns/step)"], .["Makes Others Wait (ns/step)"]])')" \
		'[[true,null,null],[false,null,null]]' "what a killed process took along is not known, and not 0"
	# 4 iterations of 4.5 ms were found on the one, 31 of 0.2 ms on the other.
	for name in hang sleep; do
		"$cudatrace" report ranks "$jobs/$name" 2>/dev/null | grep -c "What ranks have in a step can't be compared"
	done >"$jobs/steps.alike"
	is "$(paste -sd ' ' "$jobs/steps.alike")" "1 0" "ranks whose steps are not the same are not compared"
}
