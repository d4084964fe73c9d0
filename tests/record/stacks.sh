# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --stacks: Python programs that call the simulated libcuda and say from where.  Sourced by run.sh.

# stacked NAME COMMAND...: recorded with stacks as $work/NAME and $work/NAME.jsonl
stacked()
{
	local name=$1 status
	shift
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks ${CUDATRACE_TEST_SAMPLE:-} -o "$work/$name" -- "$@" \
		>"$work/$name.out" 2>"$work/$name.err"
	status=$?
	"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name" 2>>"$work/$name.err" || status=99
	return $status
}

# Those of CUDATRACE_TEST_PYTHON (paths), of this machine and of its pyenv, a path for each version: "3.14", "3.14t" for free threading.
stacks_pythons()
{
	local python version seen=
	for python in ${CUDATRACE_TEST_PYTHON:-} /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 \
		"${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
		version=$("$python" -c 'import ctypes, sys; print("%d.%d" % sys.version_info[:2] + sys.abiflags.strip("dm") if sys.version_info >= (3, 9) else "")' \
			2>/dev/null)
		if [ -n "$version" ] && [[ $seen != *" $version "* ]]; then
			seen="$seen $version "
			echo "$python $version"
		fi
	done
}

# stacks_right NAME TEXT COMMAND...: each call has the stack that traceback says.
stacks_right()
{
	local name=$1 text=$2
	shift 2
	stacked "$name" "$@" tests/record/stacks.py "${stacks_libcuda:-$PWD/build/tests/sim/libcuda.so.1}" "$work/expected-$name" 20
	is $? 0 "$text: recorded with stacks" || tail -n 3 "$work/$name.err"
	python3 tests/record/stacks_check.py "$work/$name.jsonl" "$work/expected-$name" cuCtxSynchronize >"$work/check"
	ok $? "$text: each call has the stack that traceback says: $(tail -n 1 "$work/check")" || cat "$work/check"
}

t_stacks()
{
	local python version any=
	while read -r python version; do
		any=1
		stacks_right "stacks-$version" "Python $version" "$python"
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "stacks of Python" "no python3 with ctypes"
}

# debian_python RELEASE VERSION: the command that runs it, in ${python[@]}; its own C library comes with it.
debian_python()
{
	local root
	root=$(tests/record/python "$1" "$2" 2>"$work/fetched") || return
	python=(env PYTHONHOME="$root/usr" "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu"
		"$root/usr/bin/python$2")
}

# stacks_old_libcuda RELEASE VERSION: the simulated libcuda for the C library of this Python, in $stacks_libcuda.
stacks_old_libcuda()
{
	local at
	at=$(tests/record/python "$1" "$2" 2>/dev/null)/usr/lib/x86_64-linux-gnu
	mkdir -p "$work/old"
	stacks_libcuda=$work/old/libcuda.so.1
	CC=gcc tests/sim/link_libcuda 580 "$stacks_libcuda" build/tests/sim/libcuda.o -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete \
		-Wl,--version-script=tests/sim/libcuda.map -nodefaultlibs "$at"/lib{m.so.6,pthread.so.0,dl.so.2,c.so.6} \
		"$(gcc -print-file-name=libc_nonshared.a)" "$at/ld-linux-x86-64.so.2" -lgcc 2>"$work/fetched"
}

# Those that this machine has not, from packages of Debian: the oldest and the newest ones, and one that is too new.
t_stacks_debian()
{
	local release version python=() stacks_libcuda=
	while read -r release version; do
		debian_python "$release" "$version" || { skip "Python $version" "$(tail -n 1 "$work/fetched")"; continue; }
		if [ "$release" = bullseye ] && ! stacks_old_libcuda $release $version; then
			skip "Python $version" "$(tail -n 1 "$work/fetched")"
			continue
		fi
		stacks_right "debian-$version" "Python $version of $release" "${python[@]}"
		stacks_libcuda=
		is "$("$cudatrace" export "$work/debian-$version" | jq -rs '[.[] | select(.name == "sample" and .stack) | .stack[][2]] | index("<module>") != null')" true \
			"Python $version of $release: it is sampled, too"
	done <<-EOF
	bullseye 3.9
	trixie 3.13
	sid 3.14
	EOF
	debian_python sid 3.15 || { skip "a Python that is too new" "$(tail -n 1 "$work/fetched")"; return; }
	stacked debian-new "${python[@]}" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" wait
	is $? 0 "a program whose Python is too new is recorded"
	is "$(jq -s '[.[] | select(.stack)] | length' "$work/debian-new.jsonl")" 0 "... without stacks"
	"$cudatrace" report lines "$work/debian-new" 2>&1 | grep -q 'Stacks of this Python were not recorded: 3.15.*: no table for this version'
	ok $? "... and a report says so"
}

# Free threading: no package has it, tests/record/python builds one.
t_stacks_free_threaded()
{
	local root python PATH=$PATH
	root=$(tests/record/python --built trixie 3.13t 2>/dev/null) && PATH=$PATH:$root/bin
	for python in python3.13t python3.14t; do
		[ "$("$python" -c 'import ctypes, sys; print(sys._is_gil_enabled())' 2>/dev/null)" = False ] ||
			{ skip "$python, free threading" "there is none; tests/record/python trixie 3.13t builds one, CUDATRACE_TEST_PYTHON=PATH names one"; continue; }
		stacks_right "$python" "$python, free threading" "$python"
		stacked "sampled-$python" "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep wait
		is "$(jq -rs '[.[] | select(.name == "sample" and .stack) | .stack[0][2]] | index("compute") != null and index("sleeper") != null' \
			"$work/sampled-$python.jsonl")" true "$python, free threading: it is sampled, too"
	done
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

	"$cudatrace" report --format json lines "$work/stacks-held" >"$work/lines.json" 2>/dev/null
	is "$(jq '[.. | objects | select(.Function? == "sync") | ."Self Calls"] | add' "$work/lines.json")" \
		"$(jq -s '[.[] | select(.stack and .phase == "E" and .stack[0][2] == "sync")] | length' "$work/stacks-held.jsonl")" \
		"report lines counts the calls of a line"
	is "$(jq '[.. | objects | select(.Function? == "main") | ."Total Calls"] | add' "$work/lines.json")" \
		"$(jq -s '[.[] | select(.stack and .phase == "E" and ([.stack[][2]] | index("main")))] | length' "$work/stacks-held.jsonl")" \
		"and those that are made further inside, once a stack"
	is "$("$cudatrace" report --format csv stacks "$work/stacks-held" | awk -F, 'NR > 1 { n += $4 } END { print n }')" \
		"$(jq -s '[.[] | select(.stack and .phase == "E")] | length' "$work/stacks-held.jsonl")" "report stacks has each call once"
	"$cudatrace" report --from start --by line --format csv "$work/stacks-held" | grep -q 'sync (.*/tests/record/stacks.py:[0-9]*)'
	ok $? "report --by line"
	"$cudatrace" export --format folded "$work/stacks-held" | grep -q '^[^;]*;[^;]*;<module> ([^;]*stacks.py:[0-9]*);main ([^;]*);.*;sync (.*stacks.py:[0-9]*);cuCtxSynchronize [0-9]*$'
	ok $? "a flame graph has the lines of the program around its calls"
	"$cudatrace" explain --call "$(jq -s 'map(select(.stack and .phase == "E" and .stack[0][2] == "sync"))[0].op_id' "$work/stacks-held.jsonl")" "$work/stacks-held" >"$work/explained"
	grep -A 1 '^called from$' "$work/explained" | grep -q '^  sync (.*stacks.py:[0-9]*)$'
	ok $? "explain --call says from where it was called" || cat "$work/explained"
	! grep -q '"name":"stack"' "$work/stacks-held.jsonl"
	ok $? "a stack is part of its call, and no event"
}

# A program that has several interpreters: the second one's lines, below them those that run it; of 3.9 these alone.
t_stacks_interpreters()
{
	local python version try inner any=
	while read -r python version; do
		any=1 inner=spin
		[ "$version" != 3.9 ] || inner=spin_from
		for try in 1 2 4 8; do
			CUDATRACE_TEST_SAMPLE=--sample=1000 stacked "interpreters-$version" "$python" tests/record/stacks_interpreters.py \
				"$PWD/build/tests/sim/libcuda.so.1" "$work/expected-interpreters" $try || break
			# Of a busy machine's program there may be few samples.
			jq -rs --arg inner $inner '[.[] | select(.name == "sample" and .stack and .stack[0][2] == $inner) | [.stack[][2]]] | unique | tojson' \
				"$work/interpreters-$version.jsonl" >"$work/interpreters.samples"
			! grep -qxF '[]' "$work/interpreters.samples" || continue
			break
		done
		is "$?,$(wc -l <"$work/expected-interpreters")" 0,120 "Python $version: several interpreters are recorded" || tail -n 3 "$work/interpreters-$version.err"
		if [ "$version" = 3.9 ]; then
			# Which of them runs it does not say.
			sed -i 's/\[\[.*"<module>"\], \(\[[0-9]*, "called"\]\)/[\1/' "$work/expected-interpreters"
		fi
		diff <(sed 's/, /,/g; s/,\(\[\[\)/ \1/' "$work/expected-interpreters" | sort) \
			<(jq -r 'select(.stack and .phase == "E" and .name == "cuCtxSynchronize") | "\(.tid) \([.stack[] | .[1:]] | tojson)"' \
				"$work/interpreters-$version.jsonl" | sort) >"$work/interpreters.diff"
		ok $? "... calls have the lines of both, in each thread" || head -n 4 "$work/interpreters.diff"
		if [ "$version" = 3.9 ]; then
			is "$(cat "$work/interpreters.samples")" '[["spin_from","<module>"]]' "... and samples those of the first one"
		else
			is "$(cat "$work/interpreters.samples")" '[["spin","<module>","spin_from","<module>"]]' "... and samples, too"
		fi
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "several interpreters" "no python3 with ctypes"
}

# Python in a program of C, which has two interpreters in one thread and calls without any, too.
t_stacks_embedded()
{
	local python version any=
	gcc -O2 -g -o "$work/embedding" tests/record/embedded.c -ldl
	while read -r python version; do
		stacks_embedded "$python" "$version" && any=1
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "stacks of an embedded Python" "no libpython3.N.so.1.0"
}

