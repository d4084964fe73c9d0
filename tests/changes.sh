# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What has changed, and which suites that needs (tests/needs).  Sourced by tests/run.

# The newest commit for which the suites that it needed have passed here.
passed_file=build/tests/passed

# changes_base: sets $base to the commit that the tree is compared with, and $base_is to what it
# is; $base is empty where everything has to run, and $base_is says why.  It is the newer one of
# the commit that passed here and the point where this branch left its upstream.
changes_base()
{
	local upstream passed
	base= base_is=
	if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ] || ! git rev-parse -q --verify HEAD >/dev/null; then
		base_is="this is no git checkout"
		return
	fi
	for upstream in '@{upstream}' origin/HEAD origin/main; do
		base=$(git merge-base HEAD "$upstream" 2>/dev/null) && break
	done
	[ -z "$base" ] || base_is="where this branch left its upstream"
	passed=$(cat $passed_file 2>/dev/null)
	if [ -n "$passed" ] && git merge-base --is-ancestor "$passed" HEAD 2>/dev/null &&
		{ [ -z "$base" ] || git merge-base --is-ancestor "$base" "$passed"; }; then
		base=$passed base_is="the last commit that passed here"
	fi
	if [ -z "$base" ]; then
		base_is="there is no upstream branch, and no commit has passed here yet"
	elif [ -z "$(changed_files)" ]; then
		base= base_is="nothing differs from $base_is"
	fi
}

# changed_files: the files that differ from $base, those that git does not know too, one a line.
changed_files()
{
	git diff --name-only --no-renames "$base"
	git ls-files --others --exclude-standard
}

# needs_of FILE...: the suites that these files need, one a line, each with the first file.  A
# file that no row names needs all.
needs_of()
{
	printf '%s\n' "$@" | awk '
		FNR == NR { if (!/^#/ && NF) { suites[$1] = $0; sub(/^[^ \t]+[ \t]+/, "", suites[$1]) } next }
		{
			best = ""
			for (path in suites)
				if (index($0, path) == 1 && length(path) > length(best))
					best = path
			n = split(best == "" ? "all" : suites[best], names)
			for (i = 1; i <= n; i++)
				if (!((names[i]) in first)) {
					first[names[i]] = $0
					print names[i], $0
				}
		}' tests/needs -
}
