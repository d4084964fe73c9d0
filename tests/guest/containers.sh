# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: the text that a reader in a container with CAP_PERFMON gets, and what a
# user namespace may do.

# Producers of two users, inside and outside, that stay alive until they were read.
load=/mnt/build/tests/load
rm -f ready done inside.jsonl
follow outside.jsonl
cat >inside.sh <<'END'
cat /dev/cudatrace >inside.jsonl & cat=$!
until [ -s inside.jsonl ]; do /mnt/build/tests/load here 1 >/dev/null; sleep 0.1; done
sh -c 'echo $$ >inside.pid; exec /mnt/build/tests/load inside 20 0 1 done' >/dev/null & load=$!
touch ready
wait $load
kill $cat
END
unshare -p --fork --mount-proc bash ./inside.sh & container=$!
wait_until [ -e ready ]
$load outside 30 0 1 done >/dev/null & outside=$!
setpriv --reuid 1000 --regid 1000 --clear-groups $load mark:user 1 >/dev/null
for file in inside.jsonl outside.jsonl; do
	wait_for $file '"name":"inside"' 20
	wait_for $file '"name":"outside"' 30
	wait_for $file '"text":"user"'
done
touch done
wait $container
wait $outside
unfollow
is "$(named inside.jsonl inside | jq -c '.pid' | sort -u)" "$(cat inside.pid)" "in a container a process has the pid that it has there"
is "$(named inside.jsonl inside | jq -c '.tid' | sort -u)" "$(cat inside.pid)" "and the tid"
is "$(named inside.jsonl outside | jq -c '.pid' | sort -u)" 0 "one that is not visible there is 0"
[ "$(named outside.jsonl inside | jq -c '.pid' | sort -u)" -gt "$(cat inside.pid)" ]
ok $? "outside it has the machine's number"
is "$(named outside.jsonl outside | jq -c '.pid' | sort -u)" "$outside" "as have all others"
is "$(named inside.jsonl mark | jq -c 'select(.text=="user") | .details.uid' | sort -u)" 1000 "a user is who it is"
is "$(named outside.jsonl mark | jq -c 'select(.text=="user") | .details.uid' | sort -u)" 1000 "and outside who it is"

# Root of a user namespace, who is user 1000 outside.
follow mapped.jsonl
setpriv --reuid 1000 --regid 1000 --clear-groups unshare -U -r -p --fork $load mark:mapped 1 >/dev/null
ok $? "root of a user namespace may write marks"
told mapped.jsonl
unfollow
is "$(named mapped.jsonl mark | jq -c 'select(.text=="mapped") | .details.uid' | sort -u)" 1000 "which have its number outside"
unshare -U -r -p --fork cat /dev/cudatrace 2>mapped.err
is $? 1 "but reads nothing"
is "$(grep -c 'Permission denied' mapped.err)" 1 "because the device does not open"
