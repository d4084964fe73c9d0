# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: tracepoints, and the contexts that probes report.  ct_events.ko
# produces the events that nothing else in the guest causes.

# look: asks for the state of all probes, which takes seconds under emulation; state_of NAME: one
# of them, at that time
look() { cudatrace probe status >states.txt; }
state_of() { awk -v n="$1" '$3 == n { print $4 }' states.txt; }

insmod $share/module/ct_events.ko
ok $? "the module of events loads"

# While a session runs, existing tracepoints are armed and missing ones are reported.
follow points.jsonl
look
is "$(state_of sched_switch) $(state_of sched_wakeup)" "armed armed" "the scheduler's tracepoints are armed"
# The debug kernel has no fences; what has the name of theirs there is another tracepoint.
fences=1
grep -q ' dma_fence_signal$' /proc/kallsyms || fences=
if [ "$fences" ]; then
	is "$(state_of dma_fence_init) $(state_of dma_fence_wait_end)" "armed armed" "those of dma_fence"
else
	echo foreign >/dev/ct_events
	is "$(state_of dma_fence_init) $(state_of dma_fence_wait_end)" "absent absent" "those of dma_fence are absent, also where a module has one of that name"
fi
is "$(state_of gpu_mem_total)" "armed" "one that a module brought"
case $(state_of nvidia_dev_xid) in
absent | no-module) ok 0 "one that is not there is told" ;;
*) ok 1 "one that is not there is told ($(state_of nvidia_dev_xid))" ;;
esac
[ ! "$fences" ] || echo fence >/dev/ct_events
echo mem >/dev/ct_events
rmmod ct_events
ok $? "the module of events unloads while its tracepoint is recorded"
look
is "$(state_of gpu_mem_total)" "absent" "which is absent then"
insmod $share/module/ct_events.ko
look
is "$(state_of gpu_mem_total)" "armed" "and armed when it comes back"
# In a container no process is visible under the pid 4242.
unshare -p --fork --kill-child cat /dev/cudatrace >points-inside.jsonl & container=$!
wait_until followed points-inside.jsonl
echo mem >/dev/ct_events
told points.jsonl
told points-inside.jsonl
kill -KILL $container		# it does not heed others
wait $container 2>/dev/null
unfollow

if [ "$fences" ]; then
	is "$(named points.jsonl dma_fence_init | jq -c '[.details.seqno, .details.text]')" '[77,"ct_events the timeline"]' "dma_fence_init, with its driver and timeline"
	context=$(named points.jsonl dma_fence_init | jq -c '.details.fence_context')
	is "$(count ".name==\"dma_fence_signaled\" and .details.fence_context==$context" points.jsonl)" 1 "dma_fence_signaled of the same fence"
	is "$(named points.jsonl dma_fence_wait | jq -c "select(.phase==\"E\" and .details.fence_context==$context) | .duration_us > 20000")" true "dma_fence_wait, as long as it was"
	is "$(count '.name=="dma_fence_wait" and .phase=="B"' points.jsonl)" 1 "with its begin"
else
	skip "records of fences: this kernel has none"
fi
is "$(count '.name=="gpu_mem_total" and .size==123456789 and .details.gpu==1 and .details.owner_pid==4242' points.jsonl)" 2 "gpu_mem_total, before and after the reload"
is "$(named points-inside.jsonl gpu_mem_total | jq -c '.details.owner_pid')" 0 "with its process as a container knows it"

