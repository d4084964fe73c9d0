# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: where the records go, and what happens when they cannot.
# run.sh reads this; its functions and $B, $W, $D.

t_full() {
	CUDATRACE_PACKET=4096 traced "$B/victim" limit
	{ exits 0 && valid && [ "$(grep -c 'ulimit -f' "$W/err")" = 1 ] &&
	  [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "a limit on file sizes: one line, no signal, the program goes on" $?
	traced "$B/victim" limit_all
	{ exits 0 && [ -s "$W/err" ]; }
	ok "... also where it forbids the registry, and stderr, to grow" $?
	CUDATRACE_PACKET=4096 traced "$B/victim" unread
	exits 0
	ok "... and a stderr that nobody reads is no SIGPIPE" $?
	if [ "$(id -u)" = 0 ] && mkdir "$W/small" &&
	   mount -t tmpfs -o size=300k tmpfs "$W/small" 2>/dev/null; then
		D=$W/small/trace
		rm -f "$W/said"
		CUDATRACE_PACKET=16384 CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so \
			"$B/victim" many >"$W/out" 2>"$W/err"
		STATUS=$?
		{ exits 0 && valid && [ "$(grep -c 'no room' "$W/err")" = 1 ] &&
		  [ "$(wc -l <"$W/err")" = 1 ] &&
		  [ "$(grep -c '^u-.* cuCtxSetCurrent ' "$W/dump")" -gt 5000 ] &&
		  booked 20001 0; }
		ok "a full disk: one line, the program goes on, each loss is counted" $?
		rm -rf "$D"
		if [ -x "$(command -v strace)" ]; then
			CUDATRACE_PACKET=16384 CUDATRACE_DIR=$D strace -qq -e trace=rt_sigprocmask -o "$W/strace" -E LD_PRELOAD="$B/libcudatrace.so" \
				"$B/victim" many >"$W/out" 2>"$W/err"
			STATUS=$?
			{ exits 0 && valid && booked 20001 5000 && [ "$(wc -l <"$W/strace")" -lt 3000 ]; }
			ok "... and the kernel is not asked at each of them" $?
		else
			skip "... and the kernel is not asked at each of them" "there is no strace"
		fi
		umount "$W/small"
		rmdir "$W/small"
	else
		skip "a full disk" "needs root and a tmpfs"
	fi
	touch "$W/file"
	CUDATRACE_DIR=$W/file/x LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic 2>"$W/err"
	STATUS=$?
	{ exits 0 && [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "a directory that can't be made: one line, the program goes on" $?
}

# booked N: of N records each is there or counted as lost.
booked() {
	local there lost

	there=$(grep -v '^class ' "$W/dump" | grep -cE ' cuCtxSetCurrent | process ppid=')
	lost=$(sed -n 's/.*stream .*lost=//p' "$W/dump" | paste -sd+)
	LOST=$((${lost:-0}))
	[ $((there + LOST)) = "$1" ] && [ $LOST -gt "$2" ] && return 0
	echo "made ${1:-none}, there $there, lost $LOST" >>"$W/said"
	return 1
}

# The first calls find no free descriptor: what is lost is counted, and then it goes on.
t_no_files() {
	traced "$B/victim" no_files
	{ exits 0 && valid && booked "$(sed -n 's/^made //p' "$W/out")" 1000 && [ $LOST -lt 3000 ]; }
	ok "no free descriptor for the first 1,000 calls: they are counted, later ones recorded" $?
	[ -x build/cudatrace ] || return
	shown
	ok "... and the command says how many" $?
}

# A file system without fallocate(), a kernel without MADV_WIPEONFORK.
t_refused() {
	local errno what
	"$B/refuse" fallocate 95 /bin/true
	if [ $? = 77 ]; then
		skip "what the kernel refuses" "needs seccomp"
		return
	fi
	for errno in 95 38 1; do	# EOPNOTSUPP, ENOSYS, EPERM
		CUDATRACE_PACKET=4096 traced "$B/refuse" fallocate $errno "$B/victim" many
		{ exits 0 && silent && valid && counts 20000 ' cuCtxSetCurrent ' &&
		  counts 1 '^stream .* lost=0$'; }
		ok "a file system without fallocate() (error $errno): nothing lost" $?
	done
	traced "$B/refuse" fallocate 95 "$B/victim" many
	{ exits 0 && silent && valid && counts 20000 ' cuCtxSetCurrent ' && counts 1 '^stream .* lost=0$'; }
	ok "... nor from packets that are made elsewhere" $?
	if [ "$(id -u)" = 0 ] && mkdir -p "$W/small" &&
	   mount -t tmpfs -o size=300k tmpfs "$W/small" 2>/dev/null; then
		D=$W/small/trace
		rm -f "$W/said"
		CUDATRACE_PACKET=16384 CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so \
			"$B/refuse" fallocate 95 "$B/victim" many >"$W/out" 2>"$W/err"
		STATUS=$?
		{ exits 0 && valid && [ "$(grep -c 'no room' "$W/err")" = 1 ] && booked 20001 0; }
		ok "... nor is a full disk a SIGBUS there" $?
		umount -l "$W/small"
		rmdir "$W/small"
	else
		skip "... a full disk" "needs root and a tmpfs"
	fi
	traced "$B/refuse" wipeonfork 22 "$B/victim" fork
	{ exits 0 && silent && valid && counts 3 '^stream .* lost=0$' &&
	  counts 18 ' cuCtxSetCurrent ' && counts 3 ' process ppid='; }
	ok "a kernel without MADV_WIPEONFORK: each child has a stream and a process record" $?
	for what in "fork_early 7" "fork_lookups 201" "held 3" "vfork 7"; do
		set -- $what
		traced "$B/refuse" wipeonfork 22 "$B/victim" $1
		{ exits 0 && silent && valid && counts $2 ' cuCtxSetCurrent '; }
		ok "... and $1" $?
	done
}

# shown: the command says that many, before the trace is finished and afterwards.
shown() {
	for _ in 1 2; do
		build/cudatrace report "$D" >"$W/report" 2>>"$W/said"
		[ "$(sed -n 's/.* lost records *//p' "$W/report" | tr -d ,)" = "$LOST" ] || {
			cat "$W/report" >>"$W/said"
			return 1
		}
		rm -f "$W/small/fill"
	done
	# Of a copy without hidden files.
	rm -rf "$W/copy" && mkdir "$W/copy" && cp "$D"/[!.]* "$W/copy" &&
	build/cudatrace export "$W/copy" 2>&1 >"$W/out" | grep -qE "^cudatrace: $LOST records? (was|were) lost" ||
		return 1
	! command -v babeltrace2 >/dev/null || {
		lost=$(babeltrace2 "$D" 2>&1 >"$W/out" | sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' | paste -sd+)
		[ $((${lost:-0})) = "$LOST" ] || { echo "babeltrace2: $lost" >>"$W/said"; return 1; }
	}
}

# losing WHAT SIGNAL BUSY: see losses() of the victim.
losing() {
	D=$W/small/trace
	rm -rf "$W/small/"* "$W/said"
	(
		LOSE=$1 LOSE_END=$2 LOSE_BUSY=$3 CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so \
			"$B/victim" losses >"$W/out" 2>"$W/err"
		exit $?
	) 2>/dev/null
	STATUS=$?
}

t_uncounted() {
	if [ "$(id -u)" != 0 ] || ! mkdir "$W/small" ||
	   ! mount -t tmpfs -o size=400k tmpfs "$W/small" 2>/dev/null; then
		skip "threads that never get a packet" "needs root and a tmpfs"
		return
	fi
	local what end
	export CUDATRACE_PACKET=4096
	for what in room rights memory; do
		for end in "" 9; do
			losing "$what" "$end" 0
			{ exits $((${end:-0} ? 137 : 0)) && valid && [ "$(wc -l <"$W/err")" -le 3 ] &&
			  booked "$(sed -n 's/^made //p' "$W/out")" 30; }
			ok "without $what for a packet${end:+, killed}: each call of new threads is there or counted" $?
			[ "$what" != room ] || [ "$end" ] && continue
			CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" many 2>>"$W/err" && valid &&
				booked $(($(sed -n 's/^made //p' "$W/out") + 20001)) 20000
			ok "... and of a process that comes later" $?
			[ -x build/cudatrace ] || continue
			shown
			ok "... and the command says how many, as does babeltrace2" $?
		done
	done
	unset CUDATRACE_PACKET
	mount -o remount,size=3m "$W/small"
	for what in room rights; do
		for end in "" 9; do
			losing "$what" "$end" 20000
			{ exits $((${end:-0} ? 137 : 0)) && valid &&
			  booked "$(sed -n 's/^made //p' "$W/out")" 30 && shown; }
			ok "... of a busy thread as well, without $what${end:+, killed}" $?
		done
	done
	if [ -x build/cudatrace ]; then
		export CUDATRACE_LIBRARY=$B/libcudatrace.so
		for end in "" 9; do
			rm -rf "$W/small/"* "$W/said"
			LOSE=room LOSE_END=$end LOSE_BUSY=20000 build/cudatrace record --no-module \
				-o "$D" -- "$B/victim" losses >"$W/out" 2>"$W/err"
			{ valid && booked "$(sed -n 's/^made //p' "$W/out")" 30 && shown; }
			ok "... beside a recorder that stores${end:+, killed}" $?
		done
		rm -rf "$W/small/"* "$W/said"
		build/cudatrace record --no-module -o "$D" -- sh -c \
			"cat /dev/zero 2>/dev/null >$W/small/fill; exec $B/victim many" >"$W/out" 2>"$W/err"
		{ valid && booked 20001 20000 && shown; }
		ok "... where it is full before the first call" $?
		unset CUDATRACE_LIBRARY
	fi
	umount -l "$W/small"
	rmdir "$W/small"
}

t_device() {
	export LIB=$B/libcudatrace-fake.so CUDATRACE_DEVICE=/dev/null FAKE_LOG=$W/log
	rm -f "$W/log"
	traced "$B/victim" basic
	cp "$W/log" "$W/dump" 2>/dev/null
	{ exits 0 && silent && counts 1 '^begin .* cuInit .*flags=0 result=0 0000000000000000$' &&
	  counts 1 '^mark .* cuInit .*flags=2 result=1 0000000000000001$' &&
	  counts 0 '^begin .* cuCtxGetCurrent ' && counts 1 '^mark .* cuCtxGetCurrent .*flags=4' &&
	  counts 1 '^mark .* cuMemAlloc_v2 .* 0000000000001000,00007f0000001000$' &&
	  counts 1 '^mark .* process ' && counts 1 '^string 1 _Z6kernelPf$' &&
	  counts 1 '^mark .* cuLaunchKernel .* 0000000700000001,0000000200000001,0000000400000003,0000000600000005,0000000000000008$'; }
	ok "the device: classes, strings, a begin and a mark per call" $?
	[ ! -e "$D" ]
	ok "... and no files" $?
	rm -f "$W/log"
	traced "$B/victim" closes_all
	cp "$W/log" "$W/dump"
	{ exits 0 && silent && counts 3010 '^mark .* cuCtxSetCurrent ' &&
	  counts 3010 '^begin .* cuCtxSetCurrent '; }
	ok "... which is opened again when the program closed it" $?
	rm -f "$W/log"
	traced "$B/victim" fork
	cp "$W/log" "$W/dump"
	{ exits 0 && counts 18 '^mark .* cuCtxSetCurrent ' && counts 3 '^mark .* process '; }
	ok "... and inherited by children" $?
	rm -f "$W/log"
	traced "$B/victim" longjmp
	cp "$W/log" "$W/dump"
	{ exits 0 && counts 3 '^mark .* cuMockCall .*flags=26 '; }
	ok "... with abandoned calls" $?
	rm -f "$W/log"
	traced "$B/victim" fds
	{ exits 0 && [ "$(cat "$W/out")" = "fds 3 4 5" ]; }
	ok "... under a high number" $?
	rm -f "$W/log"
	traced "$B/victim" no_files
	cp "$W/log" "$W/dump" 2>/dev/null
	{ exits 0 && [ ! -e "$D" ] && [ "$(grep -c '^mark .* cuCtxSetCurrent ' "$W/dump")" -gt 47000 ]; }
	ok "... and opened as soon as there is a free descriptor, with no files instead" $?
	FAKE_FULL=1 traced "$B/victim" basic
	{ exits 0 && [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "... that refuses classes: one line, the program goes on" $?
	CUDATRACE_SINK=files traced "$B/victim" basic
	CUDATRACE_DIR=$D FAKE_FULL=1 LD_PRELOAD=$LIB "$B/victim" many 2>"$W/err"
	(CUDATRACE_DIR=$D FAKE_FULL=1 LD_PRELOAD=$LIB "$B/victim" killed 2>>"$W/err"; :) 2>/dev/null
	{ valid && counts 1 '^no stream lost=21000$'; }
	ok "... and what is lost by that is counted in the directory of the recording" $?
	rm -f "$W/log"
	FAKE_IDLE=1 traced "$B/victim" basic
	cp "$W/log" "$W/dump"
	{ exits 0 && silent && counts 1 '^mark .* cuInit op=0 .*flags=0 result=0 '; }
	ok "... with no session: calls are marked without their begin" $?
	# The process's record is the first: the thread buffer is made for it, and closed.
	rm -f "$W/log"
	CUDATRACE_DIR=$D FAKE_CLOSING=1 traced "$B/victim" basic
	cp "$W/log" "$W/dump"
	{ exits 0 && silent && counts 1 '^mark .* process ' && counts 2 '^mark .* cuInit '; }
	ok "... that closes a thread buffer before its first packet: by ioctl, nothing is lost" $?
	FAKE_ABI=99 traced "$B/victim" basic
	{ exits 0 && valid && counts 1 ' cuInit flags=0x0$' && [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "a module of another version: one line, then files" $?
	FAKE_ABI=99 CUDATRACE_SINK=device traced "$B/victim" basic
	{ exits 0 && [ ! -e "$D" ]; }
	ok "CUDATRACE_SINK=device does not fall back" $?
	unset LIB CUDATRACE_DEVICE FAKE_LOG
}

t_ioctl() {
	if [ "$(id -u)" != 0 ] || ! mknod "$W/nvidiactl" c 195 255 2>/dev/null; then
		skip "the driver's ioctls" "needs root and mknod"
		return
	fi
	export NODE=$W/nvidiactl
	traced "$B/victim" ioctls
	{ exits 0 && valid && [ "$(sort -u "$W/out")" = "-1 9" ] && counts 4 ' ioctl cmd=' &&
	  counts 4 'ret=-9 device=255 '; }
	ok "ioctls on NVIDIA's devices, errors and errno passed on" $?
	LIB="$B/libcudatrace.so $B/libfake_driver.so" traced "$B/victim" ioctls
	{ exits 0 && valid && counts 4 ' ioctl cmd=' &&
	  counts 1 'cmd=0xc020462a ret=0 device=255 have=23 client=0xc1d00001 object=0x5c000002 code=545259778 status=86 ' &&
	  counts 1 'cmd=0xc020462a ret=0 device=255 have=55 client=0xc1d00001 ' &&
	  counts 1 'cmd=0xc020462a ret=-14 device=255 have=0 ' &&
	  counts 1 'cmd=0xc010462a ret=-14 '; }
	ok "... with client, object, command and status, also wrapped; bad pointers" $?
	unset NODE
}

t_shared() {
	for i in $(seq 40); do
		CUDATRACE_DIR=$W/shared LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic &
	done
	wait
	D=$W/shared
	{ valid && counts 40 '^stream ' && counts 17 '^class ' && counts 40 ' cuInit flags=0x0$' &&
	  counts 1 '^info sink files$' && counts 3 '^string '; }
	ok "40 processes at once share a directory and its ids" $?
}

t_simulated() {
	LD_LIBRARY_PATH=$B/simulated traced "$B/victim" basic
	{ exits 0 && valid && counts 1 '^info gpu simulated$'; }
	ok "a simulated libcuda is named as such" $?
}

t_babeltrace() {
	command -v babeltrace2 >/dev/null && [ -x build/cudatrace ] || {
		skip "babeltrace2 reads the trace" "needs babeltrace2 and build/cudatrace"
		return
	}
	CUDATRACE_PACKET=4096 traced "$B/victim" many
	build/cudatrace report "$D" >"$W/out" 2>"$W/err"
	[ "$(babeltrace2 "$D" 2>"$W/said" | grep -c cuCtxSetCurrent)" = 20000 ]
	ok "babeltrace2 reads the trace" $?
}
