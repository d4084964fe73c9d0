# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What a busy thread has filled is stored by the recorder; the trace is whole whoever of
# them is late or dead.  Sourced by run.sh.

busy=$PWD/build/tests/record-busy
slot=$((128 << 10)) slots=4
each=$(((slot - 96) / 24))		# records of a query that a slot takes, at most

# begin NAME WHAT...: records "busy WHAT..." in the background, stdin from fd 9
begin()
{
	trace=$work/slots-$1
	shift
	rm -rf "$work/go" "$work/said"
	mkfifo "$work/go"
	"$cudatrace" record -q --no-module -o "$trace" -- "$busy" "$@" <"$work/go" >"$work/said" 2>"$work/busy.err" &
	record=$!
	exec 9>"$work/go"
}

said() { [ "$(wc -l <"$work/said" 2>/dev/null)" -ge "$1" ]; } 2>/dev/null
calls() { "$cudatrace" report --from start --format csv cuda_api_sum "$1" 2>"$work/report.err" | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }'; }
stream() { find "$trace" -name 'u-*' -size +0; }
# Ours, not the program's: the process that has the trace's page of the recorder.
program() { pgrep -P "$record" -x record-busy; }
# bytes that a process has written by system calls
written() { sed -n "s/^wchar: //p" "/proc/$1/io" 2>/dev/null; }
stopped() { [ "$(sed "s/.*) //; s/ .*//" "/proc/$1/stat" 2>/dev/null)" = T ]; }
grown() { [ "$(stat -c %s "$(stream)")" -ge "$1" ]; }

# The thread itself stores the first packets.
first=$(((16 << 10) + (64 << 10)))

# Two slots are filled, and then the program does nothing.
t_handover()
{
	begin handover $((first / 24 + 2 * each)) wait $(((slots + 2) * each)) wait 10
	wait_until said 1
	ok $? "a busy program is recorded"
	if [ "$(nproc)" -lt 2 ]; then
		skip "the recorder stores what it fills: on one processor it does not"
	else
		before=$(written "$(program)")
		wait_until grown $((first + slot))
		ok $? "what it has filled gets into its stream while it waits"
		is "$(written "$(program)")" "$before" "and not by itself"
	fi
	echo >&9
	wait_until said 2
	ok $? "it goes on"
	# It fills more than its slots while nobody takes them.
	kill -STOP $record
	wait_until stopped $record
	echo >&9
	wait_until said 3
	ok $? "and ends while the recorder stands still"
	kill -CONT $record
	exec 9>&-
	wait $record
	is "$?$(calls "$trace")" "0$(($(tail -n 1 "$work/said") + 1))" "all its calls are there"
	is "$(ls -A "$trace" | grep -v '^u-' | paste -sd,)" ".lost-$(id -u),.registry,metadata,state" "nothing is left beside them"
	is "$(babeltrace2 "$trace" 2>"$work/handover.bt" | grep -c cuCtxGetDevice)$(cat "$work/handover.bt")" "$(tail -n 1 "$work/said")" \
		"babeltrace2 reads them, too"
}

# The recorder stands still, and the program fills many times its slots.
t_late()
{
	begin late $((first / 24 + 2 * each)) wait $((10 * slots * each)) wait
	wait_until said 1
	kill -STOP $record
	wait_until stopped $record
	echo >&9
	wait_until said 2
	ok $? "a recorder that stands still holds no program up"
	kill -CONT $record
	echo >&9
	exec 9>&-
	wait $record
	is "$?$(calls "$trace")" "0$(($(tail -n 1 "$work/said") + 1))" "and costs no record"
}

# Both stand still, then the program is killed: its slots are full.
t_killed()
{
	begin killed $((first / 24 + 2 * each)) wait $((3 * each)) kill
	wait_until said 1
	kill -STOP $record
	wait_until stopped $record
	echo >&9
	wait_until eval '! kill -0 "$(program)" 2>/dev/null || grep -q zombie "/proc/$(program)/status"'
	kill -CONT $record
	exec 9>&-
	wait $record
	is "$?$(calls "$trace")" "137$((first / 24 + 5 * each + 1))" "what a killed program had in its slots is in the trace"
}

# The recorder is killed; the program goes on, and whoever opens the trace finishes it.
t_orphaned()
{
	begin orphaned $((first / 24 + 2 * each)) wait $((10 * slots * each)) wait 100 kill
	wait_until said 1
	child=$(program)
	kill -KILL $record
	wait $record 2>/dev/null
	echo >&9
	wait_until said 2
	ok $? "a killed recorder takes no program with it"
	echo >&9
	exec 9>&-
	wait_until eval '! kill -0 $child 2>/dev/null'
	is "$(calls "$trace")" "$(($(tail -n 1 "$work/said") + 101))" "and what it had not stored is stored by who opens the trace"
	is "$(ls -A "$trace" | grep -v '^u-' | paste -sd,)" ".lost-$(id -u),.registry,metadata,state" "which leaves nothing beside it"
}

# It never rests: who looks at its trace, and the recorder, come to an end all the same.
t_restless()
{
	"$cudatrace" record -q --no-module -o "$work/slots-restless" -- sh -c '
		"$0" 1000000000000 >/dev/null 2>&1 & echo $! >"$1"
		until [ -e "$1.seen" ]; do sleep 0.05; done' "$busy" "$work/restless" 2>"$work/busy.err" & record=$!
	wait_until [ -s "$work/restless" ]
	trace=$work/slots-restless
	wait_until eval 'grown $((20 * slot))'
	timeout -s KILL $hang "$cudatrace" report "$trace" >"$work/restless.txt" 2>&1
	is "$?$(grep -c 'lost records  *0$' "$work/restless.txt")" 01 "the trace of a thread that never rests can be read" || cat "$work/restless.txt"
	touch "$work/restless.seen"
	wait_until eval '! kill -0 $record 2>/dev/null || grep -q zombie /proc/$record/status'
	ok $? "and its recorder comes to an end"
	is "$(grep -c 'still run and are still recorded' "$work/busy.err")" 1 "which says that it goes on"
	kill -KILL "$(cat "$work/restless")"
	kill -KILL $record 2>/dev/null
	wait $record 2>/dev/null
}

# More programs than the recorder has places for at a time, and one more when they are gone.
t_many()
{
	if [ "$(nproc)" -lt 2 ]; then
		skip "many programs: on one processor the recorder does not store"
	else
		trace=$work/slots-many
		rm -f "$work/go" "$work/said"
		mkfifo "$work/go" "$work/all"
		exec 8<>"$work/all"
		"$cudatrace" record -q --no-module -o "$trace" -- sh -c 'for i in $(seq 210); do "$0" 9000 wait <"$2" >/dev/null & done
			wait; exec "$0" "$1" wait' "$busy" $((first / 24 + 2 * each)) "$work/all" <"$work/go" >"$work/said" 2>"$work/busy.err" 8>&- & record=$!
		exec 9>"$work/go"
		places() { [ "$(find /proc/$record/fd -lname '*/.open-*' | wc -l)" -eq 200 ]; }
		wait_until places
		ok $? "the recorder stores for 200 of 210 programs"
		exec 8>&-
		wait_until said 1
		# (On a busy machine it is not always found at once.)
		stored() { last=$(program) && [ "$(stat -c %s "$trace/u-$last-0")" -ge $((first + slot)) ]; }
		wait_until stored
		ok $? "and for the next one, when these are gone"
		echo >&9
		exec 9>&-
		wait $record
		is "$?$(calls "$trace")" "0$((210 * 9001 + first / 24 + 2 * each + 1))" "whose trace has all calls of all"
		rm -r "$trace"
	fi
}

# A program that ends just when its trace is finished: whoever finishes it looks at what
# there is afterwards.
t_ending()
{
	begin ending $((first / 24 + 2 * each)) wait $((2 * each)) kill
	wait_until said 1
	child=$(program)
	kill -KILL $record
	wait $record 2>/dev/null
	if strace -qq -o /dev/null -e trace=fcntl -e inject=fcntl:delay_enter=3000000:when=1 \
			"$cudatrace" report "$trace" >"$work/ending.txt" 2>&1 & then
		report=$!
		sleep 1
		echo >&9
		exec 9>&-
		wait $report
		wait_until eval '! kill -0 $child 2>/dev/null'
		is "$(calls "$trace")" "$((first / 24 + 4 * each + 1))" "a program that ends while its trace is finished" || cat "$work/ending.txt" "$work/report.err"
	fi
}

# No room: the program goes on, and what was recorded until then can be read.
t_full_disk()
{
	if mkdir -p "$work/small" && mount -t tmpfs -o size=3m none "$work/small" 2>/dev/null; then
		"$cudatrace" record -q --no-module -o "$work/small/trace" -- "$busy" 500000 >"$work/said" 2>"$work/busy.err"
		is "$(cat "$work/said")$(grep -c 'no room for records' "$work/busy.err")" 5000001 "a full disk holds no program up, and is told"
		mount -o remount,size=30m "$work/small"
		got=$(calls "$work/small/trace") lost=$("$cudatrace" report "$work/small/trace" 2>/dev/null | sed -n 's/^ *lost records *\([0-9,]*\).*/\1/p' | tr -d ,)
		[ "$got" -gt 50000 ]
		is "$?$((got + lost))" 0500001 "its trace has what was recorded, and counts the rest as lost" || cat "$work/busy.err"
		umount "$work/small"
	else
		skip "a full disk: tmpfs can't be mounted"
	fi
}

# A limit on the size of files.
t_file_limit()
{
	(ulimit -f 2000; exec "$cudatrace" record -q --no-module -o "$work/trace-limit" -- "$busy" 500000 >"$work/said" 2>"$work/busy.err")
	is "$?$(grep -c 'File too large (files may have 2000 KiB here: ulimit -f)' "$work/busy.err")$(cat "$work/said")" 1251500000 "a limit on the size of files ends neither the program nor the recorder" || cat "$work/busy.err"
	(ulimit -f 64; exec "$cudatrace" record -q --no-module -o "$work/trace-limit-2" -- "$busy" 500000 >"$work/said" 2>"$work/busy.err")
	is "$(grep -c "a file would be larger than this process's may be (ulimit -f), records are counted as lost" "$work/busy.err")$(cat "$work/said")" 1500000 "... and the library says why records are lost" || cat "$work/busy.err"
	"$cudatrace" report "$work/trace-limit-2" 2>/dev/null | grep -qE 'lost records +[1-9]'
	ok $? "... which are counted"
	is "$("$cudatrace" record -q --no-module -f -o "$work/trace-limit-2" -- grep SigIgn /proc/self/status 2>/dev/null)" "$(grep SigIgn /proc/self/status)" "... the program's own signal is as it was"
	# A recorder's own limit, while it holds a thread of a program: the library is a file, too.
	start_running file_limit 2 30
	(ulimit -f 64; exec "$cudatrace" record -q -f -o "$work/trace-limit-3" --pid $pid --duration 1 2>"$work/said")
	is "$? $(wc -l <"$work/said") $(grep -c "process $pid: the library can't be written into its memory: File too large (files may have 64 KiB here: ulimit -f)" "$work/said")" "1 1 1" "record --pid: one line" || cat "$work/said"
	attach trace-limit-4 0.2 && every_call trace-limit-4
	ok $? "... and without the limit it goes" || cat "$work/trace-limit-4.said"
	ended_well file_limit
}

# What claims to be a thread's slots leads the recorder nowhere.
t_liar()
{
	cat >"$work/liar.sh" <<'LIAR'
cd "$CUDATRACE_DIR" || exit
number() { for i in 0 8 16 24 32 40 48 56; do printf "\\$(printf %o $(($1 >> i & 255)))"; done; }
# liar N OFFSET SIZE [PID]: two slots of 4096 bytes, one of them filled, of a living thread
liar()
{
	local pid=${4-$$}
	head -c 200000 /dev/zero >.open-7-$1
	number $((pid << 32 | pid)) | dd of=.open-7-$1 bs=1 seek=8 conv=notrunc 2>/dev/null
	{ printf '\2\0\0\0\0\20\0\0'; number 1; number 0; number $2; number $3; } |
		dd of=.open-7-$1 bs=1 seek=2048 conv=notrunc 2>/dev/null
	# A packet's magic and the length of its content are right.
	{ printf '\301\037\374\301'; } | dd of=.open-7-$1 bs=1 seek=4096 conv=notrunc 2>/dev/null
	number $(($3 * 8)) | dd of=.open-7-$1 bs=1 seek=$((4096 + 40)) conv=notrunc 2>/dev/null
}
echo precious >../precious
chmod 600 ../precious
liar 1 0 128; ln -s ../precious u-7-1
liar 2 0 128; ln ../precious u-7-2
liar 3 1000000000 128; : >u-7-3
liar 4 0 100000; : >u-7-4
liar 6 0 128 0; : >u-7-6
liar 5 0 128; : >u-7-5
printf '\1' | dd of=.recorder bs=1 seek=12 conv=notrunc 2>/dev/null
for _ in $(seq 12000); do [ -s u-7-5 ] && break; sleep 0.05; done
sleep 0.3
stat -c %s u-7-3 u-7-4 u-7-5 u-7-6
cat ../precious
rm -f u-7-* .open-7-*
LIAR
	if [ "$(nproc)" -lt 2 ]; then
		skip "slots that lie: on one processor the recorder does not look at them"
	else
		"$cudatrace" record -q --no-module -o "$work/trace-liar" -- bash "$work/liar.sh" >"$work/liar.out" 2>"$work/liar.err"
		is "$?$(paste -sd, "$work/liar.out")" "00,0,128,0,precious" "slots that lie lead the recorder nowhere" || cat "$work/liar.err"
	fi
}
