#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The part of tests/debug/run inside the guest, as root; no module is loaded at its start.
# $1: 1 for the long form; $2: the driver's version or none; $3: which tests.
# Prints TAP.
long=$1 driver=$2 only=$3
share=/mnt/share
. $share/judge.sh
mkdir -p /tmp/work && cd /tmp/work || exit 2
export PATH=$PATH:/mnt/build/tests
debugfs=/sys/kernel/debug

wanted() { case " $only " in *" $1 "*) true ;; *) false ;; esac; }

# kmemleak reports a leak that is some seconds old if two scans found no pointer to it.  The
# report is on the kernel's console, which the host reads.  Leaks from before the test are
# cleared.
leaks()
{
	[ -e $debugfs/kmemleak ] || return 0
	sleep 6
	echo scan >$debugfs/kmemleak
	sleep 1
	echo scan >$debugfs/kmemleak
	if [ "${1:-}" = forget ]; then
		echo clear >$debugfs/kmemleak
		return
	fi
	cat $debugfs/kmemleak >leaks
	[ ! -s leaks ]
	ok $? "no leak after $1" || head -n 60 leaks
}

# Lockdep turns itself off at its first report, and when there is more than it can follow.  And
# it must have seen the locks that are named in $share/locks.
locks()
{
	[ -e /proc/lockdep ] || return 0
	grep -qE '^ *debug_locks: +1$' /proc/lockdep_stats
	ok $? "lockdep is still on" || cat /proc/lockdep_stats
	awk '{ name = $NF; sub(/[#\/].*/, "", name); print name }' /proc/lockdep | sort -u >seen
	is "$(grep -vxFf seen $share/locks)" "" "it has seen each lock of the module ($(wc -l <$share/locks))"
}

# one NAME COMMAND...: a program that prints TAP
one()
{
	local name=$1 start=$SECONDS
	shift
	"$@" >"$name.tap"
	ok $? "$name ($((SECONDS - start)) s)"
	grep -v '^1\.\.' "$name.tap"
	cp "$name.tap" $share/
}

leaks forget
if wanted faults && [ -e $debugfs/failslab ]; then
	one faults faults "$CUDATRACE_KO" $([ "$long" = 1 ] && echo all)
	leaks "failures on demand"
fi
load-module || exit
if wanted device; then
	for name in device control clock readers rights limits namespaces lives text threadbuf threadbuf_limits threadbuf_close hotplug; do
		[ ! -x /mnt/build/tests/$name ] || one $name $name
	done
	timeout 2 cat /dev/cudatrace >cat.jsonl & cat=$!
	# All groups, so that the module searches for every row of its table.
	sleep 1
	wait $cat
	# The guest's other tests that need no driver; other kernels run them in their suites.
	if [ -e $share/module/ct_events.ko ]; then
		. $share/common.sh
		. $share/permissions.sh
		. $share/containers.sh
		chgrp root /dev/cudatrace
		. $share/tracepoint.sh
		. $share/discover.sh
		. $share/stand_in.sh
	fi
	leaks "the guest's tests"
fi
if [ "$driver" != none ]; then
	load-driver
	ok $? "the driver loads"
fi
if wanted stress; then
	CUDATRACE_DRIVER=$([ "$driver" != none ] && echo 1) \
		one stress stress $([ "$long" = 1 ] && echo 300 || echo 20)
	leaks stress
fi
if wanted fuzz; then
	one fuzz fuzz $([ "$long" = 1 ] && echo 600 || echo 20)
	leaks fuzz
fi
if wanted inside && [ "$long" = 1 ] && [ "$driver" != none ]; then
	INSIDE=250000
	. $share/inside.sh
fi
! wanted device || locks
rmmod cudatrace
ok $? "the module unloads"
leaks "unloading"
if [ -d $debugfs/gcov ]; then
	find $debugfs/gcov -name '*.gcda' -path '*/module/*' | while read -r file; do
		name=${file##*/module/}
		mkdir -p "$share/gcov/$(dirname "$name")"
		cat "$file" >"$share/gcov/$name"
	done
fi
plan
