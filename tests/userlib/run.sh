#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tests of the preload library on a machine without a GPU: a mock libcuda, small
# programs that do what has broken tracers, and a reader that accepts only valid
# packets.  Prints TAP; exit status 1 if a test failed.
#
#	tests/userlib/run.sh [BUILD_DIR [PATTERN]]
set -u
cd "$(dirname "$0")/../.." || exit 2
B=$(realpath -m "${1:-build/userlib-dev}")
PATTERN=${2:-}
make -s -f tests/userlib/build.mk O="$B" || { echo "Bail out! does not build"; exit 1; }
W=$(mktemp -d /tmp/cudatrace-userlib.XXXXXX)
trap 'rm -rf "$W"' EXIT
export LC_ALL=C LD_LIBRARY_PATH=$B
unset CUDATRACE_DIR CUDATRACE_SINK CUDATRACE_DEVICE CUDATRACE_PACKET
unset CUDATRACE_TIME_QUERIES LD_PRELOAD
NUMBER=0 FAILED=0

# ok TEXT STATUS: one line of TAP; what a failed test said goes behind it.
ok() {
	NUMBER=$((NUMBER + 1))
	if [ "$2" = 0 ]; then
		echo "ok $NUMBER - $1"
	else
		echo "not ok $NUMBER - $1"
		sed 's/^/# /' "$W/said" "$W/err" 2>/dev/null | head -20
		FAILED=$((FAILED + 1))
	fi
}

skip() {
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1 # SKIP $2"
}

# traced CMD...: runs it with a fresh directory $D; STATUS, $W/out, $W/err.
traced() {
	D=$W/trace
	rm -rf "$D" "$W/said"
	# In a shell of its own, whose word on signals nobody wants to read.
	(
		CUDATRACE_DIR=$D LD_PRELOAD=${LIB:-$B/libcudatrace.so} timeout -k 1 300 "$@" \
			>"$W/out" 2>"$W/err"
		exit $?
	) 2>/dev/null
	STATUS=$?
}

# killed_while CONDITION SECONDS CMD...: traced, with SIGKILL so long after CONDITION holds.
killed_while() {
	local condition=$1 seconds=$2 pid
	shift 2
	D=$W/trace
	rm -rf "$D" "$W/said"
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$@" >"$W/out" 2>"$W/err" & pid=$!
	for _ in $(seq 6000); do
		$condition $pid && break
		sleep 0.01
	done
	sleep "$seconds"
	kill -KILL $pid
	wait $pid
	STATUS=$?
} 2>/dev/null
# It waits in pause().
pauses() { [ "$(cut -d ' ' -f 1 "/proc/$1/syscall")" = 34 ]; }
# It has a stream with a record.
streams() { grep -q . "$D"/u-"$1"-*; }

# valid: every packet can be read; the records are in $W/dump.
valid() {
	"$B/dump" "$D" >"$W/dump" 2>&1 && return 0
	grep '^bad' "$W/dump" | head -5 >>"$W/said"
	return 1
}

# counts N REGEX: as many lines of the dump match.
counts() {
	local n
	case $2 in
	^class*|^string*) n=$(grep -cE -- "$2" "$W/dump") ;;
	*) n=$(grep -vE '^(class|string) [0-9]' "$W/dump" | grep -cE -- "$2") ;;
	esac
	[ "$n" = "$1" ] && return 0
	echo "$n lines instead of $1 match: $2" >>"$W/said"
	return 1
}

# exits N: the status of the traced program.
exits() {
	[ "$STATUS" = "$1" ] && return 0
	echo "exit status $STATUS instead of $1" >>"$W/said"
	head -3 "$W/out" >>"$W/said"
	return 1
}

# silent: the library said nothing.
silent() {
	[ ! -s "$W/err" ] && return 0
	head -3 "$W/err" >>"$W/said"
	return 1
}

want() { [[ $1 == *$PATTERN* ]]; }

