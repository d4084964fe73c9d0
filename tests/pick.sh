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

# processors: the milliseconds of processors that this shell and what it has waited for took
processors()
{
	local stat
	read -r -a stat </proc/$$/stat
	echo $(((stat[13] + stat[14] + stat[15] + stat[16]) * 10))
}

# run_part COMMAND NAME: calls COMMAND, and says how long NAME took: on a busy machine the time of
# processors says more.
run_part()
{
	local start=${EPOCHREALTIME/./} used
	used=$(processors)
	"$1"
	echo "# $2 took $(((${EPOCHREALTIME/./} - start) / 1000)) ms, $(($(processors) - used)) ms of processors"
}

# run_parts: calls t_NAME for each of $parts
run_parts()
{
	local name
	for name in $parts; do
		run_part "t_$name" "$name"
	done
}
