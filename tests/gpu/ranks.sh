#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [RANKS=N] [PORT=N] [TURNS=N] ranks.sh [OUTDIR [JOB...]]
#
# Ranks of a job on a machine with several GPUs, PyTorch and NCCL: records DistributedDataParallel with
# and without a problem of rank 1, collectives whose counts and bandwidth the program knows, and jobs that divide their
# work otherwise.  RANKS: 2, or as many GPUs.  JOB: one of the names below, or `costs`: steps of DDP in turns, bare,
# recorded and with --gpu.  Wants build/ (it may come from another machine: cudatrace, libcudatrace*.so).  Leaves the traces in
# OUTDIR/traces.tar.xz, and what the programs and cudatrace said beside it.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-ranks}
shift
mkdir -p "$out/traces"
export OMP_NUM_THREADS=4 TORCH_NCCL_ASYNC_ERROR_HANDLING=0
size=${RANKS:-2}
ranks="torchrun --nproc-per-node $size --master-port ${PORT:-29533}"

# JOB OPTIONS -- PROGRAM: a line each
jobs='
none            --gpu           tests/gpu/ranks_ddp.py none 20
sleep           --gpu,--stacks  tests/gpu/ranks_ddp.py sleep 20
bandwidth       --gpu           tests/gpu/ranks_bandwidth.py
slow            --gpu           tests/gpu/ranks_ddp.py slow 12
alloc           --gpu           tests/gpu/ranks_ddp.py alloc 12
more            --gpu           tests/gpu/ranks_ddp.py more 12
loader          --gpu           tests/gpu/ranks_ddp.py loader 12
hang            --gpu,--stacks  tests/gpu/ranks_ddp.py hang 6
mismatch        --gpu,--stacks  tests/gpu/ranks_ddp.py mismatch 6
kill            --gpu,--stacks  tests/gpu/ranks_ddp.py kill 6
unrecorded      --gpu           tests/gpu/ranks_ddp.py sleep 12
host            -               tests/gpu/ranks_ddp.py sleep 12
host_none       -               tests/gpu/ranks_ddp.py none 20
fsdp            --gpu           tests/gpu/ranks_forms.py fsdp 20
fsdp_sleep      --gpu           tests/gpu/ranks_forms.py fsdp 20 sleep
tensor          --gpu           tests/gpu/ranks_forms.py tensor 20
tensor_sleep    --gpu           tests/gpu/ranks_forms.py tensor 20 sleep
pipeline        --gpu           tests/gpu/ranks_forms.py pipeline 20
pipeline_sleep  --gpu           tests/gpu/ranks_forms.py pipeline 20 sleep
mesh            --gpu           tests/gpu/ranks_forms.py mesh 20
mesh_sleep      --gpu           tests/gpu/ranks_forms.py mesh 20 sleep
jax             --gpu           tests/gpu/ranks_jax.py
'
[ $# != 0 ] || set -- $(echo "$jobs" | awk '{ print $1 }')

python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__, "NCCL", torch.cuda.nccl.version(), torch.cuda.device_count(), torch.cuda.get_device_name())' || exit 2

# turns: the milliseconds of a step of DDP, the machine's noise beside what recording costs.
turns()
{
	local turn how record
	for turn in $(seq "${TURNS:-3}"); do
		for how in bare plain gpu; do
			record="build/cudatrace record -q --no-module -f -o $out/traces/costs"
			case $how in
			bare) record= ;;
			plain) record="$record --" ;;
			gpu) record="$record --gpu --" ;;
			esac
			# shellcheck disable=SC2086
			echo "costs $turn $how $(timeout 60 $record $ranks tests/gpu/ranks_ddp.py none 300 2>/dev/null | grep '^rank 0')"
		done
	done
	rm -rf "$out/traces/costs"
}

job()
{
	local name=$1 options=$2 begin=$SECONDS launcher=$ranks
	shift 2
	[ "$options" != - ] || options=
	[ "$name" != jax ] || launcher=python3
	# The wrapper takes the library away from rank 1.
	# shellcheck disable=SC2016
	[ "$name" != unrecorded ] || launcher="$ranks --no-python tests/gpu/ranks_unrecorded.sh"
	# shellcheck disable=SC2086
	timeout 60 build/cudatrace record -q --no-module -f -o "$out/traces/$name" ${options//,/ } -- $launcher "$@" >"$out/$name.out" 2>"$out/$name.err"
	echo "$name: status $?, $((SECONDS - begin)) s, $(du -sh "$out/traces/$name" 2>/dev/null | cut -f1)"
	grep -hE '^(rank|all_|send)' "$out/$name.out"
}

read_all()
{
	local name what
	for name; do
		[ -d "$out/traces/$name" ] || continue
		build/cudatrace summarize -f -o "$out/$name.summary" "$out/traces/$name" >"$out/$name.read" 2>&1
		for what in ranks collectives_sum; do
			build/cudatrace report $what "$out/traces/$name"
		done >>"$out/$name.read" 2>&1
		build/cudatrace explain "$out/traces/$name" >>"$out/$name.read" 2>&1
		case $name in
		*_sleep) build/cudatrace diff "$out/traces/${name%_sleep}" "$out/traces/$name" >"$out/$name.diff" 2>&1 ;;
		esac
	done
}

for name; do
	[ "$name" != costs ] || { turns; continue; }
	row=$(echo "$jobs" | awk -v n="$name" '$1 == n')
	[ "$row" ] || { echo "no job $name"; continue; }
	# shellcheck disable=SC2086
	job $row
done
read_all "$@"
tar -C "$out" -cJf "$out/traces.tar.xz" traces && rm -r "$out/traces"
ls -l "$out"
