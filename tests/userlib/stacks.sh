# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Tests of the plugin that takes stacks: programs that say themselves what is on their stack, and programs that look as
# if they were an interpreter.  They are those of tests/record/stacks.sh, which tests the whole of record --stacks; here
# they are what tests/userlib/mutate runs.  run.sh reads this; its functions and $B, $W.

SIM=$PWD/build/tests/sim/libcuda.so.1

# The command, and a libcuda that does what programs ask for.
stacks_ready() { [ -x build/cudatrace ] && { [ -e "$SIM" ] || make -s sim >/dev/null 2>&1; }; }

# stacks_of NAME HOW CMD...: recorded with --stacks=HOW as $W/NAME.jsonl; STATUS.
stacks_of() {
	local name=$1 how=$2
	shift 2
	rm -f "$W/said"
	CUDATRACE_LIBRARY=$B/libcudatrace.so CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 timeout -k 1 $HANG build/cudatrace record --no-module -q -f \
		--stacks="$how" --sample=0 -o "$W/$name" -- "$@" >"$W/out" 2>"$W/err"
	STATUS=$?
	build/cudatrace export --format jsonl -f -o "$W/$name.jsonl" "$W/$name" 2>>"$W/err"
}

t_stacks_python() {
	if ! stacks_ready || ! python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
		skip "stacks of Python" "needs build/cudatrace and the simulated libcuda, and Python 3.9 with ctypes"
		return
	fi
	stacks_of python python python3 tests/record/stacks.py "$SIM" "$W/expected" 5
	{ exits 0 && python3 tests/record/stacks_check.py "$W/python.jsonl" "$W/expected" cuCtxSynchronize >>"$W/said"; }
	ok "stacks of Python are those that traceback says" $?
}

t_stacks_nodes() {
	if ! stacks_ready || ! python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
		skip "stacks of nodes of graphs" "needs build/cudatrace and the simulated libcuda, and Python 3.9 with ctypes"
		return
	fi
	stacks_of nodes python python3 tests/record/graph_nodes.py "$SIM" "$W/expected"
	# How many, by function, that have a stack, and all of them.
	jq -r 'select(.phase == "E" and (.name | test("^cuGraph(Add.*Node|Create|Clone|Instantiate.*)$|^cuStreamBeginCapture"))) |
		.name + (if .stack then "" else " without" end)' "$W/nodes.jsonl" | sort | uniq -c >>"$W/said"
	{ exits 0 && ! grep without "$W/said" && grep -q 'cuGraphAddKernelNode$' "$W/said" && grep -q 'cuGraphAddNode$' "$W/said" &&
	  grep -q 'cuGraphAddChildGraphNode$' "$W/said"; }
	ok "calls that build graphs have the stacks of their callers" $?
}

t_stacks_compiled() {
	if ! stacks_ready || ! c++ -O2 -g -o "$W/native_stacks" tests/record/native_stacks.cc -ldl -pthread 2>/dev/null; then
		skip "stacks of compiled code" "needs build/cudatrace and the simulated libcuda, and a compiler of C++"
		return
	fi
	stacks_of native native "$W/native_stacks" "$SIM"
	cp "$W/out" "$W/printed"
	{ exits 0 && python3 tests/record/native_check.py "$W/native.jsonl" "$W/printed" >>"$W/said" &&
	  ! jq -c 'select(.stack and .name == "cuCtxSynchronize") | .stack' "$W/native.jsonl" | grep 'libcudatrace\|cuCtxSynchronize' >>"$W/said"; }
	ok "stacks of compiled code are those that the program says" $?
}

t_stacks_small() {
	if ! stacks_ready; then
		skip "a thread with a small stack" "needs build/cudatrace and the simulated libcuda"
		return
	fi
	cc -o "$W/small_stack" tests/userlib/small_stack.c -ldl -pthread || { ok "small_stack is built" 1; return; }
	stacks_of small native "$W/small_stack" "$SIM"
	{ exits 0 && [ "$(jq -c 'select(.name == "cuCtxSynchronize" and .phase == "E" and .stack) | .op' "$W/small.jsonl" | wc -l)" = 10 ]; }
	ok "stacks of a thread whose own has 16 KiB" $?
}

t_stacks_refused() {
	local how
	if ! stacks_ready; then
		skip "a program that looks like an interpreter" "needs build/cudatrace and the simulated libcuda"
		return
	fi
	cc -rdynamic -o "$W/false_python" tests/record/false_python.c -ldl || { ok "false_python is built" 1; return; }
	for how in nowhere unmapped circle type names; do
		stacks_of false python "$W/false_python" "$SIM" $how
		{ exits 0 && ! grep -q '"stack":\[' "$W/false.jsonl" && grep -aq '^info stacks_refused' "$W/false/.registry"; }
		ok "a program that looks like an interpreter ($how): it runs as ever, and has no stacks" $?
	done
}
