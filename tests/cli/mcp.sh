# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
#
# The server for assistants: its answers are those of the commands, it reads only below its
# directory, it writes nothing, and no message ends it.  Sourced by run.sh; trace() is that of
# reports.sh.

# ask METHOD PARAMS: a request, with the next id
ask() { mcp_id=$((mcp_id + 1)); printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' $mcp_id "$1" "$2"; }
# tool NAME [ARGUMENTS]
tool() { ask tools/call "{\"name\":\"$1\",\"arguments\":${2:-"{}"}}"; }
# answer ID: its text
answer() { jq -r --argjson id "$1" 'select(.id == $id) | .result.content[0].text' "$work/mcp.out"; }
# told COMMAND...: what it prints, as an answer has it: without control characters, and UTF-8
told() { "$@" 2>&1 | LC_ALL=C tr '\001-\010\013-\037\177\377' '?'; }
sorted() { told "$@" | grep -a . | sort; }
# failed ID: did the tool say that it failed?
failed() { jq -r --argjson id "$1" 'select(.id == $id) | .result.isError' "$work/mcp.out"; }

# mcp_start: is the server in this build?
mcp_start()
{
	mcp_id=0
	mkdir -p "$work/mcp"
	if "$plain" mcp "$work/mcp" </dev/null 2>&1 | grep -q 'built without jansson'; then
		skip "mcp: this build has no jansson"
		return 1
	fi
}

# What an assistant does: what limits it, show evidence, compare two traces.
t_mcp_sequence()
{
	local op
	mcp_start || return
	cp -R "$(trace steps)" "$(trace slowed)" "$work/mcp/"
	"$plain" export "$work/mcp/steps" 2>/dev/null >"$work/mcp.jsonl"
	op=$(jq -s 'map(select(.phase == "E" and .name == "cuMemcpyHtoD")) | max_by(.duration_us).op_id' "$work/mcp.jsonl")
	{
		ask initialize '{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"tests","version":"1"}}'
		echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		ask tools/list '{}'
		tool traces
		tool summary '{"trace":"steps"}'
		tool explain '{"trace":"steps","format":"json"}'
		tool reports
		tool report '{"trace":"steps","reports":["cuda_api_sum","stages"],"format":"csv"}'
		tool report '{"trace":"steps","by":["function","thread"],"of":"calls","measure":"self","top":3,"format":"csv"}'
		tool search '{"trace":"steps","name":"cuMemcpyHtoD","limit":1000}'
		tool call "{\"trace\":\"steps\",\"op_id\":$op}"
		tool diff '{"before":"steps","after":"slowed","format":"json"}'
		tool ranks '{"trace":"steps"}'
		tool lines '{"trace":"steps"}'
		tool report "{\"trace\":\"$work/mcp/steps\",\"reports\":\"memory\"}"
		ask ping '{}'
	} >"$work/mcp.in"
	"$plain" mcp "$work/mcp" <"$work/mcp.in" >"$work/mcp.out" 2>"$work/mcp.err"
	is "$?,$(wc -l <"$work/mcp.out"),$(wc -c <"$work/mcp.err")" "0,$mcp_id,0" "mcp: a line for each request, nothing on stderr" || cat "$work/mcp.err"
	is "$(jq -r 'select(.id == 1).result | .protocolVersion + " " + .serverInfo.name' "$work/mcp.out")" "2025-03-26 cudatrace" "mcp: speaks the client's version of the protocol"
	is "$(jq -r 'select(.id == 2).result.tools[].name' "$work/mcp.out" | paste -sd ' ')" "traces summary explain reports report call lines ranks diff search" "mcp: its tools"
	is "$(jq -r 'select(.id == 2).result.tools[] | select(.annotations.readOnlyHint != true or .inputSchema.type != "object" or (.inputSchema | has("additionalProperties") | not)).name' "$work/mcp.out")" "" "mcp: all of them only read, and have a schema"
	is "$(answer 3 | sed '/^$/d; s/ .*//' | sort | paste -sd ' ')" "slowed steps" "mcp traces"
	is "$(jq -c 'select(.result.isError)' "$work/mcp.out")" "" "mcp: nothing failed"
	is "$(answer 4)" "$(told "$plain" report summary "$work/mcp/steps")" "mcp summary: as the command"
	is "$(answer 5)" "$(told "$plain" explain --format json "$work/mcp/steps")" "mcp explain: as the command"
	is "$(answer 6)" "$("$plain" report --list)" "mcp reports: as the command"
	is "$(answer 7 | grep -a -v -e '^Notes:$' -e '^$' | sort)" "$(sorted "$plain" report --format csv cuda_api_sum stages "$work/mcp/steps")" "mcp report: as the command"
	is "$(answer 8 | grep -a -v -e '^Notes:$' -e '^$' | sort)" "$(sorted "$plain" report --by function,thread --of calls --measure self --top 3 --format csv "$work/mcp/steps")" "mcp report by: as the command"
	is "$(answer 9 | jq -c '[.op_id, .duration_us]')" "$(jq -c 'select(.phase == "E" and .name == "cuMemcpyHtoD") | [.op_id, .duration_us]' "$work/mcp.jsonl")" "mcp search: a line a call"
	is "$(answer 10)" "$(told "$plain" explain --call "$op" "$work/mcp/steps")" "mcp call: as the command"
	is "$(answer 11 | jq -c .diff_functions[0].Name)" '"cuMemcpyHtoD"' "mcp diff: what became slower"
	is "$(answer 14)" "$(told "$plain" report memory "$work/mcp/steps")" "mcp: a whole path below the directory, one name for a list"
	is "$(jq -c 'select(.id == 15).result' "$work/mcp.out")" '{}' "mcp ping"
}

# Nothing outside of the directory, no option that is in no table, and nothing written.
t_mcp_confined()
{
	local i wrong=
	mcp_start || return
	cp -R "$(trace steps)" "$work/mcp/"
	cp -R "$(trace open)" "$work/mcp/"
	rm -rf "$work/mcp-outside"
	cp -R "$work/mcp/steps" "$work/mcp-outside"
	ln -sfn "$work/mcp-outside" "$work/mcp/link"
	(cd "$work" && find mcp -type f -exec sha256sum {} + && find mcp | sort) >"$work/mcp.before"
	{
		for i in ../mcp-outside "$work/mcp-outside" link link/ steps/../../mcp-outside / . .. "" $'x\ty' --list -; do
			tool summary "$(jq -nc --arg t "$i" '{trace: $t}')"
		done
		tool report '{"trace":"steps","reports":["--output=x"]}'
		tool report '{"trace":"steps","reports":["summary","../steps"]}'
		tool report '{"trace":"steps","output":"x"}'
		tool report '{"trace":"steps","by":["kernel","--output=x"]}'
		tool summary '{"trace":["steps"]}'
		tool summary
		tool call '{"trace":"steps"}'
		tool search '{"trace":"steps","limit":-1}'
	} >"$work/mcp.in"
	(cd "$work/mcp" && "$ct" mcp . <"$work/mcp.in") >"$work/mcp.out" 2>"$work/mcp.err"
	is "$?,$(wc -l <"$work/mcp.out"),$(wc -c <"$work/mcp.err")" "0,$mcp_id,0" "mcp: answers each that it refuses" || cat "$work/mcp.err"
	for i in $(seq $mcp_id); do
		[ "$(failed "$i")" = true ] || wrong="$wrong $i"
	done
	is "$wrong" "" "mcp: ways out of the directory, options and wrong types are refused" || jq -c . "$work/mcp.out"
	mcp_id=0
	{
		tool summary '{"trace":"open"}'
		tool report '{"trace":"steps","name":"--output=x","reports":["cuda_api_sum"]}'
	} >"$work/mcp.in"
	(cd "$work/mcp" && "$ct" mcp . <"$work/mcp.in") >"$work/mcp.out" 2>"$work/mcp.err"
	is "$?,$(failed 1),$(answer 1 | grep -c 'not finished; the records until now are shown')" "0,false,1" "mcp: an unfinished trace is read as it stands" || cat "$work/mcp.out"
	is "$( (cd "$work" && find mcp -type f -exec sha256sum {} + && find mcp | sort) | diff "$work/mcp.before" -)" "" "mcp: and nothing is written"
}

# A trace that was packed is a trace; another file is not, whatever its name.
t_mcp_packs()
{
	mcp_start || return
	"$plain" pack -f -o "$work/mcp/packed.tar.zst" "$(trace steps)" 2>"$work/mcp.err" || { skip "mcp: $(cat "$work/mcp.err")"; return; }
	echo "no pack" >"$work/mcp/text.zst"
	{ tool traces; tool summary '{"trace":"packed.tar.zst"}'; tool summary '{"trace":"text.zst"}'; } >"$work/mcp.in"
	"$plain" mcp "$work/mcp" <"$work/mcp.in" >"$work/mcp.out" 2>"$work/mcp.err"
	is "$(answer 1 | sed -n 's/ .*//; /zst/p' | paste -sd ' ')" "packed.tar.zst" "mcp: traces lists a pack"
	is "$(answer 2)" "$(told "$plain" report summary "$work/mcp/packed.tar.zst")" "mcp summary of a pack: as the command"
	is "$(failed 3)" true "mcp: a file that is no pack is refused"
}

# An answer has its bound, and says what is missing.
t_mcp_bounds()
{
	local all shown
	mcp_start || return
	cp -R "$(trace steps)" "$work/mcp/"
	all=$("$plain" export "$work/mcp/steps" 2>/dev/null | jq -c 'select(.phase != "B" or .unfinished)' | wc -l)
	{
		tool report '{"trace":"steps","reports":["cuda_api_trace"],"format":"csv","top":0,"from":"start"}'
		tool search '{"trace":"steps","limit":3}'
		tool search '{"trace":"steps","longer_than_us":1e9}'
		tool search '{"trace":"steps","contains":"\"name\":\"cuMemcpyHtoD\"","limit":2}'
	} >"$work/mcp.in"
	"$plain" mcp --limit 2000 "$work/mcp" <"$work/mcp.in" >"$work/mcp.out"
	shown=$(answer 1 | sed -n 's/^.cut: these are the first \([0-9]*\) of.*/\1/p')
	told "$plain" report --format csv --top 0 --from start cuda_api_trace "$work/mcp/steps" | grep -a -v ^cudatrace: >"$work/mcp.all"
	answer 1 | sed '/^.cut: /,$d' >"$work/mcp.part"
	cmp -s "$work/mcp.part" <(head -n "$shown" "$work/mcp.all") && [ "$(wc -c <"$work/mcp.part")" -le 2000 ] &&
		[ "$(head -n $((shown + 1)) "$work/mcp.all" | wc -c)" -gt 2000 ]
	ok $? "mcp: whole lines up to the limit" || diff "$work/mcp.part" "$work/mcp.all" | head -n 5
	answer 1 | grep -qE '^\[cut: these are the first [0-9]+ of '"$("$plain" report --format csv --top 0 --from start cuda_api_trace "$work/mcp/steps" 2>/dev/null | wc -l)"' lines, [0-9]+ of [0-9]+ bytes; ask for less: top'
	ok $? "... and it says how many there are, and what to ask" || answer 1 | tail -n 2
	is "$(answer 2 | sed -n 's/.*first \([0-9]* of [0-9]*\) lines.*/\1/p')" "3 of $all" "mcp search: a limit, and how many there are"
	is "$(answer 3)" "(nothing)" "mcp search: nothing is said, too"
	is "$(answer 4 | grep '^{' | jq -r .name | paste -sd ' ')" "cuMemcpyHtoD cuMemcpyHtoD" "mcp search: a text in the record"
}

# Messages that are wrong.
t_mcp_hostile()
{
	mcp_start || return
	{
		echo 'garbage'
		echo
		echo '{"jsonrpc":"2.0"}'
		echo '[]'
		echo '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":2.5,"method":"ping"}]'
		echo '{"jsonrpc":"2.0","id":3,"result":{}}'
		echo '{"jsonrpc":"2.0","id":{"x":1},"method":"initialize","params":7}'
		echo '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"rm"}}'
		echo '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"summary","arguments":[1]}}'
		echo '{"jsonrpc":"2.0","id":7,"method":"resources/list"}'
		echo '{"jsonrpc":"2.0","id":8,"method":"a\u0000b"}'
		head -c 3000000 /dev/zero | tr '\0' '['
		echo
		head -c 500000 /dev/zero | tr '\0' '['
		echo
		printf '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"report","arguments":{"trace":"%s"}}}\n' "$(head -c 9000 /dev/zero | tr '\0' x)"
		printf '\xff\xfe\n'
		printf '{"jsonrpc":"2.0","id":9,"method":"ping"}'
	} >"$work/mcp.in"
	"$ct" mcp "$work/mcp" <"$work/mcp.in" >"$work/mcp.out" 2>"$work/mcp.err"
	is "$?,$(wc -c <"$work/mcp.err")" 0,0 "mcp: wrong messages don't end it" || cat "$work/mcp.err"
	is "$(jq -r '[.id, .error.code, .result.isError] | map(tostring) | join(" ")' "$work/mcp.out" | sed 's/ null//; s/ null$//' | paste -sd ,)" \
		"null -32700,null -32600,a,2.5,null,5 -32602,6 -32602,7 -32601,null -32700,null -32700,null -32700,10 true,null -32700,9" "mcp: each has its answer" || cat "$work/mcp.out"
	wrong_line 1 'nothing-here: No such file' mcp "$work/nothing-here"
	wrong_line 64 '--limit' mcp --limit 5 "$work/mcp"
}

# The protocol's own inspector, from npm: mcp_inspector: is it there?  $mcp_without says why not.
mcp_inspector()
{
	local modules=${CUDATRACE_CACHE:-$PWD/build/cache}/inspector-$(sha256sum <tests/cli/inspector/package.json | cut -c 1-16)
	inspector=$modules/node_modules/.bin/mcp-inspector
	[ ! -e "$modules/complete" ] || return 0
	command -v npm >/dev/null || { mcp_without="npm is missing"; return 1; }
	mkdir -p "$modules"
	cp tests/cli/inspector/package.json "$modules/"
	(cd "$modules" && timeout $hang npm install --ignore-scripts --no-audit --no-fund) >"$work/npm.log" 2>&1 && [ -x "$inspector" ] &&
		touch "$modules/complete" && return
	mcp_without="npm can't install it: $(grep -m 1 -i error "$work/npm.log")"
	return 1
}

t_mcp_inspector()
{
	mcp_start || return
	if ! mcp_inspector; then
		skip "mcp: the protocol's inspector: $mcp_without"
		return
	fi
	cp -R "$(trace steps)" "$work/mcp/"
	"$inspector" --cli "$plain" mcp "$work/mcp" --method tools/list >"$work/inspected" 2>&1
	is "$(jq -r '.tools | length' "$work/inspected")" 10 "mcp: the protocol's inspector lists the tools" || cat "$work/inspected"
	"$inspector" --cli "$plain" mcp "$work/mcp" --method tools/call --tool-name summary --tool-arg trace=steps >"$work/inspected" 2>&1
	is "$(jq -r '.content[0].text' "$work/inspected")" "$(told "$plain" report summary "$work/mcp/steps")" "... and gets a summary" || cat "$work/inspected"
}
