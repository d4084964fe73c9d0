# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The reports on programs and on the driver, compared with what jq and awk make of the JSON Lines
# of the same trace.  Sourced by run.sh; the functions that both need are in reports.sh.

# part N FILE: table number N of a report with several tables in csv
part() { awk -v RS= -v n="$1" 'NR == n' "$2"; }

# details NAME WORDS FILTER COLUMN...: lines of the JSON Lines that jq's FILTER selects, as these
# columns.  jq is slow: it gets only lines in which gawk finds WORDS, a condition that is true of
# all lines that FILTER selects.
details()
{
	local name=$1 words=$2 filter=$3
	shift 3
	facts "$name"
	gawk "/^{/ && ($words)" "$work/data/$name.jsonl" | jq -r "select($filter) | [$(IFS=,; echo "$*")] |
		map(if . == null then \"\" else tostring end) | join(\"\t\")"
}

now='(.ts * 1e6 | round)'
took='(if .duration_us then .duration_us * 1000 | round else null end)'
code='(if .result_code != null then .result_code elif (.result | type) == "number" then .result else null end)'

# ------------------------------------------------------------------- errors ---

t_reports_errors()
{
	local name out

	for name in $(real) basic objects; do
		out=$work/data/$name.errors
		details "$name" '!/"phase":"B"/ && (/"cmd":/ || !/"result_code":0[,}]/)' '.phase != "B" and .op_id != null' .layer .name "$code" .result .ret .status \
			"$now" "($took // 0)" .pid '.details.cmd' '.details.ret' '.details.status' |
		awk -F'\t' -v OFS='\t' '
		{
			layer = $1; number = $3; name = ""; failed = 0
			if ($10 != "") {
				failed = $11 < 0 || ($12 != "" && $12 != "NV_OK")
				if ($11 < 0) { number = $11; name = $4 != $3 ? $4 : "" }
				else { number = "status"; name = $12 }
			} else if (layer == "user") {
				failed = number != "" && number != 0 && number != 600
				name = $4 != number ? $4 : ""
			} else {
				failed = number != "" && number < 0 && number >= -4095
				name = $4 != number ? $4 : ""
			}
		}
		failed {
			key = $2 OFS name OFS number
			begin = $7 - $8
			if (!(key in count) || begin < first[key]) first[key] = begin
			if (!(key in count) || begin > last[key]) last[key] = begin
			count[key]++
			if (!((key, $9) in seen)) { seen[key, $9]; pids[key]++ }
		}
		END { for (key in count) print key, count[key], first[key], last[key], pids[key] }' >"$out.want"
		report "$name" errors
		csv "$out.csv" Name Result Code Calls "First (ns)" "Last (ns)" Pids |
			awk -F'\t' -v OFS='\t' '{ if ($3 ~ /^0x/) $3 = "status"; $7 = split($7, all, " "); print }' >"$out.got"
		same "$out.want" "$out.got" tttnnnn "errors of $name: every row and every number"
		falling "$out.got" 4 "errors of $name: the most frequent first"
	done
}

# ------------------------------------------------------------------- memory ---

# What each process holds, as awk says it: "sum", "time" and "leak" rows.
memory_rows()
{
	awk -F'\t' -v OFS='\t' '
	function add(kind, size, ts,   k) {
		k = pid OFS kind
		if (!(k in all)) { all[k] = 0; order[++kinds] = k }
		all[k]++; total[k] += size; held[k] += size; blocks[k]++
		if (held[k] > peak[k]) { peak[k] = held[k]; peak_at[k] = ts }
	}
	function change(ts) { moments[++changes] = pid OFS ts OFS held[pid OFS "gpu"] }
	function allocate(key, kind, size, ts) {
		live[key] = size; kinds_of[key] = kind; since[key] = ts; by[key] = $2; owner[key] = pid
		add(kind, size, ts)
		if (kind != "host") { add("gpu", size, ts); change(ts) }
	}
	function release(key, ts,   k) {
		k = kinds_of[key]
		freed[pid OFS k]++; held[pid OFS k] -= live[key]; blocks[pid OFS k]--
		if (k != "host") {
			freed[pid OFS "gpu"]++; held[pid OFS "gpu"] -= live[key]; blocks[pid OFS "gpu"]--
			change(ts)
		}
		delete live[key]
	}
	{ pid = $1; name = $2; ts = $3; size = $5; at = $6; handle = $7 }
	$4 != 0 { next }
	name ~ /^cuMemAlloc(Pitch)?$/ { allocate(pid "a" at, "device", size, ts) }
	name ~ /^cuMemAlloc(Async|FromPoolAsync)$/ { allocate(pid "a" at, "pool", size, ts) }
	name == "cuMemAllocManaged" { allocate(pid "a" at, "managed", size, ts) }
	name ~ /^cuMem(AllocHost|HostAlloc|HostRegister)$/ { allocate(pid "a" at, "host", size, ts) }
	name == "cuMemCreate" { allocate(pid "h" handle, "virtual", size, ts) }
	name ~ /^cu(Array|Array3D|MipmappedArray)Create$/ { allocate(pid "r" handle, "array", size, ts) }
	name ~ /^cuMem(Free|FreeAsync|FreeHost|HostUnregister)$/ {
		if (at != "0x0" && (pid "a" at) in live) release(pid "a" at, ts); else unknown += at != "0x0"
	}
	name == "cuMemMap" && (pid "h" handle) in live { maps[pid "h" handle]++; mapping[pid at] = handle }
	name == "cuMemRelease" && (pid "h" handle) in live {
		if (maps[pid "h" handle]) going[pid "h" handle] = 1; else release(pid "h" handle, ts)
	}
	name == "cuMemUnmap" && (pid at) in mapping {
		handle = mapping[pid at]; delete mapping[pid at]
		if (--maps[pid "h" handle] == 0 && going[pid "h" handle]) release(pid "h" handle, ts)
	}
	name ~ /^cuArrayDestroy|cuMipmappedArrayDestroy$/ && (pid "r" handle) in live { release(pid "r" handle, ts) }
	END {
		for (i = 1; i <= kinds; i++) {
			k = order[i]
			print "sum", k, all[k], freed[k] + 0, total[k], peak[k], peak_at[k], held[k], blocks[k]
		}
		for (key in live) {
			k = owner[key] OFS by[key]
			count[k]++; bytes[k] += live[key]
			if (!(k in first) || since[key] < first[k]) first[k] = since[key]
			if (since[key] > last[k]) last[k] = since[key]
			if (!(k in least) || live[key] < least[k]) least[k] = live[key]
			if (live[key] > most[k]) most[k] = live[key]
		}
		for (k in count)
			print "leak", k, count[k], bytes[k], first[k], last[k], least[k], most[k]
		# Parts of the time: at most 200 of a process, of 1024 ns times a power of two.
		for (i = 1; i <= changes; i++) {
			split(moments[i], m, OFS)
			if (!(m[1] in begin)) { begin[m[1]] = m[2]; width[m[1]] = 1024 }
			while ((m[2] - begin[m[1]]) / width[m[1]] >= 200) width[m[1]] *= 2
		}
		for (i = 1; i <= changes; i++) {
			split(moments[i], m, OFS)
			part = m[1] OFS int((m[2] - begin[m[1]]) / width[m[1]])
			if (!(part in top) || m[3] > top[part]) { top[part] = m[3]; top_at[part] = m[2] }
			after[part] = m[3]
		}
		for (part in top) {
			split(part, m, OFS)
			print "time", m[1], top_at[part], top[part], after[part]
		}
		print "unknown", unknown + 0
	}'
}

# is_memory NAME: the three tables of the report are what awk says
is_memory()
{
	local out=$work/data/$1.memory

	details "$1" '/"type":"memory"/' '.phase == "E" and .layer == "user" and .type == "memory"' .pid .name "$now" "$code" .size \
		.details.ptr .details.handle | memory_rows >"$out.rows"
	report "$1" memory
	for kind in sum leak time; do
		sed -n "s/^$kind$tab//p" "$out.rows" >"$out.$kind.want"
	done
	part 1 "$out.csv" >"$out.1.csv"
	csv "$out.1.csv" Pid Kind Allocations Frees "Allocated (bytes)" "Peak (bytes)" "Peak Time (ns)" \
		"Held (bytes)" Held >"$out.sum.got"
	same "$out.sum.want" "$out.sum.got" ntnnnnnnn "memory of $1: by process and kind"
	part 2 "$out.csv" >"$out.2.csv"
	csv "$out.2.csv" Pid "Time (ns)" "Peak (bytes)" "After (bytes)" >"$out.time.got"
	same "$out.time.want" "$out.time.got" nnnn "memory of $1: over time"
	part 3 "$out.csv" >"$out.3.csv"
	csv "$out.3.csv" Pid Name Allocations "Total (bytes)" "First (ns)" "Last (ns)" "Smallest (bytes)" \
		"Largest (bytes)" >"$out.leak.got"
	same "$out.leak.want" "$out.leak.got" ntnnnnnn "memory of $1: what was never freed"
	is "$(sed -n 's/.*: \([0-9]*\) frees were of memory.*/\1/p' "$work/data/$1.memory.notes")" \
		"$(sed -n "s/^unknown$tab\([1-9].*\)/\1/p" "$out.rows")" "memory of $1: frees of what is not known"
}

t_reports_memory()
{
	local name

	for name in $(real); do
		is_memory "$name"
	done
	# Every way to hold memory, in a program that another one follows under its pid.
	report memory memory
	sed '/^$/d' "$work/data/memory.memory.csv" | cut -d, -f1,3- | diff - <(cat <<'END'
Pid,Kind,Allocations,Frees,Allocated (bytes),Peak (bytes),Peak Time (ns),Held (bytes),Held
4242,device,1,0,1000,1000,3500,1000,1
4242,pool,1,1,200,200,5500,0,0
4242,virtual,1,1,100000,100000,9500,0,0
4242,managed,1,0,30,30,6500,30,1
4242,array,1,1,6000,6000,13500,0,0
4242,host,2,1,50004,50004,8500,4,1
4242,gpu,5,3,107230,107230,13500,1030,2
4242,device,1,0,5,5,32500,5,1
4242,gpu,1,0,5,5,32500,5,1
Pid,Time (ns),Peak (bytes),After (bytes)
4242,3500,1000,1000
4242,5500,1200,1200
4242,6500,1230,1230
4242,9500,101230,101230
4242,13500,107230,107230
4242,14500,107030,107030
4242,15500,7030,7030
4242,16500,1030,1030
4242,32500,5,5
Pid,Name,Allocations,Total (bytes),First (ns),Last (ns),Smallest (bytes),Largest (bytes),Afterwards
4242,cuMemAlloc,1,1000,3500,3500,1000,1000,the program ended
4242,cuMemAllocManaged,1,30,6500,6500,30,30,the program ended
4242,cuMemHostAlloc,1,4,7500,7500,4,4,the program ended
4242,cuMemAlloc,1,5,32500,32500,5,5,
END
	)
	ok $? "memory: every interface, failed calls, what is mapped, another program of the same pid"
	is "$(sed -n 's/.*: \([0-9]*\) frees were of memory.*/\1/p' "$work/data/memory.memory.notes")" 2 \
		"memory: frees of what another program or nobody allocated"
	is "$(grep '^4242,' "$work/data/memory.memory.csv" | cut -d, -f2 | uniq -c | awk '{ print $1 $2 }' | paste -sd ' ')" \
		"7first 2second 8first 1second 3first 1second" "memory: each program has its own name"
	# What a part of the time holds is not all; of a process it is.
	is "$(for name in "--from 5000" "--to 5000" "--name cuMemA*" "--pid 549" "--layer user"; do
		# shellcheck disable=SC2086
		"$plain" report --from start $name memory "$(trace train)" | grep -c 'that the filter leaves out'
	done | paste -sd ' ')" "1 1 1 0 0" "memory: of a part of the calls it says so"
	report memory processes
	is "$(csv "$work/data/memory.processes.csv" Process Generation Calls "Peak Memory (bytes)" | tr '\t\n' '  ')" \
		"first 0 18 107230 second 1 2 5 " "processes: two programs of one pid"
}

