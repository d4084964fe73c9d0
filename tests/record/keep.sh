# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --keep: the newest records only, and copies of them.  Sourced by run.sh.

# watch_size DIR FILE PID: the most KiB that DIR had while PID ran, into FILE
watch_size()
{
	local dir=$1 file=$2 pid=$3 now most=0
	while kill -0 "$pid" 2>/dev/null; do
		now=$(find "$dir" -type f -printf '%b\n' 2>/dev/null | awk '{ n += $1 } END { print int(n / 2) }')
		[ "${now:-0}" -le "$most" ] || most=$now
	done
	echo "$most" >"$file"
}

# newest TRACE: of each thread the last allocations are there without a gap
newest()
{
	every_call "$1"
}

# Many times what is kept.
t_keep_size()
{
	local dir=$work/trace-keep made records
	"$cudatrace" record --no-module -f --keep 16M -o "$dir" -- "$PWD/build/tests/record-busy" 6000000 >"$work/keep.out" 2>"$work/keep.said" &
	watch_size "$dir" "$work/keep.most" $!
	wait $!
	is $? 0 "record --keep 16M" || cat "$work/keep.said"
	[ "$(cat "$work/keep.most")" -gt 4096 ] && [ "$(cat "$work/keep.most")" -le 16384 ]
	ok $? "the directory never has more ($(cat "$work/keep.most") KiB at most)"
	grep -qE 'keeping the newest 16.*; a copy: cudatrace snapshot --pid [0-9]+' "$work/keep.said"
	ok $? "it says what is kept, and how to copy it"
	made=$(cat "$work/keep.out")
	[ "$(stat -c %s "$dir"/u-*-0 | sort -n | tail -1)" -le $((16 << 20)) ]
	ok $? "no file has a hole when the trace is finished"
	babeltrace2 "$dir" >"$work/keep.bt" 2>/dev/null
	records=$(grep -c cuCtxGetDevice "$work/keep.bt")
	[ "$records" -gt 50000 ] && [ "$records" -lt "$made" ]
	ok $? "babeltrace2 reads what is kept ($records of $made)"
	"$cudatrace" report "$dir" 2>"$work/keep.notes" >"$work/keep.report"
	is "$(grep -c 'lost records' "$work/keep.report")" 1 "the report" || cat "$work/keep.report"
	! grep -q 'and .* packet' "$work/keep.report"
	ok $? "... does not count as lost what was dropped" || grep 'lost records' "$work/keep.report"
	grep -qE '^command .*record-busy' "$work/keep.report" && "$cudatrace" report --format csv processes "$dir" 2>/dev/null | grep -q record-busy
	ok $? "... the process has its name, though its first packet is gone"
	grep -q '^kept  *the newest 16.00 MiB: older records are dropped' "$work/keep.report"
	ok $? "... and it says that these are the newest only"
}

# A stream that is long is followed by another one: here at half of what a file may have.
t_keep_long()
{
	local dir=$work/trace-long recorder
	rm -rf "$dir"*
	: >"$work/long.out"
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 bash -c 'ulimit -f 700; exec "$@"' - \
		"$cudatrace" record -q --no-module --gpu -f --keep 1s,96M -o "$dir" -- "$PWD/build/tests/record-running" 2 60 30 >"$work/long.out" 2>"$work/long.said" &
	recorder=$!
	until grep -q ready "$work/long.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/long.out")
	# Parts of threads have 65,536 more each time; those of the GPU are counted on.
	wait_until sh -c "ls '$dir' | grep -qE '^u-$pid-[3-9][0-9]{5}\$' && ls '$dir' | grep -qE '^g-$pid-[3-9]\$'"
	"$cudatrace" snapshot -q -f --pid "$pid" -o "$dir-a" 2>"$work/long.copy"
	is $? 0 "a thread's stream is long: it goes on in another, and a copy is made" || cat "$work/long.copy"
	is "$(find "$dir" -size +700k -name '*-*' | wc -l)" 0 "... none becomes longer than a file may be" || ls -l "$dir"
	wait_until sh -c "! ls '$dir' | grep -qE '^u-$pid-65538\$|^g-$pid-1\$'"
	ok $? "... parts that are dropped are removed"
	kill -TERM "$pid"
	wait "$recorder"
	is "$? $(grep -c '^wrong 0$' "$work/long.out")" "0 1" "... the program's results are right" || cat "$work/long.said"
	for n in "" -a; do
		newest "trace-long$n"
		ok $? "... trace-long$n has the newest calls of each thread, without a gap"
		"$cudatrace" report "$dir$n" >"$work/long.report" 2>&1
		is "$(awk '/lost records/ { print $3 }' "$work/long.report")" 0 "... and none is lost" || cat "$work/long.report"
		babeltrace2 "$dir$n" 2>"$work/long.bt" >/dev/null && ! grep -v 'open call\|^$' "$work/long.bt" | grep -q .
		ok $? "... babeltrace2 reads it" || cat "$work/long.bt"
		# Each launch has what the GPU did of it, but where what is kept begins.
		"$cudatrace" export --format jsonl -o - "$dir$n" 2>/dev/null | grep '"phase":"E"' | grep '"op":"launch"\|"name":"gpu_kernel"' |
			grep -o '"layer":"[a-z]*"' | sort | uniq -c | tr -d : | sed 's/"layer""/ /; s/"//' >"$work/long.layers"
		awk '{ n[$2] = $1 } END { d = n["gpu"] - n["user"]; exit !(n["gpu"] > 1000 && d * d < n["gpu"] * n["gpu"] / 4) }' "$work/long.layers"
		ok $? "... and what the GPU did" || cat "$work/long.layers"
	done
}

