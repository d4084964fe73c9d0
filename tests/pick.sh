# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# How a suite lets one of its tests be run alone.  Sourced.  Each suite takes
#
#	--list          print the names of its tests, one a line, and run none
#	--only PATTERN  run only the tests that PATTERN names

# pick PATTERN NAME...: prints the names that PATTERN selects, in their order.  A name that
# equals PATTERN is the only one; otherwise PATTERN may stand anywhere in a name and may have
# the wildcards of the shell.  Without PATTERN: all names.  Status 1: none.
pick()
{
	local pattern=$1 name found=1
	shift
	for name in "$@"; do
		[ "$name" != "$pattern" ] || { echo "$name"; return 0; }
	done
	for name in "$@"; do
		# shellcheck disable=SC2053
		[[ $name != *$pattern* ]] || { echo "$name"; found=0; }
	done
	return $found
}

# choose_parts "NAME..." ARGUMENT...: takes the suite's arguments; $parts are the names that
# they select.  With --list it prints them and ends the script.
choose_parts()
{
	local list=
	parts=$1
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--list) list=1 ;;
		--only)
			parts=$(pick "${2:-}" $parts) || {
				echo "Bail out! no test matches '${2:-}'"
				exit 2
			}
			shift
			;;
		*)
			echo "Bail out! unknown argument $1"
			exit 2
			;;
		esac
		shift
	done
	[ -z "$list" ] || {
		printf '%s\n' $parts
		exit 0
	}
}

# run_parts: calls t_NAME for each of $parts, and says how long each took.
run_parts()
{
	local name start
	for name in $parts; do
		start=${EPOCHREALTIME/./}
		"t_$name"
		echo "# $name took $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
	done
}