# ------------------------------------------------------- threads, processes ---

t_reports_threads()
{
	local name out

	for name in $(real); do
		facts "$name"
		out=$work/data/$name.threads
		awk -F'\t' -v OFS='\t' '
		function begins(ts) { if (!(key in first) || ts < first[key]) first[key] = ts }
		FNR == NR { ended[$10] = $10 != "" && $1 != "B"; next }
		$9 == 0 || $3 == "tracer" { next }
		$1 == "B" && ended[$10] { open[$8, $9]++; next }
		{
			key = $8 OFS $9
			begins($1 == "E" ? $7 - $12 : $7)
			if (!(key in last) || $7 > last[key]) last[key] = $7
			api = $2 == "user" && $10 != "" && $3 != "syscall" && $28 == ""
			calls[key] += api
			launches[key] += api && $4 == "launch" && ($3 == "kernel" || $3 == "graph") && $1 != "B"
			if ($1 == "E" && $5 == "sched_switch") { off[key] += $12; switches[key]++ }
			# All calls of these traces are of libcuda: the outermost have depth 0.
			if ($1 == "E" && api && $11 == 0) inside[key] += $12
			if ($1 == "E" && api && $3 == "sync" && $11 == 0) waiting[key] += $12
		}
		END {
			for (key in first)
				print key, first[key], last[key], calls[key] + 0, launches[key] + 0,
					inside[key] + 0, waiting[key] + 0, off[key] + 0, switches[key] + 0
		}' "$work/data/$name.tsv" "$work/data/$name.tsv" >"$out.want"
		report "$name" threads
		csv "$out.csv" Pid Tid "First (ns)" "Last (ns)" Calls Launches "In Calls (ns)" "Waiting (ns)" \
			'Off CPU (ns)' Switches | awk -F'\t' -v OFS='\t' '{ $9 += 0; $10 += 0; print }' >"$out.got"
		same "$out.want" "$out.got" nnnnnnnnnn "threads of $name: every row and every number"
		falling "$out.got" 7 "threads of $name: the one that was in calls for longest first"

		report "$name" processes
		awk -F'\t' -v OFS='\t' '
		{ if (!($1 in from) || $3 < from[$1]) from[$1] = $3; if ($4 > to[$1]) to[$1] = $4
		  threads[$1]++; calls[$1] += $5; launches[$1] += $6 }
		END { for (pid in from) print pid, 0, from[pid], to[pid], threads[pid], calls[pid], launches[pid] }' \
			"$out.want" >"$out.processes.want"
		csv "$work/data/$name.processes.csv" Pid Generation "Begin (ns)" "End (ns)" Threads Calls Launches \
			>"$out.processes.got"
		same "$out.processes.want" "$out.processes.got" nnnnnnn "processes of $name: every row and every number"
		details "$name" '/"name":"process"/' '.name == "process"' .pid '(.text | split(" ")[0] | split("/")[-1])' |
			awk -F'\t' -v OFS='\t' '{ name[$1] = $2 } END { for (pid in name) print pid, name[pid] }' \
				>"$out.names.want"
		csv "$work/data/$name.processes.csv" Pid Process | awk -F'\t' '$2 != ""' >"$out.names.got"
		same "$out.names.want" "$out.names.got" nt "processes of $name: their names"
	done
}