if [ "$fences" ]; then
	# A thread that sleeps is off its CPU for that time, inside the call that it makes.
	cudatrace record -q -f -o trace-switch -- bash -c '[ ! -c /dev/nvidiactl ] || exec 3<>/dev/nvidiactl; echo fence >/dev/ct_events; sleep 0.3; true' 2>switch.err
	ok $? "a program that sleeps is recorded" || cat switch.err
	cudatrace export --format jsonl -o switch.jsonl trace-switch
	pid=$(named switch.jsonl dma_fence_wait | jq -r 'select(.phase=="E") | .tid')
	[ "$(count ".name==\"sched_switch\" and .phase==\"E\" and .tid==$pid and .duration_us > 20000" switch.jsonl)" -ge 1 ]
	ok $? "its wait is seen as time off the CPU"
	grep -F "\"tid\":$pid," switch.jsonl | jq -s -e --argjson t "$pid" 'map(select(.tid == $t)) as $mine |
		($mine | map(select(.name=="dma_fence_wait"))) as $w |
		($mine | map(select(.name=="sched_switch" and .ts_ns >= $w[0].ts_ns and .ts_ns <= $w[1].ts_ns))) as $s |
		($s | length) >= 2 and all($s[]; .depth > $w[0].depth)' >/dev/null
	ok $? "inside its wait for the fence"
	[ "$(count ".name==\"sched_switch\" and .phase==\"E\" and .tid==$pid and .details.waker > 0 and .details.runnable_ns > 0" switch.jsonl)" -ge 1 ]
	ok $? "it says who woke it, and how long it could have run before it did"
	[ "$(count ".name==\"sched_wakeup\" and .tid==$pid and .details.waker > 0" switch.jsonl)" -ge 1 ]
	ok $? "the wake-up is there too"
	is "$(count '.name=="sched_switch" and .pid==0' switch.jsonl)" 0 "no idle task's"
	others=$(grep -E '"name":"(process|sched_switch)"' switch.jsonl | jq -s --argjson t "$pid" '([.[] | select(.name=="process") | .pid] | unique) as $p | [.[] | select(.name=="sched_switch" and ([.pid] | inside($p) | not))] | length')
	is "$others" 0 "and none of a process that is not traced"
	[ "$(cudatrace report --format csv switches trace-switch | grep -cE '^[^,]*,[0-9]+,[0-9]+,[1-9]')" -gt 0 ]
	ok $? "report says how long threads were off the CPU"
	cudatrace export --format chrome -f -o switch.json trace-switch
	[ "$(jq '[.traceEvents[] | select(.name=="sched_switch")] | length' switch.json)" -ge 2 ]
	ok $? "the chrome export shows it"
	cudatrace record -q -f --groups ioctl,memory -o trace-few -- bash -c 'echo fence >/dev/ct_events' 2>/dev/null
	cudatrace export --format jsonl -o few.jsonl trace-few
	is "$(count '.name=="sched_switch" or .name=="dma_fence_wait"' few.jsonl)" 0 "groups that were not asked for are not recorded"
else
	skip "a thread that sleeps: this kernel has no fence to wait for"
fi

# --------------------------------------------------------------- contexts ---
cudatrace probe add ct_events:ct_events_site arg0:n:s32 ret:got:s32
ok $? "a probe on an ftrace site"
cudatrace probe add ct_events:ct_events_plain arg0:n:s32 ret:got:s32
ok $? "and one by breakpoint"
cudatrace probe list 'ct_events:ct_events_*' >contexts.list 2>&1
is "$(awk '$2 == "ct_events_site" { print $3 }' contexts.list) $(awk '$2 == "ct_events_plain" { print $3 }' contexts.list)" "ftrace breakpoint" "list says which is which"
cudatrace session start --groups added
kib=$(cudatrace session status | sed -n 's/^probes *\([0-9]*\) KiB .*/\1/p')
cudatrace session stop
# Newer kernels keep 8 bytes for each open call on every CPU.
cpus=$(($(sed 's/.*-//' /sys/devices/system/cpu/possible) + 1))
[ "${kib:-0}" -ge 100 ] && [ "$kib" -le $((300 + cpus * 8)) ]
ok $? "session status tells what two probes take of the kernel's memory ($kib KiB, $cpus CPUs)"
follow contexts.jsonl
for c in task softirq hardirq nmi; do echo $c >/dev/ct_events; done
told contexts.jsonl
unfollow
for f in ct_events_site ct_events_plain; do
	is "$(named contexts.jsonl $f | jq -r "select(.phase==\"E\") | [.details.n, .details.got, (.context // \"task\"), .pid > 0] | @csv" | tr '\n' ' ')" '1,1,"task",true 2,2,"softirq",false 3,3,"hardirq",false 4,4,"nmi",false ' "$f: argument, result and context, in task, softirq, hardirq and NMI"
done
# The leader, by whose name processes are reported, may be freed already (the debug kernel reports it).
follow last.jsonl
/mnt/build/tests/load last
case $? in
77) skip "a thread that is taken out of its process: this kernel cannot be stopped there" ;;
*)
	told last.jsonl
	is "$(named last.jsonl ct_events_site | jq -r 'select(.phase=="E") | .details.n')" 5 "a call of a thread that was taken out of its process"
	is "$(named last.jsonl process | jq -c 'select(.details.text=="ct_last") | .details.ppid')" 0 "the process is named like it, for its leader and its parent are not its own any more" || named last.jsonl process
	;;
esac
unfollow
cudatrace probe remove ct_events:ct_events_site && cudatrace probe remove ct_events:ct_events_plain
ok $? "both are removed"
rmmod ct_events
