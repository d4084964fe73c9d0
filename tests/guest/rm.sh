# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: compares each decoded ioctl with what the program that issued it
# sent and got back (tests/guest/rm.c prints that).

# ioctls FILE "NAME"|...: the ioctls of a trace in the form that rm prints.
ioctls()
{
	grep -E "\"name\":($2)" "$1" | jq -c "select(.phase==\"E\") | select(.device | startswith(\"nvidia\")) |
		{device, cmd, ret: .details.ret, name: (.escape // null),
		 client: (.details.client // null), object: (.details.object // null),
		 parent: (.details.parent // null),
		 code: (.control // .class // null), status: (.status // null)}"
}

cudatrace record -q -f -o trace-rm -- /mnt/build/tests/rm >rm.sent 2>rm.err
ok $? "a program of ioctls, through the module" || cat rm.err
cudatrace export --format jsonl -f -o rm.jsonl trace-rm
ioctls rm.jsonl '"nvidia_ioctl"|"uvm_ioctl"' >rm.seen
jq -c . rm.sent >rm.wanted
is "$(wc -l <rm.seen)" "$(wc -l <rm.wanted)" "every ioctl is there"
diff rm.wanted rm.seen >rm.diff
ok $? "each decoded field is what the program sent and got back" || head -n 20 rm.diff

cudatrace record -q -f --no-module -o trace-rm-files -- /mnt/build/tests/rm >rm2.sent 2>rm.err
ok $? "the same without the module" || cat rm.err
cudatrace export --format jsonl -f -o rm2.jsonl trace-rm-files
ioctls rm2.jsonl '"ioctl"' >rm2.seen
# The library recognises an ioctl of the driver by its number; two of the unknown ones have none.
jq -c 'select(.cmd != 9999 and (.cmd | . / 256 | floor % 256) != 71)' rm2.sent >rm2.wanted
diff rm2.wanted rm2.seen >rm2.diff
ok $? "the library's view of each ioctl is the same" || head -n 20 rm2.diff

# Faults on managed memory: four pages were written, each at its address.
is "$(named rm.jsonl uvm_va_block_cpu_fault | jq -c 'select(.phase=="E") | [.details.address, .details.write]' | tr '\n' ' ')" '["0x7e0000000000",1] ["0x7e0000200000",1] ["0x7e0000400000",1] ["0x7e0000600000",1] ' "each fault of managed memory, with its address and kind"
is "$(named rm.jsonl uvm_api_migrate | jq -c 'select(.phase=="E") | [.details.address, .size]')" '["0x7e0000000000",8388608]' "uvm_api_migrate, of what range"
is "$(named rm.jsonl uvm_api_free | jq -c 'select(.phase=="E") | [.details.address, .size]')" '["0x7e0000000000",8388608]' "uvm_api_free, of what range"
grep -E '"name":"(uvm_ioctl|uvm_api_migrate)"' rm.jsonl |
	jq -s -e 'map(select(.name=="uvm_ioctl" and .escape=="UVM_MIGRATE")) as $io |
	map(select(.name=="uvm_api_migrate")) as $m |
	$m[0].ts_ns >= $io[0].ts_ns - $io[-1].duration_us * 1000 and $m[-1].ts_ns <= $io[-1].ts_ns' >/dev/null
ok $? "inside its ioctl"

# The handles of the program, from allocation to free.
cudatrace report --format csv handles trace-rm >rm.report
# depth, client, handle, parent, class, pid, allocated, freed, with its parent, ioctls, status
grep -qE '^0,0xc1d0[0-9a-f]+,0xc1d0[0-9a-f]+,,NV01_ROOT_CLIENT,[0-9]+,[0-9]+,[0-9]+,no,' rm.report
ok $? "report handles: the client, from its allocation to its free" || cat rm.report
grep -qE '^[0-9]+,0x[0-9a-f]+,0x5c000008,0x[0-9a-f]*,0xdead,[0-9]+,[0-9]+,,,0,NV_ERR_INVALID_CLASS$' rm.report
ok $? "and what RM refused, with its status"

# Every group of probes has hits, which the test's programs caused (the scheduler's: below).
follow groups.jsonl
/mnt/build/tests/rm >/dev/null 2>&1
/mnt/build/tests/rm open 1 >/dev/null
told groups.jsonl
cudatrace probe status >groups.status
unfollow
for of in ioctl:nvidia_ioctl memory:nv_alloc_pages interrupt:nvidia_isr context:rm_init_adapter uvm:uvm_va_block_cpu_fault; do
	hits=$(awk -v g=${of%:*} '$1 == g && $4 == "armed" && $6 > 0 { n++ } END { print n + 0 }' groups.status)
	[ "$hits" -gt 0 ] && [ "$(count ".name==\"${of#*:}\" and .phase==\"E\"" groups.jsonl)" -gt 0 ]
	ok $? "group ${of%:*}: $hits functions have hits, ${of#*:} its records"
done
awk '$4 == "armed" && $6 > 0 { hit = hit " " $3 } $4 == "armed" && $6 == 0 { not = not " " $3 } END { print "# hit:" hit "\n# not:" not }' groups.status

# UVM's own test of its queues: hundreds of thousands of items per second.  It starts and
# stops threads, and fails if a thread was stopped before it ever ran.  That happens with few
# processors: then items are missing, and the test is repeated with a message.  If tracing
# spoilt the result, another check of UVM's test would fail.
# selftest OPTION...: under record with these options
selftest()
{
	local try said
	for try in 1 2 3; do
		said=$(dmesg | wc -l)
		cudatrace record -f --groups scheduler "$@" -o load-trace -- /mnt/build/tests/rm selftest >load.out 2>load.err && return
		dmesg | tail -n "+$((said + 1))" | grep -E 'kthread_q|Test check failed' >load.said
		if grep -q '_multithreaded_q_test:.* check failed.*local_accumulator' load.said; then
			echo "# the self-test stopped a thread of its own before it ran (try $try)"
		elif grep -q '_check_cpu_affinity_test:.* check failed' load.said; then
			# It wants its thread on the memory node that it asked for; where all processors are
			# busy the scheduler moves it.
			echo "# a thread of the self-test ran on another node (try $try)"
		else
			return 1
		fi
	done
	return 1
}
losses() { awk '/^  lost records/ { gsub(",", ""); print $3 }' load.err; }
# Small rings lose most of it; what record then says must be true.
selftest --ring-size 256K
ok $? "UVM's self-test under record, with small rings" || cat load.err load.said
few=$(losses) advised=$(sed -n 's/^    do: .* --ring-size \([0-9]*[KMG]\) .*/\1/p' load.err)
[ "${few:-0}" -gt 1000 ] && grep -Eq '^    why: [0-9,]+: (the ring of a CPU was full|one producer)' load.err
ok $? "record says why it lost ${few:-nothing}" || cat load.err
[ -n "$advised" ]
ok $? "and which rings would have been large enough (${advised:-none})" || cat load.err
# The advice is of the run that was recorded; another one on a busier machine may need more,
# and then its own advice is followed.
for try in 1 2 3; do
	selftest --ring-size "$advised"
	status=$?
	lost=$(losses)
	[ $status -eq 0 ] && [ "${lost:-0}" -gt 0 ] && [ $try -lt 3 ] || break
	echo "# rings of $advised lost $lost (try $try)"
	advised=$(sed -n 's/^    do: .* --ring-size \([0-9]*[KMG]\) .*/\1/p' load.err)
	[ -n "$advised" ] || break
done
ok $status "UVM's self-test under record" || cat load.err load.said
is "$lost" 0 "rings of $advised, as record said, lose nothing" || cat load.err
cudatrace report --format csv driver_sum load-trace >load.report 2>/dev/null
items=$(awk -F, '$11 == "nv_kthread_q_schedule_q_item" { print $4; exit }' load.report)
[ "${items:-0}" -gt 10000 ]
ok $? "scheduler: items that are queued are recorded (${items:-none})" || cat load.report
rm -rf load-trace