# --------------------------------------------------------------------- lost ---

t_reports_lost()
{
	local name out

	for name in $(real); do
		facts "$name"
		out=$work/data/$name.lost
		report "$name" lost
		# babeltrace2 can't tell what was lost before a stream's first packet.
		is "$(csv "$out.csv" Stream Records | awk -F'\t' '/^k-/ { print $2 }' | awk '{ n += $1 } END { print n + 0 }')" \
			"$(babeltrace2 "$(trace "$name")" 2>&1 >/dev/null | sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' |
			awk '{ n += $1 } END { print n + 0 }')" "lost of $name: as many records as babeltrace2 says"
	done
	report basic lost
	is "$(csv "$work/data/basic.lost.csv" Records | awk '{ n += $1 } END { print n }')" "$(fact basic lost)" \
		"lost of basic: all that are lost"
	# Of each CPU and reason the last counter is valid.
	details guest-lost '/"stream_stat"/' '.name == "stream_stat" and .details.lost > 0' '"k-\(.details.cpu)"' .details.reason \
		.details.lost | awk -F'\t' -v OFS='\t' '
		BEGIN { split("full nested rate share", words, " ") }
		{ n[$1 OFS words[$2 + 1]] = $3 }
		END { for (key in n) print key, n[key] }' >"$work/data/lost.want"
	csv "$work/data/guest-lost.lost.csv" Stream Reason Records | grep '^k-' >"$work/data/lost.got"
	same "$work/data/lost.want" "$work/data/lost.got" ttn "lost of guest-lost: by CPU and reason"
	grep -q 'do: .*session limit --rate' "$work/data/guest-lost.lost.notes"
	ok $? "lost of guest-lost: says what to do"
}

