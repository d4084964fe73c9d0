# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: libcuda's own table of pointers, by which its calls are seen.
# run.sh reads this; its functions and $B, $W, $D.  (All other tests go by the table, too, but
# for those of bypass.sh: run.sh's libcuda has the entries of driver 580.)

t_table() {
	local shape program
	for shape in 470 580 595; do
		export LD_LIBRARY_PATH=$B/$shape:$B
		[ $shape != 580 ] || LD_LIBRARY_PATH=$B
		traced "$B/linked-now"
		{ exits 0 && silent && valid && counts 2 ' cuInit ' && counts 3 ' cuMemAlloc_v2 ' &&
		  counts 1 ' cuLaunchKernel ' && counts 0 '^info unseen'; }
		ok "entries as of driver $shape: a program linked to libcuda" $?
		traced "$B/victim" proc
		{ exits 0 && valid && counts 1 'cuMemAlloc_v2 ' && counts 1 'cuLaunchKernel_ptsz .*shared=7 grid_x=1 ' &&
		  counts 10 ' cuGetProcAddress_v2 ptr='; }
		ok "... and one that asks cuGetProcAddress" $?
		traced "$B/throw"
		{ exits 0 && valid; }
		ok "... and one that throws exceptions through its calls" $?
	done
	export LD_LIBRARY_PATH=$B/0:$B
	for program in linked-now linked-lazy; do
		traced "$B/$program"
		{ exits 0 && silent && valid && counts 2 ' cuInit ' && counts 3 ' cuMemAlloc_v2 ' &&
		  counts 1 '^info unseen_some table$'; }
		ok "no table that is known: $program goes by its pointers, and the trace says so" $?
	done
	mkdir -p "$W/twice"
	ENTRY_FLAGS=-DTWICE CT_PARAMS=tests/userlib/mock.h tests/sim/link_libcuda 470 "$W/twice/libcuda.so.1" \
		"$B/mock_libcuda.o" -Wl,-soname,libcuda.so.1
	LD_LIBRARY_PATH=$W/twice:$B traced "$B/linked-now"
	{ exits 0 && silent && valid && counts 3 ' cuMemAlloc_v2 ' && counts 1 '^info unseen_some table$'; }
	ok "two functions by one word: it is no table that is known" $?
	export LD_LIBRARY_PATH=$B
	CUDATRACE_TABLE=0 traced "$B/linked-now"
	{ exits 0 && silent && valid && counts 3 ' cuMemAlloc_v2 ' && counts 0 '^info unseen'; }
	ok "CUDATRACE_TABLE=0 does without it" $?
}

