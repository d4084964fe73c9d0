# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: tries every row of the table in docs/permissions.md.

chgrp 2000 /dev/cudatrace		# what the udev rule does
node=/tmp/cudatrace-node
mknod -m 666 $node c $(stat -c '0x%t 0x%T' /dev/cudatrace)

# by_file GROUP COMMAND...: where another file of that group is /dev/cudatrace
by_file()
{
	chgrp "$1" $node
	shift
	unshare -m sh -c 'mount --bind '$node' /dev/cudatrace && exec "$@"' sh "$@"
}

# as WHO COMMAND...: runs the command as the user of that row.  1000 is any user, 2000 the
# group's id.
as()
{
	local who=$1 user="--reuid 1000 --regid 1000" docker=-perfmon,-sys_admin,-syslog
	local container="unshare -p --fork setpriv --bounding-set $docker --inh-caps $docker"
	shift
	# shellcheck disable=SC2086
	case $who in
	"any user") setpriv $user --clear-groups "$@" ;;
	"member of group cudatrace") setpriv $user --groups 2000 "$@" ;;
	"member of group root, while the device has no other group")
		chgrp 0 /dev/cudatrace
		setpriv $user --groups 0 "$@"
		chgrp 2000 /dev/cudatrace ;;
	"member of group cudatrace, by a device file outside /dev")
		by_file 2000 setpriv $user --groups 2000 "$@" ;;
	CAP_PERFMON) setpriv $user --clear-groups --inh-caps -all,+perfmon --ambient-caps -all,+perfmon "$@" ;;
	"CAP_PERFMON and CAP_SYSLOG")
		setpriv $user --clear-groups --inh-caps -all,+perfmon,+syslog --ambient-caps -all,+perfmon,+syslog "$@" ;;
	CAP_SYS_ADMIN) setpriv $user --clear-groups --inh-caps -all,+sys_admin --ambient-caps -all,+sys_admin "$@" ;;
	root) "$@" ;;
	"root without capabilities") setpriv --bounding-set -all --inh-caps -all "$@" ;;
	"root of a container") by_file 0 $container "$@" ;;
	"root of a container, in group cudatrace") $container setpriv --groups 2000 "$@" ;;
	"root of a container, with a device file of its own in its group")
		by_file 5000 $container setpriv --groups 5000 "$@" ;;
	"root of a container with CAP_PERFMON") by_file 0 unshare -p --fork \
			setpriv --bounding-set -sys_admin,-syslog --inh-caps -sys_admin,-syslog "$@" ;;
	"root of a container with the host's pids, in group cudatrace")
		setpriv --bounding-set $docker --inh-caps $docker --groups 2000 "$@" ;;
	"root of a user namespace") setpriv $user --clear-groups unshare -U -r -p --fork "$@" ;;
	"root of a user namespace, its user in group cudatrace")
		setpriv $user --groups 2000 unshare -U -r -p --fork "$@" ;;
	*) echo "nobody tries '$who'" ;;
	esac
}

# An address of the kernel in the text, as a user's own probe records one.
cudatrace probe add __x64_sys_getpriority arg0:regs:x64
ok $? "a probe whose argument is an address is added"
rows=0
while IFS='|' read -r _ who cells; do
	who=$(sed 's/^ *//; s/ *$//' <<<"$who")
	case $cells in *yes*) ;; *) continue ;; esac
	first=$(as "$who" /mnt/build/tests/permissions first 2>&1)
	cudatrace session start --groups added --subbuf-size 65536 --subbufs 16 || continue
	is "$(as "$who" /mnt/build/tests/permissions 2>&1) $first" "$(sed 's/|/ /g; s/  */ /g; s/^ //; s/ $//' <<<"$cells")" "$who may do what the table says"
	cudatrace session stop 2>/dev/null
	rows=$((rows + 1))
done <$share/permissions.md
[ $rows -ge 16 ]
ok $? "the table has its rows ($rows)"
cudatrace probe remove __x64_sys_getpriority
rm $node

# What the command tells whom.
told_member()
{
	setpriv --reuid 1000 --regid 1000 --groups 2000 "$@" 2>&1 >/dev/null
}
is "$(told_member cudatrace live | grep -c 'nothing is being recorded, and to start that needs CAP_PERFMON')" 1 "a member who follows nothing is told what is needed"
cudatrace session start --groups added --subbuf-size 65536 --subbufs 16
is "$(told_member cudatrace session status)" "" "a member sees the session's counters"
is "$(told_member cudatrace snapshot -o /tmp/snapshot | grep -c 'needs CAP_PERFMON')" 1 "but takes no snapshot, and is told what is needed"
is "$(setpriv --reuid 1000 --regid 1000 --clear-groups cudatrace session status 2>&1 | grep -c 'may not be opened by this user (run as root')" 1 "any other user is told how to get the right"
is "$(unshare -p --fork --mount-proc setpriv --bounding-set -all --inh-caps -all cudatrace session status 2>&1 | grep -c 'docker run --cap-add PERFMON')" 1 "and root of a container"
cudatrace session stop
