# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# Every number of every report, compared with what jq, awk and sqlite3 make of the JSON Lines of
# the same trace: none of our own code but the export takes part.  Sourced by run.sh, which has
# $plain (the command that users have), $b, $work and generate().

tab=$'\t'

# unpack_real: $archives below $work/data, those of tests/data/long below $work/data/long
unpack_real()
{
	local file to
	for file in "${archives[@]}"; do
		to=$work/data/${file#tests/data/}
		[ ! -e "$to.there" ] || continue
		mkdir -p "${to%/*}" && tar -xJf "$file" -C "${to%/*}" && touch "$to.there"
	done
}

# real: the names of the real traces, unpacked below $work/data.
real() { every_real | without_spared; }

every_real()
{
	local file name
	unpack_real
	for file in "${archives[@]}"; do
		name=${file#tests/data/}
		name=${name%.tar.xz}
		# An archive of several traces has none of its own name, and tests of its own.
		[ ! -e "$work/data/$name" ] || echo "$name"
	done
}

# trace NAME: the directory of a real or a synthetic trace.
trace()
{
	if [ -e "tests/data/$1.tar.xz" ]; then
		unpack_real
		echo "$work/data/$1"
	else
		generate "$1"
		echo "$work/$1"
	fi
}

# facts NAME: makes $work/data/NAME.tsv, a line for each line of the JSON Lines:
#   1 phase  2 layer  3 type  4 op  5 name  6 symbol  7 time in ns since the trace began
#   8 pid  9 tid  10 op_id  11 depth  12 duration in ns  13 result  14 1: failed
#   15 result's name  16 size  17 direction  18 kernel  19 text  20 stream
#   21-26 grid, block  27 shared memory  28 ioctl  29 1: has a kernel field
facts()
{
	local dir
	dir=$(trace "$1")
	[ ! -e "$work/data/$1.tsv" ] || return 0
	mkdir -p "$work/data"
	"$plain" export -f -o "$work/data/$1.jsonl" "$dir" 2>/dev/null
	# Of text, a newline is "\n" then.
	jq -r '
		def failed($ioctl): if $ioctl then .result < 0 or (.result_code // 0) < 0 or
				(.status != null and .status != "NV_OK")
			elif .layer == "user" then .result_code != null and .result_code != 0 and .result_code != 600
			else (.result_code // 0) < 0 and .result_code >= -4095 end;
		(if .details.cmd then .escape // .details.cmd else null end) as $ioctl |
		(.ts * 1e6 | round) as $ts |
		# Lines of begins are many, and say little.
		(if .phase == "B" then
			["B", .layer, .type, "", .name, .symbol // .name, $ts, .pid, .tid, .op_id, .depth, "", "", 0, "",
			 "", "", "", "", "", "", "", "", "", "", "", "", $ioctl, 0]
		else
			.details as $d |
			[.phase, .layer, .type, .op, .name, .symbol // .name, $ts, .pid, .tid, .op_id, .depth,
			 (if .duration_us then .duration_us * 1000 | round else null end),
			 (if .result_code != null then .result_code elif (.result | type) == "number" then .result
				else null end),
			 (if failed($ioctl) then 1 else 0 end), (if .result_code != null then .result else null end),
			 .size, .direction, .kernel, .text, $d.stream, $d.grid_x, $d.grid_y,
			 $d.grid_z, $d.block_x, $d.block_y, $d.block_z, $d.shared, $ioctl,
			 (if $d | has("kernel") then 1 else 0 end)]
		end) | @tsv' "$work/data/$1.jsonl" | sed 's/\\\\/\\/g' | tr -d '\200-\377' >"$work/data/$1.tsv"
}

# distribution: lines "key, value or nothing, 1 if it failed" become lines "key, count, failed,
# percent of the total, total, mean, median, smallest, largest, standard deviation, P95, P99".
distribution()
{
	LC_ALL=C sort -t "$tab" -k1,1 -k2,2n | awk -F'\t' -v OFS='\t' '
	function rank(p) { i = int(n * p / 1000); return v[i * 1000 < n * p ? i + 1 : i] }
	function done(   i, q) {
		if (!all)
			return
		q = 0
		for (i = 1; i <= n; i++)
			q += (v[i] - total / n) ^ 2
		rows[++count] = n ? sprintf("%.0f\t%.4f\t%.1f\t%.0f\t%.0f\t%.4f\t%.0f\t%.0f", total, total / n,
			(v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2, v[1], v[n],
			n > 1 ? sqrt(q / (n - 1)) : 0, rank(950), rank(990)) : "\t\t\t\t\t\t\t"
		keys[count] = key; alls[count] = all; faileds[count] = failed
		totals[count] = total; timed[count] = n; sum += total
	}
	NR == 1 || $1 != key { done(); key = $1; all = n = total = failed = 0 }
	{ all++; failed += $3 }
	$2 != "" { v[++n] = $2; total += $2 }
	END {
		done()
		for (i = 1; i <= count; i++)
			print keys[i], alls[i], faileds[i], (timed[i] ? sum ? 100 * totals[i] / sum : 0 : ""), rows[i]
	}'
}

# csv FILE COLUMN...: these columns of a report in csv, as sqlite3 reads them.  Of texts only
# ASCII is compared: in JSON, bytes that are no UTF-8 are replaced.
csv()
{
	local file=$1 list=
	shift
	for column in "$@"; do
		list="$list${list:+, }replace(\"$column\", char(10), '\\n')"
	done
	sqlite3 -batch -cmd '.mode tabs' :memory: ".import --csv $file t" "select $list from t" 2>&1 |
		LC_ALL=C tr -d '\200-\377'
}

# same WANT GOT KINDS TEXT: two lists of rows say the same.  KINDS, a letter for each column:
# t: the same text; n: the same number; d: a number with one decimal; m: a number with three;
# p: a percentile or median, exact if the second column is at most 1024, else right to 0.01 %.
same() { compare_rows sorted "$@"; }
in_order() { compare_rows "" "$@"; }

# One process: there are thousands of such lists.
compare_rows()
{
	local rows
	rows=$(gawk -F'\t' -v sorted="$1" -v kinds="$4" -v differ="$3.diff" '
	function bad(i, text) {
		if (++wrong <= 3)
			printf "# line %d, column %d: wanted \"%s\" got \"%s\"\n", n, i, want[i], text >differ
	}
	# Sorted as texts.
	NR == FNR { wanted[expected = FNR] = $0 ""; next }
	{ got[count = FNR] = $0 "" }
	END {
		printf "" >differ
		if (sorted) {
			asort(wanted)
			asort(got)
		}
		for (n = 1; n <= count; n++) {
			split(wanted[n], want)
			fields = split(got[n], row)
			if (fields != length(kinds))
				bad(fields, row[fields])
			for (i = 1; i <= length(kinds); i++) {
				kind = substr(kinds, i, 1)
				least = kind == "d" ? 0.0502 : kind == "m" ? 0.000502 : 0
				if (kind == "p")
					least = row[2] > 1024 ? want[i] / 10000 + 0.05 : 0
				off = want[i] - row[i]
				if (kind == "t" || want[i] == "" || row[i] == "" ? want[i] "" != row[i] "" :
				    off > least || off < -least)
					bad(i, row[i])
			}
		}
		if (count + 0 != expected + 0)
			printf "# wanted %d rows, got %d\n", expected, count >differ
		print expected + 0
		exit wrong || count + 0 != expected + 0
	}' "$2" "$3")
	ok $? "$5 ($rows rows)" || cat "$3.diff"
}

# falling FILE COLUMN TEXT: numbers that don't grow from row to row
falling()
{
	awk -F'\t' -v c="$2" 'NR > 1 && $c + 0 > last + 0 { exit 1 } { last = $c }' "$1"
	ok $? "$3"
}

# whole_report NAME REPORT: a report of several tables, which are files of their own there, as one again
whole_report()
{
	local out=$work/data/$1.$2
	[ ! -e "$out.whole" ] || return 0
	! compgen -G "${out}_*.csv" >/dev/null || "$plain" report --from start --format csv "$2" "$(trace "$1")" 2>/dev/null >"$out.csv"
	grep "^cudatrace: $2[:_]" "$work/data/$1.notes" >"$out.notes"
	touch "$out.whole"
}

# every_report NAME: all reports of a trace in one pass, $work/data/NAME.REPORT.csv, made once; their
# notes in $work/data/NAME.REPORT.notes.  t_sanitized compares each with the report by itself.
every_report()
{
	local out=$work/data/$1 file name
	[ ! -e "$out.reported" ] || return "$(cat "$out.reported")"
	mkdir -p "${out%/*}"
	"$plain" report --from start --all cuda_api_trace cuda_gpu_trace --format csv -f -o "$out.reports" "$(trace "$1")" 2>"$out.notes"
	echo $? >"$out.reported"
	for file in "$out.reports"_*.csv; do
		name=${file#"$out.reports_"}
		name=${name%.csv}
		mv "$file" "$out.$name.csv"
		# The name of a table is its report's, with a word for one of several.
		grep "^cudatrace: $name[:_]" "$out.notes" >"$out.$name.notes"
	done
	return "$(cat "$out.reported")"
}

# report NAME REPORT: $work/data/NAME.REPORT.csv
report()
{
	every_report "$1" && whole_report "$1" "$2" && [ -e "$work/data/$1.$2.csv" ]
	ok $? "$2 of $1" || cat "$work/data/$1.notes"
}

# The columns that the summaries by time have in common, beside the count.
times=("Time (%)" "Total Time (ns)" "Avg (ns)" "Med (ns)" "Min (ns)" "Max (ns)" "StdDev (ns)")

# is_sum NAME REPORT COUNT COLUMN: such a summary is what lines of distribution() on stdin say.
is_sum()
{
	local out=$work/data/$1.$2

	distribution | cut -f 1,2,4-10 >"$out.want"
	csv "$out.csv" "$4" "$3" "${times[@]}" >"$out.got"
	same "$out.want" "$out.got" tndndpnnd "$2 of $1: every row and every number"
	falling "$out.got" 4 "$2 of $1: the largest total first"
}

# ------------------------------------------------------------- CUDA, NVTX, OS ---

t_reports_cuda_api_sum()
{
	local name

	for name in $(real) basic begin left open; do
		facts "$name"
		report "$name" cuda_api_sum
		# Two functions of one name are shown by their symbols.
		awk -F'\t' -v OFS='\t' '
		function api() { return $2 == "user" && $10 != "" && $3 != "syscall" }
		FNR == NR {
			if ($1 != "B" && $10 != "" && !(($5, $6) in seen)) {
				seen[$5, $6]
				symbols[$5]++
			}
			ended[$10] = $1 != "B"
			next
		}
		# The line of a begin does not say the type.
		$1 == "B" ? !ended[$10] && $2 == "user" && $28 == "" : api() {
			print (symbols[$5] > 1 ? $6 : $5), $12, $14
		}' "$work/data/$name.tsv" "$work/data/$name.tsv" >"$work/data/$name.api"
		distribution <"$work/data/$name.api" >"$work/data/$name.api.want"
		csv "$work/data/$name.cuda_api_sum.csv" Name "Num Calls" Failed "${times[@]}" \
			"P95 (ns)" "P99 (ns)" >"$work/data/$name.api.got"
		same "$work/data/$name.api.want" "$work/data/$name.api.got" tnndndpnndpp \
			"cuda_api_sum of $name: every row and every number"
		falling "$work/data/$name.api.got" 5 "cuda_api_sum of $name: the largest total first"
	done
}

t_reports_cuda_api_trace()
{
	local name

	for name in $(real) basic begin left open; do
		facts "$name"
		report "$name" cuda_api_trace
		awk -F'\t' -v OFS='\t' '
		$2 != "user" || $10 == "" || $28 != "" { next }
		{ op = $10; if (op > last) last = op; pid[op] = $8; tid[op] = $9; name[op] = $5; depth[op] = $11 }
		$1 == "B" { start[op] = $7; next }
		{
			if (!(op in start))
				start[op] = $7 - $12
			rest[op] = $12 OFS $13
			more[op] = ($14 ? $15 != "" ? $15 : $13 : "") OFS $16 OFS $18
		}
		END {
			for (op = 1; op <= last; op++)
				if (op in name)
					print start[op], op in rest ? rest[op] : OFS, name[op], op, pid[op],
						tid[op], depth[op], op in more ? more[op] : OFS OFS
		}' "$work/data/$name.tsv" >"$work/data/$name.calls.want"
		csv "$work/data/$name.cuda_api_trace.csv" "Start (ns)" "Duration (ns)" Result Name CorrID \
			Pid Tid Depth Error "Size (bytes)" Kernel >"$work/data/$name.calls.got"
		if grep -qE 'recorded at their entry|never returned' "$work/data/$name.cuda_api_trace.notes"; then
			same "$work/data/$name.calls.want" "$work/data/$name.calls.got" nnntnnnntnt \
				"cuda_api_trace of $name: every call"
		else
			in_order "$work/data/$name.calls.want" "$work/data/$name.calls.got" nnntnnnntnt \
				"cuda_api_trace of $name: every call, in the order of starts"
		fi
	done
}

# launched NAME LAYER, moved NAME LAYER: the lines of kernels, of copies and sets that did not fail
launched() { awk -F'\t' -v l="$2" '$1 == "E" && $2 == l && $3 == "kernel" && $29 && !$14' "$work/data/$1.tsv"; }
moved() { awk -F'\t' -v l="$2" '$1 == "E" && $2 == l && $3 == "transfer" && $4 ~ /^(copy|set)$/ && !$14' "$work/data/$1.tsv"; }

# operation: adds nsys's name of a copy or set as the last field
operation()
{
	awk -F'\t' -v OFS='\t' '
	BEGIN {
		split("unknown Unknown H2D Host-to-Device D2H Device-to-Host D2D Device-to-Device " \
		      "H2H Host-to-Host P2P Peer-to-Peer", words, " ")
		for (i = 1; i < 12; i += 2)
			long[words[i]] = words[i + 1]
	}
	{ print $0, $4 == "set" ? "[CUDA memset]" : $3 == "transfer" ? "[CUDA memcpy " long[$17] "]" : \
		$18 == "" ? "(unknown)" : $18 }'
}

# is_gpu NAME LAYER: the four reports on the GPU's work are what the records of LAYER say
is_gpu()
{
	local name=$1 layer=$2 out=$work/data/$1

	launched "$name" "$layer" | operation | awk -F'\t' -v OFS='\t' '{ print $NF, $12, 0 }' |
		is_sum "$name" cuda_gpu_kern_sum Instances Name
	moved "$name" "$layer" | operation | awk -F'\t' -v OFS='\t' '{ print $NF, $12, 0 }' |
		is_sum "$name" cuda_gpu_mem_time_sum Count Operation
	moved "$name" "$layer" | operation | awk -F'\t' -v OFS='\t' '{ print $NF, $16, 0 }' | distribution |
		awk -F'\t' -v OFS='\t' -v OFMT=%.9f '{ print $1, $2, $5 / 1e6, $6 / 1e6, $7 / 1e6, $8 / 1e6, $9 / 1e6, $10 / 1e6 }' \
			>"$out.sizes.want"
	csv "$out.cuda_gpu_mem_size_sum.csv" Operation Count "Total (MB)" "Avg (MB)" "Med (MB)" "Min (MB)" \
		"Max (MB)" "StdDev (MB)" >"$out.sizes.got"
	same "$out.sizes.want" "$out.sizes.got" tnmmmmmm "cuda_gpu_mem_size_sum of $name: every row and every number"
	falling "$out.sizes.got" 3 "cuda_gpu_mem_size_sum of $name: the largest total first"

	# Which call caused what the GPU did, and its stream's number, are tests of gpu.sh.
	if [ "$layer" = gpu ]; then
		{ launched "$name" gpu; moved "$name" gpu; } | operation | sort -t "$tab" -k10,10n |
			awk -F'\t' -v OFS='\t' -v OFMT=%.9f '{
				mem = $16 == "" ? "" : $16 / 1e6; shared = $27 == "" ? "" : $27 / 1e6
				print $7 - $12, $12, $21, $22, $23, $24, $25, $26, shared, mem, $NF, $8
			}' >"$out.work.want"
		csv "$out.cuda_gpu_trace.csv" "Start (ns)" "Duration (ns)" GrdX GrdY GrdZ BlkX BlkY BlkZ \
			"DymSMem (MB)" "Bytes (MB)" Name Pid >"$out.work.got"
		in_order "$out.work.want" "$out.work.got" nnnnnnnnmmtn \
			"cuda_gpu_trace of $name: every record of the GPU, in the order of starts"
		return
	fi
	{ launched "$name" "$layer"; moved "$name" "$layer"; } | operation | sort -t "$tab" -k10,10n |
		awk -F'\t' -v OFS='\t' -v OFMT=%.9f '{
			mem = $16 == "" ? "" : $16 / 1e6; shared = $27 == "" ? "" : $27 / 1e6
			print $7 - $12, $12, $10, $21, $22, $23, $24, $25, $26, shared, mem, $20, $NF, $8, $9
		}' >"$out.work.want"
	csv "$out.cuda_gpu_trace.csv" "Start (ns)" "Duration (ns)" CorrId GrdX GrdY GrdZ BlkX BlkY BlkZ \
		"DymSMem (MB)" "Bytes (MB)" Strm Name Pid Tid >"$out.work.got"
	in_order "$out.work.want" "$out.work.got" nnnnnnnnnmmttnn \
		"cuda_gpu_trace of $name: every kernel and copy, in the order of starts"
}

gpu_reports="cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_trace"

t_reports_cuda_gpu()
{
	local name report graphs from

	for name in $(real) basic; do
		facts "$name"
		for report in $gpu_reports; do
			report "$name" "$report"
		done
		is_gpu "$name" user
		graphs=$(awk -F'\t' '$1 == "E" && $3 == "graph" && $4 == "launch"' "$work/data/$name.tsv" | wc -l)
		is "$(sed -n 's/.*: \([0-9]*\) graph launches are left out.*/\1/p' "$work/data/$name.cuda_gpu_kern_sum.notes")" \
			"$([ "$graphs" = 0 ] || echo "$graphs")" "cuda_gpu_kern_sum of $name: says how many graphs are left out"
	done
	"$plain" report --from start cuda_gpu_mem_size_sum "$(trace jax)" >"$work/data/jax.txt" 2>/dev/null
	grep -qE '^ +1\.81 GiB +435 +4\.27 MiB ' "$work/data/jax.txt"
	ok $? "people read sizes in units that fit" || cat "$work/data/jax.txt"
	# Records of the GPU count instead of the calls, unless the calls alone are asked for.
	facts gpu
	for from in gpu user; do
		for report in $gpu_reports; do
			"$plain" report --from start --format csv -f -o "$work/data/gpu.$report.csv" $([ $from = gpu ] || echo --layer user) "$report" "$work/gpu" 2>/dev/null
			ok $? "$report of gpu, from $from"
		done
		is_gpu gpu $from
		"$plain" report $([ $from = gpu ] || echo --layer user) $gpu_reports "$work/gpu" >"$work/data/gpu.txt"
		is "$(grep -c 'without records of the GPU$' "$work/data/gpu.txt")" "$([ $from = gpu ] && echo 0 || echo 4)" \
			"from $from: the titles say so"
		is "$(grep -c 'calls failed and are left out' "$work/data/gpu.txt")" "$([ $from = gpu ] && echo 0 || echo 4)" \
			"from $from: so do notes on calls that failed"
	done
}

t_reports_nvtx()
{
	local name

	for name in $(real) gpu; do
		facts "$name"
		report "$name" nvtx_sum
		awk -F'\t' -v OFS='\t' '
		$5 == "range_push" { n = ++depth[$9]; text[$9, n] = $19; at[$9, n] = $7 }
		$5 == "range_pop" && depth[$9] { n = depth[$9]--; print text[$9, n], $7 - at[$9, n], 0 }' \
			"$work/data/$name.tsv" | is_sum "$name" nvtx_sum Instances Range
		is "$(csv "$work/data/$name.nvtx_sum.csv" Style | grep -vcx PushPop)" 0 "nvtx_sum of $name: the style"
	done
	is "$(sed 's/^cudatrace: nvtx_sum: //' "$work/data/gpu.nvtx_sum.notes" | tr '\n' ' ')" \
		"1 ranges of the trace have no end and are left out. 1 ends of the trace have no begin and are left out. " \
		"nvtx_sum says what is left out"
	# The outermost of the 5,000 lasts 9,999 us, the innermost that is kept 9,999 - 2 * 4,095.
	generate deep
	is "$("$plain" report --format csv nvtx_sum "$work/deep" 2>"$work/err" | tail -n +2 | cut -d, -f2,3,6,7,10)" \
		"24182791000,4097,7000,9999000,range" "nvtx_sum: bounded in depth, and right up to there"
	grep -q '904 ranges more than 4096 deep are left out' "$work/err"
	ok $? "nvtx_sum says so" || cat "$work/err"
	# A range counts where it began.
	is "$("$plain" report --format csv --from 0.016 nvtx_sum "$work/gpu" 2>/dev/null | tail -n +2 | cut -d, -f2,3,9-)" \
		'70000,2,PushPop,"inner, ""quoted"""' "nvtx_sum --from: ranges that began before are left out, not taken apart"
	is "$("$plain" report --format csv --name 'step*' nvtx_sum "$work/gpu" 2>/dev/null | tail -n +2 | cut -d, -f1-3,10)" \
		"100.0,290000,2,step 1" "nvtx_sum --name: by the text"
	is "$("$plain" report --format csv --tid 4243 nvtx_sum "$work/gpu" 2>/dev/null | tail -n +2 | cut -d, -f2,3,10)" \
		"100000,1,step 1" "nvtx_sum --tid"
}

t_reports_osrt()
{
	local name

	for name in $(real) basic files both objects; do
		facts "$name"
		report "$name" osrt_sum
		# One function of the ioctl path inside the other is one ioctl.
		awk -F'\t' -v OFS='\t' '
		$28 == "" || $10 == "" { next }
		$1 == "B" { open[$2, $9]++; next }
		$12 != "" && --open[$2, $9] == 0 { seen[$2] = 1; lines[++n] = $2 OFS $28 OFS $12 OFS $14 }
		END {
			for (i = 1; i <= n; i++) {
				split(lines[i], f, "\t")
				if (f[1] == ("kernel" in seen ? "kernel" : "user"))
					print f[2], f[3], f[4]
			}
		}' "$work/data/$name.tsv" >"$work/data/$name.ioctls"
		is_sum "$name" osrt_sum "Num Calls" Ioctl <"$work/data/$name.ioctls"
		distribution <"$work/data/$name.ioctls" | cut -f1,3 >"$work/data/$name.ioctls.want"
		csv "$work/data/$name.osrt_sum.csv" Ioctl Failed >"$work/data/$name.ioctls.got"
		same "$work/data/$name.ioctls.want" "$work/data/$name.ioctls.got" tn "osrt_sum of $name: which failed"
		is "$(csv "$work/data/$name.osrt_sum.csv" Name | grep -vcx ioctl)" 0 "osrt_sum of $name: nsys's name"
	done
}

# --sort: each table that has the column; a wrong one leaves no file.  A report that is named twice.
t_reports_sort()
{
	local dir out=$work/data/sort name

	dir=$(trace train)
	mkdir -p "$work/data"
	for name in iterations gaps stages; do
		"$plain" report --from start --sort "Duration (ns)" --format csv $name "$dir" 2>/dev/null >"$out.csv"
		ok $? "$name by duration"
		# Of each table that has it.
		awk -F, 'NF < 2 { at = 0; next } !at { for (i = 1; i <= NF; i++) if ($i == "Duration (ns)") { at = i; last = -1 }
			at = at ? at : 999; next } at < 999 { n++; bad += last >= 0 && $at > last; last = $at }
			END { exit bad || n < 6 }' "$out.csv"
		ok $? "$name by duration: the longest first" || head "$out.csv"
	done
	is "$("$plain" report --sort -duration --top 1 stages "$dir" | sed -n 3p | awk '{ print $3 }')" weights "stages for people by duration"
	for name in errors "gaps errors"; do
		rm -f "$out"*
		# shellcheck disable=SC2086
		"$plain" report --from start --sort nothing --format csv -o "$out.csv" $name "$dir" 2>"$work/sort.err"
		is "$?,$(find "$work/data" -name 'sort*' | wc -l),$(grep -c "column 'nothing'" "$work/sort.err")" "64,0,1" "no such column of $name" ||
			cat "$work/sort.err"
	done
	# The first rows of many are those of all, with their texts; what is left out is counted.
	for name in "Duration (ns)" -duration Name -kernel; do
		"$plain" report --from start --sort "$name" --format csv cuda_api_trace "$(trace gpt2)" 2>/dev/null | head -n 31 >"$out.csv"
		"$plain" report --from start --sort "$name" --format csv --top 30 cuda_api_trace "$(trace gpt2)" 2>/dev/null | diff "$out.csv" - >"$out.diff"
		ok $? "the first of a long list by $name" || head -n 4 "$out.diff"
	done
	is "$("$plain" report --sort duration --top 30 cuda_api_trace "$(trace gpt2)" 2>/dev/null | sed -n 's/^  \.\.\. and \([0-9,]*\) more.*/\1/p' | tr -d ,)" \
		"$(($("$plain" report --format csv cuda_api_trace "$(trace gpt2)" 2>/dev/null | wc -l) - 31))" "and how many more there are"
	# Of so many rows the sanitized command would say nothing about memory.
	[ ! -x build/cudatrace ] || {
		"$b/usage" "$work/used" build/cudatrace report --sort duration --top 5 cuda_api_trace "$(trace gpt2)" >/dev/null 2>&1
		[ "$(awk '{ print int($3) }' "$work/used")" -lt 40000 ]
		ok $? "a list that is sorted and cut is not kept in memory" || cat "$work/used"
	}
	is "$("$plain" report --from start --all summary summary --format json "$dir" 2>/dev/null | grep -c '^"summary"')" 1 "a report that is named twice is printed once"
	"$plain" report -f errors errors -o "$out.csv" "$dir" && [ -s "$out.csv" ]
	ok $? "and has one file"
}

# Figures of a simulated GPU are labelled, for people; others are not.
t_reports_simulated()
{
	local dir name

	for name in guest-inference gpt2; do
		dir=$(trace "$name")
		{
			"$plain" report "$dir"
			"$plain" report --from start sync "$dir"
			"$plain" report cuda_api_trace --top 3 "$dir"
			"$plain" report stages errors "$dir"
			"$plain" explain "$dir"
			"$plain" explain --slowest 2 "$dir"
			"$plain" explain --at "$([ "$name" = gpt2 ] && echo 15400 || echo 500)" "$dir"
			"$plain" diff "$dir" "$dir"
		} >"$work/data/$name.label" 2>/dev/null
		is "$(grep -c '^\*\*\* SIMULATED GPU' "$work/data/$name.label"),$(grep -c '^  [AB]: a simulated GPU' "$work/data/$name.label")" \
			"$([ "$name" = gpt2 ] && echo 0,0 || echo 7,2)" "$name: figures of a simulated GPU are labelled, no others" ||
			grep -n -i simulated "$work/data/$name.label"
	done
	"$plain" report --from start --format csv sync "$(trace guest-inference)" 2>/dev/null | head -n 1 | grep -q '^Time (%),'
	ok $? "a table for programs has no label"
}

# Every report in a terminal of 80 columns: no line is longer, and nothing of a trace is lost.
t_reports_width()
{
	local name

	for name in gpt2 jax gpu; do
		COLUMNS=80 "$plain" report --from start cuda_api_sum cuda_api_trace $gpu_reports nvtx_sum osrt_sum "$(trace "$name")" \
			2>/dev/null >"$work/data/$name.80"
		is "$(awk 'length > 80' "$work/data/$name.80")" "" "reports on $name fit 80 columns"
	done
	# Titles and notes, too; all words of them are there.
	for name in gpt2 guest-two guest-flight guest-lost memory; do
		COLUMNS=80 "$plain" report --from start --all "$(trace "$name")" 2>/dev/null >"$work/data/$name.80"
		COLUMNS=80 "$plain" explain --slowest 3 "$(trace "$name")" 2>/dev/null >>"$work/data/$name.80"
		is "$(LC_ALL=C.UTF-8 awk 'length > 80' "$work/data/$name.80")" "" "all reports on $name fit 80 columns"
	done
	COLUMNS=80 "$plain" report --from start sync "$(trace gpt2)" | grep -A2 '^  avg to next' | tr -s '\n ' ' ' |
		grep -q ' avg to next: from the end of it until the process launches or copies something, where no other synchronisation comes before. '
	ok $? "a long note goes on in the next line"
}
