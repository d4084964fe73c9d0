#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The guest's part of tests/bench/run: $1 is the folder with "kernel" and
# ct_bench.ko.  Prints rows "NAME TAB INSTRUCTIONS"; one that could not be had, or
# whose number of records is wrong, is "NAME TAB not run TAB WHY".  Complaints and
# what is being done go to the second output.
#
# Every tracer is set up, measured and taken away again before the next one comes;
# then the bare call has to cost what it did before.
folder=$1
share=/mnt/share
tracing=/sys/kernel/tracing
rivals=/mnt/rivals
say() { echo "# $*" >&2; }

cp "$folder/kernel" "$folder/ct_bench.ko" /tmp/
kernel=/tmp/kernel
$kernel check || exit
insmod /tmp/ct_bench.ko || exit
calls=$($kernel calls)

difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.0f", a - b }'; }
row() { printf '%s\t%s\n' "$1" "$2"; }
missing() { printf '%s\tnot run\t%s\n' "$1" "$2"; }

# counted NAME INSTRUCTIONS RECORDS WANTED: the row, if as many were recorded
counted() {
	say "$1: $3 of $4 records"
	if [ -n "$2" ] && [ "$3" = "$4" ]; then
		row "$1" "$(difference "$2" "$bare")"
	else
		missing "$1" "$3 of $4 records were there"
	fi
}

# Whatever was measured last has to be gone.
gone() {
	local now try
	# The kernel takes some of its own switches back a second later.
	for try in 1 2 3; do
		now=$($kernel call)
		awk -v a="$now" -v b="$bare" 'BEGIN { exit !(a - b < 3 && b - a < 3) }' && return
		sleep 2
	done
	say "after $1 the bare call costs $now instructions, not $bare: the next rows are that much too high"
}

# wait_for SECONDS COMMAND...
wait_for() {
	local i
	for ((i = $1 * 5; i > 0; i--)); do
		"${@:2}" 2>/dev/null && return
		sleep 0.2
	done
	return 1
}