stacks_embedded()
{
	local python=$1 version=$2 library
	library=$("$python" -c 'import sys, sysconfig; print(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"), sep="/")')
	case $library in
	*.so.*) [ -f "$library" ] || return ;;
	*) return 1 ;;
	esac
	CUDATRACE_TEST_SAMPLE=--sample=0 PYTHONHOME=$("$python" -c 'import sys; print(sys.prefix)') \
		stacked embedded "$work/embedding" "$library" "$PWD/build/tests/sim/libcuda.so.1"
	is $? 0 "Python $version: a program in which it is embedded is recorded" || tail -n 3 "$work/embedded.err"
	jq -c 'select(.stack and .phase == "E" and .name == "cuCtxSynchronize") | [.stack[] | .[1:]]' "$work/embedded.jsonl" >"$work/embedded.stacks"
	is "$(grep -cxF '[[7,"interpreter_0"],[1,"<module>"]]' "$work/embedded.stacks")" 10 "calls of its first interpreter have their lines"
	is "$(jq -c 'select(.[0][1] == "outside") | [.[] | .[1]] | index("main") != null and index("<module>") == null' "$work/embedded.stacks" | sort | uniq -c | tr -s ' ')" \
		" 21 true" "calls between them have frames of compiled code"
	is "$(wc -l <"$work/embedded.stacks")" 41 "... all of them"
	if [ "$version" = 3.9 ]; then
		is "$(grep -v interpreter_0 "$work/embedded.stacks" | grep -v '"outside"' | grep -vc '"main"')" 0 \
			"those of its second one have no lines of another: frames of compiled code"
		return
	fi
	is "$(grep -cxF '[[7,"interpreter_1"],[1,"<module>"]]' "$work/embedded.stacks")" 10 "those of its second one have theirs"
}

t_stacks_none()
{
	stacked stacks-none "$inference" --iterations 5
	is $? 0 "a program without Python is recorded with --stacks"
	is "$(jq -rs '[.[] | select(.stack and .phase == "E" and .op == "launch") | [.stack[][2]] | index("main") != null] | unique | tojson' "$work/stacks-none.jsonl")" \
		"[true]" "its launches have frames of compiled code, which names main()"
	"$cudatrace" report lines "$work/trace-inference" 2>&1 | grep -q 'No stacks were recorded: cudatrace record --stacks'
	ok $? "as it says how stacks are recorded"
	"$cudatrace" record --stacks=cobol -o "$work/cobol" -- true 2>&1 | grep -q 'give python, native or all'
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
	CUDATRACE_TEST_SAMPLE=--sample=0 stacked stacks-explain "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep leak wait
	"$cudatrace" explain --format json "$work/stacks-explain" >"$work/explain.json"
	is "$(jq -r '.findings[] | select(.Rule == "memory-growth") | .Lines' "$work/explain.json")" \
		"100 % stacks_lines.py:$(stacks_line 'ctypes.byref(block)') (leaker)" "explain names the line of a leak"
	is "$(jq -r '.findings[] | select(.Rule == "application") | .Lines | split(" ")[2:4] | join(" ")' "$work/explain.json")" \
		"before stacks_lines.py:$(stacks_line 'cuda.cuMemAlloc_v2(ctypes.byref(block)')" "and of the application's time, at the call that follows"
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

# The three lines that explain names of a rule's finding.
stacks_found()
{
	jq -r --arg rule "$1" '.findings[] | select(.Rule == $rule) | .Lines' "$2"
}

# Threads that are sampled from outside: where the time between calls goes, and for what they wait.
t_stacks_sampled()
{
	local python version last= n
	while read -r python version; do
		last=$version
		stacked "sampled-$version" "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep lock file wait
		is $? 0 "Python $version: recorded with samples"
		for n in compute:running sleeper:sleep locked:lock reader:file; do
			# It may also wait for a CPU, which is running, for a page of its memory, which is a file, and for another thread's lock.
			is "$(jq -rs --arg f "${n%:*}" --arg state "${n#*:}" '[.[] | select(.name == "sample" and .stack and .stack[0][2] == $f) | .state] | unique |
				index($state) != null and . - ["running", "lock", "file", $state] == []' "$work/sampled-$version.jsonl")" true \
				"Python $version: samples of ${n%:*}() say ${n#*:}"
		done
		# What a frame may be executing, as the source has it.
		is "$(jq -rs '[.[] | select(.name == "sample" and .stack) | .stack[] | select(.[0] | endswith("/stacks_lines.py")) | "\(.[1]) \(.[2])"] | unique[]' \
			"$work/sampled-$version.jsonl" | awk 'NR == FNR { if (/^def /) { f = $2; sub(/\(.*/, "", f) } else if (/^[^ ]/) f = "<module>"; of[NR] = f; next }
			of[$1] != $2' tests/record/stacks_lines.py - | head -n 3)" "" "Python $version: each sampled line is one of its function"
	done < <(stacks_pythons)
	[ -n "$last" ] || { skip "samples of Python" "no python3 with ctypes"; return; }
	version=$last
	"$cudatrace" explain --format json "$work/sampled-$version" >"$work/sampled.json"
	stacks_found application "$work/sampled.json" | grep -q "stacks_lines.py:$(stacks_line 'time.sleep(0.02)') (sleeper)"
	ok $? "explain names the line that sleeps" || stacks_found application "$work/sampled.json"
	stacks_found application "$work/sampled.json" | grep -q "(reader)"
	ok $? "and the one that waits for a file"
	"$cudatrace" report lines --format json "$work/sampled-$version" >"$work/sampled.lines"
	is "$(jq '[.. | objects | select(.Function? == "locked")][0] | ."Waiting (%)" > 50' "$work/sampled.lines")" true "report lines says that a lock waits"
	COLUMNS=300 "$cudatrace" report lines "$work/sampled-$version" 2>&1 | tr -s ' \n' ' ' | grep -q 'is divided by [1-9][0-9,]* samples\. +- is two standard errors'
	ok $? "and how far it may be from the truth"
	"$cudatrace" diff --format json "$work/sampled-$version" "$work/sampled-$version" >"$work/sampled.diff" 2>/dev/null
	is "$(jq '[.. | objects | select(.Name? // "" | endswith("(sleeper)")) | ."Calls A" == 0 and ."Time A (ns)" > 1000000] | any' "$work/sampled.diff")" true \
		"diff: a line that calls nothing has the time that samples show" || jq -c '.diff_lines' "$work/sampled.diff"
	is "$(find "$work/sampled-$version" -name '.sample-*')" "" "nothing of the sampler stays in the trace"
	is "$(jq -s '[.[] | select(.name == "sample")] | length > 50' "$work/sampled-$version.jsonl")" true "samples are records of the trace"
	"$cudatrace" report threads iterations "$work/sampled-$version" >"$work/with" 2>&1
	rm "$work/sampled-$version"/s-*
	"$cudatrace" report threads iterations "$work/sampled-$version" >"$work/without" 2>&1
	is "$(diff "$work/with" "$work/without")" "" "reports that have no use for samples say the same without them"
}

# stacks_chained NAME: of the samples of stacks_chains.py: how many have a stack, and how many one that never was: functions of
# both colours, a colour with gaps, or no main().
stacks_chained()
{
	jq -rs '[.[] | select(.name == "sample" and .stack) | [.stack[][2]] | select(index("main") or any(startswith("red_") or startswith("blue_") or . == "coming"))] |
		def chain($color): map(select(startswith($color)) | ltrimstr($color) | tonumber) | . as $c | length == 0 or $c == [range($c[0]; 61)];
		[length, (map(select((index("main") and chain("red_") and chain("blue_") and ((any(startswith("red_")) and any(startswith("blue_"))) | not)) | not)) |
			length)] | map(tostring) | join(" ")' "$work/$1.jsonl"
}

# Stacks that change while they are read: their frames are of one moment.
t_stacks_moment()
{
	local python version try samples wrong status any=
	while read -r python version; do
		any=1
		for try in 2 4 8 16; do
			CUDATRACE_TEST_SAMPLE=--sample=1000 stacked "chains-$version" "$python" tests/record/stacks_chains.py "$PWD/build/tests/sim/libcuda.so.1" $try
			status=$?
			read -r samples wrong < <(stacks_chained "chains-$version")
			[ "$samples" -lt 300 ] || break
		done
		is $status 0 "Python $version: a program whose stack changes all the time is recorded" || tail -n 3 "$work/chains-$version.err"
		# One that is back after the recorder was interrupted may be taken for one that never left.
		is "$((samples >= 300)) $((wrong * 200 <= samples))" "1 1" "... each of its samples has a stack that was there: $wrong of $samples have not"
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "stacks that change while they are read" "no python3 with ctypes"
}

# What a thread does after its last call is its own time: it takes none from the lines before.
t_stacks_tail()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "${version:-}" ] || { skip "samples after the last call" "no python3 with ctypes"; return; }
	stacked stacks-tail "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" sleep wait end
	# 30 times 20 ms, of which a sampler that gets no processor may miss some; then 3 s.
	is "$("$cudatrace" report lines --format json "$work/stacks-tail" 2>/dev/null | jq -c '[.. | objects | select(.Function?)] |
		map({ key: .Function, value: .["Application (ns)"] }) | from_entries | [.sleeper > 300000000, .ending > 1000000000]')" "[true,true]" \
		"the lines before the last call have their whole time, and so has what follows" ||
		"$cudatrace" report lines "$work/stacks-tail"
}

