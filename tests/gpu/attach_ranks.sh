#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [PORT=N] attach_ranks.sh [OUTDIR [JOB...]]
#
# record --pid of the ranks of a job that runs, on a machine with two GPUs (mesh: four), PyTorch and NCCL: its communicators were
# made before.  Each job is attached to with --gpu, and once more with --gpu --stacks; rank 1 sleeps in each step.
# Prints TAP, and what explain says.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${1:-build/tests/gpu-attach-ranks}
shift
mkdir -p "$out"
. tests/judge.sh
export OMP_NUM_THREADS=4 TORCH_NCCL_ASYNC_ERROR_HANDLING=0
[ $# != 0 ] || set -- ddp fsdp tensor pipeline hang hanging

python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__, "NCCL", torch.cuda.nccl.version(), torch.cuda.device_count(), torch.cuda.get_device_name())' || exit 2

# start NAME RANKS PROGRAM...: torchrun in the background, until its ranks have called libcuda for some seconds; $pids
start()
{
	local name=$1 ranks=$2
	shift 2
	torchrun --nproc-per-node "$ranks" --master-port "${PORT:-29544}" "$@" >"$out/$name.out" 2>"$out/$name.err" & launcher=$!
	for ((i = 0; i < 120; i++)); do
		pids=$(pgrep -P $launcher -f "$1" | paste -sd,)
		[ "$(tr , '\n' <<<"$pids" | wc -l)" = "$ranks" ] && break
		sleep 0.5
	done
	sleep "${SETTLE:-14}"
}
# Also ranks that wait for ever for one that is gone.
stop()
{
	kill -TERM $launcher 2>/dev/null
	wait $launcher 2>/dev/null
	# shellcheck disable=SC2046
	kill -KILL $(tr , ' ' <<<"$pids") 2>/dev/null
}

# said TRACE: the job's verdict in a line
said() { COLUMNS=100 build/cudatrace explain "$out/$1" 2>/dev/null | sed -n '/^  job/,/^  rank/p' | tr -s ' \n' ' '; }

read_job()
{
	for what in ranks collectives_sum; do build/cudatrace report $what "$out/$1"; done >"$out/$1.read" 2>&1
	build/cudatrace explain "$out/$1" >>"$out/$1.read" 2>&1
}

job()
{
	local name=$1 ranks=$2 trace line how
	shift 2
	start "$name" "$ranks" "$@"
	for how in "--gpu" "--gpu --stacks" ""; do
		trace=attached-$name$(tr -d ' -' <<<"$how")
		# shellcheck disable=SC2086
		build/cudatrace record -q -f --no-module -o "$out/$trace" --pid "$pids" --duration 4 $how 2>"$out/$trace.said"
		is $? 0 "$name: its ranks are attached to $how" || cat "$out/$trace.said"
		cat "$out/$trace.said"
		read_job "$trace"
		line=$(said "$trace")
		echo "# $line"
		[[ $line == *"$ranks ranks recorded"*"Rank 1 makes "*" wait for "* || -z $how ]]
		ok $? "$name $how: rank 1 is named"
		grep -q 'ran without a recorded call' "$out/$trace.read"
		is $? 1 "$name $how: each kernel of NCCL has its call"
	done
	kill -0 $launcher 2>/dev/null
	ok $? "$name goes on" || tail -n 5 "$out/$name.err"
	stop
}

# A rank that does not come while it is recorded.
hang()
{
	local line
	start hang 2 tests/gpu/ranks_ddp.py hang 3000
	# Until the one that does not come ends itself.
	build/cudatrace record -q -f --no-module -o "$out/attached-hang" --pid "$pids" --gpu --stacks 2>"$out/attached-hang.said" & recorder=$!
	for ((i = 0; i < 60; i++)); do kill -0 ${pids#*,} 2>/dev/null || break; sleep 1; done
	kill -INT $recorder
	wait $recorder
	ls -l "$out/attached-hang"
	cat "$out/attached-hang.said"
	read_job attached-hang
	line=$(said attached-hang)
	echo "# $line"
	[[ $line == *" was never complete: rank 1 did not call it"* ]]
	ok $? "hang: who did not come is named"
	stop
}

# Attached to when it hangs already: its threads' lines are all that can be seen.
hanging()
{
	SETTLE=20 start hanging 2 tests/gpu/ranks_ddp.py hang 400
	timeout 30 build/cudatrace record -q -f --no-module -o "$out/attached-hanging" --pid "$pids" --stacks --duration 3 2>"$out/attached-hanging.said"
	echo "# status $?"
	cat "$out/attached-hanging.said"
	read_job attached-hanging
	build/cudatrace report lines "$out/attached-hanging" >>"$out/attached-hanging.read" 2>&1
	cat "$out/attached-hanging.read"
	stop
}

for name; do
	case $name in
	ddp) job ddp 2 tests/gpu/ranks_ddp.py sleep 100000 ;;
	mesh) job mesh 4 tests/gpu/ranks_forms.py mesh 100000 sleep ;;
	hang | hanging) "$name" ;;
	*) job "$name" 2 tests/gpu/ranks_forms.py "$name" 100000 sleep ;;
	esac
done
plan