# ------------------------------------------------------------------- driver ---

# by_kernel NAME: did the module see ioctls?
by_kernel() { awk -F'\t' '$2 == "kernel" && $28 != "" { found = 1; exit } END { exit !found }' "$work/data/$1.tsv"; }

t_reports_ioctl_sum()
{
	local name out layer

	for name in $(real) objects; do
		facts "$name"
		out=$work/data/$name.ioctl_sum
		by_kernel "$name" && layer=kernel || layer=user
		# No ioctl of these traces has another one around it.
		details "$name" '/"cmd":/' ".phase == \"E\" and .layer == \"$layer\" and .details.cmd != null" .device \
			'.escape // .details.cmd' '.control // .class // .details.code' "$took" "$code" .status |
			awk -F'\t' -v OFS='\t' '{ print $1 "|" $2 "|" $3, $4, ($5 < 0 || ($6 != "" && $6 != "NV_OK")) + 0 }' |
			distribution | awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, $4, $5, $6, $7, $9 }' >"$out.want"
		report "$name" ioctl_sum
		csv "$out.csv" Device Ioctl Command "Num Calls" Failed "Time (%)" "Total Time (ns)" "Avg (ns)" \
			"Med (ns)" "Max (ns)" | awk -F'\t' -v OFS='\t' '{ $3 = $1 "|" $2 "|" $3; print }' | cut -f3- >"$out.got"
		same "$out.want" "$out.got" tnndndpn "ioctl_sum of $name: every row and every number"
		falling "$out.got" 5 "ioctl_sum of $name: the largest total first"
	done
	# The kernel saw one of two ioctls of the program, by two entry functions: it counts once.
	report both ioctl_sum
	is "$(csv "$work/data/both.ioctl_sum.csv" Ioctl "Num Calls" | tr '\t' ' ')" "NV_ESC_RM_CONTROL 1" \
		"ioctl_sum of both: an ioctl counts once"
}

