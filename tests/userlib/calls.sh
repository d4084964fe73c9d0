# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: what is recorded of a call, and by which ways calls are found.
# run.sh reads this; its functions and $B, $W, $D.

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

# times_are_right: of victim clock, whose calls each lie between two looks at the clock;
# all but $wrong of them.
times_are_right() {
	exits 0 && silent && valid && counts 500 ' cuCtxSetCurrent ' &&
		paste -d ' ' <(grep '^call' "$W/out") \
			<(sed -n 's/.* ts=\([0-9]*\) .* dur=\([0-9]*\) .* cuCtxSetCurrent .*/\1 \2/p' "$W/dump") |
		awk '$4 - $5 < $2 - 50000 || $4 > $3 + 50000 || $5 > $3 - $2 + 1000' >>"$W/said" &&
		[ "$(wc -l <"$W/said")" -le ${wrong:-0} ]
}

t_clock() {
	local to try
	"$B/test_clock" >"$W/said"
	STATUS=$?
	ok "lines from the counter: $(grep -c '^ok' "$W/said") cases" $STATUS
	traced "$B/victim" clock
	times_are_right
	ok "records' times are CLOCK_MONOTONIC's, though a library fakes that" $?
	# The call in which it was found may seem to be longer.
	wrong=1
	for to in current previous former; do
		# Where the thread gets no processor for as long as the counter is set back, right then, the next
		# time is no earlier than the last one, and nothing is noticed before the line ends.
		for ((try = 1; try <= 3; try++)); do
			BACK_TO=$to LIB=$B/libcudatrace-reset.so traced "$B/victim" clock
			times_are_right && break
		done
		ok "... and though the counter is set back into the $to line" $((try > 3))
	done
	unset wrong
	LIB=$B/libcudatrace-span.so traced "$B/victim" clock
	{ exits 0 && silent && valid && counts 500 ' cuCtxSetCurrent ' &&
	  counts 1 '^stream .* packets=([5-9]|1[0-9]) lost=0'; }
	ok "a packet ends when a record's 48 bits of time might not do" $?
}

# goes_by WHAT COMMAND...: by the counter or the clock, as the steps of a call say, and rightly.
goes_by() {
	local what=$1 steps
	shift
	traced "$@" "$B/step" count call
	steps=$(sed -n 's/^call *\([0-9]*\) .*/\1/p' "$W/out")
	exits 0 && silent && valid || return 1
	if [ "$what" = counter ]; then
		[ "${steps:-0}" -gt 50 ] && [ "$steps" -lt 250 ]
	else
		[ "${steps:-0}" -gt 350 ]
	fi || { echo "$steps instructions" >>"$W/said"; return 1; }
	traced "$@" "$B/victim" clock
	times_are_right
}

t_clock_choice() {
	local sources=/sys/devices/system/clocksource source over by
	if ! "$B/step" count query >"$W/said" 2>&1; then
		skip "by the counter or by the clock" "ptrace is not allowed"
		return
	fi
	LIB=$B/libcudatrace-uneven.so goes_by clock env
	ok "a processor whose counter does not run evenly: by the clock" $?
	if ! unshare -m mount --bind /dev/null "$sources/clocksource0/current_clocksource" 2>"$W/said"; then
		skip "what the kernel's clock goes by" "needs root, and mounts"
		return
	fi
	over='mount --bind "$0" "$1" && shift && exec "$@"'
	for source in tsc tsc-early hpet ""; do
		echo "$source" >"$W/source"
		by=clock
		[ "$source" != tsc ] || ! grep -qw nonstop_tsc /proc/cpuinfo || by=counter
		goes_by $by unshare -m sh -c "$over" "$W/source" "$sources/clocksource0/current_clocksource"
		ok "the kernel's clock goes by \"$source\": by the $by" $?
	done
	mkdir -p "$W/none"
	goes_by clock unshare -m sh -c "$over" "$W/none" "$sources"
	ok "... it does not say by what: by the clock" $?
}

