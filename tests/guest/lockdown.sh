# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh, as its last part, because no kernel takes it back: locks the kernel down
# (confidentiality), so that nobody adds probes, whatever their rights.

lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || mount -t securityfs securityfs /sys/kernel/security
cudatrace probe add __x64_sys_getpriority && cudatrace probe remove __x64_sys_getpriority
ok $? "a probe is added while the kernel is not locked down"
if [ -e $lockdown ]; then
	echo confidentiality >$lockdown
	ok $? "the kernel is locked down"
	cudatrace probe add __x64_sys_getpriority 2>lockdown.err
	is $? 1 "then no probe is added"
	is "$(grep -c 'the kernel is locked down (confidentiality)' lockdown.err)" 1 "and the message says why" || cat lockdown.err
	is "$(cudatrace doctor 2>&1 | grep -c "locked down (confidentiality): 'probe add' is refused")" 1 "doctor knows it, too"
	cudatrace record -q -f -o trace-lockdown -- true 2>lockdown.err
	ok $? "the driver's own functions are recorded as before" || cat lockdown.err
else
	skip "this kernel has no lockdown"
fi
