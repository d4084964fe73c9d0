# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154,SC2086
#
# cudatrace top without DIR: what programs do that are recorded elsewhere, each into its own directory.  Sourced by run.sh.

# The module has the machine's view itself.
no_module() { [ ! -e /dev/cudatrace ] || { skip "$1: there is a module"; return 1; }; }

# start_busy NAME OPTIONS...: record-busy, recorded into $work/trace-NAME with OPTIONS, as $pid, which makes calls that
# fail, in portions: go_on begins the next one; the recorder is $recorder
start_busy()
{
	local name=$1 fifo=$work/$1.fifo
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	exec 7<>"$fifo"
	"$cudatrace" record -q --no-module -f -o "$work/trace-$name" "$@" -- "$PWD/build/tests/record-busy" 1000 wait 5000 wait 700 wait \
		<&7 >"$work/$name.out" 2>"$work/$name.err" &
	recorder=$!
	wait_until grep -q 1000 "$work/$name.out"
	pid=$(pgrep -P $recorder record-busy)
}

go_on() { echo >&7; }

# top_watch [OPTION...]: views into $work/top.views until $watch is ended; $top_nvml: a libnvidia-ml
top_watch()
{
	CUDATRACE_NVML=${top_nvml:-none} "$cudatrace" top --batch --delay 0.3 "$@" >"$work/top.views" 2>"$work/top.err" &
	watch=$!
}

# The newest view that is complete: each ends with an empty line.
top_view() { awk -v RS= '{ before = last; last = $0 } END { print before }' "$work/top.views"; }

# view_has PID PATTERN: its process row, or one of its functions
view_has() { top_view | awk -v pid="$1" '$2 == pid' | grep -qE -- "$2"; }

# view_says PID PATTERN TEXT
view_says()
{
	wait_until view_has "$1" "$2"
	ok $? "top: $3" || top_view
}

view_is_without() { [ -n "$(top_view)" ] && ! view_has "$1" .; }

t_top_elsewhere()
{
	local recorder watch first keep=$work/trace-elsewhere
	no_module "top: recordings elsewhere" || return
	start_busy elsewhere --keep 64M
	export COLUMNS=160
	top_watch
	view_says $pid " 0 +0 +0 B +- into $keep\$" "a program that is recorded by --keep; what it holds from before is not known"
	go_on
	view_says $pid ' 5,000 +0 B +- into' "... calls that failed from then on, of which none is missing, and none is from before"
	view_says $pid ' 5,000 +[^ ]+ +[^ ]+ +[^ ]+ +5,000 .*cuCtxGetDevice$' "... and the function"
	# Another one, that begins while top runs: all of it is known.
	first=$pid keep=$recorder
	exec 8<&7-
	start_busy elsewhere_late
	view_says $pid " 1,000 +0 B +0 B into .*trace-elsewhere_late\$" "a recording that began meanwhile, from its first call on"
	view_says $first ' 5,000 +0 B +- into' "... beside the first one"
	kill $watch
	wait $watch
	# Of the same two: options.
	is "$("$cudatrace" top --batch --views 1 --delay 0.3 --pid $first 2>/dev/null | awk -v a=$first -v b=$pid '{ n[$2 == a]++; n[2] += $2 == b } END { print (n[1] > 0) + 0, n[2] + 0 }')" "1 0" "top --pid: this process alone"
	top_watch --sort failed --filter cuInit
	view_says $pid ' into' "top --sort failed"
	go_on
	wait_until view_has $pid ' 5,000 '
	is "$(top_view | awk -v a=$first -v b=$pid '$2 == a || $2 == b { print $2; exit }')" $pid "... which has the more of them first"
	is "$(top_view | grep -c cuCtxGetDevice)" 0 "top --filter: no other function"
	kill $watch
	wait $watch
	is "$("$cudatrace" top --batch --views 1 --delay 0.3 -n 1 | awk '/ into / { n++ } /^\.\.\. and [1-9]/ { more++ } END { print n + 0, (more > 0) + 0 }')" "1 1" "top -n 1: one process, and how many there are more"
	# It is deleted; it ends.
	top_watch
	view_says $pid ' into' "a view of both"
	rm -rf "$work/trace-elsewhere_late"
	view_says $pid ' - +- +- +- deleted: ' "a directory that was deleted meanwhile"
	view_says $first ' into' "... the other one is followed"
	kill $recorder
	wait $recorder 2>/dev/null
	kill $keep
	wait $keep 2>/dev/null
	wait_until view_is_without $first && view_is_without $pid
	ok $? "programs that have ended are not shown" || top_view
	kill $watch
	wait $watch
	is "$(wc -c <"$work/top.err")" 0 "... and nothing else is said" || cat "$work/top.err"
	exec 7>&- 8>&-
	unset COLUMNS
}

