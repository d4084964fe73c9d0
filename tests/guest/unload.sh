# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: the module is unloaded, and loaded again.

/mnt/build/tests/limits classes >classes.tap
ok $? "ids of classes, which the module takes along when it goes"
grep -v '^1\.\.' classes.tap

exec 9</dev/cudatrace
! rmmod cudatrace 2>/dev/null
ok $? "no unload while somebody holds it open"
exec 9<&-
rmmod cudatrace
ok $? "an unload as soon as nobody does"
load-module
for i in 1 2 3; do rmmod cudatrace && load-module; done
ok $? "and as often as one likes"

follow follow.jsonl
kill -INT $cat 2>/dev/null; kill $cat
wait $cat
[ $? -ge 128 ]
ok $? "a signal ends cat"
