# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: other users and servers at the trace's files, and programs that
# leave it little.  run.sh reads this; its functions and $B, $W, $D.

# while_busy CMD...: CMD begins between a program's first call and 20,000 more, and says that it
# has; $LOCKS: what it holds of files when these are made.
while_busy() {
	local other program
	rm -rf "$D" "$W/said" "$W/go" "$W/begun" "$W/out"
	GO=$W/go CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/surroundings" busy \
		>"$W/out" 2>"$W/err" & program=$!
	until grep -q ready "$W/out" 2>/dev/null || ! kill -0 $program 2>/dev/null; do
		sleep 0.01
	done
	"$@" >"$W/begun" 2>>"$W/said" & other=$!
	while [ ! -s "$W/begun" ] && kill -0 $other 2>/dev/null; do
		sleep 0.01
	done
	touch "$W/go"
	wait $program
	STATUS=$?
	LOCKS=$(grep " $other " /proc/locks)
	kill $other 2>/dev/null
	wait $other 2>/dev/null
	OTHER=$?
}

t_stream_lease() {
	D=$W/trace
	while_busy sh -c 'exec "$0" lease "$1"/u-*' "$B/surroundings" "$D"
	if [ "$OTHER" = 77 ]; then
		skip "a lease on a stream" "the file system has none"
		return
	fi
	# The kernel takes it away after 45 seconds, if somebody waits for so long.
	{ exits 0 && grep -q LEASE <<<"$LOCKS" && valid && booked "$(sed -n 's/^made //p' "$W/out")" 0 &&
	  [ "$(cat "$W/err")" = "cudatrace: another program has a lease on a file, records are counted as lost: $D" ]; }
	ok "a lease on a stream: no call waits, each loss is counted" $?
}

has_no_files() {
	prlimit --pid $program --nofile=0:1024 && echo taken
}

t_drain_no_files() {
	D=$W/trace
	while_busy has_no_files
	{ exits 0 && valid && booked "$(sed -n 's/^made //p' "$W/out")" 0 &&
	  [ "$(cat "$W/err")" = "cudatrace: no free file descriptor, records are counted as lost: $D" ]; }
	ok "later on no descriptor is free: it is said, each loss is counted" $?
}

t_recorder_owner() {
	if [ "$(id -u)" != 0 ]; then
		skip "another user's .recorder" "needs root"
		return
	fi
	local owner
	for owner in 65534 0; do
		D=$W/trace
		rm -rf "$D" "$W/said" && mkdir "$D"
		# As the recorder makes it: CT_MAGIC and the version; nobody waits.
		{ printf '\xc1\x1f\xfc\xc1\1\0\0\0'; head -c 4088 /dev/zero; } >"$D/.recorder"
		chown $owner "$D/.recorder"
		cp "$D/.recorder" "$W/before"
		CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" many >"$W/out" 2>"$W/err"
		STATUS=$?
		cmp -s "$D/.recorder" "$W/before"
		{ [ $? = $((owner == 0)) ] && exits 0 && silent && valid && counts 20000 ' cuCtxSetCurrent '; }
		ok "a .recorder of user $owner is mapped only if that is root or the program's" $?
	done
}

# The mangled names of some templates differ only behind what a string of the trace holds.
t_long_names() {
	local length library
	for length in 4096 4097 20000; do
		traced "$B/surroundings" names $length
		{ exits 0 && silent && valid && counts 4 '^string ' && counts 10 ' cuLaunchKernel '; }
		ok "kernels whose names of $length bytes differ at their ends are four kernels" $?
		rm -f "$W/log"
		LIB=$B/libcudatrace-fake.so CUDATRACE_DEVICE=/dev/null FAKE_LOG=$W/log \
			traced "$B/surroundings" names $length
		grep '^string ' "$W/log" | cut -d ' ' -f 3 | sort -u >"$W/dump"
		{ exits 0 && silent && [ "$(wc -l <"$W/dump")" = 4 ]; }
		ok "... by the device, too" $?
	done
}

t_misaligned() {
	traced "$B/surroundings" misaligned
	{ exits 0 && silent && valid && counts 3 ' cuCtxGetCurrent$' && counts 3 ' cuMemAlloc_v2 ' &&
	  counts 2 '^string ' && counts 1 ' cuMockCount$'; }
	ok "calls with a stack that is 8 bytes off" $?
}

