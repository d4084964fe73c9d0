#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""All-reduces of 1 KiB to 256 MiB, an all-gather and a pipeline of sends and receives, for torchrun.

Prints for each size how many were made and the bus bandwidth that the program measures itself, as
nccl-tests do: by CUDA events around calls one after the other.
"""

import os

import torch
import torch.distributed as dist

COUNT = 20


def measured(call):
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(COUNT):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / COUNT * 1e-3


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    rank, size = dist.get_rank(), dist.get_world_size()
    n = 1 << 10
    while n <= 256 << 20:
        x = torch.ones(n // 4, device="cuda")
        seconds = measured(lambda: dist.all_reduce(x))
        if not rank:
            print("all_reduce bytes", n, "count", COUNT + 2, "busbw GB/s %.3f us %.2f" %
                  (n / seconds * 2 * (size - 1) / size / 1e9, seconds * 1e6), flush=True)
        n *= 4
    part = torch.ones(4 << 20, device="cuda")
    whole = torch.empty(size * (4 << 20), device="cuda")
    seconds = measured(lambda: dist.all_gather_into_tensor(whole, part))
    if not rank:
        print("all_gather bytes", whole.numel() * 4, "count", COUNT + 2, "busbw GB/s %.3f us %.2f" %
              (whole.numel() * 4 / seconds * (size - 1) / size / 1e9, seconds * 1e6), flush=True)
    # A pipeline: rank 0 sends to 1, which computes and sends back.
    block = torch.ones(1 << 20, device="cuda")
    for _ in range(COUNT):
        if rank == 0:
            dist.send(block, 1)
            dist.recv(block, 1)
        elif rank == 1:
            dist.recv(block, 0)
            block.mul_(1.01)
            dist.send(block, 0)
    if not rank:
        print("send count", COUNT, "recv count", COUNT, "bytes", block.numel() * 4, flush=True)
    # Several at once, in one group.
    if size == 2:
        for _ in range(5):
            work = dist.batch_isend_irecv([dist.P2POp(dist.isend, block, 1 - rank),
                                           dist.P2POp(dist.irecv, torch.empty_like(block), 1 - rank)])
            for w in work:
                w.wait()
        half = dist.new_group([0, 1])
        for _ in range(3):
            dist.broadcast(block, 0, group=half)
    torch.cuda.synchronize()
    dist.barrier()
    dist.destroy_process_group()


main()
