# SPDX-License-Identifier: LGPL-2.1-or-later
"""
A program that is attached to while it runs: running.py eager|training|loader|graph|jax SECONDS [TIMES]

Prints "ready", then a line a second: its age and the iterations of that second; at the end a checksum
that must not depend on whether somebody recorded.  TIMES: the file for when each iteration began, in ns of CLOCK_MONOTONIC,
a line each.
"""
import array
import sys
import time

kind, seconds = sys.argv[1], float(sys.argv[2])

if kind == "jax":
    import jax
    import jax.numpy as jnp

    f = jax.jit(lambda x: jnp.tanh(x @ x) * 0.5)
    x = jnp.ones((256, 256)) * 0.01
    first = f(x).block_until_ready()

    def step():
        return float(f(x).block_until_ready()[0, 0])
else:
    import steps

    step = steps.step(kind)

first = step()
print("ready", flush=True)
begin = last = time.monotonic()
n = wrong = 0
times = array.array("q")
while time.monotonic() - begin < seconds:
    times.append(time.monotonic_ns())
    wrong += step() != first
    n += 1
    if time.monotonic() - last >= 1:
        print(f"{time.monotonic() - begin:.1f} {n / (time.monotonic() - last):.0f}", flush=True)
        n, last = 0, time.monotonic()
print("wrong", wrong)
if len(sys.argv) > 3:
    with open(sys.argv[3], "w") as out:
        out.writelines("%d\n" % t for t in times)
