#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: user.sh [ROUNDS]
#
# What the preload library costs a traced call, in nanoseconds on this machine: the
# same program against the tests' libcuda, which does nothing, with the library and
# without, writing into files.  Both take turns (11 rounds of each), because a
# machine's speed drifts; the median of each is printed, and the difference.  Printed,
# never a limit: it depends on the machine.
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-11}
build=${CUDATRACE_BUILD:-$PWD/build}/bench/userlib
[ -e tests/userlib/bench_call.c ] || { echo "user.sh: there is no tests/userlib/bench_call.c" >&2; exit 1; }
env -u MAKEFLAGS -u MAKELEVEL make -s -f tests/userlib/build.mk O="$build" \
	"$build/libcudatrace.so" "$build/libcuda.so.1" "$build/bench_call" "$build/bench_start" \
	"$build/step" "$build/libcudatrace-nvtx.so" "$build/nvtx_app"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C LD_LIBRARY_PATH=$build
unset CUDATRACE_DIR CUDATRACE_SINK CUDATRACE_DEVICE CUDATRACE_PACKET LD_PRELOAD

# Calls are traced only as long as there is room for them: in a fresh folder each time.
for ((i = 0; i < rounds; i++)); do
	{ "$build/bench_call" && "$build/nvtx_app" bench; } | sed 's/^/plain /' >> "$work/times"
	rm -rf "$work/trace"
	CUDATRACE_SINK=files CUDATRACE_DIR=$work/trace LD_PRELOAD=$build/libcudatrace.so \
		"$build/bench_call" | sed 's/^/traced /' >> "$work/times"
	# Annotations write much: into a folder of their own, while its file is in memory.
	rm -rf "$work/annotated"
	CUDATRACE_SINK=files CUDATRACE_DIR=$work/annotated LD_PRELOAD=$build/libcudatrace.so \
		NVTX_INJECTION64_PATH=$build/libcudatrace-nvtx.so "$build/nvtx_app" bench |
		sed 's/^/traced /' >> "$work/times"
done
# A traced program that left no trace measured something else.
[ -n "$(find "$work/trace" -name 'u-*' -size +1M)" ] ||
	{ echo "user.sh: the traced program left no trace" >&2; exit 1; }

printf '%-28s %10s %10s %10s\n' "ns a call" plain traced "on top"
awk '
	{
		which = $1
		ns = $(NF - 1)
		sub(/^[a-z]+ /, "")
		sub(/ +[0-9.]+ ns$/, "")
		if (!($0 in seen)) {
			seen[$0] = 1
			order[++count] = $0
		}
		time[which, $0, ++n[which, $0]] = ns + 0
	}
	# The middle one, by looking for it: awks differ in how they sort.
	function median(which, what,   i, j, less, equal, all) {
		all = n[which, what]
		for (i = 1; i <= all; i++) {
			less = equal = 0
			for (j = 1; j <= all; j++) {
				less += time[which, what, j] < time[which, what, i]
				equal += time[which, what, j] == time[which, what, i]
			}
			if (less <= (all - 1) / 2 && less + equal > (all - 1) / 2)
				return time[which, what, i]
		}
	}
	END {
		for (i = 1; i <= count; i++) {
			plain = median("plain", order[i])
			traced = median("traced", order[i])
			printf "%-28s %10.1f %10.1f %10.1f\n", order[i], plain, traced, traced - plain
		}
	}' "$work/times"

echo
for what in query call launch; do
	rm -rf "$work/trace"
	CUDATRACE_SINK=files CUDATRACE_DIR=$work/trace LD_PRELOAD=$build/libcudatrace.so \
		"$build/step" count $what || true
done
echo
unset LD_LIBRARY_PATH
"$build/bench_start" "$build/libcudatrace.so"
