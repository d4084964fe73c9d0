# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Traces that no recorder writes: each command ends with an answer or one line, and
# what it prints has no control characters.  Sourced by tests/cli/run.sh.

# What is said of a trace that can be read.
hostile_notes='records were lost while this|left out [0-9]* damaged packet|still being recorded|its last packet was not written whole|the records that can be read|its records are lost|: left out$'

# hostile_run WORD...: hostile_now runs the command with these words.  With $hostile_raw what it prints may
# have control characters.
hostile_run()
{
	local IFS=$tab
	echo "$*" >>"$work/hostile.lines"
	echo "${hostile_raw:-}" >>"$work/hostile.raw"
}

# hostile_now: runs what hostile_run was told; complains of a status beyond 1, of several lines of error
# with status 1, of control characters and of one that hangs.  $hostile_bad counts.
hostile_now()
{
	local n status line raw why out=$work/hostile.said said=0
	local -A lines=() control=()
	rm -rf "$out"
	mkdir "$out"
	"$b/many" "$out" <"$work/hostile.lines" >"$work/hostile.status"
	while IFS=: read -r n status; do
		lines[${n##*/}]=$status
	done < <(grep -cvHE "$hostile_notes" "$out"/*.err)
	while read -r n; do
		n=${n##*/}
		control[${n%.*}]=1
	done < <(LC_ALL=C grep -rlP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$out")
	while read -r n status <&3 && IFS= read -r line <&4 && IFS= read -r raw <&5; do
		said=$((said + 1)) why=
		if [ "$status" -gt 1 ]; then
			why="status $status"
		elif [ "$status" = 1 ] && [ "${lines[$n.err]}" != 1 ]; then
			why="status 1 with $(wc -l <"$out/$n.err") lines of error"
		elif [ -n "${control[$n]:-}" ] && [ -z "$raw" ]; then
			why="control characters"
		fi
		[ -n "$why" ] || continue
		echo "# ${line//"$tab"/ }: $why"
		head -n 4 "$out/$n.err" | cat -v | cut -c 1-200 | sed 's/^/# /'
		hostile_bad=$((hostile_bad + 1))
	done 3<"$work/hostile.status" 4<"$work/hostile.lines" 5<"$work/hostile.raw"
	# Each of them has ended, one way or the other.
	[ $said -gt 0 ] && [ $said = "$(wc -l <"$work/hostile.lines")" ] || hostile_bad=$((hostile_bad + 1))
	rm -rf "$out" "$work/hostile.lines" "$work/hostile.raw"
}

# hostile_reads DIR: each command and each way to go through a trace.
hostile_reads()
{
	local format
	hostile_run report --all cuda_api_trace cuda_gpu_trace "$1"
	hostile_run explain "$1"
	hostile_run explain --call 2 "$1"
	hostile_run explain --slowest 3 "$1"
	hostile_run explain --at 0.001 "$1"
	hostile_run diff "$1" "$1"
	hostile_run diff "$t" "$1"
	hostile_run timeline "$1"
	for format in jsonl chrome folded; do
		hostile_run export --format $format "$1"
	done
}

# hostile_prints DIR: the same in the other formats, in which texts matter.
hostile_prints()
{
	hostile_run report "$1"
	hostile_run report --all --format json "$1"
	hostile_run report --from steady --to steady cuda_api_sum "$1"
	hostile_run explain --format json "$1"
	# A text is what the program wrote, byte by byte.
	hostile_raw=1 hostile_run report --all --format csv "$1"
}

# hostile_commands DIR: all that read a trace; of one that is damaged and whose texts are those of others
# each reads it once, in full in each format.
hostile_commands()
{
	hostile_reads "$1"
	[ -z "$full" ] || hostile_prints "$1"
	hostile_now
}

t_hostile()
{
	local name hostile_bad before
	for name in $("$b/hostile_trace" --list); do
		# shellcheck disable=SC2086
		"$b/hostile_trace" "$name" "$work/hostile-$name" $hostile_count || return
		hostile_bad=0
		hostile_reads "$work/hostile-$name"
		hostile_prints "$work/hostile-$name"
		hostile_run top --views 1 "$work/hostile-$name"
		hostile_now
		is $hostile_bad 0 "hostile trace $name: each command ends in an answer or in one line"
	done
}

# Damaged in places, and still being recorded.
t_hostile_damage()
{
	local hostile_bad=0 size cut from holder
	generate basic
	generate open
	generate layers
	size=$(stat -c %s "$work/basic/u-4242-1")
	for cut in 0 1 4 40 95 96 100 4096 $((size / 2)) $((size - 1)); do
		rm -rf "$work/cut"
		# Where the stream has no packet left, the others need not be long.
		from=basic
		[ -n "$full" ] || [ $cut -gt 100 ] || from=layers
		cp -r "$work/$from" "$work/cut"
		truncate -s "$cut" "$work/cut/u-4242-1"
		hostile_commands "$work/cut"
		rm -f "$work/cut/metadata"
		hostile_run report --all "$work/cut"
		hostile_run explain "$work/cut"
		hostile_now
	done
	is $hostile_bad 0 "a stream that is cut off at ten places"

	hostile_bad=0
	rm -rf "$work/cut"
	cp -r "$work/basic" "$work/cut"
	sed -i '5s/^class/class 1/' "$work/cut/.registry"
	hostile_commands "$work/cut"
	printf '\001\002\033[31m %%zz\n' >"$work/cut/.registry"
	hostile_prints "$work/cut"
	hostile_commands "$work/cut"
	rm "$work/cut/.registry"
	hostile_commands "$work/cut"
	rm -rf "$work/cut"
	mkdir "$work/cut"
	hostile_commands "$work/cut"
	cp -r "$work/basic"/. "$work/cut"
	sed -i '1s/uuid=..../uuid=0000/' "$work/cut/.registry"
	hostile_commands "$work/cut"
	is $hostile_bad 0 "a damaged registry, none, an empty directory, another uuid"

	hostile_bad=0
	rm -rf "$work/cut"
	cp -r "$work/open" "$work/cut"
	"$b/hurt_trace" hold "$work/cut" >"$work/hold" &
	holder=$!
	wait_until [ -s "$work/hold" ]
	hostile_commands "$work/cut"
	kill $holder
	wait $holder 2>/dev/null
	is $hostile_bad 0 "a trace that is still being recorded"
}

# KIND MIB: what a command may take of 100,000 records: what the most of them takes, and 70 bytes of
# each record, so that nothing more may be kept of each.  Of 1.5 million 200 MiB are the limit for all.
hostile_limits='
nested 33
growth 41
ranges 38
processes 69
objects 67
threads 55
sequences 39
steps 29
early 36
'

# Memory is bounded, whatever there is much of.
t_hostile_memory()
{
	local name limit command peak
	while read -r name limit; do
		[ -n "$name" ] || continue
		[ -z "$full" ] || limit=200
		rm -rf "$work/hostile-big"
		"$b/hostile_trace" "$name" "$work/hostile-big" "$hostile_big"
		for command in "report --all" explain "explain --slowest 3" "export --format folded"; do
			peak=?
			# shellcheck disable=SC2086
			"$b/usage" "$work/used" timeout $hang "$plain" $command "$work/hostile-big" >/dev/null 2>"$work/err"
			[ $? -le 1 ] && peak=$(awk '{ print int($3 / 1024) }' "$work/used") && [ "$peak" -le "$limit" ]
			ok $? "$name, $hostile_big records: $command takes $peak MiB of $limit" || cat "$work/err"
		done
	done <<<"$hostile_limits"
	rm -rf "$work/hostile-big"
}

# What the fuzzer found once.
t_mended()
{
	FUZZ_CLASSES=tests/fuzz/classes "$b/replay" tests/fuzz/mended/* tests/fuzz/seeds/* >"$work/mended.out" 2>&1
	ok $? "inputs that the fuzzer found stay mended" || tail -n 20 "$work/mended.out"
}
