# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What holds for every format.  Sourced by tests/export/run.sh.

# The formats, as export --list has them.
formats() { "$cudatrace" export --list | awk '{ print $1 }'; }

# export_to FORMAT TRACE OUTPUT
export_to() { "$cudatrace" export --format "$1" -f -o "$3" "$2" >"$work/command.out" 2>"$work/command.err"; }

# Small traces only: each format has tests of its own for what it writes.
t_command_formats()
{
	local format name out=$work/command-out
	for format in $(formats); do
		for name in inference guest-cuinit guest-flight; do
			rm -rf "$out"
			export_to "$format" "$traces/$name" "$out" && [ -n "$(find "$out" -type f -size +0)" ] &&
				[ ! -s "$work/command.out" ] || { cat "$work/command.err"; false; }
			ok $? "$format of $name"
		done
	done
}
