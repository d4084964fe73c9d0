#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuda-python: the driver API from Python, by pointers of cuGetProcAddress."""

import sys

try:
    from cuda.bindings import driver
except ImportError:
    try:
        from cuda import cuda as driver
    except ImportError:
        sys.exit(77)


def call(result):
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"a call failed: {result[0]}")
    return result[1] if len(result) == 2 else result[1:]


call(driver.cuInit(0))
device = call(driver.cuDeviceGet(0))
context = call(driver.cuDevicePrimaryCtxRetain(device))
call(driver.cuCtxSetCurrent(context))
stream = call(driver.cuStreamCreate(0))
host = bytearray(1 << 16)
for _ in range(200):
    pointer = call(driver.cuMemAlloc(len(host)))
    call(driver.cuMemsetD8Async(pointer, 7, len(host), stream))
    call(driver.cuStreamSynchronize(stream))
    call(driver.cuMemcpyDtoH(host, pointer, len(host)))
    call(driver.cuMemFree(pointer))
call(driver.cuStreamDestroy(stream))
call(driver.cuDevicePrimaryCtxRelease(device))
print("copied:", host[0] == 7)
