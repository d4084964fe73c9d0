#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cudatrace record on this machine, without the module: the whole way once, what
# users type on its output, and what they type wrong.  The GPU is simulated.
# Prints TAP.
set -u
cd "$(dirname "$0")/../.."
. tests/judge.sh
. tests/judge_trace.sh
. tests/pick.sh
choose_parts "inference machine report becomes unseen status orphan options sanitizers handover late killed orphaned restless many
	ending full_disk file_limit liar problems refused gpu gpu_transfers gpu_options gpu_nodes gpu_capture gpu_clock gpu_times gpu_numbers
	gpu_threads gpu_late gpu_lost gpu_full gpu_limit gpu_company gpu_missing gpu_device gpu_processes gpu_exit gpu_exec gpu_blocked gpu_inside gpu_meets gpu_hardware gpu_names gpu_absent metrics metrics_clocks metrics_elsewhere metrics_absent attach attach_thread attach_exec attach_gpu attach_killed attach_deserted attach_ends attach_paused attach_refused standby standby_off standby_killed standby_window ways_doctor chosen capture capture_running capture_iterations slow_iteration standby_forked attach_cycles attach_moments attach_uprobes attach_late attach_shot attach_root attach_pids attach_filtered attach_user attach_musl attach_real_musl in_session in_session_idle in_session_buffers in_session_standby in_session_refused top_keys top_programs top_elsewhere top_used top_attached top_container top_unreadable pack
	keep_size keep_long keep_torn keep_storm keep_week keep_full keep_gone keep_names names_full keep_copies keep_on keep_started keep_stranger keep_started_part ${CT_TEST_LONG:+keep_most} keep_unread keep_killed keep_overtaken keep_attached
	attach_taken_over attach_both_paused attach_both attach_undone attach_builds attach_builds_both attach_guard_killed
	in_session_options in_session_all session_options session_who session_names
	stacks stacks_interpreters stacks_embedded stacks_debian stacks_free_threaded stacks_held stacks_none stacks_hang stacks_explain
	stacks_sampled stacks_moment stacks_tail stacks_waits stacks_many stacks_startup stacks_startup_forked stacks_startup_started stacks_sample_options stacks_refused stacks_unreadable stacks_killed stacks_memory stacks_exports stacks_parquet stacks_folded
	stacks_attached stacks_quiet stacks_native stacks_graphs stacks_graph_nodes stacks_graph_nodes_native stacks_idle stacks_threads gil gil_debian gil_free_threaded gil_reports stacks_problems stacks_sanitized stacks_sampler_sanitized ranks ranks_late ranks_why ranks_hang ranks_stuck ranks_one ranks_many ranks_shapes ranks_making ranks_groups ranks_inside ranks_uncovered ranks_attached ranks_attached_hang ranks_real" "$@"
work=$PWD/build/tests/record
rm -rf "$work"
mkdir -p "$work"
cudatrace=$PWD/build/cudatrace
export LD_LIBRARY_PATH=$PWD/build/tests/sim
inference=$PWD/build/examples/inference

# The trace that most of the tests look at.
"$inference" --iterations 30 >"$work/bare.out"
"$cudatrace" record --no-module -o "$work/trace-inference" -- "$inference" --iterations 30 >"$work/traced.out" 2>"$work/traced.err"
recorded=$?
j=$work/trace-inference.jsonl

