# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154,SC2001
#
# The data of HTML reports.  Sourced by tests/export/run.sh.

# html_ready: node is there, and the command has its page; else a test is skipped.
html_ready()
{
	if ! command -v node >/dev/null; then
		skip "html: node is not installed (apt-get install nodejs)"
		return 1
	fi
	if [ ! -s build/html/template.html ]; then
		skip "html: this build has no page, since npm was missing"
		return 1
	fi
}

# html_check NAME DIR [COMMAND]: exports DIR by COMMAND and compares.  build/cudatrace says what the
# trace holds.
html_check()
{
	local out=$work/html-$1 said
	mkdir -p "${out%/*}"
	"${3:-$cudatrace}" export --format html -f -o "$out.html" "$2" 2>"$out.err" ||
		{ ok 1 "html: $1 is written"; head -n 3 "$out.err"; return; }
	build/cudatrace export -f -o "$out.jsonl" "$2" 2>/dev/null
	build/cudatrace report --from start --all --format json "$2" >"$out.json" 2>/dev/null
	said=$(node tests/export/html_data.js "$out.html" "$out.jsonl" "$out.json" 2>&1)
	ok $? "html: $1: ${said##*$'\n'}" || sed 's/^/# /' <<<"$said"
	rm -f "$out.html" "$out.jsonl" "$out.json"
}

# html_manifest FILE EXPRESSION: a value of the manifest, by JavaScript about m.
html_manifest() { node -e '
	const fs = require("fs"), t = fs.readFileSync(process.argv[1], "utf8");
	const m = JSON.parse(t.match(/id="ct-manifest"[^>]*>([^<]*)</)[1]);
	console.log(eval(process.argv[2]));' "$1" "$2"; }

# Counts, sums, arguments, zoom levels, findings and tables of all real traces.
t_html_data()
{
	local name
	html_ready || return
	for name in $(real_traces); do
		html_check "${name//\//-}" "$traces/$name" "$(reader "$name")"
	done
}

# All that a recorder may write and seldom does: abandoned and open calls, ends without a begin.
t_html_data_made()
{
	local name
	html_ready || return
	for name in basic open begin ties left files both bypassed objects gpu deep layers steps memory; do
		rm -rf "$work/html-made-$name"
		"$b/make_trace" "$name" "$work/html-made-$name" >/dev/null || { ok 1 "html: trace $name is made"; continue; }
		html_check "made-$name" "$work/html-made-$name"
	done
}

# A trace with more records than are kept: what is left out is said, and is the shortest.
t_html_data_left_out()
{
	local all=$work/html-all.html few=$work/html-few.html said name=gpt2
	html_ready || return
	"$cudatrace" export --format html -f -o "$all" "$traces/$name" 2>/dev/null
	CUDATRACE_HTML_RECORDS=10000 "$cudatrace" export --format html -f -o "$few" "$traces/$name" 2>/dev/null
	ok $? "html: a part of $name is written"
	said=$(CUDATRACE_HTML_RECORDS=10000 node tests/export/html_data.js "$few" "$(jsonl $name)" 2>&1)
	ok $? "html: a part of $name: ${said##*$'\n'}" || sed 's/^/# /' <<<"$said"
	is "$(html_manifest "$all" m.left_out)" null "html: of the whole of $name nothing is left out"
	is "$(html_manifest "$few" 'm.left_out.records > 20000 && m.left_out.records < 34412')" true \
		"html: most records of $name are left out of a part"
	is "$(html_manifest "$few" 'm.tracks.every((t) => t.layer === "api" || t.count === t.kept)')" true \
		"html: small tracks are kept whole"
	is "$(html_manifest "$all" 'JSON.stringify(m.tables)' | md5sum)" \
		"$(html_manifest "$few" 'JSON.stringify(m.tables)' | md5sum)" "html: reports are of all records"
	[ "$(stat -c %s "$all")" -gt $((2 * $(stat -c %s build/html/template.html) / 3)) ] &&
		[ "$(stat -c %s "$few")" -lt "$(stat -c %s "$all")" ]
	ok $? "html: a part is smaller than the whole"
}

# A long name counts once, however many records have it, and is not an alarm.
t_html_data_long()
{
	local dir=$work/html-long out=$work/html-long.html
	html_ready || return
	rm -rf "$dir"
	cp -R "$traces/inference" "$dir"
	sed -i -E "s,^(string [0-9]+ ).*,\1$(printf 'k%.0s' {1..5000})," "$dir/.registry"
	"$cudatrace" export --format html -f -o "$out" "$dir" 2>"$work/html-long.err"
	ok $? "html: a trace with long names is written" || head -n 3 "$work/html-long.err"
	is "$(html_manifest "$out" 'm.left_out.cut + " " + m.left_out.strings')" "1 0" "html: one long name of many records is cut"
	html_check long "$dir"
}

# Names that mean something to HTML, to JSON or to nothing.
t_html_data_names()
{
	local dir=$work/html-names out=$work/html-names.html evil
	html_ready || return
	rm -rf "$dir"
	cp -R "$traces/inference" "$dir"
	evil='%3c/script%3e%3cscript%3ealert(1)%3c/script%3e%3c!--%22%27%26amp;%5c%e2%80%a8%e2%80%a9%ff%c3%00%07'
	sed -i -E "s,^(string [0-9]+ ).*,\1$evil,; s,^(info (command|hostname|driver) ).*,\1$evil," "$dir/.registry"
	sed -i -E "s,^(class [0-9]+ user (memory|transfer) .*) [^ ]+ [^ ]+$,\1 $evil $evil," "$dir/.registry"
	"$cudatrace" export --format html -f -o "$out" "$dir" 2>"$work/html-names.err"
	ok $? "html: a trace with hostile names is written" || head -n 3 "$work/html-names.err"
	is "$(grep -o '<script' "$out" | wc -l)" "$(grep -o '<script' build/html/template.html | wc -l)" \
		"html: no script comes from a name"
	is "$(grep -o '</script' "$out" | wc -l)" "$(grep -o '</script' build/html/template.html | wc -l)" \
		"html: no name ends a script"
	is "$(grep -c 'alert(1)</script>' "$out")" 0 "html: no name is HTML as it is"
	is "$(html_manifest "$out" 'm.trace.command.startsWith("</script><script>alert(1)</script><!--\"\u0027&amp;\\\u2028\u2029")')" \
		true "html: names are whole in the manifest"
	is "$(grep -aPc '[\x00-\x08\x0b\x0c\x0e-\x1f]' "$out")" "$(grep -aPc '[\x00-\x08\x0b\x0c\x0e-\x1f]' build/html/template.html)" \
		"html: no control characters of names"
	iconv -f UTF-8 -t UTF-8 "$out" >/dev/null 2>&1
	ok $? "html: the report is UTF-8"
	html_check names "$dir"
}

