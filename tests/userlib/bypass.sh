# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: programs whose calls could get past it, and forked children that
# must not look.  run.sh reads this; its functions and $B, $W, $D.

# bypass_built SHAPE: what bypass.c has, into $W/by, with a libcuda of that shape (tests/sim/entries.S).
bypass_built() {
	local by=$W/by-$1 how c=tests/userlib/bypass.c

	rm -f "$W/by"
	ln -s "$by" "$W/by"
	export LD_LIBRARY_PATH=$by:$B
	[ ! -d "$by" ] || return 0
	mkdir "$by"
	echo 'MOCK_1 { cu*; };' >"$by/map"
	CT_PARAMS=tests/userlib/mock.h tests/sim/link_libcuda "$1" "$by/libcuda.so.1" "$B/mock_libcuda.o" \
		-Wl,-soname,libcuda.so.1 -Wl,--version-script,"$by/map"
	for how in SHIM SHIM_DLSYM SHARE HELPER WRAPPER; do
		cc -w -fPIC -shared -D${how%_DLSYM} -D$how -o "$by/$how.so" $c
	done
	for how in lazy now; do
		cc -w -fPIC -shared -DDEEP -Wl,-z,$how -o "$by/deep-$how.so" $c
	done
	cc -w -fPIC -shared -DQUIET -o "$by/quiet.so" $c "$by/libcuda.so.1"
	cc -w -fPIC -shared -DSTALE -DPAD="$(($(size "$by/libcuda.so.1" | awk 'END { print $4 }') / 2))" -o "$by/stale.so" $c
	cc -w -rdynamic -o "$by/bypass" $c && cc -w -DLINKED -o "$by/linked" $c "$by/libcuda.so.1"
}

# Without libcuda's table: by the pointers that the program gets.
by_pointers() {
	bypass_built 0
	export CUDATRACE_TABLE=0
}

bypass_end() {
	export LD_LIBRARY_PATH=$B
	unset CUDATRACE_TABLE
}