# What a trace says of where it was made, and of its threads.
t_machine()
{
	local dir=$work/trace-machine db=$work/machine.sqlite name
	CUDA_VISIBLE_DEVICES=0 CUDA_MODULE_LOADING=LAZY "$cudatrace" record --no-module -o "$dir" -- "$inference" --iterations 3 >/dev/null 2>&1
	name=$(grep -a '^info device_name ' "$dir/.registry" | head -1 | cut -d' ' -f3-)
	[ -n "$name" ] && grep -qaE '^info cuda [0-9]+\.[0-9]+$' "$dir/.registry"
	ok $? "the device's name and CUDA's version, as the program asked for them ($name)"
	grep -qaE '^info thread_name ([0-9]+)%20\1%20inference$' "$dir/.registry"
	ok $? "the main thread's name"
	"$cudatrace" report "$dir" 2>/dev/null >"$work/machine.txt"
	grep -qE '^versions  .*CUDA [0-9]+\.[0-9]+' "$work/machine.txt" && grep -q '^GPU       ' "$work/machine.txt" &&
		grep -q '^with .*CUDA_VISIBLE_DEVICES=0, CUDA_MODULE_LOADING=LAZY' "$work/machine.txt"
	ok $? "the summary says it" || head -12 "$work/machine.txt"
	"$cudatrace" export "$dir" 2>/dev/null | head -1 >"$work/machine.jsonl"
	jq -e '.type == "tracer" and .name == "machine" and .details.gpus[0].device == 0 and (.details.env | index("CUDA_VISIBLE_DEVICES=0")) and
		any(.details.threads[]; .name == "inference" and .pid == .tid)' "$work/machine.jsonl" >/dev/null
	ok $? "so does the first line of JSON Lines" || cat "$work/machine.jsonl"
	if command -v sqlite3 >/dev/null && "$cudatrace" export --format sqlite -o "$db" "$dir" 2>/dev/null; then
		is "$(sqlite3 "$db" "SELECT id, cuDevice, name != '' FROM TARGET_INFO_GPU WHERE cuDevice = 0")" "0|0|1" "and SQLite's table of GPUs"
		is "$(sqlite3 "$db" "SELECT DISTINCT value FROM ThreadNames JOIN StringIds ON StringIds.id = nameId")" inference "and that of threads"
	else
		skip "SQLite: sqlite3 is missing, or the format is left out"
	fi
	# diff begins with what differs.
	CUDA_VISIBLE_DEVICES=0 "$cudatrace" record --no-module -o "$dir-2" -- "$inference" --iterations 3 >/dev/null 2>&1
	"$cudatrace" diff "$dir" "$dir-2" 2>/dev/null >"$work/machine.diff"
	is "$(sed -n 1p "$work/machine.diff" | cut -d: -f1) $(sed -n 3p "$work/machine.diff" | tr -s ' ')" \
		"MACHINE AND VERSIONS  CUDA_MODULE_LOADING LAZY (not set)" "diff begins with it" || head -5 "$work/machine.diff"
	"$cudatrace" diff "$dir" "$dir" 2>/dev/null | head -1 | grep -q '^WALL TIME'
	ok $? "and not where nothing differs"
}

# The main job.
t_inference()
{
	is $recorded 0 "an inference program is recorded"
	cmp -s "$work/bare.out" "$work/traced.out"
	ok $? "its output is what it was"
	grep -q 'without the module' "$work/traced.err"
	ok $? "record says which way it takes"
	grep -qi 'simulated gpu' "$work/traced.err"
	ok $? "the summary says that the GPU is simulated"
	judge_trace "$work/trace-inference" inference

	# The program's own figures: 30 tokens and one by graph, each of four launches; 64, 128 and 10 neurons.
	is "$(cat "$j" | grep '^{' | jq 'select(.type=="kernel" and .op=="launch")' | jq -s length)" $((31 * 4)) "jq counts each launch once"
	is "$(jq 'select(.name=="cuStreamSynchronize" and .duration_us > 0) | .ts' "$j" | wc -l)" 31 "synchronisations have their durations"
	is "$(jq -s '[.[] | select(.type=="memory" and .op=="alloc") | .size] | add' "$j")" \
		$((4 * (64 * 128 + 128 * 10 + 128 + 10 + 64 + 128 + 10) + 4 * (64 + 10))) "memory allocated"
	jq -e -s 'any(.[]; .type=="transfer" and .direction=="H2D" and .size>0) and any(.[]; .type=="transfer" and .direction=="D2H")' "$j" >/dev/null
	ok $? "transfers have direction and size"
	jq -e -s '[.[] | select(.type=="kernel" and .op=="launch" and .phase!="B")] | length > 0 and all(.[]; .threads > 0 and (.kernel|length) > 0)' "$j" >/dev/null
	ok $? "launches have threads and their kernel's name"
	jq -e -s '[.[] | select(.phase=="B" and .layer=="user")] | length > 0 and all(.[]; .type=="userspace")' "$j" >/dev/null
	ok $? "a B has type userspace"
	jq -e -s 'any(.[]; .name=="cuMemAlloc" and .symbol=="cuMemAlloc_v2")' "$j" >/dev/null
	ok $? "names as users know them, symbols as exported"
	"$cudatrace" export --format chrome -o "$work/trace.json" "$work/trace-inference" && jq -e '(.traceEvents // .) | length > 100' "$work/trace.json" >/dev/null
	ok $? "the Chrome export is JSON"
	"$cudatrace" timeline "$work/trace-inference" >"$work/timeline.txt" && grep -q 'memory' "$work/timeline.txt"
	ok $? "a timeline"
	[ "$(COLUMNS=70 "$cudatrace" timeline "$work/trace-inference" | awk '{ if (length($0) > m) m = length($0) } END { print m }')" -le 70 ]
	ok $? "that fits the width"
	for word in 'API calls' 'kernel launches' 'memory allocations' transfers 'lost records' 'verdict .*limited by'; do
		"$cudatrace" report "$work/trace-inference" | tr '\n' ' ' | grep -q "$word"
		ok $? "the report has: $word"
	done
}

