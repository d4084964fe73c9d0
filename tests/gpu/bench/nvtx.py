#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What recording NVTX costs programs that annotate much, on a machine with a GPU.

  nvtx.py [--build BUILD] [--before BUILD] [--rounds N] [--only REGEX] [--out DIR] [jax] [torch]

  jax    2,000 calls of a jitted function: XLA annotates each operation that it starts, but
         only if a tool is there
  torch  2,000 additions, each in a range of torch.cuda.nvtx

Each variant is a process of its own, and they take turns round by round:

  bare                    no tool
  tool that does nothing  what the program itself spends on annotations
  cudatrace --no-nvtx     recording without them
  cudatrace               recording with them
  cudatrace before        another BUILD (--before), in which they are recorded, too

Prints the median seconds of a round, and the median of the rounds' ratios to the bare process
with its 95 % interval.  --before also works for builds without the plugin.
Wants cudatrace, libcudatrace.so and libcudatrace-nvtx.so in BUILD, gcc, JAX and PyTorch; what
is missing is left out.  Logs and traces are in DIR (build/bench/nvtx)."""

import argparse
import importlib.machinery
import importlib.util
import os
import random
import re
import statistics
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.abspath(os.path.join(here, "../../.."))
CALLS = 2000


def shared():
    """Workers and intervals, from run."""
    loader = importlib.machinery.SourceFileLoader("bench_run", f"{here}/run")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def jax_work():
    import jax
    import jax.numpy as jnp
    f = jax.jit(lambda x: jnp.tanh(x @ x) + 1.0)
    x = jnp.ones((256, 256))

    def work():
        y = x
        for _ in range(CALLS):
            y = f(y)
        y.block_until_ready()
    return work


def torch_work():
    import torch
    x = torch.ones(1024, device="cuda")

    def work():
        for i in range(CALLS):
            torch.cuda.nvtx.range_push("addition")
            x.add_(1.0)
            torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
    return work


WORKS = {"jax": jax_work, "torch": torch_work}


def worker(name):
    """A round of work for each line that comes in."""
    work = WORKS[name]()
    work()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        work()
        print(time.perf_counter() - begin, flush=True)


def measure(name, args, bench, out):
    record = ["record", "--no-module", "-q", "-f", "-o"]
    rows = [("bare", [], {}),
            ("tool that does nothing", [], {"NVTX_INJECTION64_PATH": f"{out}/null.so"}),
            ("cudatrace --no-nvtx", [f"{args.build}/cudatrace", *record, f"{out}/{name}-without",
                                     "--no-nvtx", "--"], {}),
            ("cudatrace", [f"{args.build}/cudatrace", *record, f"{out}/{name}", "--"], {})]
    if args.before:
        rows.append(("cudatrace before", [f"{args.before}/cudatrace", *record,
                                          f"{out}/{name}-before", "--"], {}))
    program = [sys.executable, os.path.abspath(__file__), "--worker", name]
    workers = []
    for row, prefix, env in rows:
        if row == "bare" or re.search(args.only, row):
            log = f"{out}/{name}-{re.sub('[^a-z0-9]+', '-', row)}.log"
            workers.append(bench.Worker(row, prefix + program,
                                        {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **env}, log))
    workers = [w for w in workers if w.ready()]
    if not workers or workers[0].name != "bare":
        return
    for _ in range(args.rounds):
        for w in random.sample(workers, len(workers)):
            w.rounds.append(w.turn()[0])
    for w in workers:
        w.end()
        ratio, low, high = bench.interval([a / b for a, b in zip(w.rounds, workers[0].rounds)])
        print(f"{name:<6} {w.name:<24} {statistics.median(w.rounds):10.4f} s   "
              f"{ratio:.3f} ({low:.3f} to {high:.3f}) of bare", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=f"{top}/build")
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default=f"{top}/build/bench/nvtx")
    parser.add_argument("--worker")
    parser.add_argument("work", nargs="*")
    args = parser.parse_args()
    if args.worker:
        worker(args.worker)
        return
    unknown = [name for name in args.work if name not in WORKS]
    if unknown:
        parser.error(f"no such work: {unknown[0]} (there are {', '.join(WORKS)})")
    os.makedirs(args.out, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", f"{args.out}/null.so",
                    f"{here}/nvtx_null.c"], check=True)
    for name in args.work or WORKS:
        measure(name, args, shared(), os.path.abspath(args.out))


if __name__ == "__main__":
    main()