# A packet of a GPU stream that is seen while it is being written: the first of its stream, in two parts.
t_keep_torn()
{
	local dir=$work/trace-torn recorder size
	rm -rf "$dir"
	: >"$work/torn.out"
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 \
		"$cudatrace" record -q --no-module --gpu -f --keep 60s -o "$dir" -- "$PWD/build/tests/record-running" 2 60 30 >"$work/torn.out" 2>"$work/torn.said" &
	recorder=$!
	until grep -q ready "$work/torn.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/torn.out")
	wait_until sh -c "test -s '$dir/g-$pid-1'"
	sleep 0.5
	# packet_size, in bits
	size=$(od -An -t u8 -j 48 -N 8 "$dir/g-$pid-1")
	size=$((size / 8))
	dd if="$dir/g-$pid-1" of="$work/torn.packet" bs=$size count=1 2>/dev/null
	head -c 1000 "$work/torn.packet" >"$dir/g-$pid-900"
	# Two looks: all that was before is dropped by them.
	sleep 1.2
	tail -c +1001 "$work/torn.packet" >>"$dir/g-$pid-900"
	sleep 1.2
	kill -TERM "$pid"
	wait "$recorder"
	is "$?" 0 "--keep sees a part of a packet" || cat "$work/torn.said"
	cmp "$work/torn.packet" "$dir/g-$pid-900"
	ok $? "... and keeps all of it"
}

# Many short processes, each with more than a part of what is kept.
t_keep_storm()
{
	local dir=$work/trace-storm busy=$PWD/build/tests/record-busy recorder most=0 now
	rm -rf "$dir"
	# The first has libcuda for a while before it calls, and what it called is dropped later.
	# shellcheck disable=SC2016
	"$cudatrace" record -q --no-module -f --keep 16M --on slow=600s -o "$dir" -- bash -c 'LD_PRELOAD="$LD_PRELOAD libcuda.so.1" bash -c "exec {fd}<> <(:); read -t 1.5 -u \$fd; exec $0 100"
		sleep 3; for ((i = 0; i < 150; i++)); do "$0" 20000; done; "$0" 7' "$busy" >"$work/storm.out" 2>"$work/storm.said" &
	recorder=$!
	watch_size "$dir" "$work/storm.most" $recorder &
	local watcher=$!
	while now=$(find "/proc/$recorder/fd" -type l 2>/dev/null | wc -l) && [ "$now" -gt 0 ]; do
		[ "$now" -le $most ] || most=$now
		sleep 0.05
	done
	wait $recorder
	is "$? $(sort "$work/storm.out" | uniq -c | tr -s ' \n' ' ')" "0  1 100 150 20000 1 7 " "--keep 16M of 152 short processes" || cat "$work/storm.said"
	[ $most -gt 8 ] && [ $most -le 80 ]
	ok $? "... record has no file open for those that have ended ($most descriptors at most)"
	wait $watcher
	[ "$(cat "$work/storm.most")" -le 16384 ]
	ok $? "... the directory never has more ($(cat "$work/storm.most") KiB)"
	"$cudatrace" report --format csv processes "$dir" >"$work/storm.processes" 2>/dev/null
	"$cudatrace" report "$dir" >"$work/storm.report" 2>&1
	! grep -q 'not recorded' "$work/storm.report"
	ok $? "... of a process whose calls were dropped it is not said that they were not recorded" || grep -A2 'not recorded' "$work/storm.report"
	is "$("$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -r 'select(.name == "cuCtxGetDevice") | .pid' | uniq -c | tail -1 | awk '{ print $1 }')" 7 \
		"... the last one has all of its calls"
}