# What else a thread may wait for, each by its name.
t_stacks_waits()
{
	local python version n try
	while read -r python version; do
		# A busy machine may leave the recorder too few samples.
		for try in 10 20 40 80; do
			ROUNDS=$try CUDATRACE_TEST_SAMPLE=--sample=500 stacked "waits-$version" "$python" tests/record/stacks_waits.py "$PWD/build/tests/sim/libcuda.so.1" || break
			[ "$(jq -rs '[.[] | select(.name == "sample") | .state] | unique | . - (. - ["socket", "poll", "child", "pipe"]) | length' \
				"$work/waits-$version.jsonl")" != 4 ] || break
		done
		is "$?" 0 "Python $version: a program that waits is recorded" || tail -n 3 "$work/waits-$version.err"
		for n in receiver:socket limited:socket poller:poll event_loop:poll parent_wait:child piped_read:pipe; do
			# The function, or what it calls; it also runs, and waits for the interpreter's lock.
			jq -rs --arg f "${n%:*}" '[.[] | select(.name == "sample" and .stack and ([.stack[][2]] | index($f))) | .state] | group_by(.) |
				map({ key: .[0], value: length }) | from_entries | tojson' "$work/waits-$version.jsonl" >"$work/waits.states"
			is "$(jq -r --arg state "${n#*:}" 'with_entries(select(.key | IN("running", "lock") | not)) | to_entries | max_by(.value) | .key' "$work/waits.states")" \
				"${n#*:}" "Python $version: ${n%:*}() waits for ${n#*:}: $(cat "$work/waits.states")"
		done
	done < <(stacks_pythons)
	[ -n "$version$n" ] || { skip "what threads wait for" "no python3 with ctypes"; return; }
}

# More threads than the recorder may open files: each is sampled, and what it waits for is known.
t_stacks_many()
{
	local python version try
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "samples of many threads" "no python3 with ctypes"; return; }
	for try in 20 40 80 160; do
		(ulimit -n 200 && stacked many "$python" tests/record/stacks_many.py "$PWD/build/tests/sim/libcuda.so.1" 180 $try)
		is $? 0 "a program with 180 threads is recorded, with 200 files" || tail -n 3 "$work/many.err"
		[ "$(jq -rs '[.[] | select(.name == "sample") | .tid] | unique | length' "$work/many.jsonl")" -lt 180 ] || break
	done
	is "$(jq -rs '[.[] | select(.name == "sample") | .tid] | unique | length >= 180' "$work/many.jsonl")" true "each of its threads is sampled"
	is "$(jq -rs '[.[] | select(.name == "sample" and .state == "unknown")] | length' "$work/many.jsonl")" 0 "and it is known what each does"
	# More than its page has room for, one after another.
	for try in 1 2 4 8; do
		stacked waves "$python" tests/record/stacks_many.py "$PWD/build/tests/sim/libcuda.so.1" 100 $((2 * try)) 13
		[ "$(jq -rs '[.[] | select(.name == "sample") | .tid] | unique | length' "$work/waves.jsonl")" -lt 1200 ] || break
	done
	is "$(jq -rs '[.[] | select(.name == "sample") | .tid] | unique | length >= 1200' "$work/waves.jsonl")" true "of 1,300 threads that come and go each is sampled"
	is "$(grep -c 'were not sampled' "$work/waves.err")" 0 "... and none is said to be missing"
}

# startup_divided: what the thread did before its first call, as explain divides it in $work/startup.found.
startup_divided()
{
	grep -Eq 'libcuda: [0-9]+ % imports \([0-9]+ % slow[,)].*, [0-9]+ % waiting for files, [0-9]+ % compilation' "$work/startup.found"
}

# The time before the first call, by what the program's lines did.
t_stacks_startup()
{
	local python version longer
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines of the startup" "no python3 with ctypes"; return; }
	mkdir -p "$work/site-packages/slow" "$work/site-packages/triton/compiler"
	printf '%s\n' 'import os, time' 'time.sleep(0.5 * int(os.environ["LONGER"]))' >"$work/site-packages/slow/__init__.py"
	printf '%s\n' 'import os, time' 'def build():' '    time.sleep(0.2 * int(os.environ["LONGER"]))' >"$work/site-packages/triton/compiler/__init__.py"
	printf '%s\n' 'import sys' 'import slow' 'import os, threading, time, triton.compiler' 'triton.compiler.build()' \
		'fifo = sys.argv[0] + ".fifo"' 'os.mkfifo(fifo)' 'def late():' '    time.sleep(0.3 * int(os.environ["LONGER"]))' '    open(fifo, "wb").close()' \
		'threading.Thread(target=late).start()' 'open(fifo, "rb").close()' 'os.unlink(fifo)' \
		'sys.argv[2:] = ["wait"]' 'exec(open("tests/record/stacks_lines.py").read())' >"$work/startup.py"
	# On a busy machine what only runs takes longer, and the recorder looks less often.
	for longer in 1 2 4 8; do
		PYTHONPATH=$work/site-packages ROUNDS=5 LONGER=$longer stacked startup "$python" "$work/startup.py" "$PWD/build/tests/sim/libcuda.so.1"
		"$cudatrace" explain --format json "$work/startup" >"$work/startup.json"
		jq -r '.findings[] | select(.Rule == "startup-application") | .Finding' "$work/startup.json" >"$work/startup.found"
		! startup_divided || break
	done
	stacks_found startup-application "$work/startup.json" | grep -q 'startup.py:2 (<module>) in slow sleeping'
	ok $? "explain names the import that sleeps, and its package" || stacks_found startup-application "$work/startup.json"
	grep -q 'by samples .*% sleeping' "$work/startup.found"
	ok $? "and what the thread did before the first call"
	startup_divided
	ok $? "and divides it into imports by package, files and compilation" || cat "$work/startup.found"
}

# A child that calls CUDA before its parent does: the parent is the command that was recorded, whose startup began with the trace.
t_stacks_startup_forked()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "the startup of a child" "no python3 with ctypes"; return; }
	printf '%s\n' 'import ctypes, os, time' 'time.sleep(0.3)' 'def call():' "    cuda, context = ctypes.CDLL('$PWD/build/tests/sim/libcuda.so.1'), ctypes.c_void_p()" \
		'    cuda.cuInit(0)' '    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)' '    cuda.cuCtxSetCurrent(context)' '    cuda.cuCtxSynchronize()' \
		'pid = os.fork()' 'if not pid:' '    call()' '    os._exit(0)' 'os.waitpid(pid, 0)' 'time.sleep(0.1)' 'call()' >"$work/forked.py"
	stacked forked "$python" "$work/forked.py"
	is $? 0 "a program whose child calls CUDA first is recorded" || tail -n 3 "$work/forked.err"
	# Its parent's imports and first sleep are not the child's, whose own may last on a busy machine.
	is "$("$cudatrace" report --format json stages "$work/forked" | jq -c '[.stages[] | select(.Stage == "startup")] |
			map(."Start (ns)" as $start | [$start == 0, if $start == 0 then ."Duration (ns)" >= 400000000 else $start >= 300000000 end]) | sort')" \
		'[[false,true],[true,true]]' \
		"... and only the parent's startup began with the trace" || "$cudatrace" report stages "$work/forked"
}

# A program that the recorded one starts (a rank) has its startup from when it is sampled, and not from its first call.
t_stacks_startup_started()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "the startup of a program that another one starts" "no python3 with ctypes"; return; }
	printf '%s\n' 'import ctypes, time' 'time.sleep(1)' "cuda, context = ctypes.CDLL('$PWD/build/tests/sim/libcuda.so.1'), ctypes.c_void_p()" \
		'cuda.cuInit(0)' 'cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)' 'cuda.cuCtxSetCurrent(context)' 'cuda.cuCtxSynchronize()' >"$work/started.py"
	# shellcheck disable=SC2016
	stacked started sh -c '"$1" "$2"; exit $?' started "$python" "$work/started.py"
	is $? 0 "a program that a shell starts is recorded" || tail -n 3 "$work/started.err"
	is "$("$cudatrace" report --format json stages "$work/started" | jq -c '[.stages[] | select(.Stage == "startup") | ."Duration (ns)" >= 700000000]')" '[true]' \
		"... and the second before its first call is its startup" || "$cudatrace" report stages "$work/started"
	"$cudatrace" explain "$work/started" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'The program runs for [0-9.]* m*s before its first call to libcuda: .*lines: [0-9]* % started.py:2 '
	ok $? "... of which explain names the line" || "$cudatrace" explain "$work/started"
}

t_stacks_sample_options()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "options of samples" "no python3 with ctypes"; return; }
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 -o "$work/unsampled" -- \
		"$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" sleep 2>/dev/null
	is "$(find "$work/unsampled" -name 's-*' -o -name '.sample-*')" "" "--sample=0: no samples"
	"$cudatrace" report lines "$work/unsampled" 2>&1 | tr -s ' \n' ' ' | grep -q 'counts for the line of the call that follows'
	ok $? "then report lines says how the application's time is divided"
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --sample=50 -o "$work/sample50" -- \
		"$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" sleep 2>/dev/null
	grep -q '^info samples 50$' "$work/sample50/.registry"
	ok $? "--sample=50 takes stacks, too"
	"$cudatrace" record --sample=many -o "$work/many" -- true 2>&1 | grep -q 'at most 10000'
	ok $? "a rate is a number"
	stacked unused "$python" -c 'import time; time.sleep(0.3)'
	is "$(find "$work/unused" -name 's-*' -o -name '.sample-*')" "" "a Python that never calls CUDA leaves no samples"
}

# An interpreter that is not what it seems: one line, no stacks, no samples, and the program does not notice.
t_stacks_refused()
{
	local how
	if ! gcc -rdynamic -o "$work/false_python" tests/record/false_python.c -ldl; then
		ok 1 "a false interpreter is built"
		return
	fi
	for how in nowhere unmapped circle type names; do
		stacked "refused-$how" "$work/false_python" "$PWD/build/tests/sim/libcuda.so.1" $how
		is $? 0 "an interpreter with false structures ($how): the program runs as ever"
		is "$(grep -c '"stack":\[' "$work/refused-$how.jsonl")" 0 "without stacks"
		is "$(find "$work/refused-$how" -name 's-*')" "" "and without samples"
		is "$("$cudatrace" report lines "$work/refused-$how" 2>&1 | grep -c 'Stacks of this Python were not recorded: 3.11.7: ')" 1 "a line says why"
	done
}

# Where the program's memory may not be read, stacks at calls come all the same.
t_stacks_unreadable()
{
	local python version who=()
	read -r python version < <(stacks_pythons)
	# To root everything is readable.
	[ "$(id -u)" != 0 ] || who=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	mkdir -p "$work/anybody"
	chmod 777 "$work/anybody"
	if [ -z "$python" ] || ! "${who[@]}" "$python" -c 'import ctypes' 2>/dev/null || ! "${who[@]}" test -r "$PWD/build/libcudatrace.so" -a -w "$work/anybody"; then
		skip "a program whose memory can't be read" "no python3 with ctypes, or no setpriv, or build/ is not for everybody"
		return
	fi
	gcc -shared -fPIC -o "$work/undumpable.so" tests/record/undumpable.c
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 LD_PRELOAD=$work/undumpable.so "${who[@]}" "$cudatrace" record -q -f --no-module --stacks \
		-o "$work/anybody/trace" -- "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep wait 2>"$work/unreadable.err"
	is $? 0 "a program whose memory can't be read is recorded"
	is "$(grep -c 'threads were not sampled: .*ptrace_scope' "$work/unreadable.err")" 1 "one line says that it is not sampled" || cat "$work/unreadable.err"
	"$cudatrace" export "$work/anybody/trace" >"$work/unreadable.jsonl" 2>/dev/null
	is "$(jq -rs '[.[] | select(.stack and .phase == "E") | .stack[0][2]] | unique | join(",")' "$work/unreadable.jsonl")" "<module>,launch,waiter" \
		"its calls have their stacks"
	"$cudatrace" report lines "$work/anybody/trace" 2>&1 | tr -s ' \n' ' ' | grep -q 'could not sample the program. Time of the application'
	ok $? "report lines says what that means"
}

