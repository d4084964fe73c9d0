# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The reports that say where the time goes, compared with what awk makes of the JSON Lines of the
# same trace.  The boundaries of stages and iterations are taken from the report itself, all that
# is inside them is computed again.  Sourced by run.sh; the functions that it uses are in
# reports.sh.

# Traces without the module's records, which have processes, threads and iterations of all kinds.
stages_traces="train train-nvtx graph inference jax processes gpt2"

# table N FILE: table number N of a report with several tables in csv
table() { awk -v RS= -v n="$1" 'NR == n' "$2"; }

# awk functions: what a thread does by its open calls, and what its process does by those of all
# threads that launch (thread[PID, 1 ...], "own", "called" and "last" of each).
doing_functions='
	function step(   i) {
		if ($1 == "B")
			stack[$9, ++depth[$9]] = $10
		else if ($1 == "E")
			for (i = depth[$9]; i; i--)
				if (stack[$9, i] == $10) {
					depth[$9] = i - 1
					break
				}
	}
	function now_doing(tid,   i) {
		for (i = 1; i <= depth[tid]; i++)
			if (type[stack[tid, i]] == "sync")
				return "waiting"
		if (!depth[tid])
			return "application"
		i = type[stack[tid, depth[tid]]]
		return i == "syscall" ? "kernel driver" : i == "userspace" ? "other calls" : i
	}
	# From @now on thread @tid does @what.
	function moved(tid, now, what,   busy) {
		busy = own[tid] != "application" && own[tid] != "before or after the thread"
		own[tid] = what
		if (!busy && what != "application")
			called[tid] = now
		last[tid] = now
	}
	# What the process does from now on, if the next work comes from @c.
	function would(pid, c,   i, t, work, wait) {
		if (own[c] != "application" && own[c] != "before or after the thread")
			return own[c]
		for (i = 1; i <= threads[pid]; i++) {
			t = thread[pid, i]
			if (own[t] == "waiting" && called[t] > last[c])
				wait = "waiting"
			else if (own[t] != "waiting" && own[t] != "application" && own[t] != "before or after the thread" &&
				 called[t] > last[c] && (!work || called[t] > called[work]))
				work = t
		}
		return work ? own[work] : wait ? wait : "application"
	}
'

# doings NAME SPANS: what each thread did in each span (lines: pid, label, begin, end); a thread's
# time begins and ends with its process, whose stages are known by then.  Prints
#   A pid tid label account ns      and      C pid tid label calls launches copies syncs
doings()
{
	awk -F'\t' -v OFS='\t' "$doing_functions"'
	function charge(tid, now,   pid, i, from, to) {
		pid = pids[tid]
		for (i = at[tid] + 0; i < count[pid]; i++) {
			from = begin[pid, i] > last[tid] ? begin[pid, i] : last[tid]
			to = end[pid, i] < now ? end[pid, i] : now
			if (from < to)
				ns[pid OFS tid OFS label[pid, i] OFS doing[tid]] += to - from
			if (end[pid, i] > now)
				break
		}
		while (at[tid] + 1 < count[pid] && end[pid, at[tid] + 0] <= now)
			at[tid]++
		last[tid] = now
	}
	FILENAME == ARGV[1] {
		if (!($1 in first))
			first[$1] = $3
		ends[$1] = $4
		next
	}
	FILENAME == ARGV[2] {
		label[$1, count[$1] + 0] = $2; begin[$1, count[$1] + 0] = $3; end[$1, count[$1] + 0] = $4
		count[$1]++
		next
	}
	!second { if ($10 != "" && $1 != "B") { type[$10] = $3; op[$10] = $4 } next }
	$8 == 0 || !($8 in count) { next }
	!($9 in pids) {
		pids[$9] = $8
		doing[$9] = $9 == $8 ? "application" : "before or after the thread"
		last[$9] = first[$8]
	}
	{
		charge($9, $7)
		step()
		doing[$9] = now_doing($9)
	}
	$1 != "E" && $10 != "" && $2 == "user" && type[$10] != "syscall" {
		i = at[$9] + 0
		if ($7 < begin[$8, i] || $7 > end[$8, i] || ($7 == end[$8, i] && i + 1 < count[$8]))
			next
		key = $8 OFS $9 OFS label[$8, i]
		calls[key]++
		launches[key] += op[$10] == "launch" && (type[$10] == "kernel" || type[$10] == "graph")
		copies[key] += type[$10] == "transfer" && (op[$10] == "copy" || op[$10] == "set")
		syncs[key] += type[$10] == "sync"
	}
	END {
		for (tid in pids) {
			if (doing[tid] == "application" && tid != pids[tid])
				doing[tid] = "before or after the thread"
			charge(tid, ends[pids[tid]])
		}
		for (key in ns)
			print "A", key, ns[key]
		for (key in calls)
			print "C", key, calls[key], launches[key], copies[key], syncs[key]
	}' "$work/data/$1.stages.spans" "$2" "$work/data/$1.tsv" second=1 "$work/data/$1.tsv"
}

# turns NAME SPANS: what each process did in each span, and whose turn it was, by looking ahead: a
# moment belongs to the thread that gives the GPU its next work (after the last work: that gave it).
# The process does what this thread does; while it is in no call, the call of another one that began
# since.  Prints
#   A pid label account ns      and, of the stages,      T pid tid label ns
turns()
{
	awk -F'\t' -v OFS='\t' "$doing_functions"'
	function spread(pid, from, to, what, whom,   i, a, b) {
		for (i = 0; i < count[pid]; i++) {
			a = begin[pid, i] > from ? begin[pid, i] : from
			b = end[pid, i] < to ? end[pid, i] : to
			if (a < b)
				ns[pid OFS label[pid, i] OFS what] += b - a
		}
		for (i = 0; i < stages[pid]; i++) {
			a = from > stage[pid, i] ? from : stage[pid, i]
			b = to < stage[pid, i + 1] ? to : stage[pid, i + 1]
			if (a < b)
				turn[pid OFS whom OFS word[pid, i]] += b - a
		}
	}
	FILENAME == ARGV[1] {
		if (!($1 in stages)) {
			stages[$1] = 0
			stage[$1, 0] = $3
		}
		word[$1, stages[$1]] = $2
		stage[$1, ++stages[$1]] = $4
		next
	}
	FILENAME == ARGV[2] {
		label[$1, count[$1] + 0] = $2; begin[$1, count[$1] + 0] = $3; end[$1, count[$1]++ + 0] = $4
		next
	}
	!second {
		if ($10 != "" && $1 != "B") { type[$10] = $3; op[$10] = $4 }
		if ($2 == "user" && $1 != "B" && $8 in stages && !(($8, $9) in launches) &&
		    (($4 == "launch" && ($3 == "kernel" || $3 == "graph")) || ($3 == "transfer" && $4 == "copy"))) {
			launches[$8, $9] = 1
			thread[$8, ++threads[$8]] = $9
		}
		next
	}
	!(($8, $9) in launches) { next }
	{
		step()
		n = ++events[$8]
		at[$8, n] = $7; who[$8, n] = $9; after[$8, n] = now_doing($9)
		gives[$8, n] = $1 != "E" && $2 == "user" && ((op[$10] == "launch" && (type[$10] == "kernel" || type[$10] == "graph")) ||
			(type[$10] == "transfer" && (op[$10] == "copy" || op[$10] == "set")))
	}
	END {
		for (pid in threads) {
			n = events[pid]
			# Backwards, for each event the thread whose turn it is behind it.
			ahead = thread[pid, 1]
			for (i = 1; i <= n; i++)
				if (gives[pid, i])
					ahead = who[pid, i]
			for (i = n; i >= 1; i--) {
				behind[i] = ahead
				if (gives[pid, i])
					ahead = who[pid, i]
			}
			for (i = 1; i <= threads[pid]; i++) {
				t = thread[pid, i]
				own[t] = t == pid ? "application" : "before or after the thread"
				last[t] = called[t] = 0
			}
			spread(pid, stage[pid, 0], at[pid, 1], "application", ahead)
			for (i = 1; i <= n; i++) {
				t = who[pid, i]
				moved(t, at[pid, i], after[pid, i])
				from = at[pid, i]
				to = i < n ? at[pid, i + 1] : stage[pid, stages[pid]]
				spread(pid, from, to, would(pid, behind[i]), behind[i])
			}
		}
		for (k in ns)
			print "A", k, ns[k]
		for (k in turn)
			print "T", k, turn[k]
	}' "$work/data/$1.stages.spans" "$2" "$work/data/$1.tsv" second=1 "$work/data/$1.tsv"
}