# by_offset NAME: where libcuda has the function.
by_offset() { echo "0x$(nm -D "$W/by/libcuda.so.1" | sed -n "s/ T $1\(@.*\)*$//p")"; }

t_table_callers() {
	local how
	bypass_built 580
	for how in lazy now; do
		traced "$W/by/bypass" deep "$W/by/deep-$how.so"
		{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 10 ' cuCtxSetCurrent '; }
		ok "a library that is opened with RTLD_DEEPBIND, $how binding" $?
	done
	traced "$W/by/bypass" walk "$(by_offset cuCtxSetCurrent)"
	{ exits 0 && silent && valid && counts 1 ' cuCtxSetCurrent '; }
	ok "a program that finds its pointers by itself" $?
	traced "$W/by/bypass" address
	{ exits 0 && silent && valid && counts 1 ' cuCtxSetCurrent '; }
	ok "the pointers are libcuda's own" $?
	for how in 580 0; do
		bypass_built $how
		traced "$W/by/bypass" stale "$W/by/stale.so"
		{ exits 0 && silent; }
		ok "a library where libcuda was, $how, asks for a function" $?
	done
	bypass_end
}

t_table_ioctls() {
	if [ "$(id -u)" != 0 ] || ! mknod "$W/deeper" c 195 255 2>/dev/null; then
		skip "ioctls of a libcuda that is bound to libc" "needs root and mknod"
		return
	fi
	local how
	for how in 580 0; do
		bypass_built $how
		NODE=$W/deeper traced "$W/by/bypass" deeper "$W/by/quiet.so"
		{ exits 0 && silent && valid && counts 1 ' ioctl ' &&
		  { [ $how = 0 ] || counts 10 ' cuCtxSetCurrent '; }; }
		ok "the driver's ioctls where a library was opened with RTLD_DEEPBIND, $how" $?
	done
	bypass_end
}

t_relocating() {
	if [ "$(id -u)" != 0 ] || ! mknod "$W/relocating" c 195 255 2>/dev/null; then
		skip "ioctls of a library in the middle of whose relocation CUDA is called" "needs root and mknod"
		return
	fi
	NODE=$W/relocating traced "$B/relocating" "$B/librelocating.so"
	{ exits 0 && silent && valid && counts 10 ' cuCtxSetCurrent ' && counts 1 ' ioctl '; }
	ok "ioctls of a library in the middle of whose relocation CUDA is called" $?
}

# What the loader has of an object is looked at when it is new, and not with each one that comes.
t_read_once() {
	local n
	cat >"$W/read_once.c" <<-'EOF'
	#include <dlfcn.h>
	#include <link.h>
	#include <stdio.h>
	#include <sys/mman.h>

	static unsigned long page_of(struct link_map *m)
	{
		return (unsigned long)m->l_ld & -4096;
	}
	int main(int argc, char **argv)
	{
		void *lib[3];

		for (int i = 0; i < 3; i++) {
			lib[i] = dlopen(argv[1 + i], RTLD_NOW);
			if (!lib[i] || !dlsym(lib[i], "here"))
				return 1;
		}
		/* Neither the loader nor the program needs its dynamic section now. */
		if (mprotect((void *)page_of(lib[1]), 4096, PROT_NONE))
			return 2;
		if (!dlopen(argv[4], RTLD_NOW) || !dlsym(RTLD_DEFAULT, "malloc"))
			return 3;
		/* One that goes makes room in the list. */
		if (dlclose(lib[0]) || !dlsym(RTLD_DEFAULT, "malloc"))
			return 4;
		return mprotect((void *)page_of(lib[1]), 4096, PROT_READ | PROT_WRITE) ? 5 : 0;
	}
	EOF
	cc -w -D_GNU_SOURCE -o "$W/read_once" "$W/read_once.c" -ldl
	for n in 1 2 3 4; do
		echo 'int here;' | cc -x c -fPIC -shared -o "$W/read_once$n.so" -
	done
	traced "$W/read_once" "$W"/read_once{1,2,3,4}.so
	{ exits 0 && silent; }
	ok "an object that was looked at is not read again" $?
}

t_table_put_back() {
	bypass_built 580
	MARK=1 CUDATRACE_PACKET=4096 traced "$W/by/bypass" back
	{ exits 0 && silent && valid && counts 1 ' cuCtxSetCurrent handle=0x1' && counts 0 ' cuCtxSetCurrent handle=0x2' &&
	  counts 1 ' cuCtxSetCurrent handle=0x3' && counts 1 ' cuCtxSetCurrent handle=0x4' &&
	  counts 1 '^info unseen_some put_back$'; }
	ok "a tool that puts its words back: calls are seen again, and the trace says so" $?
	bypass_end
}

# The other way: by the pointers that the program gets (bypass.sh has more of it).
t_pointers() {
	export CUDATRACE_TABLE=0
	t_lookups
	t_proc
	linked_programs
	traced "$B/plugin" "$B/libplugin.so"
	{ exits 0 && silent && valid && counts 3 ' cuMemAlloc_v2 ' && counts 2 ' cuInit '; }
	ok "a plugin linked to libcuda that is loaded later" $?
	traced "$B/relocating" "$B/librelocating.so"
	{ exits 0 && silent && valid; }
	ok "... is not harmed in the middle of its relocation" $?
	t_reload
	t_others
	cc -w -DSTAND_IN -fPIC -shared -o "$W/stand_in.so" tests/userlib/cudart_like.c
	traced "$W/others" "$W/stand_in.so"
	{ exits 0 && silent && [ ! -e "$D" ]; }
	ok "... and so are those of a library that has cuInit and is no libcuda" $?
	injected "$B/inject_app"
	{ exits 0 && silent && valid && counts 1 ' cuMemAlloc_v2 '; }
	ok "injected by libcuda: what is looked up from then on" $?
	unset CUDATRACE_TABLE
}
