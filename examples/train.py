#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small convolutional network that is trained with PyTorch.

A program to try cudatrace on: random data, fixed seed, nothing is downloaded. Each step
copies a batch to the GPU, runs forward, backward and the optimizer, and reads the loss.
Exit status: 0, or 77 when PyTorch or a GPU is missing.
"""

import argparse
import sys
from contextlib import nullcontext


def missing(what):
    print(f"train.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, metavar="N",
                        help="training steps (40)")
    parser.add_argument("--batch", type=int, default=32, metavar="N",
                        help="images in a batch (32)")
    parser.add_argument("--nvtx", action="store_true",
                        help="mark each step and its parts with NVTX ranges")
    args = parser.parse_args()

    try:
        import torch
    except ImportError:
        missing("PyTorch is missing: pip install torch")
    if not torch.cuda.is_available():
        missing("PyTorch sees no GPU here")

    def part(name):
        return torch.cuda.nvtx.range(name) if args.nvtx else nullcontext()

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3, padding=1, stride=2), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(64 * 16 * 16, 10)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(args.batch, 3, 32, 32)
    labels = torch.randint(0, 10, (args.batch,))
    loss = 0.0
    for step in range(args.steps):
        with part(f"step {step}"):
            with part("copy"):
                x, y = images.to("cuda"), labels.to("cuda")
            with part("forward"):
                result = torch.nn.functional.cross_entropy(model(x), y)
            with part("backward"):
                optimizer.zero_grad()
                result.backward()
            with part("optimizer"):
                optimizer.step()
            loss = result.item()
    print("device:", torch.cuda.get_device_name())
    print(f"{args.steps} steps, the loss fell: {loss < 2.0}")


if __name__ == "__main__":
    main()
