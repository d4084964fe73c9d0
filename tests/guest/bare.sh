# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh, in the bare kernel: the module says what is missing, refuses what needs it,
# and does the rest.

cudatrace doctor >doctor.txt 2>&1
for option in KRETPROBES TRACEPOINTS FUNCTION_TRACER CGROUPS DMA_SHARED_BUFFER; do
	grep -q "this kernel is without CONFIG_$option" doctor.txt
	ok $? "doctor says that the kernel is without $option"
done
grep -q '^ok .*/dev/cudatrace opens for recording' doctor.txt
ok $? "and that the device records" || cat doctor.txt

# All groups are asked for, also those that have no sources here.
cudatrace session start
ok $? "a session starts"
cudatrace probe add vfs_read 2>refused.txt
is "$? $(cat refused.txt)" "1 cudatrace: vfs_read: Operation not supported" "a probe is refused"
cudatrace session filter --pid $$ --children 2>refused.txt
[ $? = 1 ] && grep -q 'not supported' refused.txt
ok $? "and a filter that follows children" || cat refused.txt
follow bare.jsonl
/mnt/build/tests/load seen 100 >/dev/null
told bare.jsonl
unfollow
is "$(named bare.jsonl seen | jq -r .phase | sort | uniq -c | xargs)" "100 I" "cat prints each mark"
is "$(jq -r .type bare.jsonl | sort -u | grep -vE '^(tracer|memory|marker|process)$')" "" "and nothing that has no source here"
cudatrace session stop
ok $? "the session ends"

for i in 1 2 3; do unload-module && load-module; done
ok $? "the module unloads and loads again"

# From here on the kernel loads signed modules only, as with Secure Boot.
is "$(cudatrace doctor | grep -c 'loads only signed modules')" 0 "the kernel loads modules without a signature"
unload-module
echo Y >/sys/module/module/parameters/sig_enforce
load-module 2>unsigned.txt
[ $? != 0 ] && ! grep -q '^cudatrace ' /proc/modules
ok $? "now it refuses the one that is not signed" || cat unsigned.txt
cudatrace doctor >unsigned.txt
is "$(grep -c 'the kernel loads only signed modules' unsigned.txt) $(grep -A1 '^missing the module is not signed, and this kernel wants it signed' unsigned.txt | grep -c 'make sign')" "1 1" \
	"doctor says why, and what to do" || cat unsigned.txt
insmod $share/module/cudatrace-signed.ko
ok $? "the one that is signed by a key that the kernel trusts loads"
cudatrace session start && cudatrace session stop
ok $? "... and records"
