# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many threads that call CUDA now and then and sleep.

Usage: stacks_many.py LIBCUDA THREADS ROUNDS [TURNS]
In each turn as many new threads.
"""
import ctypes
import sys
import threading
import time

cuda = ctypes.CDLL(sys.argv[1])
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))


def work():
    cuda.cuCtxSetCurrent(context)
    for _ in range(int(sys.argv[3])):
        cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))
        time.sleep(0.05)


for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 1):
    threads = [threading.Thread(target=work) for _ in range(int(sys.argv[2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
