# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The rules of cudatrace explain: each fires on a program with its problem and not on one just
# below its threshold; what a finding costs is what jq makes of the JSON Lines; its record is
# there.  Sourced by run.sh.

# rules_explain KEY=NUMBER...: the program of make_rules with these keys; $rd is its trace, $rd.json
# what explain says.
rules_explain()
{
	rd=$work/rules/program,$(tr ' ' , <<<"$*")
	[ -e "$rd" ] && return
	mkdir -p "$work/rules"
	"$b/make_rules" "$rd" "$@" && "$ct" explain --format json "$rd" >"$rd.json" 2>"$rd.err"
	[ ! -s "$rd.err" ] || { ok 1 "explain of $*"; head -n 3 "$rd.err"; }
}

# rules_has RULE SCOPE: explain found it in $rd.
rules_has()
{
	jq -e --arg r "$1" --arg s "$2" 'any(.findings[]; .Rule == $r and .Scope == $s)' "$rd.json" >/dev/null
}

rules_found() { jq -r '[.findings[] | "\(.Rule) \(."Share (%)")"] | join(", ")' "$rd.json"; }

# RULE SCOPE KEY: fires with the first number of KEY, not with the second; the other keys.
rules_thresholds='
host-bound steady wait 11000 11200 launches=10 launch=10000
host-bound steady launches 10 9 launch=10000 wait=5000
host-bound steady sync 1 0 launches=10 launch=10000 wait=5000
cuda-graph steady launch 8000 6800 launches=8 wait=400000 after=600000
cuda-graph steady launches 8 7 launch=20000 wait=400000 after=600000
cuda-graph steady after 600000 0 launch=20000 launches=8 wait=400000
cuda-graph steady allocs 0 1 launch=20000 launches=8 wait=400000 after=600000
sync-each-iteration steady after 55000 50000
application steady after 460000 420000
off-cpu steady off 21000 20000
off-cpu steady off 21000 0 offsync=500000
pageable-copies steady copy 7900 7600 copies=4 pinned=0
pageable-copies steady size 65537 65536 copies=4 pinned=0 copy=9000
pageable-copies steady pinned 0 1 copies=4 copy=9000
pageable-copies steady ranges 4095 4096 copies=4 copy=9000 pinned=0
pageable-copies steady before 1000 0 copies=4 copy=9000 pinned=0
blocking-copies steady copy 7900 7600 copies=4 async=0
blocking-copies steady async 0 1 copies=4 copy=9000
small-copies steady copy 1300 1260 copies=16 size=1000
small-copies steady copies 16 15 copy=2000 size=1000
small-copies steady size 65536 65537 copy=2000 copies=16
alloc-in-loop steady alloc 5200 5000 allocs=1
alloc-in-loop steady every 2 3 allocs=1 alloc=30000
memory-growth steady leak 32000 29000
memory-growth steady leaking 1000 20 leak=1000000
lazy-loading steady load 340000 240000 every=10
lazy-loading steady load 690000 490000 every=100 iterations=400
getters steady getter 400 380 getters=26
getters steady getters 26 24 getter=1000
getters steady getter 400 380 getters=26 timed=1
getters steady launches 20 40 getters=30 getter=1000
ignored-errors steady errors 3 2
ignored-errors steady errors 3 0 notready=30
ioctls steady ioctl 54000 52000 ioctls=1
failing-ioctls steady failing 3 2 ioctls=1
thread-contention steady slow 2700 2400 threads=2 launches=10 launch=10000 wait=50000
thread-contention steady wait 2000000 3000000 threads=2 launches=10 launch=10000 slow=2700
thread-contention steady iterations 40 18 threads=2 launches=5 launch=10000 slow=8000 wait=50000
thread-contention steady threads 2 1 launches=10 launch=10000 slow=2700 wait=50000
shared-gpu steady shift 35000000 37000000 processes=2
shared-gpu steady processes 2 1 shift=20000000
shared-gpu steady devices 1 2 processes=2 shift=20000000
startup-application startup before 51000000 49000000
startup-init startup init 23000000 21500000
startup-init startup context 23000000 21500000
startup-modules startup module 23000000 21500000
'

