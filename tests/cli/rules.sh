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
	# With records of the GPU.
	if [[ ${1-} == step=* || ${1-} == begins=* || ${1-} == beside=* ]]; then
		"$b/make_gpu" "$1" "$rd" >/dev/null
	else
		"$b/make_rules" "$rd" "$@"
	fi && "$plain" explain --format json "$rd" >"$rd.json" 2>"$rd.err"
	# (What a rule did not look at is said there.)
	! grep -v '^cudatrace: findings: ' "$rd.err" >/dev/null || { ok 1 "explain of $*"; head -n 3 "$rd.err"; }
}

# rules_has RULE SCOPE: explain found it in $rd.
rules_has()
{
	jq -e --arg r "$1" --arg s "$2" 'any(.findings[]; .Rule == $r and .Scope == $s)' "$rd.json" >/dev/null
}

rules_found() { jq -r '[.findings[] | "\(.Rule) \(."Share (%)")"] | join(", ")' "$rd.json"; }

# RULE SCOPE KEY: fires with the first number of KEY, not with the second; the other keys.
rules_thresholds='
host-late steady after 460000 420000
host-bound steady wait 11000 11200 launches=10 launch=10000
host-bound steady launches 10 9 launch=10000 wait=5000
host-bound steady gap 4500000 5500000 launches=10 launch=10000 wait=5000
host-bound steady sync 1 0 launches=10 launch=10000 wait=5000
host-bound steady sync 1 0 launches=10 launch=10000 wait=5000 ioctls=1 ioctl=9000 inside=100
gpu-idle steady step 55 45
gpu-kernels steady step 90 110
cuda-graph steady launch 8000 6800 launches=8 wait=400000 after=600000
cuda-graph steady launches 8 7 launch=20000 wait=400000 after=600000
cuda-graph steady after 600000 0 launch=20000 launches=8 wait=400000
cuda-graph steady allocs 0 1 launch=20000 launches=8 wait=400000 after=600000
sync-each-iteration steady after 55000 50000
sync-each-iteration steady wait 210000 190000 after=600000
sync-each-iteration steady after 60000 10000 launch=200000 launches=1 wait=400000
sync-each-iteration steady sampled 2 4 after=600000 wait=400000
host-bound steady after 1000000 4000000 launches=10 launch=10000 wait=5000
cuda-graph steady sampled 2 4 launch=8000 launches=8 wait=400000 after=600000
host-bound steady wait 11000 11200 launches=10 launch=10000 pause=90000000
application steady after 460000 420000
application steady polled 0 600 polls=20 wait=1000
off-cpu steady off 21000 20000
off-cpu steady off 21000 0 offsync=500000
pageable-copies steady copy 7900 7600 copies=4 pinned=0
pageable-copies steady size 65537 65536 copies=4 pinned=0 copy=9000
pageable-copies steady pinned 0 1 copies=4 copy=9000
pageable-copies steady ranges 4095 4096 copies=4 copy=9000 pinned=0
pageable-copies steady before 1000 0 copies=4 copy=9000 pinned=0
blocking-copies steady copy 7900 7600 copies=4 async=0
blocking-copies steady async 0 1 copies=4 copy=9000
blocking-copies steady after 40000 20000 copies=1 copy=1000000 async=0 wait=1000 launches=1
small-copies steady copy 1300 1260 copies=16 size=1000
small-copies steady copies 16 15 copy=2000 size=1000
small-copies steady size 65536 65537 copy=2000 copies=16
alloc-in-loop steady alloc 5200 5000 allocs=1
alloc-in-loop steady every 2 3 allocs=1 alloc=30000
alloc-in-loop steady allocs 1 0 alloc=30000 ioctls=1 ioctl=200000 inside=30000
memory-growth steady leak 32000 29000
memory-growth steady leaking 1000 20 leak=1000000
memory-growth steady leak 32000 29000 pause=20000000
lazy-loading steady load 340000 240000 every=10
lazy-loading steady load 690000 490000 every=100 iterations=400
getters steady getter 400 380 getters=26
getters steady getters 26 24 getter=1000
getters steady getter 400 380 getters=26 timed=1
getters steady launches 20 40 getters=30 getter=1000
last-error steady last 2 0
last-error steady last 2 4
last-error steady lastly 2 1 last=2
ignored-errors steady errors 3 2
ignored-errors steady errors 3 0 notready=30
alloc-in-loop steady refused 0 1000 allocs=1 alloc=30000
ioctls steady ioctl 54000 52000 ioctls=1
failing-ioctls steady failing 3 2 ioctls=1
thread-contention steady slow 2700 2400 threads=2 launches=10 launch=10000 wait=50000
thread-contention steady slow 2700 2400 threads=2 launches=10 launch=10000 wait=50000 crowd=300
thread-contention steady wait 2000000 3000000 threads=2 launches=10 launch=10000 slow=2700
thread-contention steady iterations 40 18 threads=2 launches=5 launch=10000 slow=8000 wait=50000
thread-contention steady threads 2 1 launches=10 launch=10000 slow=2700 wait=50000
shared-gpu steady shift 35000000 37000000 processes=2
shared-gpu steady processes 2 1 shift=20000000
shared-gpu steady devices 1 2 processes=2 shift=20000000
startup-application startup before 51000000 49000000
startup-init startup init 23000000 21500000
startup-init startup context 23000000 21500000
startup-communicators startup join 23000000 21500000
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
	# That of late-rank needs several processes, that of gpu-clocks looks at a GPU: ranks_late, ranks_why and
	# metrics_clocks of the suite record.
	for rule in $("$plain" explain --rules | sed -n 's/^| `\([a-z-]*\)` .*/\1/p' | grep -v -e '^late-rank$' -e '^gpu-clocks$'); do
		grep -q "^$rule " <<<"$rules_thresholds"
		ok $? "$rule has tests of its thresholds"
	done
	# What nothing is wrong with.
	rules_explain
	is "$(jq -c '.findings' "$rd.json")" "[]" "a program that the GPU limits: no finding"
	"$plain" explain "$rd" | grep -q "^No rule found anything"
	ok $? "and the text says so"
}

