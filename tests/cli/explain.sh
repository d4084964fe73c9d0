# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The tree of a call and the comparison of two traces, against what awk and jq make of the JSON
# Lines.  Sourced by run.sh; trace(), real() and facts() are those of reports.sh.

# call_lines NAME: $work/data/NAME.calls, a line for each point of a call, in the order of time:
# phase, op_id, depth, tid, type, ns since the begin, duration in ns, name, 1: its begin is there
call_lines()
{
	[ ! -e "$work/data/$1.calls" ] || return 0
	facts "$1"
	awk -F '\t' -v OFS='\t' '$10 != "" && $1 != "I" {
		begun[$10] = begun[$10] || $1 == "B"
		print $1, $10, $11, $9, $3, $7, $12, $5, begun[$10]
	}' "$work/data/$1.tsv" >"$work/data/$1.calls"
}

# tree NAME OP TID: what is inside a call of a thread, by awk: op_id, depth, duration, self time.  Self is what is
# left of the duration without that of what lies directly inside: calls, interrupts of this thread,
# time off the CPU.
tree()
{
	awk -F '\t' -v want="$2" -v tid="$3" '
	$4 != tid { next }
	$1 == "B" && ($2 == want || depth) {
		op[++depth] = $2; first[depth] = ++count; id[count] = $2; at[$2] = count
		level[count] = depth - 1; parent[count] = depth > 1 ? at[op[depth - 1]] : 0
	}
	$1 == "E" && depth {
		if (!($2 in at))
			next
		n = at[$2]
		duration[n] = $7
		inside[parent[n]] += $7
		depth = level[n]
		if ($2 == want)
			exit
	}
	END {
		for (n = 1; n <= count; n++)
			print id[n], level[n], duration[n], duration[n] - inside[n]
	}' "$work/data/$1.calls"
}

# One call of a real trace.
same_tree()
{
	"$plain" explain --call "$2" --format json "$(trace "$1")" 2>/dev/null >"$work/tree.json"
	jq -r '.call_tree[] | select(.State != "later" and ."Duration (ns)" != null) |
		[."Op ID", .Depth, ."Duration (ns)", ."Self (ns)"] | join(" ")' "$work/tree.json" | sort -n >"$work/tree.got"
	tree "$1" "$2" "$3" | sort -n >"$work/tree.all"
	if [ "$(wc -l <"$work/tree.all")" -gt 1000 ]; then
		# The largest thousand are shown: all of them are right.
		[ "$(grep -cxFf "$work/tree.got" "$work/tree.all")" -ge 990 ] || return 1
		[ "$(comm -23 <(sort "$work/tree.got") <(sort "$work/tree.all") | wc -l)" = 0 ] || return 1
	else
		cmp -s "$work/tree.got" "$work/tree.all" || return 1
	fi
	# What its time is made of is all of it.
	jq -e --argjson total "$(awk -v op="$2" '$1 == op { print $3 }' "$work/tree.all")" \
		'[.call_time[]."Total Time (ns)"] | add // 0 | . == $total' "$work/tree.json" >/dev/null
}

