#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [ITERATIONS=N] problems.sh OUTDIR [NAME...]
#
# Runs the programs of examples/problems on a machine with a GPU, each as it is and mended, and
# checks what explain says: the problem's rule fires on the first and not on the second.  Wants
# `make all examples` done; the module is not needed.  Prints TAP; traces and the whole text of
# explain go to OUTDIR.  tests/data/problems.tar.xz was made with ITERATIONS=120 and
# tar -C OUTDIR -cJf problems.tar.xz of the traces.
set -u
cd "$(dirname "$0")/../.."
out=$1
shift
mkdir -p "$out"
. tests/judge.sh

# PROGRAM RULE: what must be found.
problems='
host_bound       host-bound
sync_each_step   sync-each-iteration
pageable_copies  pageable-copies
alloc_in_loop    alloc-in-loop
lazy_loading     lazy-loading
leak             memory-growth
off_cpu          application
shared_gpu       shared-gpu
small_copies     small-copies
getters          getters
ignored_errors   ignored-errors
exact_repeats    cuda-graph
'

explain()
{
	local name=$1
	shift
	build/cudatrace record --no-module -q -f -o "$out/$name" -- "$@" >"$out/$name.out" 2>&1
	ok $? "$name: runs" || tail -n 3 "$out/$name.out"
	build/cudatrace explain --top 0 "$out/$name" >"$out/$name.txt" 2>&1
	ok $? "$name: explained" || tail -n 3 "$out/$name.txt"
	build/cudatrace explain --format json "$out/$name" >"$out/$name.json" 2>>"$out/$name.txt"
}

while read -r program rule; do
	[ -n "$program" ] || continue
	[ $# -eq 0 ] || [[ " $* " = *" $program "* ]] || continue
	explain "$program" "build/examples/problems/$program" ${ITERATIONS:+--iterations "$ITERATIONS"}
	jq -e --arg r "$rule" 'any(.findings[]; .Rule == $r and .Scope == "steady")' "$out/$program.json" >/dev/null
	ok $? "$program: $rule is found" || sed -n '/^VERDICT/,$p' "$out/$program.txt"
	explain "$program-mended" "build/examples/problems/$program" --mended \
		${ITERATIONS:+--iterations "$ITERATIONS"}
	jq -e --arg r "$rule" 'all(.findings[]; .Rule != $r or .Scope != "steady")' "$out/$program-mended.json" >/dev/null
	ok $? "$program --mended: $rule is not found" || sed -n '/^VERDICT/,$p' "$out/$program-mended.txt"
done <<<"$problems"
plan