t_reports_driver_sum()
{
	local name out

	for name in $(real | grep guest) basic objects; do
		facts "$name"
		out=$work/data/$name.driver_sum
		awk -F'\t' -v OFS='\t' '$2 == "kernel" && $10 != "" && $1 != "B" && $3 != "switch" { print $5, $12, $14, $3 }' \
			"$work/data/$name.tsv" >"$out.calls"
		# The share is of the self times, so it is left out here.
		distribution <"$out.calls" | awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, $5, $6, $7, $9, $12 }' >"$out.want"
		report "$name" driver_sum
		csv "$out.csv" Name "Num Calls" Failed "Total Time (ns)" "Avg (ns)" "Med (ns)" "Max (ns)" "P99 (ns)" >"$out.got"
		same "$out.want" "$out.got" tnnndpnp "driver_sum of $name: every row and every number"
		csv "$out.csv" Name Type >"$out.types"
		cut -f1,4 "$out.calls" | sort -u >"$out.types.want"
		same "$out.types.want" "$out.types" tt "driver_sum of $name: types"
		# Self times are what is left when the calls inside are taken away: by the folded stacks.
		csv "$out.csv" "Self (ns)" "Time (%)" | awk '{ n += $1; p += $2 } END { exit !(NR == 0 || (p > 99 && p < 101)) }'
		ok $? "driver_sum of $name: the shares add up"
		falling <(csv "$out.csv" Name "Self (ns)") 2 "driver_sum of $name: the most self time first"
	done
}

