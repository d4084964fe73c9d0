#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""BERT (random weights) that answers small requests: bert.py [eager|graph] [REQUESTS], default 200.

With "graph" the forward pass is captured once as a CUDA graph and replayed. Prints the wall
time of the loop, so that what `explain` expects of a graph can be compared with what it gains.
"""

import sys
import time

try:
    import torch
    from transformers import BertConfig, BertModel
except ImportError:
    sys.exit(77)


def main():
    torch.manual_seed(1)
    model = BertModel(BertConfig()).eval().to("cuda")
    tokens = torch.randint(0, 30000, (1, 16), device="cuda")
    with torch.inference_mode():
        for _ in range(5):
            model(tokens)
        torch.cuda.synchronize()
        step = lambda: model(tokens).last_hidden_state
        if "graph" in sys.argv:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = step()

            def step():
                graph.replay()
                return out
        requests = next((int(a) for a in sys.argv[1:] if a.isdigit()), 200)
        begin = time.monotonic()
        for _ in range(requests):
            step().sum().item()
        print(f"{requests} requests: {time.monotonic() - begin:.3f} s")


if __name__ == "__main__":
    main()