# nanoseconds, so instructions, that the processes have run
runtime() {
	local pid sum=0 n rest
	for pid; do
		for task in /proc/"$pid"/task/*; do
			read -r n rest < "$task/schedstat" && sum=$((sum + n))
		done
	done
	echo $sum
}

# reader NAME BEFORE AFTER: what the tracer's own processes needed, for each call
reader() { row "$1" "$((($3 - $2) / calls))"; }

# ------------------------------------------------------ what the kernel has ---
kretprobe_bare() {
	local n
	echo 1 > /sys/module/ct_bench/parameters/bare_probe ||
		{ missing kretprobe.bare "it cannot be registered"; return; }
	grep -q ' r  ct_bench_traced' /sys/kernel/debug/kprobes/list
	local there=$((1 - $?))
	n=$($kernel call)
	echo 0 > /sys/module/ct_bench/parameters/bare_probe
	counted kretprobe.bare "$n" $there 1
}

probe_events() {
	echo 'p:bench/ct_enter ct_bench:ct_bench_traced request=%di:x32 argument=%si:u64' > $tracing/kprobe_events &&
	echo 'r:bench/ct_leave ct_bench:ct_bench_traced result=$retval:s64' >> $tracing/kprobe_events
}

tracefs() {
	local n
	probe_events || { missing tracefs.pair "no kprobe events"; return; }
	echo > $tracing/trace
	echo 1 > $tracing/events/bench/enable
	n=$($kernel call)
	echo 0 > $tracing/events/bench/enable
	counted tracefs.pair "$n" "$(grep -cE ' ct_(enter: .*argument=4711|leave: .*result=0)$' $tracing/trace)" $((2 * calls))
	echo > $tracing/trace
	echo > $tracing/kprobe_events
}

trace_marker_raw() {
	local n records
	echo > $tracing/trace
	n=$($kernel write $tracing/trace_marker_raw)
	records=$(awk '$1 == "entries:" { print $2 }' $tracing/per_cpu/cpu0/stats)
	say "trace_marker_raw: $records of $calls records"
	if [ "$records" = "$calls" ]; then
		row trace_marker_raw "$(difference "$n" 0)"
	else
		missing trace_marker_raw "$records of $calls records were there"
	fi
	echo > $tracing/trace
}

# by_library NAME THREADBUFS: calls of the preload library, recorded by thread buffers or by ioctls
by_library() {
	local what plain n records all
	export LD_LIBRARY_PATH=$folder/userlib
	all=$("$folder/library" all)
	"$folder/library" > /tmp/library.plain
	CUDATRACE_THREADBUFS=$2 /mnt/build/cudatrace record -q -f -o /tmp/library.trace -- "$folder/library" \
		> /tmp/library.traced
	unset LD_LIBRARY_PATH
	/mnt/build/cudatrace export --format jsonl -f -o /tmp/library.jsonl /tmp/library.trace
	while read -r what n; do
		plain=$(sed -n "s/^$what //p" /tmp/library.plain)
		case $what in
		query) records='"name":"cuCtxGetCurrent"' ;;
		call) records='"name":"cuCtxSetCurrent","phase":"E"' ;;
		launch) records='"name":"cuLaunchKernel","phase":"E"' ;;
		esac
		records=$(grep -cF "$records" /tmp/library.jsonl)
		say "cudatrace.$1_$what: $records of $all records"
		[ "$records" = "$all" ] || { missing "cudatrace.$1_$what" "$records of $all records were there"; continue; }
		row "cudatrace.$1_$what" "$(difference "$n" "$plain")"
	done < /tmp/library.traced
	[ "$(wc -l < /tmp/library.traced)" = 3 ]
}

# ------------------------------------------------------------- the rivals -----
# Debian 13's programs in their own root: a layer of memory over the host's folder.
enter_rivals() {
	mkdir -p $rivals /run/layer
	mount -t tmpfs tmpfs /run/layer && mkdir /run/layer/upper /run/layer/work &&
	mount -t overlay -o "lowerdir=$share/rivals/root,upperdir=/run/layer/upper,workdir=/run/layer/work" \
		overlay $rivals &&
	for place in /proc /sys /dev; do
		mount --rbind $place $rivals$place || return
	done
	cp $kernel $rivals/bench/
}
inside() { LTTNG_HOME=/tmp HOME=/root TERM=dumb chroot $rivals "$@"; }

lttng_modules_gone() {
	local i
	for i in 1 2 3 4 5; do
		rmmod $(lsmod | awk '/^lttng/ && $3 == 0 { print $1 }') 2>/dev/null
	done
}

lttng() {
	local n records before after pids log=/tmp/lttng.log
	local modules=$share/lttng-$(uname -r)/lib/modules
	[ -d "$modules" ] || { missing lttng.pair "its modules could not be fetched or built"; return; }
	# Where its daemon looks for them.
	cp -r "$modules"/* $rivals/usr/lib/modules/
	# One group of probes is enough to begin with; the daemon would load all.
	inside lttng-sessiond --daemonize --kmod-probes=signal > $log 2>&1 &&
	inside lttng create bench --output=/tmp/trace >> $log 2>&1 &&
	inside lttng enable-channel --kernel --subbuf-size=4M --num-subbuf=4 bench >> $log 2>&1 &&
	inside lttng enable-event --kernel --channel=bench --function=ct_bench_traced ct_call >> $log 2>&1 &&
	inside lttng start >> $log 2>&1 || {
		cat $log >&2
		missing lttng.pair "$(tail -n 1 $log)"
		return
	}
	pids=$(pgrep lttng)
	before=$(runtime $pids)
	n=$($kernel call)
	inside lttng stop >> $log 2>&1
	after=$(runtime $pids)
	records=$(inside babeltrace2 /tmp/trace | grep -cE ' ct_call_(entry|exit): ')
	counted lttng.pair "$n" "$records" $((2 * calls))
	reader lttng.pair_reader "$before" "$after"
	inside lttng destroy >> $log 2>&1
	kill $pids
	wait_for 20 eval '! pgrep lttng > /dev/null'
	lttng_modules_gone
}

# A line for each call, with what its entry knew: what cudatrace gives.
bpftrace_program='
kprobe:ct_bench:ct_bench_traced { @call[tid] = (nsecs, arg0, arg1); }
kretprobe:ct_bench:ct_bench_traced /@call[tid].0/ {
	$c = @call[tid];
	printf("call %llu %d %d %x %lu = %ld %lu\n", nsecs, pid, tid, $c.1, $c.2, retval,
		nsecs - $c.0);
	delete(@call, tid);
}'

probed() { [ "$(grep -c ct_bench_traced /sys/kernel/debug/kprobes/list)" -ge 2 ]; }

bpftrace_line() {
	local n records before after pid job log=/tmp/bpftrace.log out=$rivals/tmp/lines
	BPFTRACE_PERF_RB_PAGES=4096 inside bpftrace -q -o /tmp/lines -e "$bpftrace_program" > $log 2>&1 &
	job=$!
	if ! wait_for 120 probed; then
		cat $log >&2
		missing bpftrace.line "it does not attach: $(tail -n 1 $log)"
		kill -KILL $job
		return
	fi
	sleep 1
	pid=$(pgrep -x bpftrace)
	before=$(runtime $pid)
	n=$($kernel call)
	wait_for 10 eval "[ \"\$(grep -c '^call ' $out)\" -ge $calls ]"
	sleep 1	# and once more, for what it may print too much
	after=$(runtime $pid)
	kill -INT $pid
	wait_for 60 eval '! pgrep -x bpftrace > /dev/null' || kill -KILL $pid
	cat $log >&2
	records=$(grep -cE '^call [0-9]+ [0-9]+ [0-9]+ 62 4711 = 0 [0-9]+$' $out)
	counted bpftrace.line "$n" "$records" "$calls"
	reader bpftrace.line_reader "$before" "$after"
}

perf_record() {
	local n records log=/tmp/perf.log
	probe_events
	n=$(inside perf record -q -a -m 16M -o /tmp/perf.data -e bench:ct_enter -e bench:ct_leave \
		-- /bench/kernel call 2> $log)
	records=$(inside perf script -i /tmp/perf.data -F event 2>> $log | grep -cE 'bench:ct_(enter|leave)')
	[ "$records" -gt 0 ] || cat $log >&2
	counted perf.pair "$n" "$records" $((2 * calls))
	echo > $tracing/kprobe_events
}

why=
echo 65536 > $tracing/buffer_size_kb
bare=$($kernel call)
[ -n "$bare" ] || exit
row call.bare "$(difference "$bare" 0)"
kretprobe_bare; gone kretprobe.bare
$kernel cudatrace "$bare" || { failed=1; say "a row of the module's is missing"; }
gone cudatrace
$kernel lossless "$bare" || { failed=1; say "a row of a lossless session is missing"; }
gone cudatrace
by_library threadbuf 1 && by_library ioctl 0 || failed=1
gone cudatrace
# Once more by the kernel's clock, which counts where the time-stamp counter is not good.
if rmmod cudatrace && insmod "$CUDATRACE_KO" tsc_clock=0; then
	$kernel again "$bare" cudatrace.pair_ktime || failed=1
	gone cudatrace
else
	failed=1
	missing cudatrace.pair_ktime "the module cannot be loaded anew"
fi
tracefs; gone tracefs.pair
trace_marker_raw
row ioctl.dev_null "$(difference "$($kernel ioctl /dev/null)" 0)"
if [ ! -d $share/rivals/root ]; then
	why="it could not be fetched"
elif ! enter_rivals; then
	why="its root cannot be mounted"
fi
if [ -z "$why" ]; then
	lttng; gone lttng.pair
	perf_record; gone perf.pair
	bpftrace_line; gone bpftrace.line
else
	for name in lttng.pair perf.pair bpftrace.line; do
		missing $name "$why"
	done
fi
exit ${failed:-0}
