# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# record --stacks: threads that wait for Python's own lock (GIL), and who holds it.  Sourced by run.sh, behind stacks.sh.

# gil_counts NAME: samples of the main thread in its loop: those that wait for the lock; of these the ones whose holder is named, and the
# ones of which that is the right thread; those that wait for another lock.
gil_counts()
{
	jq -rs --argjson tid "$(cat "$work/$1.out")" 'map(select((.name == "gil_wait" or .name == "sample") and .tid == .pid and .stack and
			(.stack[0][0] | endswith("stacks_gil.py") or endswith("queue.py") or endswith("threading.py")))) |
		(map(select(.name == "gil_wait")) | [length, (map(select(.holder)) | length), (map(select(.holder.tid == $tid)) | length)]) +
		[(map(select(.state == "lock")) | length)] | map(tostring) | join(" ")' "$work/$1.jsonl"
}

# gil_recorded NAME HOW WANTED PYTHON...: sets waits, named, right and locks.  A busy machine may leave the recorder too few samples.
gil_recorded()
{
	local name=$1 how=$2 wanted=$3 try
	shift 3
	for try in 30 60 120 240; do
		CUDATRACE_TEST_SAMPLE="--sample=500 --gpu" CUDATRACE_CUPTI=$PWD/build/tests/sim/cupti/libcupti.so.13 stacked "$name" "$@" \
			tests/record/stacks_gil.py "${stacks_libcuda:-$PWD/build/tests/sim/libcuda.so.1}" "$how" $try || return
		read -r waits named right locks < <(gil_counts "$name")
		[ "${!wanted}" -lt 20 ] || return 0
	done
}

# gil_right NAME TEXT PYTHON...
gil_right()
{
	local name=$1 text=$2 how function state waits named right locks
	shift 2
	for how in compute:compute:running hold:hold:sleep; do
		IFS=: read -r how function state <<<"$how"
		gil_recorded "$name-$how" "$how" right "$@"
		is $? 0 "$text, a thread beside one that launches ($how): recorded" || tail -n 3 "$work/$name-$how.err"
		[ "${waits:-0}" -ge 20 ] && [ $((10 * named)) -ge $((8 * waits)) ] && [ "$right" = "$named" ]
		ok $? "... waits for Python's lock are told, and who holds it: ${waits:-0}, $named, $right"
		is "$(jq -rs '[.[] | select(.holder.stack) | "\(.holder.stack[0][2]) \(.holder.state)"] | group_by(.) | max_by(length)[0]' "$work/$name-$how.jsonl")" \
			"$function $state" "... in which line, and what it does there"
		"$cudatrace" explain "$work/$name-$how" 2>/dev/null | tr -s ' \n' ' ' |
			grep -q "limited by the host, waiting for Python's lock (GIL) for [0-9.]* % of it (by samples), which is held by thread $(cat "$work/$name-$how.out")[^,]*\(, for [0-9]* %\)* at stacks_gil.py:$(grep -n "^def $function" -A 4 tests/record/stacks_gil.py | grep 'sum(\|usleep' | cut -d - -f 1) ($function)"
		ok $? "... explain says it" || "$cudatrace" explain "$work/$name-$how" 2>&1 | head -n 12
	done
	SEVERAL=1 gil_recorded "$name-several" compute right "$@"
	is $? 0 "$text, a program with several interpreters: recorded" || tail -n 3 "$work/$name-several.err"
	[ "${waits:-0}" -ge 20 ] && [ $((10 * named)) -ge $((8 * waits)) ] && [ "$right" = "$named" ]
	ok $? "... and who holds their lock: ${waits:-0}, $named, $right"
	for how in queue lock; do
		gil_recorded "$name-$how" $how locks "$@"
		is $? 0 "$text, a thread that waits for a $how of the program: recorded" || tail -n 3 "$work/$name-$how.err"
		[ "${locks:-0}" -ge 20 ] && [ $((5 * waits)) -lt "$locks" ]
		ok $? "... that is no wait for Python's lock: $waits of $locks"
	done
}

t_gil()
{
	local python version any=
	while read -r python version; do
		[ "${version%t}" = "$version" ] || continue
		any=1
		gil_right "gil-$version" "Python $version" "$python"
	done < <(stacks_pythons)
	[ -n "$any" ] || skip "waits for Python's lock" "no python3 with ctypes"
}

# The oldest and the newest ones, from packages of Debian.
t_gil_debian()
{
	local release version python=() stacks_libcuda=
	while read -r release version; do
		debian_python "$release" "$version" || { skip "Python $version" "$(tail -n 1 "$work/fetched")"; continue; }
		if [ "$release" = bullseye ] && ! stacks_old_libcuda $release $version; then
			skip "Python $version" "$(tail -n 1 "$work/fetched")"
			continue
		fi
		gil_right "gil-debian-$version" "Python $version of $release" "${python[@]}"
		stacks_libcuda=
	done <<-EOF
	bullseye 3.9
	trixie 3.13
	sid 3.14
	EOF
}