# rules_lines: $rd.tsv, the calls that returned: type, op, name, begin (ns since the trace began),
# duration, depth, tid, op_id, 1 if it failed.
rules_lines()
{
	[ ! -e "$rd.tsv" ] || return
	"$plain" export -f -o "$rd.jsonl" "$rd" 2>/dev/null
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
	"$plain" report --format csv stages "$rd" 2>/dev/null | sed '/^$/,$d' | awk -F , -v pid="$1" -v scope="$2" '
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
		[.OpId, .Call, ."Start (ns)", ."Duration (ns)" // 0, .Tid] | @tsv' "$rd.json" >"$rd.evidence"
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
	# Without iterations what follows a synchronisation is not launching.
	rules_of other=2 launches=12 launch=10000 wait=1000 after=900000
	rules_number host-bound steady $((wall - $(rules_sum 4242 steady '$1 == "sync"') - $(awk -F '\t' -v b="$begin" -v e="$end" '$4 < b || $4 >= e { next }
		$1 == "sync" { end = $4 + $5 } $1 == "kernel" { if (end) all += $4 - end; end = 0 } END { printf "%d\n", all }' "$rd.tsv")))
	rules_of launches=10 launch=10000 wait=5000 gap=3000
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
	rules_number application steady $((wall - $(rules_sum 4242 steady 1)))
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
	rules_number shared-gpu steady "$(awk -F '\t' '$1 == "sync" && $7 == 4242 && $5 == 1300000 { sum += 300000 }
		END { print sum }' "$rd.tsv")"
	is "$(jq -r '[.findings[] | .Certainty] | unique[]' "$rd.json")" likely "shared-gpu: likely, where iterations alone are known"
	rules_of processes=2 shift=20000000 beside=90000
	is "$(jq -r '[.findings[] | .Certainty, ."Cost (ns)"] | unique | join(" ")' "$rd.json")" "0 possible" "shared-gpu: less than 10 % longer is no cost"
	rules_of processes=2 beside=300000
	jq -e 'all(.findings[]; .Finding | test("hardly ever alone"))' "$rd.json" >/dev/null
	ok $? "shared-gpu: never alone" || jq -c .findings "$rd.json"
	rules_of before=150000000 init=90000000 context=70000000 module=60000000
	rules_number startup-application startup 150000000
	rules_number startup-init startup 160000000
	rules_number startup-modules startup 60000000
	rules_of join=80000000
	rules_number startup-communicators startup 80000000
	# What it costs is not known: how much memory, and by how many allocations.
	rules_of leak=1000000
	is "$(jq -r '.findings[] | select(.Rule == "memory-growth") | .Finding | capture(": (?<n>[0-9]+) allocations, 0 frees").n' "$rd.json")" \
		"$(awk -F '\t' -v b="$begin" -v e="$end" '$2 == "alloc" && $4 >= b && $4 < e { n++ } END { print n }' "$rd.tsv")" "memory-growth: allocations"
	# Pauses, in which it does not grow, change neither whether it does nor by how much an iteration.
	rules_of leak=1000000 pause=20000000
	is "$(jq -r '.findings[] | select(.Rule == "memory-growth") | .Finding | capture(", (?<n>[^,]*) an iteration").n' "$rd.json")" \
		"976.56 KiB" "memory-growth: of an iteration, beside pauses"
}

# A host that waits for another thread, as for a data loader, is told about that, in the first sentence, too.
t_rules_elsewhere()
{
	local advice='select(.Rule == "application") | .Try'
	rules_explain sampled=4 after=600000 wait=200000
	is "$(jq -r '.verdict[0].Verdict | capture("(?<w>limited by [^.]*)[.]").w' "$rd.json")" "limited by the host, waiting for a lock or another thread for 74" \
		"samples say that it waits: the first sentence does, too"
	is "$(jq -r ".findings[] | $advice" "$rd.json" | cut -d: -f1)" "It waits for another thread of the program" "... and what to do about that"
	is "$(rules_found | grep -c 'sync-each-iteration\|cuda-graph\|host-bound')" 0 "... and nothing that gains nothing while it waits" || rules_found
	rules_explain sampled=12 holder=77 after=600000 wait=200000
	is "$(jq -r '.verdict[0].Verdict | capture("(?<w>limited by .*)[.] The").w' "$rd.json")" \
		"limited by the host, waiting for Python's lock (GIL) for 74.1 % of it (by samples), which is held by thread 77" \
		"samples say that it waits for Python's lock: who holds it is said"
	is "$(jq -r ".findings[] | $advice" "$rd.json" | cut -d: -f1)" "Python runs one thread at a time" "... and what to do about that"
	rules_explain sampled=12 holder=77 holds=2 after=600000 wait=200000
	is "$(jq -r ".findings[] | $advice" "$rd.json" | cut -d: -f1)" "The thread that holds Python's lock waits itself, and keeps the lock meanwhile" \
		"... and where the holder sleeps"
	rules_explain sampled=12 after=600000 wait=200000
	is "$(jq -r '.verdict[0].Verdict | capture("(?<w>limited by .*)[.] The").w' "$rd.json")" \
		"limited by the host, waiting for Python's lock (GIL) for 74.1 % of it (by samples)" "... and where it is not known who holds it"
	is "$(rules_found | grep -c 'sync-each-iteration\|cuda-graph\|host-bound')" 0 "... and nothing that gains nothing meanwhile" || rules_found
	rules_explain sampled=2 after=600000 wait=200000
	is "$(jq -r '.verdict[0].Verdict | capture("(?<w>limited by [^.]*)[.]").w' "$rd.json")" "limited by the host" "a host that runs"
	is "$(jq -r ".findings[] | $advice" "$rd.json" | grep -c 'another thread')" 0 "... is not told so"
}

# rules_sure RULE: how sure it is, and what its cost is
rules_sure() { jq -r --arg r "$1" '.findings[] | select(.Rule == $r) | "\(.Certainty), \(.Bound)"' "$rd.json"; }

# What may be no gain is not told as one that is sure.
t_rules_possible()
{
	local polls lastly
	rules_explain after=600000
	is "$(rules_sure application | cut -d, -f1)" "sure" "the host's own work, where it synchronises"
	rules_explain sync=0 after=600000
	is "$(rules_sure application)" "possible, at most" "... and where nothing says whether the GPU waits for it"
	jq -r '.findings[].Finding' "$rd.json" | grep -q 'whether the GPU waits for it the records do not show, as it hardly ever synchronises'
	ok $? "... which is said"
	rules_explain after=600000 wait=400000
	is "$(rules_sure sync-each-iteration)" "possible, at most" "synchronisations, where nothing says whether the host works after them"
	jq -r '.findings[] | select(.Rule == "sync-each-iteration") | .Try' "$rd.json" | grep -q '^This gains only where the host works after them'
	ok $? "... which is said"
	rules_explain sampled=2 after=600000 wait=400000
	is "$(rules_sure sync-each-iteration)" "likely, at most" "... and where samples say that it does"
	rules_explain offafter=100000 after=600000 wait=400000
	is "$(rules_sure sync-each-iteration)" "likely, at most" "... or context switches"
	rules_explain copies=1 copy=1000000 async=0 after=400000 launches=1 wait=1000
	is "$(rules_sure blocking-copies)" "likely, at most" "blocking copies that take most of the time"
	jq -e '.findings[] | select(.Rule == "blocking-copies") | ."Cost (ns)" * 2 < 50 * 1000000' "$rd.json" >/dev/null
	ok $? "... gain no more than what else can be done meanwhile" || jq -c '.findings[]' "$rd.json"
	rules_explain leak=32000
	is "$(rules_sure memory-growth | cut -d, -f1)" "likely" "memory that grows"
	rules_explain leak=4000000 halves=5
	is "$(rules_sure memory-growth | cut -d, -f1)" "possible" "... and ever more slowly, as a cache does" || jq -c '.findings[]' "$rd.json"
	# Who asks again and again whether the GPU is done waits for it.
	rules_explain polls=20 wait=1000
	jq -r '.verdict[0].Verdict' "$rd.json" | grep -q 'limited by the GPU\. The launching thread spends [89][0-9.]* % asking whether the GPU is done, which it is not'
	ok $? "a program that polls is limited by the GPU" || jq -r '.verdict[0].Verdict' "$rd.json"
	rules_explain polls=20 polled=0 wait=1000
	jq -r '.verdict[0].Verdict' "$rd.json" | grep -q 'limited by the host'
	ok $? "... not one that is told that it is done" || jq -r '.verdict[0].Verdict' "$rd.json"
	# Without a synchronisation its questions show that the GPU was done.
	for polls in 3 0; do
		rules_explain sync=0 polls=$polls gap=100000 after=600000
		is "$(rules_sure application | cut -d, -f1) $(jq -r '.verdict[0].Verdict' "$rd.json" | grep -c 'hardly ever synchronises')" \
			"$([ $polls = 0 ] && echo possible 1 || echo sure 0)" "a program that does not synchronise and asks $polls times in each iteration" ||
			jq -r '.verdict[0].Verdict' "$rd.json"
	done
	# Without a pattern one synchronisation shows it, too, or a copy that is waited for; none shows nothing.
	for lastly in 2 3 0; do
		rules_explain other=2 sync=0 last=0 lastly=$lastly gap=100000 after=600000
		is "$(rules_sure application | cut -d, -f1) $(jq -r '.verdict[0].Verdict' "$rd.json" | grep -c 'hardly ever synchronises')" \
			"$([ $lastly = 0 ] && echo possible 1 || echo sure 0)" \
			"a program without a pattern that $([ $lastly = 0 ] && echo never || echo once) waits for the GPU ($lastly)" ||
			jq -r '.verdict[0].Verdict' "$rd.json"
	done
	# Kernels beside each other have 100 % of their time.
	rules_explain beside=4
	jq -r '.findings[].Finding' "$rd.json" | grep -q 'Of their time, several at once: 100\.0 % in'
	ok $? "kernels of several streams: shares of their time" || jq -r '.findings[].Finding' "$rd.json"
	rules_explain step=55
	[ "$(jq -r '.findings[].Finding' "$rd.json" | grep -c 'several at once')" = 0 ]
	ok $? "... not of one stream"
}

# What comes now and then, as a checkpoint does, is named, and no synchronisation is why the GPU has nothing to do meanwhile.
t_rules_rare()
{
	local paused even
	rules_explain pause=9000000 iterations=100 wait=1000000 after=10000
	paused=$rd
	jq -r '.verdict[0].Verdict' "$rd.json" | grep -qE 'limited by the GPU\..* [89] pauses between iterations take 8[01]\.[0-9]* ms \(4[0-9.]* %\) of the steady state, 9\.0[0-9]* ms each in the mean\.$'
	ok $? "explain names pauses between iterations" || jq -r '.verdict[0].Verdict' "$rd.json"
	is "$(rules_found | grep -c sync-each-iteration)" 0 "... which no synchronisation explains" || rules_found
	"$plain" report iterations "$paused" 2>/dev/null | tr -s ' \n' ' ' | grep -qE '[89] pauses between iterations take [0-9.]* ms \([0-9.]* %\) of the steady state, 9\.'
	ok $? "... report iterations, too"
	rules_explain iterations=100 wait=1000000 after=10000
	is "$(jq -r '.verdict[0].Verdict' "$rd.json" | grep -c 'pauses\|far longer')" 0 "no word of them where there are none"
	even=$rd
	is "$("$plain" diff --format json "$paused" "$even" 2>/dev/null | jq -c '[.diff_summary[:2][] | [.What, .Verdict == "faster", ."Change (%)" < -40]]')" \
		'[["iteration",false,false],["iteration, mean",true,true]]' "diff compares the mean, too: pauses that are gone" ||
		"$plain" diff "$paused" "$even" | head -n 8
	# Long iterations: code is loaded in each tenth.
	rules_explain load=10000000 every=10 iterations=100 wait=1000000
	jq -r '.verdict[0].Verdict' "$rd.json" | grep -qE ' (9|10) iterations that take far longer than the median have [0-9.]* ms \([4-9][0-9.]* %\) of the steady state\.$'
	ok $? "iterations that take much longer: their share" || jq -r '.verdict[0].Verdict' "$rd.json"
}

# Where the GPU begins far later than it was told to, it is not for synchronisations that it is idle.
t_rules_begins()
{
	rules_explain step=300
	rules_has sync-each-iteration steady
	ok $? "the host is late after synchronisations"
	rules_explain begins=300
	rules_has gpu-idle steady && ! rules_has sync-each-iteration steady
	ok $? "... and is not late, but the GPU" || rules_found
}

# What is told of an iteration of the steady state is of those in it: none of the warm-up counts.
t_rules_rates()
{
	local name begin end count median launches

	for name in gpt2 train train-nvtx guest-inference; do
		rd=$(trace "$name")
		facts "$name"
		read -r begin end < <(rules_scope "$(jq -r 'select(.op == "launch") | .pid' "$work/data/$name.jsonl" | head -n 1)" steady)
		"$plain" explain --format json "$rd" 2>/dev/null >"$work/rates.json"
		read -r count median < <("$plain" report --format csv iterations "$rd" 2>/dev/null |
			awk -v RS= "NR == 2" | awk -F, -v b="$begin" 'NR > 1 && $4 >= b { print $5 }' |
			sort -n | awk '{ d[NR] = $1 } END { print NR, NR % 2 ? d[(NR + 1) / 2] : int((d[NR / 2] + d[NR / 2 + 1]) / 2) }')
		launches=$(awk -F'\t' -v b="$begin" -v e="$end" '$2 == "user" && $4 == "launch" && $1 == "E" && $7 - $12 >= b && $7 - $12 < e {
			n++ } END { print n }' "$work/data/$name.tsv")
		is "$(jq -r '.verdict[0].Verdict | capture("steady state, (?<n>[0-9,]+) iterations").n' "$work/rates.json")" "$count" \
			"$name: iterations of the steady state"
		jq -e --argjson m "$median" '.verdict[0].Verdict | capture("of (?<t>[0-9.]+) (?<u>[mu]s) \\(median") |
			(.t | tonumber) * (if .u == "ms" then 1e6 else 1e3 end) | (. - $m | fabs) <= $m / 100' "$work/rates.json" >/dev/null
		ok $? "$name: their median is $median ns" || jq -r '.verdict[0].Verdict' "$work/rates.json"
		# In thousands, as all counts are.
		is "$(jq -r '.findings[].Finding' "$work/rates.json" | grep -c '[0-9]\{4\}\.[0-9] an iteration')" 0 "$name: separators in rates"
		# Only of a host that limits explain tells how many launches.
		jq -e --argjson l "$launches" --argjson n "$count" '[.findings[] | select(.Rule == "host-bound") | .Finding |
			capture("limits: (?<r>[0-9.,]+) launches an iteration").r | gsub(","; "") | tonumber] | all(. - $l / $n | fabs <= 0.051)' "$work/rates.json" >/dev/null
		ok $? "$name: launches an iteration" || { echo "$launches / $count"; jq -r '.findings[0].Finding' "$work/rates.json"; }
	done
}

# rules_problems: $problems is the directory with the traces of examples/problems, those of
# tests/data or others that $CUDATRACE_PROBLEMS names; none: status 1.
rules_problems()
{
	unpack_real
	for problems in "${CUDATRACE_PROBLEMS:-}" "$work/data"; do
		[ ! -d "$problems/leak" ] || return 0
	done
	return 1
}

# NAME LIMIT RULES: what explain says of the steady state of the program, and of the mended one.
rules_real='
alloc_in_loop the~kernel~driver alloc-in-loop,ioctls
exact_repeats the~host cuda-graph,host-bound,host-late
getters the~host application,getters,host-late,sync-each-iteration
host_bound the~host application,cuda-graph,host-bound,host-late
ignored_errors the~GPU ignored-errors
lazy_loading loading~of~code lazy-loading
leak the~GPU alloc-in-loop,memory-growth
off_cpu synchronisation~(host~and~GPU~take~turns) application,host-late,sync-each-iteration
pageable_copies transfers pageable-copies
shared_gpu the~GPU shared-gpu
small_copies transfers small-copies
sync_each_step synchronisation~(host~and~GPU~take~turns) sync-each-iteration
'

t_rules_problems()
{
	local name limit rules dir

	rules_problems || {
		skip "no traces of examples/problems"
		return
	}
	mkdir -p "$work/rules"
	while read -r name limit rules; do
		[ -n "$name" ] || continue
		rd=$work/rules/$name
		# In full: of some there is the whole trace.
		dir=$problems/long/$name
		[ -d "$dir" ] || dir=$problems/$name
		"$plain" explain --format json "$dir" >"$rd.json"
		ok $? "$name: explained"
		is "$(jq -r '[.verdict[] | select(.Scope == "steady") | .Limit] | unique | join(",")' "$rd.json")" "${limit//\~/ }" "$name: limited by it"
		is "$(jq -r '[.findings[] | select(.Scope == "steady") | .Rule] | unique | join(",")' "$rd.json")" "$rules" "$name: findings"
		"$plain" explain --format json "$problems/$name-mended" >"$rd-mended.json"
		ok $? "$name-mended: explained"
		# The mended ones still launch and wait.
		jq -e --arg r "$rules" 'any(.findings[]; .Scope == "steady" and .Rule != "sync-each-iteration" and (.Rule | IN($r | split(",")[]))) | not' \
			"$rd-mended.json" >/dev/null
		ok $? "$name-mended: none of them" || rules_found
		# Many launches without a wait between them may keep the host as busy as the GPU.
		jq -e --arg n "$name" 'all(.verdict[] | select(.Scope == "steady"); .Limit | IN("the GPU", "several things together") or
			($n == "sync_each_step" and . == "the host"))' "$rd-mended.json" >/dev/null
		ok $? "$name-mended: the GPU limits" || jq -c .verdict "$rd-mended.json"
		# What is shown as evidence is there.
		"$plain" export --format jsonl -f -o "$rd.jsonl" "$dir" 2>/dev/null
		jq -r '.findings[] | select(.OpId) | "\"op_id\":\(.OpId),"' "$rd.json" >"$rd.ops"
		grep -Ff "$rd.ops" "$rd.jsonl" | jq -r 'select(.phase != "B") | ((.duration_us // 0) * 1000 | round) as $d |
			[.op_id, .name, (.ts * 1e6 | round) - $d, $d, .tid] | join(" ")' | LC_ALL=C sort -u >"$rd.there"
		jq -r '.findings[] | select(.OpId) | [.OpId, .Call, ."Start (ns)", ."Duration (ns)" // 0, .Tid] | join(" ")' "$rd.json" |
			LC_ALL=C sort -u | diff - "$rd.there"
		ok $? "$name: the records are in the trace"
	done <<<"$rules_real"
}

# No moment is gained twice: what findings gain adds up to the wall time at most, a part gains no more
# than the finding that it is a part of, and no finding more than it costs.
t_rules_gains()
{
	local name dir n=0

	mkdir -p "$work/gains"
	for name in ranks/hang ranks/sleep ranks/bandwidth gpu/estimate gpu/train gpu/sampler; do
		tar -xJf "tests/data/$name.tar.xz" -C "$work/gains"
	done
	for name in $(real) both steps memory "$work"/gains/*; do
		dir=$name name=${name##*/}
		[ -d "$dir" ] || dir=$(trace "$name")
		"$plain" explain --format json "$dir" 2>/dev/null >"$work/gains.json"
		is "$(jq -c '[.findings | group_by([.Pid, .Scope])[] | map(select(."Part Of" == null) | ."Gain (%)") | add | select(. > 100.06)]' "$work/gains.json")" \
			'[]' "$name: the gains of a scope add up to 100 % at most"
		is "$(jq -c '[.findings | group_by([.Pid, .Scope])[] | (map({ (.Rule): ."Gain (ns)" }) | add) as $gain | .[] |
			select(."Gain (ns)" > ."Cost (ns)" or (."Part Of" and $gain[."Part Of"] < ."Gain (ns)")) | .Rule]' "$work/gains.json")" \
			'[]' "$name: no finding gains more than it costs or than the whole"
		is "$(jq -c '[.findings | group_by([.Pid, .Scope])[] | map(select(.Try and .Rule != "ignored-errors") | .Try | .[:22]) | group_by(.)[] | select(length > 1) | .[0]]' "$work/gains.json")" \
			'[]' "$name: no advice twice"
		# Of one process the summary says what explain says.
		"$plain" report "$dir" 2>/dev/null | sed -n '/^verdict /,/^$/p' | tr -s ' \n' ' ' | sed 's/^verdict //; s/ $//' >"$work/gains.summary"
		is "$(jq --rawfile s "$work/gains.summary" '[.verdict[] | select(.Scope == "steady") | .Verdict | sub("^simulated GPU, "; "")] as $all |
			$s == "" or ($all | index($s | rtrimstr("\n"))) != null or ($all == [])' "$work/gains.json")" true "$name: the summary has the verdict of explain" ||
			cat "$work/gains.summary"
		n=$((n + $(jq '[.findings[] | select(."Part Of")] | length' "$work/gains.json")))
	done
	is "$((n >= 10))" 1 "$n findings are parts of others"
}

