#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""psum of JAX over all GPUs of one process: several ranks of NCCL in one process.  STEPS [WIDTH].  Prints how many it made.

Up to 4 MB (width 1024) XLA adds up in a kernel of its own, over peer memory, and NCCL is not called.
"""

import sys
import time

import jax
import jax.numpy as jnp

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
WIDTH = int(sys.argv[2]) if len(sys.argv) > 2 else 8192
devices = jax.local_device_count()
step = jax.pmap(lambda x: jax.lax.psum(jnp.tanh(x @ x), "ranks"), axis_name="ranks")
x = jnp.ones((devices, WIDTH, WIDTH))
step(x).block_until_ready()
begun = time.perf_counter()
for _ in range(STEPS):
    step(x).block_until_ready()
print("rank - jax psum devices", devices, "count", STEPS + 1, "ms a step %.2f" % ((time.perf_counter() - begun) / STEPS * 1e3))
