# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh, with NVIDIA's driver unloaded: a stand-in with the driver's name and
# version 580 calls functions with the signatures that NVIDIA publishes (module/nvidia.c says
# what that proves and what not).

follow stand_in.jsonl
insmod $share/module/nvidia.ko
ok $? "a stand-in for driver 580 loads"
is "$(cudatrace probe status | awk '$3 == "nvidia_dev_xid" { print $4 }')" armed "it brings the tracepoint of Xids"
echo 1 >/dev/ct_nvidia
told stand_in.jsonl
unfollow
# only NAME FIELDS [FILE]: jq's FIELDS of the only record of NAME
only() { named "${3:-stand_in.jsonl}" "$1" | jq -c "select(.phase!=\"B\") | $2" | tr '\n' ' '; }
is "$(only nvidia_isr '[.context, .details.irq, .pid]')" '["hardirq",33,0] ' "nvidia_isr, in its hard interrupt"
is "$(only nvidia_isr_bh_unlocked '[.context // "task", .details.arg0]')" '["task","0x1234"] ' "the bottom half without a lock, in a kernel thread"
is "$(only rm_isr_bh_unlocked '.context // "task"')" '"task" ' "inside it that of the prebuilt core, by breakpoint"
is "$(only nvidia_isr_kthread_bh '[.details.irq, .details.handled]')" '[33,1] ' "the threaded bottom half"
is "$(only rm_isr_bh '.context // "task"')" '"task" ' "and that of the prebuilt core"
is "$(only nv_alloc_pages '[.details.count, .size, .details.contig, .details.ptr]')" '[3,12288,1,"0xabcd1000"] ' "nv_alloc_pages with the signature of 580, its handle read from the stack"
is "$(only nv_free_pages '[.details.count, .size, .details.contig, .details.ptr]')" '[3,12288,1,"0xabcd1000"] ' "nv_free_pages of the same handle"
is "$(only nvidia_dev_xid '[.details.xid, .details.text]')" '[79,"GPU has fallen off the bus."] ' "nvidia_dev_xid, with its number and message"
rmmod nvidia

# The number of an Xid has 32 bits; the other half of its register may hold anything.
insmod $share/module/nvidia.ko
cudatrace session start --groups interrupt
ok $? "a flight recorder"
cudatrace snapshot -q -f -o trace-xid --on xid 2>xid.err & waiter=$!
wait_until grep -q 'waiting for a trigger' xid.err
echo xid >/dev/ct_nvidia
wait $waiter
ok $? "an Xid triggers a snapshot" || cat xid.err
is "$(cudatrace export trace-xid | grep '"name":"trigger"' | jq -c '[.details.value, .details.function]')" '[79,"nv_report_error"]' "which says the Xid's number"
cudatrace session stop
# The same of a recording that keeps the newest.
cudatrace record -q -f -o trace-kept-xid --keep 60s,64M --on xid -- sleep 20 2>kept.err & recorder=$!
wait_until grep -q 'a copy: cudatrace snapshot' kept.err
sleep 1
echo xid >/dev/ct_nvidia
wait_until grep -q 'snapshot in .*trace-kept-xid-1 (an Xid)' kept.err
ok $? "record --keep --on xid copies what there is" || cat kept.err
kill -TERM $recorder
wait $recorder
is "$(cudatrace export trace-kept-xid-1 | jq -r 'select(.name == "nv_report_error") | .details.xid' | sort -u)" 79 "... with the Xid's record"
rmmod nvidia

# Signatures differ between branches.  The version is known when the session starts.
for version in 520.61.05 525.60.13 535.261.03; do
	insmod $share/module/nvidia.ko version=$version
	follow stand_in-$version.jsonl
	echo 1 >/dev/ct_nvidia
	told stand_in-$version.jsonl
	unfollow
	rmmod nvidia
	is "$(only nv_alloc_pages '[.details.count, .details.contig, .details.ptr]' stand_in-$version.jsonl)" '[3,1,"0xabcd1000"] ' "driver $version: the handle of nv_alloc_pages"
	is "$(only nv_get_firmware '[.size, .details.firmware]' stand_in-$version.jsonl)" '[4096,2] ' "and the size of firmware"
done

# Arguments are followed as pointers only for a driver of a branch whose source was read, and then
# without trust.
for version in 580.95.05 999.1; do
	insmod $share/module/nvidia.ko version=$version
	follow stand_in-$version.jsonl
	echo file >/dev/ct_nvidia
	echo 1 >/dev/ct_nvidia
	told stand_in-$version.jsonl
	unfollow
	follow nowhere-$version.jsonl
	echo nowhere >/dev/ct_nvidia
	told nowhere-$version.jsonl
	unfollow
	rmmod nvidia
done
device='[.device, .details.ret]' pages='[.details.count, .details.ptr]' xid='[.details.xid, .details.pci, .details.text]'
is "$(only nvidia_ioctl "$device" stand_in-580.95.05.jsonl)" '["nvidia7",0] ' "driver 580: the device is read from the file"
is "$(only nvidia_ioctl "$device" stand_in-999.1.jsonl)" '["unknown",0] ' "an unknown driver: it is not"
is "$(only nv_alloc_pages "$pages" stand_in-999.1.jsonl)" '[3,"0x0"] ' "nor the handle of nv_alloc_pages"
is "$(only nvidia_dev_xid "$xid" stand_in-999.1.jsonl)" '[79,"0x0",""] ' "nor the message of an Xid"
is "$(only nvidia_ioctl "$device" nowhere-580.95.05.jsonl)" '["unknown",0] ' "driver 580, with pointers that lead nowhere: a device that cannot be read"
is "$(only nvidia_dev_xid "$xid" nowhere-580.95.05.jsonl)" '[13,"0x0",""] ' "and an Xid's message"
is "$(only nvidia_dev_xid "$xid" nowhere-999.1.jsonl)" '[13,"0x0",""] ' "the same with an unknown driver"
