# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: what a reader in a container sees.

# Producers that live until they were read, inside and outside, of two users.
load=/mnt/build/tests/load
cat /dev/cudatrace >outside.jsonl & cat_outside=$!
sleep 1
cat >inside.sh <<'END'
cat /dev/cudatrace >inside.jsonl & cat=$!
sleep 1
sh -c 'echo $$ >inside.pid; exec /mnt/build/tests/load inside 20 10' >/dev/null
sleep 0.5
kill $cat
END
unshare -U -r -p --fork --mount-proc bash ./inside.sh & container=$!
$load outside 30 10 >/dev/null & outside=$!
setpriv --reuid 1000 --regid 1000 --clear-groups $load mark:user 1 >/dev/null
sleep 1.5
setpriv --reuid 1000 --regid 1000 --clear-groups $load mark:user 1 >/dev/null
wait $container
wait $outside
sleep 0.5
kill $cat_outside; wait $cat_outside 2>/dev/null
is "$(jq -c 'select(.name=="inside") | .pid' inside.jsonl | sort -u)" "$(cat inside.pid)" "in a container a process has the pid that it has there"
is "$(jq -c 'select(.name=="inside") | .tid' inside.jsonl | sort -u)" "$(cat inside.pid)" "and the tid"
is "$(jq -c 'select(.name=="outside") | .pid' inside.jsonl | sort -u)" 0 "one that is not visible there is 0"
[ "$(jq -c 'select(.name=="inside") | .pid' outside.jsonl | sort -u)" -gt "$(cat inside.pid)" ]
ok $? "outside it has the machine's number"
is "$(jq -c 'select(.name=="outside") | .pid' outside.jsonl | sort -u)" "$outside" "as have all others"
is "$(jq -c 'select(.name=="mark" and .text=="user") | .details.uid' inside.jsonl | sort -u)" 65534 "a user who has no number there is the overflow uid"
is "$(jq -c 'select(.name=="mark" and .text=="user") | .details.uid' outside.jsonl | sort -u)" 1000 "and outside who it is"

# A user namespace whose root is user 1000, who is in the group.
cat >mapped.sh <<'END'
cat /dev/cudatrace >/tmp/work/mapped.jsonl & cat=$!
sleep 1
/mnt/build/tests/load mark:mapped 1 >/dev/null
sleep 0.5
kill $cat
END
chmod 777 .
setpriv --reuid 1000 --regid 1000 --groups 2000 unshare -U -r -p --fork bash ./mapped.sh
is "$(jq -c 'select(.name=="mark" and .text=="mapped") | .details.uid' mapped.jsonl | sort -u)" 0 "a container's root is 0 to itself, whoever it is outside"
is "$(jq -c 'select(.name=="process" and .details.uid!=0)' mapped.jsonl | wc -l)" 0 "also in the record of its process"