t_stacks_killed()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "a program that is killed while it is sampled" "no python3 with ctypes"; return; }
	stacked sampled-killed "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy wait die
	is $? 137 "a program is killed while it is sampled"
	is "$(jq -s '[.[] | select(.name == "sample")] | length > 0' "$work/sampled-killed.jsonl")" true "its samples are there"
	is "$(find "$work/sampled-killed" -name '.sample-*')" "" "and nothing else stays"
	# What a recorder leaves that is killed itself.
	: >"$work/sampled-killed/.sample-4711"
	stacked sampled-killed "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" wait
	is $? 0 "record -f replaces the trace of a recorder that was killed" || tail -n 1 "$work/sampled-killed.err"
}

# stacks_perfetto NAME: in Perfetto's format each call and each sample has the stack that JSON Lines have.
stacks_perfetto()
{
	command -v protoc >/dev/null && command -v gawk >/dev/null || { skip "stacks in Perfetto" "apt-get install protobuf-compiler gawk"; return; }
	"$cudatrace" export --format perfetto -f -o "$work/$1.pftrace" "$work/$1"
	protoc --decode perfetto.protos.Trace -I tests/export tests/export/perfetto.proto <"$work/$1.pftrace" |
		gawk -v show=cuCtxSynchronize -f tests/export/perfetto.awk >"$work/$1.rows"
	is "$(grep -c '^error' "$work/$1.rows")" 0 "Perfetto: a viewer finds nothing wrong" || grep '^error' "$work/$1.rows" | sort | uniq -c | head -n 5
	is "$(awk -F '\t' '$1 == "from" { print $3, $4 }' "$work/$1.rows" | sort)" \
		"$(jq -r 'select(.stack and .phase == "E" and .name == "cuCtxSynchronize") | "\(.op_id) \([.stack | reverse[] | "\(.[2]):\(.[1]):\(.[0])"] | join(";"))"' "$work/$1.jsonl" | sort)" \
		"Perfetto: a call has its stack"
	is "$(awk -F '\t' '$1 == "sample" { print $3, $5 }' "$work/$1.rows" | sort)" \
		"$(jq -r 'select(.stack and .name == "sample") | "\(.tid) \([.stack | reverse[] | "\(.[2]):\(.[1]):\(.[0])"] | join(";"))"' "$work/$1.jsonl" | sort)" \
		"Perfetto: and so has each sample"
}

# stacks_speedscope NAME: what speedscope makes of folded stacks, by function: with what it calls, and itself.
stacks_speedscope()
{
	local why
	if ! why=$(html_tools browser) || ! html_tools browser >/dev/null; then
		skip "folded stacks in speedscope: $why"
		return
	fi
	"$cudatrace" export --weight calls -f -o "$work/calls.folded" "$work/$1"
	node tests/export/browser/speedscope.js "$work/calls.folded" "$work" >"$work/speedscope" 2>"$work/speedscope.err"
	is "$(LC_ALL=C sort "$work/speedscope")" "$(awk '{ n = $NF; sub(/ [0-9]+$/, ""); count = split($0, f, ";"); split("", seen)
		for (i = 1; i <= count; i++) if (!seen[f[i]]++) total[f[i]] += n
		self[f[count]] += n } END { for (one in total) print one "\t" total[one] "\t" self[one] + 0 }' "$work/calls.folded" | LC_ALL=C sort)" \
		"speedscope reads folded stacks, and adds them up" || head -n 3 "$work/speedscope.err"
	is "$(grep -c '^leaker (.*stacks_lines.py:[0-9]*)	30	30$' "$work/speedscope")" 1 "... with the calls of each line"
}

# Where lines go: folded by weight, SQLite, diff.
t_stacks_exports()
{
	local python version
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "exports of stacks" "no python3 with ctypes"; return; }
	stacked exports-a "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy leak wait
	ROUNDS=60 stacked exports-b "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy leak wait
	is "$("$cudatrace" export --weight calls "$work/exports-a" | awk '{ n += $NF } END { print n }')" \
		"$(jq -s '[.[] | select(.phase == "E" and (.type == "runtime" or .name[:2] == "cu"))] | length' "$work/exports-a.jsonl")" \
		"folded by calls has each call"
	is "$("$cudatrace" export --weight held "$work/exports-a" | sed 's/.*;//' | LC_ALL=C sort)" \
		"$(printf '%s\n' "leaker ($PWD/tests/record/stacks_lines.py:$(stacks_line 'ctypes.byref(block)')) $((30 << 20))" \
		"<module> ($PWD/tests/record/stacks_lines.py:$(stacks_line 'ctypes.byref(memory)')) 4096" | LC_ALL=C sort)" "and by memory that is held"
	"$cudatrace" export --weight samples "$work/exports-a" | grep -q ';compute ([^;]*) [0-9]*$'
	ok $? "and by samples"
	"$cudatrace" export --weight wallet "$work/exports-a" 2>&1 | grep -q "no 'wallet'"
	ok $? "of other weights there are none"
	stacks_perfetto exports-a
	stacks_speedscope exports-a
	"$cudatrace" diff --format json "$work/exports-a" "$work/exports-b" >"$work/diff.json"
	is "$(jq -c '[.. | objects | select(.Name? // "" | endswith("(leaker)")) | [."Calls A", ."Calls B"]][0]' "$work/diff.json")" "[30,60]" \
		"diff compares lines"
	"$cudatrace" diff "$work/exports-a" "$work/exports-b" | grep -q '^LINES OF THE PROGRAM'
	ok $? "in a table of their own"
	"$cudatrace" export -f -o "$work/stacks.sqlite" "$work/exports-a" 2>/dev/null || { skip "stacks in SQLite" "left out of this build"; return; }
	is "$(sqlite3 "$work/stacks.sqlite" "SELECT group_concat(function || ':' || n) FROM (SELECT function, count(*) AS n FROM CUDATRACE_STACKS JOIN
		CUDATRACE_FRAMES ON CUDATRACE_FRAMES.id = frame WHERE function <> '<module>' GROUP BY function ORDER BY function)")" \
		"launch:30,leaker:30,waiter:30" "SQLite has the stack of each call"
	is "$(sqlite3 "$work/stacks.sqlite" "SELECT count(*) FROM CUDATRACE_FRAMES AS f LEFT JOIN CUDATRACE_FRAMES AS p ON p.id = f.parentId
		WHERE f.parentId IS NOT NULL AND p.id IS NULL")" 0 "and all callers"
	is "$(sqlite3 "$work/stacks.sqlite" "SELECT count(*) FROM CUDATRACE_SAMPLES")" \
		"$(grep -c '"name":"sample"' "$work/exports-a.jsonl")" "and samples"
}

# The GPU's memory by the line that allocated it: at the moment at which most was held, and at the end.
t_stacks_memory()
{
	local python version width wanted='late 0 16 weights 32 32 scratch 64 0 <module> 96 48'
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "memory by line" "no python3 with ctypes"; return; }
	CUDATRACE_TEST_SAMPLE=--sample=0 stacked memory "$python" tests/record/stacks_memory.py "$PWD/build/tests/sim/libcuda.so.1"
	is $? 0 "a program whose lines allocate memory is recorded" || tail -n 3 "$work/memory.err"
	"$cudatrace" report --format json lines stacks "$work/memory" >"$work/memory.json" 2>/dev/null
	is "$(jq -r '[.. | objects | select(.Function? | IN("late", "weights", "scratch", "<module>")) |
			[.Function, ."Held at Most (B)" / 1048576, ."Held at End (B)" / 1048576]] | group_by(.[0]) |
			map([.[0][0], (map(.[1]) | add), (map(.[2]) | add)]) | sort_by(.[1]) | map(map(tostring) | join(" ")) | join(" ")' "$work/memory.json")" \
		"$wanted" "report lines has it: $wanted MiB"
	is "$(jq -c '[[.. | objects | select(.Stack?)][] | [."Held at Most (B)", ."Held at End (B)"]] | transpose | map(add / 1048576)' "$work/memory.json")" \
		'[96,48]' "report stacks has all of it once"
	is "$("$cudatrace" report --format json memory "$work/memory" 2>/dev/null | jq -c '[.. | objects | select(.Kind? == "gpu") | ."Peak (bytes)"] | add / 1048576')" 96 \
		"as much as the process held at most"
	is "$("$cudatrace" export --weight most "$work/memory" 2>/dev/null | awk '{ n += $NF } END { print n / 1048576 }')" 96 "folded stacks have it, too"
	# What explains a column stands below a table that has it, and not where it is too narrow for it.
	for width in 80 300; do
		COLUMNS=$width "$cudatrace" report lines "$work/memory" >"$work/memory.text" 2>/dev/null
		is "$(grep -o 'Held at most: memory of the GPU\|At the end: what of that' "$work/memory.text" | wc -l)" \
			"$(sed -n 's/.*held at most.*at the end.*/2/p; t; s/.*held at most.*/1/p' "$work/memory.text" | head -n 1 | grep . || echo 0)" \
			"$width columns: people are told what the columns are that they see"
	done
}

# parquet_docs WORDS DIR: the query of docs/fleet.md that has these words, of this directory.
parquet_docs()
{
	awk -v words="$1" '/^```sql$/ { on = 1; text = ""; next } /^```/ { if (on && index(text, words)) printf "%s", text; on = 0 }
		on { text = text $0 "\n" }' docs/fleet.md | sed "s,/srv/traces,$2,"
}

# parquet_calls FILE: of SQLite, each call and its lines, the innermost first.
parquet_calls()
{
	sqlite3 "$1" "WITH RECURSIVE below AS (
			SELECT record, 0 AS depth, f.* FROM CUDATRACE_STACKS JOIN CUDATRACE_FRAMES AS f ON f.id = frame
			UNION ALL SELECT record, depth + 1, f.* FROM below JOIN CUDATRACE_FRAMES AS f ON f.id = below.parentId)
		SELECT name, record, group_concat(function || ':' || line || ':' || file, ' < ') FROM (
			SELECT below.*, CUDATRACE_CLASSES.name FROM below JOIN CUDATRACE_RECORDS AS r ON r.id = record JOIN CUDATRACE_CLASSES ON CUDATRACE_CLASSES.id = classId
			ORDER BY record, depth) GROUP BY record ORDER BY record"
}

