# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: threads, forks, signals and ends.
# run.sh reads this; its functions and $B, $W, $D.

# What every program pays that is started under the library and never uses CUDA.
t_start() {
	local name n
	# The loader maps it (glibc reads more of a file with notes by another pread64).
	local -A most=([openat]=1 [read]=1 [pread64]=1 [close]=1 [mmap]=5 [mprotect]=2 [madvise]=1)
	most[newfstatat]=1 most[fstat]=2
	if strace -o "$W/bare" "$B/bench_start" 2>"$W/said"; then
		strace -o "$W/calls" -E LD_PRELOAD="$B/libcudatrace.so" "$B/bench_start" 2>"$W/err"
		STATUS=$?
		for name in $(sed -n 's/(.*//p' "$W/calls" | sort -u); do
			n=$(($(grep -c "^$name(" "$W/calls") - $(grep -c "^$name(" "$W/bare")))
			[ $n -le "${most[$name]:-0}" ] || echo "$n times $name" >>"$W/said"
		done
		{ exits 0 && [ ! -s "$W/said" ] && grep -q '^madvise(' "$W/calls"; }
		ok "a program that is started: two system calls more than the loader's, and no file opened" $?
	else
		skip "the system calls of a start" "needs strace, and ptrace allowed"
	fi
	traced "$B/step" start "$B/bench_start"
	n=$(sed -n 's/ instructions of the library$//p' "$W/out")
	if [ -n "$n" ]; then
		# Most read the headers of the three or four objects that are loaded.
		[ $n -gt 1000 ] && [ $n -lt 20000 ] && [ ! -e "$D" ]
		ok "... and $n instructions of the library" $?
	else
		skip "... and few instructions" "ptrace is not allowed"
	fi
	# (13 or 14, by the kernel.)
	n=$("$B/bench_start" "$B/libcudatrace.so" 200 | sed -nE 's/^\.\.\. its page faults +[0-9.]+ +[0-9.]+ +([0-9]+)\..*/\1/p')
	[ "$n" -ge 4 ] && [ "$n" -le 15 ]
	ok "... and touches $n pages more" $?
	n=$(readelf -rW "$B/libcudatrace.so" | grep -c R_X86_64_)
	[ "$n" -gt 100 ] && [ "$n" -lt 600 ]
	ok "... the loader has $n places of the library to put right" $?
}

t_threads() {
	traced "$B/victim" threads
	{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent ' &&
	  counts 0 '^stream .* lost=[1-9]' && counts 1 '^open|cuMockCount$'; }
	ok "1,000 threads, nothing lost" $?
	traced "$B/victim" exits
	{ exits 0 && valid && counts 6 ' cuCtxSetCurrent ' &&
	  counts 1 '^stream .*packets=2 '; }
	ok "calls from destructors of thread data and from atexit" $?
}

# thrice N: so many threads have three calls each, and no op stands twice in a process.
thrice() {
	sed -n 's/^u-\([0-9]*\)-[^ ]* [^ ]* \([0-9]*\) op=\([0-9]*\) .* cuCtxSetCurrent .*/\1 \2 \3/p' "$W/dump" |
		awk '{ n[$1 " " $2]++; twice += ops[$1 " " $3]++ }
		     END { for (t in n) { threads += n[t] / 3; wrong += n[t] % 3 != 0 }
			   print threads, wrong + 0, twice + 0 }' >>"$W/said"
	[ "$(tail -n 1 "$W/said")" = "$1 0 0" ]
}

t_short_threads() {
	traced "$B/victim" short_threads
	{ exits 0 && silent && valid && counts 0 '^stream .* lost=[1-9]' && thrice 5007; }
	ok "5,000 threads one after the other, and children: the calls of each" $?
	[ "$(find "$D" -name 'u-*' | wc -l)" -lt 20 ]
	ok "... in a handful of files" $?
	traced "$B/victim" short_crowd
	{ exits 0 && silent && valid && counts 0 '^stream .* lost=[1-9]' && thrice 8090; }
	ok "threads that end while others begin, and forks meanwhile: the calls of each" $?
	killed_while hangs 0.2 "$B/victim" short_hang
	{ exits 137 && valid && thrice 101 &&
	  counts 1 "^open .* $(sed -n 's/^tid //p' "$W/out") op=.* cuMockHang"; }
	ok "a call that hangs in a stream that another thread had: its own thread's" $?
}

