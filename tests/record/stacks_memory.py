# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines that allocate the GPU's memory: one keeps it, one frees it when most is held, one comes after that, one makes memory
that is mapped, and one allocates memory of the host.

Usage: stacks_memory.py LIBCUDA
"""
import ctypes
import sys

cuda = ctypes.CDLL(sys.argv[1])
context = ctypes.c_void_p()


def checked(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        sys.exit(f"{name}: {result}")


def allocate(mib):
    at = ctypes.c_uint64()
    checked("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(mib << 20))
    return at


def weights():
    return allocate(8)


def scratch():
    return allocate(32)


def late():
    return allocate(16)


def host():
    at = ctypes.c_void_p()
    checked("cuMemAllocHost_v2", ctypes.byref(at), ctypes.c_size_t(64 << 20))


checked("cuInit", 0)
checked("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
checked("cuCtxSetCurrent", context)
weights()
for _ in range(5):
    # Most is held in the last turn but one, with what weights() has by then.
    blocks = [scratch() for _ in range(1 + (_ == 3))]
    for block in blocks:
        checked("cuMemFree_v2", block)
    if _ < 3:
        weights()
late()
host()
checked("cuCtxSynchronize")
