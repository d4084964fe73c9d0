# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: memory is charged to the cgroup of the process that starts the session.

# Before Linux 5.11 pages that are charged cannot be mapped, so the module's are not charged.
case $(uname -r) in 5.10.*) not_charged=1 ;; *) not_charged= ;; esac
is "$(cudatrace doctor 2>&1 | grep -c 'this kernel is')" "${not_charged:-0}" "doctor says what this kernel lacks"
mkdir -p cg && { mountpoint -q cg || mount -t cgroup2 none cg; }
if grep -q memory cg/cgroup.controllers && echo +memory >cg/cgroup.subtree_control; then
	mkdir cg/recorder
	cpus=$(getconf _NPROCESSORS_CONF)
	before=$(cat cg/recorder/memory.current)
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace session start --groups added --subbufs 256'
	after=$(cat cg/recorder/memory.current)
	if [ -z "$not_charged" ]; then
		[ $((after - before)) -ge $((cpus * 256 * 65536)) ]
		ok $? "rings are charged to the cgroup of who starts the session ($((after - before)) bytes)"
	else
		skip "rings are charged to a cgroup: this kernel can't map charged pages"
	fi
	cudatrace session stop
	# The kernel frees and counts some of it later.
	given_back() { [ "$(cat cg/recorder/memory.current)" -lt $((after / 4)) ]; }
	if [ -z "$not_charged" ]; then
		wait_until given_back
		ok $? "and given back at the end"
	fi
fi
if [ -d cg/recorder ] && [ -z "$not_charged" ]; then
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec limits charged cg/recorder/memory.current'
	ok $? "classes are charged to the cgroup of the process that defines them"
	echo $((16 << 20)) >cg/recorder/memory.max
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace session start --groups added --subbufs 1024' 2>memory.err
	is $? 1 "what its cgroup may not have is refused"
	grep -qi 'memory' memory.err
	ok $? "in words: $(cat memory.err)"
	! cudatrace session status >/dev/null 2>&1
	ok $? "and nothing is left half done"
	follow default.jsonl
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace session start --groups added --subbufs 1024' 2>/dev/null
	is "$? $(cudatrace session status | grep -c "for a reader of")" "1 1" "nor is the session of a reader ended for it"
	unfollow
	# A trace holds all strings that were ever defined: without those of other tests it is small.
	unload-module && load-module
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec cudatrace record -q --groups added --ring-size 64M -o smaller -- true' 2>smaller.err
	ok $? "record takes smaller rings where there is no memory for those that were asked for"
	grep -Eq "each CPU's ring has 1.00 MiB instead of 64.00 MiB" smaller.err
	ok $? "and says so: $(grep 'ring has' smaller.err)" || cat smaller.err
	cudatrace record -q -o threadbufs-refused -- sleep 1000 2>/dev/null & recorder=$!
	wait_for_session
	sh -c 'echo $$ >cg/recorder/cgroup.procs; exec threadbuf refused'
	ok $? "a thread buffer that its cgroup may not have is refused, too"
	threadbuf_limits order cg/recorder/cgroup.procs
	ok $? "who has used up his quota is told so before there is memory"
	kill $recorder; wait $recorder
	! dmesg | grep -E 'Unexpected gfp|vmalloc error|(page )?allocation failure|Mem-Info|invoked oom-killer'
	ok $? "and the kernel's log is spared"
elif [ ! -d cg/recorder ]; then
	skip "no memory controller in this kernel"
fi
[ ! -d cg/recorder ] || rmdir cg/recorder
umount cg 2>/dev/null
