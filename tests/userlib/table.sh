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
	for how in "SHIM_DLSYM bypass" "SHIM linked"; do
		LIB="$W/by/${how% *}.so $B/libcudatrace.so" traced "$W/by/${how#* }" shim
		{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 3 ' cuMemAlloc_v2 '; }
		ok "a library that stands in front of libcuda and of us: what it asks libcuda for, $how" $?
		LIB="$B/libcudatrace.so $W/by/${how% *}.so" traced "$W/by/${how#* }" shim
		{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 3 ' cuMemAlloc_v2 '; }
		ok "... behind us: each call once" $?
	done
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
	t_linked
	t_reload
	t_inject
	t_others
	cc -w -DSTAND_IN -fPIC -shared -o "$W/stand_in.so" tests/userlib/cudart_like.c
	traced "$W/others" "$W/stand_in.so"
	{ exits 0 && silent && valid && counts 1 ' cuInit ' && counts 1 ' cuDriverGetVersion( |$)' &&
	  counts 0 ' cu(blas|dnn)'; }
	ok "... and those of a library that has cuInit are recorded" $?
	unset CUDATRACE_TABLE
}