t_past() {
	# As tests/gpu/bench/run builds it.
	gcc -O2 -shared -fPIC -iquote userlib -o "$W/past.so" tests/gpu/bench/past.c 2>"$W/said"
	STATUS=$?
	ok "the benchmark's way past the library builds" $STATUS
	traced python3 -c '
import ctypes, sys
set_current = ctypes.CDLL("libcuda.so.1").cuCtxSetCurrent
past = ctypes.CDLL(sys.argv[1]).past
def calls(n):
    for _ in range(n):
        set_current(None)
calls(10)
print(past(1) > 0)
calls(1000)
past(0)
calls(20)' "$W/past.so"
	{ exits 0 && silent && valid && [ "$(cat "$W/out")" = True ] && counts 30 ' cuCtxSetCurrent '; }
	ok "... its calls are not recorded, those before and after are" $?
}

t_elf() {
	"$B/test_elf" >"$W/said"
	STATUS=$?
	ok "objects linked at any address: $(grep -c '^ok' "$W/said") cases" $STATUS
}

t_names() {
	traced "$B/victim" names
	{ exits 0 && valid &&
	  [ "$(grep -o 'cuLaunchKernel kernel=[^ ]*' "$W/dump" | cut -d = -f 2 | paste -sd ' ')" = "named - old named -" ]; }
	ok "a kernel has the name that libcuda said last, until its module is unloaded" $?
}

t_thread_names() {
	traced "$B/victim" short_names
	{ exits 0 && silent && valid &&
	  [ "$(sed -n 's/^info thread_name [0-9]*%20[0-9]*%20//p' "$D/.registry" | paste -sd ' ')" = "victim early late" ]; }
	ok "names of the process, and of threads that have one of their own, also where they change" $?
}

t_kernels() {
	timeout $HANG "$B/test_kernels" >"$W/said" 2>"$W/err"
	STATUS=$?
	ok "names of kernels that two threads learn at the same time, or of too many" $STATUS
	[ "$(cat "$W/err")" = "cudatrace: more kernels than there is room for: launches of some have no name" ]
	ok "... which is said once" $?
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
	traced "$B/victim" floats
	{ exits 0 && valid && counts 20 ' cuParamSetf$'; }
	ok "floats, again and again" $?
	traced "$B/victim" edge
	{ exits 0 && valid && counts 1 cuMockErrno; }
	ok "an unknown function at the very top of a stack" $?
}

# told: the fields of all calls are those that the program has printed.
told() {
	sed -n 's/^u-.* result=\([0-9]*\) .* [a-z]*\/[-a-z]* \(cu.*\)/\1 \2/p' "$W/dump" |
		grep -v cuMockShot | diff "$W/out" - >>"$W/said"
}

t_bindings() {
	"$B/bindings" table >"$W/said"
	STATUS=$?
	ok "every function whose arguments are recorded is tested: $(tail -n 1 "$W/said")" $STATUS
	LD_LIBRARY_PATH=$B/bound traced "$B/bindings"
	{ exits 0 && silent && valid && told; }
	ok "... by value, of calls that succeed, fail, or are given NULL" $?
	LD_LIBRARY_PATH=$B/bound LIB=$B/libcudatrace-fake.so CUDATRACE_DEVICE=/dev/null \
		FAKE_LOG=$W/log traced "$B/bindings"
	{ exits 0 && silent && grep -q '^begin .* cuMemAlloc_v2 ' "$W/log"; }
	ok "... where a begin is recorded, before which nothing is read" $?
	rm -f "$W/log"
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
	! grep -vxE 'dlv?sym|ioctl|cudatrace_(attach|attach_answer|attach_start|detach|host|mark|range_push|range_pop)|InitializeInjection' "$W/said"
	ok "only dlsym, dlvsym, ioctl, cudatrace_* and InitializeInjection are exported" $?
	readelf -d "$B/libcudatrace.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$W/said"
	[ "$(cat "$W/said")" = libc.so.6 ]
	ok "nothing but libc is needed" $?
}