t_call_tree()
{
	local name op tid bad seen

	for name in $(real); do
		# An archive of several traces has none of its own name.
		[ -e "$(trace "$name")" ] || continue
		call_lines "$name"
		bad='' seen=0
		# The longest calls, and one in many; none of which a part was lost.
		while read -r op tid; do
			seen=$((seen + 1))
			same_tree "$name" "$op" "$tid" || bad="$bad $op"
		done < <(awk -F '\t' '$1 == "E" && $5 != "interrupt" && $3 == 0 && $7 != "" && $9 && $8 != "sched_switch" {
				print $7, $2, $4 }' "$work/data/$name.calls" | sort -rn | awk 'NR <= 2 || NR % 2503 == 0 { print $2, $3 }' | head -n 4)
		[ -z "$bad" ] && [ $seen -gt 0 ]
		ok $? "call trees of $name are what awk finds: $seen calls" || {
			echo "# not:$bad"; diff "$work/tree.got" "$work/tree.all" | head -n 5
		}
	done

	# Every layer.
	"$plain" explain --call 1 --format json "$(trace layers)" 2>/dev/null >"$work/layers.json"
	is "$(jq -c '[.call_tree[] | [.Depth, ."Start (ns)", ."Self (ns)", .Layer]]' "$work/layers.json")" \
		'[[0,0,4000,"cudart"],[1,2000,16000,"libcuda"],[2,10000,4000,"syscall"],[3,12000,40000,"kernel"],[4,20000,2000,"kernel"],[4,30000,30000,"off cpu"],[5,65000,4000,"later"],[4,70000,4000,"irq"]]' \
		"a call through all layers, and what it queued for another thread"
	is "$(jq -c '[.call_time[] | ."Total Time (ns)"]' "$work/layers.json")" \
		'[4000,16000,4000,40000,2000,4000,20000,10000]' "its time by layer, between program and driver, asleep and ready to run"
	is "$(jq -c '[.call_meanwhile[] | [.CPU, .Count, ."Total Time (ns)", .Name]]' "$work/layers.json")" \
		'[[0,1,3000,"nvidia_isr"]]' "an interrupt on its CPU meanwhile is not in it"
	COLUMNS=120 "$plain" explain --call 1 "$work/layers" >"$work/layers.txt" 2>/dev/null
	grep -q '^    65.000   4.00 us   4.00 us  later   .*os_execute_work_item' "$work/layers.txt" &&
		grep -q 'off cpu .*asleep; woken by thread 4247; ready for 10.00 us' "$work/layers.txt"
	ok $? "as text" || cat "$work/layers.txt"
	is "$(COLUMNS=80 "$plain" explain --call 1 "$work/layers" 2>/dev/null | awk 'length > 80')" "" "in 80 columns"
	"$plain" explain --call 1 --top 3 "$work/layers" 2>/dev/null | grep -qE '\.\.\. and 1 more of nvidia_ioctl, 76.00 us$'
	ok $? "what is cut away is summed up"

	# Names of ioctls are those of the JSON Lines.
	is "$("$plain" explain --call 5093 --format json "$(trace guest-inference)" 2>/dev/null | jq -c '[.call_tree[] |
			select(.Detail | . and test("nvidiactl|nvidia-uvm|nvidia0")) | .Detail | split(" ")[0]] | sort')" \
		"$("$plain" export "$(trace guest-inference)" 2>/dev/null | jq -s -c '(map(select(.op_id == 5093))) as $c |
			map(select(.phase == "E" and .tid == $c[0].tid and .ts_ns >= $c[0].ts_ns and .ts_ns <= $c[1].ts_ns and .cmd) |
			.control // .class // .escape) | sort')" "ioctls of a call have the names of the JSON Lines"

	# The slowest.
	call_lines gpt2
	is "$("$plain" explain --slowest 5 --format json "$(trace gpt2)" 2>/dev/null | jq -c '[.call_tree[] | select(.Depth == 0) | ."Duration (ns)"]')" \
		"[$(awk -F '\t' '$1 == "E" && $3 == 0 && $7 != "" { print $7 }' "$work/data/gpt2.calls" | sort -rn | head -n 5 | paste -sd ,)]" \
		"the five longest calls"
	# By its name also the program's ioctls, at any depth.
	is "$("$plain" explain --slowest 3 --name ioctl --format json "$(trace gpt2)" | jq -c '[.call_tree[] | select(.Depth == 0) | ."Duration (ns)"]')" \
		"[$(awk -F'\t' '$1 == "E" && $5 == "ioctl" { print $12 }' "$work/data/gpt2.tsv" | sort -rn | head -n 3 | paste -sd ,)]" "the three longest ioctls"
	"$plain" explain --slowest 3 --name 'cuMemcpy*' --format json "$(trace gpt2)" 2>/dev/null |
		jq -e '[.call_tree[] | select(.Depth == 0) | .Name] | length == 3 and all(.[]; startswith("cuMemcpy"))' >/dev/null
	ok $? "the longest of some name"

	# A moment in the middle of a call: what was open.
	"$plain" explain --at 0.02 --format json "$work/layers" 2>/dev/null | jq -e '
		([.[] | select(.What == "open") | .Name] == ["cudaMalloc", "cuMemAlloc", "ioctl", "nvidia_ioctl", "nv_kthread_q_schedule_q_item"]) and
		([.[] | select(.What == "open") | ."End (ns)"] == [80000, 78000, 70000, 68000, 2000]) and
		([.[] | select(.What == "next") | ."Begin (ns)"] == [10000])' >/dev/null
	ok $? "a moment: the calls that were open, and what came next"

	# What is not known is said.
	generate begin
	generate left
	"$plain" explain --call 1 "$work/begin" 2>/dev/null | grep -q 'it never returned'
	ok $? "a call that never returned"
	"$plain" explain --call 4 "$work/begin" 2>/dev/null | grep -q '^its begin was lost'
	ok $? "a call whose begin was lost"
	# Calls behind one whose end was lost are not in it; what is inside another one is.
	generate noends
	is "$("$plain" explain --call 1 --format json "$work/noends" 2>/dev/null | jq -c '[.call_tree[] | [.Depth, .Name, ."Self (ns)", .State]], [.call_time[]."Total Time (ns)"]')" \
		'[[0,"cuStreamSynchronize",10000,"no end"]]
[10000]' "a call whose end was lost lasts until its thread was outside it"
	is "$("$plain" explain --call 3 --format json "$work/noends" 2>/dev/null | jq -c '[.call_tree[] | [.Depth, .Name, ."Self (ns)", .State]]')" \
		'[[0,"cuMemAlloc",2000,null],[1,"nvidia_ioctl",10000,"no end"]]' "inside another call, until that ended"
	is "$("$plain" explain --at 0.02 --format json "$work/noends" 2>/dev/null | jq -c '[.[] | [.What, .Name]]')" \
		'[["open","cuLaunchKernel"],["next","cuMemAlloc"]]' "a moment after it: it is not open"
	is "$("$plain" explain --at 0.00001 --format json "$work/begin" 2>/dev/null | jq -c '[.[] | select(.Tid == 12) | [.What, ."Op ID", ."Begin (ns)", ."End (ns)", .Detail]]')" \
		'[["open",4,-8,20,"handle 0x1"]]' "a moment: a call whose begin was lost is open"
	# A call that queues something, by itself; work of the GPU is no interrupt.
	is "$("$plain" explain --call 5 --format json "$work/layers" 2>/dev/null | jq -c '[.call_tree[] | [.Name, .Layer]]')" \
		'[["nv_kthread_q_schedule_q_item","kernel"],["os_execute_work_item","later"]]' "what the call itself queued"
	generate joined
	is "$("$plain" explain --call 6 --format json "$work/joined" 2>/dev/null | jq -c '[.call_tree[] | [.Name, .Depth, .Layer]]')" \
		'[["gpu_kernel",0,"gpu"]]' "work of the GPU, which is inside no other"
	"$plain" explain --call 1 "$work/left" 2>/dev/null | grep -q 'it was left .* that was noticed 800.00 us later'
	ok $? "a call that was left"
	"$plain" explain --slowest 1 "$work/left" 2>/dev/null | grep -q '^cuMemAlloc: call 2 '
	ok $? "which is not the slowest"
	"$plain" explain --call 99999999 "$work/left" >"$work/out" 2>"$work/err"
	is "$?$(wc -l <"$work/err")$(wc -c <"$work/out")" 110 "no such call: one line, status 1"
	for op in x 0 -1 ''; do
		"$plain" explain --call "$op" "$work/left" >/dev/null 2>&1
		is $? 64 "--call '$op'"
	done
	"$plain" explain --call 1 --slowest 2 "$work/left" >/dev/null 2>&1
	is $? 64 "two questions at once"
}

