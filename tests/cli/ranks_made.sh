# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Collectives of traces whose figures are known exactly (make_ranks.c says them).  Sourced by run.sh.

# ranks_made WHAT: makes the trace; sets $r
ranks_made()
{
	r=$work/ranks-made-$1
	[ -e "$r" ] || "$b/make_ranks" "$1" "$r"
}

t_ranks_group()
{
	ranks_made group
	is "$("$ct" report --format json collectives_sum "$r" 2>"$r.err" | jq -c '.[] | [.Operation, .Count, ."Moving (ns)"]' | sort | paste -sd ' ')" \
		'["AllReduce",10,800000] ["Send/Recv",2,20000]' "attached to within a group: the kernel of its end is the group's, and the next call has its own" || cat "$r.err"
	"$ct" report collectives_sum "$r" 2>&1 | grep -q 'ran without a recorded call'
	is $? 1 "... and none is said to have no call"
}

# Two communicators in step: a kernel that began when another was over has not met it, however near their ends are.
t_ranks_step()
{
	ranks_made step
	is "$("$ct" report --format json collectives_sum "$r" 2>"$r.err" | jq -r '.[] | [."Its Ranks", .Count, ."Moving (ns)"] | join(" ")' | sort | paste -sd,)" \
		"0-1 20 44000000,2-3 20 11600000" "which ranks belong together is decided by whether their kernels met" || cat "$r.err"
}

# Communicators that were made before: what is known while the ranks wait.
t_ranks_waits()
{
	ranks_made hang
	is "$(COLUMNS=200 "$ct" top --top 3 --stuck 0.9 "$r" 2>/dev/null | grep STUCK)" \
		'STUCK: AllReduce of communicator 779f: rank 2 has not called it 1.000 s after rank 0' "top: a rank that has not called a collective of a communicator from before"
	COLUMNS=200 "$ct" top --top 3 --stuck 2 "$r" 2>/dev/null | grep -q STUCK
	is $? 1 "... not below its limit"
	ranks_made hang=elsewhere
	is "$(COLUMNS=250 "$ct" top --top 3 --stuck 0.9 "$r" 2>/dev/null | grep STUCK)" \
		'STUCK: rank 0 is in cuStreamSynchronize for 1.000 s since AllReduce; rank 1 is in cuStreamSynchronize for 1.000 s since AllReduce; rank 2 is in cuStreamSynchronize for 1.000 s since AllReduce' \
		"... where the calls do not agree who it is: who is in which call"
	cp -r "$r" "$r.hostile"
	sed -i 's/cuStreamSynchronize/cuStream%1b[2J/g' "$r.hostile/.registry"
	COLUMNS=250 "$ct" top --top 3 --stuck 0.9 "$r.hostile" 2>/dev/null | grep STUCK >"$r.said"
	[[ $(cat "$r.said") == *'rank 0 is in cuStream?[2J for 1.000 s since AllReduce'* ]]
	ok $? "... also where a name of the trace would write on the terminal" || cat -v "$r.said"
	[[ $(COLUMNS=80 "$ct" top --top 3 --stuck 0.9 "$r" 2>/dev/null | grep STUCK) == 'STUCK: rank 0 is in cuStreamSynchronize '*'~' ]]
	ok $? "... which a narrow terminal cuts, and shows that"
	ranks_made hang=pairs
	is "$(COLUMNS=250 "$ct" top --top 3 --stuck 0.9 "$r" 2>/dev/null | grep STUCK)" \
		'STUCK: rank 0 is in cuStreamSynchronize for 1.000 s since AllReduce; rank 2 is in cuStreamSynchronize for 1.000 s since AllReduce; rank 1 called AllReduce last, 1.000 s ago; rank 3 called AllReduce last, 1.000 s ago' \
		"... and where ranks of two communicators can't be told apart, who is in none"
}

# Memory is bounded where kernels belong to no call: the records of the second half take none but that of the list of packets.
t_ranks_loose()
{
	local what count peak first said
	for what in loose launched; do
		for count in 300000 900000; do
			r=$work/ranks-made
			"$b/make_ranks" $what=$count "$r"
			said=$("$b/usage" "$work/used" "$plain" report collectives_sum "$r" 2>/dev/null | tr -s ' \n' ' ')
			peak=$(awk '{ print $3 }' "$work/used")
			rm -rf "$r"
			[[ $said == *"AllReduce ($(sed 's/...$/,&/' <<<$count) kernels, "*" of NCCL ran without a recorded call, "* ]]
			ok $? "$what=$count: how many kernels have no call" || echo "# $said"
			[[ $said == *"Some of them may have been launched before the recording began."* ]]
			is $? 0 "... of which some may have been launched before: there are too many to look at each" || echo "# $said"
			[ $count != 300000 ] || first=$peak
		done
		[ $((peak - first)) -le 10000 ]
		ok $? "$what: 600,000 kernels more take $((peak - first)) KiB more, of 10,000"
	done
	ranks_made loose=1000
	"$plain" report collectives_sum "$r" 2>/dev/null | grep -q 'before the recording began'
	is $? 1 "where each is looked at nothing of the kind is said"
}