# What NVML says that processes use, also of what was allocated before.
t_top_used()
{
	local recorder watch top_nvml=$PWD/build/tests/sim/nvml/libnvidia-ml.so.1 keep=$work/trace-used other
	no_module "top: what NVML says" || return
	if [ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ]; then
		skip "top: what NVML says: its numbers of processes are not those of this namespace"
		return
	fi
	start_running top_used 2 30
	other=$pid
	start_busy used --keep 64M
	export COLUMNS=160 NVMLSIM_PROCESSES=$work/used.list
	# More than the first question has room for, and what the driver does not know.
	{ seq 100 | sed 's/^/0 9000/; s/$/ 1000/'; printf '0 %s 1073741824\n1 %s 536870912\n1 %s -1\n' $pid $pid $other; } >"$NVMLSIM_PROCESSES"
	top_watch
	view_says $pid " 0 B +- +1\.50 GiB into $keep\$" "what a program uses of all GPUs, where it is not known what it allocated before"
	top_view | grep -qE '^PROCESS +PID +CALLS/s +FAILED +COPIED/s +MEMORY +USED RECORDED$'
	ok $? "... in a column of its own" || top_view
	view_says $other '[0-9] +- no$' "... '-' where the driver does not know"
	printf '0 %s 1048576\n' $pid $other >"$NVMLSIM_PROCESSES"
	view_says $other ' 1\.00 MiB no$' "... also of one that is not recorded, and what is new"
	kill $watch
	wait $watch
	export COLUMNS=80
	top_watch
	view_says $pid ' 0 +0 B +1\.00 MiB into ' "80 columns have what it uses, and not what it allocated"
	is "$(top_view | awk 'length > 80')" "" "... and are not wider" || top_view
	kill $watch
	wait $watch
	top_watch "$keep"
	view_says $pid ' 1,000 +- +- preloaded$' "of a directory they have what the trace says"
	is "$(top_view | grep -c USED)" 0 "... alone" || top_view
	kill $watch
	wait $watch
	CUDATRACE_NVML=$top_nvml NVMLSIM_HANGS=1 COLUMNS=160 timeout -s KILL $hang "$cudatrace" top --batch --views 3 --delay 0.3 >"$work/top.hangs"
	is "$? $(grep -c '^PROCESS.*MEMORY RECORDED' "$work/top.hangs")" "0 3" "a driver that does not answer does not stop top" || cat "$work/top.hangs"
	kill $recorder
	wait $recorder 2>/dev/null
	exec 7>&-
	unset COLUMNS NVMLSIM_PROCESSES
	pid=$other
	ended_well top_used
}

# A program that goes on when its recording ends, and is recorded again.
t_top_attached()
{
	local recorder watch i
	no_module "top: recordings that begin and end" || return
	export COLUMNS=160
	start_running top_attached 2 30
	top_watch --pid $pid
	view_says $pid ' no$' "a program that is not recorded"
	for i in 1 2; do
		"$cudatrace" record -q -f -o "$work/trace-top-$i" --pid $pid 2>"$work/top-$i.said" &
		recorder=$!
		view_says $pid " [1-9][0-9]* +0 +0 B +[0-9.]+ [KMG]?i?B into $work/trace-top-$i, attached\$" "it is attached to, time $i: calls, and what it allocated since"
		kill -TERM $recorder
		wait $recorder
		view_says $pid ' no$' "... and it was left"
	done
	kill $watch
	wait $watch
	unset COLUMNS
	ended_well top_attached
}

# As in each container: its pid is 1 there, and so in its records.
t_top_container()
{
	local outer recorder watch
	no_module "top: a container" || return
	if [ "$(id -u)" != 0 ] || ! unshare -pf --mount-proc true 2>/dev/null; then
		skip "top: a program of another namespace of pids: needs root, and one"
		return
	fi
	export COLUMNS=160
	start_there top_container unshare -pf --mount-proc
	outer=$pid
	pid=$(pgrep -P "$outer")
	"$cudatrace" record -q -f -o "$work/trace-top-container" --pid "$pid" 2>"$work/top.said" &
	recorder=$!
	top_watch
	view_says "$pid" " [1-9][0-9]* +0 +0 B +[^ ]+( [KMG]?i?B)? into .*trace-top-container" "a program that has another pid in its container"
	view_says "$pid" ' cuMemAlloc$' "... and its functions"
	kill $watch
	wait $watch
	kill -TERM $recorder
	wait $recorder
	unset COLUMNS
	kill -TERM "$pid"
	wait "$outer"
}

# A directory that who looks may not read.
t_top_unreadable()
{
	local dir recorder watch user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	no_module "top: a directory that may not be read" || return
	if [ "$(id -u)" != 0 ]; then
		skip "top: a directory that may not be read: needs root"
		return
	fi
	dir=$(mktemp -d) && chmod 777 "$dir"
	cp "$cudatrace" build/libcudatrace.so build/tests/record-running build/tests/sim/libcuda.so.1 "$dir"
	: >"$work/unreadable.out"
	LD_LIBRARY_PATH=$dir "${user[@]}" "$dir/cudatrace" record -q --no-module -o "$dir/trace" -- "$dir/record-running" 2 600 30 >"$work/unreadable.out" 2>"$work/unreadable.err" &
	recorder=$!
	wait_until grep -q ready "$work/unreadable.out"
	pid=$(awk '/ready/ { print $2 }' "$work/unreadable.out")
	chmod 300 "$dir/trace"
	"${user[@]}" env COLUMNS=160 "$dir/cudatrace" top --batch --delay 0.3 --pid "$pid" >"$work/top.views" 2>"$work/top.err" &
	watch=$!
	view_says "$pid" " - +- +- +- not readable: $dir/trace\$" "a directory that may not be read"
	top_view | head -1 | grep -q 'root sees those of other users'
	ok $? "... and that there are processes of other users" || top_view
	chmod 755 "$dir/trace"
	view_says "$pid" " [1-9][0-9]* +0 +0 B +.* into $dir/trace\$" "... it may be read now"
	kill $watch
	wait $watch
	kill -TERM "$pid"
	wait $recorder
	rm -rf "$dir"
}