# The stacks of Parquet's records, as DuckDB joins them by the views of docs/fleet.md, against SQLite's: of two traces.
t_stacks_parquet()
{
	local python version p=$work/parquet-stacks views name
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "stacks in Parquet" "no python3 with ctypes"; return; }
	parquet_reader "stacks in Parquet" || return
	stacked parquet-lines "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 --gpu \
		-o "$work/parquet-graph" -- "$python" tests/record/stacks_graph.py "$PWD/build/tests/sim/libcuda.so.1" 2>/dev/null
	for name in lines graph; do
		"$cudatrace" export --format parquet -o "$p" "$work/parquet-$name" 2>/dev/null &&
			"$cudatrace" export -f -o "$work/parquet-$name.sqlite" "$work/parquet-$name" 2>/dev/null ||
			{ skip "stacks in Parquet" "left out of this build"; return; }
	done
	is "$(find "$p" -type f | sed 's,.*/,,; s,^[-0-9a-f]*,,' | sort | tr '\n' ' ')" ".frames .frames .parquet .parquet " \
		"a trace with stacks has a file of its frames"
	views="$(parquet_docs 'CREATE VIEW records' "$p") $(parquet_docs 'CREATE VIEW stacks' "$p")"
	for name in lines graph; do
		values "$views SELECT name, op_id, string_agg(function || ':' || line || ':' || file, ' < ' ORDER BY stacks.depth)
			FROM records JOIN stacks USING (trace, stack) WHERE name <> 'sample' AND trace = '$(uuid "$work/parquet-$name")'
			GROUP BY name, op_id ORDER BY op_id" >"$work/parquet.joined"
		diff "$work/parquet.joined" <(parquet_calls "$work/parquet-$name.sqlite") >"$work/parquet.diff" && [ -s "$work/parquet.joined" ]
		ok $? "$name: each call has the lines that SQLite says" || head -n 4 "$work/parquet.diff"
	done
	is "$(grep -c "^cuLaunchKernel|[0-9]*|forward:$(grep -n 'LaunchKernel(one, \*SHAPE, stream' tests/record/stacks_graph.py | cut -d : -f 1):[^<]* < <module>:" "$work/parquet.joined")" 6 \
		"each launch has its line, and its caller"
	is "$(values "$views SELECT coalesce(function, ''), count(*) FROM records LEFT JOIN frames ON frames.trace = records.trace AND frames.id = stack
			WHERE name = 'sample' GROUP BY 1 ORDER BY 1")" \
		"$(sqlite3 "$work/parquet-lines.sqlite" "SELECT coalesce(function, ''), count(*) FROM CUDATRACE_SAMPLES LEFT JOIN CUDATRACE_FRAMES AS f
			ON f.id = frame GROUP BY 1 ORDER BY 1")" "and each sample has its line"
	is "$(values "$views $(parquet_docs 'AS launches' "$p")" | sed -n 's/^[^|]*|[^|]*stacks_graph.py|[0-9]*|\([a-z]*|[0-9]*\)$/\1/p' | tr '\n' ' ')" \
		"checked|10 replay|10 forward|6 backward|1 " "launches by line"
	is "$(values "$views SELECT count(*) FROM records gpu JOIN records call ON call.trace = gpu.trace AND call.op_id = gpu.parent_op_id
			WHERE gpu.layer = 'gpu' AND gpu.op = 'exec' AND gpu.stack IS NULL AND call.stack IS NOT NULL")" \
		"$(values "$views SELECT count(*) FROM records WHERE layer = 'gpu' AND op = 'exec'")" "what the GPU did has the stack of its cause"
	sed -i '/^info stacks /d' "$work/parquet-graph/.registry"
	"$cudatrace" export --format parquet -o "$p" "$work/parquet-graph" 2>/dev/null
	is "$?,$(find "$p" -type f | sed 's,.*/,,; s,^[-0-9a-f]*,,' | sort | tr '\n' ' ')" "0,.frames .parquet .parquet " \
		"exported again without stacks it loses its file, and the other one keeps its own"
}

# Lines of libraries: folded for people, one by one where --module says so; the text of lines.
t_stacks_folded()
{
	local python version why
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines of libraries" "no python3 with ctypes"; return; }
	mkdir -p "$work/libs/site-packages/deep"
	printf '%s\n' 'def outer(f):' '    return inner(f)' 'def inner(f):' '    f()' >"$work/libs/site-packages/deep/__init__.py"
	printf '%s\n' 'import ctypes, sys, runpy' "sys.path.append('$work/libs/site-packages')" 'import deep' \
		"cuda = ctypes.CDLL('$PWD/build/tests/sim/libcuda.so.1')" 'context = ctypes.c_void_p()' 'cuda.cuInit(0)' \
		'cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)' 'cuda.cuCtxSetCurrent(context)' \
		'def step():' '    deep.outer(cuda.cuCtxSynchronize)' 'for i in range(20):' '    step()' >"$work/libs/program.py"
	touch -d '1 hour ago' "$work/libs/program.py" "$work/libs/site-packages/deep/__init__.py"
	CUDATRACE_TEST_SAMPLE=--sample=0 PYTHONPATH=$work/libs stacked folded "$python" -m program
	is $? 0 "a program whose library calls CUDA"
	"$cudatrace" report --format csv --module none lines "$work/folded" | grep -q ',program.py:10,step,deep,deep.outer(cuda.cuCtxSynchronize),'
	ok $? "lines of libraries count for the line that called them, with its text" || "$cudatrace" report --format csv --module none lines "$work/folded"
	! "$cudatrace" report lines "$work/folded" 2>&1 | grep -qE '__init__.py|runpy'
	ok $? "people see no lines of libraries"
	"$cudatrace" report lines "$work/folded" 2>&1 | tr -s ' \n' ' ' | grep -q -- '--module GLOB shows those of a library'
	ok $? "and are told how to see them"
	"$cudatrace" report --module 'd*p' lines "$work/folded" 2>&1 | grep -q '__init__.py:4 .*inner'
	ok $? "--module shows those of a library"
	! "$cudatrace" report --module 'd*p' lines "$work/folded" 2>&1 | grep -q 'runpy'
	ok $? "and of no other one"
	"$cudatrace" report --module '*' lines "$work/folded" 2>&1 | grep -q 'runpy'
	ok $? "or of all"
	"$cudatrace" report --format csv lines "$work/folded" | grep -q '__init__.py:4,inner,'
	ok $? "scripts get each line"
	is "$("$cudatrace" report --format csv --module none stacks "$work/folded" | sed -n '/deep/{s/.*,//p;q}' | sed 's/runpy: [0-9]* frames/runpy: N frames/')" \
		"in deep: 2 frames < program.py:10 (step) < program.py:12 (<module>) < in runpy: N frames" "report stacks counts frames of libraries"
	"$cudatrace" explain --call "$("$cudatrace" export "$work/folded" | jq -s 'map(select(.stack and .phase == "E" and .stack[0][2] == "inner"))[0].op_id')" \
		"$work/folded" | grep -A 4 '^called from$' | sed 's|(/.*/|(|' >"$work/folded.call"
	is "$(sed -n 2,4p "$work/folded.call")" "$(printf '%s\n' '  in deep: 2 frames' '  step (program.py:10)' '      deep.outer(cuda.cuCtxSynchronize)')" \
		"explain --call does, and has texts"
	if why=$(html_tools browser) && html_tools browser >/dev/null; then
		"$cudatrace" export --format html -f -o "$work/folded.html" "$work/folded" 2>/dev/null
		html_lines node tests/export/browser/lines.js "$work/folded.html" "(step)" deep
	else
		skip "lines in the page: $why"
	fi
	touch "$work/libs/program.py"
	! "$cudatrace" report lines "$work/folded" 2>&1 | grep -q 'deep.outer'
	ok $? "of a file that was changed since there is no text"
}

# attached_python NAME: stacks_lines.py without the library, as $pid, in its rounds
attached_python()
{
	ROUNDS=100000 CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "${@:2}" "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" \
		busy sleep wait >"$work/$1.out" 2>&1 &
	pid=$!
	wait_until grep -q libcuda "/proc/$pid/maps"
	sleep 0.5
}

attached_samples()
{
	"$cudatrace" export "$work/$1" 2>/dev/null | jq -rs '[.[] | select(.name == "sample" and .stack) | .stack[0][2]] | unique | join(" ")'
}

# A program that makes no call while it is attached to, as one that hangs.
t_stacks_quiet()
{
	local python version pid how
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "where a program hangs that is attached to" "no python3 with ctypes"; return; }
	# As PyTorch has one, a thread may look after the work of another one that hangs.
	for how in alone watched; do
		RANK=3 WORLD_SIZE=4 TORCHELASTIC_RUN_ID=x "$python" -c 'import ctypes, sys, threading, time
cuda = ctypes.CDLL(sys.argv[1])
cuda.cuInit(0)
def watch():
    while True:
        cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
        cuda.cuInit(0)
        time.sleep(0.02)
def wait_for_ever():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
if sys.argv[2] == "watched":
    threading.Thread(target=watch, daemon=True).start()
wait_for_ever()' "$PWD/build/tests/sim/libcuda.so.1" $how >"$work/quiet.out" 2>&1 &
		pid=$!
		wait_until grep -q libcuda "/proc/$pid/maps"
		sleep 0.5
		"$cudatrace" record -f -o "$work/quiet" --pid $pid --duration 1 --stacks >"$work/quiet.said" 2>&1
		is $? 0 "record --pid --stacks of a program that hangs, $how" || cat "$work/quiet.said"
		tr -s ' \n' ' ' <"$work/quiet.said" |
			grep -qE "rank 3 \(python[0-9.]* $pid\): its main thread made no call of CUDA in [0-9.]+ m?s: .*string>:12 \(wait_for_ever\), waiting for a lock or another thread \(100 %\), by [0-9]+ samples"
		ok $? "the summary says where it is" || cat "$work/quiet.said"
		COLUMNS=200 "$cudatrace" explain "$work/quiet" 2>&1 | tr -s ' \n' ' ' | grep -q 'VERDICT .*python.* Its main thread made no call of CUDA .*(wait_for_ever), waiting for a lock'
		ok $? "... and so does explain" || "$cudatrace" explain "$work/quiet"
		[ $how = watched ] || "$cudatrace" record -f -o "$work/quiet-without" --pid $pid --duration 0.3 >"$work/quiet.without" 2>&1
		kill -KILL $pid
		wait $pid 2>/dev/null
	done
	tr -s ' \n' ' ' <"$work/quiet.without" | grep -q 'the processes made none in that time. Where they are meanwhile, record --stacks says'
	ok $? "without stacks, how to find out" || cat "$work/quiet.without"
}