# Lines of the program in a job: whose they are.
t_lines_of_processes()
{
	local d=$work/lines_of

	mkdir -p "$d"
	tar -xJf tests/data/ranks/sleep.tar.xz -C "$d"
	"$plain" export --format folded --weight wall -o "$d/folded" "$d/sleep"
	is "$(cut -d';' -f1 "$d/folded" | sort -u | paste -sd';')" "python (735);rank 0 (python 751, GPU 0);rank 1 (python 752, GPU 1)" \
		"folded lines begin with their process" || cut -d';' -f1 "$d/folded" | sort -u
	is "$("$plain" report --by line --format csv "$d/sleep" 2>/dev/null)" "$("$plain" report --by line,process --format csv "$d/sleep" 2>/dev/null)" \
		"report --by line says whose each line is"
	is "$("$plain" report --by line --format json "$d/sleep" 2>/dev/null | jq -c '[.[].Pid] | unique')" "[751,752]" "of each process"
	is "$("$plain" report --by line --pid 751 --format json "$d/sleep" 2>/dev/null | jq -c '[.[].Pid] | unique')" "[null]" "of one process it does not"
	"$plain" report --by line,function,type,stream "$d/sleep" 2>&1 | tr -s ' \n' ' ' | grep -q "Of all 3 processes together: --pid takes one"
	ok $? "and says that it does not, where there are four keys already"
	"$plain" report lines "$d/sleep" 2>/dev/null | grep -q 'Of all 3 processes together: --pid takes one\.'
	ok $? "so does report lines"
}