t_time_namespace() {
	local by first
	if ! unshare -T --monotonic 100000 true 2>/dev/null; then
		skip "another time namespace" "needs root, and Linux 5.6"
		return
	fi
	traced "$B/victim" basic
	valid && first=$(sed -n 's/.* ts=\([0-9]*\) .* cuInit .*/\1/p' "$W/dump" | tail -1)
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so unshare -T --monotonic 100000 -f \
		"$B/victim" basic >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && silent && valid && counts 4 ' cuInit ' &&
	  [ "$(sed -n 's/.* ts=\([0-9]*\) .* cuInit .*/\1/p' "$W/dump" |
		awk -v first="$first" '$1 > first + 50000e9')" = "" ]; }
	ok "another time namespace: records have the machine's clock" $?
	[ -x build/cudatrace ] || return
	recorded unshare -T --monotonic 100000 -f "$B/victim" basic
	recorded_briefly
	ok "... under the command" $?
	D=$W/recorded
	rm -rf "$D"
	CUDATRACE_LIBRARY=$B/libcudatrace.so unshare -T --monotonic 100000 -f \
		build/cudatrace record --no-module -q -o "$D" -- "$B/victim" basic >"$W/out" 2>"$W/err"
	STATUS=$?
	recorded_briefly
	ok "... and around the command" $?
}

# The report says that it took less than 1,000 s.
recorded_briefly() {
	build/cudatrace report "$D" >"$W/report" 2>"$W/said"
	exits 0 && valid && counts 2 ' cuInit ' &&
		grep -qE '^recorded .* for ([0-9.]+ [mu]s|[0-9]{1,3}\.[0-9]+ s),' "$W/report"
}

# LD_PRELOAD can't name such a path.
t_install_path() {
	local folder
	if [ ! -x build/cudatrace ]; then
		skip "an install path with a blank" "needs build/cudatrace"
		return
	fi
	for folder in "with blank" with:colon; do
		mkdir -p "$W/$folder"
		cp "$B/libcudatrace.so" "$W/$folder/"
		for _ in 1 2; do	# the second one replaces the first
			rm -f "$W/said"
			CUDATRACE_LIBRARY=$W/$folder/libcudatrace.so build/cudatrace record --no-module \
				--no-nvtx -q -f -o "$W/linked" -- "$B/victim" fork >"$W/out" 2>"$W/err"
			STATUS=$?
		done
		D=$W/linked
		{ exits 0 && valid && counts 18 ' cuCtxSetCurrent ' && ! grep -q 'ld\.so' "$W/err"; }
		ok "the library in a folder \"$folder\": calls are recorded" $?
		rm -rf "$W/linked" "$W/in $folder"
		CUDATRACE_LIBRARY=$W/$folder/libcudatrace.so build/cudatrace record --no-module \
			--no-nvtx -q -o "$W/in $folder" -- "$B/victim" fork >"$W/out" 2>"$W/err"
		STATUS=$?
		{ exits 125 && grep -q "^cudatrace: LD_PRELOAD can't name" "$W/err" && [ ! -s "$W/out" ] &&
		  [ ! -e "$W/in $folder" ]; }
		ok "... and so is the trace's directory: it is said, and nothing runs" $?
	done
}

t_keys() {
	traced "$B/surroundings" keys
	{ exits 0 && silent && valid && counts 300 ' cuCtxSetCurrent ' && [ "$(cat "$W/out")" = "left 1" ] &&
	  [ "$(ls "$D" | grep -c '^u-')" = 1 ]; }
	ok "300 threads of a program that has all of pthread's keys: one stream" $?
}

t_full_pipe() {
	traced "$B/surroundings" unread
	exits 0
	ok "a message to a pipe that is full and that nobody reads: the program goes on" $?
}

# Of the memory that the loader keeps for thread variables of libraries that come late.
t_static_tls() {
	local size
	echo '__thread char rest[SIZE] __attribute__((tls_model("initial-exec"))); char *use(void) { return rest; }' \
		>"$W/rest.c"
	for size in $(seq 4096 -64 64); do
		cc -w -fPIC -shared -DSIZE=$size -o "$W/rest.so" "$W/rest.c"
		! "$B/surroundings" tls "$W/rest.so" libcuda.so.1 >"$W/out" || break
	done
	cc -w -fPIC -shared -DSIZE=$((size - 64)) -o "$W/rest.so" "$W/rest.c"
	D=$W/trace
	rm -rf "$D" "$W/said"
	CUDATRACE_DIR=$D "$B/surroundings" tls "$W/rest.so" "$B/libcudatrace.so" >"$W/out" 2>"$W/err"
	STATUS=$?
	{ [ $size -gt 64 ] && exits 0; }
	ok "loaded late, where 64 of $size bytes for thread variables are left" $?
}