t_basic() {
	traced "$B/victim" basic
	{ exits 0 && silent && valid; }
	ok "calls through dlopen and dlsym are recorded" $?
	{ counts 1 'cuInit flags=0x0$' && counts 1 'result=1 .*cuInit flags=0x1$' &&
	  counts 1 'memory/alloc cuMemAlloc_v2 size=4096 ptr=0x7f0000001000$' &&
	  counts 1 'result=2 .*cuMemAlloc_v2 size=2199023255552 ptr=0x0$' &&
	  counts 1 'cuMemGetInfo_v2 free=1000 total=0$' &&
	  counts 1 'cuMemFree_v2 ptr=0x7f0000001000$'; }
	ok "sizes and pointers; results are read after success, NULL is accepted" $?
	{ counts 1 'cuMemcpyHtoD_v2 size=16 .* direction=1 async=0$' &&
	  counts 1 'cuMemcpyHtoDAsync_v2 .*stream=0x8 direction=1 async=1$' &&
	  counts 1 'cuMemcpyDtoH_v2 .*direction=2' &&
	  counts 1 'cuMemcpy2D_v2 size=1000 dst=0x2222 src=0x1111 .*direction=1' &&
	  counts 1 'result=1 .*cuMemcpy2D_v2 size=0 ' &&
	  counts 1 'transfer/set cuMemsetD32_v2 size=16 .*value=0xabcd width=4$'; }
	ok "transfers: bytes, direction by name or by the block's memory types" $?
	{ counts 1 'launch cuLaunchKernel kernel=_Z6kernelPf shared=7 grid_x=1 grid_y=2 grid_z=3 block_x=4 block_y=5 block_z=6 stream=0x8$' &&
	  counts 1 'cuLaunchKernelEx kernel=second%20kernel%25 shared=3 grid_x=9 .*stream=0x77$' &&
	  counts 1 'result=1 .*cuLaunchKernelEx .*grid_x=0'; }
	ok "launches: kernel name, grid, block, shared memory, stream" $?
	counts 1 'launch cuLaunchKernel kernel=- '
	ok "a handle's name is forgotten when its module is unloaded" $?
	{ counts 1 'query/- cuCtxGetCurrent$' &&
	  counts 1 'flags=4 result=0 dur=0 .*cuCtxGetCurrent'; }
	ok "a query is stamped once" $?
	counts 1 'process ppid=.* text=".*victim basic"$'
	ok "the process has its record" $?
	{ counts 1 '^info sink files$' && counts 1 '^info libcuda .*libcuda.so.1$'; }
	ok "the registry says which way and which libcuda" $?
	if [[ $(getconf GNU_LIBC_VERSION) > "glibc 2.34" ]]; then
		counts 0 ' cpu=65535 '
		ok "records say on which CPU" $?
	fi
	size=$(stat -c %s "$D"/u-*)
	[ "$size" -le 4096 ]
	ok "a finished stream has no unused room ($size bytes)" $?
}

t_clock() {
	"$B/test_clock" >"$W/said"
	ok "lines from the counter: $(grep -c '^ok' "$W/said") cases" $?
	traced "$B/victim" clock
	{ exits 0 && silent && valid && counts 500 ' cuCtxSetCurrent ' &&
	  paste -d ' ' <(grep '^call' "$W/out") \
		<(sed -n 's/.* ts=\([0-9]*\) .* dur=\([0-9]*\) .* cuCtxSetCurrent .*/\1 \2/p' "$W/dump") |
	  awk '$4 - $5 < $2 - 50000 || $4 > $3 + 50000 || $5 > $3 - $2 + 1000' >>"$W/said" &&
	  [ ! -s "$W/said" ]; }
	ok "records' times are CLOCK_MONOTONIC's, though a library fakes that" $?
}

t_queries() {
	CUDATRACE_TIME_QUERIES=1 traced "$B/victim" basic
	{ valid && counts 0 'flags=4 .*cuCtxGetCurrent' && counts 1 'flags=0 .*cuCtxGetCurrent'; }
	ok "CUDATRACE_TIME_QUERIES=1 gives queries a duration" $?
}

