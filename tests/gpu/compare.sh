#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: compare.sh OUTDIR NAME COMMAND...
#
# Runs COMMAND once, recorded by cudatrace without the module and counted by CUPTI's
# callbacks at the same time, and prints, function by function, where the two counts
# differ: NAME, cudatrace's count, CUPTI's count.  Both files stay in OUTDIR.  The
# status is COMMAND's.  Wants cudatrace and its libraries in build/, gcc and CUPTI.
set -u
cd "$(dirname "$0")/../.."
out=$1 name=$2
shift 2
mkdir -p "$out"
cuda=${CUDA_HOME:-/usr/local/cuda}
if [ ! -e "$out/cupti_count.so" ]; then
	gcc -shared -fPIC -O2 -o "$out/cupti_count.so" tests/gpu/cupti_count.c \
		-I"$cuda/include" -I"$cuda/extras/CUPTI/include" \
		-L"$cuda/extras/CUPTI/lib64" -L"$cuda/lib64" -L"$cuda/lib" -lcupti \
		-Wl,-rpath,"$cuda/extras/CUPTI/lib64:$cuda/lib64:$cuda/lib" || exit 2
fi

rm -f "$out/$name".cupti.*
CUDA_INJECTION64_PATH=$(realpath "$out")/cupti_count.so CUPTI_COUNT=$(realpath "$out")/$name.cupti \
	build/cudatrace record --no-module -q -f -o "$out/both-$name" -- "$@" >"$out/$name.both.out" 2>&1
status=$?
build/cudatrace export --format jsonl "$out/both-$name" |
	awk '/"layer":"user"/ && !/"phase":"B"/ && match($0, /"name":"cu[^"]*"/) {
		name = substr($0, RSTART + 8, RLENGTH - 9)
		if (match($0, /"symbol":"[^"]*"/))
			name = substr($0, RSTART + 10, RLENGTH - 11)
		count[name]++
	}
	END { for (name in count) print name "\t" count[name] }' | sort >"$out/$name.ours"
cat "$out/$name".cupti.* 2>/dev/null | awk -F '\t' '{ count[$1] += $2 }
	END { for (name in count) print name "\t" count[name] }' | sort >"$out/$name.cupti"

awk -F '\t' -v name="$name" '
	NR == FNR { ours[$1] = $2; all[$1]; next }
	{ theirs[$1] = $2; all[$1] }
	END {
		for (f in all) {
			a += ours[f]
			b += theirs[f]
			if (ours[f] == theirs[f])
				same++
			else
				line[++n] = sprintf("  %-44s %9d %9d", f, ours[f], theirs[f])
		}
		printf "%s: cudatrace %d calls, CUPTI %d calls, %d functions alike, %d not\n", name, a, b, same, n
		for (i = 1; i <= n; i++)
			print line[i]
	}' "$out/$name.ours" "$out/$name.cupti"
exit $status
