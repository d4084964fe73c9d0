# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: the registry that all processes of a recording share, the
# directory that it stands in, and messages.  run.sh reads this; its functions and $B, $W, $D.

# raced N: N processes of "registry race" gave each text one id, and each id one text.
raced() {
	valid && counts $(($1 * 200)) ' cuLaunchKernel kernel=kernel_' && counts 200 '^string ' &&
		[ "$(sed -n 's/.* cuLaunchKernel kernel=kernel_\([0-9]*\) .* grid_x=\([0-9]*\) .*/\1 \2/p' \
			"$W/dump" | awk '$1 != $2' | wc -l)" = 0 ]
}

t_registry_race() {
	local bad=0 heads=0 void=0 errno
	for _ in 1 2 3 4 5; do
		traced "$B/registry" race 16
		{ exits 0 && silent && raced 16; } || bad=1
		heads=$((heads + $(grep -c '^cudatrace ' "$D/.registry")))
		void=$((void + $(cut -d ' ' -f 1,2 "$D/.registry" | grep '^string' | sort | uniq -d | wc -l)))
	done
	[ $bad = 0 ]
	ok "16 processes begin at once: each id has one text ($void claimed twice in 5 times, $heads heads)" $?
	traced "$B/refuse" flock 0 "$B/registry" race 16
	if [ "$STATUS" = 77 ]; then
		skip "without flock()" "needs seccomp"
		return
	fi
	{ exits 0 && silent && raced 16; }
	ok "flock() is not called" $?
	traced "$B/refuse" flock 38 "$B/registry" race 16
	{ exits 0 && silent && raced 16; }
	ok "where it fails, too, ids are given once" $?
	if command -v babeltrace2 >/dev/null && [ -x build/cudatrace ]; then
		"$B/refuse" flock 38 build/cudatrace report "$D" >"$W/report" 2>"$W/said" &&
			[ "$(babeltrace2 "$D" 2>>"$W/said" | grep -c 'cuLaunchKernel.*kernel_')" = 3200 ]
		ok "... and the command and babeltrace2 read the trace" $?
	else
		skip "... and the command and babeltrace2 read the trace" "needs babeltrace2 and build/cudatrace"
	fi
}

# beside_first CMD...: a first call while CMD, a process of its own, has said that it has begun;
# $LOCKS: what CMD holds of others' way behind that call.
beside_first() {
	local other
	traced "$B/victim" basic
	"$@" >"$W/begun" 2>>"$W/said" & other=$!
	while [ ! -s "$W/begun" ] && kill -0 $other 2>/dev/null; do
		sleep 0.01
	done
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so timeout $HANG "$B/victim" args 2>"$W/err"
	STATUS=$?
	LOCKS=$(grep " $other " /proc/locks)
	kill $other 2>/dev/null
	wait $other 2>/dev/null
	OTHER=$?
}