# memory PID: the most KiB that it had in memory
memory() { awk '/^VmHWM/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

# As many calls as a program of a thousand a second makes in a week (in make test-long).
t_keep_week()
{
	local dir=$work/trace-week calls=${CT_TEST_LONG:+600000000} recorder command most=0 early='' late=''
	calls=${calls:-4000000}
	"$cudatrace" record -q --no-module -f --keep 16M -o "$dir" -- "$PWD/build/tests/record-busy" "$calls" wait >"$work/week.out" 2>"$work/week.said" < <(until grep -q . "$work/week.done" 2>/dev/null; do sleep 0.2; done; echo) &
	recorder=$!
	rm -f "$work/week.done"
	until pid=$(pgrep -P $recorder record-busy); do kill -0 $recorder || break; sleep 0.05; done
	while [ ! -s "$work/week.out" ] && kill -0 $recorder 2>/dev/null; do
		now=$(find "$dir" -type f -printf '%b\n' 2>/dev/null | awk '{ n += $1 } END { print int(n / 2) }')
		[ "${now:-0}" -le "$most" ] || most=$now
		[ -n "$early" ] || [ "$most" -lt 4096 ] || early="$(memory $pid) $(memory $recorder)"
		sleep 0.02
	done
	late="$(memory $pid) $(memory $recorder)"
	echo done >"$work/week.done"
	wait $recorder
	is $? 0 "record --keep 16M of $calls calls" || cat "$work/week.said"
	is "$(sort -u "$work/week.out")" "$calls" "... the program made all of them"
	[ $most -gt 4096 ] && [ $most -le 16384 ]
	ok $? "... the directory never has more ($most KiB at most)"
	# Program and recorder, when there is a quarter of what may be, and at the end.
	echo "$early $late" | awk '{ exit !(NF == 4 && $3 < $1 + 4096 && $4 < $2 + 8192 && $4 < 65536) }'
	ok $? "... and memory stays as it was (KiB of program and recorder: $early, then $late)"
	"$cudatrace" report "$dir" >"$work/week.report" 2>&1
	is $? 0 "... and the trace is read" || cat "$work/week.report"
}

# A disk that is too small, and one that somebody else fills.
t_keep_full()
{
	local disk=$work/disk dir=$work/disk/trace recorder
	mkdir -p "$disk"
	if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=24m none "$disk" 2>/dev/null; then
		skip "--keep on a full disk: needs root, and the right to mount"
		return
	fi
	"$cudatrace" record -q --no-module -f --keep 64M -o "$dir" -- "$PWD/build/tests/record-busy" 4000000 >"$work/full.out" 2>"$work/full.said"
	is "$? $(cat "$work/full.out")" "0 4000000" "--keep of more than the disk has" || cat "$work/full.said"
	grep -q 'keep: the memory has room for 2[01][.0-9]* MiB' "$work/full.said"
	ok $? "... says how much that is" || cat "$work/full.said"
	! grep -q 'No space left\|no room for records' "$work/full.said" && "$cudatrace" report "$dir" >"$work/full.report" 2>&1
	ok $? "... and the disk is never full" || cat "$work/full.said" "$work/full.report"
	umount "$disk"
	# A tmpfs may be larger than the memory.
	mount -t tmpfs -o size=1000g none "$disk"
	"$cudatrace" record -q --no-module -f --keep 900G -o "$dir" -- true 2>"$work/full.said"
	sed -n 's/.*keep: the memory has room for \([0-9.]*\) GiB$/\1/p' "$work/full.said" | awk -v total="$(awk '/^MemTotal/ { print $2 / 1048576 }' /proc/meminfo)" '{ n++; bad += $1 > total } END { exit n != 1 || bad }'
	ok $? "... nor more than the memory, where that is the disk" || cat "$work/full.said"
	umount "$disk"
	mount -t tmpfs -o size=64m none "$disk"
	: >"$work/filled.out"
	"$cudatrace" record -q --no-module -f --keep 24M -o "$dir" -- "$PWD/build/tests/record-running" 4 60 >"$work/filled.out" 2>"$work/filled.said" &
	recorder=$!
	until grep -q ready "$work/filled.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/filled.out")
	sleep 1
	cat /dev/zero >"$disk/others" 2>/dev/null
	sleep 1
	rm "$disk/others"
	sleep 2
	kill -TERM "$pid"
	wait $recorder
	is "$? $(grep -c '^wrong 0$' "$work/filled.out")" "0 1" "the disk is full for a while: the program's results are right" || cat "$work/filled.said"
	"$cudatrace" report "$dir" >"$work/filled.report" 2>&1
	is $? 0 "... the trace is read" || cat "$work/filled.report"
	# The newest calls, of when there was room again, of each thread.
	"$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -r 'select(.name == "cuMemAlloc" and .phase == "E") | [.tid, .size / 16] | @tsv' |
		awk '{ last[$1] = $2 } END { for (t in last) print last[t] }' | sort -n >"$work/filled.last"
	sed -n 's/^thread [0-9]* //p' "$work/filled.out" | sort -n | paste - "$work/filled.last" | awk '$1 != $2 { bad = 1 } END { exit bad || NR != 4 }'
	ok $? "... with the last calls of each thread" || { cat "$work/filled.last" "$work/filled.out" "$work/filled.said"; }
	umount "$disk"
}

