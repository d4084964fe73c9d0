#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: stacks.sh [PYTHON...]
#
# What `--stacks` costs a launch from 25 frames of Python, in nanoseconds on this machine: the same program against
# the tests' libcuda, which does nothing, bare, recorded, and recorded with stacks, in turns; of each the least of
# many short rounds.  "same": from one line; "other": each launch comes from other lines than the one before.  Where
# valgrind is, the instructions that taking a stack takes, which are the same on each machine.  Printed, never a limit.
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- python3
build=${CUDATRACE_BUILD:-$PWD/build}/bench/userlib
env -u MAKEFLAGS -u MAKELEVEL make -s -f tests/userlib/build.mk O="$build" \
	"$build/libcudatrace.so" "$build/libcudatrace-stacks.so" "$build/libcuda.so.1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C LD_LIBRARY_PATH=$build
unset CUDATRACE_DIR CUDATRACE_SINK CUDATRACE_DEVICE CUDATRACE_PACKET CUDATRACE_STACKS LD_PRELOAD

# program bare|recorded|stacks ARGUMENT...
program()
{
	local how=$1
	shift
	set -- "$python" tests/bench/stacks.py "$build/libcuda.so.1" "$@"
	rm -rf "$work/trace"
	case $how in
	bare) "$@" ;;
	recorded) env CUDATRACE_SINK=files CUDATRACE_DIR="$work/trace" LD_PRELOAD="$build/libcudatrace.so" "$@" ;;
	stacks) env CUDATRACE_STACKS=python CUDATRACE_SINK=files CUDATRACE_DIR="$work/trace" \
		LD_PRELOAD="$build/libcudatrace-stacks.so:$build/libcudatrace.so" ${valgrind:-} "$@" ;;
	esac
}

instructions()
{
	valgrind="valgrind --tool=callgrind --callgrind-out-file=$work/callgrind" program stacks 4032 1 "$1" >/dev/null 2>&1
	callgrind_annotate --inclusive=yes --threshold=100 "$work/callgrind" 2>/dev/null |
		awk '/stacks.c:cudatrace_stack/ { gsub(",", "", $1); printf "%.0f\n", $1 / 4032; exit }'
}

printf '%-24s %10s %10s %10s %12s %14s\n' "ns a launch" bare recorded stacks "on top" instructions
for python; do
	: >"$work/times"
	for _ in 1 2 3; do
		for how in bare recorded stacks; do
			program "$how" 3840 80 | sed "s/^/$how /" >>"$work/times"
		done
	done
	# A program without stacks measured something else.
	grep -q '^info stacks_python' "$work/trace/.registry" || { echo "$python: no stacks were recorded" >&2; exit 1; }
	version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
	for what in same other; do
		count=-
		! command -v valgrind >/dev/null || count=$(instructions "$what")
		awk -v name="$version, $what lines" -v what="$what" -v count="$count" '
			$2 == what && (!($1 in least) || $3 + 0 < least[$1]) { least[$1] = $3 + 0 }
			END {
				printf "%-24s %10.0f %10.0f %10.0f %12.0f %14s\n", name, least["bare"], least["recorded"],
					least["stacks"], least["stacks"] - least["recorded"], count
			}' "$work/times"
	done
done
