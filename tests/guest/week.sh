# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: a flight recorder for a week, with a clock that ct_clock.ko moves on.  The
# module takes its times from that clock, not from the time-stamp counter, which nobody can move.

clocks=/sys/devices/system/clocksource/clocksource0
own_clock=$(cat $clocks/current_clocksource)
# What waits for long is told of by the kernel; here nothing does.
quiet='/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress=1 /sys/module/workqueue/parameters/watchdog_thresh=0
	/proc/sys/kernel/hung_task_timeout_secs=0'
restore=
for set in $quiet; do
	[ -w "${set%=*}" ] || continue
	restore+=" ${set%=*}=$(cat "${set%=*}")"
	echo "${set#*=}" >"${set%=*}"
done
unload-module && insmod $share/module/ct_clock.ko && load-module tsc_clock=0
ok $? "the module loads, with the kernel's clock"
echo ct_clock >$clocks/current_clocksource
is "$(cat $clocks/current_clocksource)" ct_clock "the kernel's clock is one that can be moved"

# week_judge FILE: what its lines of marks say, a line for each CPU: the first and the last mark, how
# many are there, how many are missing in between, and by how many ms the worst time is wrong
week_judge()
{
	sed -n 's/.*"ts_ns":\([0-9]*\)[0-9]\{6\},.*"text":"w\([01]\) \([0-9]*\) \([0-9]*\)\..*/\2 \3 \1 \4/p' "$1" |
		awk '{ if (!($1 in first)) first[$1] = $2; else missing[$1] += $2 - last[$1] - 1
			last[$1] = $2; n[$1]++; wrong = $3 > $4 ? $3 - $4 : $4 - $3
			if (wrong > worst[$1]) worst[$1] = wrong }
		END { for (cpu = 0; cpu < 2; cpu++) print cpu, first[cpu], last[cpu], n[cpu], missing[cpu] + 0, worst[cpu] + 0 }'
}

if [ "$(nproc)" -lt 2 ]; then
	skip "a week of a flight recorder: needs two CPUs"
else
	mkdir week
	/mnt/build/tests/week week >week.txt 2>week.err
	is "$?$(wc -l <week.txt)" 08 "a flight recorder for eight days" || cat week.err
	overwritten=0
	while read -r day busy still; do
		cudatrace export -f --format jsonl -o day.jsonl "week/day-$day" 2>day.err
		is "$?$(grep -vc 'lost while this was recorded' day.err)" 00 "day $day: the snapshot opens" || cat day.err
		week_judge day.jsonl >judged.txt
		awk -v busy="$busy" -v still="$still" '
			{ good += $3 == ($1 ? still : busy) && !$5 && $6 < 5000 && ($1 ? $2 == 1 : 1) }
			END { exit good != 2 }' judged.txt
		ok $? "day $day: each CPU's newest marks, up to the last one, with their times, and all of the quiet CPU" ||
			cat judged.txt
		first=$(awk '!$1 { print $2 }' judged.txt)
		cudatrace report --format csv lost "week/day-$day" >lost.csv 2>/dev/null
		# Packets of 4 KiB, of which each has up to 55 marks.
		told=$(sed -n 's/^k-0,,,packets,,\([0-9]*\)$/\1/p' lost.csv)
		if [ "${first:-0}" -gt 1 ]; then
			[ $((${told:-0} * 55)) -ge $((first - 1)) ]
			ok $? "day $day: the $((first - 1)) marks of the busy CPU that were overwritten are told ($told packets)" || cat lost.csv
			overwritten=$((overwritten + 1))
		fi
		is "$(grep -vc -e '^Stream' -e '^k-0,,,packets' lost.csv)" 0 "day $day: nothing else is lost" || cat lost.csv
	done <week.txt
	[ "$overwritten" -gt 3 ]
	ok $? "the busy CPU's ring was overwritten on most days ($overwritten)"
fi
echo "$own_clock" >$clocks/current_clocksource
for set in $restore; do echo "${set#*=}" >"${set%=*}"; done
unload-module && rmmod ct_clock && load-module
ok $? "and the clock is the old one again"
