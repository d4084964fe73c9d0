# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What holds for every format.  Sourced by tests/export/run.sh.

# The formats, as export --list has them.
formats() { "$cudatrace" export --list | awk '{ print $1 }'; }

# export_to FORMAT TRACE OUTPUT
export_to() { "$cudatrace" export --format "$1" -f -o "$3" "$2" >"$work/command.out" 2>"$work/command.err"; }

# large: a trace that no export is done with before it can be stopped.
large()
{
	[ -e "$work/command-large" ] || "$b/hostile_trace" growth "$work/command-large" 300000 >&2
	echo "$work/command-large"
}

# Small traces only: each format has tests of its own for what it writes.
t_command_formats()
{
	local format name out=$work/command-out
	for format in $(formats); do
		for name in inference guest-cuinit guest-flight; do
			rm -rf "$out"
			export_to "$format" "$traces/$name" "$out" && [ -n "$(find "$out" -type f -size +0)" ] &&
				[ ! -s "$work/command.out" ] || { cat "$work/command.err"; false; }
			ok $? "$format of $name"
		done
	done
}

# A file gets its name when it is complete.
t_command_complete()
{
	local format out=$work/command-files t=$traces/inference
	rm -rf "$out"
	mkdir "$out"
	"$cudatrace" export -o "$out/a.jsonl" "$t" && cmp -s "$out/a.jsonl" "$(jsonl inference)"
	ok $? "a file is written"
	"$cudatrace" export --format csv -o "$out/a.jsonl" "$t" 2>"$work/command.err"
	is "$?,$(cat "$work/command.err")" "1,cudatrace: $out/a.jsonl: is there already; -f replaces it" "and not replaced"
	ln -s a.jsonl "$out/link"
	"$cudatrace" export --format csv -f -o "$out/link" "$t" && [ -L "$out/link" ] && head -n 1 "$out/a.jsonl" | grep -q '^time,'
	ok $? "-f replaces what a link leads to"
	"$cudatrace" export -f -o /dev/null "$t" && [ -c /dev/null ]
	ok $? "a device stays what it is"
	is "$(find "$out" -type f -printf '%f ')" "a.jsonl " "nothing else is left"
	chmod 600 "$out/a.jsonl"
	"$cudatrace" export -f -o "$out/a.jsonl" "$t" && cmp -s "$out/a.jsonl" "$(jsonl inference)"
	is "$?,$(stat -c %a "$out/a.jsonl")" "0,600" "-f keeps who may read the file"
	# Root may write any file: another user, who is to reach the command.
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --clear-groups)
	if "${as[@]}" test -x "$cudatrace" -a -r "$t/.registry"; then
		mkdir -m 777 "$out/any"
		"${as[@]}" install -m 400 /dev/null "$out/any/x"
		"${as[@]}" "$cudatrace" export --format sqlite -f -o "$out/any/x" "$t" 2>"$work/command.err"
		is "$?,$(cat "$work/command.err"),$(stat -c %a "$out/any/x")" "0,,400" "also in a file that nobody may write"
		rm -r "$out/any"
	fi
	: >"$out/stdout"
	"$cudatrace" export -o /dev/stdout "$t" >>"$out/stdout" && cmp -s "$out/stdout" "$(jsonl inference)"
	ok $? "/dev/stdout is the standard output, also where that is a file"
	ln -s none "$out/nothing"
	"$cudatrace" export -f -o "$out/nothing" "$t" 2>"$work/command.err"
	is "$?,$(cat "$work/command.err"),$(readlink "$out/nothing")" "1,cudatrace: $out/nothing: is a link to what is not there,none" \
		"a link to nothing stays"

	# A full file system leaves no file, in no format.
	rm -rf "$out"
	mkdir "$out"
	if mount -t tmpfs -o size=64k none "$out" 2>/dev/null; then
		head -c 100000 /dev/zero >"$out/full" 2>/dev/null
		for format in $(formats); do
			"$cudatrace" export --format "$format" -o "$out/x" "$traces/train" 2>"$work/command.err"
			is "$?,$(wc -l <"$work/command.err"),$(find "$out" -type f)" "1,1,$out/full" "$format on a full disk: one line, and no file" ||
				cat "$work/command.err"
			rm -rf "${out:?}"/x
		done
		umount "$out"
	else
		skip "export on a full disk: tmpfs can't be mounted"
	fi

	# Stopped in the middle.
	mkfifo "$out/slow"
	"$cudatrace" export -o "$out/slow" "$traces/gpt2" &
	is "$(head -c 100000 "$out/slow" | wc -c)" 100000 "a pipe is written to as it is"
	wait $!
	is $? 141 "and when nobody reads it any more, that is the end"
	for format in csv parquet; do
		"$cudatrace" export --format $format -o "$out/stopped" "$(large)" &
		wait_until eval '[ -n "$(find "$out" -name "*.partial" -size +0)" ]'
		kill -TERM $!
		wait $! 2>/dev/null
		is "$?,$(find "$out" -type f)" "143," "a signal leaves no part of a file of $format"
		rm -rf "$out/stopped"
	done
}