# stage_spans NAME: the stages of the report, as doings takes them
stage_spans()
{
	table 1 "$work/data/$1.stages.csv" >"$work/data/$1.stages.first"
	csv "$work/data/$1.stages.first" Pid Stage "Start (ns)" "Duration (ns)" |
		awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, $3 + $4 }' >"$work/data/$1.stages.spans"
}

# together NAME: where several threads launch, what the process did in the stages, and whose turn it was.
# 1: one thread launches.
together()
{
	local d=$work/data/$1

	table 3 "$d.stages.csv" >"$d.together.csv"
	table 4 "$d.stages.csv" >"$d.turns.csv"
	[ -s "$d.together.csv" ] || return 1
	cp "$d.stages.spans" "$d.spans"
	turns "$1" "$d.spans" | sed -n 's/^A.//p' | sort >"$d.together.want"
	csv "$d.together.csv" Pid Stage Account "Time (ns)" | sort >"$d.together.got"
	same "$d.together.want" "$d.together.got" nttn "stages of $1: what the process did whose threads launch in turn"
	turns "$1" /dev/null | sed -n 's/^T.//p' | sort >"$d.turns.want"
	csv "$d.turns.csv" Pid Tid Stage "Turn (ns)" | sort >"$d.turns.got"
	same "$d.turns.want" "$d.turns.got" nntn "stages of $1: whose turn it was"
}

# Much is called before the next work is given: more than is kept of a turn (LAUNCHING_CHANGES).
t_reports_turns()
{
	local name=between state number wait

	"$b/make_rules" "$work/$name" threads=2 apart=600 launches=40 getters=4500 timed=1 iterations=12 wait=1000
	facts "$name"
	report "$name" stages
	stage_spans "$name"
	together "$name"
	ok $? "$name: two threads launch in turn"
	# More threads than are compared (CT_LAUNCHING_COMPARED): it is said.
	"$b/make_rules" "$work/crowded" threads=2 launches=10 launch=10000 wait=50000 crowd=100
	is "$("$plain" report --from start stages "$work/crowded" 2>/dev/null | tr -s ' \n' ' ' | grep -o 'has [0-9]* launching threads: of more than 64 the one that called last has its turn' | wc -l)" 1 \
		"of 100 launching threads it is said whose turn it is"
	# While another thread synchronises, one whose samples say that it runs, or sleeps, does not wait for that.
	for state in none:0:78000000 unknown:1:78000000 running:2:2000000 sleeping:3:2000000 lock:4:78000000; do
		IFS=: read -r name number wait <<<"$state"
		"$b/make_rules" "$work/sampled-$name" threads=2 launches=10 launch=10000 wait=50000 after=5000000 apart=200000 syncer=4000000 sampled="$number"
		is "$("$plain" report --format csv stages "$work/sampled-$name" 2>/dev/null | awk -v RS= 'NR == 3' | awk -F, '$2 == "steady" && $3 == "waiting" { print $4 }')" \
			"$wait" "its samples say $name: what the process waited"
	done
	# One that waits for Python's lock waits for the other one only if that one holds it.
	for state in its:4243:78000000 another:4999:2000000; do
		IFS=: read -r name number wait <<<"$state"
		"$b/make_rules" "$work/gil-$name" threads=2 launches=10 launch=10000 wait=50000 after=5000000 apart=200000 syncer=4000000 sampled=12 holder="$number"
		is "$("$plain" report --format csv stages "$work/gil-$name" 2>/dev/null | awk -v RS= 'NR == 3' | awk -F, '$2 == "steady" && $3 == "waiting" { print $4 }')" \
			"$wait" "its samples say that it waits for Python's lock, $name: what the process waited"
	done
	# Off the CPU it is off the CPU, whatever its last sample says; while the other one is between its calls that one's application counts.
	"$b/make_rules" "$work/sampled-off" threads=2 launches=10 launch=10000 wait=50000 after=5000000 apart=200000 syncer=4000000 sampled=3 offafter=4900000
	is "$("$plain" report --format csv stages "$work/sampled-off" 2>/dev/null | awk -v RS= 'NR == 3' | awk -F, '$2 == "steady" && $3 ~ "application|off the CPU" { print $4 }' | paste -sd ' ')" \
		"112150000 81140000" "its samples say that it sleeps, and the module that it is off the CPU"
	# A thread that has turns but never launches is among the threads.
	"$b/make_rules" "$work/copier" threads=2 copier=1 apart=600000 launches=10
	"$plain" report --format json stages "$work/copier" 2>/dev/null >"$work/copier.json"
	is "$(jq -c '[([.stages_turns[] | select(.Stage == "steady") | .Tid] | sort), ([.stages_accounts[] | select(.Stage == "steady") | .Tid] | unique)]' \
		"$work/copier.json")" "[[4242,4243],[4242,4243]]" "a thread that only copies has turns, and its own times"
	is "$("$plain" report stages "$work/copier" 2>/dev/null | grep -c '^ *4242 *4243 *steady .* [0-9.]* %$')" 1 "as people read it, too" ||
		"$plain" report stages "$work/copier"
}

