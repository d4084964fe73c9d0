# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: NVIDIA's real driver under NVIDIA's real libcuda.

# strace and the module watch the same run.  strace also sees the library's own calls of
# /dev/cudatrace (type 0xc7), which are filtered out.
cudatrace record -q -o trace-cuinit -- strace -f -e trace=ioctl -o strace.txt /mnt/build/tests/cuinit >cuinit.out 2>cuinit.err
ok $? "cuInit of NVIDIA's libcuda under record and strace" || cat cuinit.err
cudatrace export --format jsonl -o cuinit.jsonl trace-cuinit
seen=$(grep 'ioctl(' strace.txt | grep -vc '0xc7')
grep -E '"name":"(nvidia_ioctl|uvm_ioctl|cuInit)"' cuinit.jsonl >io.jsonl
is "$(count '(.name=="nvidia_ioctl" or .name=="uvm_ioctl") and .phase=="E"' io.jsonl)" "$seen" "as many ioctls as strace saw"
is "$(count '(.name=="nvidia_ioctl" or .name=="uvm_ioctl") and .phase=="B"' io.jsonl)" "$seen" "each with its entry"
jq -s -e '
	(map(select(.name=="cuInit")) | map({(.phase): .ts_ns}) | add) as $init |
	map(select(.name=="nvidia_ioctl" or .name=="uvm_ioctl") |
	    select(.ts_ns > $init.B - 1e9)) as $io |
	($io | length) > 10 and
	($io | map(select(.ts_ns >= $init.B and .ts_ns <= $init.E)) | length) >= ($io | length) - 12 and
	($io[0].ts_ns >= $init.B)' io.jsonl >/dev/null
ok $? "cuInit begins before its first ioctl is entered and ends after their exits"
is "$(count '.name=="nvidia_ioctl" and .phase=="E" and ((.escape // "")|startswith("NV_ESC_")|not)' cuinit.jsonl)" 0 "every ioctl of the driver has its name"
rm_calls='.name=="nvidia_ioctl" and .phase=="E" and (.escape=="NV_ESC_RM_CONTROL" or .escape=="NV_ESC_RM_ALLOC" or .escape=="NV_ESC_RM_FREE")'
[ "$(count "$rm_calls" cuinit.jsonl)" -ge 8 ]
ok $? "RM calls are there ($(count "$rm_calls" cuinit.jsonl))"
is "$(count "$rm_calls and (.status|not)" cuinit.jsonl)" 0 "each with its status"
is "$(count '.escape=="NV_ESC_RM_CONTROL" and .phase=="E" and (.control|not)' io.jsonl)" 0 "every control with its command's name"
is "$(count '.escape=="NV_ESC_RM_ALLOC" and .phase=="E" and (.class|not)' io.jsonl)" 0 "every allocation with its class's name"
for name in os_alloc_mem os_free_mem nv_alloc_pages nv_free_pages nv_dma_map_alloc nvidia_open rm_ioctl rm_init_adapter nv_get_firmware; do
	[ "$(count ".name==\"$name\" and .phase==\"E\"" cuinit.jsonl)" -gt 0 ]
	ok $? "$name is recorded"
done
[ "$(count '.name=="nv_get_firmware" and .phase=="E" and .size > 1000000' cuinit.jsonl)" -gt 0 ]
ok $? "the firmware that was loaded has its size"
[ "$(count '.name=="nvidia_isr" and .context=="hardirq"' cuinit.jsonl)" -gt 0 ]
ok $? "nvidia_isr is recorded, in its hard interrupt"
[ "$(count '.name=="rm_isr" and .context=="hardirq"' cuinit.jsonl)" -gt 0 ]
ok $? "rm_isr too, through a breakpoint, with the right context"

# The same without the module: the ioctls as the preload library records them.
cudatrace record -q --no-module -o trace-files -- strace -f -e trace=ioctl -o strace2.txt /mnt/build/tests/cuinit >/dev/null 2>files.err
ok $? "without the module" || cat files.err
cudatrace export --format jsonl -o files.jsonl trace-files
is "$(count '.name=="ioctl" and .type=="syscall" and .phase=="E"' files.jsonl)" "$(grep 'ioctl(' strace2.txt | grep -vc TCGETS)" "the library sees as many ioctls as strace"
is "$(count '.name=="ioctl" and .phase=="E" and (.escape|not)' files.jsonl)" 0 "each with its name"

# A filter is set and removed: threads leave their thread buffers and get new ones.  Only a call
# whose record was being written at that moment may be lost, and the loss is reported.
LD_LIBRARY_PATH=/mnt/build/tests/userlib cudatrace record -f --subbufs 256 -o filtered -- sh -c '
	/mnt/build/tests/userlib/inside calls 24000 2 & p=$!
	while sleep 0.1; kill -0 $p 2>/dev/null; do
		cudatrace session filter --comm inside; sleep 0.1
		cudatrace session filter --none
	done
	wait $p' >/dev/null 2>filtered.err
ok $? "two threads with 24000 calls each, and a filter that comes and goes"
cudatrace export --format jsonl filtered >filtered.jsonl
calls=$(named filtered.jsonl cuMockIoctl | grep -c '"duration_us":')
lost=$(sed -n 's/^ *lost records *\([0-9,]*\).*/\1/p' filtered.err)
[ "$calls" -le 48000 ] && [ $((calls + lost)) -ge 48000 ]
ok $? "their calls are all there, or told as lost ($calls, $lost lost)" || cat filtered.err
[ "$(ls filtered/u-* | wc -l)" -ge 4 ]
ok $? "by thread buffers, then by ioctls, then by other thread buffers"
rm -rf filtered filtered.jsonl
