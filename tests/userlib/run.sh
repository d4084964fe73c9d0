#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tests of the preload library on a machine without a GPU: a mock libcuda, small
# programs that do what has broken tracers, and a reader that accepts only valid
# packets.  Prints TAP; exit status 1 if a test failed.
#
#	tests/userlib/run.sh [--build DIR] [--list | --only PATTERN]
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/pick.sh
B=$PWD/build/tests/userlib
[ "${1:-}" != --build ] || { B=$(realpath -m "$2"); shift 2; }
PARTS="calls processes sinks registry beside table bypass roots surroundings attached stacks real"
for part in $PARTS; do
	. "tests/userlib/$part.sh"
done
NAMES=$(for part in $PARTS run; do grep -ho "^t_[a-z_0-9]*()" "tests/userlib/$part.sh"; done | tr -d "()")
choose_parts "$NAMES" "$@"
make -s -j2 -f tests/userlib/build.mk O="$B" || { echo "Bail out! does not build"; exit 1; }
W=$(mktemp -d /tmp/cudatrace-userlib.XXXXXX)
trap 'rm -rf "$W"' EXIT
export LC_ALL=C LD_LIBRARY_PATH=$B
unset CUDATRACE_DIR CUDATRACE_TRACE CUDATRACE_SINK CUDATRACE_DEVICE CUDATRACE_PACKET
unset CUDATRACE_TIME_QUERIES LD_PRELOAD
NUMBER=0 FAILED=0
# After so many seconds a program hangs: a busy machine takes none as long.
HANG=${CT_TEST_HANG:-600}

# ok TEXT STATUS: one line of TAP; what a failed test said goes behind it.
ok() {
	NUMBER=$((NUMBER + 1))
	if [ "$2" = 0 ]; then
		echo "ok $NUMBER - $1"
	else
		echo "not ok $NUMBER - $1"
		sed 's/^/# /' "$W/said" "$W/err" 2>/dev/null | head -20
		FAILED=$((FAILED + 1))
	fi
}

skip() {
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1 # SKIP $2"
}

# traced CMD...: runs it with a fresh directory $D; STATUS, $W/out, $W/err.
traced() {
	D=$W/trace
	rm -rf "$D" "$W/said"
	# In a shell of its own, whose word on signals nobody wants to read.
	(
		CUDATRACE_DIR=$D LD_PRELOAD=${LIB:-$B/libcudatrace.so} timeout -k 1 $HANG "$@" \
			>"$W/out" 2>"$W/err"
		exit $?
	) 2>/dev/null
	STATUS=$?
}

# killed_while CONDITION SECONDS CMD...: traced, with SIGKILL so long after CONDITION holds.
killed_while() {
	local condition=$1 seconds=$2 pid
	shift 2
	D=$W/trace
	rm -rf "$D" "$W/said"
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$@" >"$W/out" 2>"$W/err" & pid=$!
	local end=$((SECONDS + HANG))
	until $condition $pid || [ $SECONDS -ge $end ]; do
		sleep 0.01
	done
	sleep "$seconds"
	kill -KILL $pid
	wait $pid
	STATUS=$?
} 2>/dev/null
# It waits in pause().
pauses() { [ "$(cut -d ' ' -f 1 "/proc/$1/syscall")" = 34 ]; }
# A thread is about to hang, and has said so.
hangs() { grep -q '^tid ' "$W/out"; }
# It has a stream with a record.
streams() { grep -q . "$D"/u-"$1"-*; }

# valid: every packet can be read; the records are in $W/dump.
valid() {
	"$B/dump" "$D" >"$W/dump" 2>&1 && return 0
	grep '^bad' "$W/dump" | head -5 >>"$W/said"
	return 1
}

# counts N REGEX: as many lines of the dump match.
counts() {
	local n
	case $2 in
	^class*|^string*) n=$(grep -cE -- "$2" "$W/dump") ;;
	*) n=$(grep -vE '^(class|string) [0-9]' "$W/dump" | grep -cE -- "$2") ;;
	esac
	[ "$n" = "$1" ] && return 0
	echo "$n lines instead of $1 match: $2" >>"$W/said"
	return 1
}

# exits N: the status of the traced program.
exits() {
	[ "$STATUS" = "$1" ] && return 0
	echo "exit status $STATUS instead of $1" >>"$W/said"
	head -3 "$W/out" >>"$W/said"
	return 1
}

# silent: the library said nothing.
silent() {
	[ ! -s "$W/err" ] && return 0
	head -3 "$W/err" >>"$W/said"
	return 1
}

t_mutations() {
	tests/userlib/mutate --check | grep "^not ok" -A 1 >"$W/said"
	[ ! -s "$W/said" ]
	ok "what tests/userlib/mutate takes out is all there" $?
}

for t in $parts; do
	run_part "$t" "$t"
done
echo "1..$NUMBER"
[ $FAILED = 0 ]
