# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: records inside a record, by ct_nested.ko.

insmod $share/module/ct_nested.ko
cudatrace probe add ct_nested:ct_nested_call
program nested "writers that nest more than a packet deep"
cudatrace probe remove ct_nested:ct_nested_call >/dev/null
rmmod ct_nested
ok $? "the test's module unloads"