t_reports_stages()
{
	local name d several=0

	for name in $stages_traces; do
		d=$work/data/$name
		facts "$name"
		report "$name" stages
		stage_spans "$name"
		is "$(awk -F'\t' '$1 in end && end[$1] != $3 { bad++ } { end[$1] = $4 } END { print bad + 0, (NR > 0) }' \
			"$d.stages.spans")" "0 1" "stages of $name: each begins where the one before ends"
		cp "$d.stages.spans" "$d.spans"
		doings "$name" "$d.spans" >"$d.doings"
		turns "$name" /dev/null | sed -n 's/^T.//p' >"$d.turns"
		awk -F'\t' -v OFS='\t' '
		FILENAME == ARGV[1] { wall[$1, $2] = $4 - $3; next }
		FILENAME == ARGV[2] { if ($3 == "steady" || $3 == "execution") { turn[$1, $2] += $4; all[$1] += $4 } next }
		$1 == "C" { launches[$2, $3] += $6 }
		$1 == "A" && $5 != "application" && $5 != "before or after the thread" { called[$2, $3, $4] += $6 }
		{ line[++n] = $0 }
		END {
			# Before the warm-up also the thread that is longest in calls.
			early["startup"]; early["init"]; early["modules"]; early["weights"]
			for (k in called) {
				split(k, f, SUBSEP)
				if (f[3] in early && called[k] > called[f[1], works[f[1], f[3]], f[3]])
					works[f[1], f[3]] = f[2]
			}
			for (i = 1; i <= n; i++) {
				split(line[i], f, FS)
				if (f[1] == "A" && (launches[f[2], f[3]] || (all[f[2]] && 100 * turn[f[2], f[3]] >= all[f[2]]) || (f[2], f[4]) in works && works[f[2], f[4]] == f[3]))
					print f[2], f[3], f[4], f[5], f[6], 100 * f[6] / wall[f[2], f[4]]
			}
		}' "$d.stages.spans" "$d.turns" "$d.doings" >"$d.accounts.want"
		table 2 "$d.stages.csv" >"$d.accounts.csv"
		csv "$d.accounts.csv" Pid Tid Stage Account "Time (ns)" "Time (%)" >"$d.accounts.got"
		same "$d.accounts.want" "$d.accounts.got" nnttnd "stages of $name: every account"
		is "$(awk -F'\t' 'NR == FNR { wall[$1, $2] = $4 - $3; next } { sum[$1, $2, $3] += $5 }
			END { for (k in sum) { split(k, f, SUBSEP); n++; bad += sum[k] != wall[f[1], f[3]] }
			print bad + 0, (n > 0) }' "$d.stages.spans" "$d.accounts.got")" "0 1" \
			"stages of $name: the accounts of each thread add up to the stage"
		together "$name" && several=$((several + 1))
		awk -F'\t' -v OFS='\t' '
		FILENAME == ARGV[1] { row[++n] = $1 OFS $2; dur[n] = $4 - $3; all[$1] += $4 - $3; next }
		$1 == "C" { k = $2 OFS $4; c[k] += $5; l[k] += $6; o[k] += $7; s[k] += $8 }
		END { for (i = 1; i <= n; i++) { split(row[i], f, OFS); k = row[i]
			print k, dur[i], 100 * dur[i] / all[f[1]], c[k] + 0, l[k] + 0, o[k] + 0, s[k] + 0 } }' \
			"$d.stages.spans" "$d.doings" >"$d.stages.want"
		csv "$d.stages.first" Pid Stage "Duration (ns)" "Time (%)" Calls Launches Copies Syncs >"$d.stages.got"
		same "$d.stages.want" "$d.stages.got" ntndnnnn "stages of $name: every row"
	done
	is "$((several >= 2))" 1 "stages: several threads launch in $several traces"
	# With the module's records, lost ends and records of the GPU: every ns has one account.
	for name in basic begin left open both objects gpu deep layers steps; do
		d=$work/data/$name
		report "$name" stages
		stage_spans "$name"
		table 2 "$d.stages.csv" >"$d.accounts.csv"
		[ -s "$d.accounts.csv" ] || continue
		csv "$d.accounts.csv" Pid Tid Stage Account "Time (ns)" >"$d.accounts.got"
		is "$(awk -F'\t' 'NR == FNR { wall[$1, $2] = $4 - $3; next } { sum[$1, $2, $3] += $5 }
			END { for (k in sum) { split(k, f, SUBSEP); bad += sum[k] != wall[f[1], f[3]] }
			print bad + 0 }' "$d.stages.spans" "$d.accounts.got")" 0 \
			"stages of $name: the accounts of each thread add up to the stage"
	done
	# When all goes to one stream: idle from the end of its synchronisation to the next submission.
	for name in gpt2 processes train; do
		d=$work/data/$name
		awk -F'\t' -v OFS='\t' '
		function ends(pid, now,   i, a, b) {
			if (since[pid])
				for (i = 0; i < count[pid]; i++) {
					a = begin[pid, i] > since[pid] ? begin[pid, i] : since[pid]
					b = end[pid, i] < now ? end[pid, i] : now
					if (a < b)
						idle[pid, i] += b - a
				}
			since[pid] = 0
		}
		FILENAME == ARGV[1] { label[$1, count[$1] + 0] = $2; begin[$1, count[$1] + 0] = $3
			end[$1, count[$1]++] = $4; next }
		$10 == "" { next }
		!second { if ($1 != "B") { submits[$10] = $3 == "transfer" || $4 == "launch"; sync[$10] = $3 == "sync" }; next }
		submits[$10] && $1 != "E" { ends($8, $7) }
		submits[$10] && $1 != "B" { last[$8, $20] = $7; used[$8, $20] = 1 }
		sync[$10] && $1 == "E" && $13 == 0 && !since[$8] {
			left = 0
			for (k in used) {
				split(k, f, SUBSEP)
				if (f[1] != $8)
					continue
				# Only this stream is waited for by name in these traces.
				if ($5 == "cuCtxSynchronize" || f[2] == "0x0")
					delete used[k]
				else
					left++
			}
			if (!left)
				since[$8] = $7
		}
		END { for (pid in count) { ends(pid, end[pid, count[pid] - 1])
			for (i = 0; i < count[pid]; i++) print pid, label[pid, i], idle[pid, i] + 0 } }' \
			"$d.stages.spans" "$d.tsv" second=1 "$d.tsv" >"$d.idle.want"
		csv "$d.stages.first" Pid Stage "Device Idle (ns)" >"$d.idle.got"
		same "$d.idle.want" "$d.idle.got" ntn "stages of $name: the GPU's idle time"
	done
}

# Before the warm-up a stage is accounted to the thread that works in it, though it launches nothing.
t_reports_starter()
{
	local d=$work/data/starter
	mkdir -p "$work/data"

	"$b/make_rules" "$d" starter=1 before=50000000 init=215000000 context=85000000 launches=10
	ok $? "a program that another thread initialises"
	is "$("$plain" report "$d" 2>/dev/null | sed -n 's/^  init .* % *\([0-9.]* % .*\)$/\1/p')" "71.7 % init, 28.3 % context" "summary: cuInit is seen" ||
		"$plain" report "$d"
	"$plain" report --format csv stages "$d" 2>/dev/null >"$d.csv"
	table 2 "$d.csv" >"$d.accounts"
	is "$(csv "$d.accounts" Stage Account "Time (ns)" Tid | awk -F'\t' '$1 == "init" && $4 == 4247 { print $2, $3 }' | paste -sd ,)" \
		"init 215000000,context 85000000" "stages: so is its thread"
	is "$(csv "$d.accounts" Stage Tid | awk -F'\t' '$2 == 4247' | sort -u | cut -f 1 | paste -sd ,)" "init" "in no stage but that"
	is "$("$plain" report --format json summary "$d" 2>/dev/null | jq -c '[.[] | select(.Metric | test("^stage init of [0-9]+ (init|context)$")) | .Value]')" \
		"[215000000,85000000]" "and the summary's figures have it"
}

# every_trace: the directory of each kept trace, a line each: of tests/data and its folders, those in archives of several, too.
every_trace()
{
	local name to

	unpack_real
	for name in tests/data/gpu/*.tar.xz tests/data/ranks/*.tar.xz; do
		to=$work/data/kept/${name#tests/data/}
		[ -e "$to.there" ] || { mkdir -p "$to" && tar -xJf "$name" -C "$to" && touch "$to.there"; }
	done
	for name in "$work"/data/*/metadata "$work"/data/kept/*/*/*/metadata; do
		[ ! -e "$name" ] || echo "${name%/metadata}"
	done
}

