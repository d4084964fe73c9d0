#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several processes that answer requests on one GPU with PyTorch.

A program to try cudatrace on: fixed random weights, nothing is downloaded. Exit status: 0,
1 if a process failed, or 77 when PyTorch or a GPU is missing.
"""

import argparse
import multiprocessing
import sys


def missing(what):
    print(f"processes.py: {what}", file=sys.stderr)
    sys.exit(77)


def serve(requests):
    import torch
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10)).eval().to("cuda")
    with torch.inference_mode():
        for _ in range(requests):
            model(torch.ones(64, 256).to("cuda")).argmax(dim=-1).cpu()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2, metavar="N",
                        help="processes at a time (2)")
    parser.add_argument("--requests", type=int, default=100, metavar="N",
                        help="requests that each answers (100)")
    args = parser.parse_args()

    try:
        import torch
    except ImportError:
        missing("PyTorch is missing: pip install torch")
    if not torch.cuda.is_available():
        missing("PyTorch sees no GPU here")

    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=serve, args=(args.requests,))
               for _ in range(args.processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"{args.processes} processes, {args.requests} requests each")
    sys.exit(any(worker.exitcode for worker in workers))


if __name__ == "__main__":
    main()
