# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: record --pid of programs that already run, with the module loaded and the
# driver's ioctls in each of their allocations.

# An emulated thread may need long, where the machine has other work.
export CUDATRACE_ATTACH_DEADLINE=300

# take TRACE [WHO...]: records $pid for a second
take()
{
	local trace=$1
	shift
	"$@" cudatrace record -q -f -o "$trace" --pid $pid --duration 1 2>attach.said
}

# attached TEXT TRACE: what a recording of $pid has to have
attached()
{
	cudatrace export --format jsonl -f -o attach.jsonl "$2" 2>attach.notes
	ioctls=$(named attach.jsonl ioctl | grep -F '"phase":"E"' | grep -cF "\"pid\":$pid,")
	[ "${ioctls:-0}" -gt 10 ]
	ok $? "$1: the driver's ioctls are in the trace ($ioctls)" || cat attach.notes
	# Of an allocation that was open when the process was attached to, the call is not there.
	outside=$(named attach.jsonl ioctl | grep -F '"phase":"E"' | grep -cF '"depth":0')
	[ "${outside:-0}" -le 30 ] && [ $((outside * 10)) -le "$ioctls" ]
	ok $? "$1: ... inside the calls that make them ($outside are not)"
	is "$(grep -c lost attach.notes)" 0 "$1: ... and none is lost" || cat attach.notes
}

# Beside a flight recorder of the module, which sees the same ioctls from below.
start_as env
cudatrace session start 2>session.err
ok $? "a session of the module" || cat session.err
for n in 1 2; do
	take trace-attach
	is $? 0 "root, time $n: record --pid beside the module" || cat attach.said
	attached "root, time $n" trace-attach
done
cudatrace snapshot -q -f -o attach-session 2>session.err
ok $? "a snapshot of the session" || cat session.err
cudatrace session stop 2>/dev/null
cudatrace export --format jsonl -f -o session.jsonl attach-session 2>/dev/null
below=$(named session.jsonl nvidia_ioctl | grep -F '"phase":"E"' | grep -cF "\"pid\":$pid,")
[ "${below:-0}" -gt 10 ]
ok $? "the module has ioctls of the process as well ($below)"
rm -rf trace-attach attach-session
ends_well root

# Whoever is not root: as the kernel's administrator has set it.
scope=/proc/sys/kernel/yama/ptrace_scope
if [ ! -e $scope ]; then
	skip "record --pid as a user: the kernel has no ptrace_scope"
else
	former=$(cat $scope)
	user="setpriv --reuid 1000 --regid 1000 --clear-groups"
	mkdir -p user && chown 1000:1000 user
	start_as $user
	for level in 0 1 2; do
		echo $level >$scope
		take user/trace $user
		status=$?
		if [ $level = 0 ]; then
			is $status 0 "a user, ptrace_scope 0: record --pid of a process of its own" || cat attach.said
			attached "a user, ptrace_scope 0" user/trace
		else
			[ $status -ne 0 ] && [ "$(grep -c ptrace_scope attach.said)" = 1 ]
			ok $? "a user, ptrace_scope $level: refused in a line that names it" || cat attach.said
		fi
	done
	take trace-attach
	[ $? -ne 0 ] && grep -q "is of user 1000, who may not write .*/trace-attach: " attach.said
	ok $? "root: a trace that a user's process may not write is refused" || cat attach.said
	ends_well "a user"
	start_as env
	for level in 1 2; do
		echo $level >$scope
		take trace-attach
		is $? 0 "root, ptrace_scope $level: record --pid" || cat attach.said
		attached "root, ptrace_scope $level" trace-attach
		rm -rf trace-attach
	done
	echo $former >$scope
	ends_well "root, again"
fi
rm -rf user trace-attach
unset CUDATRACE_ATTACH_DEADLINE
