# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What the guest's tests in shell have in common.  Sourced, behind judge.sh, with /dev/cudatrace
# to follow.

# named FILE NAME: the lines of FILE whose record has that name.  jq under emulation takes a
# second for 3,000 lines, so it should get no others.
named() { grep -F "\"name\":\"$2\"" "$1"; }

# count FILTER FILE: lines of FILE for which jq's FILTER holds
count()
{
	local name='^\.name=="([a-z_A-Z0-9]*)"( and .*)?$'
	if ! [[ $1 =~ $name ]]; then
		jq -c "select($1)" "$2" | wc -l
	elif [ -z "${BASH_REMATCH[2]}" ]; then
		named "$2" "${BASH_REMATCH[1]}" | wc -l
	else
		named "$2" "${BASH_REMATCH[1]}" | jq -c "select($1)" | wc -l
	fi
}

# program NAME WHAT: a test program, whose own TAP goes through without its plan
program()
{
	/mnt/build/tests/$1 >$1.tap
	ok $? "$2"
	grep -v '^1\.\.' $1.tap
}

# wait_for FILE PATTERN [N]: until N lines (1) of FILE match
matches() { [ "$(grep -c "$2" "$1" 2>/dev/null)" -ge "${3:-1}" ]; }
wait_for() { wait_until matches "$@"; }

# follow FILE: cat writes what the device tells into it, as $cat, from the return on.
follow()
{
	rm -f "$1"
	cat /dev/cudatrace >"$1" & cat=$!
	wait_until followed "$1"
}
followed() { [ -s "$1" ] || { /mnt/build/tests/load here 1 >/dev/null; false; }; }

# told FILE: until all that has happened before stands in it, for text is in the order
# of time.
tolds=0
told()
{
	tolds=$((tolds + 1))
	/mnt/build/tests/load "mark:told $tolds." 1
	wait_for "$1" "\"text\":\"told $tolds\\."
}

# unfollow: that cat has seen enough.
unfollow()
{
	kill $cat
	wait $cat 2>/dev/null
}

# Until a session runs: record has started one when its probes are armed.
wait_for_session() { wait_until session_runs; }
session_runs() { cudatrace session status >/dev/null 2>&1; }

# start_as WHO...: a program that allocates and frees, as $pid; WHO is what starts it
start_as()
{
	rm -f attach.out
	LD_LIBRARY_PATH=$sim "$@" /mnt/build/tests/record-running 3 600 20 >attach.out 2>attach.err &
	pid=$!
	wait_until grep -q ready attach.out
}

# ends_well TEXT: its results were right, and libcuda's table is as it was
ends_well()
{
	kill -TERM $pid
	wait $pid
	[ $? = 0 ] && grep -q '^wrong 0$' attach.out && ! grep -q CHANGED attach.out
	ok $? "$1: the program's results are right, and libcuda's table is as it was" || cat attach.out attach.err
}
