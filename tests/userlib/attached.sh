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
