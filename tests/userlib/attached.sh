# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Tests of the preload library in programs that it is brought into while they run.  The whole of record --pid is tested by
# tests/record.  run.sh reads this; its functions and $B, $W.

t_attached_locked() {
	local what
	for what in call leave; do
		rm -f "$W/said"
		timeout -k 1 $HANG "$B/locked" $what "$B/libcudatrace.so" "$W/locked-$what" >"$W/out" 2>"$W/err"
		STATUS=$?
		cp "$W/out" "$W/said"
		exits 0 && [ "$(head -n 1 "$W/out")" = "old ours" ]
		ok "a recording that is over is left again: the one that runs goes on" $?
		[ "$STATUS $(tail -n +2 "$W/out")" = "0 $([ $what = call ] && echo "as before" || echo ours)" ]
		case $what in
		call) ok "a call that waits for the loader's lock while the recording is left puts nothing into libcuda's table" $? ;;
		leave) ok "who waits for the loader's lock while leaving takes nothing from the recording that begins meanwhile" $? ;;
		esac
	done
}

# What a filter for system calls would end the program for is asked before: by a list.
t_attached_calls() {
	if [ ! -e cli/attach/seccomp.c ]; then
		skip "the list of system calls that attaching makes" "needs the command's sources"
		return
	fi
	rm -f "$W/said"
	cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -I. -Icli -iquote userlib -o "$W/calls_made" tests/userlib/calls_made.c "$B/libcuda.so.1" -ldl -lpthread &&
		timeout -k 1 $HANG "$W/calls_made" "$B/libcudatrace.so" "$B/libcudatrace-stacks.so" "$W/calls-made" >"$W/out" 2>"$W/err"
	STATUS=$?
	cp "$W/out" "$W/said"
	exits 0 && grep -qE '^[1-9][0-9]{2,} calls, [1-9][0-9] of the list$' "$W/out" && ! grep 'not in the list' "$W/out"
	ok "each system call that attaching makes in a process is in the list by which filters are asked" $?
}
