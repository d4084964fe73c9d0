# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the preload library over NVIDIA's own libcuda, of each driver that Debian has had,
# without a GPU.  run.sh reads this; its functions and $B, $W, $D.

# real_traced RELEASE PACKAGE: a program over this libcuda, $file, was recorded; else the test $what
# is skipped.
real_traced() {
	what="libcuda of $2 in $1"
	if ! file=$(tests/userlib/libcuda "$1" "$2" 2>"$W/fetched"); then
		skip "$what" "$(tail -n 1 "$W/fetched")"
		return 1
	fi
	what="$what, ${file##*/libcuda.so.}"
	mkdir -p "$W/real"
	ln -sfn "$file" "$W/real/libcuda.so.1"
	# It would make its devices in /dev, if it could.
	LD_LIBRARY_PATH=$W/real traced "$B/refuse" mknod 1 "$B/refuse" mknodat 1 "$B/real"
	if [ "$STATUS" = 77 ]; then
		skip "$what" "no seccomp"
		return 1
	fi
	cp "$W/out" "$W/said"
	read -r exports _ words _ <"$W/out"
	answers=$(sed -n 's/^cuInit //p' "$W/out")
}

# real_libcuda RELEASE PACKAGE: the whole table is found, and each caller is seen.
real_libcuda() {
	local what file exports words answers
	real_traced "$1" "$2" || return
	{ exits 0 && silent && valid && counts 0 '^info unseen' &&
	  [ "$exports" -ge 400 ] && [ $((words * 100)) -ge $((exports * 95)) ]; }
	ok "$what: $words of $exports functions go through its table" $?
	{ [[ "$answers " =~ ^(100 )+$ ]] && counts "$(wc -w <<<"$answers")" ' result=100 .* cuInit flags=0x0$'; }
	ok "... cuInit finds no GPU, and each of these calls is recorded: $answers" $?
}

# real_pointers RELEASE PACKAGE: it has no table; the program's pointers are replaced.
real_pointers() {
	local what file exports words answers
	real_traced "$1" "$2" || return
	{ exits 0 && silent && valid && counts 1 '^info unseen_some table$' && counts 1 ' result=100 .* cuInit flags=0x0$'; }
	ok "$what has no table, which the trace says: calls by the pointers that dlsym() gave" $?
}

t_real_libcuda() {
	if [ -e /dev/nvidiactl ]; then
		skip "NVIDIA's own libcudas, without a GPU" "there is a GPU"
		return
	fi
	real_pointers bullseye libnvidia-tesla-450-cuda1
	real_libcuda bullseye libcuda1
	real_libcuda bookworm libcuda1
	real_libcuda bookworm libnvidia-tesla-470-cuda1
	real_libcuda bookworm-backports libcuda1
	real_libcuda trixie libcuda1
	real_libcuda trixie libnvidia-tesla-535-cuda1
	real_libcuda sid libcuda1
	[ ! -e /dev/nvidiactl ]
	ok "... none of them has made a device" $?
}
