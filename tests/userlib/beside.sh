# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library beside others: the doors that are open to tools, and what puts
# itself before libc as well.  run.sh reads this; its functions and $B, $W, $D.

# nvtx_recorded: exactly what nvtx_app says must be, in this order.
nvtx_recorded() {
	sed -nE 's/.* (mark|range_push) uid=[0-9]* text="(.*)"$/record \1 \2/p
		s/.* (range_pop)$/record \1/p' "$W/dump" |
		diff <(grep '^record' "$W/out") - >"$W/differs" && return 0
	head -5 "$W/differs" | cut -c -100 >>"$W/said"
	return 1
}

t_nvtx() {
	"$B/nvtx_app" >"$W/bare"
	NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so traced "$B/nvtx_app"
	{ exits 0 && silent && valid && nvtx_recorded && counts 21 'flags=2c .*text=".*x{1900}"$'; }
	ok "NVTX: ranges and marks by each function, with each kind of text" $?
	{ diff <(grep '^depth' "$W/bare") <(grep '^depth' "$W/out") >"$W/said" &&
	  grep '^handle' "$W/out" | sort | uniq -d >"$W/said" && [ ! -s "$W/said" ] &&
	  ! grep '^handle 0$' "$W/out" >>"$W/said"; }
	ok "... depths are as without us, each range, domain and string has a handle" $?
	NVTX_MANY=1 NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so traced "$B/nvtx_app"
	{ exits 0 && silent && valid && counts 1 ' mark .*"cudatrace: no room for more NVTX domains' && nvtx_recorded; }
	ok "... a text that is registered again and again, and more texts than there is room for, which the trace says" $?
	NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so traced "$B/nvtx_app" threads
	{ exits 0 && silent && valid && counts 16000 ' mark .*"same: text [0-9]*"$' &&
	  counts 8 ' mark .*"same: text 1999"$'; }
	ok "... texts that threads register at the same time: one handle for each" $?
	NVTX_INJECTION64_PATH=$B/nvtx_tool.so "$B/nvtx_app" >"$W/bare"
	NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so CUDATRACE_NVTX_NEXT=$B/nvtx_tool.so \
		traced "$B/nvtx_app"
	{ exits 0 && silent && diff "$W/bare" "$W/out" >"$W/said" &&
	  [ "$(grep '^tool' "$W/out" | cut -d ' ' -f 2 | sort -u | wc -l)" = 20 ] &&
	  valid && nvtx_recorded; }
	ok "... before another tool: each function is called there, too, and its answers count" $?
	# Without the library there is only the other tool; without both the plugin sets nothing.
	mkdir "$W/alone" && cp "$B/libcudatrace-nvtx.so" "$W/alone"
	(
		unset LD_LIBRARY_PATH
		export NVTX_INJECTION64_PATH=$W/alone/libcudatrace-nvtx.so
		CUDATRACE_NVTX_NEXT=$B/nvtx_tool.so "$B/nvtx_app" | diff "$W/bare" - &&
		"$B/nvtx_app" | diff <(NVTX_INJECTION64_PATH='' "$B/nvtx_app") -
	) >"$W/said" 2>"$W/err"
	ok "... without the library beside it: only the other tool is called" $?
	# As by record --inject, before libcuda is there.
	rm -rf "$D"
	CUDATRACE_DIR=$D NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so env -u LD_LIBRARY_PATH \
		"$B/nvtx_app" >"$W/out" 2>"$W/err"
	{ silent && valid && nvtx_recorded; }
	ok "... without a preloaded library: the plugin loads it" $?
	NVTX_INJECTION64_PATH=$B/libcudatrace-nvtx.so CUDATRACE_SINK=none traced "$B/nvtx_app"
	{ exits 0 && silent && diff <("$B/nvtx_app") "$W/out" >"$W/said" && [ ! -e "$D" ]; }
	ok "... where nothing is recorded, NVTX stays off" $?
}

