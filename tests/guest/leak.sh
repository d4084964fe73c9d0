# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# A real leak of NVIDIA's driver 535: opening an H100 whose firmware does not answer
# allocates one block of pages more than it frees.  Runs in a guest of its own, with the
# persona h100.  Prints TAP.
share=/mnt/share
. $share/judge.sh
mkdir -p /tmp/work && cd /tmp/work || exit 2
trap 'cp -r . $share/' EXIT

opens=3
cudatrace record -q -o leak-trace -- /mnt/build/tests/rm open $opens >leak.out 2>leak.err
ok $? "a program that opens the GPU $opens times, each in vain" || cat leak.err
cudatrace report --format csv blocks leak-trace >leak.report
# function, blocks, bytes, taken, freed, pid, process, call of libcuda, driver function
IFS=, read -r _ blocks _ taken freed _ name _ call < <(grep '^nv_alloc_pages,' leak.report)
is "${blocks:-0}" $opens "report names nv_alloc_pages, a block for each open" || cat leak.report
is "$((${taken:-0} - ${freed:-0}))" $opens "as many more were taken than freed"
is "$name $call" "rm nvidia_open" "with the program and the call that they were taken in"
grep -cE '^0x[0-9a-f]+,[1-9][0-9]*,[0-9]+,nv_alloc_pages,' leak.report >blocks.txt
is "$(cat blocks.txt)" $opens "each block is listed, with its size"
grep '^nv_alloc_pages,' leak.report | sed 's/^/# /'
plan
