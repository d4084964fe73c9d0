#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A rank of PyTorch's DistributedDataParallel, for torchrun.  PROBLEM is none, or what rank 1 has:

sleep     time.sleep(0.03) in each step
loader    its data come 0.03 s late
alloc     frees and allocates 8 GiB of GPU memory in each step, past PyTorch's cache
slow      the same kernels, four times as large matrices in a layer of its own
more      ten more forward passes
hang      it does not come to the all-reduce of the last step, and the job is killed
mismatch  it reduces half as many numbers in the last step, and the job is killed
kill      it is killed before the last step, and 15 s later the job

Prints how many collectives of each kind the program made, and the time of a step.
"""

import os
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

PROBLEM = sys.argv[1] if len(sys.argv) > 1 else "none"
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 20


def extra(late):
    if late and PROBLEM == "alloc":
        torch.cuda.empty_cache()
        block = torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
        del block
        torch.cuda.empty_cache()


def load(late):
    if late and PROBLEM == "loader":
        time.sleep(0.03)
    return torch.randn(64, 1024)


def last(late):
    if PROBLEM == "kill" and late:
        os.kill(os.getpid(), 9)
    if PROBLEM == "mismatch":
        dist.all_reduce(torch.ones((1 << 20) >> late, device="cuda"))
    if not late:
        threading.Timer(15, lambda: os.kill(os.getppid(), 9)).start()


def say(*words):
    """One write: the ranks share a pipe."""
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    rank = dist.get_rank()
    late = rank == 1
    torch.manual_seed(0)
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)]
    model = DistributedDataParallel(torch.nn.Sequential(*layers).cuda(), device_ids=[local])
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    weight = torch.randn(4096, 4096, device="cuda")
    begun = time.perf_counter()
    for step in range(STEPS):
        x = load(late).cuda()
        if late and PROBLEM == "sleep":
            time.sleep(0.03)
        extra(late)
        if late and PROBLEM == "slow":
            for _ in range(20):
                weight = torch.mm(weight, weight).clamp_(-1, 1)
        if late and PROBLEM == "more":
            with torch.no_grad():
                for _ in range(60):
                    model.module(x)
        if late and PROBLEM == "hang" and step == STEPS - 1:
            time.sleep(15)
            os.kill(os.getppid(), 9)
            os._exit(1)
        if step == STEPS - 1 and PROBLEM in ("kill", "mismatch"):
            last(late)
        loss = model(x).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss.item()
    dist.barrier()
    torch.cuda.synchronize()
    say("rank", rank, "problem", PROBLEM, "steps", STEPS,
          "ms a step %.2f" % ((time.perf_counter() - begun) / STEPS * 1e3))
    dist.destroy_process_group()


main()
