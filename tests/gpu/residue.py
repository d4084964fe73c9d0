#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
What CUPTI leaves in a program that goes on: residue.py graph|eager|training none|kernel|memcpy|all|end|cycles

Steps a second (median of five) before, while CUPTI collects and after its kinds are disabled.  none: CUPTI is begun, no kind
is enabled.  end: cuptiFinalize() comes after that, by the only thread that calls, with no work on the GPU.  cycles: eight
times begun and ended so.  CUPTI: the library's path, if Python's packages don't have it.
"""
import ctypes
import glob
import os
import statistics
import sys
import time

import torch

import steps

program, variant = sys.argv[1], sys.argv[2]
KERNEL, MEMCPY, MEMSET = 10, 1, 2
KINDS = {"none": [], "kernel": [KERNEL], "memcpy": [MEMCPY]}.get(variant, [KERNEL, MEMCPY, MEMSET])

step = steps.step(program)
first, wrong = step(), 0


def rate(seconds, parts=5):
    global wrong
    rates = []
    for _ in range(parts):
        begin, n = time.monotonic(), 0
        while time.monotonic() - begin < seconds / parts:
            wrong += step() != first
            n += 1
        rates.append(n / (time.monotonic() - begin))
    return statistics.median(rates)


path = os.environ.get("CUPTI") or (glob.glob(os.path.dirname(torch.__path__[0]) + "/nvidia/*/lib/libcupti.so.*") or ["libcupti.so.13"])[0]
cupti, libc = ctypes.CDLL(path), ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
SIZE = 1 << 20


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
def requested(buffer, size, most):
    buffer[0], size[0], most[0] = libc.malloc(ctypes.c_size_t(SIZE)), SIZE, 0


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
def completed(_context, _stream, buffer, _size, _valid):
    libc.free(ctypes.c_void_p(buffer))


def begin():
    cupti.cuptiActivityRegisterCallbacks(requested, completed)
    for kind in KINDS:
        if cupti.cuptiActivityEnable(kind):
            sys.exit("CUPTI refuses kind %d" % kind)


def disable():
    for kind in KINDS:
        cupti.cuptiActivityDisable(kind)
    torch.cuda.synchronize()
    cupti.cuptiActivityFlushAll(1)


rate(1)
rates = [rate(3)]
if variant == "cycles":
    for _ in range(8):
        begin()
        rate(0.3)
        disable()
        cupti.cuptiFinalize()
        rate(0.2)
else:
    begin()
    rates.append(rate(2))
    disable()
    rate(0.5)
if variant == "end":
    rates.append(rate(3))
    torch.cuda.synchronize()
    cupti.cuptiFinalize()
    rate(0.5)
rates.append(rate(3))
print(program, variant, " ".join("%.0f" % r for r in rates), "last to first %.3f" % (rates[-1] / rates[0]), "wrong", wrong)