# Programs that already run, and that stand by.
t_stacks_attached()
{
	local python version pid i
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "samples of programs that run already" "no python3 with ctypes"; return; }
	attached_python attached env
	for i in 1 2; do
		"$cudatrace" record -q -f -o "$work/attached-$i" --pid $pid --duration 1 --stacks 2>"$work/attached-$i.said"
		is $? 0 "record --pid --stacks, time $i" || cat "$work/attached-$i.said"
		attached_samples attached-$i | grep -q 'compute.*sleeper'
		ok $? "... its threads are sampled" || attached_samples attached-$i
		is "$(find "$work/attached-$i" -name '.sample-*')" "" "... nothing of the sampler stays"
		"$cudatrace" report --format json lines "$work/attached-$i" >"$work/attached.json"
		is "$(jq '[.. | objects | select(.Function?) | ."Before CUDA (ns)"] | add' "$work/attached.json")" 0 "... and nothing of it is startup"
	done
	"$cudatrace" record -q -f -o "$work/attached-0" --pid $pid --duration 0.3 --stacks --sample=0 2>/dev/null
	is "$(attached_samples attached-0)" "" "--sample=0: no samples"
	is "$(grep -c 'attached-.*/.sample' "/proc/$pid/maps")" 1 "... one page of all of them stays mapped"
	kill -KILL $pid
	wait $pid 2>/dev/null
	attached_python stood env LD_PRELOAD="$PWD/build/libcudatrace.so" CUDATRACE_STANDBY=1
	"$cudatrace" record -q -f -o "$work/stood" --pid $pid --duration 1 --stacks 2>"$work/stood.said"
	attached_samples stood | grep -q 'compute.*sleeper'
	ok $? "a program that stood by is sampled" || { attached_samples stood; cat "$work/stood.said"; }
	kill -KILL $pid
	wait $pid 2>/dev/null
	ROUNDS=100 CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --duration 1 -o "$work/lasted" -- \
		"$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep wait 2>/dev/null
	attached_samples lasted | grep -q 'compute.*sleeper'
	ok $? "and one that is recorded for a while from its start" || attached_samples lasted
}

# Frames of compiled code: a program of C++ that says what is on its stack; exceptions, threads, coroutines, deep recursion.
t_stacks_native()
{
	local how python version
	if ! g++ -O2 -g -o "$work/native_stacks" tests/record/native_stacks.cc -ldl -pthread; then
		ok 1 "the program of C++ is built"
		return
	fi
	for how in python native; do
		CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks=$how -o "$work/native" -- \
			"$work/native_stacks" "$PWD/build/tests/sim/libcuda.so.1" >"$work/native.printed" 2>"$work/native.err"
		is $? 0 "a program of C++ is recorded with --stacks=$how" || cat "$work/native.err"
		"$cudatrace" export -f -o "$work/native.jsonl" "$work/native"
		python3 tests/record/native_check.py "$work/native.jsonl" "$work/native.printed" >"$work/check"
		ok $? "each call has the functions that were on the stack: $(tail -n 1 "$work/check")" || cat "$work/check"
	done
	! grep -q 'libcudatrace\|cuCtxSynchronize' <(jq -c 'select(.stack and .name == "cuCtxSynchronize") | .stack' "$work/native.jsonl")
	ok $? "neither the call itself nor the library is one of them"
	if ldconfig -p | grep -q 'libdw.so.1'; then
		"$cudatrace" report --format csv lines "$work/native" 2>/dev/null |
			grep -q ",native_stacks.cc:$(grep -n 'retain\|cuDevicePrimaryCtxRetain' tests/record/native_stacks.cc | head -n 1 | cut -d: -f 1),main,"
		ok $? "with its lines"
	else
		skip "lines of compiled code" "no libdw.so.1"
	fi
	"$cudatrace" export --weight calls "$work/native" 2>/dev/null | grep -q 'model::Layer::forward(int)'
	ok $? "names of C++ are readable"
	strip "$work/native_stacks"
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks -o "$work/stripped" -- \
		"$work/native_stacks" "$PWD/build/tests/sim/libcuda.so.1" >/dev/null 2>&1
	"$cudatrace" export "$work/stripped" 2>/dev/null | jq -c 'select(.stack and .name == "cuCtxSynchronize") | .stack' | grep -q '/native_stacks",0,"0x[0-9a-f]*"'
	ok $? "without symbols there are addresses in the file"
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "frames of both" "no python3 with ctypes"; return; }
	CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks=all -o "$work/both" -- \
		"$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" wait 2>/dev/null
	"$cudatrace" export "$work/both" 2>/dev/null | jq -c 'select(.stack and .phase == "E" and .name == "cuCtxSynchronize") | [.stack[] | .[0] | split("/") | last]' | sort -u >"$work/both.files"
	is "$(sed 's/"libffi[^"]*"/"libffi"/g; s/"_ctypes[^"]*"/"_ctypes"/g' "$work/both.files" | grep -c '^\["libffi",.*"_ctypes",.*"stacks_lines.py","stacks_lines.py","stacks_lines.py"\]$')" 1 \
		"--stacks=all: compiled code that Python called, then its lines" || cat "$work/both.files"
}

# The programs of examples/problems that a host holds up: the finding names the line of the problem.  Mended: what is not found
# any more; - where what the finding says depends on how busy the machine is.
t_stacks_problems()
{
	local name rule line mended of try
	ldconfig -p | grep -q 'libdw.so.1' || { skip "lines of problems" "no libdw.so.1"; return; }
	while read -r name rule line mended; do
		of=$work/lines-$name
		# On a busy machine other things than the problem may take the time of so short a run.
		for try in 1 2 3 4 5 6 7 8 9 10; do
			"$cudatrace" record -q -f --no-module --stacks --sample=0 -o "$of" -- "$PWD/build/examples/problems/$name" --iterations 20 >"$of.out" 2>"$of.err"
			"$cudatrace" explain --format json "$of" >"$of.json"
			! stacks_found "$rule" "$of.json" | grep -qE "^[0-9]+ % $line" || break
		done
		stacks_found "$rule" "$of.json" | grep -qE "^[0-9]+ % $line"
		ok $? "$name: $rule names the line (try $try): $(stacks_found "$rule" "$of.json")" || jq -c '.findings[] | [.Rule, .Lines]' "$of.json"
		[ "$mended" != - ] || continue
		"$cudatrace" record -q -f --no-module --stacks --sample=0 -o "$of" -- "$PWD/build/examples/problems/$name" --mended --iterations 20 >"$of.out" 2>"$of.err"
		"$cudatrace" explain --format json "$of" >"$of.json"
		is "$(jq -r --arg rules "$mended" '.findings[] | select(.Rule | IN($rules | split(",")[])) | [.Rule, .Lines // ""] | join(": ")' "$of.json")" "" \
			"... and of the mended program nothing ($mended)"
	done <<-'END'
		alloc_in_loop alloc-in-loop alloc_in_loop\.c:[0-9]+.\(main\) alloc-in-loop
		exact_repeats cuda-graph [a-z_.]+:[0-9]+.\(queue\) cuda-graph,sync-each-iteration
		host_bound cuda-graph [a-z_.]+:[0-9]+.\(queue\) cuda-graph,sync-each-iteration
		small_copies small-copies small_copies\.c:[0-9]+.\(main\) small-copies
		sync_each_step sync-each-iteration sync_each_step\.c:[0-9]+.\(main\) sync-each-iteration
		off_cpu application before.off_cpu\.c:[0-9]+.\(main\) -
		getters application before.[a-z_.]+:[0-9]+.\(main\) getters,sync-each-iteration
	END
}