t_registry_waits() {
	local user=() n
	[ "$(id -u)" != 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	# That user may look into the directories above.
	chmod 755 "$W"
	beside_first "${user[@]}" flock -F -x "$W/trace/.registry" sh -c 'echo begun; exec sleep 3600'
	{ grep -q begun "$W/begun" && exits 0 && silent && valid && counts 1 ' cuParamSetf$'; }
	ok "another user has the registry locked: no call waits" $?
	beside_first "$B/registry" lease "$W/trace/.registry"
	if [ "$OTHER" = 77 ]; then
		skip "a lease on the registry" "the file system has none"
	else
		# The kernel takes it away, or makes one for reading of it, after 45 seconds, if somebody waits for so long.
		{ grep -q leased "$W/begun" && grep -qE 'LEASE +(BREAKING|ACTIVE +WRITE)' <<<"$LOCKS" && exits 0 && valid && [ "$(wc -l <"$W/err")" -le 1 ]; }
		ok "the owner holds a lease on it: no call waits" $?
	fi
	cat >"$W/other" <<-END
	#!/bin/sh
	CUDATRACE_DIR=$W/trace LD_PRELOAD=$B/libcudatrace.so exec timeout $HANG $B/victim basic
	END
	chmod +x "$W/other"
	traced "$B/registry" stop "$W/other"
	n=$(sed -n 's/^stopped //p' "$W/out")
	if [ "$STATUS" = 77 ]; then
		skip "a process that is stopped in its first call" "ptrace is not allowed"
		return
	fi
	{ exits 0 && [ "$n" -gt 50 ] && valid && counts $((n + 1)) ' cuInit flags=0x0$'; }
	ok "a process that is stopped anywhere in its first calls ($n times): none waits for it" $?
	traced "$B/registry" kill "$W/other"
	n=$(sed -n 's/^killed //p' "$W/out")
	{ exits 0 && [ "$n" -gt 50 ] && "$B/dump" "$D" >"$W/dump" 2>&1
	  ! grep '^bad: registry' "$W/dump" >>"$W/said" &&
	  [ "$(grep -c ' cuInit flags=0x0$' "$W/dump")" -ge "$n" ]; }
	ok "... or killed ($n times): others go on" $?
}

# What hostile or dying writers left in the registry.
t_registry_lines() {
	local uuid=uuid=00112233445566778899aabbccddeeff
	traced "$B/victim" basic
	printf 'class 99999 us' >>"$D/.registry"
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" args 2>"$W/err"
	STATUS=$?
	{ exits 0 && silent && valid && counts 1 ' cuParamSetf$' && counts 0 '^class 99999' &&
	  grep -qx 'class 99999 us %' "$D/.registry"; }
	ok "a line that a dying process left unfinished harms no other" $?
	mkdir "$W/lines"
	{
		echo "cudatrace 1 $uuid start=1 realtime=2"
		echo "cudatrace 1 uuid=ff$(printf %030d 0) start=3 realtime=4"
		echo
		echo 'class 16384 user device - - cuMockFirst cuMockFirst'
		echo 'class 16384 user init init flags:x32,reserved:u32, cuInit cuInit'
		echo 'class 16385 user dev'
		echo 'string 1 first'
		echo 'string 1 kernel_5'
		echo 'string 2 cut %'
		echo 'strange 5'
		printf 'string 2 ker'
	} >"$W/lines/.registry"
	D=$W/lines
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/registry" race 2 2>"$W/err"
	STATUS=$?
	"$B/dump" "$D" | grep -v '^bad: registry: \(class 16385 user dev\|strange 5\)$' >"$W/dump"
	{ exits 0 && silent && counts 0 '^bad' && counts 400 ' cuLaunchKernel kernel=kernel_' &&
	  counts 1 '^class 16384 user device - - cuMockFirst' && counts 1 '^string 1 first$' && counts 1 '^string 2 kernel_' &&
	  ! grep '^class 16384 user init' "$W/dump" && grep -q '^class 16386 ' "$W/dump"; }
	ok "two heads, two texts of one id, cut and empty lines" $?
	# Ids used up; a line without an end; a file that somebody lets grow.
	local what size
	for what in 'echo string 1048575 x; echo class 65534 x' 'head -c 20000 /dev/zero | tr "\0" x' \
		'yes "string 1 $(head -c 999 /dev/zero | tr "\\0" x)" | head -c 80000000'; do
		traced "$B/victim" many
		sh -c "$what" >>"$D/.registry"
		size=$(stat -c %s "$D/.registry")
		CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so timeout $HANG "$B/victim" many 2>"$W/err"
		CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so timeout $HANG "$B/victim" args 2>>"$W/err"
		STATUS=$?
		"$B/dump" "$D" >"$W/dump" 2>&1
		{ exits 0 && counts 40000 ' cuCtxSetCurrent ' && counts 0 ' cuParamSetf$' &&
		  [ "$(wc -l <"$W/err")" -le 3 ] && counts 1 '^stream .* lost=[1-9]' &&
		  [ $(($(stat -c %s "$D/.registry") - size)) -lt 1000 ]; }
		ok "a hostile registry ($what): the program goes on, each loss is counted" $?
	done
}

# Who may only read the registry gets the ids that are there; the rest is counted.
t_registry_rights() {
	if [ "$(id -u)" != 0 ]; then
		skip "a user who may not write the registry" "needs root"
		return
	fi
	local n
	chmod 755 "$W"
	traced "$B/registry" rights
	{ exits 0 && valid && booked_calls 31 && counts 11 ' cuInit ' && counts 0 ' cuMemAlloc_v2 '; }
	ok "after the right to write is gone: each call is there or counted" $?
	rm -rf "$W/shared" && mkdir -m 777 "$W/shared"
	D=$W/shared
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic 2>"$W/err"
	valid
	n=$(grep '^u-' "$W/dump" | grep -cE ' (cuInit|cuMemAlloc_v2|cuMemGetInfo_v2)( |$)')
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so setpriv --reuid 65534 --regid 65534 \
		--clear-groups "$B/registry" rights >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && valid && [ -e "$D/.lost-65534" ] && booked_calls $((31 + n)); }
	ok "who may not write the registry, but make files beside it, has a page to count losses" $?
	# Whose owner could cut it short, which ends all that have it mapped.
	rm -rf "$W/shared" && mkdir -m 777 "$W/shared"
	head -c 4096 /dev/zero >"$D/.lost-0"
	chown 65534 "$D/.lost-0"
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic 2>"$W/err"
	STATUS=$?
	{ exits 0 && [ "$(tr -d '\0' <"$D/.lost-0" | wc -c)" = 0 ]; }
	ok "another user's page of losses is not used" $?
}