# It opens while it is recorded; copies; by time.
t_keep_copies()
{
	local dir=$work/trace-keep2 recorder n
	rm -rf "$dir"*
	: >"$work/keep2.out"
	"$cudatrace" record -q --no-module -f --keep 1s,64M -o "$dir" -- "$PWD/build/tests/record-running" 6 60 >"$work/keep2.out" 2>"$work/keep2.said" &
	recorder=$!
	until grep -q ready "$work/keep2.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/keep2.out")
	sleep 2.5
	for n in 1 2 3; do
		"$cudatrace" report "$dir" >"$work/keep2.live" 2>&1 || break
		grep -q 'cuMemAlloc' "$work/keep2.live" || break
	done
	is "$n" 3 "the trace opens while it is recorded, again and again" || cat "$work/keep2.live"
	"$cudatrace" snapshot -q -f --pid "$pid" -o "$dir-a" 2>"$work/keep2.copy"
	is $? 0 "snapshot --pid of the program" || cat "$work/keep2.copy"
	"$cudatrace" snapshot -q -f --pid "$recorder" -o "$dir-b" --last 0.3 2>"$work/keep2.copy"
	is $? 0 "snapshot --pid of its recorder, the last 0.3 s" || cat "$work/keep2.copy"
	kill -USR2 "$recorder"
	until grep -q "snapshot in" "$work/keep2.said" || ! kill -0 "$recorder" 2>/dev/null; do sleep 0.05; done
	kill -TERM "$pid"
	wait "$recorder"
	is $? 0 "the program ends well" || cat "$work/keep2.said"
	is "$(grep -c "snapshot in $dir-1 (SIGUSR2)" "$work/keep2.said")" 1 "SIGUSR2 to the recorder copies, too" || cat "$work/keep2.said"
	for n in "" -a -b -1; do
		newest "trace-keep2$n"
		ok $? "trace-keep2$n: of each thread the newest allocations, without a gap"
		# What a busy machine has lost the trace says itself.
		babeltrace2 "$dir$n" 2>"$work/keep2.bt" >/dev/null && ! grep -v 'open call\|Tracer discarded\|^$' "$work/keep2.bt" | grep -q .
		ok $? "... and babeltrace2 reads it" || cat "$work/keep2.bt"
	done
	is "$("$cudatrace" report --format csv summary "$dir" 2>/dev/null | sed -n 's/^duration,\([0-9]*\),.*/\1/p')" \
		"$("$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -n 'reduce inputs as $r (0; [., $r.ts] | max) * 1000000 | round')" \
		"the summary says how long what is kept lasted"
	# How old is what each thread that calls without a pause still has?
	"$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -r 'select(.name == "cuMemAlloc" and .phase == "E") | [.tid, .size / 16, .ts] | @tsv' |
		awk '{ if (!($1 in n)) { first[$1] = $2; at[$1] = $3 } n[$1]++; last = $3 }
			END { for (t in n) { dropped += first[t] > n[t]; enough += last - at[t] > 700 } exit dropped < 3 || enough < 6 }'
	ok $? "a second of each thread is kept, and more than half of each busy one dropped"
	is "$("$cudatrace" report --format csv processes "$dir-b" 2>/dev/null | grep -c record-running)" 1 "the process has its name in a copy that begins later"
	is "$("$cudatrace" report "$dir-b" 2>/dev/null | grep -c 'not recorded: most CUDA calls')" 0 "what is not kept any more is not called missing"
	"$cudatrace" record -q --no-module -f --keep 64M -o "$dir-i" -- "$PWD/build/tests/record-busy" 100 wait >"$work/keep2.idle" 2>&1 < <(until grep -q done "$work/keep2.idle"; do sleep 0.1; done; echo) &
	recorder=$!
	until grep -qx 100 "$work/keep2.idle"; do sleep 0.05; done
	sleep 0.5
	"$cudatrace" snapshot -q -f --pid $recorder -o "$dir-j" --last 0.1 2>"$work/keep2.copy"
	is "$? $("$cudatrace" export --format jsonl -o - "$dir-j" 2>/dev/null | jq -r 'select(.name == "process") | .details.cmdline // .text' | grep -c record-busy)" "0 1" "... also where it did nothing in that time" || cat "$work/keep2.copy"
	echo done >>"$work/keep2.idle"
	wait $recorder
	is "$("$cudatrace" report --format csv launches_sum "$dir-a" 2>/dev/null | grep -c .)" "$("$cudatrace" report --format csv launches_sum "$dir-b" 2>/dev/null | grep -c .)" "both copies have reports"
}

