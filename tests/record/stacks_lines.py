# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose lines cost what they say: it computes, sleeps, waits for a lock, reads, leaks.

Usage: stacks_lines.py LIBCUDA [PART...]
PART: of busy, sleep, lock, file, leak, wait; each is done in each of ROUNDS iterations.  die: it kills
itself in the last one.  end: it sleeps for three seconds after them.
"""
import ctypes
import os
import sys
import threading
import time

cuda = ctypes.CDLL(sys.argv[1])
parts = sys.argv[2:]
rounds = int(os.environ.get("ROUNDS", "30"))
memory = ctypes.c_uint64()
lock = threading.Lock()


def compute():
    x = 0
    for i in range(100000):
        x += i * i
    return x


def sleeper():
    time.sleep(0.02)


def ending():
    time.sleep(3)


def locked():
    with lock:
        pass


def holder():
    while holding:
        with lock:
            time.sleep(0.02)
        time.sleep(0.0001)


def reader():
    with open(fifo, "rb", buffering=0) as f:
        f.read(1)


def writer():
    while holding:
        try:
            with open(fifo, "wb", buffering=0) as f:
                time.sleep(0.02)
                f.write(b"x")
        except BrokenPipeError:
            pass


def leaker():
    block = ctypes.c_uint64()
    cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))


def launch():
    cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))


def waiter():
    cuda.cuCtxSynchronize()


def step():
    if "busy" in parts:
        compute()
    if "sleep" in parts:
        sleeper()
    if "lock" in parts:
        locked()
    if "file" in parts:
        reader()
    if "leak" in parts:
        leaker()
    launch()
    if "wait" in parts:
        waiter()


holding = True
if "lock" in parts:
    threading.Thread(target=holder, daemon=True).start()
if "file" in parts:
    fifo = "/tmp/stacks_lines.%d" % os.getpid()
    os.mkfifo(fifo)
    threading.Thread(target=writer, daemon=True).start()
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
for i in range(rounds):
    step()
if "die" in parts:
    os.kill(os.getpid(), 9)
if "end" in parts:
    ending()
holding = False
if "file" in parts:
    os.unlink(fifo)
os._exit(0)
