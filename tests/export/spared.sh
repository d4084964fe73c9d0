# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Which traces the formats are tried on.  Sourced by tests/export/run.sh.

# shapes NAME...: what kinds of lines the JSON Lines of these traces have: their words, their fields,
# and what of a field is a list of words
shapes()
{
	local name
	for name in "$@"; do
		jq -c '[.layer, .type, .op, .name, .symbol, .phase, (.result | if type == "number" then type else . end), .direction,
			.escape, .control, .class, .status, keys, (.details | keys)]' "$(jsonl "$name")" | sort -u
	done | sort -u
}

# What make test leaves out shows nothing that the others do not; only in full, since it reads all of them.
t_spared()
{
	local all kept new
	[ -n "$full" ] || { skip "traces that are spared: make test-long looks at them"; return; }
	mapfile -t all < <(every_trace | grep -v ^long/)
	mapfile -t kept < <(CT_TEST_LONG= && . tests/sizes.sh && printf '%s\n' "${all[@]}" | without_spared)
	new=$(comm -13 <(shapes "${kept[@]}") <(shapes "${all[@]}"))
	is "$new" "" "${#kept[@]} of ${#all[@]} traces have all kinds of records"
}