# Whoever says a share of the same time says the same: the verdict, the findings, the stages, the page.
# One tenth of a per cent is what rounding makes.
t_reports_shares()
{
	local d=$work/shares dir name compared=0 said

	mkdir -p "$d"
	while read -r dir; do
		name=${dir#"$work/data/"}
		# What is found in each of examples/problems is a test of rules.sh.
		[[ ! $name =~ ^($spared)$ ]] || continue
		"$plain" explain --format json "$dir" 2>/dev/null >"$d/explain"
		"$plain" report --from start --format json stages "$dir" 2>/dev/null >"$d/stages"
		jq -rn --slurpfile e "$d/explain" --slurpfile s "$d/stages" '
		def near($x; $y): ($x - $y) | fabs <= 0.11;
		def main: .Stage == "steady" or .Stage == "execution";
		def sum(f): map(f) | add // 0;
		$e[0] as $e | $s[0] as $s | $e.verdict[] | select(.Scope == "steady") | .Pid as $pid | .Verdict as $v |
		[$s.stages[] | select(.Pid == $pid and main)] as $stages | ($stages | sum(."Duration (ns)")) as $wall |
		select($wall > 0) |
		([$s.stages_together // [] | .[] | select(.Pid == $pid and main)] |
			if length > 0 then . else [$s.stages_accounts[] | select(.Pid == $pid and main)] end |
			map({ (.Account): ."Time (ns)" }) | reduce .[] as $a ({}; . as $all | reduce ($a | keys[]) as $k ($all; .[$k] += $a[$k]))) as $accounts |
		([$v | scan("([0-9.]+) % (in the application|waiting in synchronisations|off the CPU|in the kernel driver|launching|copying|loading code|allocating and freeing memory)")] |
			map({ (.[1]): (.[0] | tonumber) }) | add // {}) as $parts |
		($v | [scan("[Tt]he GPU works for ([0-9.]+) %")] | first // [null] | first | if . then tonumber else null end) as $works |
		($v | [scan("is idle for ([0-9.]+) % although")] | first // ["0"] | first | tonumber) as $queued |
		($v | [scan("wait for other ranks for ([0-9.]+) %")] | first // ["0"] | first | tonumber) as $ranks |
		{ "in the application": ["application"], "waiting in synchronisations": ["waiting"], "off the CPU": ["off the CPU"],
			"in the kernel driver": ["kernel driver"], "launching": ["kernel", "graph"], "copying": ["transfer"],
			"loading code": ["module"], "allocating and freeing memory": ["memory"] } as $of |
		# What the verdict says and the stages.
		($parts | to_entries[] | . as $p | ($of[$p.key] | sum($accounts[.] // 0)) as $ns |
			"\($pid) \($p.key): verdict \($p.value) stages \(100 * $ns / $wall) \(near($p.value; 100 * $ns / $wall))"),
		(if $works then "\($pid) works: verdict \($works) stages \($stages | sum(."GPU Busy (ns)") * 100 / $wall) \(
			near($works; ($stages | sum(."GPU Busy (ns)") * 100 / $wall)))" else empty end),
		# And the findings.
		($e.findings[] | select(.Pid == $pid and .Scope == "steady") | . as $f | .Finding as $t |
			(if .Rule == "application" then ["in the application", ."Share (%)", $parts["in the application"]]
			elif .Rule == "off-cpu" then ["off the CPU", ."Share (%)", $parts["off the CPU"]]
			elif .Rule == "host-late" then ["late", ."Share (%)",
				if $works then 100 - $works - $queued - $ranks else 100 - ($parts["waiting in synchronisations"] // 0) end]
			elif .Rule == "gpu-idle" then ["idle", ([$t | scan("is idle for [^(]*\\(([0-9.]+) %\\)")][0] // [null])[0], if $works then 100 - $works - $ranks else null end]
			elif .Rule == "gpu-kernels" then ["works", ([$t | scan("works for [^(]*\\(([0-9.]+) %\\)")][0] // [null])[0], $works]
			else empty end),
			(if .Rule == "host-bound" then ["waits", ([$t | scan("wait only [^(]*\\(([0-9.]+) %\\)")][0] // [null])[0], $parts["waiting in synchronisations"]],
				["works", ([$t | scan("GPU works for ([0-9.]+) %")][0] // [null])[0], $works] else empty end) |
			select(.[1] != null and .[2] != null) | .[0] as $what | (.[1] | tonumber) as $x | .[2] as $y |
			# What is less than 1 % is not said.
			(if $what == "idle" then [$ranks] elif $what != "late" then [] elif $works then [$queued, $ranks] else [$parts["waiting in synchronisations"] // 0] end |
				map(select(. == 0)) | length) as $unsaid |
			"\($pid) \($f.Rule) \($what): \($x) verdict \($y) \($x <= $y + 0.21 and $x >= $y - 0.21 - $unsaid)"),
		# How long a rank makes another wait, and how long that one waits.
		($e.findings[] | select(.Rule == "late-rank" and $ranks > 1) | select(.Pid != $pid) |
			"\($pid) late-rank: \(."Share (%)") verdict \($ranks) \(near(."Share (%)"; $ranks))")' >"$d/compared"
		ok $? "$name: shares"
		is "$(grep -v ' true$' "$d/compared")" "" "$name: what the verdict, the stages and the findings say of the same time"
		compared=$((compared + $(wc -l <"$d/compared")))
		# The same sentences on the terminal, in the summary and on the page.
		"$plain" explain --top 0 "$dir" 2>/dev/null | tr -s ' \n' ' ' >"$d/text"
		"$plain" report "$dir" 2>/dev/null | tr -s ' \n' ' ' >"$d/summary"
		"$plain" export --format html -f -o "$d/html" "$dir" 2>/dev/null &&
			awk '/id="ct-manifest"/ { on = 1; sub(/.*id="ct-manifest"[^>]*>/, "") } on { if (sub(/<.*/, "")) { print; exit } print }' "$d/html" >"$d/manifest"
		said=$(jq -r '.verdict[] | select(.Scope == "steady" and .Limit and (.Verdict | startswith("The process gave") | not)) | .Verdict' "$d/explain")
		while read -r line; do
			[ -z "$line" ] || grep -qF "${line#simulated GPU, }" "$d/text"
			ok $? "$name: explain as text"
		done < <(head -n 8 <<<"$said")
		if [ -n "$said" ]; then
			is "$(grep -o 'verdict .*' "$d/summary" | grep -cFf <(sed 's/^simulated GPU, //' <<<"$said"))" 1 "$name: the verdict of the summary is that of a process"
		fi
		cmp -s <(jq -c '[.verdicts[].text]' "$d/manifest") <(jq -c '[.verdict[] | select(.Scope == "steady") | .Verdict]' "$d/explain")
		ok $? "$name: verdicts of the page"
		cmp -s <(jq -c '.findings[] | [.rule, .pid, .text, .cost_ns, .gain_ns]' "$d/manifest") \
			<(jq -c '.findings[] | [.Rule, .Pid, .Finding, ."Cost (ns)", ."Gain (ns)"]' "$d/explain")
		ok $? "$name: findings of the page"
	done < <(every_trace)
	is "$((compared >= 120))" 1 "$compared shares are compared"
	# A GPU that only waits for other ranks is neither busy nor idle.
	dir=$(every_trace | grep '/ranks/.*/sleep$')
	"$plain" report --format json stages "$dir" 2>/dev/null >"$d/stages"
	is "$("$plain" report --format json gaps "$dir" 2>/dev/null | jq -c '.gaps_idle | [map([.Pid, ."Device Idle (ns)"] | join(" ")),
		all(."Busy (ns)" + ."Device Idle (ns)" + ."Waiting for Ranks (ns)" == ."Duration (ns)"), any(."Waiting for Ranks (ns)" > 0)]')" \
		"$(jq -c '[[.stages[] | select(.Stage == "steady") | [.Pid, ."Device Idle (ns)"] | join(" ")], true, true]' "$d/stages")" \
		"gaps: a GPU is idle for as long as the stages say, and not while it waits for other ranks"
	dir=$(every_trace | grep '/ranks/.*/bandwidth$')
	is "$("$plain" explain --format json "$dir" 2>/dev/null | jq -c '[.findings[] | select(.Rule == "gpu-idle") | [.Pid, ."Cost (ns)"] | join(" ")] | sort')" \
		"$("$plain" report --format json gaps "$dir" 2>/dev/null | jq -c '[.gaps_idle[] | [.Pid, ."Device Idle (ns)"] | join(" ")] | sort')" \
		"the finding says the same time"
}

# The main phase is called steady state or execution: no other stage holds most of the launches or most
# of the GPU's work.  A warm-up may, where 32 iterations or more follow.
t_reports_main_phase()
{
	local name d=$work/main_phase dir

	mkdir -p "$d"
	while read -r dir; do
		name=$(basename "$dir")
		"$plain" report --from start --format csv stages "$dir" >"$d/stages" 2>"$d/notes"
		"$plain" report --from start --format csv iterations "$dir" >"$d/iterations" 2>/dev/null
		table 1 "$d/stages" >"$d/stages.1"
		table 1 "$d/iterations" >"$d/iterations.1"
		{
			csv "$d/iterations.1" Pid Iterations | sed 's/^/I\t/'
			# The column is only there with records of the GPU; of a process that was killed some are missing.
			csv "$d/stages.1" Pid Stage Launches | sed 's/^/S\t/'
			! grep -q 'GPU Busy (ns)' "$d/stages.1" || grep -q 'GPU records may be missing' "$d/notes" ||
				csv "$d/stages.1" Pid Stage "GPU Busy (ns)" | sed 's/^/S\tgpu/'
		} 2>/dev/null | awk -F'\t' '
		$1 == "I" { iterations[$2] += $3; next }
		{ all[$2] += $4; main[$2] += $3 == "steady" || $3 == "execution" ? $4 : 0; warm[$2] += $3 == "warmup" ? $4 : 0 }
		END {
			for (p in all) {
				rest = all[p] - main[p]
				pid = p; sub(/^gpu/, "", pid)
				if (iterations[pid] >= 32)
					rest -= warm[p]
				if (rest * 2 > all[p] && all[p] > 32)
					print p ": " rest " of " all[p]
			}
		}' >"$d/wrong"
		is "$(cat "$d/wrong")" "" "stages of $name: most of the work is in the steady state or the execution"
	done < <(every_trace)
}

# The same of traces that end in the middle, as those of programs that were killed or hang do: each is cut at ten
# launches.  The GPU's work is its kernels: to copy is what loading weights is.
t_reports_main_phase_cut()
{
	local d=$work/main_cut dir name ms all made n=0 cuts="2 5 9"

	# Tenths of the launches.
	[ -z "$full" ] || cuts="1 2 3 4 5 6 7 8 9 10"
	mkdir -p "$d"
	while read -r dir; do
		name=${dir#"$work/data/"}
		"$plain" report --from start --format csv --top 0 --name 'cu*Launch*' cuda_api_trace "$dir" 2>/dev/null >"$d/launches"
		csv "$d/launches" "Start (ns)" >"$d/starts"
		[ -s "$d/starts" ] || continue
		mapfile -t all < <(awk -v cuts="$cuts" '{ at[NR] = $1 } END { n = split(cuts, k); for (i = 1; i <= n; i++) printf "%.3f\n", at[int(1 + (NR - 1) * k[i] / 10)] / 1e6 }' "$d/starts" | uniq)
		made=()
		for ms in "${all[@]}"; do
			made+=("$d/cut$ms" "$ms")
		done
		rm -rf "$d"/cut*
		tests/data/cut "$dir" "${made[@]}"
		for ms in "${all[@]}"; do
			"$plain" report --from start --format json --by process,stage --of kernels stages iterations "$d/cut$ms" 2>/dev/null |
				jq -r '
			def sum(f): map(f) | add // 0;
			def main: .Stage == "steady" or .Stage == "execution";
			.stages as $stages | .iterations_sum as $iterations | .by as $kernels |
			($stages | map(.Pid) | unique[]) as $pid | ($iterations | map(select(.Pid == $pid)) | sum(.Iterations)) as $n |
			($stages | map(select(.Pid == $pid))) as $stages |
			# A warm-up may, where 32 iterations or more follow; of what was not recorded nothing is said.
			def most(f): sum(f) as $all | (map(select(main or (.Stage == "warmup" and $n >= 32))) | sum(f)) as $main |
				select($all > 2 * $main) | "\($all - $main) of \($all)";
			(select(($stages | sum(.Launches)) > 32) | $stages | most(.Launches) | "\($pid) launches: \(.)"),
			(select($stages | any(has("GPU Busy (ns)")) and (all(main | not) or any(main and ."GPU Busy (ns)" != null))) |
				$kernels | map(select(.Pid == $pid)) | select(sum(.Count) > 32) |
				most(."Total Time (ns)") | "\($pid) kernels: \(.)")' >"$d/wrong" 2>&1
			is "$(cat "$d/wrong")" "" "$name until $ms ms: most of the work is in the steady state or the execution"
			n=$((n + 1))
		done
	# Those of examples/problems are one shape.
	done < <(every_trace | grep -e /kept/ -e guest -e jax -e graph -e gpt2 -e train -e processes -e inference -e getters)
	is "$((n >= 15 * $(wc -w <<<"$cuts")))" 1 "traces are cut at $n places"
	# The GPU's records reach further than those of the calls: the work has calls, which are not there.
	while read -r name ms; do
		rm -rf "$d"/cut*
		tests/data/cut "$(every_trace | grep "/$name\$")" "$d/cut" "$ms"
		is "$("$plain" report --from start --format json stages "$d/cut" 2>/dev/null | jq -c 'if type == "array" then . else .stages end |
			[.[] | select(."GPU Busy (ns)" > 0 and (.Stage | IN("init", "teardown"))) | .Stage]')" '[]' \
			"$name until $ms ms: work of the GPU whose calls are missing is executed"
	done <<'END'
gpu/train.tar.xz/train 6074.1
ranks/sleep.tar.xz/sleep 7474.4
ranks/sleep.tar.xz/sleep 10775.8
END
}

t_reports_iterations()
{
	local name d

	for name in train train-nvtx graph inference processes gpt2; do
		d=$work/data/$name
		facts "$name"
		report "$name" stages
		stage_spans "$name"
		report "$name" iterations
		for i in 1 2 3; do
			table $i "$d.iterations.csv" >"$d.iterations.$i"
		done
		csv "$d.iterations.1" Pid Tid >"$d.threads"
		csv "$d.iterations.2" Pid Iteration "Start (ns)" "Duration (ns)" Stage |
			awk -F'\t' -v OFS='\t' '{ print $1, $2, $3, $3 + $4, $5 }' >"$d.spans"
		doings "$name" "$d.spans" >"$d.doings"
		turns "$name" "$d.spans" >"$d.turns"
		awk -F'\t' -v OFS='\t' -v OFMT=%.6f -v CONVFMT=%.6f -v out="$d.iterations" '
		function median(v, n) { return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 }
		FILENAME == ARGV[1] { tid[$1] = $2; next }
		FILENAME == ARGV[2] { row[++n] = $1 OFS $2; pid[n] = $1; dur[n] = $4 - $3; stage[n] = $5; next }
		FILENAME == ARGV[3] {
			if ($1 == "C") { launches[$2, $4] += $6; calls[$2, $4] += $5 }
			next
		}
		$1 != "A" { next }
		$4 == "application" { app[$2, $3] += $5; next }
		$4 == "waiting" { wait[$2, $3] += $5; next }
		$4 == "kernel driver" { driver[$2, $3] += $5; next }
		{ inside[$2, $3] += $5 }
		END {
			# The warm-up has a row of its own, and is in nothing else.
			for (p in tid) for (w = 0; w < 2; w++) {
				key = p OFS (w ? "steady" : "warmup")
				m = 0
				for (i = 1; i <= n; i++)
					if (pid[i] OFS stage[i] == key)
						v[++m] = dur[i]
				if (!m)
					continue
				for (i = 2; i <= m; i++)
					for (j = i; j > 1 && v[j] < v[j - 1]; j--) {
						t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
					}
				mid[p] = median(v, m)
				total = squares = 0
				for (i = 1; i <= m; i++)
					total += v[i]
				for (i = 1; i <= m; i++) {
					squares += (v[i] - total / m) ^ 2
					away[i] = int(v[i] > mid[p] ? v[i] - mid[p] : mid[p] - v[i])
				}
				for (i = 2; i <= m; i++)
					for (j = i; j > 1 && away[j] < away[j - 1]; j--) {
						t = away[j]; away[j] = away[j - 1]; away[j - 1] = t
					}
				far = 5 * median(away, m)
				limit[p] = mid[p] + (far > mid[p] / 5 ? far : mid[p] / 5)
				rank = int(m * 19 / 20)
				rank += rank * 20 < m * 19
				sums[key] = key OFS m OFS v[1] OFS mid[p] OFS total / m OFS v[rank] OFS v[m] OFS \
					(m > 1 ? sqrt(squares / (m - 1)) : 0)
				kept[p] = m - 1000 > 0 ? v[m - 1000] : 0
				many[p] = m
			}
			for (i = 1; i <= n; i++) {
				k = row[i]; sub(OFS, SUBSEP, k)
				print row[i], stage[i], dur[i], dur[i] / mid[pid[i]], launches[k] + 0, calls[k] + 0,
					inside[k] + 0, wait[k] + 0, driver[k] + 0, app[k] + 0 >(out ".2.want")
				key = pid[i] OFS stage[i]
				l[key] += launches[k]; c[key] += inside[k]; waits[key] += wait[k]
				r[key] += driver[k]; a[key] += app[k]
				if (stage[i] == "steady" && many[pid[i]] >= 5 && dur[i] > limit[pid[i]] && dur[i] > kept[pid[i]])
					print row[i], dur[i] >(out ".3.want")
			}
			for (key in sums)
				print sums[key], l[key] + 0, c[key] + 0, waits[key] + 0, r[key] + 0, a[key] + 0 >(out ".1.want")
			printf "" >(out ".3.want")
		}' "$d.threads" "$d.spans" "$d.doings" "$d.turns" 2>"$d.awk.err" || cat "$d.awk.err"
		csv "$d.iterations.1" Pid Stage Iterations "Min (ns)" "Med (ns)" "Avg (ns)" "P95 (ns)" "Max (ns)" \
			"StdDev (ns)" Launches "In Calls (ns)" "Waiting (ns)" "Driver (ns)" "Application (ns)" \
			>"$d.iterations.1.got"
		same "$d.iterations.1.want" "$d.iterations.1.got" ntnnddnndnnnnn "iterations of $name: the sums"
		csv "$d.iterations.2" Pid Iteration Stage "Duration (ns)" "To Median" Launches Calls "In Calls (ns)" \
			"Waiting (ns)" "Driver (ns)" "Application (ns)" >"$d.iterations.2.got"
		same "$d.iterations.2.want" "$d.iterations.2.got" nntnmnnnnnn "iterations of $name: each one"
		csv "$d.iterations.3" Pid Iteration "Duration (ns)" >"$d.iterations.3.got"
		same "$d.iterations.3.want" "$d.iterations.3.got" nnn "iterations of $name: which are outliers"
	done
	# What the records show of the slowest one of inference: the longest time between two calls of its
	# thread, and what a function took.
	d=$work/data/inference
	awk -F'\t' 'FILENAME == ARGV[1] { if ($4 - $3 > longest) { longest = $4 - $3; from = $3; to = $4 } next }
		$1 != "E" || $10 == "" || $2 != "user" { next }
		$7 - $12 >= from && $7 - $12 < to {
			a = last > from ? last : from
			if (last && $7 - $12 - a > gap) gap = $7 - $12 - a
			if ($5 == "cuLaunchKernel") ns += $12
		}
		{ last = $7 }
		END { printf "; one gap of %.2f us before softmax, in the application; cuLaunchKernel %.2f us (others ", gap / 1e3, ns / 1e3 }' \
		"$d.spans" "$d.tsv" >"$d.why"
	grep -qF "$(cat "$d.why")" "$d.iterations.3"
	ok $? "iterations of inference: why one was slow$(cat "$d.why")" || cat "$d.iterations.3"
}

t_reports_gaps()
{
	local name d

	for name in train inference processes jax; do
		d=$work/data/$name
		facts "$name"
		report "$name" gaps
		for i in 1 2 3 4; do
			table $i "$d.gaps.csv" >"$d.gaps.$i"
		done
		awk -F'\t' -v OFS='\t' "$doing_functions"'
		function part(doing) {
			return doing == "waiting" ? 2 : doing == "application" ? 1 : doing == "memory" ? 3 :
				doing == "module" ? 4 : doing == "kernel driver" ? 5 : 7
		}
		# From now on @tid is charged with @doing.
		function charged(tid, doing) {
			when[tid, ++changes[tid]] = $7
			what[tid, changes[tid]] = part(doing)
		}
		!second {
			if ($10 != "" && $1 != "B") { type[$10] = $3; op[$10] = $4 }
			if ($2 == "user" && $1 != "B" && !(($8, $9) in launches) &&
			    (($4 == "launch" && ($3 == "kernel" || $3 == "graph")) || ($3 == "transfer" && $4 == "copy"))) {
				launches[$8, $9] = 1
				thread[$8, ++threads[$8]] = $9
				own[$9] = "before or after the thread"
			}
			next
		}
		$8 == 0 { next }
		{
			submits = $10 != "" && (op[$10] == "launch" && (type[$10] == "kernel" || type[$10] == "graph") ||
				type[$10] == "transfer" && (op[$10] == "copy" || op[$10] == "set"))
		}
		submits && $1 != "E" && !open[$8] && ($8 in start) && $7 > start[$8] {
			split("", p)
			to = $7
			# Back to where the gap began, by what this thread did since.
			for (i = changes[$9]; i && to > start[$8]; i--) {
				from = when[$9, i] > start[$8] ? when[$9, i] : start[$8]
				p[what[$9, i]] += to - from
				to = from
			}
			p[1] += to - start[$8]
			line = start[$8] OFS $7 - start[$8] OFS $8 OFS $9
			most = 1
			for (i = 1; i <= 7; i++) {
				line = line OFS p[i] + 0
				if (p[i] + 0 > p[most] + 0)
					most = i
			}
			print line, before[$8], $5, most
		}
		{
			step()
			seen[$9] = 1
			if (($8, $9) in launches) {
				# Each of the threads that launch: what the process does, if the next work is its.
				moved($9, $7, now_doing($9))
				for (i = 1; i <= threads[$8]; i++)
					if (thread[$8, i] in seen)
						charged(thread[$8, i], would($8, thread[$8, i]))
			} else
				charged($9, now_doing($9))
		}
		submits {
			open[$8] += $1 == "B" ? 1 : $1 == "E" ? -1 : 0
			if (!open[$8] && $1 != "B") { start[$8] = $7; before[$8] = $5 }
		}' "$d.tsv" second=1 "$d.tsv" >"$d.gaps.all"
		LC_ALL=C sort -t "$tab" -k2,2nr -k1,1n "$d.gaps.all" | cut -f 1-13 >"$d.gaps.3.want"
		csv "$d.gaps.3" "Start (ns)" "Duration (ns)" Pid Tid "Application (ns)" "Sync (ns)" "Memory (ns)" \
			"Module (ns)" "Driver (ns)" "Off CPU (ns)" "Other Calls (ns)" Previous Next |
			awk -F'\t' -v OFS='\t' '{ $10 += 0; print }' >"$d.gaps.3.got"
		in_order "$d.gaps.3.want" "$d.gaps.3.got" nnnnnnnnnnntt "gaps of $name: every row, the longest first"
		awk -F'\t' -v OFS='\t' 'BEGIN { split("application,synchronisation,memory,module loading,kernel driver,off the CPU,other calls", word, ",") }
		{ n[$14]++; t[$14] += $2; all += $2; if ($2 > max[$14]) max[$14] = $2 }
		END { for (k in n) print word[k], n[k], t[k], 100 * t[k] / all, max[k] }' "$d.gaps.all" >"$d.gaps.1.want"
		csv "$d.gaps.1" "Most Of It" Gaps "Total Time (ns)" "Time (%)" "Max (ns)" >"$d.gaps.1.got"
		same "$d.gaps.1.want" "$d.gaps.1.got" tnndn "gaps of $name: by what most of them was"
		# By what stood before and what ended them; of up to 1,024 the median is exact.
		LC_ALL=C sort -t "$tab" -k3,3n -k12,12 -k13,13 -k2,2n "$d.gaps.all" | awk -F'\t' -v OFS='\t' -v OFMT=%.1f '
			function out() {
				if (n)
					print key, n, total, v[n], (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
			}
			$3 OFS $12 OFS $13 != key { out(); key = $3 OFS $12 OFS $13; n = total = 0 }
			{ v[++n] = $2; total += $2 }
			END { out() }' | awk -F'\t' -v OFS='\t' '{ if ($4 > 1024) $7 = "many"; print }' >"$d.gaps.2.want"
		csv "$d.gaps.2" Pid Previous Next Gaps "Total Time (ns)" "Max (ns)" "Med (ns)" |
			awk -F'\t' -v OFS='\t' '{ if ($4 > 1024) $7 = "many"; print }' >"$d.gaps.2.got"
		same "$d.gaps.2.want" "$d.gaps.2.got" nttnnnd "gaps of $name: by the calls before and after them"
	done
	# Off the CPU: 0 where the module saw it, nothing where nobody did.
	for name in gpt2 guest-inference; do
		for report in "gaps 3" "iterations 1" "iterations 2"; do
			"$plain" report --format csv "${report% *}" "$(trace "$name")" 2>/dev/null >"$work/data/off.csv"
			table "${report#* }" "$work/data/off.csv" >"$work/data/off.table"
			is "$(csv "$work/data/off.table" "Off CPU (ns)" | grep -c .)" \
				"$([ "$name" = gpt2 ] && echo 0 || echo $(($(wc -l <"$work/data/off.table") - 1)))" "$report of $name: off the CPU"
		done
		is "$("$plain" report stages "$(trace "$name")" 2>/dev/null | grep -cE '^ +[0-9]+ +[0-9]+ +steady .* % +- +[0-9.]+ %')" \
			"$([ "$name" = gpt2 ] && echo 1 || echo 0)" "stages of $name: off the CPU"
	done
}

t_reports_sync()
{
	local name d first last

	for name in $stages_traces; do
		d=$work/data/$name
		facts "$name"
		report "$name" stages
		stage_spans "$name"
		report "$name" iterations
		table 2 "$d.iterations.csv" >"$d.iterations.2"
		csv "$d.iterations.2" Pid "Start (ns)" "Duration (ns)" >"$d.sync.iterations"
		report "$name" sync
		awk -F'\t' -v OFS='\t' -v OFMT=%.6f '
		FILENAME == ARGV[1] { if ($2 == "steady" || $2 == "execution") { from[$1] = $3; to[$1] = $4; steady += $4 - $3 } next }
		FILENAME == ARGV[2] { its++; ifrom[its] = $2; ito[its] = $2 + $3; ipid[its] = $1; next }
		!second { if ($10 != "" && $1 != "B") { type[$10] = $3; op[$10] = $4 } next }
		$10 == "" { next }
		type[$10] == "sync" && $1 == "E" {
			n[$5]++; total[$5] += $12; all += $12; value[$5, n[$5]] = $12
			a = $7 - $12 > from[$8] ? $7 - $12 : from[$8]
			b = $7 < to[$8] ? $7 : to[$8]
			in_steady[$5] += b > a ? b - a : 0
			for (i = 1; i <= its; i++)
				if (ipid[i] == $8 && $7 - $12 >= ifrom[i] && $7 - $12 < ito[i]) {
					per[$5]++
					break
				}
			pending[$8] = $5; since[$8] = $7
		}
		$1 != "E" && pending[$8] != "" && (op[$10] == "launch" && (type[$10] == "kernel" || type[$10] == "graph") ||
			type[$10] == "transfer" && (op[$10] == "copy" || op[$10] == "set")) {
			after[pending[$8]] += $7 - since[$8]; afters[pending[$8]]++; pending[$8] = ""
		}
		END {
			for (k in n) {
				for (i = 2; i <= n[k]; i++)
					for (j = i; j > 1 && value[k, j] < value[k, j - 1]; j--) {
						t = value[k, j]; value[k, j] = value[k, j - 1]; value[k, j - 1] = t
					}
				print k, n[k], total[k], 100 * total[k] / all, total[k] / n[k],
					(value[k, int((n[k] + 1) / 2)] + value[k, int(n[k] / 2) + 1]) / 2, value[k, n[k]],
					its ? per[k] / its : "", in_steady[k] + 0, steady ? 100 * in_steady[k] / steady : "",
					afters[k] ? after[k] : "", afters[k] ? after[k] / afters[k] : ""
			}
		}' "$d.stages.spans" "$d.sync.iterations" "$d.tsv" second=1 "$d.tsv" >"$d.sync.want"
		csv "$d.sync.csv" Name "Num Calls" "Total Time (ns)" "Time (%)" "Avg (ns)" "Med (ns)" "Max (ns)" \
			"Per Iteration" "Steady State (ns)" "Steady State (%)" "Until Next Submission (ns)" \
			"Until Next Submission Avg (ns)" >"$d.sync.got"
		same "$d.sync.want" "$d.sync.got" tnnddpnmndnd "sync of $name: every row and every number"
	done
	# Of a part of the time: shares are of that part.
	for name in train:10:19 gpt2:3:6; do
		IFS=: read -r name first last <<<"$name"
		d=$work/data/$name
		"$plain" report --format csv --from "iteration:$first" --to "iteration:$last" sync "$(trace "$name")" 2>/dev/null >"$d.sync.part"
		awk -F'\t' -v OFS='\t' -v OFMT=%.6f -v first="$first" -v last="$last" '
			FILENAME == ARGV[1] { if (++its == first) from = $2; if (its == last) to = $2 + $3; next }
			$1 == "E" && $3 == "sync" && $7 - $12 >= from && $7 - $12 < to { n[$5]++; total[$5] += $12 }
			END { for (k in n) print k, n[k], n[k] / (last - first + 1), total[k], 100 * total[k] / (to - from) }' "$d.sync.iterations" "$d.tsv" >"$d.sync.want"
		csv "$d.sync.part" Name "Num Calls" "Per Iteration" "Steady State (ns)" "Steady State (%)" >"$d.sync.got"
		same "$d.sync.want" "$d.sync.got" tnmnd "sync of iterations $first to $last of $name"
		"$plain" report --from start --format csv --type sync sync "$(trace "$name")" 2>/dev/null >"$d.sync.part"
		is "$(csv "$d.sync.part" "Until Next Submission (ns)" "Until Next Submission Avg (ns)" | tr -d '\t' | sort -u)" "" \
			"sync of $name without its launches: until the next one is not known"
	done
}

# The summary is a page, whatever the trace holds.
t_reports_summary()
{
	local name dir

	# A trace without a record.
	mkdir -p "$work/bare"
	cp "$(trace basic)"/.registry "$(trace basic)"/metadata "$work/bare"
	for name in $(every_real) basic begin left open bypassed objects gpu memory bare; do
		dir=$work/bare
		[ "$name" = bare ] || dir=$(trace "$name")
		"$plain" report "$dir" >"$work/data/$name.summary" 2>/dev/null
		ok $? "summary of $name"
		is "$(awk 'length > 80 { wide++ } END { print (NR <= 50), (NR > 3), wide + 0 }' "$work/data/$name.summary")" \
			"1 1 0" "summary of $name: at most 50 lines of 80 columns ($(wc -l <"$work/data/$name.summary"))"
		# The verdict is of the steady state: of all iterations where none is a warm-up's.
		local said=$(tr -s '\n ' ' ' <"$work/data/$name.summary")
		local steady=$(sed -n 's/.* \([0-9,]*\) iterations\{0,1\} of \([0-9.]* [a-z]*\) (median).*/\1 \2/p' <<<"$said")
		local all=$(sed -n 's/.* \([0-9,]*\) iterations: .* median \([0-9.]* [a-z]*\), p95.*/\1 \2/p' <<<"$said")
		if [ -n "$steady" ] && [ "${steady%% *}" = "${all%% *}" ]; then
			is "$steady" "$all" "summary of $name: one median"
		fi
	done
	# Where lines are few, a list has rows of its own or is not there.
	for name in guest-two jax; do
		COLUMNS=60 "$plain" report "$(trace $name)" 2>/dev/null >"$work/data/narrow.summary"
		is "$(awk '/^(CATEGORIES|FUNCTIONS)/ { head = $1; next } head { if ($1 == "others" || !NF) print head; head = "" }' "$work/data/narrow.summary")" "" \
			"summary of $name: no list without rows" || cat "$work/data/narrow.summary"
	done
	# Where the time of the steady state went, as stages prints it.
	report gpt2 stages
	table 2 "$work/data/gpt2.stages.csv" >"$work/data/gpt2.accounts.csv"
	is "$(sed -n 's/^  steady .*  \([0-9.]*\) % application.*/\1/p' "$work/data/gpt2.summary")" \
		"$(csv "$work/data/gpt2.accounts.csv" Stage Account "Time (%)" |
			awk -F'\t' '$1 == "steady" && $2 == "application" { print $3 }')" "summary of gpt2: the steady state"
	# And all its figures as a table.
	report train summary
	csv "$work/data/train.summary.csv" Metric Value >"$work/data/train.figures"
	facts train
	is "$(awk -F'\t' '$1 == "API calls" || $1 == "kernel launches" || $1 == "transfers" { print $2 }' "$work/data/train.figures" | paste -sd ' ')" \
		"$(awk -F'\t' '$1 != "B" && $10 != "" && $3 != "syscall" { calls++; l += $4 == "launch"; c += $3 == "transfer" && $4 == "copy" }
			END { print calls, l, c }' "$work/data/train.tsv")" "summary of train: its figures"
	# The stages of a process are not longer than what was recorded.
	for name in $(every_real); do
		"$plain" report --format csv summary "$(trace "$name")" 2>/dev/null | awk -F, '$1 == "duration" { all = $2 }
			$1 ~ /^stage [a-z]* of [0-9]*$/ { split($1, w, " "); sum[w[4]] += $2 } END { for (p in sum) bad += sum[p] > all; exit bad > 0 || !all }'
		ok $? "summary of $name: the stages fit the duration"
	done
	# A part of the trace: that it is one is said, and the process is the one that is asked for.
	is "$(grep -c passes "$work/data/train.summary")" 0 "summary of train: all of it"
	"$plain" report --to 0.01 "$(trace train)" >"$work/data/part.summary"
	is "$(grep -c -e '^SUMMARY .*only what passes' -e '^No call passes' -e 'No call was recorded' "$work/data/part.summary")" 2 \
		"summary of nothing of train" || cat "$work/data/part.summary"
	is "$("$plain" report --pid 916 "$(trace processes)" | sed -n 's/^STAGES of //p')" "python3 (916)" "summary of a process"
	is "$("$plain" report --pid 77 "$(trace processes)" | grep -c -e '^verdict' -e '^STAGES')" 0 "summary of no process"
	is "$("$plain" report --pid 916 --format csv summary "$(trace processes)" | grep -c 'of 915')" 0 "figures of a process"
}

# time_of TEXT: "6.16 ms" as ns
time_of()
{
	awk -v text="$1" 'BEGIN { split(text, w, " "); gsub(",", "", w[1])
		printf "%.0f", w[1] * (w[2] == "s" ? 1e9 : w[2] == "ms" ? 1e6 : w[2] == "us" ? 1e3 : 1) }'
}

# near A B: two times that people read are the same to their digits
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.0051 * (a > b ? a : b) + 1) }'; }

# The figures of the iterations are the same wherever they are said: those of the steady state.
# A line for each process: pid, iterations, median, p95, max, how many much longer, in the warm-up.
# What is wrong with a job of ranks is said before the verdict on one of them, in the words of explain.
t_reports_summary_job()
{
	local d=$work/summary_job name words

	mkdir -p "$d"
	while read -r name words; do
		[ -n "$name" ] || continue
		tar -xJf "tests/data/ranks/$name.tar.xz" -C "$d"
		COLUMNS=80 "$plain" report "$d/$name" >"$d/text" 2>/dev/null
		grep -A9 '^job ' "$d/text" | tr -s ' \n' ' ' | grep -qE "^job $words"
		ok $? "summary of $name: $words" || head -n 20 "$d/text"
		"$plain" explain "$d/$name" 2>/dev/null | tr -s ' \n' ' ' | grep -qE "ranks? recorded $words"
		ok $? "explain says the same"
		is "$(sed -n '/^verdict/,/^$/p' "$d/text" | tail -n 2 | head -n 1 | grep -c '\.$')$(awk 'length > 80' "$d/text")" 1 "its verdict is whole"
	done <<'END'
hang AllReduce 44 of communicator 4576 \(16.00 MiB\) was never complete: rank 1 did not call it\. Rank 1 called .* last, 52.5[0-9]* s before the trace's end, its last ioctl is NV_ESC_RM_CONTROL NV2080_CTRL_CMD_[A-Z_]*, 41.303 s before the end; rank 0 is in cuStreamSynchronize for 52.536 s
sleep Rank 1 makes 1 other rank wait for 32.3[0-9] ms in each iteration \(86.4 %\)
bandwidth No rank makes another wait for more than 5 % of its steady state\.
END
}

t_reports_iterations_agree()
{
	local name d dir main pid median p95 max longer line

	for name in train train-nvtx graph inference processes gpt2; do
		d=$work/data/$name.agree dir=$(trace "$name")
		"$plain" report --format csv iterations "$dir" 2>/dev/null >"$d.csv"
		for i in 1 3; do
			table $i "$d.csv" >"$d.$i"
		done
		{ csv "$d.1" Pid Stage Iterations "Med (ns)" "P95 (ns)" "Max (ns)"; csv "$d.3" Pid | sed 's/$/\tlonger/'; } |
			awk -F'\t' -v OFS='\t' '$2 == "longer" { longer[$1]++; next } $2 == "warmup" { warm[$1] = $3; next }
				{ n[$1] = $3; of[$1] = int($4) OFS $5 OFS $6 }
				END { for (p in n) print p, n[p], of[p], longer[p] + 0, warm[p] + 0 }' | sort -n >"$d.want"
		ok $(($(wc -l <"$d.want") == 0)) "$name has iterations"
		"$plain" report --format json --top 0 iterations "$dir" 2>/dev/null | jq -r '. as $t | .iterations_sum[] |
			select(.Stage == "steady") | .Pid as $p | [$p, .Iterations, (."Med (ns)" | floor), ."P95 (ns)", ."Max (ns)",
			([$t.iterations_outliers[] | select(.Pid == $p)] | length),
			([$t.iterations_sum[] | select(.Pid == $p and .Stage == "warmup") | .Iterations][0] // 0)] | @tsv' | sort -n >"$d.json"
		is "$(cat "$d.json")" "$(cat "$d.want")" "$name: iterations as json"
		"$plain" report --format json summary "$dir" 2>/dev/null | jq -r '([.[] | {(.Metric): .Value}] | add) as $v |
			$v | keys[] | capture("^iterations of (?<p>[0-9]+)$").p | . as $p | select($v["iteration of \($p) median"]) |
			[$p, $v["iterations of \($p)"], $v["iteration of \($p) median"], $v["iteration of \($p) p95"],
			$v["iteration of \($p) max"], $v["iterations of \($p) much longer"], $v["warm-up iterations of \($p)"]] | @tsv' |
			sort -n >"$d.figures"
		is "$(cat "$d.figures")" "$(cat "$d.want")" "$name: iterations in the summary's figures"
		"$plain" export --format sqlite -f -o "$d.db" "$dir" 2>/dev/null &&
			sqlite3 -batch -separator "$tab" "$d.db" 'select s.Pid, s.Iterations, cast(s."Med (ns)" as integer), s."P95 (ns)",
			s."Max (ns)", (select count(*) from report_iterations_outliers o where o.Pid = s.Pid),
			coalesce((select w.Iterations from report_iterations_sum w where w.Pid = s.Pid and w.Stage = "warmup"), 0)
			from report_iterations_sum s where s.Stage = "steady" order by s.Pid' >"$d.sqlite" 2>&1
		is "$(cat "$d.sqlite")" "$(cat "$d.want")" "$name: iterations in SQLite"
		# The page, diff and what people read have those of the process that launches most.
		if "$plain" export --format html -f -o "$d.html" "$dir" 2>/dev/null; then
			sed -n 's/.*id="ct-manifest"[^>]*>//p' "$d.html" | sed 's/<.*//' >"$d.manifest"
			[ -s "$d.manifest" ] && jq -e . "$d.manifest" >/dev/null 2>&1 ||
				awk '/id="ct-manifest"/ { on = 1; sub(/.*id="ct-manifest"[^>]*>/, "") } on { if (sub(/<.*/, "")) { print; exit } print }' \
					"$d.html" >"$d.manifest"
			line=$(jq -r '.iterations | [.pid, .count, (.median | floor), .p95, .max, .longer, .warmup] | @tsv' "$d.manifest")
			main=${line%%"$tab"*}
			# The page has six digits of a median with a fraction.
			is "$(cut -f 1,2,4- <<<"$line")" "$(awk -F'\t' -v pid="$main" '$1 == pid' "$d.want" | cut -f 1,2,4-)" \
				"$name: iterations of the page"
			near "$(cut -f 3 <<<"$line")" "$(awk -F'\t' -v pid="$main" '$1 == pid { print $3 }' "$d.want")"
			ok $? "$name: the median of the page"
		else
			main=$(head -1 "$d.want" | cut -f 1)
		fi
		IFS=$tab read -r pid _ median p95 max longer _ < <(awk -F'\t' -v pid="$main" '$1 == pid' "$d.want")
		is "$("$plain" diff --format csv "$dir" "$dir" 2>/dev/null | sed -n 's/^iteration,\([0-9]*\)\(\.[0-9]*\)\{0,1\},.*/\1/p')" "$median" \
			"$name: the median of diff"
		line=$("$plain" report --pid "$pid" "$dir" 2>/dev/null | tr -s '\n ' ' ')
		near "$(time_of "$(sed -n 's/.* median \([0-9.,]* [mun]*s\), p95 .*/\1/p' <<<"$line")")" "$median" &&
			near "$(time_of "$(sed -n 's/.* p95 \([0-9.,]* [mun]*s\), max .*/\1/p' <<<"$line")")" "$p95" &&
			near "$(time_of "$(sed -n 's/.* max \([0-9.,]* [mun]*s\), [0-9]* much.*/\1/p' <<<"$line")")" "$max"
		ok $? "$name: the summary's times of iterations" || echo "# $line"
		is "$(sed -n 's/.*, \([0-9,]*\) much longer than usual.*/\1/p' <<<"$line")" "$longer" "$name: the summary's outliers"
		line=$("$plain" explain "$dir" 2>/dev/null | tr -s '\n ' ' ')
		near "$(time_of "$(sed -n "s/.*VERDICT .*($pid) [^(]*iterations of \([0-9.,]* [mun]*s\) (median).*/\1/p" <<<"$line")")" "$median"
		ok $? "$name: the median of explain" || echo "# $line"
		# All are shown.
		is "$("$plain" report --top 0 iterations "$dir" 2>/dev/null | awk '/^ITERATIONS OF THE STEADY STATE THAT|much longer than/ { on = 1 }
			on && $1 == "'"$pid"'" { n++ } END { print n + 0 }')" "$longer" "$name: every outlier is in the table"
	done
}
