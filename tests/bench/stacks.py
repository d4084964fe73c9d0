# SPDX-License-Identifier: LGPL-2.1-or-later
"""Launches kernels from 25 frames of Python, and prints what a launch took, in ns.

same: from one line; other: in a model of 12 layers, where each launch has another leaf, other lines
above it and another depth than the one before.

Usage: stacks.py LIBCUDA [CALLS [ROUNDS [same|other]]]
"""
import ctypes
import sys
import time

DEEP = 25
cuda = ctypes.CDLL(sys.argv[1])
calls = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
ONE = [ctypes.c_uint(1)] * 6 + [ctypes.c_uint(0)]
launch = cuda.cuLaunchKernel
NONE = ctypes.c_void_p()


class Module:
    def __call__(self, *args):
        return self._call(*args)

    def _call(self, *args):
        return self.forward(*args)


class Leaf(Module):
    def forward(self):
        launch(NONE, *ONE, NONE, NONE, NONE)


class Pair(Module):
    def __init__(self, one, two):
        self.one, self.two = one, two

    def forward(self):
        self.one()
        self.two()
        self.one()


class Attention(Module):
    def __init__(self):
        self.q, self.k, self.v, self.out = Leaf(), Leaf(), Leaf(), Pair(Leaf(), Leaf())

    def forward(self):
        self.q()
        launch(NONE, *ONE, NONE, NONE, NONE)
        self.k()
        self.v()
        launch(NONE, *ONE, NONE, NONE, NONE)
        self.out()


class Block(Module):
    def __init__(self):
        self.norm, self.attention, self.mlp = Leaf(), Attention(), Pair(Leaf(), Pair(Leaf(), Leaf()))

    def forward(self):
        self.norm()
        self.attention()
        launch(NONE, *ONE, NONE, NONE, NONE)
        self.norm()
        self.mlp()


LAUNCHES = 1 + 8 + 1 + 1 + 5		# of a block


def below(n, f):
    if n:
        below(n - 1, f)
    else:
        f()


def same():
    for _ in range(calls):
        launch(NONE, *ONE, NONE, NONE, NONE)


def other():
    for _ in range(calls // (12 * LAUNCHES)):
        for block in blocks:
            block()


cuda.cuInit(0)
blocks = [Block() for _ in range(12)]
for name, function, frames, count in (("same", same, DEEP - 3, calls), ("other", other, DEEP - 14, calls // (12 * LAUNCHES) * 12 * LAUNCHES)):
    if len(sys.argv) > 4 and sys.argv[4] != name:
        continue
    best = 1e18
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        below(frames, function)
        best = min(best, (time.perf_counter_ns() - begin) / count)
    print(name, round(best, 1))
