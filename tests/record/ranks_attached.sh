# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# A job of ranks that already runs is attached to: its communicators were made before.  Sourced by run.sh, after ranks.sh.

# job_starts NAME RANKS ITERATIONS SHAPE: in the background, until its ranks iterate; $job_pids
job_starts()
{
	local rank
	job_pids=()
	rm -f "$jobs/$1".id*
	for ((rank = 0; rank < $2; rank++)); do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$2 LOCAL_WORLD_SIZE=$2 GROUP_RANK=0 TORCHELASTIC_RUN_ID=test LD_LIBRARY_PATH=$job_libraries \
			"$job-shapes" "$jobs/$1.id" "$3" "$4" >"$jobs/$1.out.$rank" 2>&1 & job_pids+=($!)
	done
	for ((rank = 0; rank < $2; rank++)); do until [ -e "$jobs/$1.id.begun.$rank" ]; do sleep 0.05; done; done
}
job_ends() { kill -KILL "${job_pids[@]}"; wait "${job_pids[@]}" 2>/dev/null; }

# job_attached TRACE SECONDS [OPTION...]
job_attached()
{
	local trace=$1 duration=$2 pids
	shift 2
	pids=$(IFS=,; echo "${job_pids[*]}")
	"$cudatrace" record -q -f --no-module -o "$jobs/$trace" --pid "$pids" --duration "$duration" "$@" 2>"$jobs/$trace.err" || cat "$jobs/$trace.err"
}

t_ranks_attached()
{
	local line
	job_starts grid 4 1000000 columns
	job_attached grid-attached 2 --gpu
	line=$(job_said grid-attached)
	[[ $line == *"4 ranks recorded Rank 3 makes "*" wait for "*" in each iteration ("*"in a step it spends "*" in the application, the others "* ]]
	ok $? "a job that runs: the rank that sleeps is named" || echo "# $line"
	is "$("$cudatrace" report --format csv collectives_sum "$jobs/grid-attached" 2>/dev/null | grep -oE '"?[0-3](-|, )[0-3]"?' | tr -d '"' | sort | uniq -c | tr -s ' \n' ' ')" \
		" 2 0, 2 1 0-1 2 1, 3 1 2-3 " "which ranks each of its communicators has"
	is "$(of grid-attached 'Not Complete' collectives_sum)" 0 "what ranks did before the last one was attached to, and after the first one was left, is not incomplete"
	is "$(of grid-attached 'Ranks' collectives_sum)" 12 "how many ranks each has" || "$cudatrace" report collectives_sum "$jobs/grid-attached"
	"$cudatrace" report collectives_sum "$jobs/grid-attached" 2>/dev/null | grep -q 'ran without a recorded call'
	is $? 1 "... and no kernel of it is said to have no call"
	# Stacks have names, too, so that those of kernels have other numbers than in the first trace.
	job_attached grid-again 2 --gpu --stacks
	line=$(job_said grid-again)
	[[ $line == *"Rank 3 makes "*" wait for "* ]]
	ok $? "the same job once more, with names of kernels that are those of this trace" || echo "# $line"
	job_attached grid-calls 2
	# By calls alone, communicators of other ranks could be the same.
	"$cudatrace" report ranks "$jobs/grid-calls" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'made before the recording began, .*--gpu'
	ok $? "without the GPU's times it is said that it is not clear which ranks belong together" || "$cudatrace" report ranks "$jobs/grid-calls"
	job_ends
	job_starts pipeline 3 1000000 pipeline
	job_attached pipeline-attached 2 --gpu
	job_ends
	line=$(job_said pipeline-attached)
	[[ $line == *"Rank 2 makes 1 other rank wait for "*"its GPU works slower"* ]]
	ok $? "sends and receives alone" || echo "# $line"
	job_starts tenth 3 1000000 tenth
	job_attached tenth-attached 3
	job_ends
	line=$(job_said tenth-attached)
	[[ $line == *"Rank 2 makes 2 other ranks wait for "* ]]
	ok $? "one communicator, by its calls alone" || echo "# $line"
}

t_ranks_attached_hang()
{
	local line rank recorder
	job_starts stays 3 1500 stays
	"$cudatrace" record -q -f --no-module -o "$jobs/stays-attached" --pid "$(IFS=,; echo "${job_pids[*]}")" --gpu --stuck 0.5 2>"$jobs/stays-attached.err" & recorder=$!
	for ((rank = 0; rank < 3; rank++)); do until [ -e "$jobs/stays.id.$rank" ]; do sleep 0.05; done; done
	wait_until grep -q STUCK "$jobs/stays-attached.err"
	kill -INT $recorder
	wait $recorder
	job_ends
	line=$(job_said stays-attached)
	[[ $line == *" was never complete: rank 2 did not call it."* ]]
	ok $? "a rank that does not come while it is recorded is named" || echo "# $line"
	# By its last calls, or else by what each rank is in: on a busy machine its last calls may be nearer to other ones.
	grep -qE '^cudatrace: STUCK: (AllReduce of communicator [0-9a-f]{4}: rank 2 has not called it [0-9.]+ m?s after rank [01]|rank 0 is in cuStreamSynchronize for .* since AllReduce; rank 1 is in .*; rank 2 called AllReduce last, .* ago)$' \
		"$jobs/stays-attached.err"
	ok $? "... also while it runs" || cat "$jobs/stays-attached.err"
	is "$(grep -c STUCK "$jobs/stays-attached.err")" 1 "... once"
}
