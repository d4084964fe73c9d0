# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by in-guest.sh: the example of a reader, beside cat, at the same time.

/mnt/build/examples/reader >reader.txt 2>reader.err & reader=$!
wait_for_session
follow beside.jsonl
# The rings hold all records, so that no reader can be too slow.
/mnt/build/tests/load seen 4000 4000 10 >load.out
wait_for reader.txt ' seen$' 4000
told beside.jsonl
kill $reader; wait $reader
is $? 0 "examples/reader ends well" || cat reader.err
unfollow
is "$(grep -c ' seen$' reader.txt)" 4000 "examples/reader has every record"
is "$(sed -n 's/^\([0-9]*\) .*tid=\([0-9]*\) seen$/\1 \2/p' reader.txt | sort -n | sha1sum)" \
	"$(named beside.jsonl seen | jq -r '"\(.ts_ns) \(.tid)"' | sort -n | sha1sum)" \
	"it sees what cat sees, at the same times"
! cudatrace session status >/dev/null 2>&1
ok $? "and leaves no session behind"

# The command line's messages about limits and watermarks.
cudatrace session start --groups added
cudatrace session limit --rate 10 --by process
ok $? "session limit"
is "$(cudatrace session limit | tr '\n' ' ')" "--by process --rate 10 --share 100 " "it can be asked"
/mnt/build/tests/load limited 100 >load.out
cudatrace session status >status.txt
grep -Eq '^lost +[0-9]+ \(rate\)$' status.txt
ok $? "status tells what was lost and why" || cat status.txt
grep -Eq '^producers +[0-9]+ of 127 entries in use$' status.txt
ok $? "and how full the table of producers is" || cat status.txt
cudatrace session limit --share 50 2>limit.err
is $? 1 "a flight recorder has no shares"
grep -q 'overwrites' limit.err
ok $? "in words" || cat limit.err
cudatrace session limit --rate 0 --share 100
is "$(cudatrace session limit | tr '\n' ' ')" "--by user --share 100 " "and limits can be taken away"
reads_device() { ls -l /proc/$1/fd | grep -q cudatrace; }
cudatrace live --watermark 100000r,300ms >live.txt & live=$!
wait_until reads_device $live
/mnt/build/tests/load lively 10 >load.out
wait_for live.txt lively 10
is "$(grep -c lively live.txt)" 10 "live waits for a watermark, and shows what came" || cat live.txt
kill $live; wait $live 2>/dev/null
cudatrace session stop