# A reader that a busy machine stops between two packets of a thread, which goes on.
t_keep_overtaken()
{
	local dir=$work/trace-keep7 n gaps=0
	rm -rf "$dir"*
	: >"$work/keep7.out"
	"$cudatrace" record -q --no-module -f --keep 64M -o "$dir" -- "$PWD/build/tests/record-running" 2 60 >"$work/keep7.out" 2>"$work/keep7.said" &
	local recorder=$!
	until grep -q ready "$work/keep7.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/keep7.out")
	sleep 0.5
	for n in 1 2 3 4; do
		LD_PRELOAD=$PWD/build/tests/record-slow-reader "$cudatrace" snapshot -q -f --pid "$pid" -o "$dir-$n" --last 0.1 2>"$work/keep7.copy" || break
		newest "trace-keep7-$n" >"$work/keep7.newest" || { gaps=1; cat "$work/keep7.newest"; }
	done
	is "$n $gaps" "4 0" "snapshot of a thread that overtakes the reader: no gap" || cat "$work/keep7.copy"
	kill -TERM "$pid"
	wait "$recorder"
}

# When a call fails, or is slow.
t_keep_on()
{
	local dir=$work/trace-keep3
	rm -rf "$dir"*
	"$cudatrace" record -q --no-module -f --keep 60s --on error -o "$dir" -- "$PWD/build/tests/record-busy" 1000 wait >"$work/keep3.out" 2>"$work/keep3.said" < <(sleep 2; echo) || cat "$work/keep3.said"
	is "$(grep -cE "snapshot in $dir-1 \(cuCtxGetDevice = [A-Z_]+\)" "$work/keep3.said")" 1 "--on error" || cat "$work/keep3.said"
	[ -e "$dir-1/metadata" ] && [ ! -e "$dir-2" ]
	ok $? "... one copy"
	rm -rf "$dir"*
	"$cudatrace" record -q --no-module -f --keep 32M --on slow=1ns -o "$dir" -- "$PWD/build/tests/record-running" 2 2 >/dev/null 2>"$work/keep4.said"
	is "$(grep -cE "snapshot in $dir-1 \(cu[A-Za-z]+ took [0-9.]+ .?s\)" "$work/keep4.said")" 1 "--on slow=TIME" || cat "$work/keep4.said"
	"$cudatrace" record -q --no-module -f --keep 32M --on xid -o "$dir" -- true 2>"$work/keep-xid.said"
	grep -q 'on xid: the module sees Xids' "$work/keep-xid.said"
	ok $? "--on xid without the module says that none will be noticed" || cat "$work/keep-xid.said"
	"$cudatrace" record -q --no-module -f --keep 1d,32M -o "$dir" -- true 2>"$work/keep-day.said"
	is $? 0 "--keep of a day" || cat "$work/keep-day.said"
	refuse "too little" "at least 16M" "$cudatrace" record --keep 1M -- true
	refuse "nonsense" "give a time or a size" "$cudatrace" record --keep much -- true
	refuse "no unit" "give a time or a size" "$cudatrace" record --keep 10 -- true
	refuse "--on alone" "goes with --keep" "$cudatrace" record --on error -- true
	refuse "--on something" "takes error, slow=TIME" "$cudatrace" record --keep 1s --on sun -- true
	refuse "a process that is not recorded" "is not recorded" "$cudatrace" snapshot --pid $$
}

# A server that puts itself into the background, as a launcher's workers: without the recorder all of its records would be lost.
t_keep_started()
{
	local dir=$work/trace-started recorder n
	rm -rf "$dir"
	"$cudatrace" record -q --no-module --keep 96M -o "$dir" -- \
		bash -c '"$@" </dev/null >"$0" 2>&1 & until grep -q ready "$0"; do sleep 0.05; done' "$work/started.out" "$PWD/build/tests/record-running" 2 3 30 2>"$work/started.said"
	is $? 0 "record --keep of a program that ends before what it started" || cat "$work/started.said"
	grep -q 'the program has ended; recording goes on with what it started, record-running\[' "$work/started.said"
	ok $? "... says that it goes on" || cat "$work/started.said"
	grep -q '^wrong 0$' "$work/started.out" && every_call trace-started &&
		[ "$("$cudatrace" report --format csv summary "$dir" 2>/dev/null | sed -n 's/^lost records,\([0-9]*\),.*/\1/p')" = 0 ]
	ok $? "... to its end, and loses nothing" || "$cudatrace" report "$dir"
	rm -rf "$dir"
	"$cudatrace" record -q --no-module --keep 96M -o "$dir" -- bash -c 'sleep 600 >/dev/null 2>&1 & echo $!; exit 3' >"$work/started.out" 2>"$work/started.said" &
	recorder=$!
	for n in $(seq 600); do grep -q 'recording goes on' "$work/started.said" && break; sleep 0.1; done
	kill -TERM $recorder
	wait $recorder
	is "$? $(kill "$(cat "$work/started.out")" && echo runs)" "3 runs" "... or until it is told to end, with the program's status" || cat "$work/started.said"
}

