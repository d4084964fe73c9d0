# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh, with the module loaded and the driver not: orders of loading.  Leaves
# both loaded.

follow module-first.jsonl
# What it is asked about while the driver comes may not be found by its name yet.
cudatrace probe add nvidia:nvidia_poll
load-driver
ok $? "the driver loads while probes wait for it"
case $(uname -r):$driver in
6.12.*:535)
	! cudatrace probe add nvidia:nvidia_frontend_exit_module 2>/dev/null
	ok $? "the last function of the driver's memory is refused also after that"
esac
cudatrace probe remove nvidia:nvidia_poll
cuinit >/dev/null
wait_for module-first.jsonl '"name":"uvm_ioctl","phase":"E"'
ok $? "module first: its probes are armed when it comes" 
unload-driver
ok $? "the driver unloads under live probes"
load-driver
told module-first.jsonl
before=$(count '.name=="nvidia_ioctl" and .phase=="E"' module-first.jsonl)
cuinit >/dev/null
told module-first.jsonl
after=$(count '.name=="nvidia_ioctl" and .phase=="E"' module-first.jsonl)
[ "$after" -gt "$before" ]
ok $? "driver reloaded: its probes are armed again ($before, then $after ioctls)"
unfollow
unload-module
ok $? "the module unloads with the driver loaded"
load-module
ok $? "driver first: the module loads behind it"
