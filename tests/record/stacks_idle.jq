# SPDX-License-Identifier: LGPL-2.1-or-later
#
# jq -s -r: the time that the GPU was idle by the line it waited for, of JSON Lines of one process, one thread and one GPU:
# "FUNCTION LINE NS", - - for no line.  As cli/analysis/stacks/idle.h says, but computed from the whole trace at once.

def begin: .ts_ns - (.duration_us * 1000 | round);
def line: if .stack then "\(.stack[0][2]) \(.stack[0][1])" else "- -" end;
def overlap($from; $until): ([.until, $until] | min) - ([.from, $from] | max);

. as $all
| [.[] | select(.layer == "gpu" and .phase == "E" and .duration_us) | { from: begin, until: .ts_ns, op: .launch_op_id }] | sort_by(.from)
| reduce .[] as $work ({ end: null, gaps: [] };
	(if .end and $work.from > .end then .gaps += [{ from: .end, until: $work.from, op: $work.op }] else . end)
	| .end = ([.end, $work.until] | max))
| .gaps as $gaps
| [$all[] | select(.phase == "E" and .depth == 0 and .duration_us and .layer == "user" and (.name | startswith("cu")))
	| { op: .op_id, from: begin, until: .ts_ns, line: line, stacked: (.stack != null) }] | sort_by(.from)
| . as $calls
| (map({ key: (.op | tostring), value: . }) | from_entries) as $by
# Samples between calls, from the first one on that has a stack: until then nothing is divided.
| [$all[] | select(.name == "sample" and .ts_ns >= $calls[0].from)
	| select(.ts_ns as $at | any($calls[]; .from <= $at and $at < .until) | not) | { at: .ts_ns, line: line, stacked: (.stack != null) }]
| .[(map(.stacked) | index(true)) // length:] as $samples
| (reduce $calls[] as $call ({ since: $calls[0].from, stays: [] };
	if $call.stacked then
		.stays += [{ from: .since, until: $call.from, line: $call.line, between: true },
			{ from: $call.from, until: $call.until, line: $call.line, between: false }]
		| .since = $call.until
	else . end) | .stays) as $stays
| [$gaps[] as $gap | $by[$gap.op | tostring] as $cause | ([$cause.until, $gap.until] | min) as $until
	| if $cause.until <= $gap.from then { line: "- -", ns: ($gap.until - $gap.from), between: 0 }
	else ($stays[] | overlap($gap.from; $until) as $ns | select($ns > 0) | { line, ns: $ns, between: (if .between and $samples != [] and $samples[0].at < $gap.until then $ns else 0 end) }),
		{ line: $cause.line, ns: ($gap.until - $until), between: 0 },
		($samples[] | select(.at >= $gap.from and .at < $until) | { line, ns: 0, between: 0, sample: true })
	end]
| (map(.between) | add) as $between | (map(select(.sample)) | length) as $count
| group_by(.line)[]
| ((map(.ns) | add) + (if $count >= 10 then $between * (map(select(.sample)) | length) / $count - (map(.between) | add) else 0 end))
	as $ns
| select($ns >= 1) | "\(.[0].line) \($ns | floor)"