t_rules_thresholds()
{
	local rule scope key fires silent rest word found

	while read -r rule scope key fires silent rest; do
		[ -n "$rule" ] || continue
		for word in fires silent; do
			# shellcheck disable=SC2086
			rules_explain "$key=${!word}" $rest
			if rules_has "$rule" "$scope"; then found=fires; else found=silent; fi
			is $found $word "$rule with $key=${!word} $rest" || rules_found
		done
	done <<<"$rules_thresholds"
	for rule in $("$ct" explain --rules | sed -n 's/^| `\([a-z-]*\)` .*/\1/p'); do
		grep -q "^$rule " <<<"$rules_thresholds"
		ok $? "$rule has tests of its thresholds"
	done
	# What nothing is wrong with.
	rules_explain
	is "$(jq -c '.findings' "$rd.json")" "[]" "a program that the GPU limits: no finding"
	"$ct" explain "$rd" | grep -q "^No rule found anything"
	ok $? "and the text says so"
}

# rules_lines: $rd.tsv, the calls that returned: type, op, name, begin (ns since the trace began),
# duration, depth, tid, op_id, 1 if it failed.
rules_lines()
{
	[ ! -e "$rd.tsv" ] || return
	"$ct" export -f -o "$rd.jsonl" "$rd" 2>/dev/null
	jq -r 'select(.phase != "B" and .op_id) | ((.duration_us // 0) * 1000 | round) as $d |
		[.type, .op // "", .name, (.ts * 1e6 | round) - $d, $d, .depth, .tid, .op_id,
		(if (.result_code // 0) != 0 and .result_code != 600 or (.status // "NV_OK") != "NV_OK" then 1 else 0 end)]
		| @tsv' "$rd.jsonl" >"$rd.tsv"
}

# rules_sum PID SCOPE CONDITION: the durations of the calls that begin in the scope, by awk.
rules_sum()
{
	local begin end

	read -r begin end < <(rules_scope "$1" "$2")
	awk -F '\t' -v b="$begin" -v e="$end" "\$4 >= b && \$4 < e && ($3) { sum += \$5 } END { printf \"%d\n\", sum }" "$rd.tsv"
}

# rules_scope PID steady|startup: its begin and end in ns.
rules_scope()
{
	"$ct" report --format csv stages "$rd" 2>/dev/null | sed '/^$/,$d' | awk -F , -v pid="$1" -v scope="$2" '
		$2 == pid && $3 != "teardown" && ($3 == "steady" || $3 == "execution") == (scope == "steady") {
			begin = begin == "" ? $4 : begin; end = $4 + $5 } END { print begin, end }'
}

# rules_number RULE SCOPE COST: a finding's cost, to 0.1 %; and that its share is the cost's.
rules_number()
{
	local begin end

	read -r begin end < <(rules_scope 4242 "$2")
	jq -e --arg r "$1" --arg s "$2" --argjson c "${3:-0}" --argjson w $((end - begin)) '
		first(.findings[] | select(.Rule == $r and .Scope == $s)) | (."Cost (ns)" - $c | fabs) <= $c / 1000 and
		(."Share (%)" - 100 * $c / $w | fabs) <= 0.1' "$rd.json" >/dev/null
	ok $? "$1: the cost is $3 ns" || jq -c --arg r "$1" '.findings[] | select(.Rule == $r) | [."Cost (ns)", ."Share (%)"]' "$rd.json"
	# The record is there, with its name, begin and duration.
	jq -r --arg r "$1" 'first(.findings[] | select(.Rule == $r and .OpId)) |
		[.OpId, .Call, ."Start (ns)", ."Duration (ns)", .Tid] | @tsv' "$rd.json" >"$rd.evidence"
	[ ! -s "$rd.evidence" ] && [[ $1 = application || $1 = shared-gpu || $1 = startup-application ]] ||
		[ -n "$(awk -F '\t' 'NR == FNR { op = $1; name = $2; at = $3; ns = $4; tid = $5; next }
			$8 == op && $3 == name && $4 == at && $5 == ns && $7 == tid' "$rd.evidence" "$rd.tsv")" ]
	ok $? "$1: its record is in the trace" || cat "$rd.evidence"
}

t_rules_numbers()
{
	local begin end wall

	# rules_of KEY=NUMBER...: a program, its lines and its steady state.
	rules_of()
	{
		rules_explain "$@"
		rules_lines
		read -r begin end < <(rules_scope 4242 steady)
		wall=$((end - begin))
	}
	rules_of launches=10 launch=10000 wait=5000 gap=3000
	rules_number host-bound steady $((wall - $(rules_sum 4242 steady '$1 == "sync"')))
	rules_number application steady $((wall - $(rules_sum 4242 steady 1)))
	# Each sequence but the first launch, with what is between launches.
	rules_number cuda-graph steady "$(awk -F '\t' -v b="$begin" -v e="$end" '$4 < b || $4 >= e { next }
		$1 == "kernel" { if (n++) between += $4 - last; ns += $5; last = $4 + $5; next }
		$1 == "sync" { if (n == 10) { all += ns + between; launches += ns; times++ } n = ns = between = 0 }
		END { printf "%d\n", all - launches / 10 }' "$rd.tsv")"
	rules_of after=600000
	rules_number sync-each-iteration steady "$(awk -F '\t' -v b="$begin" -v e="$end" '
		$1 == "sync" { from = $4 + $5; next }
		$1 == "kernel" && from && $4 < e && $4 >= b { sum += $4 + $5 - (from > b ? from : b); from = 0 }
		$1 == "kernel" { from = 0 } END { if (from && from < e) sum += e - from; printf "%d\n", sum }' "$rd.tsv")"
	rules_of off=50000 offsync=300000 who=7
	rules_number off-cpu steady "$(rules_sum 4242 steady '$3 == "sched_switch" && $5 == 50000')"
	jq -e '.findings[0].Finding | test("could have run for .* of that; thread 7 ran there most of that time; thread 7 woke it")' "$rd.json" >/dev/null
	ok $? "off-cpu: who ran instead and who woke it" || jq -c '.findings[0].Finding' "$rd.json"
	rules_of copies=4 copy=20000 pinned=0
	rules_number pageable-copies steady "$(rules_sum 4242 steady '$1 == "transfer"')"
	rules_of copies=4 copy=20000 async=0
	rules_number blocking-copies steady "$(rules_sum 4242 steady '$1 == "transfer"')"
	rules_of copies=20 copy=4000 size=100
	rules_number small-copies steady "$(rules_sum 4242 steady '$1 == "transfer"')"
	rules_of allocs=2 alloc=9000
	rules_number alloc-in-loop steady "$(rules_sum 4242 steady '$2 == "alloc" || $2 == "free"')"
	rules_of load=20000000 every=10
	rules_number lazy-loading steady "$(rules_sum 4242 steady '$1 == "module" && $6 == 0')"
	is "$(jq -r '.verdict[] | select(.Scope == "steady") | .Limit' "$rd.json")" "loading of code" "its limit"
	rules_of getters=100 getter=500 timed=1
	rules_number getters steady "$(rules_sum 4242 steady '$1 == "query"')"
	is "$(jq -c '.findings[] | select(.Rule == "getters") | [.Certainty, .Bound]' "$rd.json")" '["sure","measured"]' "getters: timed ones are sure"
	rules_of getters=100 getter=500
	rules_number getters steady "$(awk -F '\t' -v b="$begin" -v e="$end" '$1 == "query" && $4 >= b && $4 < e { n++ }
		END { print n * 500 }' "$rd.tsv")"
	is "$(jq -c '.findings[] | select(.Rule == "getters") | [.Certainty, .Bound]' "$rd.json")" '["possible","at most"]' "getters: others are possible"
	rules_of errors=20 notready=40
	rules_number ignored-errors steady "$(rules_sum 4242 steady '$9 == 1')"
	rules_of ioctls=2 ioctl=60000 failing=5
	rules_number ioctls steady "$(rules_sum 4242 steady '$3 == "ioctl"')"
	rules_number failing-ioctls steady "$(rules_sum 4242 steady '$9 == 1')"
	rules_of threads=2 launches=10 launch=10000 slow=5000 wait=50000
	rules_number thread-contention steady "$(awk -F '\t' -v b="$begin" -v e="$end" '$1 == "kernel" && $4 >= b && $4 < e && $5 == 15000 {
		sum += 5000 } END { print sum }' "$rd.tsv")"
	rules_of processes=2 shift=20000000 beside=300000
	rules_number shared-gpu steady "$("$ct" report --format csv iterations "$rd" 2>/dev/null | sed '/^$/,$d' | awk -F , -v OFS=, '
		NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		$col["Pid"] == 4242 && $col["Duration (ns)"] > 1100000 { sum += 300000 } END { print sum }')"
	rules_of before=80000000 init=90000000 context=70000000 module=60000000
	rules_number startup-application startup 80000000
	rules_number startup-init startup 160000000
	rules_number startup-modules startup 60000000
	# What it costs is not known: how much memory, and by how many allocations.
	rules_of leak=1000000
	is "$(jq -r '.findings[] | select(.Rule == "memory-growth") | .Finding | capture(": (?<n>[0-9]+) allocations, 0 frees").n' "$rd.json")" \
		"$(awk -F '\t' -v b="$begin" -v e="$end" '$2 == "alloc" && $4 >= b && $4 < e { n++ } END { print n }' "$rd.tsv")" "memory-growth: allocations"
}