t_diff()
{
	local name status

	# More processes than are compared: it is said.
	"$b/make_rules" "$work/many_processes" processes=4100 iterations=1 launches=1 >/dev/null 2>"$work/many_left.err"
	"$plain" diff "$work/many_processes" "$(trace train)" 2>>"$work/many_left.err" | grep 'left out' >"$work/many_left"
	is "$(cat "$work/many_left")" "  A: processes that began after the first 4096 are left out: 4." "processes beyond those that diff compares" || cat "$work/many_left.err"
	rm -rf "$work/many_processes"

	# The same trace twice.
	for name in gpt2 train graph jax guest-two inference; do
		"$plain" diff --format json "$(trace "$name")" "$(trace "$name")" 2>/dev/null >"$work/same.json"
		status=$?
		jq -e '[.. | objects | .Verdict // empty] | length > 0 and all(.[]; . == "same")' "$work/same.json" >/dev/null &&
			jq -e '[.. | objects | ."Effect (ns)", ."Change (ns)", ."Change (bytes)" | numbers] | all(.[]; . == 0)' "$work/same.json" >/dev/null
		is "$?$status" 00 "diff of $name with itself: no change anywhere"
		"$plain" diff --fail-above 0 "$(trace "$name")" "$(trace "$name")" >/dev/null 2>&1
		ok $? "... and --fail-above 0 is content"
	done

	# One function is twice as slow.
	"$plain" diff --format json "$(trace steps)" "$(trace slowed)" 2>/dev/null >"$work/slowed.json"
	is "$(jq -c '[.diff_functions[] | select(.Verdict != "noise" and .Verdict != "same") | [.Name, .Verdict]]' "$work/slowed.json")" \
		'[["cuMemcpyHtoD","slower"]]' "a copy that is twice as slow is found, nothing else" || jq -c '.diff_functions[]' "$work/slowed.json"
	jq -e '.diff_summary[0].Verdict == "slower" and .diff_summary[0]."Change (%)" > 18 and .diff_summary[0]."Change (%)" < 21 and
		.diff_functions[0].Name == "cuMemcpyHtoD" and .diff_functions[0]."Change (%)" > 99 and .diff_functions[0]."Change (%)" < 101 and
		.diff_functions[0]."Calls A" == 1' "$work/slowed.json" >/dev/null
	ok $? "... and what it costs" || jq -c '.diff_summary[], .diff_functions[0]' "$work/slowed.json"
	# The effects of all functions are the change of the mean iteration; means by awk.
	for name in steps slowed; do
		call_lines "$name"
		awk -F '\t' '$1 == "E" && $8 == "cuMemcpyHtoD" { n++; sum += $7 } END { print sum / n }' "$work/data/$name.calls"
	done | paste -sd ' ' >"$work/copies"
	jq -r '.diff_functions[0] | [."Time A (ns)", ."Time B (ns)"] | join(" ")' "$work/slowed.json" |
		awk -v want="$(cat "$work/copies")" '{ split(want, w, " "); a = $1 / w[1]; b = $2 / w[2];
			exit !(a > 0.99 && a < 1.01 && b > 0.99 && b < 1.01) }'
	ok $? "... by the means that awk finds" || { cat "$work/copies"; jq -c '.diff_functions[0]' "$work/slowed.json"; }
	"$plain" diff --fail-above 10 "$work/steps" "$work/slowed" >/dev/null 2>"$work/err"
	is "$?$(grep -c 'is slower than .* by [12][0-9.]* %, more than 10 %' "$work/err")" 11 "--fail-above 10: status 1"
	"$plain" diff --fail-above 30 "$work/steps" "$work/slowed" >/dev/null 2>&1
	ok $? "--fail-above 30: status 0"
	"$plain" diff --fail-above 0 "$work/slowed" "$work/steps" >/dev/null 2>&1
	ok $? "--fail-above 0, of a faster one: status 0"

	# More samples between two calls than are kept: each line has its share of the time, whenever it was there. Five of six gaps end with a call.
	"$b/make_rules" "$work/gaps" iterations=6 warm=1000000 after=100000000 sampled=2 lines=25
	"$plain" diff --format json "$work/gaps" "$work/gaps" 2>/dev/null >"$work/gaps.json"
	is "$(jq -c '[.diff_lines[] | select(."Calls A" == 0) | ."Time A (ns)" / 1000000 | round] | [length, min, max]' "$work/gaps.json")" "[4,21,21]" \
		"of ten thousand samples between two calls each line has its share" || jq -c '.diff_lines' "$work/gaps.json"

	# Two real runs: medians of the iterations, by NVTX ranges and by a pattern.
	"$plain" diff --format json "$(trace train)" "$(trace train-nvtx)" 2>/dev/null >"$work/train.json"
	jq -e '.diff_summary[0] | ."A (ns)" > 1e6 and ."B (ns)" > 1e6 and ."Noise (ns)" > 0' "$work/train.json" >/dev/null &&
		jq -e '[.diff_functions[] | select(.Verdict == "noise")] | all(.[]; (."Effect (ns)" | fabs) <= ."Noise (ns)")' "$work/train.json" >/dev/null &&
		jq -e '[.diff_functions[] | select((.Verdict == "slower" or .Verdict == "faster") and ."Noise (ns)")] | all(.[]; (."Effect (ns)" | fabs) > ."Noise (ns)")' "$work/train.json" >/dev/null
	ok $? "a difference within the noise is marked, one outside is not"
	"$plain" diff "$(trace graph)" "$(trace inference)" 2>/dev/null >"$work/other.txt"
	is "$?" 0 "two programs that have nothing in common"
	COLUMNS=80 "$plain" diff "$(trace train)" "$(trace train-nvtx)" 2>/dev/null | grep -v '^  [ABFTEfc]' | awk 'length > 80' >"$work/wide"
	is "$(cat "$work/wide")" "" "tables in 80 columns"

	# A graph instead of launches: its kernels are in the graph, not gone.
	mkdir -p "$work/estimate"
	tar -xJf tests/data/gpu/estimate.tar.xz -C "$work/estimate"
	is "$("$plain" diff --format json "$work"/estimate/exact_repeats-gpu{,-mended} 2>/dev/null |
		jq -c '[.diff_kernels[], .diff_gpu[] | select(.Name == "work") | .Verdict]')" '["in graph","in graph"]' "kernels that a graph launches are in it"
	is "$("$plain" diff --format json "$work"/estimate/exact_repeats-gpu{-mended,} 2>/dev/null |
		jq -c '[.diff_kernels[], .diff_gpu[] | select(.Name == "work") | .Verdict]')" '["in graph","in graph"]' "the other way round"
	COLUMNS=80 "$plain" diff "$work"/estimate/exact_repeats-gpu{,-mended} 2>/dev/null | grep -q "^  In graph: B's iterations launch graphs"
	ok $? "which is explained"

	# Without iterations the noise is not known.
	"$plain" diff "$(trace guest-uvm)" "$(trace guest-cuinit)" 2>/dev/null | grep -q 'the noise is not known'
	ok $? "without iterations it says so"

	# Nor is the time of one thread compared with that of all: one side alone has iterations.
	"$plain" diff --format json "$(trace guest-cuinit)" "$(trace train)" 2>/dev/null >"$work/mixed.json"
	jq -e '[.diff_functions[], .diff_ioctls[]] | length > 40 and all(.[]; (."Effect (ns)" - (."Time B (ns)" - ."Time A (ns)") | fabs) < 1)' \
		"$work/mixed.json" >/dev/null
	ok $? "of runs the effect is the difference of the times" || jq -c '.diff_functions[]' "$work/mixed.json" | head -n 5

	# Memory is what report memory says, whichever calls give it.
	for name in gpt2 train jax; do
		"$plain" diff --format json "$(trace "$name")" "$(trace "$name")" 2>/dev/null |
			jq -r '.diff_memory | ([.[] | select(.What == "peak") | ."B (bytes)"] + [.[] | select(.What | endswith("in all")) | ."Calls B"] +
				[.[] | select(.What == "allocated, in all") | ."B (bytes)"]) | map(tostring) | join(" ")' >"$work/memory.diff"
		"$plain" report --format json memory "$(trace "$name")" 2>/dev/null | jq -r '.memory_processes[] | select(.Kind == "gpu") |
			[."Peak (bytes)", .Allocations, .Frees, ."Allocated (bytes)"] | map(tostring) | join(" ")' | diff "$work/memory.diff" -
		ok $? "diff of $name: the memory that report memory finds"
	done
	"$plain" diff --format json "$(trace memory)" "$work/memory" 2>/dev/null | jq -e '.diff_memory[0]."A (bytes)" == 107235' >/dev/null
	ok $? "diff: memory that is released while it is mapped is still there"
	is "$("$plain" diff --format json "$(trace memory)" "$work/memory" 2>/dev/null | jq '.diff_memory[] | select(.What == "freed, in all") | ."Calls A"')" \
		"$("$plain" report --format json memory "$work/memory" 2>/dev/null | jq '.memory_processes[] | select(.Kind == "gpu" and .Process == "first").Frees')" \
		"diff: what is given back in several calls is freed once"

	# One process of each is compared.
	"$plain" diff "$(trace processes)" "$(trace train)" 2>/dev/null | grep -A20 '^WALL' | grep 'most work' >"$work/others"
	is "$(cat "$work/others")" "  A: only of process 915, which gives the GPU most work; 2 more called libcuda." "processes that are left out are told"

	"$plain" diff "$work/steps" >/dev/null 2>"$work/err"
	is "$?$(wc -l <"$work/err")" 641 "one trace alone"
	"$plain" diff "$work/steps" "$work/nothing" >/dev/null 2>"$work/err"
	is "$?$(wc -l <"$work/err")" 11 "a directory that is not there"
	"$plain" diff --fail-above x "$work/steps" "$work/steps" >/dev/null 2>&1
	is $? 64 "--fail-above x"
	"$plain" diff --help | grep -q 'EXAMPLES' && "$plain" diff --help | grep -q -- '--fail-above 5'
	ok $? "diff --help has examples"
}
