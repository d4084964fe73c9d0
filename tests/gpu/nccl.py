#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process for each GPU (two ranks need two); NCCL adds up what they hold, 20 times."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(number, size):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.cuda.set_device(number)
    dist.init_process_group("nccl", rank=number, world_size=size)
    x = torch.full((1 << 20,), float(number + 1), device="cuda")
    for _ in range(20):
        dist.all_reduce(x, op=dist.ReduceOp.SUM)
        x /= size
    parts = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(parts, x)
    torch.cuda.synchronize()
    if number == 0:
        print("ranks:", size, "sum:", sum(part.double().sum().item() for part in parts))
    dist.destroy_process_group()


if __name__ == "__main__":
    gpus = torch.cuda.device_count()
    mp.spawn(rank, args=(gpus,), nprocs=gpus)