# One cause, one finding, one advice: copies that are small and block, a server that waits for requests.
t_rules_once()
{
	rules_explain copies=16 async=0 size=1000 copy=9000
	is "$(jq -c '[.findings[] | select(.Scope == "steady") | [.Rule, ."Part Of"]]' "$rd.json")" '[["blocking-copies",null],["small-copies","blocking-copies"]]' \
		"copies that are small and block are told once"
	rules_explain copies=16 async=1 size=1000 copy=9000
	is "$(jq -c '[.findings[] | select(.Scope == "steady") | [.Rule, ."Part Of"]]' "$rd.json")" '[["small-copies",null]]' "those that do not block are small alone"
	rules_explain pause=90000000 launches=10 launch=10000 wait=400000
	is "$(jq -r '[.verdict[] | select(.Scope == "steady") | .Limit] | join(",")' "$rd.json") $(jq -c '[.findings[] | select(.Scope == "steady") | .Rule]' "$rd.json")" \
		'pauses between iterations (no requests, or an evaluation, a checkpoint) ["application"]' "a server without requests: neither launches nor synchronisations limit it"
	is "$(jq -r '.findings[] | select(.Rule == "application") | .Finding | test(" for [0-9.]+ ms .9[0-9.]+ %. of it between iterations")' "$rd.json")" true "it says how much of it is between iterations"
}