# As booked: calls of functions that the registry has, and losses.
booked_calls() {
	local there lost
	lost=$(sed -n 's/.*stream .*lost=//p' "$W/dump" | paste -sd+)
	there=$(grep '^u-' "$W/dump" | grep -cE ' (cuInit|cuMemAlloc_v2|cuMemGetInfo_v2)( |$)')
	[ $((there + lost)) = "$1" ] && return 0
	echo "made $1, there $there, lost $((lost))" >>"$W/said"
	return 1
}

t_stderr() {
	traced "$B/registry" elsewhere "$W/data"
	[ "$STATUS" = 0 ] && [ -e "$W/data" ] && [ ! -s "$W/data" ] && silent
	ok "a file of the program's that has become the descriptor 2 gets no message" $?
}

# On a machine with NVIDIA's driver only who has it open can have called CUDA, says record.
DRIVER=/dev/nvidiactl
[ -r $DRIVER ] || DRIVER=/dev/null

# recorded CMD...: by the command, without the module.
recorded() {
	rm -rf "$W/recorded" "$W/said"
	CUDATRACE_LIBRARY=$B/libcudatrace.so build/cudatrace record --no-module -q \
		-o "$W/recorded" -- "$@" 9<$DRIVER >"$W/out" 2>"$W/err"
	STATUS=$?
	D=$W/recorded
}

t_other_root() {
	local line='cudatrace: not tracing, the directory of this recording is not here'
	if [ ! -x build/cudatrace ] || ! unshare -m true 2>/dev/null; then
		skip "another root" "needs build/cudatrace, and the right to unshare mounts"
		return
	fi
	recorded unshare -m sh -c "mount -t tmpfs none $W && mkdir $W/empty && $B/victim basic; s=\$?
		ls -A $W; exit \$s"
	{ exits 0 && [ "$(cat "$W/out")" = empty ] && [ "$(grep -c "^$line" "$W/err")" = 1 ] && valid &&
	  counts 0 ' cuInit '; }
	ok "another mount namespace without the directory: one line, and none is made" $?
	recorded unshare -m sh -c "mount -t tmpfs none $W && mkdir $W/recorded && $B/victim basic; s=\$?
		ls -A $W/recorded; exit \$s"
	{ exits 0 && [ ! -s "$W/out" ] && [ "$(grep -c "^$line" "$W/err")" = 1 ]; }
	ok "... with an empty one of that name" $?
	recorded unshare -m sh -c "mount -t tmpfs none $W && CUDATRACE_TRACE= $B/victim basic &&
		$B/victim args; s=\$?; ls -A $W; ls $W/recorded | grep -c ^u-; exit \$s"
	{ exits 0 && [ "$(paste -sd ' ' "$W/out")" = "recorded 1" ] &&
	  [ "$(grep -c "^$line" "$W/err")" = 1 ]; }
	ok "... with another trace of that name: nothing is added to it" $?
	# For so long that the recorder looks at it.
	recorded unshare -m sh -c "mount -t tmpfs none $W && exec $B/registry rest"
	build/cudatrace report "$D" >"$W/report" 2>/dev/null
	{ exits 0 && [ "$(grep -c '^  not recorded: CUDA calls of registry ([0-9]*), which has another root' "$W/report")" = 1 ]; }
	ok "... and the trace says so" $?
	recorded unshare -m "$B/victim" basic
	{ exits 0 && ! grep -q "^$line" "$W/err" && valid && counts 1 ' cuInit flags=0x0$'; }
	ok "... where the directory is there, calls are recorded" $?
	recorded "$B/victim" fork
	{ exits 0 && valid && counts 18 ' cuCtxSetCurrent '; }
	ok "... and of children" $?
}

# Who may write to the directory has made the in-flight file of the next process.
t_made_before() {
	D=$W/trace
	rm -rf "$D" && mkdir "$D" && echo theirs >"$W/theirs"
	CUDATRACE_DIR=$D LIBRARY=$B/libcudatrace.so THEIRS=$W/theirs sh -c '
		ln -s "$THEIRS" "$CUDATRACE_DIR/.open-$$-0"
		LD_PRELOAD=$LIBRARY exec "$0" many' "$B/victim" >"$W/out" 2>"$W/err"
	STATUS=$?
	find "$D" -type l -delete
	{ exits 0 && valid && counts 20000 ' cuCtxSetCurrent ' && [ "$(cat "$W/theirs")" = theirs ]; }
	ok "an in-flight file that somebody else has made is not taken: another stream is" $?
}