# Another user knows the trace's number, and has it in the environment of a process: that is none that the program started.
t_keep_stranger()
{
	local dir=$work/trace-stranger recorder stranger uuid other=(setpriv --reuid 65534 --clear-groups)
	if [ "$(id -u)" != 0 ] || ! "${other[@]}" true 2>/dev/null; then
		skip "a process of another user: needs root"
		return
	fi
	rm -rf "$dir"
	rm -f "$work/stranger.go"
	mkfifo "$work/stranger.go"
	"$cudatrace" record -q --no-module --keep 16M -o "$dir" -- bash -c 'echo ready; read -r x <"$0"' "$work/stranger.go" >"$work/stranger.out" 2>"$work/stranger.said" &
	recorder=$!
	wait_until grep -q ready "$work/stranger.out"
	uuid=$(sed -n '1s/.* uuid=\([0-9a-f]*\) .*/\1/p' "$dir/.registry")
	CUDATRACE_TRACE=$uuid CUDATRACE_STARTED=$uuid CUDATRACE_DIR=$dir "${other[@]}" sleep 600 &
	stranger=$!
	wait_until grep -qzx "CUDATRACE_TRACE=$uuid" "/proc/$stranger/environ"
	echo >"$work/stranger.go"
	wait_until has_ended $recorder
	is "$? $(grep -c 'recording goes on' "$work/stranger.said")" "0 0" "record --keep ends with the program, whatever another user's process has in its environment" || cat "$work/stranger.said"
	kill $recorder 2>/dev/null
	wait $recorder
	kill $stranger
	wait $stranger 2>/dev/null
	# What root's program starts as another user counts, however it was started.
	rm -rf "$dir"
	"$cudatrace" record -q --no-module --keep 16M -o "$dir" -- \
		bash -c 'nohup setsid setpriv --reuid 65534 --clear-groups sleep 600 >/dev/null 2>&1 & until grep -qx sleep /proc/$!/comm; do sleep 0.05; done; echo $!' >"$work/stranger.out" 2>"$work/stranger.said" &
	recorder=$!
	wait_until grep -q 'recording goes on with what it started, sleep\[' "$work/stranger.said"
	is "$(ps -o uid= -p "$(cat "$work/stranger.out")" | tr -d ' ')" 65534 "... but goes on with what it started as another user" || cat "$work/stranger.said"
	kill "$(cat "$work/stranger.out")"
	wait_until has_ended $recorder
	ok $? "... until that ends"
	wait $recorder
	rm -f "$work/stranger.go"
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# The same with a part of the program's time: each outlives what started it, and comes to its first call after that.
t_keep_started_part()
{
	local dir=$work/trace-part recorder option program
	for option in "--delay 0.1" "--duration 600" "--capture-range cudaProfilerApi"; do
		rm -rf "$dir"
		rm -f "$work/part.go"
		: >"$work/part.out"
		: >"$work/part.said"
		program="$PWD/build/tests/record-ranged profiler"
		# shellcheck disable=SC2086
		WAIT=$work/part.go "$cudatrace" record -q --keep 96M $option -o "$dir" -- bash -c 'setsid "$@" >"$0" 2>&1 & exit 3' "$work/part.out" $program 2>"$work/part.said" &
		recorder=$!
		wait_until grep -q 'recording goes on with what it started' "$work/part.said"
		ok $? "record --keep $option goes on with what the program started" || cat "$work/part.said"
		wait_until grep -q ready "$work/part.out"
		[ "$option" = "--duration 600" ] || wait_until grep -q 'cudatrace: recording record-ranged' "$work/part.said"
		touch "$work/part.go"
		wait_until has_ended $recorder
		wait $recorder
		is "$? $(tail -n 1 "$work/part.out")" "3 wrong 0" "... to its end, with the program's status" || cat "$work/part.said" "$work/part.out"
		is "$("$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | jq -n '[inputs | select(.name == "cuMemAlloc" and .phase == "E") | .size / 16] | [min, max, length] | join(" ")')" \
			"$([ "$option" = "--capture-range cudaProfilerApi" ] && echo '"400 599 200"' || echo '"1 1000 1000"')" "... and has its calls" || cat "$work/part.said"
	done
	rm -f "$work/part.go"
}

# on_copies NAME: how many copies of that trace are there
on_copies() { find "$work" -maxdepth 1 -name "$1-*" | wc -l; }