# A CUDA graph: the lines that captured its kernels, each with the time of its own where nodes are recorded.
t_stacks_graphs()
{
	local python version why
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines of graphs" "no python3 with ctypes"; return; }
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 --gpu=nodes \
		-o "$work/graphs" -- "$python" tests/record/stacks_graph.py "$PWD/build/tests/sim/libcuda.so.1" 2>"$work/graphs.err"
	is $? 0 "a program with a CUDA graph is recorded" || cat "$work/graphs.err"
	"$cudatrace" report --format json graph_lines "$work/graphs" >"$work/graphs.json" 2>"$work/graphs.notes"
	is "$(jq -c '[.[] | [.Graph, ."Graph Launches", ."Captured Kernels", .Function]]' "$work/graphs.json")" '[[1,10,3,"forward"],[1,10,1,"backward"]]' \
		"report graph_lines has the lines that captured" || cat "$work/graphs.json"
	"$cudatrace" export "$work/graphs" >"$work/graphs.jsonl"
	is "$(jq '[.[] | ."GPU Time (ns)"] | add' "$work/graphs.json")" \
		"$(jq -s '[.[] | select(.layer == "gpu" and .op == "exec" and .phase == "E" and (.details.graph_node // 0) != 0) | .duration_us * 1000 | round] | add' "$work/graphs.jsonl")" \
		"and the time of the kernels on the GPU" || jq -c 'select(.layer == "gpu")' "$work/graphs.jsonl" | head -n 3
	# Schema 7 did not say of which graph an executable one was made: its records had a stream in this place.
	cp -r "$work/graphs" "$work/graphs-older"
	grep -aq '^class .* graph:x64,source:x64, cuGraphInstantiate' "$work/graphs-older/.registry" &&
		sed -i 's/ graph:x64,source:x64, / graph:x64,stream:x64, /' "$work/graphs-older/.registry"
	ok $? "(a trace as schema 7 had it)"
	is "$("$cudatrace" report --format json graph_lines "$work/graphs-older" 2>/dev/null)" "$(cat "$work/graphs.json")" "an older trace has the lines, too"
	# What was captured before the recording began is not known: here the call that begins it is another one.
	cp -r "$work/graphs" "$work/graphs-before"
	sed -i '/^class /s/cuStreamBeginCapture[_a-z0-9]*/cuStreamIsCapturing/g' "$work/graphs-before/.registry"
	is "$("$cudatrace" report graph_lines "$work/graphs-before" 2>/dev/null | grep -o '[0-9]* graph launches left out')$(grep -c 'left out' "$work/graphs.notes")" \
		"10 graph launches left out0" "launches of graphs that are not known are not left out without a word"
	"$cudatrace" report graph_lines "$work/graphs" | grep -q 'stacks_graph.py:[0-9]* .*forward '
	ok $? "people see it, too" || "$cudatrace" report graph_lines "$work/graphs"
	"$cudatrace" explain --format json --call "$(jq -s 'map(select(.name == "cuGraphLaunch" and .phase == "E"))[4].op_id' "$work/graphs.jsonl")" "$work/graphs" >"$work/graphs.call"
	is "$(jq -c '.call_gpu | map(.Captured)' "$work/graphs.call")" \
		"$(jq -nc --arg f "stacks_graph.py:$(grep -n 'LaunchKernel(one' tests/record/stacks_graph.py | head -n 1 | cut -d: -f1) (forward)" \
			--arg b "stacks_graph.py:$(grep -n 'LaunchKernel(two' tests/record/stacks_graph.py | head -n 1 | cut -d: -f1) (backward)" '[$f, $f, $f, $b]')" \
		"explain --call: each kernel of a replay has the line that captured it"
	"$cudatrace" explain --call "$(jq -s 'map(select(.name == "cuLaunchKernel" and .phase == "E"))[0].op_id' "$work/graphs.jsonl")" "$work/graphs" >"$work/launch.call"
	! grep -q 'made at' "$work/launch.call"
	ok $? "... and a launch that is no graph's has no such column"
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 --gpu=nodes \
		-o "$work/twice" -- "$python" tests/record/stacks_graph.py "$PWD/build/tests/sim/libcuda.so.1" twice 2>/dev/null
	is "$("$cudatrace" report --format json graph_lines "$work/twice" 2>/dev/null |
		jq -c '[.[] | [.Graph, ."Graph Launches", ."Captured Kernels", .Function, ."GPU Time (ns)"]] | sort')" \
		'[[1,1,1,"<module>",1000],[1,1,1,"<module>",3000],[1,1,1,"<module>",3000],[2,10,1,"backward",30000],[2,10,3,"forward",30000]]' \
		"of two graphs that are made at once each has its own lines"
	if why=$(html_tools browser) && html_tools browser >/dev/null; then
		"$cudatrace" export --format html -f -o "$work/graphs.html" "$work/graphs" 2>/dev/null
		html_lines node tests/export/browser/graphs.js "$work/graphs.html" backward
	else
		skip "lines of graphs in the page: $why"
	fi
	CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 -o "$work/graphs-host" -- "$python" tests/record/stacks_graph.py \
		"$PWD/build/tests/sim/libcuda.so.1" 2>/dev/null
	is "$("$cudatrace" report --format json graph_lines "$work/graphs-host" 2>/dev/null | jq -c '[.[] | [."Captured Kernels", ."GPU Time (ns)"]]')" '[[3,null],[1,null]]' \
		"without the GPU's records its time is not known"
}

# graph_nodes NAME OPTION... -- WAY...: recorded with stacks as $work/NAME; what the command says of its graphs, with the program's
graph_nodes()
{
	local name=$1 status
	local -a options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=0 "${options[@]}" \
		-o "$work/$name" -- "$python" tests/record/graph_nodes.py "$PWD/build/tests/sim/libcuda.so.1" "$work/$name.expected" "$@" 2>"$work/$name.err"
	status=$?
	"$cudatrace" explain --slowest 100 --name cuGraphLaunch -n 0 --format json "$work/$name" >"$work/$name.calls" 2>/dev/null
	"$cudatrace" report --format json -n 0 graph_lines "$work/$name" >"$work/$name.lines" 2>"$work/$name.notes"
	return $status
}

# CUDA graphs that are built by nodes: each kernel of a replay has the line that made its node.
t_stacks_graph_nodes()
{
	local python version why
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines of graphs that are built by nodes" "no python3 with ctypes"; return; }
	graph_nodes nodes --gpu=nodes --
	is $? 0 "a program that builds CUDA graphs by nodes is recorded" || tail -n 3 "$work/nodes.err"
	python3 tests/record/graph_nodes_check.py "$work/nodes.expected" "$work/nodes.calls" "$work/nodes.lines" >"$work/nodes.check"
	ok $? "each kernel of each replay has the line that made its node: $(tail -n 1 "$work/nodes.check")" || cat "$work/nodes.check"
	is "$(cut -d ' ' -f 1 "$work/nodes.expected" | sort -u | tr '\n' ' ')" "again capture child clone conditional fork moved nodes update " \
		"... of nodes, graphs inside, clones, updates, captures into a graph that has nodes, and of two streams"
	"$cudatrace" report graph_lines "$work/nodes" | grep -q 'graph_nodes.py:[0-9]* .*forward ' && ! grep -q 'GPU.s time' "$work/nodes.notes"
	ok $? "people see it, too" || "$cudatrace" report graph_lines "$work/nodes"
	graph_nodes nodes-drawn --gpu=nodes -- 3
	python3 tests/record/graph_nodes_check.py "$work/nodes-drawn.expected" "$work/nodes-drawn.calls" "$work/nodes-drawn.lines" >"$work/nodes.check"
	ok $? "... of graphs inside of graphs that were drawn: $(tail -n 1 "$work/nodes.check")" || cat "$work/nodes.check"
	CUPTISIM_BACKWARDS=1 graph_nodes nodes-flat --gpu=nodes -- moved
	python3 tests/record/graph_nodes_check.py --untold "$work/nodes-flat.expected" "$work/nodes-flat.calls" "$work/nodes-flat.lines" >"$work/nodes.check" &&
		grep -q 'not known of graphs where' "$work/nodes-flat.notes"
	ok $? "where numbers do not say which kernel is which node, no kernel has another one's line: $(tail -n 1 "$work/nodes.check")" ||
		cat "$work/nodes.check" "$work/nodes-flat.notes"
	graph_nodes nodes-host --
	python3 tests/record/graph_nodes_check.py --host "$work/nodes-host.expected" - "$work/nodes-host.lines" >"$work/nodes.check"
	ok $? "without the GPU's records each graph has its lines: $(tail -n 1 "$work/nodes.check")" || cat "$work/nodes.check"
	if why=$(html_tools browser) && html_tools browser >/dev/null; then
		graph_nodes nodes-one --gpu=nodes -- nodes
		"$cudatrace" export --format html -f -o "$work/nodes.html" "$work/nodes-one" 2>/dev/null
		html_lines node tests/export/browser/graphs.js "$work/nodes.html" backward
	else
		skip "lines of graphs that are built by nodes in the page: $why"
	fi
}

# The same of a program without Python.
t_stacks_graph_nodes_native()
{
	if ! ${CC:-cc} -O2 -g -Wall -Werror -o "$work/graph_nodes" tests/record/graph_nodes.c -ldl 2>"$work/graph_nodes.err"; then
		ok 1 "graph_nodes.c is built"
		cat "$work/graph_nodes.err"
		return
	fi
	CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks=native --sample=0 \
		--gpu=nodes -o "$work/nodes-native" -- "$work/graph_nodes" "$PWD/build/tests/sim/libcuda.so.1" 10 2>"$work/nodes.err"
	is $? 0 "a program of C that builds a graph by nodes is recorded" || cat "$work/nodes.err"
	is "$("$cudatrace" report --format json graph_lines "$work/nodes-native" 2>/dev/null |
		jq -c '[.[] | [.Graph, ."Graph Launches", ."Captured Kernels", .Function, ."GPU Time (ns)"]] | sort')" \
		'[[1,10,1,"backward",10000],[1,10,1,"backward",30000],[1,10,3,"forward",30000]]' "the functions of C that made its nodes are named"
}

# idle_lines TRACE: the GPU's idle time by the line it waited for: FUNCTION LINE NS, by the command.
idle_lines()
{
	"$cudatrace" export --weight idle "$1" 2>/dev/null | awk '{ n = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, "")
		if ($0 == "(no stack)") key = "- -"; else { line = $NF; sub(/.*:/, "", line); sub(/\)$/, "", line); key = $1 " " line }
		ns[key] += n } END { for (key in ns) print key, ns[key] }' | LC_ALL=C sort
}

# Which lines the GPU waited for: what jq makes of JSON Lines, without samples and with them; and all of it is what gaps says.
t_stacks_idle()
{
	local python version name hz try
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines that the GPU waits for" "no python3 with ctypes"; return; }
	for hz in 0 1000; do
		name=idle-$hz
		# A busy machine may leave the recorder too few samples.
		for try in 1 2 4 8; do
			CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=$hz --gpu \
				-o "$work/$name" -- "$python" tests/record/stacks_idle.py "$PWD/build/tests/sim/libcuda.so.1" $((40 * try)) 2>"$work/$name.err" || break
			idle_lines "$work/$name" >"$work/$name.lines"
			[ $hz != 0 ] && ! grep -q '^compute ' "$work/$name.lines" || break
		done
		[ -s "$work/$name.lines" ]
		ok $? "$name: a program whose GPU waits for lines of it is recorded" || cat "$work/$name.err"
		"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name" 2>/dev/null
		jq -s -r -f tests/record/stacks_idle.jq "$work/$name.jsonl" | LC_ALL=C sort >"$work/$name.expected"
		# Shares of samples are rounded, and lines with less than 1 ns are left out.
		is "$(join -a 1 -a 2 -e 0 -o 0,1.2,2.2 <(sed 's/ /:/' "$work/$name.expected") <(sed 's/ /:/' "$work/$name.lines") |
			awk '{ d = $2 - $3; if (d > 2 || d < -2) print }')" "" "$name: idle time by line" || diff "$work/$name.expected" "$work/$name.lines"
		is "$(awk '{ n += $3 } END { print n }' "$work/$name.lines")" \
			"$("$cudatrace" report --from start --format csv gaps "$work/$name" 2>/dev/null | awk -F , '/^Cause,/ { on = 1; next } /^$/ { on = 0 } on { n += $3 } END { print n }')" \
			"$name: all of it is what report gaps says"
		for which in forward wait allocate reset; do grep -q "^$which " "$work/$name.lines" || echo "$which"; done >"$work/$name.none"
		is "$(cat "$work/$name.none")" "" "$name: each kind of line has some"
		is "$("$cudatrace" report --from start --format json stacks "$work/$name" 2>/dev/null | jq '[.[]."GPU Idle (ns)"] | add')" \
			"$(grep -v '^- -' "$work/$name.lines" | awk '{ n += $3 } END { print n }')" "$name: report stacks has it"
		is "$("$cudatrace" report --from start --format json lines "$work/$name" 2>/dev/null |
			jq '[.[] | select(.Function == "<module>") | ."GPU Idle (ns)"] | add')" \
			"$(grep -v '^- -' "$work/$name.lines" | awk '{ n += $3 } END { print n }')" "$name: and report lines, what a line calls included"
	done
	is "$(grep -c '^compute ' "$work/idle-0.lines"),$(grep -q '^compute ' "$work/idle-1000.lines"; echo $?)" 0,0 \
		"a line that calls nothing has some by samples, and by them alone"
}