# What a graph would take is what it takes: exact_repeats on a GPU server, as it is and mended.
t_rules_estimate()
{
	local each median

	mkdir -p "$work/estimate"
	tar -xJf tests/data/gpu/estimate.tar.xz -C "$work/estimate"
	"$plain" explain --format json "$work/estimate/exact_repeats-gpu" 2>/dev/null >"$work/estimate.json"
	each=$(jq -r '.findings[] | select(.Rule == "cuda-graph" and .Bound == "estimate") | .Finding |
		capture("exactly, (?<n>[0-9]+) times.*as a CUDA graph about (?<ms>[0-9.]+) ms") | (.ms | tonumber) * 1000 / (.n | tonumber)' "$work/estimate.json")
	median=$("$plain" report iterations --format json "$work/estimate/exact_repeats-gpu-mended" 2>/dev/null |
		jq '.iterations_sum[0]."Med (ns)" / 1000')
	awk -v e="$each" -v m="$median" 'BEGIN { exit !(e > 0 && m > 0 && e > 0.9 * m && e < 1.1 * m) }'
	ok $? "an iteration as a graph: explain expects ${each:-nothing} us, the mended program takes ${median:-none}"
}

# Without records of the GPU a gain is between two bounds: what the mended program gained lies there.
t_rules_bounds()
{
	local name rule each

	rules_problems || {
		skip "no traces of examples/problems"
		return
	}
	mkdir -p "$work/bounds"
	while read -r name rule; do
		for each in "$name" "$name-mended"; do
			"$plain" report iterations --format json "$problems/$each" 2>/dev/null | jq '.iterations_sum[] | select(.Stage == "steady") | ."Med (ns)"'
		done >"$work/bounds/medians"
		"$plain" explain --format json "$problems/$name" 2>/dev/null | jq -r --arg r "$rule" '.findings[] |
			select(.Rule == $r and .Scope == "steady" and .Bound == "at most") | [."Gain At Least (ns)" * ."Gain (%)" / ."Gain (ns)", ."Gain (%)"] | @tsv' >"$work/bounds/bounds"
		awk 'NR == 1 { before = $1 } NR == 2 { gained = 100 * (1 - $1 / before) } NR == 3 { least = $1; most = $2 }
			END { printf "# %.1f to %.1f %%: %.1f %%\n", least, most, gained; exit !(NR == 3 && least > 0 && least <= gained + 0.5 && gained <= most) }' \
			"$work/bounds/medians" "$work/bounds/bounds"
		ok $? "$name: what the mended program gains is within the bounds of $rule"
	done <<'END'
host_bound cuda-graph
exact_repeats cuda-graph
getters host-late
off_cpu host-late
END
	"$plain" explain "$problems/getters" 2>/dev/null | grep -q '^ 1\. 15\.7 to 91\.8 %'
	ok $? "both bounds are told"
	"$plain" explain "$problems/host_bound" 2>/dev/null | tr -s ' \n' ' ' | grep -q 'There is no estimate: whether the GPU works meanwhile was not recorded'
	ok $? "or why there is no estimate"
}

# What is told of programs that somebody knows: a training whose backward pass another thread launches, a loop
# of launches of a graph, one of graphs and small copies back that has no pattern, two processes at once.
t_rules_told()
{
	local d=$work/told name pid words rules

	mkdir -p "$d"
	for name in train sampler; do
		tar -xJf "tests/data/gpu/$name.tar.xz" -C "$d"
	done
	while IFS='|' read -r name pid rules words; do
		[ -n "$name" ] || continue
		[ "${name#gpu/}" = "$name" ] && set -- "$(trace "$name")" || set -- "$d/${name#gpu/}"
		"$plain" explain --format json "$1" 2>/dev/null >"$d/json"
		is "$(jq -r ".verdict[] | select(.Pid == $pid and .Scope == \"steady\") | .Verdict" "$d/json")" "$words" "$name: verdict on $pid"
		is "$(jq -r "[.findings[] | select(.Pid == $pid and .Scope == \"steady\") | if .\"Part Of\" then \"(\(.Rule))\" else .Rule end] | join(\" \")" "$d/json")" \
			"$rules" "$name: findings on $pid"
	done <<'END'
train|549|host-late (host-bound) (cuda-graph) (application) (getters)|steady state, 39 iterations of 1.75 ms (median): limited by the host. Its 2 launching threads spend 82.8 % in the application, 11.7 % launching, 3.9 % copying and 1.4 % waiting in synchronisations; the next work comes from thread 549 for 66.8 % of it and from thread 575 for 33.2 %.
gpu/train|812|host-late (gpu-idle) (application) (host-bound) (cuda-graph) (getters)|steady state, 39 iterations of 1.74 ms (median): limited by the host. Its 2 launching threads spend 78.1 % in the application, 15.5 % launching, 4.7 % copying and 1.5 % waiting in synchronisations; the next work comes from thread 812 for 75.4 % of it and from thread 837 for 24.6 %; the GPU works for 15.9 % of it (measured).
graph|624|getters|steady state, 300 iterations of 79.61 us (median): limited by the GPU. The launching thread spends 77.5 % waiting in synchronisations, 17.2 % in the application, 2.8 % launching and 2.6 % copying; the GPU has nothing to do for at least 5.1 %.
gpu/sampler|846|host-late (gpu-idle) (application) (host-bound) lazy-loading|execution, 7.250 s without a repeating pattern: limited by the host. Its 9 launching threads spend 97.7 % in the application; the next work comes from thread 846 for 56.5 % of it, from thread 939 for 14.8 %, from thread 954 for 11.8 % and from 6 more threads; the GPU works for 1.0 % of it (measured).
jax|660|application|steady state, 99 iterations of 497.94 us (median), which has 9 % of the kernels launched: what limits it is not known, since it hardly ever synchronises. Its 5 launching threads spend 87.6 % in the application, 6.5 % in other calls, 3.8 % launching and 2.1 % copying; the next work comes from thread 660 for 60.8 % of it, from thread 751 for 12.9 %, from thread 739 for 11.6 % and from 2 more threads.
processes|893||The process gave the GPU no work.
processes|915|host-late (application) (getters)|steady state, 58 iterations of 128.28 us (median): limited by the host. The launching thread spends 52.9 % in the application, 21.8 % launching, 17.1 % copying and 8.1 % waiting in synchronisations; the GPU has nothing to do for at least 21.9 %. 8 iterations that take far longer than the median have 1.73 ms (21.2 %) of the steady state.
END
	# Each process's own words, and what is the same in both once.
	"$plain" explain "$(trace processes)" >"$d/processes" 2>/dev/null
	is "$(grep -c '(host-late)$' "$d/processes")$(grep -c 'the same in \[915\] 21.9 to 91.9 %' "$d/processes")$(grep -c 'Gave the GPU no work: python3 (893)$' "$d/processes")" 111 \
		"processes: one cause is told once" || cat "$d/processes"
	# No graph is proposed where nothing repeats exactly.
	"$plain" explain "$d/sampler" 2>/dev/null | grep -c 'CUDA graph' >"$d/graphs"
	is "$(cat "$d/graphs")" 0 "sampler: no word of a CUDA graph"
	"$plain" explain "$d/train" 2>/dev/null | grep -q '^    try, to gain about 70.2 %: Capture the sequence once and replay it'
	ok $? "train: a graph, by what it would gain"
}

# Other traces of real programs, by the state of their threads.
t_rules_verdicts()
{
	local name limit

	rules_limit() { jq -r '[.verdict[] | select(.Scope == "steady") | .Limit] | unique | join(",")'; }
	while read -r name limit; do
		[ -n "$name" ] || continue
		is "$("$plain" explain --format json "$(trace "$name")" | rules_limit)" "$limit" "$name: limited by it"
	done <<'END'
gpt2 the host
graph the GPU
train the host
guest-off-cpu the CPU: the launching thread is off it
guest-off-cpu-mended the GPU
jax not known
END
	"$plain" explain --format json "$(trace guest-off-cpu)" | jq -e 'any(.findings[]; .Rule == "off-cpu" and .Scope == "steady")' >/dev/null
	ok $? "guest-off-cpu: off-cpu is found"
	"$plain" explain --format json "$(trace guest-off-cpu-mended)" | jq -e 'all(.findings[]; .Rule != "off-cpu")' >/dev/null
	ok $? "guest-off-cpu-mended: off-cpu is not found"
	"$plain" explain "$(trace guest-off-cpu)" >"$work/explain.txt"
	grep -q "SIMULATED GPU" "$work/explain.txt" && grep -q "simulated GPU, steady state" "$work/explain.txt"
	ok $? "a simulated GPU is told" || head -n 8 "$work/explain.txt"
	is "$("$plain" explain "$(trace gpt2)" | grep -ci simulated)" 0 "and only such a one"
	# The programs of make_rules: RULES KEYS.
	while read -r limit keys; do
		# shellcheck disable=SC2086
		rules_explain $keys
		is "$(rules_limit <"$rd.json")" "${limit//\~/ }" "limit of $keys"
	done <<'END'
not~known sync=0
the~GPU simulated=1
the~host gap=1000000 wait=100000
synchronisation~(host~and~GPU~take~turns) after=800000
several~things~together launch=300000
transfers copies=1 copy=1500000
the~kernel~driver ioctls=1 ioctl=2000000
loading~of~code load=2000000
allocation~of~memory allocs=1 alloc=1000000
the~CPU:~the~launching~thread~is~off~it off=900000 wait=100000
END
	# The parts of the sentence are all of the time.
	rules_explain gap=100000 wait=300000 copies=2 copy=50000 ioctls=1 ioctl=70000
	is "$(jq -r '.verdict[0].Verdict | [scan("([0-9.]+) % (?:in|wait|launch|copy|load|alloc|off)")[0] | tonumber] | add | . > 98.5 and . < 101.5' "$rd.json")" \
		true "the parts of the sentence add up" || jq -r .verdict[0].Verdict "$rd.json"
}

# What is printed for people, and what wrong input gets.
t_rules_text()
{
	local name width file=$work/explain.txt dirs=() status

	dirs=("$(trace gpt2)" "$(trace guest-two)" "$(trace processes)" "$(trace guest-cuinit)")
	rules_explain longnames=300 allocs=1 alloc=30000
	dirs+=("$rd")
	rules_explain processes=2 shift=20000000 beside=300000 threads=2 slow=1000
	dirs+=("$rd")
	rules_problems && for name in $(sed 's/ .*//' <<<"$rules_real"); do
		dirs+=("$problems/$name" "$problems/$name-mended")
	done
	for name in "${dirs[@]}"; do
		for width in 80 160; do
			COLUMNS=$width "$plain" explain --top 0 "$name" >"$file" 2>&1
			status=$?
			[ $status = 0 ] && [ "$(awk '{ print length }' "$file" | sort -n | tail -n 1)" -le $width ]
			ok $? "$(basename "$name"): at most $width columns" || awk -v w=$width 'length > w' "$file"
			! grep -nE '(^|[^0-9.,])0 ns|[^0-9]0\.0 %|(^|[^0-9.,])1 (calls|copies|small copies|blocking copies|synchronisations|times|iterations|launches|modules|processes|ioctls|threads|frees|allocations)|null' "$file"
			ok $? "$(basename "$name"): no empty figures, no wrong plurals"
		done
	done
	# What was not recorded is not told, a record only once, and a number stays with its unit.
	rules_explain kernel=1 after=900000
	jq -e '.findings[] | select(.Rule == "application") | .Try | test("not recorded\\.$")' "$rd.json" >/dev/null
	ok $? "the module without switches: whether the thread ran is not known" || jq -r '.findings[].Try' "$rd.json"
	rules_explain load=20000000 every=30
	"$plain" explain "$rd" >"$file"
	is "$(grep -c 'record: cu[A-Z][a-z]*LoadData' "$file"),$(grep -o -e '--call [0-9]*' "$file" | sort | uniq -d | wc -l)" "1,0" "a record is shown once" || cat "$file"
	rules_explain gap=400000 wait=100000 copies=3 copy=50000 pinned=0 allocs=1 alloc=30000 ioctls=1 ioctl=70000
	for width in $(seq 60 100); do
		COLUMNS=$width "$plain" explain "$rd"
	done >"$file"
	! grep -nE '[0-9]$' "$file" && ! grep -nE '^ *(%|ns|us|ms|s|B|KiB|MiB)([ ,.;:)]|$)' "$file"
	ok $? "no line ends between a number and its unit"
	# The numbers of findings, and how many are left out.
	rules_explain errors=20 notready=40 before=150000000 init=90000000 context=70000000 module=60000000
	"$plain" explain --top 2 "$rd" >"$file"
	is "$(grep -cE '^ *[0-9]+\. ' "$file"),$(sed -n 's/^\.\.\. and \([0-9]*\) more.*/\1/p' "$file")" \
		"2,$(($(jq '.findings | length' "$rd.json") - 2))" "--top 2"
	is "$("$plain" explain --top 1 --format json "$rd" | jq '.findings | length')" 1 "--top 1 as json"
	"$plain" explain --format csv "$rd" >"$work/explain.csv"
	is "$(sed '1,/^$/d' "$work/explain.csv" | sqlite3 :memory: ".import --csv /dev/stdin f" 'select count(*) from f')" \
		"$(jq '.findings | length' "$rd.json")" "csv has the same findings"
	"$b/make_rules" "$work/rules/lost" lost=3
	"$plain" explain "$work/rules/lost" 2>/dev/null | grep -q '^lost  *3 records'
	ok $? "lost records are told"
	is "$("$plain" explain --rules | diff - docs/rules.md)" "" "docs/rules.md is what explain --rules prints"
}

# A trace with more than a rule keeps: what it did not look at is said, for people and beside each format.
# (The steady state of the second one has 65,923 waits.)
t_rules_unseen()
{
	local d=$work/rules/unseen words text

	mkdir -p "$work/rules"
	while IFS='|' read -r words text; do
		[ -n "$words" ] || continue
		rm -rf "$d"
		# shellcheck disable=SC2086
		if [[ $words == kernels=* ]]; then "$b/make_gpu" $words "$d" >/dev/null; else "$b/make_rules" "$d" $words; fi
		COLUMNS=80 "$plain" explain "$d" >"$d.txt" 2>/dev/null
		is "$(sed -n '/^NOT LOOKED AT$/,$p' "$d.txt" | tail -n +2 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" "$text" "$words" || tail -n 5 "$d.txt"
		is "$("$plain" explain --format json "$d" 2>&1 >/dev/null | sed -n 's/^cudatrace: findings: //p' | paste -sd' ')" "$text" "... as a note" ||
			"$plain" explain --format json "$d" 2>&1 >/dev/null | head -n 3
	done <<'END'
kernels=65540|? (4242): the GPU ran more than 65,536 kernels of different names; 4 runs of further ones, which took 48.00 us, are not told apart.
other=2 launches=2 wait=100 iterations=66000|program (4242): it launched more than 65,536 different sequences between its waits; of 387 further ones it is not known whether they repeat.
off=21000 who=9000 whos=4100 iterations=4200|program (4242): more than 4,096 threads ran while it was off the CPU; of 84.00 us it is not known which one did. program (4242): more than 4,096 threads woke it; of 4 times it is not known which one did.
ranges=4096 copies=4 copy=9000 pinned=0|program (4242): it pinned more than 4,096 ranges of host memory; whether its copies are from pageable memory is not known.
END
}

t_rules_input()
{
	local bad n file status

	# rules_bad STATUS PATTERN ARGUMENT...: one line on stderr, nothing on stdout.
	rules_bad()
	{
		local status=$1 pattern=$2
		shift 2
		"$ct" explain "$@" >"$work/out" 2>"$work/err" </dev/null
		[ $? = "$status" ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$pattern" "$work/err"
		ok $? "explain $*: status $status, $pattern" || head -n 3 "$work/out" "$work/err"
	}
	rules_explain
	rules_bad 64 'name the directory'
	rules_bad 64 "no format 'xml'" --format xml "$rd"
	rules_bad 64 "takes a number, not 'x'" --top x "$rd"
	rules_bad 64 "takes a number, not '-1'" --top -1 "$rd"
	rules_bad 64 "takes a number" --top 99999999999999999999999 "$rd"
	rules_bad 64 'goes with --slowest' --tid 4242 "$rd"
	rules_bad 64 'goes with --slowest' --at 1 --name 'cu*' "$rd"
	rules_bad 64 'the same trace is named twice' "$rd" "$rd"
	rules_bad 1 'No such file' "$work/nothing"
	mkdir -p "$work/empty"
	rules_bad 1 'not a cudatrace trace' "$work/empty"
	bad=$work/rules/bad
	for n in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$bad"
		cp -r "$rd" "$bad"
		for file in "$bad"/u-*; do
			"$b/hurt_trace" flip "$file" "$n"
		done
		timeout $hang "$ct" explain "$bad" >"$work/out" 2>"$work/err"
		status=$?
		[ $status = 0 ] && [ -s "$work/out" ] || { [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ]; }
		ok $? "damaged in way $n: status $status" || head -n 5 "$work/err"
	done
	"$ct" explain "$rd" >/dev/full 2>"$work/err"
	is "$?$(grep -c 'No space left' "$work/err")" 11 "a full disk is told"
}