t_reports_switches()
{
	local name out

	for name in $(real | grep guest) objects; do
		facts "$name"
		out=$work/data/$name.switches
		details "$name" '/"sched_switch"/' '.name == "sched_switch"' .phase .pid .tid .op_id "$took" .details.state .details.other \
			.details.waker .details.runnable_ns >"$out.lines"
		awk -F'\t' -v OFS='\t' '
		$1 != "E" { next }
		{
			key = $2 OFS $3; all[key]++; off[key] += $5; run[key] += $9
			if ($5 > most[key]) most[key] = $5
			digit = index("0123456789abcdef", substr($6, length($6))) - 1
			why = $6 == "0x0" ? 1 : digit % 2 ? 2 : int(digit / 2) % 2 ? 3 : 4
			n[key, why]++; ns[key, why] += $5
		}
		END {
			for (key in all) {
				line = key OFS all[key] OFS off[key] OFS most[key]
				for (why = 1; why <= 4; why++)
					line = line OFS n[key, why] + 0 OFS ns[key, why] + 0
				print line, run[key]
			}
		}' "$out.lines" >"$out.want"
		report "$name" switches
		part 1 "$out.csv" >"$out.1.csv"
		csv "$out.1.csv" Pid Tid Switches "Off CPU (ns)" "Longest (ns)" Preempted "Preempted (ns)" Sleeping \
			"Sleeping (ns)" Uninterruptible "Uninterruptible (ns)" Other "Other (ns)" "Waiting to Run (ns)" >"$out.got"
		same "$out.want" "$out.got" nnnnnnnnnnnnnn "switches of $name: by thread and reason"
		awk -F'\t' -v OFS='\t' '
		$1 == "B" { next_of[$4] = $7 }
		$1 == "E" && $4 in next_of { key = $3 OFS next_of[$4]; n[key]++; ns[key] += $5 }
		END { for (key in n) print key, n[key], ns[key] }' "$out.lines" >"$out.next.want"
		part 2 "$out.csv" >"$out.2.csv"
		csv "$out.2.csv" Tid "Next Tid" Switches "Off CPU (ns)" >"$out.next.got"
		[ "$name" = objects ] || same "$out.next.want" "$out.next.got" nnnn "switches of $name: who ran then"
		awk -F'\t' -v OFS='\t' '
		$1 == "E" && ($8 || $6 != "0x0") { key = $3 OFS $8; n[key]++; ns[key] += $5 }
		END { for (key in n) print key, n[key], ns[key] }' "$out.lines" >"$out.wakers.want"
		part 3 "$out.csv" >"$out.3.csv"
		csv "$out.3.csv" Tid "Waker Tid" Switches "Off CPU (ns)" >"$out.wakers.got"
		same "$out.wakers.want" "$out.wakers.got" nnnn "switches of $name: who woke them"
	done
}

t_reports_blocks()
{
	local name out

	for name in $(real | grep guest) objects; do
		out=$work/data/$name.blocks
		details "$name" '/"name":"(nv|os)_(alloc|free)_/' '.layer == "kernel" and (.name | test("^(nv|os)_(alloc|free)_(pages|mem|kernel_mapping)$"))' \
			.phase .name .pid "$now" .details.size .details.ptr |
			awk -F'\t' -v OFS='\t' '
			{ family = $2; sub(/alloc|free/, "", family); key = family $6 }
			$6 == "" || $6 == "0x0" { next }
			$1 == "E" && $2 ~ /alloc/ { held[key] = $6 OFS $2 OFS $3 OFS $4 OFS $5; next }
			$1 == "B" && $2 ~ /free/ { delete held[key] }
			END { for (key in held) print held[key] }' >"$out.want"
		report "$name" blocks
		part 2 "$out.csv" >"$out.2.csv"
		csv "$out.2.csv" Address Name Pid "Time (ns)" "Size (bytes)" >"$out.got"
		same "$out.want" "$out.got" ttnnn "blocks of $name: each block that was not freed"
		part 1 "$out.csv" >"$out.1.csv"
		is "$(csv "$out.1.csv" Blocks "Total (bytes)" | awk '{ n += $1; b += $2 } END { print n + 0, b + 0 }')" \
			"$(awk -F'\t' '{ b += $5 } END { print NR, b + 0 }' "$out.want")" "blocks of $name: their sums"
	done
}
