# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: doctor --selftest with the module and NVIDIA's real driver.

cudatrace doctor --selftest >selftest.txt 2>&1
ok $? "doctor --selftest" || cat selftest.txt
is "$(grep -c '^ok .*selftest: 100,000 ranges are recorded' selftest.txt)" 1 "all its ranges are recorded"
is "$(grep -cE '^ok .*selftest: 100,000 ioctls of the driver are recorded, with [1-9][0-9]* functions of the kernel below each, in order' selftest.txt)" 1 \
	"all its ioctls, with what the driver did in each, in order" || grep selftest: selftest.txt
is "$(grep -cE '^ok .*selftest: [1-9][0-9]* of [1-9][0-9]* armed probes recorded' selftest.txt)" 1 "it says which armed probes recorded"
is "$(ls -d /tmp/cudatrace-selftest-* 2>/dev/null | wc -l)" 0 "and leaves nothing behind"
