#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A rank of a job that divides its work otherwise than DistributedDataParallel, for torchrun: FORM STEPS [PROBLEM].

fsdp      fully_shard of eight blocks: all-gathers before, reduce-scatters behind each
tensor    inference of eight blocks whose matrices are divided: an all-reduce behind each
pipeline  rank 0 computes, sends to 1, which computes on; four micro-batches a step
mesh      tensor parallel in pairs of ranks, and a pipeline over the pairs: communicators by ncclCommSplit

PROBLEM sleep: rank 1 sleeps 0.03 s in each step.  Prints the collectives that the program makes itself, and the
time of a step.
"""

import os
import sys
import time

import torch
import torch.distributed as dist

FORM, STEPS = sys.argv[1], int(sys.argv[2])
PROBLEM = sys.argv[3] if len(sys.argv) > 3 else "none"
BLOCKS, WIDTH, MICRO = 8, 2048, 4


class Block(torch.nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, hidden, bias=False)
        self.down = torch.nn.Linear(hidden, WIDTH, bias=False)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


def fsdp(size):
    from torch.distributed.fsdp import fully_shard
    model = torch.nn.Sequential(*[Block(4 * WIDTH) for _ in range(BLOCKS)]).cuda()
    for block in model:
        fully_shard(block)
    fully_shard(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step():
        loss = model(torch.randn(32, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        loss.item()
    return step, "all_gathers and reduce_scatters as FSDP makes them"


def tensor(size):
    model = torch.nn.ModuleList([Block(4 * WIDTH // size) for _ in range(BLOCKS)]).cuda()

    @torch.no_grad()
    def step():
        x = torch.randn(32, WIDTH, device="cuda")
        for block in model:
            part = block.down(torch.nn.functional.gelu(block.up(x)))
            dist.all_reduce(part)
            x = x + part
        x.sum().item()
    return step, "all_reduce count %d" % (BLOCKS * STEPS)


def pipeline(size):
    rank = dist.get_rank()
    model = torch.nn.Sequential(*[Block(4 * WIDTH) for _ in range(BLOCKS // size)]).cuda()

    @torch.no_grad()
    def step():
        for _ in range(MICRO):
            x = torch.randn(64, WIDTH, device="cuda")
            if rank:
                dist.recv(x, rank - 1)
            x = model(x)
            if rank < size - 1:
                dist.send(x, rank + 1)
        torch.cuda.synchronize()
    return step, "send count %d of %d bytes" % (MICRO * STEPS * (size - 1), 64 * WIDTH * 4)


def mesh(size):
    from torch.distributed.device_mesh import init_device_mesh
    groups = init_device_mesh("cuda", (size // 2, 2), mesh_dim_names=("stage", "part"))
    stage, parts, stages = groups.get_local_rank("stage"), groups.get_group("part"), groups.get_group("stage")
    rank = dist.get_rank()
    blocks = torch.nn.ModuleList([Block(2 * WIDTH) for _ in range(BLOCKS // (size // 2))]).cuda()

    @torch.no_grad()
    def step():
        for _ in range(MICRO):
            x = torch.randn(64, WIDTH, device="cuda")
            if stage:
                dist.recv(x, rank - 2, group=stages)
            for block in blocks:
                part = block.down(torch.nn.functional.gelu(block.up(x)))
                dist.all_reduce(part, group=parts)
                x = x + part
            if stage < size // 2 - 1:
                dist.send(x, rank + 2, group=stages)
        torch.cuda.synchronize()
    return step, "all_reduce count %d of each pair, send count %d of each column" % (MICRO * len(blocks) * STEPS, MICRO * STEPS)


def say(*words):
    """One write: the ranks share a pipe."""
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    rank = dist.get_rank()
    torch.manual_seed(0)
    step, made = {"fsdp": fsdp, "tensor": tensor, "pipeline": pipeline, "mesh": mesh}[FORM](dist.get_world_size())
    begun = time.perf_counter()
    for _ in range(STEPS):
        if rank == 1 and PROBLEM == "sleep":
            time.sleep(0.03)
        step()
    torch.cuda.synchronize()
    say("rank", rank, FORM, "problem", PROBLEM, "steps", STEPS,
          "ms a step %.2f" % ((time.perf_counter() - begun) / STEPS * 1e3), made)
    dist.barrier()
    dist.destroy_process_group()


main()
