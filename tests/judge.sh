# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# For tests in shell: TAP.  Sourced.

tap_count=0 tap_failed=0

# After so many seconds a command hangs: a busy machine takes no test as long.
hang=600

# wait_until COMMAND...: until it succeeds; 1: it has not before $hang
wait_until()
{
	local end=$((SECONDS + hang))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# ok STATUS TEXT: a test passed if STATUS is 0.
ok()
{
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=$((tap_failed + 1))
		return 1
	fi
}

# is GOT WANTED TEXT
is()
{
	[ "$1" = "$2" ]
	ok $? "$3 (got '$1', wanted '$2')"
}

# skip TEXT
skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count # SKIP $1"
}

plan()
{
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ]
}