t_crowd() {
	CUDATRACE_PACKET=4096 traced "$B/victim" crowd
	# A stream has one thread's calls, each once, from the first to the last.
	{ exits 0 && silent && valid && counts 1000 '^stream .* packets=[2-9] lost=0$' &&
	  counts 120000 ' cuMemAlloc_v2 ' &&
	  sed -n 's/^\(u-[^ ]*\) \([^ ]*\) .* cuMemAlloc_v2 size=\([0-9]*\) .*/\1 \2 \3/p' "$W/dump" |
	  awk '!($1 in n) { first[$1] = $3; tid[$1] = $2; threads[$3]; streams++ }
		{ wrong += $3 != first[$1] + n[$1]++ || $2 != tid[$1] || first[$1] % 1000 }
		END { print streams, length(threads), wrong }' >>"$W/said" &&
	  [ "$(cat "$W/said")" = "1000 1000 0" ]; }
	ok "1,000 threads at the same time: each call once, each thread's in order" $?
}

t_callocs() {
	# More keys than glibc has room for without calloc(), which calls CUDA.
	cat >"$W/callocs.c" <<-'EOF'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stddef.h>

	void *__libc_calloc(size_t n, size_t size);
	static int (*set)(void *);
	static __thread int watched;

	void *calloc(size_t n, size_t size)
	{
		if (watched && set)
			set((void *)1);
		return __libc_calloc(n, size);
	}
	static void *run(void *arg)
	{
		watched = 1;
		set((void *)1);
		return NULL;
	}
	int main(void)
	{
		pthread_key_t key;
		pthread_t t;

		for (int i = 0; i < 40; i++)
			pthread_key_create(&key, NULL);
		set = (int (*)(void *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSetCurrent");
		pthread_create(&t, NULL, run, NULL);
		return pthread_join(t, NULL);
	}
	EOF
	cc -w -D_GNU_SOURCE -o "$W/callocs" "$W/callocs.c" -lpthread -ldl &&
		traced timeout -s KILL $HANG "$W/callocs"
	{ exits 0 && silent && valid && counts 2 ' cuCtxSetCurrent ' &&
	  [ -n "$(find "$D" -name 'u-*' -size +0)" ]; }
	ok "an allocator that calls CUDA, called when a thread begins" $?
}

t_fork() {
	traced "$B/victim" fork
	{ exits 0 && silent && valid && counts 3 '^stream ' && counts 18 ' cuCtxSetCurrent ' &&
	  counts 3 ' process ppid='; }
	ok "fork and fork again: each child has a stream and a process record" $?
	traced "$B/victim" vfork
	{ exits 0 && silent && valid && counts 1 '^stream ' && counts 7 ' cuCtxSetCurrent '; }
	ok "vfork and posix_spawn" $?
	traced "$B/victim" exec
	{ exits 0 && silent && valid && counts 2 '^stream ' && counts 20003 ' cuCtxSetCurrent '; }
	ok "exec: the same pid, another stream" $?
	traced "$B/victim" exec_bare
	{ exits 0 && silent && valid && counts 1 '^stream ' && counts 3 ' cuCtxSetCurrent '; }
	ok "exec without the preload: not traced, not harmed" $?
	traced "$B/victim" fork_early
	{ exits 0 && silent && valid && counts 2 '^stream ' && counts 7 ' cuCtxSetCurrent ' &&
	  counts 2 ' cuInit ' && counts 2 ' process ppid='; }
	ok "fork before the first call" $?
	traced "$B/victim" fork_lookups
	{ exits 0 && silent && valid && counts 201 ' cuCtxSetCurrent '; }
	ok "forks while other threads are inside lookups: no child waits for them" $?
	traced "$B/victim" fork_first_look
	{ exits 0 && silent && valid && counts 101 ' cuCtxSetCurrent '; }
	ok "forks while another thread looks at a new libcuda: the calls of each child" $?
	traced "$B/victim" vfork_calls
	{ exits 0 && silent && valid && counts 1 '^stream .*lost=0' &&
	  counts 8 ' cuCtxSetCurrent '; }
	ok "a call by a child of vfork" $?
}

# begun_last FUNCTION WHAT: the open call began behind all records, a query with the last.
begun_last() {
	awk -v timed="$([[ $1 == cuCtxGet* && $2 != *timed* ]]; echo $?)" -v name="$1" '
		/ ts=[0-9]/ { sub(/.* ts=/, ""); if ($1 + 0 > last) last = $1 + 0; next }
		/^open / && $NF == name { n++; sub(/.* begin=/, ""); begin = $1 + 0 }
		END { exit !(n == 1 && last && (timed ? begin >= last : begin == last)) }' "$W/dump" && return 0
	grep '^open' "$W/dump" >>"$W/said"
	return 1
}

t_death() {
	traced "$B/victim" killed
	{ exits 137 && valid && counts 1000 ' cuCtxSetCurrent '; }
	ok "SIGKILL loses no record" $?
	traced "$B/victim" _exit
	{ exits 3 && valid && counts 1000 ' cuCtxSetCurrent '; }
	ok "_exit loses no record, and the exit status stays" $?
	traced "$B/victim" abort
	{ exits 134 && valid && counts 1000 ' cuCtxSetCurrent '; }
	ok "abort loses no record" $?
	killed_while pauses 0 "$B/victim" hang
	{ valid && counts 2 ' cuCtxSetCurrent ' && counts 1 '^open .* cuMockHang$'; }
	ok "a call that hangs is an open call" $?
	local what nested
	for what in cuCtxGetCurrent "cuCtxGetCurrent timed" cuStreamSynchronize cuLaunchKernel \
		"cuCtxGetCurrent nested" "cuCtxGetCurrent timed nested" "cuLaunchKernel nested"; do
		set -- $what
		[[ $what == *nested ]] && nested=1 || nested=
		CRASH_IN=$1 CRASH_NESTED=$nested CUDATRACE_TIME_QUERIES=$([[ $what != *timed* ]] || echo 1) \
			traced "$B/victim" crash
		{ exits 139 && valid && counts ${nested:-0} '^open .* level=0 .* cuMockCall$' &&
		  counts 1 "^open .* level=${nested:-0} .* $1\$" && begun_last "$1" "$what"; }
		ok "a crash in $what: it is an open call, with its begin" $?
	done
	bad=0
	: >"$W/all"
	for i in $(seq 20); do
		CUDATRACE_PACKET=4096 killed_while true "0.0$((10 + i))" "$B/victim" until_killed
		# Killed before there was a trace: its directory is made before its registry.
		[ -s "$D/.registry" ] || continue
		valid || { bad=1; cat "$W/said" >>"$W/all"; }
	done 2>/dev/null
	cp "$W/all" "$W/said"
	ok "killed at 20 moments: every stream is valid" $bad
	bad=0
	: >"$W/all"
	for i in $(seq 4); do
		killed_while streams "0.0$i" "$B/victim" until_killed
		valid && counts 1 '^stream .*lost=0$' || { bad=1; cat "$W/said" >>"$W/all"; }
		[ ! -x build/cudatrace ] || build/cudatrace report "$D" >>"$W/all" 2>&1 ||
			bad=1
		n=$(grep -c ' cuCtxSetCurrent ' "$W/dump")
		valid
		[ "$n" = "$(grep -c ' cuCtxSetCurrent ' "$W/dump")" ] || { echo "$n before it was finished" >>"$W/all"; bad=1; }
	done 2>/dev/null
	cp "$W/all" "$W/said"
	ok "... and with a buffer: finished, it holds the same" $bad
}

t_leaving() {
	traced "$B/victim" longjmp
	{ exits 0 && silent && valid && counts 3 'flags=18 .*cuMockCall' &&
	  counts 6 'depth=0 .* cuCtxSetCurrent '; }
	ok "longjmp out of a call: abandoned, and the depth is right again" $?
	if [ -x build/cudatrace ] && command -v jq >/dev/null; then
		build/cudatrace report --from start --format csv cuda_api_sum "$D" >"$W/said" 2>&1
		build/cudatrace export --format jsonl "$D" >"$W/out" 2>>"$W/said"
		grep -q '^,,3,,,,,,cuMockCall,,,0$' "$W/said" &&
		[ "$(jq -s 'map(select(.abandoned) | has("duration_us")) | unique | tojson' "$W/out")" = '"[false]"' ]
		ok "nobody says how long it took" $?
	else
		skip "nobody says how long it took" "needs build/cudatrace and jq"
	fi
	traced "$B/throw"
	{ exits 0 && valid && counts 15 'flags=18 .*cuMockCall' &&
	  counts 5 'depth=0 .* cuCtxSetCurrent ' && counts 1 'flags=0 .*depth=0|depth=0 flags=0 .*cuMockCall'; }
	ok "C++ exceptions through five calls, backtraces, cancellation, thread_local objects" $?
}

t_coroutines() {
	traced "$B/victim" coroutines
	{ exits 0 && silent && valid && counts 15 '^u-.* cuStreamSynchronize ' &&
	  counts 170 ' cuCtxSetCurrent ' && counts 0 'flags=1[08] ' && no_op_twice &&
	  counts 0 '^open '; }
	ok "a coroutine waits in a call: each call once, with its result" $?
	CLOSE=1 traced "$B/victim" coroutines
	# (Those that wait are taken for abandoned.)
	{ exits 0 && silent && valid && counts 15 '^u-.* cuStreamSynchronize ' &&
	  counts 170 ' cuCtxSetCurrent ' &&
	  [ -z "$(sed -n 's/.* op=\([0-9]*\) .*/\1/p' "$W/dump" | sort -n | uniq -d)" ]; }
	ok "... on a stack just below the thread's: each call once" $?
}

t_signals() {
	for alt in "" 1; do
		ALTSTACK=$alt CUDATRACE_PACKET=4096 traced "$B/victim" signals
		n=$(sed -n 's/calls //p' "$W/out")
		{ exits 0 && valid && counts "${n:-none}" ' cuCtxSetCurrent ' &&
		  counts 1 '^stream .*lost=0' && counts 0 'flags=18 ' && no_op_twice; }
		ok "a signal handler that calls CUDA, ${alt:+on its own stack, }nothing lost" $?
	done
	CUDATRACE_PACKET=4096 traced "$B/victim" signal_jumps
	{ exits 0 && silent && valid && counts 1 'text="after"$' &&
	  counts 1 '^stream .*lost=0' &&
	  [ "$(tail -30 "$W/dump" | grep -c 'depth=0 .* cuCtxSetCurrent ')" -ge 10 ]; }
	ok "a signal handler that leaves by longjmp, at any instruction" $?
	# libc's function that we call first, with a lock that it takes and a signal while it does.
	cat >"$W/atfork.c" <<-'EOF'
	#include <dlfcn.h>
	#include <signal.h>
	#include <unistd.h>

	int cuCtxSetCurrent(void *);
	static int locked;

	static void handler(int sig)
	{
		cuCtxSetCurrent((void *)1);
	}
	int __register_atfork(void *a, void *b, void *c, void *d)
	{
		int (*next)() = dlsym(RTLD_NEXT, "__register_atfork");

		if (locked++)
			_exit(9);
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		locked--;
		return next(a, b, c, d);
	}
	EOF
	cc -w -D_GNU_SOURCE -fPIC -shared -o "$W/atfork.so" "$W/atfork.c" "$B/libcuda.so.1" -ldl
	LIB="$B/libcudatrace.so $W/atfork.so" traced "$B/linked-now"
	{ exits 0 && valid && counts 2 ' cuCtxSetCurrent '; }
	ok "a signal handler that calls CUDA while a thread's first call is in libc" $?
}

# no_op_twice [left]: each call that was not left has one record, with its own op; left: nor is
# one told as left that has its record.
no_op_twice() {
	local but='flags=[0-9a-f]*[13579bdf][0-9a-f] '

	[ -z "${1:-}" ] || but='^class '
	# Nor is one beyond what there can be: it would be less than its packet's first.
	awk -v but="$but" '
		!match($0, / op=[0-9]+ /) { next }
		RLENGTH > 13 { print "beyond what there can be: " $0; bad = 1; exit }
		$0 !~ but && ++ops[substr($0, RSTART, RLENGTH)] == 2 { twice++ }
		END {
			if (twice)
				print twice, "ops stand twice"
			exit bad || twice
		}' "$W/dump" >>"$W/said"
}

# parents_only PID: of the dump the first stream of this process, and what is no stream.
parents_only() {
	awk -v own="u-$1-0" '/^(class|string) / { print; next }
		/^stream / { if ($2 == own) print held $0; held = ""; next } { held = held $0 "\n" }' \
		"$W/dump" >"$W/dump.own" && mv "$W/dump.own" "$W/dump"
}

t_steps() {
	if ! "$B/step" count query >"$W/said" 2>&1; then
		skip "calls instruction by instruction" "ptrace is not allowed"
		return
	fi
	local what n stride=17 first all=' cu(CtxGetCurrent|CtxSetCurrent|LaunchKernel|MockCount)( |$)'
	# Each run has other instructions, and says which: seventeen runs have all.
	first=${STEP_OFFSET:-$((RANDOM % stride + 1))}
	echo "# every seventeenth instruction, the first is number $first: STEP_OFFSET=$first repeats it, STEP_ALL=1 takes more"
	for what in query timed call launch nested other; do
		unset STEP_STRIDE STEP_FIRST STEP_WHAT STEP_NESTED CUDATRACE_TIME_QUERIES
		case $what in
		timed) export STEP_WHAT=query CUDATRACE_TIME_QUERIES=1 ;;
		nested) export STEP_WHAT=launch STEP_NESTED=1 ;;
		esac
		# STEP_ALL=1, as make test-long and tests/userlib/mutate set it: each instruction of
		# a query, each third or seventh of the longer calls.
		case $what${STEP_ALL:-} in
		query1 | timed1) ;;
		other1) export STEP_STRIDE=7 ;;
		*1) export STEP_STRIDE=3 ;;
		*) export STEP_STRIDE=$stride STEP_FIRST=$first ;;
		esac
		CUDATRACE_PACKET=4096 traced "$B/step" signal ${STEP_WHAT:-$what}
		n=$(sed -n 's/calls \([0-9]*\) handled \([0-9]*\)/\1 + \2 + 1/p' "$W/out")
		{ exits 0 && silent && valid && counts $((${n:-0})) "$all" && no_op_twice &&
		  counts 1 '^stream .*lost=0' && counts 0 'flags=1[8c] '; }
		ok "a signal after the instructions of a $what${STEP_WHAT:+ $STEP_WHAT}, whose handler calls CUDA" $?
		CUDATRACE_PACKET=4096 traced "$B/step" longjmp ${STEP_WHAT:-$what}
		{ exits 0 && silent && valid && no_op_twice left && counts 1 '^stream .*lost=0'; }
		ok "... whose handler leaves by longjmp" $?
		CUDATRACE_PACKET=4096 traced "$B/step" both ${STEP_WHAT:-$what}
		{ exits 0 && silent && valid && no_op_twice && grep -q '^rounds [1-9]' "$W/out" &&
		  counts 1 '^stream .*lost=0'; }
		ok "... both, one soon after the other" $?
		# This reads the whole trace again and again.
		[ -n "${STEP_ALL:-}" ] || [ $what = query ] || continue
		traced "$B/step" look ${STEP_WHAT:-$what} "$B/dump $W/trace >$W/looked"
		{ exits 0 && silent && grep -q '^looks [1-9]' "$W/out"; }
		ok "... the trace is valid after each of them" $?
	done
	unset STEP_STRIDE STEP_FIRST STEP_WHAT STEP_NESTED CUDATRACE_TIME_QUERIES
	[ -n "${STEP_ALL:-}" ] || export STEP_STRIDE=$stride STEP_FIRST=$first
	for what in query call; do
		STEP_ONCE=1 CUDATRACE_PACKET=4096 traced "$B/step" signal $what
		n=$(sed -n 's/calls \([0-9]*\) handled \([0-9]*\)/\1 + \2 + 1/p' "$W/out")
		{ exits 0 && silent && valid && counts $((${n:-0})) "$all" && no_op_twice &&
		  counts 1 '^stream .*lost=0' && counts 0 'flags=1[8c] '; }
		ok "... of a $what, with a handler that is there for one signal only" $?
		traced "$B/step" fork $what
		{ exits 0 && silent && valid && counts 1 '^no stream lost=0$' &&
		  parents_only "$(sed -n 's/pid \(.*\) calls.*/\1/p' "$W/out")" &&
		  counts "$(sed -n 's/.*calls //p' "$W/out")" "$all" && no_op_twice &&
		  counts 1 '^stream .*lost=0'; }
		ok "... whose handler forks: what the child ends by itself touches nothing of the parent's" $?
	done
	STEP_STRIDE=${STEP_STRIDE:-3} CUDATRACE_PACKET=4096 traced "$B/step" fork other
	{ exits 0 && silent && valid && counts 1 '^no stream lost=0$'; }
	ok "... of one that nobody knows: nor does the child count it as lost" $?
	LIB=$B/libcudatrace-still.so STEP_MANY=1 CUDATRACE_PACKET=4096 traced "$B/step" signal query
	{ exits 0 && silent && valid && no_op_twice && counts 1 '^stream .*lost=0'; }
	ok "... while the clock stands still" $?
	STEP_MANY=400 CUDATRACE_PACKET=4096 traced "$B/step" signal query
	{ exits 0 && silent && valid && no_op_twice && counts 1 '^stream .*lost=0'; }
	ok "... whose handler fills several packets" $?
	for what in 40 400; do
		STEP_MANY=$what CUDATRACE_PACKET=4096 traced "$B/step" longjmp query
		{ exits 0 && silent && valid && no_op_twice left && counts 1 '^stream .*lost=0'; }
		ok "... with $what calls, and leaves by longjmp" $?
	done
	STEP_MANY=400 traced "$B/step" longjmp query
	{ exits 0 && silent && valid && no_op_twice left && counts 1 '^stream .*lost=0'; }
	ok "... with 400 calls in one packet" $?
	unset STEP_STRIDE STEP_FIRST
}

