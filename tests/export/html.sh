# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# The page of HTML reports: its decoders by node, the page by headless Chromium.  Sourced by run.sh.

# html_tools [browser]: sets $NODE_MODULES and $CHROMIUM; else says what is missing.
html_tools()
{
	command -v node >/dev/null || { echo "node is missing (apt-get install nodejs)"; return 1; }
	[ -s build/html/template.html ] || { echo "this build has no page (npm was missing)"; return 1; }
	[ "${1:-}" = browser ] || return 0
	CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
	[ -n "$CHROMIUM" ] || { echo "chromium is missing (apt-get install chromium)"; return 1; }
	NODE_MODULES=$PWD/build/browser/node_modules
	if ! cmp -s tests/export/browser/package-lock.json "$NODE_MODULES/.lock"; then
		command -v npm >/dev/null || { echo "npm is missing (apt-get install npm)"; return 1; }
		mkdir -p build/browser
		cp tests/export/browser/package.json tests/export/browser/package-lock.json build/browser/
		(cd build/browser && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >build/browser/npm.log 2>&1 ||
			{ echo "npm could not load playwright-core (build/browser/npm.log)"; return 1; }
		cp tests/export/browser/package-lock.json "$NODE_MODULES/.lock"
	fi
	export CHROMIUM NODE_MODULES
}

# html_lines COMMAND...: its lines "ok" or "not ok", tab, text become ours.
html_lines()
{
	local status text lines=0
	while IFS=$'\t' read -r status text; do
		lines=$((lines + 1))
		[ "$status" != skip ] || { skip "html: $text"; continue; }
		[ "$status" = ok ]
		ok $? "html: $text"
	done < <("$@" 2>"$work/html.err")
	[ $lines -gt 0 ]
	ok $? "html: $(basename "$2") ran" || head -n 5 "$work/html.err"
}

t_html_decoders()
{
	local why
	why=$(html_tools) || { skip "html: decoders: $why"; return; }
	html_lines node tests/export/browser/codec.js
}

# What must be found in the page, computed by jq: how often a function was called, and a call.
html_facts()
{
	grep -iF "$2" "$1" | jq -n --arg text "$2" '
		reduce (inputs | select(.phase != "B")) as $r ({count: 0, call: null};
			(if $r.name | ascii_downcase | contains($text | ascii_downcase) then .count += 1 |
				.call = (if .call == null and ($r.duration_us // 0) > 1 then $r else .call end) else . end)) |
		{search: {text: $text, count}, call: {op_id: .call.op_id, name: .call.name,
			fields: (.call.details | with_entries(select(.key != "kernel" and (.value | type) != "object")))}}'
}

t_html_page()
{
	local why trace text
	why=$(html_tools browser) || { skip "html: in a browser: $why"; return; }
	html_tools browser >/dev/null
	for trace in gpt2:cuMemcpyHtoDAsync guest-inference:cuLaunchKernel; do
		text=${trace#*:} trace=${trace%:*}
		build/cudatrace export --format html -f -o "$work/page-$trace.html" "$traces/$trace" 2>"$work/html.err"
		ok $? "html: $trace is exported" || { head -n 3 "$work/html.err"; continue; }
		html_facts "$(jsonl "$trace")" "$text" >"$work/page-$trace.facts"
		html_lines node tests/export/browser/page.js "$work/page-$trace.html" "$work/page-$trace.facts"
	done
}

# Of the kept job of two ranks, and of summaries: 256 ranks on 32 hosts, generated as tests/cli/summaries.sh does.
t_html_ranks()
{
	local why d=$work/page-ranks
	why=$(html_tools browser) || { skip "html: ranks: $why"; return; }
	html_tools browser >/dev/null
	. tests/cli/summaries.sh
	mkdir -p "$d"
	tar -xJf tests/data/ranks/sleep.tar.xz -C "$d"
	build/cudatrace summarize -q -o "$d/sleep.summary" "$d/sleep" && many_ranks "$d/sleep.summary" "$d/many" 256 77
	build/cudatrace export -f -o "$d/sleep.html" "$d/sleep" 2>"$work/html.err" && build/cudatrace export -f -o "$d/many.html" "$d/many" 2>>"$work/html.err"
	ok $? "html: ranks are exported" || head -n 3 "$work/html.err"
	html_lines node tests/export/browser/ranks.js "$d/sleep.html" "$d/many.html" 256 77
}

t_html_hostile()
{
	local why name dir=$work/page-names evil reports=()
	why=$(html_tools browser) || { skip "html: hostile names: $why"; return; }
	html_tools browser >/dev/null
	# Every name of a real trace is an attack.
	rm -rf "$dir"
	cp -R "$traces/inference" "$dir"
	evil='%3c/script%3e%3cscript%3ewindow.hacked=1%3c/script%3e%3cimg%20src=x%20onerror=window.hacked=1%3e%3c!--%22%27%26amp;%5c%e2%80%a8%ff%c3%00%07'
	sed -i -E "s,^(string [0-9]+ ).*,\1$evil,; s,^(info (command|hostname|driver) ).*,\1$evil," "$dir/.registry"
	sed -i -E "s,^(class [0-9]+ user (memory|transfer) .*) [^ ]+ [^ ]+$,\1 $evil $evil," "$dir/.registry"
	"$cudatrace" export --format html -f -o "$dir.html" "$dir" 2>"$work/html.err"
	ok $? "html: a trace of hostile names is exported" && reports+=("$dir.html")
	# And what no recorder writes; few of each, since others test how much the command stands.
	for name in $("${b:-build/cli-dev}/hostile_trace" --list); do
		rm -rf "$work/page-hostile"
		"${b:-build/cli-dev}/hostile_trace" "$name" "$work/page-hostile" 300 >/dev/null 2>&1 || continue
		build/cudatrace export --format html -f -o "$work/page-$name.html" "$work/page-hostile" 2>/dev/null || continue
		reports+=("$work/page-$name.html")
	done
	html_lines node tests/export/browser/hostile.js build/html/template.html "$work" "${reports[@]}"
}
