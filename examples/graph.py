#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A perceptron that is captured in a CUDA graph with PyTorch, and replayed.

A program to try cudatrace on: fixed random weights, nothing is downloaded. Exit status: 0,
or 77 when PyTorch or a GPU is missing.
"""

import argparse
import sys


def missing(what):
    print(f"graph.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replays", type=int, default=300, metavar="N",
                        help="how often the graph is launched (300)")
    parser.add_argument("--layers", type=int, default=8, metavar="N",
                        help="layers of the perceptron (8)")
    args = parser.parse_args()

    try:
        import torch
    except ImportError:
        missing("PyTorch is missing: pip install torch")
    if not torch.cuda.is_available():
        missing("PyTorch sees no GPU here")

    torch.manual_seed(1)
    layers = []
    for _ in range(args.layers):
        layers += [torch.nn.Linear(256, 256), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).eval().to("cuda")
    request = torch.randn(32, 256, device="cuda")
    with torch.inference_mode():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(request)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = model(request)
        host = torch.randn(32, 256).pin_memory()
        for _ in range(args.replays):
            request.copy_(host, non_blocking=True)
            graph.replay()
            torch.cuda.synchronize()
    print("device:", torch.cuda.get_device_name())
    print(f"{args.replays} replays, finite: {bool(answer.isfinite().all())}")


if __name__ == "__main__":
    main()