# In containers a process often has the same number again; one that was killed has left its file.
t_command_names()
{
	local out=$work/command-names t=$traces/inference uuid names
	"$cudatrace" export -f --format parquet -o "$out" "$t"
	uuid=$(find "$out" -name '*.parquet' -printf '%P')
	is "$(find "$out" -type f | wc -l)" 1 "parquet is one file" || return
	# The shell becomes the command, with its number.
	timeout $hang bash -c 'ln -s other "$1/.a.$$.partial"; exec "$2" export -o "$1/a" "$3"' - \
		"$out" "$cudatrace" "$t" 2>"$work/command.err"
	is "$?,$(cat "$work/command.err")" "0," "what another has left under a name does not matter"
	timeout $hang bash -c 'mkfifo "$1.$$.partial" "${1%.parquet}.$$.partial"; exec "$2" export --format parquet -o "$4" "$3"' - \
		"$out/${uuid%/*}/.${uuid##*/}" "$cudatrace" "$t" "$out" 2>"$work/command.err"
	is "$?,$(cat "$work/command.err")" "0," "nor to parquet"
	cmp -s "$out/a" "$(jsonl inference)" && [ ! -e "$out/other" ]
	ok $? "and nothing is written to it"
	# The signal of a terminal's other key.
	env --default-signal=QUIT "$cudatrace" export -o "$out/stopped" "$(large)" &
	wait_until eval '[ -n "$(find "$out" -name ".stopped*.partial" -size +0)" ]'
	kill -QUIT $!
	wait $! 2>/dev/null
	is "$?,$(find "$out" -name '*stopped*')" "131," "SIGQUIT leaves no part of a file either"
	rm -rf "$out"
}

# What a user says wrong, and --list.
t_command_words()
{
	local t=$traces/inference
	"$cudatrace" export --list | awk '{ print $1 }' | head -n 1 | grep -qx jsonl
	ok $? "--list has the formats, jsonl first"
	is "$("$cudatrace" export --help | awk 'length > 79')" "" "--help fits 79 columns"
	for format in $(formats); do
		"$cudatrace" export --help | grep -q "^  $format  "
		ok $? "--help has $format"
	done
	"$cudatrace" export --format parquet "$t" 2>"$work/command.err"
	is "$?,$(cat "$work/command.err")" "1,cudatrace: standard output: format parquet goes into a directory: name it with -o" \
		"a format of files wants -o"
	"$cudatrace" export --open --format csv "$t" 2>/dev/null
	is $? 64 "--open shows html alone"
	is "$("$cudatrace" export "$t" 2>&1 >/dev/null | wc -c)" 0 "no progress where no terminal is"
	# A terminal shows how far it is; with the sanitizer it takes seconds.
	large >/dev/null
	TERM=xterm script -qec "'$cudatrace' export --format chrome -f -o /dev/null '$work/command-large'" /dev/null </dev/null |
		tr '\r' '\n' | grep -qE '^[0-9]\.[0-9] M records, +[0-9]+ % *$'
	ok $? "a terminal shows how far it is"
}

# --open, with a browser that writes down what it is to show.
t_command_open()
{
	local bin=$work/command-bin t=$traces/inference
	if ! formats | grep -qx html; then
		"$cudatrace" report --open "$t" 2>"$work/command.err"
		is "$?,$(grep -c 'has no format html' "$work/command.err")" "1,1" "without html --open says so"
		return
	fi
	rm -rf "$bin"
	mkdir "$bin"
	printf '#!/bin/sh\necho "$@" >"%s/shown.part"; mv "%s/shown.part" "%s/shown"\n' "$bin" "$bin" "$bin" >"$bin/look"
	chmod +x "$bin/look"
	BROWSER="$bin/none:$bin/look --new %s" "$cudatrace" export --open -f -o "$bin/a b.html" "$t"
	wait_until [ -s "$bin/shown" ]
	is "$(cat "$bin/shown")" "--new $bin/a b.html" "export --open shows the file, by the first of \$BROWSER that starts"
	rm -f "$bin/shown"
	BROWSER="$bin/look --app=%s;touch $bin/b" "$cudatrace" export --open -f -o "$bin/a b.html" "$t"
	wait_until [ -s "$bin/shown" ]
	is "$(cat "$bin/shown"),$(ls "$bin/b" 2>/dev/null)" "--app=$bin/a b.html;touch $bin/b," "%s may stand inside a word, and no shell reads it"
	rm -f "$bin/shown"
	BROWSER="$bin/look" XDG_CACHE_HOME="$bin" "$cudatrace" report --open "$t"
	wait_until [ -s "$bin/shown" ]
	is "$(cat "$bin/shown"),$(stat -c %a "$bin/cudatrace")" "$(find "$bin/cudatrace" -name '*.html'),700" \
		"report --open makes the page in the cache, which is the user's alone"
	is "$(env -u BROWSER -u DISPLAY -u WAYLAND_DISPLAY XDG_CACHE_HOME="$bin" "$cudatrace" report --open "$t")" \
		"There is no browser here (\$BROWSER, or a desktop's): open $(find "$bin/cudatrace" -name '*.html') in one." \
		"without a browser it says where the page is"
}
