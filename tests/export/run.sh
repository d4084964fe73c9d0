#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The formats of cudatrace export, on the traces of real programs and on those that no recorder
# writes.  The command built with the sanitizers reads the latter and some small real ones, the
# command that users have, which is many times faster, the others.  Prints TAP.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/pick.sh
. tests/sizes.sh
# Each t_NAME of the files beside this one is a part.  A file is a format, and only defines
# functions; they use these:
#
#	$cudatrace	the command with the sanitizers
#	reader NAME	the command that reads a trace of $traces
#	$traces		a folder with the traces of tests/data; real_traces prints their names
#	$work		for what a part writes: a name in it begins with the part's
#	$b		a folder with programs that make traces: make_trace, hostile_trace, usage
#	jsonl NAME	a trace of $traces as JSON Lines: the path of the file, made once
for file in tests/export/*.sh; do
	[ "$file" = tests/export/run.sh ] || . "$file"
done
# shellcheck disable=SC2046
choose_parts "$(find tests/export -maxdepth 1 -name '*.sh' | LC_ALL=C sort |
	xargs sed -n 's/^t_\([a-z0-9_]*\)()$/\1/p' | paste -sd ' ')" "$@"
work=$PWD/build/tests/export${full:+-long}
traces=$work/traces
b=$PWD/build/cli-dev
mkdir -p "$traces"
find "$work" -mindepth 1 -maxdepth 1 ! -name traces ! -name jsonl ! -name modules -exec rm -rf {} +
# The command writes the same in each; the judges are several times faster in this one.
export LC_ALL=C
# A report of a sanitizer must not look like a status of ours.
export ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1

if ! flock build/.cli-dev.lock make -s -j"$(nproc)" -f tests/cli/build.mk all >"$work/build.log" 2>&1; then
	tail -n 20 "$work/build.log"
	echo "Bail out! the tests of the export formats don't build"
	exit 1
fi
cudatrace=$b/cudatrace

# What is unpacked stays, until its archive is another one.
for archive in "${archives[@]}"; do
	to=$traces/${archive#tests/data/}
	stamp=${to%/*}/.${to##*/}
	[ ! "$stamp" -nt "$archive" ] || continue
	mkdir -p "${to%/*}" && tar -C "${to%/*}" -xJf "$archive" && touch "$stamp" && continue
	echo "Bail out! $archive can't be unpacked (xz-utils)"
	exit 1
done

# The names of all traces of real programs, those in folders as FOLDER/NAME; those that the formats
# are tried on.
every_trace() { find "$traces" -name .registry -printf '%P\n' | sed 's,/.registry$,,' | sort; }
real_traces() { every_trace | without_spared; }

reader()
{
	case $1 in
	guest-flight | guest-cuinit | inference | train-nvtx | off_cpu) echo "$cudatrace" ;;
	*) echo build/cudatrace ;;
	esac
}

# By the command that users have; made again when that is a new one.
jsonl()
{
	local file=$work/jsonl/$1.jsonl
	if [ ! "$file" -nt build/cudatrace ]; then
		mkdir -p "${file%/*}"
		build/cudatrace export -f -o "$file" "$traces/$1" 2>/dev/null || return
	fi
	echo "$file"
}

run_parts
plan