# by_any_way CHECK...: what was traced ran as without the library; by libcuda's table, these
# checks hold as well.
by_any_way() {
	exits 0 && silent || return 1
	[ -z "${CUDATRACE_TABLE:-}" ] || return 0
	valid || return 1
	while [ $# -gt 0 ]; do
		counts "$1" "$2" || return 1
		shift 2
	done
}

t_shim() {
	local both how order way
	for way in table pointers; do
		if [ $way = table ]; then bypass_built 580; else by_pointers; fi
		for how in SHIM SHIM_DLSYM; do
			for order in behind before; do
				[ $order = behind ] && both="$B/libcudatrace.so $W/by/$how.so" ||
					both="$W/by/$how.so $B/libcudatrace.so"
				LIB=$both traced "$W/by/bypass" shim
				# With a dlsym() of its own, one is answered by itself.
				by_any_way 1 ' cuInit ' $([ $how = SHIM ] && echo 4 || echo 3) ' cuMemAlloc_v2 ' 1 ' cuCtxSetCurrent '
				ok "a preloaded $how, $order ours, by $way: what comes to libcuda, once" $?
				LIB=$both traced "$W/by/linked"
				by_any_way 1 ' cuInit ' 3 ' cuMemAlloc_v2 '
				ok "... of a program that is linked to libcuda" $?
			done
		done
		LIB="$B/libcudatrace.so $W/by/WRAPPER.so" traced "$W/by/linked"
		by_any_way 1 ' cuInit ' 3 ' cuMemAlloc_v2 '
		ok "a wrapper of one function, which goes on by RTLD_NEXT" $?
		bypass_end
	done
}

# As those look functions up that share a GPU among containers.
t_share() {
	local program way
	for way in table pointers; do
		if [ $way = table ]; then bypass_built 580; else by_pointers; fi
		export SHARE=$W/by/SHARE.so
		for program in "bypass share" linked; do
			LD_PRELOAD=$SHARE "$W/by/"$program >"$W/bare"
			LIB="$B/libcudatrace.so $SHARE" traced "$W/by/"$program
			if [ "$program" = linked ]; then
				by_any_way 1 ' cuInit ' 3 ' cuMemAlloc_v2 '
			else
				by_any_way 1 ' cuInit ' 1 ' cuMemAlloc_v2 ' 1 ' cuCtxSetCurrent ' 1 ' cuCtxGetCurrent$'
			fi && diff "$W/bare" "$W/out" >>"$W/said"
			ok "a preloaded library that shares the GPU, $program, by $way: each call that comes to libcuda" $?
			# It passes ours by.
			LIB="$SHARE $B/libcudatrace.so" traced "$W/by/"$program
			{ exits 0 && silent && diff "$W/bare" "$W/out" >>"$W/said"; }
			ok "... before ours: what it does without us" $?
		done
		bypass_end
	done
	unset SHARE
}

t_next() {
	local how
	bypass_built 580
	LIB="$B/libcudatrace.so $W/by/HELPER.so" traced "$W/by/linked"
	{ exits 0 && silent && valid && counts 3 ' cuCtxSetCurrent ' && counts 3 ' cuMemAlloc_v2 '; }
	ok "RTLD_NEXT in a preloaded library, to the libcuda that the program is linked to" $?
	LD_PRELOAD=$W/by/HELPER.so "$W/by/linked" >"$W/out" 2>&1
	ok "(the same without the library)" $?
	LIB="$B/libcudatrace.so $W/by/HELPER.so" traced "$W/by/bypass" global
	{ exits 0 && silent && valid && counts 1 ' cuCtxSetCurrent '; }
	ok "... to one that was loaded for all" $?
	LIB="$B/libcudatrace.so $W/by/HELPER.so" traced "$W/by/bypass" local
	{ exits 0 && silent && [ ! -e "$D" ]; }
	ok "... and not to one that was loaded for its caller alone" $?
	for how in global local; do
		LD_PRELOAD=$W/by/HELPER.so "$W/by/bypass" $how >"$W/out" 2>&1
		ok "(the same without the library)" $?
	done
	by_pointers
	for how in linked "bypass global" "bypass local"; do
		LIB="$B/libcudatrace.so $W/by/HELPER.so" traced "$W/by/"$how
		{ exits 0 && silent; }
		ok "... by pointers, $how: as without the library" $?
	done
	traced "$W/by/bypass" versions
	{ exits 0 && silent && valid && counts 1 ' cuCtxSetCurrent '; }
	ok "dlvsym" $?
	"$W/by/bypass" versions >"$W/out" 2>&1
	ok "(the same without the library)" $?
	bypass_end
}

t_deepbind() {
	by_pointers
	for how in lazy now; do
		traced "$W/by/bypass" deep "$W/by/deep-$how.so"
		{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 10 ' cuCtxSetCurrent '; }
		ok "a library that is opened with RTLD_DEEPBIND, $how binding" $?
	done
	bypass_end
}

t_quiet_load() {
	if [ "$(id -u)" != 0 ] || ! mknod "$W/quiet" c 195 255 2>/dev/null; then
		skip "a library that is called without any lookup" "needs root and mknod"
		return
	fi
	by_pointers
	MARK=1 NODE=$W/quiet traced "$W/by/bypass" quiet "$W/by/quiet.so"
	# What comes before the driver's first ioctl is not seen.
	{ exits 0 && silent && valid && counts 10 ' cuCtxSetCurrent '; }
	ok "a library that is called without any lookup: from the driver's first ioctl on" $?
	bypass_end
}

t_slots() {
	by_pointers
	# (Where libcuda's function is, for the program to store it as the loader would.)
	traced "$W/by/bypass" rewritten "$W/by/quiet.so" \
		"0x$(nm -D "$W/by/libcuda.so.1" | sed -n 's/ T cuCtxSetCurrent.*//p')"
	{ exits 0 && silent && valid && counts 10 ' cuCtxSetCurrent '; }
	ok "a slot that another thread was about to bind when it was patched" $?
	bypass_end
	CUDATRACE_TABLE=0 traced "$B/refuse" mprotect 13 "$B/linked-now"
	if [ "$STATUS" = 77 ]; then
		skip "slots that may not be written" "no seccomp"
		return
	fi
	{ exits 0 && valid && counts 1 ' cuCtxGetCurrent' && counts 0 ' cuMemAlloc_v2 ' &&
	  [ "$(cat "$W/err")" = "cudatrace: the kernel allows no change of a library's global offset table: its CUDA calls are not traced, of the program" ] &&
	  counts 1 '^info unseen_some slots$'; }
	ok "slots that may not be written: it is said, once" $?
}

t_inside() {
	cat >"$W/inside.c" <<-'EOC'
	/* Forks while another thread is inside dl_iterate_phdr(), by itself. */
	#include <dlfcn.h>
	#include <link.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>

	static int inside[2];

	static int sit(struct dl_phdr_info *i, size_t n, void *arg)
	{
		write(inside[1], "x", 1);
		pause();
		return 1;
	}
	static void *thread(void *arg)
	{
		dl_iterate_phdr(sit, 0);
		return 0;
	}
	int main(int argc, char **argv)
	{
		void *lib = dlopen("libcuda.so.1", RTLD_NOW);
		int (*set)(void *) = argc > 1 ? dlsym(lib, "cuCtxSetCurrent") : 0, status;
		pthread_t t;
		char c;

		pipe(inside);
		pthread_create(&t, 0, thread, 0);
		read(inside[0], &c, 1);
		if (!fork()) {
			alarm(20);
			if (!dlsym(RTLD_DEFAULT, "malloc") || !dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5") ||
			    dlsym(RTLD_DEFAULT, "cuInit") || dlsym(RTLD_NEXT, "cuInit") ||
			    dlsym(lib, "cuNothing") || dlopen("libcuda.so.1", RTLD_NOW) != lib)
				_exit(1);
			if (set) {
				int (*init)(unsigned) = dlsym(lib, "cuInit");
				int (*find)(const char *, void **, int, unsigned long, int *) =
					dlsym(lib, "cuGetProcAddress_v2");
				int (*alloc)(void *, size_t);
				void *p;

				if (!init || init(0) || set((void *)1) ||
				    find("cuMemAlloc", (void **)&alloc, 12000, 0, 0) || alloc(&p, 100))
					_exit(2);
			}
			_exit(0);
		}
		wait(&status);
		printf("%x\n", status);
		_exit(status != 0);
	}
	EOC
	cc -w -D_GNU_SOURCE -o "$W/inside" "$W/inside.c" -lpthread -ldl
	"$W/inside" >"$W/out" 2>&1
	STATUS=$?
	exits 0
	ok "a child that was forked while a thread was in dl_iterate_phdr(): without the library" $?
	traced "$W/inside"
	{ exits 0 && silent; }
	ok "... with it, looking up names of which none is libcuda's" $?
	traced "$W/inside" used
	{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 1 ' cuCtxSetCurrent ' &&
	  counts 1 ' cuMemAlloc_v2 '; }
	ok "... and calls of a libcuda that the parent knew are recorded" $?
	bypass_built 580
	LD_LIBRARY_PATH=$W/by:$B traced "$W/by/bypass" child "$W/by/quiet.so"
	{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 10 ' cuCtxSetCurrent '; }
	ok "... where none was, what the child loads is looked at as anywhere" $?
	bypass_end
}
