#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What is tested inside the guest, as root, in one boot: started with nothing
# loaded.  $1: the driver's version, or none.  Traces that it leaves in /mnt/share
# are judged by the host afterwards.  Prints TAP.
driver=$1
share=/mnt/share
. $share/judge.sh
# Traces are made on the guest's own file system: two processes that append to one
# file through 9p overwrite each other there (seen on 6.12).
mkdir -p /tmp/work && cd /tmp/work || exit 2
trap 'cp -r . $share/' EXIT
export PATH=$PATH:/mnt/build/tests
sim=/mnt/build/tests/sim

. $share/common.sh

# ---------------------------------------------------- the module alone -------
load-module
ok $? "the module loads with no driver there"
[ -c /dev/cudatrace ]
ok $? "/dev/cudatrace is made"
program device "the device's own test"
program control "what decides what is recorded"
program clock "the clock"
program readers "readers that wait"
program rights "who reads first"
program namespaces "whose numbers the text has"
program limits "limits of producers"
program hotplug "CPUs that come and go"
program lives "producers come and go"
program text "records as text"
. $share/consumers.sh
. $share/permissions.sh
. $share/containers.sh
. $share/versions.sh
. $share/lives.sh
. $share/throughput.sh
program threadbuf "thread buffers"
program threadbuf_limits "limits of producers, by thread buffers"
program threadbuf_close "a pause and a filter, by thread buffers"
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

[ "$driver" = none ] && { . $share/record.sh; plan; exit; }

# ------------------------------------------------------- orders of loading ---
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
. $share/record.sh
INSIDE=2500
. $share/inside.sh
. $share/driver.sh
. $share/rm.sh
. $share/tracepoint.sh
. $share/discover.sh
. $share/probe.sh
unload-driver
. $share/stand_in.sh
unload-module
ok $? "the module unloads at the end"
plan