t_marker_user() {
	traced "$B/marker_user"
	if [ "$STATUS" = 77 ]; then
		skip "markers that make no system call" "seccomp is not allowed"
		return
	fi
	{ exits 0 && silent && valid && counts 101 " mark uid=$(id -u) " && counts 100 " range_push uid=$(id -u) " &&
	  counts 100 ' range_pop' && counts 1 ' mark uid=4294967219 text="child"'; }
	ok "a process asks at its first marker who runs it, and its child anew" $?
}

# The program's descriptors are its own: none is left open, and each is closed by an exec.
t_descriptors() {
	"$B/descriptors" >"$W/bare"
	traced "$B/descriptors"
	{ exits 0 && silent && valid && diff "$W/bare" "$W/out" >"$W/said" &&
	  counts 200001 ' cuCtxSetCurrent '; }
	ok "threads, a child and markers leave no descriptor open" $?
	if ! strace -f -o "$W/calls" -e trace=open,openat,openat2,creat,dup,dup2,dup3,socket,memfd_create,eventfd2 \
		-E CUDATRACE_DIR="$W/opened" -E LD_PRELOAD="$B/libcudatrace.so" "$B/descriptors" >"$W/out" 2>"$W/err"; then
		skip "... what is opened" "needs strace, and ptrace allowed"
		return
	fi
	# Beside the program's own and the loader's: nothing that another place could miss.
	grep -vE '^[0-9]+ +(exited|---|\+\+\+)|"/proc/self/fd"|/etc/ld.so|\.so(\.[0-9]+)*"|"/proc/self/exe"|resumed>|\+\+\+' "$W/calls" |
		grep -vE "openat\(AT_FDCWD, \"($W/opened[^\"]*|/proc/self/cmdline|/proc/self/comm|/proc/self/environ|/proc/devices|/dev/cudatrace|/sys/module/nvidia/version|/sys/devices/system/clocksource/[^\"]*)\",? .*O_CLOEXEC" >"$W/said"
	[ ! -s "$W/said" ]
	ok "... and the library opens the trace's files and seven of the system's, with O_CLOEXEC" $?
}

# The program lets go of the library, which libcuda had loaded: thunks are still called.
t_unload() {
	cat >"$W/unload.c" <<-'EOF'
	#include <dlfcn.h>
	#include <stdio.h>
	static int (*set)(void *);
	int main(int argc, char **argv)
	{
		void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *l;
		int (*inject)(void);

		set = dlsym(cuda, "cuCtxSetCurrent");
		l = dlopen(argv[1], RTLD_NOW);
		inject = l ? dlsym(l, "InitializeInjection") : 0;
		if (!set || !inject || !inject())
			return 1;
		set(0);
		dlclose(l);
		for (int i = 0; i < 99; i++)
			set(0);
		return 0;
	}
	EOF
	cc -w -D_GNU_SOURCE -o "$W/unload" "$W/unload.c" && D=$W/trace && rm -rf "$D"
	CUDATRACE_DIR=$D "$W/unload" "$B/libcudatrace.so" >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent '; }
	ok "a library that was injected and closed stays: its thunks are called" $?
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
		int (*version)(int *) = dlsym(l, "cuDriverGetVersion"), n;
		int (*init)(unsigned) = dlsym(l, "cuInit");
		Dl_info i;

		if (blas(&h) || dnn(&h) || version(&n) != 1000)
			return 1;
		if (init)
			return init(7) != 1007;
		/* not thunks: the very addresses */
		return !dladdr((void *)version, &i) || i.dli_fbase == 0 ||
		       !__builtin_strstr(i.dli_fname, "cudart_like");
	}
	EOF
	cc -w -D_GNU_SOURCE -o "$W/others" "$W/others.c" && traced "$W/others" "$B/libcudart_like.so"
	{ exits 0 && [ ! -e "$D" ]; }
	ok "cublas, cudnn, and a name of libcuda's that is not libcuda's are left alone" $?
	traced /bin/sh -c 'echo x; exit 5'
	{ exits 5 && silent && [ ! -e "$D" ] && [ "$(cat "$W/out")" = x ]; }
	ok "a program without CUDA leaves no trace" $?
}

