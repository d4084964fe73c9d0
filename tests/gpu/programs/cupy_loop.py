#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CuPy: array work, a reduction, a kernel of its own, two streams."""

import sys

try:
    import cupy
except ImportError:
    sys.exit(77)

scale = cupy.ElementwiseKernel("float32 x, float32 f", "float32 y", "y = x * f", "scale")
a = cupy.arange(1 << 20, dtype=cupy.float32)
streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
total = 0.0
for i in range(100):
    with streams[i % 2]:
        b = scale(a, cupy.float32(i)) + cupy.sqrt(a)
        total += float(b.sum())
print("sum is a number:", total == total)
