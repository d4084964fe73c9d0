#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small perceptron answering requests with PyTorch.

A program to try cudatrace on where PyTorch is installed. It knows nothing of
cudatrace, downloads nothing and uses fixed random weights, so that two runs
print the same response. Exit status: 0, or 77 when PyTorch or a GPU is missing.
"""

import argparse
import sys
import time


def missing(what):
    print(f"mlp.py: {what}", file=sys.stderr)
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100, metavar="N",
                        help="requests to answer (100)")
    parser.add_argument("--batch", type=int, default=32, metavar="N",
                        help="inputs in a request (32)")
    parser.add_argument("--leak", action="store_true",
                        help="keep the result of every request on the GPU")
    args = parser.parse_args()

    try:
        import torch
    except ImportError:
        missing("PyTorch is missing: pip install torch")
    if not torch.cuda.is_available():
        missing("PyTorch sees no GPU here")

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
        torch.nn.Softmax(dim=-1),
    ).eval()
    requests = torch.randn(args.iterations, args.batch, 64)
    model.to("cuda")
    kept = []
    response = []
    begin = time.perf_counter()
    with torch.inference_mode():
        for request in requests:
            answer = model(request.to("cuda"))
            if args.leak:
                kept.append(answer)
            response.append(answer.argmax(dim=-1).cpu())
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin

    print("device:", torch.cuda.get_device_name())
    first = response[0].tolist() if response else []
    print("response:", *first[:16])
    print(f"{args.iterations} requests of {args.batch} in {seconds:.3f} s")


if __name__ == "__main__":
    main()