# compiled_with SANITIZER FILE...: FILE is $W/sanitized, if the compiler has that.
compiled_with() {
	echo 'int main(void) { return 0; }' | cc "-fsanitize=$1" -x c -o "$W/sanitized" - 2>/dev/null &&
		cc -w -D_GNU_SOURCE -g "-fsanitize=$1" -o "$W/sanitized" "${@:2}" -lpthread -ldl
}

# Two copies of libcupti, of which the profiler is linked to the second.
t_two_cuptis() {
	local which
	mkdir -p "$W/two/first" "$W/two/second"
	cat >"$W/two/cupti.c" <<-'EOF'
	#include <stdio.h>
	int cuptiActivityRegisterCallbacks(void *a, void *b) { puts(WHICH); return 0; }
	int cuptiActivityRegisterTimestampCallback(void *a) { puts(WHICH); return 0; }
	int cuptiActivityEnableHWTrace(unsigned char e) { puts(WHICH); return 0; }
	int cuptiFinalize(void) { puts(WHICH); return 0; }
	int profile(void)
	{
		return cuptiActivityRegisterTimestampCallback(0) || cuptiActivityRegisterCallbacks(0, 0) ||
		       cuptiActivityEnableHWTrace(1) || cuptiFinalize();
	}
	EOF
	for which in first second; do
		cc -w -DWHICH="\"$which\"" -Dprofile=unused -fPIC -shared -Wl,-soname,libcupti.so.$which \
			-o "$W/two/$which/libcupti.so.$which" "$W/two/cupti.c"
	done
	sed -n '/^int profile/,$p' "$W/two/cupti.c" |
		cc -w -x c -fPIC -shared -o "$W/two/profiler.so" - -x none "$W/two/second/libcupti.so.second" -Wl,-rpath,"$W/two/second"
	cc -w -x c -o "$W/two/program" - -ldl <<-'EOF'
	#include <dlfcn.h>
	int main(int argc, char **argv)
	{
		void *first = dlopen(argv[1], RTLD_NOW), *l = dlopen(argv[2], RTLD_NOW);
		int (*profile)(void) = l ? (int (*)(void))dlsym(l, "profile") : 0;

		return !first || !profile || profile();
	}
	EOF
	LIB="$B/libcudatrace.so $B/libcudatrace-gpu.so" \
		traced "$W/two/program" "$W/two/first/libcupti.so.first" "$W/two/profiler.so"
	{ exits 0 && silent && [ "$(cat "$W/out")" = "$(printf 'second\nsecond\nsecond\nsecond')" ]; }
	ok "two libcuptis: a profiler gets the one that it is linked to" $?
}

