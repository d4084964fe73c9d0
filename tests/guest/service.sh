# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by in-guest.sh: what cudatrace-recorder.service runs, beside a load, NVIDIA's real driver that comes
# and goes, a recorder that is killed, and somebody who asks for metrics all the time.  In make test-long for
# half an hour.
recorded=$PWD/recorder
cat >recorder.conf <<-END
	triggers=status
	last=2
	snapshots=2
	megabytes=60
	pause=1
	directory=$recorded
END
start_recorder()
{
	: >recorder.err
	CUDATRACE=/mnt/build/cudatrace setsid sh $share/cudatrace-recorder recorder.conf 2>recorder.err &
	recorder=$!
	wait_for recorder.err 'waits for status'
}
# How many snapshots were made, those that were dropped since, too.
snapshots=0
made() { snapshots=$((snapshots + $(grep -c ': snapshot in ' recorder.err))); }
# NVIDIA's libcuda finds no GPU that works: RM calls fail, which is the trigger.
snapshot_of_failure()
{
	local n
	n=$(grep -c ': snapshot in ' recorder.err)
	cuinit >/dev/null 2>&1
	wait_for recorder.err ': snapshot in ' $((n + 1))
}
# Until service-stop is there: a line of metrics.txt for each answer, with how many figures it had.
scrape()
{
	local line status figures
	while ! [ -e service-stop ]; do
		exec 3<>/dev/tcp/127.0.0.1/9464 || { echo refused; sleep 1; continue; }
		printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
		status='' figures=0
		while IFS= read -r line <&3; do
			[ -n "$status" ] || status=${line%$'\r'}
			case $line in cudatrace_*) figures=$((figures + 1)) ;; esac
		done
		exec 3>&-
		echo "$status $figures"
		sleep 1
	done >metrics.txt
}

/mnt/build/tests/load loopback
rm -f service-stop
start_recorder
ok $? "the recorder of the service starts" || cat recorder.err
cudatrace metrics >metrics.log 2>&1 & metrics=$!
wait_until eval '(: <>/dev/tcp/127.0.0.1/9464) 2>/dev/null'
ok $? "metrics are served"
scrape & scraper=$!
while ! [ -e service-stop ]; do
	/mnt/build/tests/load load 2000
	sleep 0.2
done >/dev/null 2>&1 & load=$!

until_seconds=$((SECONDS + $([ -e $share/long ] && echo 1800 || echo 0)))
rounds=0 bad=0
while [ $rounds -lt 3 ] || [ $SECONDS -lt $until_seconds ]; do
	rounds=$((rounds + 1))
	snapshot_of_failure || bad=$((bad + 1))
	case $((rounds % 3)) in
	1)	# The driver goes and comes.
		unload-driver && load-driver || bad=$((bad + 1))
		;;
	2)	# Killed, with whatever it runs just now; systemd starts another one.
		made
		kill -KILL -- -$recorder
		wait $recorder 2>/dev/null
		start_recorder || bad=$((bad + 1))
		;;
	esac
	[ "$(du -sm "$recorded" 2>/dev/null | cut -f 1)" -le 60 ] && [ "$(ls -d "$recorded"/2* 2>/dev/null | wc -l)" -le 2 ] || bad=$((bad + 1))
done
is $bad 0 "$rounds failures leave a snapshot each, also when the driver was loaded again and the recorder was killed, within the disk that it may take" || cat recorder.err
made
is "$snapshots" $rounds "each once"
for dir in "$recorded"/2*; do
	[ -s "$dir/explain.txt" ] && cudatrace explain "$dir/trace" >explain.txt 2>&1
	ok $? "$(basename "$dir"): explain reads it" || cat explain.txt
	head -c 15 "$dir/page.html" | grep -qi '<!doctype html>'
	ok $? "... and there is a page"
	[ "$(cudatrace export --format jsonl "$dir/trace" | grep -c '"status":"NV_ERR')" -gt 0 ]
	ok $? "... with the calls that failed"
done
touch service-stop
wait $scraper $load
[ "$(wc -l <metrics.txt)" -ge $rounds ]
ok $? "metrics were asked for all the time ($(wc -l <metrics.txt) times)"
is "$(grep -vcE '^HTTP/1.1 200 OK [1-9]' metrics.txt)" 0 "and answered each time" || sort metrics.txt | uniq -c | head
kill $metrics
kill -TERM $recorder
wait $recorder
is $? 0 "the recorder ends when it is told to"
cudatrace session status >/dev/null 2>&1
is $? 1 "and no session is left"
rm -rf "$recorded"
