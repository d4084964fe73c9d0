# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch that frees nothing (cuMemFree of 0) from all kinds of places, and notes from where, as
traceback.extract_stack() says it.

Usage: stacks.py OUT
"""
import ctypes
import json
import sys
import threading
import time
import traceback

import torch

cuda = ctypes.CDLL("libcuda.so.1")
expected = []


def stack_of(frame):
    stack = traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)
    return {"tid": threading.get_native_id(), "cut": False, "stack": [(s.filename, s.lineno or 0, s.name) for s in stack]}


def noted():
    expected.append(stack_of(sys._getframe())); cuda.cuMemFree_v2(ctypes.c_uint64(0))


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


def main():
    model = torch.nn.Sequential(*(Layer() for i in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(64, 256, device="cuda")
    model.register_forward_hook(lambda *a: noted())
    begin = time.time()
    for step in range(200):
        optimizer.zero_grad()
        Function.apply(model(x)).sum().backward()
        optimizer.step()
        noted()
    torch.cuda.synchronize()
    print("200 steps: %.3f s" % (time.time() - begin), file=sys.stderr)
    with open(sys.argv[1], "w") as out:
        for e in expected:
            out.write(json.dumps(e) + "\n")


main()
