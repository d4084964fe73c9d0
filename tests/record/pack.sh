# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# cudatrace pack: a trace as one file.  Sourced by run.sh.

# no_pack WHAT PATTERN FILE: no command takes the file, and nothing is left in $TMPDIR
no_pack()
{
	refuse "$1" "$2" "$cudatrace" report "$3"
	[ -z "$(ls -A "$TMPDIR")" ]
	ok $? "... and nothing of it stays" || ls -lR "$TMPDIR"
}

t_pack()
{
	local pack=$work/trace-inference.tar.zst name n other=$work/pack-other
	mkdir -p "$work/pack-tmp" "$other"
	local -x TMPDIR=$work/pack-tmp
	"$cudatrace" pack -f "$work/trace-inference/" 2>"$work/pack.said"
	is "$? $(grep -c 'trace-inference.tar.zst: .*KiB instead of' "$work/pack.said")" "0 1" "pack: a file beside the directory" || cat "$work/pack.said"
	"$cudatrace" report "$work/trace-inference" >"$work/pack.dir.txt" 2>&1
	for name in report explain timeline "report gaps" "export --format jsonl -o -"; do
		# shellcheck disable=SC2086
		"$cudatrace" $name "$work/trace-inference" >"$work/pack.1" 2>/dev/null
		# shellcheck disable=SC2086
		"$cudatrace" $name "$pack" >"$work/pack.2" 2>"$work/pack.err" && cmp -s "$work/pack.1" "$work/pack.2"
		ok $? "... which $name opens, with the same output" || cat "$work/pack.err"
	done
	# (A longer path may break a line elsewhere.)
	"$cudatrace" diff "$pack" "$work/trace-inference" >"$work/pack.diff" 2>&1 && "$cudatrace" diff "$pack" "$pack" >"$work/pack.diff2" 2>&1 &&
		cmp -s <(sed "s|trace-inference.tar.zst:|trace-inference:|" "$work/pack.diff" | tr -s ' \n' ' ') \
			<(sed "s|trace-inference.tar.zst:|trace-inference:|" "$work/pack.diff2" | tr -s ' \n' ' ')
	ok $? "... and diff, also twice" || head -5 "$work/pack.diff"
	[ -z "$(ls -A "$TMPDIR")" ]
	ok $? "... nothing stays unpacked" || ls "$TMPDIR"
	tar --zstd -xf "$pack" -C "$other" && "$cudatrace" report "$other/trace-inference" 2>&1 | cmp -s - "$work/pack.dir.txt"
	ok $? "tar unpacks it, too"
	refuse "a file that is there" "exists already" "$cudatrace" pack "$work/trace-inference"
	refuse "a pack of a pack" "is a file: give the directory" "$cudatrace" pack "$pack"
	refuse "no trace" "No such file" "$cudatrace" pack "$work/no-such-trace"
	# A command that was killed leaves what it unpacked; the next one removes it.
	mkdir -p "$TMPDIR/cudatrace-unpacked-killed" && touch "$TMPDIR/cudatrace-unpacked-killed/metadata"
	"$cudatrace" report "$pack" >/dev/null 2>&1
	[ -z "$(ls -A "$TMPDIR")" ]
	ok $? "what a killed command left is removed by the next" || ls "$TMPDIR"
	mkdir -p "$TMPDIR/cudatrace-unpacked-used"
	exec 8<"$TMPDIR/cudatrace-unpacked-used" && flock 8
	"$cudatrace" report "$pack" >/dev/null 2>&1
	[ -d "$TMPDIR/cudatrace-unpacked-used" ]
	ok $? "... but not what one uses"
	exec 8<&-
	rmdir "$TMPDIR/cudatrace-unpacked-used"
	# Whatever a pack holds.
	n=$(stat -c %s "$pack")
	for size in 0 1 100 $((n / 2)) $((n - 1)); do
		head -c "$size" "$pack" >"$work/pack-cut.zst"
		no_pack "a pack cut to $size bytes" "cut short|no packed trace" "$work/pack-cut.zst"
	done
	for at in 0 6 200 $((n / 3)) $((n - 2)); do
		cp "$pack" "$work/pack-hurt.zst"
		printf '\125\252' | dd of="$work/pack-hurt.zst" bs=1 seek="$at" conv=notrunc status=none
		no_pack "a pack that is damaged at byte $at" "no packed trace|cut short" "$work/pack-hurt.zst"
	done
	head -c 100000 /dev/urandom >"$work/pack-noise.zst"
	no_pack "noise" "not a directory, and no packed trace" "$work/pack-noise.zst"
	rm -rf "$other" && mkdir -p "$other/t/u-1-0" && ln -s /etc/passwd "$other/t/metadata" && echo x >"$other/t/other"
	for name in t/other t/metadata t/u-1-0; do
		tar --zstd -cf "$work/pack-bad.zst" -C "$other" $name
		no_pack "one that holds $name" "it holds something else" "$work/pack-bad.zst"
	done
	tar --zstd -cf "$work/pack-bad.zst" -C "$other" --transform 's|t/other|t/../../state|' -P t/other
	no_pack "one with a name that leads out" "it holds something else" "$work/pack-bad.zst"
	tar --zstd -cf "$work/pack-bad.zst" -T /dev/null
	no_pack "an empty one" "it holds nothing" "$work/pack-bad.zst"
	truncate -s 1P "$other/t/state" 2>/dev/null && tar -cf - -C "$other" t/state 2>/dev/null | head -c 1024 | zstd -q >"$work/pack-bad.zst" &&
		no_pack "one that is larger than the disk" "does not fit in" "$work/pack-bad.zst"
	rm -f "$other/t/state"
	TMPDIR=$work/nowhere refuse "no place to unpack" "no directory to unpack into" "$cudatrace" report "$pack"
}