# What the report says of this program, and what it leaves out.
t_report()
{
	"$cudatrace" report "$work/trace-inference" | grep -E '^  (ioctl|scheduler)| 0 ns|Percentiles' >"$work/zeros"
	is $? 1 "the report has no rows of zeros" || cat "$work/zeros"
}

# A launcher that calls libcuda and becomes the program (exec), with the same pid.
t_becomes()
{
	local dir=$work/trace-becomes
	if ! command -v python3 >/dev/null; then
		skip "a program that becomes another one: python3 is missing"
		return
	fi
	"$cudatrace" record -q --no-module -o "$dir" -- bash -c 'exec python3 -c "
import ctypes, os, sys
ctypes.CDLL(sys.argv[1]).cuInit(0)
os.execv(sys.argv[2], sys.argv[2:])" "$@"' - "$LD_LIBRARY_PATH/libcuda.so.1" "$inference" --iterations 30 >/dev/null 2>&1
	"$cudatrace" explain "$dir" >"$work/becomes.explain" 2>/dev/null
	"$cudatrace" report "$dir" >"$work/becomes.report" 2>/dev/null
	is "$(grep -cE '^  inference \([0-9]+\)$' "$work/becomes.explain") $(grep -cE '^  Gave the GPU no work: python3[0-9.]* \([0-9]+\)$' "$work/becomes.explain")" "1 1" \
		"a program that became another one: each has its own name" || cat "$work/becomes.explain"
	grep -qE '^STAGES of inference ' "$work/becomes.report" && grep -qE '^ +(29|30) iterations' "$work/becomes.report" &&
		grep -qE '^  steady ' "$work/becomes.report"
	ok $? "... and its own stages" || cat "$work/becomes.report"
}