# Until the library blocks signals: from then on one waits for the end of that.
t_first_call() {
	if ! "$B/step" count query >"$W/said" 2>&1; then
		skip "a thread's first call instruction by instruction" "ptrace is not allowed"
		return
	fi
	local what n
	for what in query call launch other; do
		STEP_FIRST=$((RANDOM % 3 + 1)) STEP_STRIDE=${STEP_ALL:-3} traced "$B/step" first $what
		n=$(sed -n 's/processes //p' "$W/out")
		{ exits 0 && silent && valid && [ "${n:-0}" -gt 20 ] && counts $n '^stream .* lost=0$' &&
		  counts $((2 * n)) '^u-.* cu(CtxGetCurrent|CtxSetCurrent|LaunchKernel|MockCount)( |$)' &&
		  counts 0 'flags=1[8c] ' && counts 0 '^open '; }
		ok "a signal in a thread's first call ($what), whose handler calls CUDA: one stream" $?
	done
}

# signals_record_all COMMAND...: victim's handlers lose nothing, and no record is made twice.
signals_record_all() {
	local n
	CUDATRACE_PACKET=4096 traced "$@" "$B/victim" signals
	n=$(sed -n 's/calls //p' "$W/out")
	exits 0 && silent && valid && counts "${n:-none}" ' cuCtxSetCurrent ' &&
		counts 1 '^stream .*lost=0' && counts 0 'flags=18 ' && no_op_twice
}

