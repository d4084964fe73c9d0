#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small network compiled by torch.compile (Triton kernels)."""

import sys

try:
    import torch
except ImportError:
    sys.exit(77)

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(),
                            torch.nn.Linear(2048, 512), torch.nn.LayerNorm(512)).cuda()
compiled = torch.compile(model)
x = torch.randn(256, 512, device="cuda")
with torch.no_grad():
    for _ in range(100):
        y = compiled(x)
print("finite:", bool(torch.isfinite(y).all()))
