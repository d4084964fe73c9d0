# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: the machine goes to sleep while it records.  All of it but the last
# step, from which this machine would not wake.

if grep -q freezer /sys/power/pm_test 2>/dev/null && grep -Eqw 'mem|freeze' /sys/power/state; then
	follow sleep.jsonl
	echo freezer >/sys/power/pm_test
	# Else the kernel stays asleep for 5 seconds.
	echo 1 2>/dev/null >/sys/module/suspend/parameters/pm_test_delay
	if grep -qw mem /sys/power/state; then echo mem; else echo freeze; fi >/sys/power/state
	ok $? "the machine goes to sleep and wakes"
	echo none >/sys/power/pm_test
	told sleep.jsonl
	grep -q '"name":"clock"' sleep.jsonl
	ok $? "then the clocks are told anew"
	cudatrace snapshot -q -o trace-slept 2>/dev/null
	cudatrace export --format jsonl -o slept.jsonl trace-slept
	is "$(named slept.jsonl clock | jq -c 'select(.cpu) | .details.monotonic' | sort -u)" \
		"$(named sleep.jsonl clock | jq -c '.details.monotonic')" "in a trace as well"
	unfollow
	named sleep.jsonl clock | jq -e -s 'length == 1 and (.[0] |
		.details.monotonic == .ts_ns and .details.boottime >= .details.monotonic and
		.details.realtime > 1.6e18)' >/dev/null
	ok $? "monotonic, boot time and real time of one moment" || grep clock sleep.jsonl
else
	skip "this kernel can't try to sleep ($(cat /sys/power/state /sys/power/pm_test 2>&1 | tr '\n' ' '))"
fi