# threads_lines WEIGHT TRACE: the shares in % of work() and of take(), of what has a line of a thread.
threads_lines()
{
	"$cudatrace" export --weight "$1" "$2" 2>/dev/null | awk '{ n = $NF; all += /\(no stack\)|<module>/ && !/;(work|take) / ? 0 : n }
		/;take / { take += n } /;work / { work += n } END { print int(100 * work / (all ? all : 1)), int(100 * take / (all ? all : 1)) }'
}

# A thread that waits for another one of its process costs nothing while that one does something.
t_stacks_threads()
{
	local python version how try weight work_ns take_ns n
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "lines of threads that hand on work" "no python3 with ctypes"; return; }
	for how in queue condition pool join poll socket event gil; do
		# A busy machine may leave the recorder too few samples.
		for try in 1 2 4; do
			CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=1000 --gpu \
				-o "$work/threads-$how" -- "$python" tests/record/stacks_threads.py "$PWD/build/tests/sim/libcuda.so.1" $how $((60 * try)) 2>"$work/threads.err" || break
			"$cudatrace" explain --format json "$work/threads-$how" >"$work/threads.json" 2>/dev/null
			"$cudatrace" report lines --format json "$work/threads-$how" >"$work/threads.lines" 2>/dev/null
			[ "$(jq '[.. | objects | .Samples? // 0] | max' "$work/threads.lines")" -ge 100 ] && break
		done
		for weight in idle app; do
			read -r work_ns take_ns < <(threads_lines $weight "$work/threads-$how")
			case $how in
			socket | event) [ "${take_ns:-0}" -gt 50 ] && [ "$work_ns" = 0 ] ;;
			*) [ "${work_ns:-0}" -gt 50 ] && [ "$take_ns" -lt 25 ] ;;
			esac
			ok $? "threads that hand on work ($how), $weight: ${work_ns:-0} % where it is done, ${take_ns:-0} % where it is waited for" || cat "$work/threads.err"
		done
		for weight in gpu-idle application; do
			case $how in
			socket) stacks_found $weight "$work/threads.json" | grep -q '^[0-9]* % [^,]*(take) waiting for a socket' ;;
			event) stacks_found $weight "$work/threads.json" | grep -q '^[0-9]* % [^,]*(take) .*waiting for a lock or another thread' ;;
			gil) stacks_found $weight "$work/threads.json" | grep -q '^[0-9]* % [^,]*(work)' ;;
			*) stacks_found $weight "$work/threads.json" | grep -q '^[0-9]* % [^,]*(work) sleeping' ;;
			esac
			ok $? "... explain names it first of $weight" || stacks_found $weight "$work/threads.json"
		done
	done
	# Of a thread without Python code no sample has a stack: they say how long it waited all the same.
	if gcc -shared -fPIC -O1 -o "$work/partner.so" tests/record/stacks_partner.c -ldl -pthread; then
		# Where all wait, the line that counts is that of the thread that has one.
		for how in sleep lock often; do
			CUDASIM_IOCTLS=0 "$cudatrace" record -q -f --no-module --stacks --sample=1000 -o "$work/threads-partner" -- "$python" \
				tests/record/stacks_threads.py "$PWD/build/tests/sim/libcuda.so.1" "$work/partner.so" 30 $how 2>"$work/threads.err"
			read -r work_ns take_ns < <(threads_lines app "$work/threads-partner")
			[ "${work_ns:-0}" -gt 60 ]
			ok $? "beside a thread without Python code that waits ($how): ${work_ns:-0} % where it is done" || cat "$work/threads.err"
		done
	else
		ok 1 "the thread without Python code is built"
	fi
	for n in 80 100 160; do
		COLUMNS=$n "$cudatrace" report lines "$work/threads-queue" 2>/dev/null | grep -q '^ *time .* GPU idle .* line  *function'
		ok $? "with $n columns lines have the idle time of the GPU"
	done
}

# The plugin built with sanitizers, which see each byte that it reads of the interpreter and of the stack.
t_stacks_sanitized()
{
	local python version kind flags runtime preload
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "stacks with sanitizers" "no python3 with ctypes"; return; }
	for kind in address thread; do
		flags=$kind runtime=$(gcc -print-file-name=libtsan.so)
		[ $kind = thread ] || flags=address,undefined runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
		if ! gcc -std=gnu11 -D_GNU_SOURCE -iquote userlib -fno-strict-aliasing -Wno-address-of-packed-member -O1 -g -fPIC -fvisibility=hidden \
			-fno-omit-frame-pointer -fsanitize=$flags -shared -o "$work/stacks-$kind.so" userlib/plugins/stacks/*.c 2>"$work/built"; then
			skip "stacks with the sanitizer for $kind" "$(tail -n 1 "$work/built")"
			continue
		fi
		rm -rf "$work/log-$kind"* "$work/sanitized-$kind"*
		preload=$runtime:$work/stacks-$kind.so:$PWD/build/libcudatrace.so
		# Objects of malloc() have an edge that is watched, those of Python's own allocator have none.
		sanitized_stacks python env PYTHONMALLOC=malloc NO_FORK=1 "$python" tests/record/stacks.py "$PWD/build/tests/sim/libcuda.so.1" "$work/expected-$kind" 5
		is $? 0 "the sanitizer for $kind: a program of Python runs"
		"$cudatrace" export -f -o "$work/sanitized-$kind.jsonl" "$work/sanitized-$kind" 2>/dev/null
		"$python" tests/record/stacks_check.py "$work/sanitized-$kind.jsonl" "$work/expected-$kind" cuCtxSynchronize >"$work/check"
		ok $? "... and its stacks are right: $(tail -n 1 "$work/check")" || cat "$work/check"
		rm -rf "$work/sanitized-$kind"
		g++ -O2 -g -o "$work/native_sanitized" tests/record/native_stacks.cc -ldl -pthread &&
			sanitized_stacks native "$work/native_sanitized" "$PWD/build/tests/sim/libcuda.so.1"
		is $? 0 "... and one of C++"
		is "$(cat "$work/log-$kind"* 2>/dev/null | grep -c 'ERROR: \|WARNING: ThreadSanitizer\|runtime error: ')" 0 "... and nothing is found" ||
			cat "$work/log-$kind"* | head -n 20
	done
}

# The recorder built with sanitizers, while it samples: programs that run, one that is killed, and one that lies to it.
t_stacks_sampler_sanitized()
{
	local python version kind plain=$cudatrace cudatrace turns=3
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "samples with sanitizers" "no python3 with ctypes"; return; }
	for kind in address thread; do
		cudatrace=$PWD/build/recorder-$kind/cudatrace
		if ! make -s -j2 -f tests/record/recorder.mk KIND=$kind >"$work/built" 2>&1 || ! "$cudatrace" --version >"$work/built" 2>&1; then
			skip "the recorder with the sanitizer for $kind" "$(grep -i error "$work/built" | tail -n 1)"
			continue
		fi
		local -x ASAN_OPTIONS="log_path=$work/recorder-$kind.log" TSAN_OPTIONS="log_path=$work/recorder-$kind.log" \
			UBSAN_OPTIONS="log_path=$work/recorder-$kind.log" CUDATRACE_TEST_SAMPLE=--sample=1000
		rm -f "$work/recorder-$kind.log"*
		stacked recorder-$kind "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy sleep lock file wait
		is $? 0 "the recorder with the sanitizer for $kind samples a program" || tail -n 3 "$work/recorder-$kind.err"
		is "$(jq -rs '[.[] | select(.name == "sample" and .stack) | .stack[0][2]] | . - (. - ["compute", "sleeper", "locked", "reader"]) | unique | join(" ")' \
			"$work/recorder-$kind.jsonl")" "compute locked reader sleeper" "... each of its functions"
		stacked recorder-$kind "$python" tests/record/stacks_gil.py "$PWD/build/tests/sim/libcuda.so.1" compute 60
		is "$?,$(jq -s 'any(.[]; .holder.stack)' "$work/recorder-$kind.jsonl")" 0,true "... one whose threads wait for Python's lock"
		stacked recorder-$kind "$python" tests/record/stacks_lines.py "$PWD/build/tests/sim/libcuda.so.1" busy wait die
		is $? 137 "... one that is killed meanwhile"
		is "$(jq -s '[.[] | select(.name == "sample")] | length > 0' "$work/recorder-$kind.jsonl")" true "... of which the samples are there"
		[ $kind = address ] || turns=1
		stacked recorder-$kind "$python" tests/record/stacks_hostile.py "$PWD/build/tests/sim/libcuda.so.1" $RANDOM $turns
		is $? 0 "... and one that writes anything into the page by which it is sampled"
		"$plain" report lines "$work/recorder-$kind" >"$work/hostile" 2>&1
		is $? 0 "... of which a report is made" || tail -n 2 "$work/hostile"
		is "$(cat "$work/recorder-$kind.log"* 2>/dev/null | grep -c 'ERROR: \|WARNING: ThreadSanitizer\|runtime error: ')" 0 "... and nothing is found" ||
			cat "$work/recorder-$kind.log"* | head -n 20
	done
}

# sanitized_stacks HOW COMMAND...: traced with $preload, findings of $kind in $work/log-$kind.
sanitized_stacks()
{
	local how=$1 log="log_path=$work/log-$kind"
	shift
	ASAN_OPTIONS=detect_leaks=0:$log TSAN_OPTIONS=$log UBSAN_OPTIONS=$log CUDATRACE_STACKS=$how CUDATRACE_SINK=files \
		CUDATRACE_DIR="$work/sanitized-$kind" CUDASIM_TIME_SCALE=0 CUDASIM_IOCTLS=0 LD_PRELOAD="$preload" "$@" >"$work/sanitized.out" 2>&1
}