# As many copies of themselves as are to be there at a time (in make test-long: one in ten seconds is made).
t_keep_most()
{
	local dir=$work/trace-most recorder n
	rm -rf "$dir"*
	"$cudatrace" record -q --no-module --keep 16M --on slow=1ns -o "$dir" -- "$PWD/build/tests/record-running" 2 600 30 >"$work/most.out" 2>"$work/most.said" &
	recorder=$!
	for n in $(seq 4000); do grep -q 'there are 10 snapshots of --on' "$work/most.said" && break; sleep 0.1; done
	[ "$n" -lt 4000 ] && sleep 25
	is "$(on_copies trace-most)" 10 "--on makes ten copies, and says that it makes no more" || cat "$work/most.said"
	rm -rf "$dir-3" "$dir-7"
	for n in $(seq 4000); do [ "$(grep -c 'there are 10 snapshots of --on' "$work/most.said")" = 2 ] && break; sleep 0.1; done
	is "$(on_copies trace-most) $([ -e "$dir-11/metadata" ] && [ -e "$dir-12/metadata" ] && echo new)" "10 new" "... until some of them are removed" || cat "$work/most.said"
	kill -TERM "$(awk '/ready/ { print $2 }' "$work/most.out")"
	wait $recorder
}

# Nobody reads what record says any more: its log was rotated by a program that has ended.
t_keep_unread()
{
	local dir=$work/trace-unread
	rm -rf "$dir"*
	# The program is to be ended by SIGPIPE as ever.
	"$cudatrace" record -q --no-module -f --keep 16M --on error -o "$dir" -- \
		bash -c 'grep SigIgn /proc/self/status; exec "$@"' - "$PWD/build/tests/record-busy" 1000 wait \
		>"$work/unread.out" 2> >(head -n 1 >/dev/null) < <(for i in $(seq 600); do [ -e "$dir-1/metadata" ] && break; sleep 0.1; done; echo)
	is "$?,$(tail -n 1 "$work/unread.out")" "0,1000" "nobody reads what record says: it goes on"
	[ -e "$dir-1/metadata" ] && [ -e "$dir/metadata" ]
	ok $? "... with a copy, and its trace"
	"$cudatrace" record -q --no-module -f -o "$dir-closed" -- bash -c '[ -e /proc/$$/fd/2 ] || echo closed' >"$work/unread.closed" 2>&-
	is "$? $(cat "$work/unread.closed")" "0 closed" "... stderr is closed: the program finds it so"
	is "$(grep SigIgn "$work/unread.out")" "$(bash -c 'grep SigIgn /proc/self/status')" "... and the program ignores no more signals than before"
}

# The recorder is killed: the program stays within the bounds, and the trace can be read.
t_keep_killed()
{
	local dir=$work/trace-keep5 recorder
	rm -rf "$dir"
	: >"$work/keep5.out"
	"$cudatrace" record -q --no-module -f --keep 16M -o "$dir" -- "$PWD/build/tests/record-running" 4 4 >"$work/keep5.out" 2>"$work/keep5.said" &
	recorder=$!
	until grep -q ready "$work/keep5.out"; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/keep5.out")
	sleep 0.5
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	watch_size "$dir" "$work/keep5.most" "$pid"
	[ "$(cat "$work/keep5.most")" -gt 1024 ] && [ "$(cat "$work/keep5.most")" -le 16384 ]
	ok $? "without its recorder the directory stays within its bounds ($(cat "$work/keep5.most") KiB)"
	grep -q '^wrong 0$' "$work/keep5.out"
	ok $? "... the program's results are right"
	"$cudatrace" report "$dir" >"$work/keep5.report" 2>"$work/keep5.notes"
	is $? 0 "... and the trace is read" || cat "$work/keep5.notes"
	babeltrace2 "$dir" >/dev/null 2>&1
	ok $? "... by babeltrace2, too"
}

# An attached process; and what the GPU did.
t_keep_attached()
{
	local dir=$work/trace-keep6
	start_running keep6 6
	"$cudatrace" record -q -f -o "$dir" --pid $pid --duration 3 --keep 0.8s,64M 2>"$work/keep6.said"
	is $? 0 "record --pid --keep" || cat "$work/keep6.said"
	newest trace-keep6
	ok $? "... has the newest allocations, without a gap"
	ended_well keep6
}

