# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library: programs with another root, in a sandbox, with an older or newer
# libc; and those that load libcuda and call nothing.  run.sh reads this; its functions and
# $B, $W, $D, and recorded of registry.sh.

ELSEWHERE='cudatrace: not tracing, the directory of this recording is not here'
READ_ONLY='cudatrace: not tracing, the trace directory is read-only here'

# named TEXT: the trace says this of the program, once, and nothing else of what is missing.
named() {
	build/cudatrace report "$D" 2>>"$W/said" | grep -E '^  (not recorded|no CUDA call)' >"$W/named"
	[ "$(grep -cE -- "$1" "$W/named")" = 1 ] && [ "$(wc -l <"$W/named")" = 1 ] && return 0
	cat "$W/named" "$W/err" >>"$W/said"
	return 1
}

# said LINE: the library said this once, and no other process or line said more.
said() { [ "$(grep -c "^$1" "$W/err")" = 1 ] && [ "$(grep -c '^cudatrace: [^t]' "$W/err")" = "${2:-2}" ]; }

# "rest" calls, and lives for so long that the recorder looks at it.
t_bwrap() {
	local all=(--dev /dev --proc /proc --unshare-all) b=(bwrap --bind / /)
	if ! command -v bwrap >/dev/null; then
		skip "bubblewrap" "apt-get install bubblewrap"
		return
	elif ! bwrap --ro-bind / / "${all[@]}" true 2>/dev/null || [ ! -x build/cudatrace ]; then
		skip "bubblewrap" "needs build/cudatrace, and the right to make namespaces"
		return
	fi
	recorded "${b[@]}" "${all[@]}" "$B/victim" fork
	{ exits 0 && said 'cudatrace: recording without' 1 && valid && counts 18 ' cuCtxSetCurrent '; }
	ok "bubblewrap with all namespaces of its own, where the directory may be written" $?
	# Made before, so that it can be mounted over the read-only root.
	recorded bwrap --ro-bind / / "${all[@]}" --bind "$W/recorded" "$W/recorded" "$B/victim" basic
	{ exits 0 && said 'cudatrace: recording without' 1 && valid && counts 1 ' cuInit flags=0x0$'; }
	ok "... with this directory alone" $?
	recorded bwrap --ro-bind / / "${all[@]}" "$B/registry" rest
	{ exits 0 && said "$READ_ONLY" && named 'of registry \([0-9]*\), for which the trace directory is'; }
	ok "... with a read-only one: one line, and the trace says so" $?
	recorded "${b[@]}" "${all[@]}" --tmpfs "$W" sh -c "$B/registry rest; s=\$?; ls -A $W; exit \$s"
	{ exits 0 && [ ! -s "$W/out" ] && said "$ELSEWHERE" &&
	  named 'of registry \([0-9]*\), which has another root'; }
	ok "... without one: one line, none is made, and the trace says so" $?
}

# Where a user who is not root makes himself one.
t_own_root() {
	local user=()
	[ "$(id -u)" != 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 755 "$W"
	rm -rf "$W/own" && mkdir -m 777 "$W/own"
	if [ ! -x build/cudatrace ] || ! "${user[@]}" unshare -rm true 2>/dev/null ||
	   ! "${user[@]}" "$B/victim" basic >/dev/null 2>&1; then
		skip "unshare -rm" "needs build/cudatrace in a place that others may read, and user namespaces"
		return
	fi
	for where in here elsewhere; do
		local mount=
		[ "$where" = here ] || mount="mount -t tmpfs none $W &&"
		D=$W/own/$where
		CUDATRACE_LIBRARY=$B/libcudatrace.so "${user[@]}" build/cudatrace record --no-module -q \
			-o "$D" -- unshare -rm sh -c "$mount $B/registry rest; s=\$?; ls -A $W; exit \$s" \
			9<$DRIVER >"$W/out" 2>"$W/err"
		STATUS=$?
		rm -f "$W/said"
		if [ "$where" = here ]; then
			{ exits 0 && said 'cudatrace: recording without' 1 && valid && counts 1 ' cuInit '; }
		else
			{ exits 0 && [ ! -s "$W/out" ] && said "$ELSEWHERE" && named 'which has another root'; }
		fi
		ok "a user's unshare -rm, the directory is $where" $?
	done
}

t_chroot() {
	local root=$W/root file
	if [ "$(id -u)" != 0 ] || [ ! -x build/cudatrace ] || ! unshare -m chroot / true 2>/dev/null; then
		skip "chroot" "needs root, build/cudatrace, and the right to unshare mounts"
		return
	fi
	mkdir -p "$root/$B" "$root/$W/recorded" "$root/proc"
	for file in $(ldd "$B/registry" "$B/victim" | grep -oE '/[^ :]*' | sort -u) "$B/registry" \
		"$B/libcuda.so.1"; do
		mkdir -p "$root/${file%/*}" && cp "$file" "$root/$file"
	done
	recorded chroot "$root" "$B/registry" rest
	{ exits 0 && grep -q 'cannot be preloaded' "$W/err" && named 'of registry \([0-9]*\), which has another root'; }
	ok "chroot to where the library is not: the trace says why" $?
	cp "$B/libcudatrace.so" "$root/$B"
	recorded chroot "$root" "$B/registry" rest
	{ exits 0 && said "$ELSEWHERE" && [ -z "$(ls -A "$root/$W/recorded")" ] &&
	  named 'of registry \([0-9]*\), which has another root'; }
	ok "... nor another recording's: one line, nothing is made, and the trace says so" $?
	recorded unshare -m sh -c "mount --bind $W/recorded $root/$W/recorded && chroot $root $B/registry rest"
	{ exits 0 && said 'cudatrace: recording without' 1 && valid && counts 1 ' cuInit '; }
	ok "... where both are, calls are recorded" $?
}

# What loads libcuda and calls nothing has lost nothing.
t_idle() {
	if [ "$(id -u)" != 0 ] || [ ! -x build/cudatrace ] || ! mknod "$W/device" c 195 255 2>/dev/null ||
	   ! unshare -m mount -t tmpfs none /sys/module 2>/dev/null; then
		skip "libcuda is loaded and not called" "needs root, build/cudatrace, mknod and unshare -m"
		return
	fi
	cc -w -D_GNU_SOURCE -x c -o "$W/idle" - -ldl <<-'EOF'
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		if (!dlopen("libcuda.so.1", RTLD_NOW))
			return 1;
		usleep(400000);
		if (argc > 1 && open(argv[1], O_PATH) < 0)
			return 2;
		sleep(1);
		return 0;
	}
	EOF
	# As on a machine with the driver.
	cat >"$W/driver" <<-EOF
	mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia &&
		exec build/cudatrace record --no-module -f -q -o $W/recorded -- "\$@"
	EOF
	export CUDATRACE_LIBRARY=$B/libcudatrace.so
	D=$W/recorded
	rm -f "$W/said"
	unshare -m sh "$W/driver" "$W/idle" >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && named 'no CUDA call of idle \([0-9]*\): it loaded libcuda, and was not seen to use'; }
	ok "a program that loads libcuda and calls nothing: nothing is said to be lost" $?
	unshare -m sh "$W/driver" env -u LD_PRELOAD "$W/idle" >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && named 'no CUDA call of idle'; }
	ok "... without LD_PRELOAD, too" $?
	unshare -m sh "$W/driver" "$W/idle" "$W/device" >"$W/out" 2>"$W/err"
	STATUS=$?
	{ exits 0 && named 'not recorded: CUDA calls of idle \([0-9]*\), if it made any: libcuda was loaded'; }
	ok "... one that opens the driver's device later is named" $?
	unset CUDATRACE_LIBRARY
}

