# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --stacks: Python programs that call the simulated libcuda and say from where.  Sourced by run.sh.

# stacked NAME COMMAND...: recorded with stacks as $work/NAME and $work/NAME.jsonl
stacked()
{
	local name=$1 status
	shift
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks -o "$work/$name" -- "$@" \
		>"$work/$name.out" 2>"$work/$name.err"
	status=$?
	"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name" 2>>"$work/$name.err" || status=99
	return $status
}

# Those of this machine, a path for each version.
stacks_pythons()
{
	local python version seen=
	for python in /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14; do
		version=$("$python" -c 'import ctypes, sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 9) else "")' 2>/dev/null)
		if [ -n "$version" ] && [[ $seen != *" $version "* ]]; then
			seen="$seen $version "
			echo "$python $version"
		fi
	done
}

t_stacks()
{
	local python version any=
	while read -r python version; do
		any=1
		stacked "stacks-$version" "$python" tests/record/stacks.py "$PWD/build/tests/sim/libcuda.so.1" "$work/expected-$version" 20
		is $? 0 "Python $version: recorded with stacks"
		"$python" tests/record/stacks_check.py "$work/stacks-$version.jsonl" "$work/expected-$version" cuCtxSynchronize >"$work/check"
		ok $? "Python $version: each call has the stack that traceback says: $(tail -n 1 "$work/check")" || cat "$work/check"
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "stacks of Python" "no python3 with ctypes"
}

# The interpreter's lock is held in the first calls: then its own functions are asked, too.
t_stacks_held()
{
	local python version
	read -r python version < <(stacks_pythons)
	if [ -z "$python" ]; then
		skip "stacks of Python while its lock is held" "no python3 with ctypes"
		return
	fi
	HELD=1 stacked stacks-held "$python" tests/record/stacks.py "$PWD/build/tests/sim/libcuda.so.1" "$work/expected-held" 3
	is $? 0 "the first calls are made with the interpreter's lock"
	"$python" tests/record/stacks_check.py "$work/stacks-held.jsonl" "$work/expected-held" cuCtxSynchronize >"$work/check"
	ok $? "and have their stacks: $(tail -n 1 "$work/check")" || cat "$work/check"
	grep -q '^info stacks_python' "$work/stacks-held/.registry"
	ok $? "the trace says which Python it was"

	"$cudatrace" report --format csv lines "$work/stacks-held" >"$work/lines.csv"
	is "$(awk -F, '/stacks.py/ && $12 == "sync" { print $6 }' "$work/lines.csv")" \
		"$(jq -s '[.[] | select(.stack and .phase == "E" and .stack[0][2] == "sync")] | length' "$work/stacks-held.jsonl")" \
		"report lines counts the calls of a line"
	is "$(awk -F, '$12 == "main" { n += $7 } END { print n + 0 }' "$work/lines.csv")" \
		"$(jq -s '[.[] | select(.stack and .phase == "E" and ([.stack[][2]] | index("main")))] | length' "$work/stacks-held.jsonl")" \
		"and those that are made further inside, once a stack"
	is "$("$cudatrace" report --format csv stacks "$work/stacks-held" | awk -F, 'NR > 1 { n += $4 } END { print n }')" \
		"$(jq -s '[.[] | select(.stack and .phase == "E")] | length' "$work/stacks-held.jsonl")" "report stacks has each call once"
	"$cudatrace" report --by line --format csv "$work/stacks-held" | grep -q 'sync (.*/tests/record/stacks.py:[0-9]*)'
	ok $? "report --by line"
	"$cudatrace" export --format folded "$work/stacks-held" | grep -q '^[^;]*;[^;]*;<module> ([^;]*stacks.py:[0-9]*);main ([^;]*);.*;sync (.*stacks.py:[0-9]*);cuCtxSynchronize [0-9]*$'
	ok $? "a flame graph has the lines of the program around its calls"
	"$cudatrace" explain --call "$(jq -s 'map(select(.stack and .phase == "E" and .stack[0][2] == "sync"))[0].op_id' "$work/stacks-held.jsonl")" "$work/stacks-held" >"$work/explained"
	grep -A 1 '^called from$' "$work/explained" | grep -q '^  sync (.*stacks.py:[0-9]*)$'
	ok $? "explain --call says from where it was called" || cat "$work/explained"
	! grep -q '"name":"stack"' "$work/stacks-held.jsonl"
	ok $? "a stack is part of its call, and no event"
}

