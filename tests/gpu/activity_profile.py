#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program under torch.profiler, its kernels by name: activity_profile.py OUT.tsv PROGRAM ARGS."""

import collections
import runpy
import sys

import torch
from torch.profiler import ProfilerActivity, profile

out = sys.argv[1]
sys.argv = sys.argv[2:]
torch.cuda.init()
with profile(activities=[ProfilerActivity.CUDA]) as seen:
    runpy.run_path(sys.argv[0], run_name="__main__")
    torch.cuda.synchronize()
kernels = collections.defaultdict(lambda: [0, 0.0])
for event in seen.events():
    if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
        kernels[event.name][0] += 1
        kernels[event.name][1] += event.time_range.elapsed_us() * 1000
with open(out, "w", encoding="utf-8") as f:
    for name, (count, ns) in kernels.items():
        f.write(f"{name}\t{count}\t{ns:.0f}\n")
