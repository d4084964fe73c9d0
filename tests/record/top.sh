# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# cudatrace top while programs run: how each is recorded, what it holds, and keys on a terminal.  Sourced by run.sh.

t_top_keys()
{
	local recorder
	: >"$work/top.out"
	"$cudatrace" record -q --no-module -f -o "$work/trace-top" -- "$PWD/build/tests/record-running" 2 60 30 >"$work/top.out" 2>/dev/null &
	recorder=$!
	until grep -q ready "$work/top.out" || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/top.out")
	timeout -s KILL $hang python3 tests/record/top_keys.py "$cudatrace" "$work/trace-top" >"$work/top.keys" 2>&1
	is "$? $(cat "$work/top.keys")" "0 sorted frozen still went on ended restored" "top: keys sort, freeze and end, and the terminal is as it was" || cat "$work/top.keys"
	if [ ! -e /dev/cudatrace ]; then
		timeout -s KILL $hang python3 tests/record/top_keys.py "$cudatrace" >"$work/top.keys" 2>&1
		is "$? $(cat "$work/top.keys")" "0 sorted frozen still went on ended restored" "... also without DIR" || cat "$work/top.keys"
	fi
	kill -TERM "$pid"
	wait $recorder
}

# top_row PID: of one view, the row of that process
top_row() { COLUMNS=160 "$cudatrace" top --batch --views 1 --pid "$1" ${2:+"$2"} | awk -v pid="$1" '$2 == pid && !/ cu/'; }

# top_says PID PATTERN TEXT [DIR]: some view has a row of that process with PATTERN
top_says()
{
	local n
	for n in $(seq 100); do
		top_row "$1" ${4:+"$4"} >"$work/top.row" 2>&1
		grep -qE -- "$2" "$work/top.row" && break
		sleep 0.1
	done
	grep -qE -- "$2" "$work/top.row"
	ok $? "top: $3" || cat "$work/top.row"
}

t_top_programs()
{
	local recorder page
	# The machine with its module has another view, of all processes.
	start_running top_programs 2 30
	if [ ! -e /dev/cudatrace ]; then
		top_says $pid ' no$' "a program that uses libcuda and is not recorded"
		is "$(awk '{ print $1 }' "$work/top.row")" record-running "... with its whole name, where there is room" || cat "$work/top.row"
	fi
	"$cudatrace" record -q -f -o "$work/trace-attached" --pid $pid 2>"$work/attached.said" &
	recorder=$!
	until grep -q 'recording record-running' "$work/attached.said" || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	top_says $pid '^record-run[^ ]* +[0-9]+ +[1-9][0-9]* +0 +0 B +.* attached$' "one that is attached to, with its calls" "$work/trace-attached"
	kill -TERM $recorder
	wait $recorder
	ended_well top_programs
	# One that stands by, seen from the recording of another.
	start_standby top_standby 2
	page=$pid
	: >"$work/top.out"
	"$cudatrace" record -q --no-module -f -o "$work/trace-top" -- "$PWD/build/tests/record-running" 2 60 30 >"$work/top.out" 2>/dev/null &
	recorder=$!
	until grep -q ready "$work/top.out" || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
	pid=$(awk '/ready/ { print $2 }' "$work/top.out")
	top_says $page ' no, stands by$' "one that stands by" "$work/trace-top"
	top_says $pid ' preloaded$' "one that was started by record" "$work/trace-top"
	kill -TERM "$pid"
	wait $recorder
	pid=$page
	ended_well top_standby
	[ -n "$(COLUMNS=80 "$cudatrace" top --batch "$work/trace-top" 2>/dev/null | awk 'NR == 2 && !/RECORDED/')" ]
	ok $? "top: of a recording that is over nothing is said of this machine"
}
