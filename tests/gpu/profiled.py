#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model's step under torch.profiler, inside NVTX ranges: prints what must not depend
on who else is watching.  With FILE, it writes its pid to FILE.ready and waits for FILE: WHEN is
"before", just before the profiler begins, or "after" its first step; at the end it makes FILE.done
and waits until FILE is gone.

    profiled.py [FILE WHEN]
"""

import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile


def tell(end):
    with open(f"{sys.argv[1]}.part", "w", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    os.rename(f"{sys.argv[1]}.part", f"{sys.argv[1]}.{end}")


def wait(there):
    for _ in range(600):
        if os.path.exists(sys.argv[1]) == there:
            break
        time.sleep(0.1)


def meet(when):
    if sys.argv[2:] == [when]:
        tell("ready")
        wait(True)


torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to("cuda")
x = torch.ones(16, 64, device="cuda")
with torch.inference_mode():
    model(x)
    torch.cuda.synchronize()
    meet("before")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for step in range(3):
            torch.cuda.nvtx.range_push(f"step {step}")
            y = model(x)
            torch.cuda.nvtx.mark("half way")
            y.sum().item()
            torch.cuda.nvtx.range_pop()
            if step == 0:
                meet("after")
kernels = sorted({event.key for event in seen.key_averages()
                  if event.device_type == torch.autograd.DeviceType.CUDA})
launches = sum(event.count for event in seen.key_averages() if event.key == "cudaLaunchKernel")
print("kernels seen by the profiler:", len(kernels), "launches:", launches)
if len(sys.argv) > 2:
    tell("done")
    wait(False)
