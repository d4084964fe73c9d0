#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What is tested inside the guest, as root, in one boot: started with nothing
# loaded.  $1: the driver's version, or none; then the names of the parts to run (parts).
# Traces that it leaves in /mnt/share are judged by the host afterwards.  Prints TAP, and
# after each part how long it took.
driver=$1
shift
chosen=" $* "
share=/mnt/share
. $share/judge.sh
# Traces are made on the guest's own file system: two processes that append to one
# file through 9p overwrite each other there (seen on 6.12).
mkdir -p /tmp/work && cd /tmp/work || exit 2
trap 'cp -r . $share/' EXIT
export PATH=$PATH:/mnt/build/tests
sim=/mnt/build/tests/sim

. $share/common.sh

# loaded NAME: a module of that name is
loaded() { [ -d "/sys/module/$1" ]; }

# need WHAT: loads and unloads until WHAT is what is loaded (parts, NEEDS).
need()
{
	case $1:$driver in
	module:* | order:*)
		! loaded nvidia || unload-driver
		loaded cudatrace || load-module
		;;
	both:none | driver:none) loaded cudatrace || load-module ;;
	both:* | driver:*)
		loaded nvidia || load-driver
		loaded cudatrace || load-module
		;;
	esac
}

load-module
ok $? "the module loads with no driver there"
[ -c /dev/cudatrace ]
ok $? "/dev/cudatrace is made"
# Not read line by line, for a part may read its standard input.
mapfile -t parts < <(grep '^[a-z]' $share/parts)
for line in "${parts[@]}"; do
	read -r part needs _ what <<<"$line"
	case $chosen in *" $part "*) ;; *) continue ;; esac
	case $needs:$driver in driver:none | order:none | boot:*) continue ;; esac
	start=${EPOCHREALTIME/./}
	need "$needs" || ok 1 "$part: what it needs ($needs) loads"
	if [ "$what" != - ]; then
		program "$part" "$what"
	else
		. "$share/$part.sh"
	fi
	printf '# %s took %d.%d s\n' "$part" $(((${EPOCHREALTIME/./} - start) / 1000000)) \
		$(((${EPOCHREALTIME/./} - start) / 100000 % 10))
done
! loaded nvidia || unload-driver
unload-module
ok $? "the module unloads at the end"
plan
