# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures a graph of kernels from two lines, and launches it from a third one.  With "twice" another stream is captured
at the same time, and its graph is launched once.

Usage: stacks_graph.py LIBCUDA [twice]
"""
import ctypes
import sys

cuda = ctypes.CDLL(sys.argv[1])
context, stream, other, module, one, two, graph, executable, second = (ctypes.c_void_p() for _ in range(9))


def checked(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        sys.exit(f"{name}: {result}")


SHAPE = [ctypes.c_uint(1)] * 6 + [ctypes.c_uint(0)]


def forward():
    for _ in range(3):
        cuda.cuLaunchKernel(one, *SHAPE, stream, None, None)


def backward():
    cuda.cuLaunchKernel(two, *SHAPE, stream, None, None)


def replay():
    checked("cuGraphLaunch", executable, stream)


checked("cuInit", 0)
checked("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
checked("cuCtxSetCurrent", context)
checked("cuStreamCreate", ctypes.byref(stream), 1)
checked("cuModuleLoadData", ctypes.byref(module), b"cudatrace-sim-image 1\nkernel one - 1000\nkernel two - 3000\n")
checked("cuModuleGetFunction", ctypes.byref(one), module, b"one")
checked("cuModuleGetFunction", ctypes.byref(two), module, b"two")
forward()
twice = sys.argv[2:] == ["twice"]
if twice:
    checked("cuStreamCreate", ctypes.byref(other), 1)
    checked("cuStreamBeginCapture_v2", other, 0)
    cuda.cuLaunchKernel(two, *SHAPE, other, None, None)
checked("cuStreamBeginCapture_v2", stream, 0)
forward()
if twice:
    cuda.cuLaunchKernel(one, *SHAPE, other, None, None)
backward()
if twice:
    cuda.cuLaunchKernel(two, *SHAPE, other, None, None)
    checked("cuStreamEndCapture", other, ctypes.byref(graph))
    checked("cuGraphInstantiateWithFlags", ctypes.byref(second), graph, ctypes.c_ulonglong(0))
    checked("cuGraphLaunch", second, other)
checked("cuStreamEndCapture", stream, ctypes.byref(graph))
checked("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
for _ in range(10):
    replay()
checked("cuStreamSynchronize", stream)
checked("cuCtxSynchronize")