t_args() {
	traced "$B/victim" args
	{ exits 0 && valid && counts 4 ' cu(Ipc|Tensor|Param|Mock)[A-Za-z0-9]*(_v2)?( |$)'; }
	ok "16 arguments, floats, a structure by value, an unknown function of 20" $?
	traced "$B/victim" edge
	{ exits 0 && valid && counts 1 cuMockErrno; }
	ok "an unknown function at the very top of a stack" $?
}

t_proc() {
	traced "$B/victim" proc
	{ exits 0 && valid && counts 1 'cuMemAlloc_v2 ' && counts 1 'cuLaunchKernel_ptsz ' &&
	  counts 1 'cuLaunchKernel_ptsz .*shared=7 grid_x=1 .*block_z=6 stream=0x8$' &&
	  counts 1 'cuCtxGetCurrent$' && counts 1 'cuMemFree_v2 ptr=' &&
	  counts 10 ' cuGetProcAddress_v2 ptr=' && counts 1 ' cuGetProcAddress ptr='; }
	ok "cuGetProcAddress: versions, flags, NULL, and itself" $?
}

t_lookups() {
	traced "$B/victim" lookups
	{ exits 0 && silent && valid && counts 1 ' cuInit '; }
	ok "dlsym: handles, RTLD_DEFAULT, RTLD_NEXT and dlerror keep their meaning" $?
	"$B/victim" lookups >"$W/out" 2>&1
	ok "(the same without the library)" $?
	cat >"$W/wrapper.c" <<-'EOF'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	int cuInit(unsigned flags)
	{
		int (*next)(unsigned) = dlsym(RTLD_NEXT, "cuInit");

		return next == cuInit ? 1 : next(flags);
	}
	EOF
	cc -shared -fPIC -w -o "$W/wrapper.so" "$W/wrapper.c"
	LIB="$B/libcudatrace.so $W/wrapper.so" traced "$B/linked-lazy"
	{ exits 0 && silent && valid && counts 3 ' cuMemAlloc_v2 '; }
	ok "a wrapper of cuInit that goes on by RTLD_NEXT" $?
	traced "$B/victim" held
	{ exits 0 && silent && valid && counts 1 ' cuMemGetInfo_v2 ' &&
	  counts 3 ' cuCtxSetCurrent '; }
	ok "a lookup waits for no thread that is inside the library, nor does a forked child" $?
	nm -D --defined-only "$B/libcudatrace.so" | awk '{print $3}' >"$W/said"
	! grep -vxE 'dlsym|ioctl|cudatrace_(mark|range_push|range_pop)|InitializeInjection(Nvtx2)?' "$W/said"
	ok "only dlsym, ioctl, cudatrace_* and the two injections are exported" $?
	readelf -d "$B/libcudatrace.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$W/said"
	[ "$(cat "$W/said")" = libc.so.6 ]
	ok "nothing but libc is needed" $?
}

t_namespaces() {
	traced "$B/victim" dlmopen
	{ exits 0 && silent && valid && counts 2 ' cuCtxSetCurrent ' && counts 0 ' cuInit '; }
	ok "dlmopen: another namespace's libcuda is left alone" $?
	cat >"$W/early.c" <<-'EOF'
	/* As an allocator does: dlsym from malloc, before any constructor ran. */
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <stddef.h>
	static void *(*real)(size_t);
	static char pool[65536];
	static size_t used;
	void *malloc(size_t n)
	{
		if (!real) {
			real = (void *)1;
			real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		}
		if (real == (void *)1)
			return pool + (used += (n + 15) & ~15ul) - n;
		return real(n);
	}
	EOF
	cc -shared -fPIC -w -o "$W/early.so" "$W/early.c"
	LIB="$W/early.so $B/libcudatrace.so" traced "$B/victim" basic
	{ exits 0 && silent && valid && counts 1 ' cuInit flags=0x0$'; }
	ok "an allocator that calls dlsym before anything else" $?
}