# A launcher that takes LD_PRELOAD away, and one that leaves it.
t_unseen()
{
	"$cudatrace" record --no-module -o "$work/trace-ls" -- /bin/ls / >/dev/null 2>"$work/ls.err"
	is "$?$(grep -c '^No process loaded libcuda.so' "$work/ls.err")$(grep -c 'No call was recorded' "$work/ls.err")" 010 \
		"a program without libcuda: the summary says so" || cat "$work/ls.err"
	# On a machine with the driver only who has it open can have called CUDA, says record.
	local driver=/dev/nvidiactl
	[ -r $driver ] || driver=/dev/null
	# Each runs for as long as the recorder needs to see it, all at the same time.
	"$cudatrace" record --no-module -o "$work/trace-unseen" -- sh -c '
		env LD_PRELOAD="$1" sleep 5
		"$0" --iterations 3' "$inference" "$LD_LIBRARY_PATH/libcuda.so.1" 9<$driver >/dev/null 2>"$work/unseen.err" &
	"$cudatrace" record --no-module --inject -o "$work/trace-refused" -- env LD_PRELOAD="$LD_LIBRARY_PATH/libcuda.so.1" \
		sleep 5 9<$driver >/dev/null 2>"$work/refused.err" &
	# Nothing of this one comes through the library, as if another one stood before it.
	"$cudatrace" record --no-module -o "$work/trace-loaded" -- sh -c '
		LD_PRELOAD=$LD_PRELOAD:$1 sleep 5
		"$0" --iterations 3' "$inference" "$LD_LIBRARY_PATH/libcuda.so.1" 9<$driver >/dev/null 2>"$work/loaded.err" &
	# In a namespace of its own it is out of sight: LD_PRELOAD would not help.
	echo 'int plugged;' | cc -x c -fPIC -shared -o "$work/namespaced.so" - -x none -Wl,--no-as-needed "$LD_LIBRARY_PATH/libcuda.so.1"
	cc -w -D_GNU_SOURCE -x c -o "$work/namespaced" - -ldl <<-'EOF'
	#include <dlfcn.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		return dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) ? sleep(5) : 1;
	}
	EOF
	"$cudatrace" record --no-module -o "$work/trace-namespaced" -- sh -c '
		"$1" "$2"
		"$0" --iterations 3' "$inference" "$work/namespaced" "$work/namespaced.so" 9<$driver >/dev/null 2>"$work/namespaced.err" &
	wait
	is "$(grep -c '^  not recorded: CUDA calls of sleep ([0-9]*), which ran without LD_PRELOAD$' "$work/unseen.err")" 1 \
		"a process that uses libcuda without LD_PRELOAD is named" || cat "$work/unseen.err"
	tr -s '\n ' ' ' <"$work/unseen.err" | grep -q ' do: .*LAUNCHER cudatrace record PROGRAM'
	ok $? "and what to do"
	is "$("$cudatrace" report "$work/trace-unseen" | grep -c 'not recorded')" 1 "in the report, too"
	is "$(grep -c '^  not recorded: CUDA calls of sleep ([0-9]*), whose libcuda did not load' "$work/refused.err")" 1 \
		"... and one whose libcuda did not load the library that --inject names" || cat "$work/refused.err"
	is "$(grep -c '^  not recorded: CUDA calls of sleep ([0-9]*), if it made any: libcuda was loaded' "$work/loaded.err")$(
		grep -c '^  not recorded' "$work/loaded.err")" 11 "... and one that has both, and whose calls do not come" ||
		cat "$work/loaded.err"
	tr -s '\n ' ' ' <"$work/loaded.err" | grep -q ' do: put libcudatrace.so first in LD_PRELOAD'
	ok $? "... and what to do"
	is "$(grep -c '^  not recorded: CUDA calls of namespaced ([0-9]*), if it made any: it' "$work/namespaced.err")$(
		grep -c '^  not recorded' "$work/namespaced.err")" 11 "... and one that has libcuda in a namespace of its own" ||
		cat "$work/namespaced.err"
	tr -s '\n ' ' ' <"$work/namespaced.err" | grep -q ' it used dlmopen(), .* do: load libcuda, and what is linked to it, by dlopen()'
	ok $? "... and what to do"
	# Launches, and nothing of what must have come before them.
	cc -w -x c -o "$work/launches" - -ldl <<-'EOF'
	#include <dlfcn.h>
	int main(void)
	{
		int (*launch)() = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");

		launch(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
		return 0;
	}
	EOF
	"$cudatrace" record --no-module -o "$work/trace-launches" -- "$work/launches" 2>"$work/launches.err"
	is "$(grep -c '^  not recorded: most CUDA calls of process [0-9]*: it launches kernels' "$work/launches.err")" 1 \
		"a process that launches kernels and prepares nothing is named" || cat "$work/launches.err"
	! grep '^  not recorded' "$work/traced.err"
	ok $? "what is recorded is not named"
}

