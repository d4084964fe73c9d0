# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: the text that a reader in a container gets.

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
unshare -U -r -p --fork --mount-proc bash ./inside.sh & container=$!
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
is "$(jq -c 'select(.name=="inside") | .pid' inside.jsonl | sort -u)" "$(cat inside.pid)" "in a container a process has the pid that it has there"
is "$(jq -c 'select(.name=="inside") | .tid' inside.jsonl | sort -u)" "$(cat inside.pid)" "and the tid"
is "$(jq -c 'select(.name=="outside") | .pid' inside.jsonl | sort -u)" 0 "one that is not visible there is 0"
[ "$(jq -c 'select(.name=="inside") | .pid' outside.jsonl | sort -u)" -gt "$(cat inside.pid)" ]
ok $? "outside it has the machine's number"
is "$(jq -c 'select(.name=="outside") | .pid' outside.jsonl | sort -u)" "$outside" "as have all others"
is "$(jq -c 'select(.name=="mark" and .text=="user") | .details.uid' inside.jsonl | sort -u)" 65534 "a user who has no number there is the overflow uid"
is "$(jq -c 'select(.name=="mark" and .text=="user") | .details.uid' outside.jsonl | sort -u)" 1000 "and outside who it is"

# A user namespace whose root is user 1000, which is in the device's group.
cat >mapped.sh <<'END'
cat /dev/cudatrace >mapped.jsonl & cat=$!
until [ -s mapped.jsonl ]; do /mnt/build/tests/load here 1 >/dev/null; sleep 0.1; done
/mnt/build/tests/load mark:mapped 1 >/dev/null
for try in $(seq 600); do
	grep -q '"text":"mapped"' mapped.jsonl && break
	sleep 0.1
done
kill $cat
END
chmod 777 .
setpriv --reuid 1000 --regid 1000 --groups 2000 unshare -U -r -p --fork bash ./mapped.sh
is "$(jq -c 'select(.name=="mark" and .text=="mapped") | .details.uid' mapped.jsonl | sort -u)" 0 "a container's root is 0 to itself, whoever it is outside"
is "$(jq -c 'select(.name=="process" and .details.uid!=0)' mapped.jsonl | wc -l)" 0 "also in the record of its process"
