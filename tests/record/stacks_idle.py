# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that keeps the GPU waiting in some of its lines: it computes, copies, allocates and asks between launches.

Usage: stacks_idle.py LIBCUDA [ROUNDS]
"""
import ctypes
import sys

cuda = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
context, stream, event, module, kernel = (ctypes.c_void_p() for _ in range(5))
memory, block = ctypes.c_uint64(), ctypes.c_uint64()
SHAPE = [ctypes.c_uint(1)] * 6 + [ctypes.c_uint(0)]


def compute():
    x = 0
    for i in range(50000):
        x += i * i
    return x


def forward():
    # The second one is queued when the first one ends.
    for _ in range(2):
        cuda.cuLaunchKernel(kernel, *SHAPE, stream, None, None)


def allocate():
    cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))
    cuda.cuMemFree_v2(block)


def ask():
    # Of these calls no stack is taken.
    for _ in range(50):
        cuda.cuEventQuery(event)


def reset():
    cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))


def wait():
    cuda.cuStreamSynchronize(stream)


cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuEventCreate(ctypes.byref(event), 0)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
cuda.cuModuleLoadData(ctypes.byref(module), b"cudatrace-sim-image 1\nkernel one - 200000\n")
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"one")
for _ in range(rounds):
    compute()
    forward()
    wait()
    allocate()
    ask()
    reset()
cuda.cuCtxSynchronize()