# The directory is removed, or others fill the disk: the program does not notice.
t_keep_gone()
{
	local dir=$work/trace-gone disk=$work/disk-gone recorder
	rm -rf "$dir"
	"$cudatrace" record -q --no-module -f --keep 16M -o "$dir" -- "$PWD/build/tests/record-busy" 500000 wait 5000000 >"$work/gone.out" 2>"$work/gone.said" < <(until [ ! -e "$dir" ]; do sleep 0.05; done; echo) &
	recorder=$!
	until grep -qx 500000 "$work/gone.out"; do kill -0 $recorder || break; sleep 0.05; done
	rm -rf "$dir"
	wait $recorder
	is "$?,$(tail -n 1 "$work/gone.out")" "125,5500000" "the directory is removed: the program makes all of its calls" || cat "$work/gone.said"
	is "$(grep -c "trace-gone was removed while it was recorded: its records are lost" "$work/gone.said")" 1 "... and a line says that it was" || cat "$work/gone.said"
	rm -rf "$dir-moved"
	"$cudatrace" record -q --no-module -f -o "$dir" -- "$PWD/build/tests/record-busy" 1000 wait 1000 >"$work/gone.out" 2>"$work/gone.said" < <(until [ -e "$dir-moved" ]; do sleep 0.05; done; echo) &
	recorder=$!
	until grep -qx 1000 "$work/gone.out"; do kill -0 $recorder || break; sleep 0.05; done
	mv "$dir" "$dir-moved"
	wait $recorder
	is "$?,$(tail -n 1 "$work/gone.out")" "125,2000" "it is moved: the program makes all of its calls" || cat "$work/gone.said"
	is "$(grep -c "trace-gone was moved while it was recorded: it is not finished" "$work/gone.said")" 1 "... and a line says so" || cat "$work/gone.said"
	mkdir -p "$disk"
	if ! mount -t tmpfs -o size=64m tmpfs "$disk" 2>/dev/null; then
		skip "a disk that others fill: it needs root and a tmpfs"
		return
	fi
	"$cudatrace" record -q --no-module -f --keep 16M -o "$disk/trace" -- "$PWD/build/tests/record-busy" 500000 wait 5000000 wait 500000 >"$work/gone.out" 2>"$work/gone.said" \
		< <(until [ -e "$work/gone.ro" ]; do sleep 0.05; done; echo; until [ -e "$work/gone.rw" ]; do sleep 0.05; done; echo) &
	recorder=$!
	until grep -qx 500000 "$work/gone.out"; do kill -0 $recorder || break; sleep 0.05; done
	# What others fill.
	head -c 64M /dev/zero >"$disk/others" 2>/dev/null
	touch "$work/gone.ro"
	until grep -qx 5500000 "$work/gone.out"; do kill -0 $recorder || break; sleep 0.05; done
	rm "$disk/others"
	sleep 1
	touch "$work/gone.rw"
	wait $recorder
	is "$?,$(tail -n 1 "$work/gone.out")" "0,6000000" "the disk is filled by others: the program makes all of its calls" || cat "$work/gone.said"
	[ "$(grep -c 'no room for records' "$work/gone.said")" -le 1 ]
	ok $? "... with one line at most" || cat "$work/gone.said"
	"$cudatrace" report "$disk/trace" >"$work/gone.report" 2>&1
	is $? 0 "... the trace is read" || cat "$work/gone.report"
	rm -f "$work/gone.ro" "$work/gone.rw"
	umount "$disk"
}

# A program that makes new names for ever: they are bounded, too, and records go on.
t_keep_names()
{
	local dir=$work/trace-names
	rm -rf "$dir"
	"$cudatrace" record -q --no-module -f --keep 16M -o "$dir" -- "$PWD/build/tests/record-busy" names=20000 100000 >"$work/names.out" 2>"$work/names.said"
	is "$?,$(cat "$work/names.out")" "0,100000" "record --keep 16M of a program with 20,000 kernels" || cat "$work/names.said"
	[ "$(stat -c %s "$dir/.registry")" -le $((2200 * 1024)) ]
	ok $? "... their names take an eighth of it at most ($(stat -c %s "$dir/.registry") bytes)"
	is "$(grep -c 'names take as much as they may' "$work/names.said")" 1 "... which is said once" || cat "$work/names.said"
	[ "$("$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | grep -c '"name":"cuCtxGetDevice"')" -ge 100000 ]
	ok $? "... and what the program does then is recorded" || cat "$work/names.said"
}

# Nor do names take all that is read of them: what a function is must still be found there.
t_names_full()
{
	local dir=$work/trace-full
	rm -rf "$dir" "$work/full.in" "$work/full.out"
	mkfifo "$work/full.in"
	"$cudatrace" record -q --no-module -f -o "$dir" -- "$PWD/build/tests/record-busy" wait names=3000 1000 <"$work/full.in" >"$work/full.out" 2>"$work/full.said" &
	exec 8>"$work/full.in"
	wait_until grep -qs 0 "$work/full.out"
	# As other processes would have, lines of 4,000 bytes.
	yes "info filler $(head -c 3987 /dev/zero | tr '\0' x)" | head -n 16740 >>"$dir/.registry"
	echo >&8
	exec 8>&-
	wait $!
	is "$?,$(tail -n 1 "$work/full.out")" "0,1000" "a program with 3,000 kernels, where names take 64 MiB already" || cat "$work/full.said"
	is "$(grep -c 'names take as much as they may (60 MiB)' "$work/full.said")" 1 "... it is told that further ones have none" || cat "$work/full.said"
	is "$("$cudatrace" export --format jsonl -o - "$dir" 2>/dev/null | grep -c '"name":"cuCtxGetDevice"')" 1000 "... and a function that is called first then is recorded" ||
		cat "$work/full.said"
	rm -r "$dir"
}