# Builds for free threading have no such lock.
t_gil_free_threaded()
{
	local root python waits named right locks PATH=$PATH
	root=$(tests/record/python --built trixie 3.13t 2>/dev/null) && PATH=$PATH:$root/bin
	for python in python3.13t python3.14t; do
		[ "$("$python" -c 'import ctypes, sys; print(sys._is_gil_enabled())' 2>/dev/null)" = False ] ||
			{ skip "$python, no lock" "there is none; tests/record/python trixie 3.13t builds one"; continue; }
		gil_recorded "gil-$python" queue locks "$python"
		is "$?,$waits" 0,0 "$python, free threading: no wait for Python's lock"
	done
}

# What reports and exports say of it.
t_gil_reports()
{
	local python version waits named right locks share
	read -r python version < <(stacks_pythons)
	[ -n "$python" ] || { skip "reports on Python's lock" "no python3 with ctypes"; return; }
	gil_recorded gil-reports compute right "$python"
	is $? 0 "a thread that computes beside one that launches is recorded"
	"$cudatrace" explain --format json "$work/gil-reports" >"$work/gil.json" 2>/dev/null
	stacks_found application "$work/gil.json" | grep -q "^[0-9]* % stacks_gil.py:[0-9]* (compute) holding Python's lock (GIL)"
	ok $? "explain's first line of the application's time is the one that holds the lock" || stacks_found application "$work/gil.json"
	stacks_found gpu-idle "$work/gil.json" | grep -q "^[0-9]* % stacks_gil.py:[0-9]* (compute) holding Python's lock (GIL)"
	ok $? "... and of the GPU's idle time" || stacks_found gpu-idle "$work/gil.json"
	is "$(jq -r '[.findings[] | select(.Rule == "application") | .Try | (contains("another process"), contains("free-threaded"), contains("head start"))] | map(tostring) | join(" ")' \
		"$work/gil.json")" "true true false" "... with advice that fits"
	gil_recorded gil-hold hold right "$python"
	"$cudatrace" explain --format json "$work/gil-hold" 2>/dev/null | jq -r '.findings[] | select(.Rule == "application") | .Try' | grep -q 'Py_BEGIN_ALLOW_THREADS'
	ok $? "... and other advice where the holder only waits"
	"$cudatrace" report lines --format json "$work/gil-reports" >"$work/gil.lines" 2>/dev/null
	is "$(jq -c '[.. | objects | select(.Function? == "compute") | [."Holding the GIL (%)" > 90, ."Waiting (%)" < 10, ."Self Time (ns)" > 0]] | unique' "$work/gil.lines")" \
		"[[true,true,true]]" "report lines gives the time to the line that holds it"
	"$cudatrace" report summary "$work/gil-reports" 2>/dev/null | tr -s ' \n' ' ' | grep -q "waiting for Python's lock (GIL) .* held by thread $(cat "$work/gil-reports.out")"
	ok $? "report summary says it"
	"$cudatrace" export --format html -f -o "$work/gil.html" "$work/gil-reports" 2>/dev/null && grep -q "Python's lock (GIL)" "$work/gil.html"
	ok $? "... and the page for a browser"
	"$cudatrace" diff --format json "$work/gil-reports" "$work/gil-hold" 2>/dev/null | jq -e '[.. | objects | .Name? // "" | select(endswith("(compute)"))] | length > 0' >/dev/null
	ok $? "diff has the line that holds it"
	share=$("$cudatrace" export --weight app "$work/gil-reports" 2>/dev/null | awk '{ all += $NF } /;compute / { n += $NF } END { print int(100 * n / (all ? all : 1)) }')
	[ "${share:-0}" -gt 50 ]
	ok $? "... and so do folded stacks: ${share:-0} %"
	"$cudatrace" export -f -o "$work/gil.sqlite" "$work/gil-reports" 2>/dev/null || { skip "Python's lock in SQLite" "left out of this build"; return; }
	is "$(sqlite3 "$work/gil.sqlite" "SELECT count(*), count(holder), count(holder_frame) FROM CUDATRACE_SAMPLES WHERE state = 'gil'")" \
		"$(jq -rs '[.[] | select(.name == "gil_wait")] | [length, (map(select(.holder)) | length), (map(select(.holder.stack)) | length)] | map(tostring) | join("|")' \
			"$work/gil-reports.jsonl")" "SQLite has the waits and the holders"
	rm -rf "$work/gil-merged"
	"$cudatrace" merge -o "$work/gil-merged" "$work/gil-reports" "$work/gil-hold" >/dev/null 2>&1
	is "$("$cudatrace" export -o - "$work/gil-merged" 2>/dev/null | jq -rs '[.[] | select(.name == "gil_wait" and .holder.stack) | .holder.stack[0][2]] | unique | . - (. - ["compute", "hold"]) | join(" ")')" \
		"compute hold" "several traces that are one keep the holders' lines"
}