t_namespaces() {
	traced "$B/victim" dlmopen
	{ exits 0 && valid && counts 2 ' cuCtxSetCurrent ' && counts 0 ' cuInit ' &&
	  [ "$(cat "$W/err")" = "cudatrace: calls of a libcuda that dlmopen() has loaded are not traced, from cuInit" ] &&
	  counts 1 '^info unseen_some namespace$'; }
	ok "dlmopen: another namespace's libcuda is left alone, which is said" $?
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
	cc -w -x c -Wl,-z,lazy -o "$W/preinit" - <<-'EOF'
	/* While the loader relocates the program. */
	#define _GNU_SOURCE
	#include <dlfcn.h>
	static int yes(void) { return 0; }
	static int no(void) { return 1; }
	static int (*choose(void))(void)
	{
		return dlsym(RTLD_DEFAULT, "malloc") ? yes : no;
	}
	int chosen(void) __attribute__((ifunc("choose")));
	int main(void)
	{
		return chosen();
	}
	EOF
	traced "$W/preinit"
	{ exits 0 && silent; }
	ok "... and a program that does so while it is relocated" $?
}

t_early() {
	local all=' cu(Init|CtxSetCurrent|MemAlloc_v2|MemFree_v2|CtxGetCurrent|LaunchKernel)( |$)'

	echo 'extern int early; int main(void) { return early; }' >"$W/early.c"
	for way in lazy now; do
		cc -w -o "$W/early" "$W/early.c" "$B/libearly-$way.so" "$B/libcuda.so.1" && traced "$W/early"
		{ exits 0 && silent && valid && counts 11 "$all"; }
		ok "the constructor of a library that a program needs, $way binding" $?
	done
	for order in "libcudatrace.so libearly-now.so" "libearly-now.so libcudatrace.so"; do
		LIB="$B/${order/ / $B/}" traced true
		# In timeout as well.
		{ exits 0 && silent && valid && counts 22 "$all"; }
		ok "... that is preloaded: $order" $?
	done
}

linked_programs() {
	local way
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
}