t_linked() {
	for way in lazy now; do
		traced "$B/linked-$way"
		{ exits 0 && valid && counts 2 ' cuInit ' && counts 3 ' cuMemAlloc_v2 ' &&
		  counts 3 ' cuMemFree_v2 ' && counts 1 ' cuCtxSetCurrent ' &&
		  counts 1 ' cuLaunchKernel ' && counts 1 ' cuMockCount$'; }
		ok "a program linked to libcuda, $way binding, pointers in its data" $?
	done
	LD_BIND_NOW=1 traced "$B/linked-lazy"
	{ exits 0 && valid && counts 3 ' cuMemAlloc_v2 '; }
	ok "... bound at once by LD_BIND_NOW" $?
	traced "$B/plugin" "$B/libplugin.so"
	{ exits 0 && valid && counts 3 ' cuMemAlloc_v2 ' && counts 2 ' cuInit ' &&
	  counts 1 ' cuCtxGetCurrent$'; }
	ok "a plugin linked to libcuda that is loaded later" $?
}

t_runtime() {
	CUDATRACE_RUNTIME=1 traced "$B/runtime"
	{ exits 0 && silent && valid && counts 2 'depth=0 .* runtime/- cudaGetDevice$' &&
	  counts 2 'depth=1 .* query/- cuCtxGetCurrent$' && counts 1 ' cudaMalloc$' &&
	  counts 1 'depth=1 .* cuMemAlloc_v2 ' && counts 1 ' cudaLaunchKernel$' &&
	  counts 1 ' cudaMemset3D$' && counts 1 'flags=c .*cudaGetErrorString$'; }
	ok "cuda* calls of a shared libcudart, and the driver's calls inside them" $?
	traced "$B/runtime"
	{ exits 0 && valid && counts 0 ' cuda' && counts 2 'depth=0 .* query/- cuCtxGetCurrent$'; }
	ok "... which are left alone unless asked for" $?
}

t_nvtx() {
	"$B/nvtx_app" >"$W/bare"
	NVTX_INJECTION64_PATH=$B/libcudatrace.so traced "$B/nvtx_app"
	{ exits 0 && silent && cmp -s "$W/out" "$W/bare" && valid &&
	  counts 1 ' range_push .*text="forward"$' && counts 1 'text="layer 1"$' &&
	  counts 4 ' range_pop$' && counts 1 ' mark .*text="grüß € 😀"$' &&
	  counts 1 ' mark .*text="torch: attributes"$' &&
	  counts 1 ' range_push .*text="torch: registered"$' &&
	  counts 1 'text="range [0-9]* begins: async"$' && counts 1 'text="range [0-9]* ends"$'; }
	ok "NVTX: ranges, marks, domains, registered and wide strings" $?
	NVTX_INJECTION64_PATH=$B/nvtx_tool.so "$B/nvtx_app" >"$W/bare"
	NVTX_INJECTION64_PATH=$B/libcudatrace.so CUDATRACE_NVTX_NEXT=$B/nvtx_tool.so \
		traced "$B/nvtx_app"
	{ exits 0 && silent && cmp -s "$W/out" "$W/bare" && grep -q 'tool: push layer 1' "$W/out" &&
	  valid && counts 1 ' range_push .*text="forward"$' &&
	  counts 1 ' mark .*text="torch: attributes"$'; }
	ok "... before another tool, which is called too and whose answers count" $?
}

# Not preloaded: libcuda loads the library.
injected() {
	D=$W/trace
	rm -rf "$D"
	CUDATRACE_DIR=$D CUDA_INJECTION64_PATH=$B/libcudatrace.so "$@" >"$W/out" 2>"$W/err"
	STATUS=$?
}

