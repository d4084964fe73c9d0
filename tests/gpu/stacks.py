# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that makes calls to libcuda from all kinds of places, and notes from where, as traceback.extract_stack() says it.

Usage: stacks.py KIND CALLS OUT
KIND, and what is called in a function noted():
  eager    PyTorch: modules, hooks, autograd functions and their backward pass, which runs in a thread of autograd
  threads  the same in four threads at once
  compile  an operator of one's own in a network that torch.compile compiled, with a break of the graph
  graph    launches while a CUDA graph is captured, and between replays
  jax      around a jitted function, while it is traced, and in callbacks, which run in threads of XLA
  cupy     a kernel of one's own
Each note is a launch of a kernel, but with jax: freeing nothing (cuMemFree of 0).
"""
import ctypes
import json
import sys
import threading
import traceback

cuda = ctypes.CDLL("libcuda.so.1")
expected = []


def stack_of(frame):
    stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
    return {"tid": threading.get_native_id(), "cut": False, "stack": [(s.filename, s.lineno or 0, s.name) for s in stack]}


def freed():
    def noted(*values):
        expected.append(stack_of(sys._getframe())); cuda.cuMemFree_v2(ctypes.c_uint64(0))
        return values[0] if values else None
    return noted


def eager(calls, launched=None):
    import torch

    noted = launched or torch_launch(torch)

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(256, 256)

        def forward(self, x):
            noted()
            return torch.relu(self.linear(x))

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            noted()
            return x * 2

        @staticmethod
        def backward(context, gradient):
            noted()		# in a thread of autograd
            return gradient * 2

    model = torch.nn.Sequential(*(Layer() for i in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(64, 256, device="cuda")
    model.register_forward_hook(lambda *a: noted())
    for step in range(calls // 8):
        optimizer.zero_grad()
        Function.apply(model(x)).sum().backward()
        optimizer.step()
        noted()
    torch.cuda.synchronize()


def torch_launch(torch):
    local = threading.local()

    def one():			# of this thread: making it launches a kernel, too
        if not hasattr(local, "one"):
            local.one = torch.ones(1, device="cuda")
        return local.one

    one()

    def noted():
        add = one().add_
        expected.append(stack_of(sys._getframe())); add(1)
    return noted


def threads(calls):
    import torch

    launch = torch_launch(torch)
    workers = [threading.Thread(target=eager, args=(calls // 4, launch)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def compiled(calls):
    import torch

    noted = torch_launch(torch)

    @torch.library.custom_op("stacks::noted", mutates_args=())
    def operator(x: torch.Tensor) -> torch.Tensor:
        noted()
        return x.clone()

    operator.register_fake(torch.empty_like)

    @torch._dynamo.disable
    def broken(x):
        noted()
        return x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(256, 256)

        def forward(self, x):
            return torch.nn.functional.gelu(operator(self.linear(x)))

    first = torch.nn.Sequential(*(Layer() for _ in range(3))).cuda()
    second = torch.nn.Sequential(*(Layer() for _ in range(4))).cuda()
    network = torch.compile(lambda x: second(broken(first(x))))
    x = torch.randn(64, 256, device="cuda")
    with torch.no_grad():
        for _ in range(calls // 8):
            network(x)
    torch.cuda.synchronize()


def graph(calls):
    import torch

    noted = torch_launch(torch)
    noted()
    with torch.no_grad():
        for _ in range(calls // 100):
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured, capture_error_mode="thread_local"):
                for _ in range(90):
                    noted()
            for _ in range(10):
                captured.replay()
                noted()
    torch.cuda.synchronize()


def jaxes(calls):
    import jax
    import jax.numpy as jnp

    noted = freed()
    shape = jax.ShapeDtypeStruct((4, 4), jnp.float32)

    @jax.jit
    def step(x):
        noted()		# while it is traced
        y = jax.pure_callback(noted, shape, jnp.tanh(x @ x))
        return jax.pure_callback(noted, shape, y + 1)

    x = jnp.ones((4, 4), jnp.float32)
    for _ in range(calls // 4):
        noted()
        x = step(x).block_until_ready()
        noted()


def cupies(calls):
    import cupy

    kernel = cupy.RawKernel('extern "C" __global__ void add(int *x) { *x += 1; }', "add")
    x = cupy.zeros(1, dtype=cupy.int32)
    grid, arguments = (1,), (x,)
    kernel(grid, grid, arguments)

    def noted():
        expected.append(stack_of(sys._getframe())); kernel(grid, grid, arguments)

    for value in range(calls // 4):
        noted()
        [noted() for _ in range(2)]
        (lambda: noted())()
    print("sum", int(x[0]), file=sys.stderr)


KINDS = {"eager": eager, "threads": threads, "compile": compiled, "graph": graph, "jax": jaxes, "cupy": cupies}


def main():
    kind, calls, out = sys.argv[1:]
    KINDS[kind](int(calls))
    with open(out, "w") as file:
        for e in expected:
            file.write(json.dumps(e) + "\n")


main()
