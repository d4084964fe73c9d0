# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: tries every row of the table in docs/permissions.md.

# as WHO COMMAND...: runs the command as the user of that row.  1000 is any user, 2000 the
# group's id.
chgrp 2000 /dev/cudatrace		# what the udev rule does
as()
{
	local who=$1 user="--reuid 1000 --regid 1000"
	shift
	# shellcheck disable=SC2086
	case $who in
	"any user") setpriv $user --clear-groups "$@" ;;
	"member of group cudatrace") setpriv $user --groups 2000 "$@" ;;
	CAP_PERFMON) setpriv $user --clear-groups --inh-caps -all,+perfmon --ambient-caps -all,+perfmon "$@" ;;
	CAP_SYS_ADMIN) setpriv $user --clear-groups --inh-caps -all,+sys_admin --ambient-caps -all,+sys_admin "$@" ;;
	root) "$@" ;;
	"root of a container without these capabilities")
		unshare -p --fork setpriv --bounding-set -perfmon,-sys_admin --inh-caps -perfmon,-sys_admin "$@" ;;
	"root of a user namespace") setpriv $user --clear-groups unshare -U -r -p --fork "$@" ;;
	"root of a user namespace, its user in group cudatrace")
		setpriv $user --groups 2000 unshare -U -r -p --fork "$@" ;;
	*) echo "nobody tries '$who'" ;;
	esac
}

rows=0
while IFS='|' read -r _ who cells; do
	who=$(sed 's/^ *//; s/ *$//' <<<"$who")
	case $cells in *yes*) ;; *) continue ;; esac
	cudatrace session start --groups added || continue
	is "$(as "$who" /mnt/build/tests/permissions 2>&1)" "$(sed 's/|/ /g; s/  */ /g; s/^ //; s/ $//' <<<"$cells")" "$who may do what the table says"
	cudatrace session stop 2>/dev/null
	rows=$((rows + 1))
done <$share/permissions.md
[ $rows -ge 8 ]
ok $? "the table has its rows ($rows)"