# As Nsight Compute does: a preloaded library gives the program itself in libcuda's place, and
# goes on to libcuda.
t_stand_in() {
	cat >"$W/stand_in.c" <<-'EOF'
	#include <dlfcn.h>
	#include <string.h>

	void *dlopen(const char *file, int flags)
	{
		void *(*next)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");

		return next(file && !strcmp(file, "libcuda.so.1") ? "libcuda-injection.so" : file, flags);
	}
	static void *real(const char *name)
	{
		static void *lib;

		lib = lib ? lib : dlopen(LIBCUDA, RTLD_NOW);
		return dlsym(lib, name);
	}
	int cuInit(unsigned flags) { return ((int (*)(unsigned))real("cuInit"))(flags); }
	int cuCtxSetCurrent(void *ctx) { return ((int (*)(void *))real("cuCtxSetCurrent"))(ctx); }
	int cuGetProcAddress_v2(const char *name, void **p, int version, unsigned long flags, int *status)
	{
		*p = !strcmp(name, "cuCtxSetCurrent") ? (void *)cuCtxSetCurrent : 0;
		return *p ? 0 : 500;
	}
	EOF
	cat >"$W/profiled.c" <<-'EOF'
	#include <dlfcn.h>
	int main(void)
	{
		void *lib = dlopen("libcuda.so.1", RTLD_NOW);
		int (*init)(unsigned) = dlsym(lib, "cuInit");
		int (*find)(const char *, void **, int, unsigned long, int *) = dlsym(lib, "cuGetProcAddress_v2");
		int (*set)(void *);

		if (init(0) || find("cuCtxSetCurrent", (void **)&set, 12000, 0, 0))
			return 1;
		for (int i = 0; i < 100; i++)
			set(0);
		return 0;
	}
	EOF
	cc -w -D_GNU_SOURCE -DLIBCUDA="\"$B/libcuda.so.1\"" -fPIC -shared -Wl,-soname,libcuda-injection.so \
		-o "$W/libcuda-injection.so" "$W/stand_in.c" -ldl &&
		cc -w -o "$W/profiled" "$W/profiled.c" -ldl
	LIB="$B/libcudatrace.so $W/libcuda-injection.so" LD_LIBRARY_PATH=$W:$B traced "$W/profiled"
	{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 100 ' cuCtxSetCurrent '; }
	ok "a profiler's functions in the place of libcuda's: what they ask libcuda for, once" $?
	CUDATRACE_TABLE=0 LIB="$B/libcudatrace.so $W/libcuda-injection.so" LD_LIBRARY_PATH=$W:$B traced "$W/profiled"
	{ exits 0 && silent && valid; }
	ok "... without libcuda's table: the program is not harmed" $?
}

t_sanitizers() {
	if compiled_with address tests/userlib/inject_app.c; then
		injected "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent '; }
		ok "a program with AddressSanitizer, injected" $?
		compiled_with address tests/userlib/victim.c tests/userlib/victim_*.c
		# As cudatrace record sets it.
		ASAN_OPTIONS=verify_asan_link_order=0 traced "$W/sanitized" threads
		{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
		ok "... preloaded, with 1,000 threads, of which it has nothing to report" $?
	else
		skip "a program with AddressSanitizer" "the compiler has none"
	fi
	if compiled_with thread tests/userlib/inject_app.c; then
		# It asks dlsym() for the functions that it replaces, before these work.
		traced "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent ' && counts 1 ' cuInit '; }
		ok "a program with ThreadSanitizer, preloaded" $?
		injected "$W/sanitized"
		{ exits 0 && silent && valid && counts 100 ' cuCtxSetCurrent '; }
		ok "... and injected" $?
		compiled_with thread tests/userlib/victim.c tests/userlib/victim_*.c
		traced "$W/sanitized" threads
		{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
		ok "... with 1,000 threads, of which it has nothing to report" $?
	else
		skip "a program with ThreadSanitizer" "the compiler has none"
	fi
}

# allocator NAME PACKAGE FILE: preloaded, and a program that is linked to it.
allocator() {
	local file=$(ls /usr/lib/*/"$3" 2>/dev/null | head -1) order

	if [ -z "$file" ]; then
		skip "$1" "apt-get install $2"
		return
	fi
	for order in "$B/libcudatrace.so $file" "$file $B/libcudatrace.so"; do
		LIB=$order traced "$B/victim" threads
		{ exits 0 && silent && valid && counts 10000 ' cuCtxSetCurrent '; }
		ok "$1, preloaded; the last library is ${order##*/}" $?
	done
	cc -w -D_GNU_SOURCE -o "$W/allocates" tests/userlib/victim.c tests/userlib/victim_*.c "$file" -lpthread -ldl
	for order in threads fork signals; do
		traced "$W/allocates" $order
		{ exits 0 && silent && valid && counts 0 '^stream .* lost=[1-9]' && grep -q ' cuCtxSetCurrent ' "$W/dump"; }
		ok "$1, to which the program is linked: $order" $?
	done
}

t_jemalloc() {
	allocator jemalloc libjemalloc2 libjemalloc.so.2
}

t_tcmalloc() {
	allocator tcmalloc libtcmalloc-minimal4 libtcmalloc_minimal.so.4
}