# each_of COMMAND: what victim says that it has called is there.
each_of() {
	case $1 in
	threads) counts 10000 ' cuCtxSetCurrent ' ;;
	fork) counts 18 ' cuCtxSetCurrent ' ;;
	short_threads) thrice 5007 ;;
	signals) counts "$(sed -n 's/calls //p' "$W/out")" ' cuCtxSetCurrent ' ;;
	*) counts "$(grep -c '^u-.* cu[A-Z]' "$W/dump.$1")" '^u-.* cu[A-Z]' ;;
	esac
}

# with_libc RELEASE VERSION: programs of the tests that are linked to that libc.
with_libc() {
	local root o=$W/$1 what libs='-l:libpthread.so.0 -l:libdl.so.2' compile
	if ! root=$(tests/userlib/libc "$1" 2>"$W/fetched"); then
		skip "programs with glibc $2" "Debian's package can't be had: $(tail -n 1 "$W/fetched")"
		return
	fi
	what=$root/usr/lib/x86_64-linux-gnu
	# The kernel's headers are this machine's.
	compile="cc -w -D_GNU_SOURCE --sysroot=$root -B$what -L$what -static-libgcc -idirafter /usr/include
		-idirafter /usr/include/x86_64-linux-gnu -Wl,--disable-new-dtags,-rpath,$what
		-Wl,--dynamic-linker=$what/ld-linux-x86-64.so.2"
	mkdir "$o"
	# shellcheck disable=SC2086
	{ $compile -fPIC -fexceptions -fvisibility=hidden -c -o "$o/mock.o" tests/userlib/mock_libcuda.c
	  CC=$compile CT_PARAMS=tests/userlib/mock.h tests/sim/link_libcuda 580 "$o/libcuda.so.1" "$o/mock.o" \
		-Wl,-soname,libcuda.so.1 $libs
	  $compile -o "$o/victim" tests/userlib/victim.c tests/userlib/victim_*.c $libs
	  $compile -Wl,-z,lazy -o "$o/lazy" tests/userlib/linked.c "$o/libcuda.so.1" $libs
	  $compile -fPIE -pie -Wl,-z,now -o "$o/now" tests/userlib/linked.c "$o/libcuda.so.1" $libs
	  echo '#include <gnu/libc-version.h>
		int main(void) { return puts(gnu_get_libc_version()) < 0; }' |
		$compile -x c -o "$o/version" -
	} 2>"$W/said" && [ "$("$o/version")" = "$2" ]
	ok "glibc $2 of Debian's $1: programs are linked to it" $?
	local -x LD_LIBRARY_PATH=$o
	for what in basic threads fork longjmp coroutines signals exits short_threads vfork_calls reload; do
		if [[ $what != @(threads|fork|short_threads|signals) ]] && [ ! -e "$W/dump.$what" ]; then
			LD_LIBRARY_PATH=$B traced "$B/victim" $what
			valid && mv "$W/dump" "$W/dump.$what"
		fi
		"$o/victim" $what >"$W/bare" 2>&1
		traced "$o/victim" $what
		{ exits 0 && silent && valid && counts 0 '^stream .* lost=[1-9]' && each_of $what &&
		  { [ $what = signals ] || diff "$W/bare" "$W/out" >>"$W/said"; }; }
		ok "... $what" $?
	done
	for what in lazy now; do
		traced "$o/$what"
		{ exits 0 && silent && valid && counts 12 '^u-.* cu[A-Z]'; }
		ok "... linked to libcuda, $what binding" $?
	done
}

t_libc() {
	with_libc bullseye 2.31
	with_libc trixie 2.41
}