t_grow() {
	local what n
	for what in query set; do
		LIB=$B/libcudatrace-late.so traced "$B/grow" $what 20
		n=$(sed -n 's/calls //p' "$W/out")
		{ exits 0 && silent && valid && counts "${n:-none}" ' cuCtx(Get|Set)Current( |$)' &&
		  counts 0 '^stream .*lost=[1-9]'; }
		ok "a signal handler gets the thread more memory while a call ($what) begins" $?
	done
}

t_sequences() {
	local alt what n
	# A call of this library takes as long as hundreds of the other's.
	for alt in "" 1; do
		SIGNAL_US=50 LIB=$B/libcudatrace-slow.so ALTSTACK=$alt signals_record_all env
		ok "a signal handler, ${alt:+on its own stack, }most often while a record is appended" $?
	done
	SIGNAL_US=200 LIB=$B/libcudatrace-slow.so CUDATRACE_PACKET=4096 traced "$B/victim" signal_jumps
	{ exits 0 && silent && valid && counts 1 'text="after"$' && counts 1 '^stream .*lost=0'; }
	ok "... that leaves by longjmp" $?
	if ! "$B/refuse" rseq 38 /bin/true; then
		skip "a thread without restartable sequences" "needs seccomp"
		return
	fi
	signals_record_all "$B/refuse" rseq 38
	ok "a process without restartable sequences: nothing is lost" $?
	local -x GLIBC_TUNABLES=glibc.pthread.rseq=0
	signals_record_all env
	ok "... which the user has told libc not to register" $?
	LIB=$B/libcudatrace-oldlibc.so signals_record_all env
	ok "a libc that knows nothing of restartable sequences: the library registers them" $?
	if strace -o "$W/strace" true 2>/dev/null; then
		LIB=$B/libcudatrace-oldlibc.so traced strace -fqo "$W/strace" \
			-e trace=rt_sigprocmask "$B/victim" many
		n=$(grep -c . "$W/strace")
		echo "$n times rt_sigprocmask()" >"$W/said"
		{ exits 0 && valid && counts 20000 ' cuCtxSetCurrent ' && [ "$n" -lt 4000 ]; }
		ok "... and no signal is blocked for a record" $?
	else
		skip "... and no signal is blocked for a record" "needs strace, and ptrace allowed"
	fi
	unset GLIBC_TUNABLES
	signals_record_all "$B/refuse" process_vm_readv 1
	ok "a process that may not read its own memory by a system call" $?
	traced "$B/refuse" process_vm_readv 1 "$B/victim" edge
	{ exits 0 && valid && counts 1 cuMockErrno; }
	ok "... an unknown function at the very top of a stack" $?
	"$B/step" count query >"$W/said" 2>&1 || return
	# As t_steps: in each run other instructions.
	n=$((RANDOM % 17 + 1))
	echo "# every seventeenth instruction, the first is number ${STEP_OFFSET:-$n}: STEP_OFFSET repeats it, STEP_ALL=1 takes each third"
	[ -n "${STEP_ALL:-}" ] || local -x STEP_FIRST=${STEP_OFFSET:-$n}
	for what in query other; do
		STEP_STRIDE=$([ -n "${STEP_ALL:-}" ] && echo 3 || echo 17) CUDATRACE_PACKET=4096 traced "$B/refuse" rseq 38 "$B/step" signal $what
		n=$(sed -n 's/calls \([0-9]*\) handled \([0-9]*\)/\1 + \2 + 1/p' "$W/out")
		{ exits 0 && silent && valid && no_op_twice && counts 1 '^stream .*lost=0' &&
		  counts $((${n:-0})) ' cu(CtxGetCurrent|CtxSetCurrent|MockCount)( |$)'; }
		ok "a signal after the instructions of a $what, without restartable sequences" $?
	done
}