t_inject() {
	injected "$B/inject_app"
	{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent ' &&
	  counts 1 ' cuMemAlloc_v2 '; }
	ok "injected by libcuda: pointers from before, and dlsym from then on" $?
	CUDATRACE_INJECTION_NEXT=$B/inject_tool.so injected "$B/inject_app"
	{ exits 0 && grep -q 'tool: injected' "$W/out" && valid &&
	  counts 100 ' cuCtxSetCurrent '; }
	ok "... before another tool, which is injected too" $?
	CUDA_INJECTION64_PATH=$B/libcudatrace.so traced "$B/inject_app"
	{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent ' && counts 1 ' cuInit '; }
	ok "... and preloaded as well: each call once" $?
}

t_others() {
	cat >"$W/others.c" <<-'EOF'
	#include <dlfcn.h>
	int main(int argc, char **argv)
	{
		void *l = dlopen(argv[argc - 1], RTLD_NOW), *h;
		int (*blas)(void **) = dlsym(l, "cublasCreate_v2");
		int (*dnn)(void **) = dlsym(l, "cudnnCreate");
		int (*init)(unsigned) = dlsym(l, "cuInit");
		Dl_info i;

		if (blas(&h) || dnn(&h) || init(7) != 1007)
			return 1;
		/* not thunks: the very addresses */
		return !dladdr((void *)init, &i) || i.dli_fbase == 0 ||
		       !__builtin_strstr(i.dli_fname, "cudart_like");
	}
	EOF
	cc -w -D_GNU_SOURCE -o "$W/others" "$W/others.c" && traced "$W/others" "$B/libcudart_like.so"
	{ exits 0 && [ ! -e "$D" ]; }
	ok "cublas, cudnn, and a cuInit that is not libcuda's are left alone" $?
	traced /bin/sh -c 'echo x; exit 5'
	{ exits 5 && silent && [ ! -e "$D" ] && [ "$(cat "$W/out")" = x ]; }
	ok "a program without CUDA leaves no trace" $?
}

t_threads() {
	traced "$B/victim" threads
	{ exits 0 && silent && valid && counts 1001 '^stream .* lost=0$' &&
	  counts 10000 ' cuCtxSetCurrent ' && counts 1 '^open|cuMockCount$'; }
	ok "1,000 threads, each with a stream of its own, nothing lost" $?
	[ "$(find "$D" -name '.open-*' | wc -l)" = 1 ]
	ok "a thread that ended leaves no page of open calls" $?
	traced "$B/victim" exits
	{ exits 0 && valid && counts 6 ' cuCtxSetCurrent ' && counts 2 '^stream '; }
	ok "calls from destructors of thread data and from atexit" $?
}

t_packets() {
	CUDATRACE_PACKET=4096 traced "$B/victim" many
	{ exits 0 && valid && counts 20000 ' cuCtxSetCurrent ' &&
	  counts 1 '^stream .* packets=[0-9]{3} lost=0$'; }
	ok "records go over from packet to packet" $?
	ops=$(sed -n 's/.* op=\([0-9]*\) .*/\1/p' "$W/dump" | sort -n | uniq -d | wc -l)
	[ "$ops" = 0 ]
	ok "no op twice" $?
	traced "$B/victim" nested
	{ exits 0 && valid && counts 1 'depth=70 .*cuMockCall' && counts 1 'depth=71 '; }
	ok "71 calls inside each other, more than the page of open calls holds" $?
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
	traced "$B/victim" vfork_calls
	{ exits 0 && silent && valid && counts 1 '^stream .*lost=0' &&
	  counts 8 ' cuCtxSetCurrent '; }
	ok "a call by a child of vfork" $?
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
	bad=0
	: >"$W/all"
	for i in $(seq 20); do
		CUDATRACE_PACKET=4096 killed_while true "0.0$((10 + i))" "$B/victim" until_killed
		[ -e "$D" ] || continue
		valid || { bad=1; cat "$W/said" >>"$W/all"; }
	done 2>/dev/null
	cp "$W/all" "$W/said"
	ok "killed at 20 moments: every stream is valid" $bad
	bad=0
	: >"$W/all"
	for i in $(seq 4); do
		killed_while streams "0.0$i" "$B/victim" until_killed
		valid && counts 1 '^stream .*lost=0$' || { bad=1; cat "$W/said" >>"$W/all"; }
		[ ! -x build/cudatrace ] || build/cudatrace report --summary "$D" >>"$W/all" 2>&1 ||
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
	traced "$B/throw"
	{ exits 0 && valid && counts 15 'flags=18 .*cuMockCall' &&
	  counts 5 'depth=0 .* cuCtxSetCurrent ' && counts 1 'flags=0 .*depth=0|depth=0 flags=0 .*cuMockCall'; }
	ok "C++ exceptions through five calls, backtraces, cancellation, thread_local objects" $?
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
}

# no_op_twice: each call that was not left has one record.
no_op_twice() {
	local n

	n=$(grep -v 'flags=[0-9a-f]*[13579bdf][0-9a-f] ' "$W/dump" |
	    sed -n 's/.* op=\([0-9]*\) .*/\1/p' | sort -n | uniq -d | wc -l)
	[ "$n" = 0 ] && return 0
	echo "$n ops stand twice" >>"$W/said"
	return 1
}

t_steps() {
	if ! "$B/step" count query >"$W/said" 2>&1; then
		skip "calls instruction by instruction" "ptrace is not allowed"
		return
	fi
	local what n all=' cu(CtxGetCurrent|CtxSetCurrent|LaunchKernel)( |$)'
	for what in query call launch; do
		# Each instruction of a query, each third of the longer ones.
		[ $what = query ] || export STEP_STRIDE=3
		CUDATRACE_PACKET=4096 traced "$B/step" signal $what
		n=$(sed -n 's/calls \([0-9]*\) handled \([0-9]*\)/\1 + \2 + 1/p' "$W/out")
		{ exits 0 && silent && valid && counts $((${n:-0})) "$all" && no_op_twice &&
		  counts 1 '^stream .*lost=0' && counts 0 'flags=1[8c] '; }
		ok "a signal after the instructions of a $what, whose handler calls CUDA" $?
		CUDATRACE_PACKET=4096 traced "$B/step" longjmp $what
		{ exits 0 && silent && valid && no_op_twice && counts 1 '^stream .*lost=0'; }
		ok "... whose handler leaves by longjmp" $?
		traced "$B/step" look $what "$B/dump $W/trace >$W/looked"
		{ exits 0 && silent && grep -q '^looks [1-9]' "$W/out"; }
		ok "... the trace is valid after each of them" $?
	done
	unset STEP_STRIDE
}

t_shutdown() {
	LIB="$B/libcudatrace.so $B/late.so" traced "$B/victim" shutdown
	{ exits 0 && silent && valid && counts 10 'result=0 .* cuCtxSetCurrent ' &&
	  counts 10001 'result=4 .* cuCtxSetCurrent '; }
	ok "calls after libcuda has shut down, and after our own end" $?
}

t_capture() {
	traced "$B/victim" capture
	{ exits 0 && silent && valid && counts 10 ' cuLaunchKernel kernel=- '; }
	ok "a captured stream sees no call but the program's" $?
}

t_reload() {
	traced "$B/victim" reload
	{ exits 0 && silent && valid && counts 4000 ' cuCtxSetCurrent ' &&
	  counts 4000 ' cuInit ' && counts 2 '^class '; }
	ok "libcuda unloaded and loaded elsewhere, 4,000 times" $?
}

t_quiet() {
	traced "$B/victim" errno
	{ exits 0 && silent && valid; }
	ok "errno is what it was" $?
	traced "$B/victim" fds
	{ exits 0 && [ "$(cat "$W/out")" = "fds 3 4 5" ]; }
	ok "no file descriptor of the program's is taken" $?
	traced "$B/victim" closes_all
	{ exits 0 && silent && valid && counts 3010 ' cuCtxSetCurrent '; }
	ok "a program that closes all its descriptors" $?
	(cd "$W" && CUDATRACE_DIR=rel LD_PRELOAD=$B/libcudatrace.so "$B/victim" directory)
	D=$W/rel
	{ valid && counts 5000 ' cuCtxSetCurrent '; }
	ok "a program that changes its directory, a relative CUDATRACE_DIR" $?
	(mkdir "$W/own" && cd "$W/own" && LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic)
	D=$(echo "$W"/own/cudatrace-*)
	{ valid && counts 1 ' cuInit flags=0x0$'; }
	ok "without CUDATRACE_DIR: ./cudatrace-PID" $?
	CUDATRACE_SINK=none traced "$B/victim" basic
	{ exits 0 && silent && [ ! -e "$D/x" ] && [ ! -e "$W/trace" ]; }
	ok "CUDATRACE_SINK=none" $?
}

t_marks() {
	traced "$B/victim" marks
	{ exits 0 && valid && counts 1 ' mark uid=[0-9]* text="before cuda"$' &&
	  counts 1 ' range_push uid=[0-9]* text="outer"$' && counts 2 ' range_pop$' &&
	  counts 1 'flags=2c .* mark uid=[0-9]* text="y{1984}"$' &&
	  counts 1 'text=""$'; }
	ok "the program's own markers, long ones cut" $?
	"$B/victim" marks
	ok "... which do nothing without the library" $?
}

t_full() {
	CUDATRACE_PACKET=4096 traced "$B/victim" limit
	{ exits 0 && valid && [ "$(grep -c 'no room' "$W/err")" = 1 ] &&
	  [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "a limit on file sizes: one line, no signal, the program goes on" $?
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
		  lost=$(sed -n 's/^stream .*lost=//p' "$W/dump") &&
		  counts $((20000 - lost)) ' cuCtxSetCurrent '; }
		ok "a full disk: one line, the program goes on, each loss is counted" $?
		umount "$W/small"
	else
		skip "a full disk" "needs root and a tmpfs"
	fi
	touch "$W/file"
	CUDATRACE_DIR=$W/file/x LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic 2>"$W/err"
	STATUS=$?
	{ exits 0 && [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "a directory that can't be made: one line, the program goes on" $?
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
	{ exits 0 && silent && counts 3010 '^mark .* cuCtxSetCurrent '; }
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
	FAKE_FULL=1 traced "$B/victim" basic
	{ exits 0 && [ "$(wc -l <"$W/err")" = 1 ]; }
	ok "... that refuses classes: one line, the program goes on" $?
	rm -f "$W/log"
	FAKE_IDLE=1 traced "$B/victim" basic
	cp "$W/log" "$W/dump"
	{ exits 0 && silent && counts 1 '^mark .* cuInit op=0 .*flags=0 result=0 '; }
	ok "... with no session: calls are marked without their begin" $?
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
	rm -f "$W/go"
	flock "$D/.registry" sh -c "touch $W/go; while [ -e $W/go ]; do sleep 0.01; done" &
	while [ ! -e "$W/go" ]; do sleep 0.01; done
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" basic & waits=$!
	sleep 0.5
	kill -0 $waits
	waited=$?
	rm "$W/go"
	wait $waits && [ $waited = 0 ]
	ok "who changes the registry waits for its lock" $?
	wait
	printf 'class 99999 us' >>"$D/.registry"
	CUDATRACE_DIR=$D LD_PRELOAD=$B/libcudatrace.so "$B/victim" args
	"$B/dump" "$D" >"$W/dump"
	{ counts 1 '^bad: registry: class 99999 us$' && counts 1 '^bad:' &&
	  counts 1 ' cuParamSetf$'; }
	ok "a line that a dying process left unfinished harms no other" $?
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

. tests/userlib/beside.sh

for t in $(declare -F | sed -n 's/^declare -f \(t_.*\)/\1/p'); do
	want "$t" && "$t"
done
echo "1..$NUMBER"
[ $FAILED = 0 ]
