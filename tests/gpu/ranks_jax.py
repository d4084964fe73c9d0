#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""psum of JAX over all GPUs of one process: several ranks of NCCL in one process.  Prints how many it made."""

import sys
import time

import jax
import jax.numpy as jnp

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
devices = jax.local_device_count()
step = jax.pmap(lambda x: jax.lax.psum(jnp.tanh(x @ x), "ranks"), axis_name="ranks")
x = jnp.ones((devices, 1024, 1024))
step(x).block_until_ready()
begun = time.perf_counter()
for _ in range(STEPS):
    step(x).block_until_ready()
print("rank - jax psum devices", devices, "count", STEPS + 1, "ms a step %.2f" % ((time.perf_counter() - begun) / STEPS * 1e3))
