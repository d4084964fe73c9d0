# SPDX-License-Identifier: LGPL-2.1-or-later
"""CUDA graphs of JAX and of PyTorch: graph_nodes.py jax|torch [REPLAYS]

jax: XLA builds its command buffers from nodes, where the environment says so (XLA_FLAGS). torch: a graph that is captured, on
two streams.
"""
import sys

REPLAYS = int(sys.argv[2]) if len(sys.argv) > 2 else 50


def with_jax():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x, w):
        for _ in range(4):
            x = jnp.tanh(x @ w) + jnp.sin(x).sum(axis=1, keepdims=True)
        return x

    x, w = jnp.ones((256, 256)), jnp.full((256, 256), 0.01)
    for _ in range(REPLAYS):
        x = step(x, w)
    x.block_until_ready()
    print(f"jax {jax.__version__}: {float(x[0, 0]):.4f}")


def with_torch():
    import torch

    x, side = torch.ones(256, 256, device="cuda"), torch.cuda.Stream()

    def forward(x):
        for _ in range(3):
            x = torch.relu(x @ x) * 0.01
        return x

    def beside(x):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = torch.tanh(x)
        torch.cuda.current_stream().wait_stream(side)
        return y

    forward(x), beside(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = beside(forward(x))
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    print(f"torch {torch.__version__}: {y[0, 0].item():.4f}")


with_jax() if sys.argv[1] == "jax" else with_torch()