# What the program may do.
t_status()
{
	"$cudatrace" record -q --no-module -o "$work/trace-37" -- sh -c 'exit 37' 2>/dev/null
	is $? 37 "the program's status is returned"
	# What record fails at itself is told from what the program says.
	local status wrong= dir=$work/trace-removed
	for status in 0 37; do
		rm -rf "$dir"
		"$cudatrace" record -q --no-module -o "$dir" -- sh -c "rm -r '$dir'; exit $status" 2>"$work/status.err"
		wrong+="$status $? $(grep -c 'was removed while it was recorded' "$work/status.err") $(grep -c 'the program succeeded, but its recording failed: so the status is 125$' "$work/status.err")|"
		"$cudatrace" record -q --no-module -o "$dir" --delay 0.1 -- sh -c "sleep 0.3; rm -r '$dir'; exit $status" 2>/dev/null
		wrong+="$?|"
	done
	is "$wrong" "0 125 1 1|125|37 37 1 0|37|" "where a trace can't be finished, a program that succeeded leaves 125, and another one its status"
	"$cudatrace" record -q --no-module -o "$work/trace-37" -- true 2>/dev/null
	is $? 125 "125: nothing was recorded"
	"$cudatrace" record -q --no-module -o "$dir" -- /does/not/exist 2>/dev/null
	is $? 127 "127: there is no such program"
	"$cudatrace" record -q --no-module -o "$dir" -- /etc/passwd 2>/dev/null
	is $? 126 "126: it can't be run"
	"$cudatrace" record -q --no-module -o "$dir" --pid 4194000 2>/dev/null
	is $? 1 "1: there is no program whose status it could be"
	"$cudatrace" record -q --no-module -o "$work/trace-sig" -- sh -c 'kill -TERM $$' 2>/dev/null
	is $? 143 "a signal that ends it is returned as a shell does"
	"$cudatrace" record -q --no-module -o "$work/trace-forward" -- sh -c 'trap "exit 9" TERM; echo ready >'"$work"'/ready; while :; do sleep 0.05; done' 2>/dev/null & pid=$!
	wait_until [ -e "$work/ready" ]
	kill -TERM $pid
	wait $pid
	is $? 9 "a signal sent to record reaches the program"
	timeout -s KILL $hang env --ignore-signal=CHLD "$cudatrace" record -q --no-module -o "$work/trace-chld" -- sh -c 'exit 37' 2>/dev/null
	is $? 37 "where SIGCHLD is ignored, the status is still the program's"
	timeout -s KILL $hang env --ignore-signal=CHLD "$cudatrace" record -q --no-module -f -o "$work/trace-chld" -- grep SigIgn /proc/self/status >"$work/sigign" 2>/dev/null
	is $(($((16#$(cut -f 2 "$work/sigign"))) >> 16 & 1)) 1 "and the program ignores it as it would have"
	CUDASIM_TIME_SCALE=1 "$cudatrace" record -q --no-module -o "$work/trace-killed" -- sh -c '
		"$0" --verbose --iterations 100000 2>"$1" &
		until [ "$(grep -c token "$1")" -ge 20 ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		kill -KILL $!
		wait' "$inference" "$work/tokens" >/dev/null 2>&1
	"$cudatrace" export --format jsonl -o "$work/killed.jsonl" "$work/trace-killed"
	[ "$(jq -s '[.[] | select(.op=="launch" and .phase=="E")] | length' "$work/killed.jsonl")" -gt 50 ]
	ok $? "SIGKILL loses nothing that was recorded"
	babeltrace2 "$work/trace-killed" >/dev/null 2>"$work/killed.err" && [ ! -s "$work/killed.err" ]
	ok $? "and babeltrace2 reads it"
}

# A descendant that outlives the program, and calls on.
t_orphan()
{
	CUDASIM_TIME_SCALE=1 "$cudatrace" record -q --no-module -o "$work/trace-orphan" -- sh -c '
		"$0" --verbose --iterations 1000000 >/dev/null 2>"$1" &
		echo $! >"$1.pid"
		until [ "$(grep -c token "$1")" -ge 20 ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		exit 7' "$inference" "$work/orphan" >/dev/null 2>"$work/orphan.err"
	is "$?$(grep -c 'still run and are still recorded' "$work/orphan.err")" 71 "a descendant that outlives the program is told, the status is the program's"
	[ ! -e "$work/trace-orphan/metadata" ] && ls "$work"/trace-orphan/.open-* >/dev/null 2>&1
	ok $? "its trace is left open"
	"$cudatrace" record -q -f --no-module -o "$work/trace-orphan" -- true 2>"$work/refuse.err"
	is "$?$(grep -c 'still being recorded' "$work/refuse.err")" 1251 "and not replaced"
	before=$(grep -c token "$work/orphan")
	until [ "$(grep -c token "$work/orphan")" -ge $((before + 20)) ]; do sleep 0.05; done
	kill -KILL "$(cat "$work/orphan.pid")"
	wait_until eval '"$cudatrace" report "$work/trace-orphan" >/dev/null 2>&1; [ -e "$work/trace-orphan/metadata" ]'
	tokens=$(grep -c token "$work/orphan")
	"$cudatrace" export --format jsonl -o "$work/orphan.jsonl" "$work/trace-orphan" 2>/dev/null
	[ $? = 0 ] && [ -e "$work/trace-orphan/metadata" ] && [ "$(jq -s '[.[] | select(.op=="launch" and .phase=="E")] | length' "$work/orphan.jsonl")" -ge $((4 * (tokens - 1))) ]
	ok $? "once it ended, the trace has all of it ($tokens tokens)"
	babeltrace2 "$work/trace-orphan" >/dev/null 2>"$work/orphan.bt" && [ ! -s "$work/orphan.bt" ]
	ok $? "and babeltrace2 reads that"
}

. tests/record/ways.sh
. tests/record/handover.sh
. tests/record/problems.sh
. tests/record/gpu.sh
. tests/record/metrics.sh
. tests/record/ranks.sh
. tests/record/ranks_attached.sh
. tests/record/attach.sh
. tests/record/standby.sh
. tests/record/session.sh
. tests/record/capture.sh
. tests/record/pack.sh
. tests/record/cycles.sh
. tests/record/builds.sh
. tests/record/elsewhere.sh
. tests/record/chosen.sh
. tests/record/keep.sh
. tests/record/top.sh
. tests/record/top_elsewhere.sh
. tests/record/stacks.sh
. tests/record/gil.sh
. tests/export/html.sh
. tests/export/parquet.sh

# refuse STATUS-IS-NOT-0 PATTERN COMMAND...: one clear line, and a status.
refuse()
{
	local text=$1 pattern=$2
	shift 2
	"$@" >"$work/refuse.out" 2>"$work/refuse.err"
	[ $? -ne 0 ] && grep -qiE -- "$pattern" "$work/refuse.err"
	ok $? "refused: $text" || cat "$work/refuse.err"
}

# What users type wrong.
t_refused()
{
	local n jobs=()
	[ -e "$work/trace-37" ] || "$cudatrace" record -q --no-module -o "$work/trace-37" -- true 2>/dev/null
	[ -e "$j" ] || "$cudatrace" export -o "$j" "$work/trace-inference"
	refuse "no command to record" 'no program' "$cudatrace" record
	refuse "a command that is not there" 'No such file' "$cudatrace" record --no-module -o "$work/none" -- /does/not/exist
	[ ! -e "$work/none" ]
	ok $? "and leaves no directory behind"
	refuse "a DIR that exists" 'exists already.*-f' "$cudatrace" record --no-module -o "$work/trace-37" -- true
	# As the ranks of a job: each has a directory of its own.
	mkdir "$work/ranks"
	for n in 1 2 3 4; do
		(cd "$work/ranks" && exec "$cudatrace" record -q --no-module -- true) 2>/dev/null &
		jobs[n]=$!
	done
	wait "${jobs[@]}"
	is "$(find "$work/ranks" -name metadata | wc -l)" 4 "four recordings that begin at once, without -o"
	mkdir "$work/foreign"
	touch "$work/foreign/letter.txt"
	refuse "a directory that is no trace, even with -f" 'no trace' "$cudatrace" record -f --no-module -o "$work/foreign" -- true
	[ -e "$work/foreign/letter.txt" ]
	ok $? "and its files are kept"
	mkdir "$work/fleet"
	touch "$work/fleet/metadata" "$work/fleet/state" "$work/fleet/u-boat" "$work/fleet/k-2"
	refuse "nor one whose files have the names of a trace's" 'no trace' "$cudatrace" record -f --no-module -o "$work/fleet" -- true
	is "$(ls "$work/fleet" | wc -l)" 4 "whose files are kept too"
	cp -r "$work/trace-37" "$work/mixed"
	touch "$work/mixed/u-boat"
	before=$(ls -A "$work/mixed" | paste -sd,)
	refuse "a trace with a file of somebody" 'u-boat is no file of a trace' "$cudatrace" record -f --no-module -o "$work/mixed" -- true
	is "$(ls -A "$work/mixed" | paste -sd,)" "$before" "of which nothing is removed"
	"$cudatrace" record -q --no-module -o "$work/busy" -- sh -c 'echo >"$0"; while [ -e "$0" ]; do sleep 0.05; done' "$work/busy.go" 2>/dev/null & busy=$!
	wait_until [ -e "$work/busy.go" ]
	refuse "a trace that is being recorded" 'busy is still being recorded' "$cudatrace" record -f --no-module -o "$work/busy" -- true
	rm "$work/busy.go"
	wait $busy
	[ -e "$work/busy/metadata" ]
	ok $? "which goes on, and is finished"
	"$cudatrace" record -q -f --no-module -o "$work/busy" -- true 2>/dev/null
	ok $? "and is replaced then"
	refuse "report of a foreign directory" 'foreign|no trace|not a trace' "$cudatrace" report "$work/foreign"
	refuse "report of nothing" 'No such' "$cudatrace" report "$work/nowhere"
	cp -r "$work/trace-inference" "$work/cut"
	truncate -s 5000 "$work"/cut/u-*
	"$cudatrace" report "$work/cut" >"$work/cut.out" 2>"$work/cut.err"
	is "$?$(grep -cE 'u-[0-9]+-[0-9]+: offset [0-9]+: .*left out [0-9]+ damaged packet' "$work/cut.err" | sed 's/^[1-9].*/some/')" 0some \
		"a truncated packet is left out, and told" || cat "$work/cut.err"
	refuse "an unknown command" "unknown|no command|not a" "$cudatrace" frobnicate
	refuse "an export over an existing file" 'exists|already' "$cudatrace" export --format jsonl -o "$j" "$work/trace-inference"
	refuse "an unknown format" 'format' "$cudatrace" export --format xml "$work/trace-inference"
	[ -e /dev/cudatrace ] ||
		refuse "a session without the module, and what there is instead" 'module is not loaded.*record --keep is a flight recorder' "$cudatrace" session start
	refuse "an unknown probe group" 'group' "$cudatrace" record --groups nonsense -- true
	refuse "the module's options without it" 'are of the module, which is not used with --no-module' "$cudatrace" record --no-module --groups ioctl -- true
	refuse "... and where it is not used" 'are of the module, which is not used with --delay' "$cudatrace" record --delay 1 --ring-size 4M -- true
	refuse "--no-queries that are timed" 'give --time-queries or --no-queries' "$cudatrace" record --time-queries --no-queries -- true
	refuse "no process" 'pid: give process numbers' "$cudatrace" record --pid ''
	refuse "a process and all" 'give --pid or --all' "$cudatrace" record --pid 1 --all
	refuse "a program that is not there" 'there is no such program' sh -c '"$1" doctor /does/not/exist >&2' sh "$cudatrace"
}

run_parts
plan
