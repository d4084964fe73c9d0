# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# cudatrace top on a terminal: its keys.  Sourced by run.sh.

t_top_keys()
{
	local recorder
	"$cudatrace" record -q --no-module -f -o "$work/trace-top" -- "$PWD/build/tests/record-running" 2 60 30 >"$work/top.out" 2>/dev/null &
	recorder=$!
	until grep -q ready "$work/top.out" || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/top.out")
	timeout -s KILL $hang python3 tests/record/top_keys.py "$cudatrace" "$work/trace-top" >"$work/top.keys" 2>&1
	is "$? $(cat "$work/top.keys")" "0 sorted frozen still went on ended restored" "top: keys sort, freeze and end, and the terminal is as it was" || cat "$work/top.keys"
	kill -TERM "$pid"
	wait $recorder
}