t_linked() {
	local way
	linked_programs
	traced "$B/plugin" "$B/libplugin.so"
	{ exits 0 && valid && counts 3 ' cuMemAlloc_v2 ' && counts 2 ' cuInit ' &&
	  counts 1 ' cuCtxGetCurrent$'; }
	ok "a plugin linked to libcuda that is loaded later" $?
	for way in "" keep; do
		traced "$B/plugin" "$B/libplugin.so" 20 $way
		{ exits 0 && valid && counts 60 ' cuMemAlloc_v2 ' && counts 40 ' cuInit ' &&
		  counts 20 ' cuCtxGetCurrent$'; }
		ok "... 20 times, unloaded in between${way:+, but not libcuda}" $?
	done
	traced "$B/relocating" "$B/librelocating.so"
	{ exits 0 && valid && counts 10 ' cuCtxGetCurrent$' && counts 10 ' cuCtxSetCurrent '; }
	ok "... in the middle of whose relocation CUDA is called" $?
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

# With the hash of the same unique id: FNV of its 128 bytes.
t_collectives() {
	TORCHELASTIC_RUN_ID=x RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 SLURM_PROCID=9 SLURM_STEP_ID=0 traced "$B/nccl_app" 10
	exits 0 && silent && valid
	ok "a program on libnccl" $?
	id=$(sed -n 's/.*ncclCommInitRank .*communicator=\(0x[0-9a-f]*\) .*/\1/p' "$W/dump" | sort -u)
	{ counts 2 'depth=0 .* collective/- ncclCommInitRank .* ranks=8 rank=5 ' && [ "${#id}" -gt 12 ] &&
	  [ "$(wc -w <<<"$id")" = 1 ]; }
	ok "calls of libnccl; a communicator is the hash of its unique id, on all ranks the same" $?
	{ counts 1 "ncclAllReduce size=12 count=3 communicator=$id comm=0x[0-9a-f]* stream=0x7 number=1 ranks=8 rank=5 datatype=7 reduction=4 root=-1\$" &&
	  counts 1 "ncclAllReduce .* communicator=$id .* number=2 .*datatype=7" &&
	  counts 1 "ncclReduce size=6 count=3 communicator=$id .* stream=0x8 number=3 .* datatype=6 reduction=0 root=5\$" &&
	  counts 1 "ncclAllReduce .* number=13 " && counts 0 "ncclAllReduce .* number=14 "; }
	ok "arguments of collectives, which are numbered in their communicator" $?
	{ counts 1 "ncclAllReduce size=0 .* number=0 .* datatype=99" && counts 1 "ncclAllReduce size=6 .* number=1 .* datatype=9" &&
	  counts 1 'ncclAllReduce .* communicator=0x0 .* number=0 ranks=0' &&
	  counts 1 "ncclSend size=4 count=2 communicator=$id .* number=0 .* root=3\$"; }
	ok "... not one that was refused, nor one whose communicator is not known, nor a send" $?
	part=$(sed -n 's/.*ncclCommSplit communicator=\(0x[0-9a-f]*\) .*color=3 .*/\1/p' "$W/dump")
	{ counts 2 "ncclCommSplit .* split_of=$id ranks=0 rank=5 color=(3|-1) key=-7\$" && counts 1 "ncclAllReduce .* communicator=$part .* number=1 ranks=0" &&
	  [ "$part" != "$id" ]; }
	ok "a communicator that was split off" $?
	{ counts 1 ' collective/- ncclFuture$' && counts 1 ' ncclGetErrorString$' &&
	  counts 16 'depth=1 .* cuCtxGetCurrent$'; }
	ok "functions without a row, getters, and libcuda inside" $?
	{ counts 4 ' query/- ncclCommGetAsyncError ' && counts 1 " ncclCommGetAsyncError communicator=$id comm=0x[0-9a-f]+ state=7 " &&
	  counts 2 " ncclCommGetAsyncError communicator=$id comm=0x[0-9a-f]+ state=0 " &&
	  counts 1 ' ncclCommGetAsyncError communicator=0x0 comm=0x0 state=0 '; }
	ok "the state of a communicator, unless the call failed" $?
	grep -qaE '^info rank [0-9]+%20rank=5%20size=8%20local_rank=1%20local_size=4%20node=1%20launcher=torchrun$' "$W/trace/.registry"
	ok "which rank it is, from the environment of its launcher" $?
	OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 traced "$B/nccl_app"
	grep -qaE '^info rank [0-9]+%20rank=3%20size=4%20local_rank=1%20launcher=mpirun$' "$W/trace/.registry"
	ok "... of Open MPI's" $?
	SLURM_PROCID=3 SLURM_NTASKS=4 traced "$B/nccl_app"
	! grep -qa '^info rank' "$W/trace/.registry"
	ok "... and not of a batch script, which is no step" $?
}

t_packets() {
	local table
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
	# Where it has a table there is something of its own between the two frames.
	for table in 580 0; do
		LD_LIBRARY_PATH=$B/${table/580/}:$B traced "$B/victim" jumped_to
		{ exits 0 && valid && counts 300 'depth=1 .*cuCtxSetCurrent ' &&
		  counts 300 'depth=0 flags=0 .*cuStreamSynchronize '; }
		ok "a call that libcuda ends in by a jump is inside the other, entries as of driver $table" $?
	done
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
	cat >"$W/marks.c" <<-'EOF'
	#include <cudatrace/cudatrace.h>

	int main(void)
	{
		cudatrace_note("here");
		cudatrace_begin("range");
		cudatrace_end();
		return 0;
	}
	EOF
	cc -Wall -Wextra -Werror -fno-pic -no-pie -Iuserlib/include -o "$B/marks" "$W/marks.c" &&
		c++ -Wall -Wextra -Werror -x c++ -fno-pic -no-pie -Iuserlib/include -o "$B/marks++" "$W/marks.c"
	ok "their header, where code is not position-independent, in C and C++" $?
	traced "$B/marks"
	{ exits 0 && silent && valid && counts 1 ' mark .*text="here"$' &&
	  counts 1 ' range_push .*text="range"$' && counts 1 ' range_pop$' && "$B/marks"; }
	ok "... gives the same markers" $?
}
