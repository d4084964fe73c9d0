#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model's step under torch.profiler, inside NVTX ranges: prints what must not depend
on who else is watching."""

import torch
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to("cuda")
x = torch.ones(16, 64, device="cuda")
with torch.inference_mode():
    model(x)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for step in range(3):
            torch.cuda.nvtx.range_push(f"step {step}")
            y = model(x)
            torch.cuda.nvtx.mark("half way")
            y.sum().item()
            torch.cuda.nvtx.range_pop()
kernels = sorted({event.key for event in seen.key_averages()
                  if event.device_type == torch.autograd.DeviceType.CUDA})
launches = sum(event.count for event in seen.key_averages() if event.key == "cudaLaunchKernel")
print("kernels seen by the profiler:", len(kernels), "launches:", launches)