# Traces that no recorder writes.
t_html_data_hostile()
{
	local name out=$work/html-hostile status
	html_ready || return
	for name in $("$b/hostile_trace" --list); do
		rm -rf "$out"
		# shellcheck disable=SC2086
		"$b/hostile_trace" "$name" "$out" $hostile_count || continue
		timeout $hang "$cudatrace" export --format html -f -o "$out.html" "$out" >"$out.out" 2>"$out.err"
		status=$?
		if [ $status = 0 ]; then
			build/cudatrace export -f -o "$out.jsonl" "$out" 2>/dev/null
			node tests/export/html_data.js "$out.html" "$out.jsonl" >"$out.said" 2>&1
			ok $? "html: hostile trace $name: $(tail -n 1 "$out.said")" || sed 's/^/# /' "$out.said"
			is "$(grep -o '<script' "$out.html" | wc -l)" "$(grep -o '<script' build/html/template.html | wc -l)" \
				"html: hostile trace $name: no script of its own"
		else
			[ $status = 1 ] && [ "$(wc -l <"$out.err")" = 1 ]
			ok $? "html: hostile trace $name is refused in one line" || head -n 3 "$out.err"
		fi
	done
	rm -rf "$out" "$out".*
}

# A full disk: an error, and no report that looks complete.
t_html_data_full()
{
	html_ready || return
	build/cudatrace export --format html -f -o /dev/full "$traces/inference" >/dev/null 2>"$work/html-full.err"
	is $? 1 "html: a full disk is an error"
	is "$(wc -l <"$work/html-full.err")" 1 "html: a full disk: one line"
}

# KIND MIB: what a report may take of 100,000 records: what it takes, and 80 bytes of each record.
html_limits='
growth 71
ranges 44
objects 95
sequences 63
'

# Memory is bounded, whatever there is much of; of 1.5 million 400 MiB are the limit for all.
t_html_data_memory()
{
	local name limit dir=$work/html-big peak
	html_ready || return
	while read -r name limit; do
		[ -n "$name" ] || continue
		[ -z "$full" ] || limit=400
		rm -rf "$dir"
		"$b/hostile_trace" "$name" "$dir" "$hostile_big"
		peak=?
		"$b/usage" "$work/html-used" timeout $hang build/cudatrace export --format html -f -o "$dir.html" "$dir" \
			>/dev/null 2>"$dir.err"
		[ $? -le 1 ] && peak=$(awk '{ print int($3 / 1024) }' "$work/html-used") && [ "$peak" -le "$limit" ]
		ok $? "html: $name, $hostile_big records: $peak MiB of $limit" || cat "$dir.err"
	done <<<"$html_limits"
	rm -rf "$dir" "$dir".*
}
