# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: a command and a library that were built with other numbers.

other=/mnt/build/tests/other
schema=$(modinfo -F schema "$CUDATRACE_KO")
is "ABI $(modinfo -F abi "$CUDATRACE_KO"), schema $schema" "$(cudatrace --version | grep -o 'ABI [0-9]*, schema [0-9]*')" \
	"modinfo tells the command's ABI and schema"
$other/cudatrace-abi session status >version.out 2>&1
is $? 1 "a command of a newer ABI refuses"
grep -q "ABI $(modinfo -F abi "$CUDATRACE_KO"), schema $schema) and this command.*ABI 99.*update the module" version.out
ok $? "and says that the module is to be updated" || cat version.out
$other/cudatrace-schema session status >version.out 2>&1
is $? 1 "one of an older schema refuses, too"
grep -q "schema $schema) and this command.*schema 0.*update the command" version.out
ok $? "and says that it is itself to be updated" || cat version.out
mkdir -p trace-other
CUDATRACE_DIR=$PWD/trace-other LD_PRELOAD=$other/libcudatrace-abi.so LD_LIBRARY_PATH=$sim /mnt/build/examples/inference --iterations 2 >other.out 2>other.err
ok $? "a program runs under a library of another ABI" || cat other.err
is "$(grep -c 'older than this library' other.err)" 1 "which says once that the module is older"
[ "$(find trace-other -name 'u-*' | wc -l)" -gt 0 ]
ok $? "and records into files"
cudatrace export --format jsonl -o other.jsonl trace-other 2>/dev/null
[ "$(count '.name=="cuLaunchKernel" and .phase=="E"' other.jsonl)" -gt 0 ]
ok $? "which are a trace"