t_stacks_none()
{
	stacked stacks-none "$inference" --iterations 5
	is $? 0 "a program without Python is recorded with --stacks"
	is "$(grep -c '"stack"' "$work/stacks-none.jsonl")" 0 "its calls have none"
	"$cudatrace" report lines "$work/stacks-none" 2>&1 | grep -q 'calls have no stack'
	ok $? "and report lines says so"
	"$cudatrace" report lines "$work/trace-inference" 2>&1 | grep -q 'No stacks were recorded: cudatrace record --stacks'
	ok $? "as it says how stacks are recorded"
	"$cudatrace" record --stacks=cobol -o "$work/cobol" -- true 2>&1 | grep -q 'give python'
	ok $? "of other languages there are none"
}

# A call that never returns is where one wants to know from where it was made.
t_stacks_hang()
{
	local python version
	read -r python version < <(stacks_pythons)
	if [ -z "$python" ]; then
		skip "the stack of a call that hangs" "no python3 with ctypes"
		return
	fi
	printf '%s\n' 'import ctypes, os, signal, threading' \
		"cuda = ctypes.CDLL('$PWD/build/tests/sim/libcuda.so.1')" 'def wait():' '    cuda.cuCtxSynchronize()' \
		'context = ctypes.c_void_p()' 'cuda.cuInit(0)' 'cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)' 'cuda.cuCtxSetCurrent(context)' \
		'threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()' 'wait()' >"$work/hang.py"
	CUDASIM_HANG=cuCtxSynchronize:1 stacked stacks-hang "$python" "$work/hang.py"
	is $? 137 "a program that hangs in a call is killed"
	is "$(jq -c 'select(.unfinished and .name == "cuCtxSynchronize") | [.stack[][1]]' "$work/stacks-hang.jsonl")" "[4,10]" \
		"the trace says from where it made this call"
}

# The line of a function of stacks_lines.py whose text contains WORD.
stacks_line()
{
	grep -n -- "$1" tests/record/stacks_lines.py | head -n 1 | cut -d : -f 1
}

# What explain says of the program's lines.
t_stacks_explain()
{
	local python version
	read -r python version < <(stacks_pythons)
	if [ -z "$python" ]; then
		skip "explain names lines of the program" "no python3 with ctypes"
		return
	fi
	stacked stacks-explain "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy leak wait
	"$cudatrace" explain --format json "$work/stacks-explain" >"$work/explain.json"
	is "$(jq -r '.findings[] | select(.Rule == "memory-growth") | .Lines' "$work/explain.json")" \
		"100 % stacks_lines.py:$(stacks_line 'ctypes.byref(block)') (leaker)" "explain names the line of a leak"
	is "$(jq -r '.findings[] | select(.Rule == "application") | .Lines | split(" ")[2]' "$work/explain.json")" \
		"stacks_lines.py:$(stacks_line 'cuda.cuMemAlloc_v2(ctypes.byref(block)')" "and of the application's time, at the call that follows"
	"$cudatrace" explain "$work/stacks-explain" | grep -q '^    lines: 100 % stacks_lines.py:[0-9]* (leaker)$'
	ok $? "people see them below the finding"
	"$cudatrace" explain "$work/trace-inference" >"$work/explained"
	! grep -q '^    lines:' "$work/explained"
	ok $? "there are none where no stacks were recorded"
	"$cudatrace" report lines stacks "$work/stacks-explain" --format json >"$work/both.json"
	"$cudatrace" report lines "$work/stacks-explain" --format json >"$work/one.json"
	is "$(jq -c '[.. | objects | select(.Function?)] | map([."Self Time (ns)", ."Self Calls"])' "$work/both.json")" \
		"$(jq -c '[.. | objects | select(.Function?)] | map([."Self Time (ns)", ."Self Calls"])' "$work/one.json")" \
		"both reports at once say the same as one"
}
