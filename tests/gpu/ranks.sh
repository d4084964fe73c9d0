#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: ranks.sh [OUTDIR]
#
# Ranks of a job on a machine with two GPUs, PyTorch and NCCL: records DistributedDataParallel with
# and without a problem of rank 1, and collectives whose counts and bandwidth the program knows.  Wants
# build/ (it may come from another machine: cudatrace, libcudatrace*.so).  Leaves the traces in
# OUTDIR/traces.tar.xz, and what the programs said beside it.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-ranks}
mkdir -p "$out/traces"
export OMP_NUM_THREADS=4 TORCH_NCCL_ASYNC_ERROR_HANDLING=0

python3 -c 'import sys, torch; print("Python", sys.version.split()[0], "PyTorch", torch.__version__, "NCCL", torch.cuda.nccl.version(), torch.cuda.device_count(), torch.cuda.get_device_name())' || exit 2
# record NAME OPTIONS -- PROGRAM...
recorded()
{
	local name=$1
	shift
	timeout 60 build/cudatrace record -q --no-module -f -o "$out/traces/$name" "$@" >"$out/$name.out" 2>"$out/$name.err"
	echo "$name: status $?, $(ls "$out/traces/$name" 2>/dev/null | wc -l) files, $(du -sh "$out/traces/$name" 2>/dev/null | cut -f1)"
	grep -hE '^(rank|all_|send)' "$out/$name.out"
}
ranks="torchrun --nproc-per-node 2 --master-port 29533"

$ranks tests/gpu/ranks_ddp.py none 20 2>/dev/null | grep ^rank
recorded none --gpu -- $ranks tests/gpu/ranks_ddp.py none 20
recorded sleep --gpu --stacks -- $ranks tests/gpu/ranks_ddp.py sleep 20
recorded bandwidth --gpu -- $ranks tests/gpu/ranks_bandwidth.py
recorded slow --gpu -- $ranks tests/gpu/ranks_ddp.py slow 12
recorded alloc --gpu -- $ranks tests/gpu/ranks_ddp.py alloc 12
recorded more --gpu -- $ranks tests/gpu/ranks_ddp.py more 12
recorded loader --gpu -- $ranks tests/gpu/ranks_ddp.py loader 12
recorded hang --gpu -- $ranks tests/gpu/ranks_ddp.py hang 6
recorded host -- $ranks tests/gpu/ranks_ddp.py sleep 12
recorded host_none -- $ranks tests/gpu/ranks_ddp.py none 20
for form in fsdp tensor pipeline; do
	recorded $form --gpu -- $ranks tests/gpu/ranks_forms.py $form 20
	recorded ${form}_sleep --gpu -- $ranks tests/gpu/ranks_forms.py $form 20 sleep
	build/cudatrace diff "$out/traces/$form" "$out/traces/${form}_sleep" >"$out/$form.diff" 2>&1
done
python3 -c 'import jax' 2>/dev/null && recorded jax --gpu -- python3 tests/gpu/ranks_jax.py
for name in none sleep bandwidth hang host host_none fsdp fsdp_sleep tensor tensor_sleep pipeline pipeline_sleep jax; do
	[ -d "$out/traces/$name" ] || continue
	build/cudatrace summarize -f -o "$out/$name.summary" "$out/traces/$name" 2>&1
	for what in ranks collectives_sum; do
		build/cudatrace report $what "$out/traces/$name" >"$out/$name.$what" 2>&1
	done
	build/cudatrace explain "$out/traces/$name" >"$out/$name.explain" 2>&1
done
tar -C "$out" -cJf "$out/traces.tar.xz" traces && rm -r "$out/traces"
ls -l "$out"
