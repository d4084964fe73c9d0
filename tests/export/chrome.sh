# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# --format chrome: jq reads it, and gawk pairs its events as a viewer does.  Sourced by
# tests/export/run.sh.

# chrome_export DIR NAME: exports DIR to $work/chrome-NAME.
chrome_export() { build/cudatrace export --format chrome -f -o "$work/chrome-$2" "$1" 2>"$work/chrome-$2.err"; }

# chrome_events FILE: its events, one a line as JSON.  Each is a line of the file already.
chrome_events() { sed -n 's/^\({"ph".*}\),\{0,1\}$/\1/p' "$1"; }

# chrome_rows FILE: what perfetto.awk prints of the other format, and "error TEXT".
chrome_rows()
{
	chrome_events "$1" | jq -r 'def ns: . * 1000 | round;
		def open: if .args.unfinished or .args.abandoned then 1 else 0 end;
		if .ph == "M" then [.ph, .name, .pid, .tid, .args.name // .args.sort_index]
		elif .ph == "C" then ["counter", .name, .pid, (.ts | ns), (.args | add)]
		elif .ph == "s" or .ph == "f" then [.ph, .pid, .tid, (.ts | ns), .id, .name]
		else [.ph, .pid, .tid, (.ts | ns), .name, .cat, .args.op_id // "", (.dur // 0 | ns), open,
			.args.duration_ns // ""] end | map(tostring) | join("\t")' |
		gawk -F '\t' -v OFS='\t' '
			function slice(ph, name, cat, begin, dur, op)
			{
				if (cat == "marker") print "range", name, begin, dur
				else print "call", name, cat, begin, dur, op
			}
			$1 == "M" && $2 == "process_name" { process[$3] = $5; next }
			$1 == "M" && $2 == "thread_name" { if (($3, $4) in thread) print "error", "two names"; thread[$3, $4] = $5; next }
			$1 == "M" || $1 == "counter" { if ($1 == "counter") print; next }
			$1 == "s" { from[$5] = $6; next }
			$1 == "f" { print $5 in from ? "flow" OFS $6 : "error" OFS "an arrow from nowhere"; next }
			!(($2, $3) in thread) { print "error", "a track without a name" }
			{ used[$2] = 1 }
			$1 == "X" { slice($1, $5, $6, $4, $9 ? "?" : $8, $7); next }
			$1 == "i" { print "instant", $5, $6, $4, $7; next }
			$1 == "B" { d = ++depth[$2, $3]; b[$2, $3, d] = $0; next }
			$1 == "E" {
				d = depth[$2, $3]--
				if (d <= 0) { print "error", "an end without a begin"; next }
				split(b[$2, $3, d], f, OFS)
				slice($1, f[5], f[6], f[4], $9 ? "?" : $10 != "" ? $10 : $4 - f[4], f[7])
				next
			}
			{ print "error", "an event " $1 }
			END {
				for (t in depth) if (depth[t]) print "error", depth[t] " begins without an end"
				for (p in used) if (!(p in process)) print "error", "process " p " without a name"
				for (t in thread) { split(t, f, SUBSEP); print "track", f[1], f[2], thread[t] }
				for (p in process) print "process", p, process[p]
			}'
}

# chrome_sane NAME TEXT
chrome_sane() { is "$(grep -c '^error' "$work/chrome-$1.rows")" 0 "$2: every begin has its end, every track its name" ||
	grep '^error' "$work/chrome-$1.rows" | sort | uniq -c | head -n 5; }

t_chrome_rows()
{
	local name file
	for name in $(real_traces); do
		file=${name//\//-}
		chrome_export "$traces/$name" "$file" && chrome_rows "$work/chrome-$file" >"$work/chrome-$file.rows"
		ok $? "chrome: $name: jq reads it" || cat "$work/chrome-$file.err"
		chrome_sane "$file" "chrome: $name"
		grep -E '^(call|instant|range)' "$work/chrome-$file.rows" | sort_slices >"$work/chrome-$file.slices"
		same_slices "$work/chrome-$file.slices" "$(slices "$name")" "chrome: $name"
		is "$(grep -c '^flow' "$work/chrome-$file.rows")" "$(ioctls_in_calls "$(jsonl "$name")")" \
			"chrome: $name: an arrow to each ioctl from the call around it"
	done
}