t_clock_back() {
	LIB=$B/libcudatrace-back.so traced "$B/step" count call
	{ exits 0 && silent && valid && counts 0 'dur=[0-9]{8}'; }
	ok "a call during which the clock was set back took no time" $?
}

t_shutdown() {
	LIB="$B/libcudatrace.so $B/late.so" traced "$B/victim" shutdown
	{ exits 0 && silent && valid && counts 10 'result=0 .* cuCtxSetCurrent ' &&
	  counts 10001 'result=4 .* cuCtxSetCurrent '; }
	ok "calls after libcuda has shut down, and after our own end" $?
}

t_secure() {
	if [ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 true 2>/dev/null; then
		skip "a setuid program is left alone" "needs root and setpriv"
		return
	fi
	# ld.so drops LD_PRELOAD of such a program; one that links us must not obey.
	local P=/tmp/cudatrace-secure.$$
	rm -rf "$P"
	mkdir -m 755 "$P" && cp "$B/libcudatrace.so" "$B/libcuda.so.1" "$P" &&
	cc -w -o "$P/secure" -x c - -x none "$P/libcudatrace.so" -Wl,-rpath,"$P" <<-'EOF'
	#include <dlfcn.h>
	void cudatrace_mark(const char *);
	int main(int c, char **v)
	{
		int (*init)(unsigned) = dlsym(dlopen(v[1], 2), "cuInit");

		cudatrace_mark("x");
		return init(0);
	}
	EOF
	chmod 4755 "$P/secure"
	mkdir -m 777 "$P/w"
	CUDATRACE_DIR=$P/w/t setpriv --reuid=65534 --clear-groups "$P/secure" \
		"$P/libcuda.so.1" 2>"$W/err"
	STATUS=$?
	{ exits 0 && [ ! -e "$P/w/t" ]; }
	ok "a setuid program is left alone" $?
	rm -rf "$P"
}
