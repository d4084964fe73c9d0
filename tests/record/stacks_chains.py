# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two chains of calls by turns, each 60 functions deep, red_60 to red_0 and blue_60 to blue_0, and a generator that comes and goes.

Usage: stacks_chains.py LIBCUDA SECONDS
"""
import ctypes
import sys
import time

DEPTH = 60
cuda = ctypes.CDLL(sys.argv[1])
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))


def chain(color):
    made = {}
    exec(f"def {color}_0(n):\n    for i in range(n):\n        pass\n", made)
    for i in range(DEPTH):
        exec(f"def {color}_{i + 1}(n):\n    return {color}_{i}(n)\n", made)
    return made[f"{color}_{DEPTH}"]


def coming():
    while True:
        yield


def main():
    red, blue, generator = chain("red"), chain("blue"), coming()
    end = time.time() + float(sys.argv[2])
    while time.time() < end:
        for i in range(20):
            red(i)
            blue(i)
            for _ in range(20):
                next(generator)
        cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))


main()
