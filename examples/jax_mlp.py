#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small perceptron that is trained with JAX, one compiled step at a time.

A program to try cudatrace on: random data, fixed seed, nothing is downloaded. Exit status:
0, or 77 when JAX or a GPU is missing.
"""

import argparse
import sys


def missing(what):
    print(f"jax_mlp.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100, metavar="N",
                        help="training steps (100)")
    args = parser.parse_args()

    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        missing("JAX is missing: pip install jax[cuda13]")
    if jax.default_backend() != "gpu":
        missing("JAX sees no GPU here")

    keys = jax.random.split(jax.random.PRNGKey(1), 4)
    weights = [jax.random.normal(keys[0], (64, 128)) * 0.1,
               jax.random.normal(keys[1], (128, 10)) * 0.1]
    x = jax.random.normal(keys[2], (32, 64))
    y = jax.random.normal(keys[3], (32, 10))

    def loss_of(weights, x, y):
        return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        loss, slopes = jax.value_and_grad(loss_of)(weights, x, y)
        return [w - 0.05 * s for w, s in zip(weights, slopes)], loss

    first = last = None
    for _ in range(args.steps):
        weights, loss = step(weights, x, y)
        last = float(loss)
        first = last if first is None else first
    print("device:", jax.devices()[0].device_kind)
    print(f"{args.steps} steps, the loss fell: {last < first}")


if __name__ == "__main__":
    main()
