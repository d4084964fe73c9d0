#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Bayesian logistic regression, sampled by NumPyro under JAX: one long loop of short programs.

A program to try cudatrace on: random data, fixed seed, nothing is downloaded. The sampler runs
as a loop on the GPU whose condition the host reads, so the trace is thousands of graph launches
and small copies back. Exit status: 0, or 77 when JAX, NumPyro or a GPU is missing.
"""

import argparse
import sys


def missing(what):
    print(f"sampler.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200, metavar="N",
                        help="samples, after as many to warm up (200)")
    args = parser.parse_args()

    try:
        import jax
        import jax.numpy as jnp
        import numpyro
        from numpyro import distributions as dist
        from numpyro.infer import MCMC, NUTS
    except ImportError as e:
        missing(f"{e.name} is missing: pip install jax[cuda13] numpyro")
    if jax.default_backend() != "gpu":
        missing("JAX sees no GPU here")

    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    x = jax.random.normal(keys[0], (500, 8))
    truth = jnp.linspace(-1, 1, 8)
    y = (jax.random.uniform(keys[1], (500,)) < jax.nn.sigmoid(x @ truth)).astype(jnp.int32)

    def model(x, y):
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(8), jnp.ones(8)))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)

    mcmc = MCMC(NUTS(model), num_warmup=args.samples, num_samples=args.samples,
                progress_bar=False)
    mcmc.run(keys[2], x, y)
    mean = mcmc.get_samples()["weights"].mean(axis=0)
    print("device:", jax.devices()[0].device_kind)
    print(f"{args.samples} samples, near the truth: {bool(jnp.abs(mean - truth).max() < 0.5)}")


if __name__ == "__main__":
    main()
