# SPDX-License-Identifier: LGPL-2.1-or-later
"""A thread launches, and waits for what another one does, which calls no CUDA; says the number of that one.

Usage: stacks_gil.py LIBCUDA compute|hold|queue|lock ROUNDS
compute: the other one runs Python code.  hold: it sleeps in compiled code and keeps Python's lock (GIL).
queue, lock: it sleeps without that lock, and the first one waits for a queue or for a lock of the program.
With SEVERAL in the environment the program has a second interpreter, which does nothing.
"""
import ctypes
import importlib
import os
import queue
import sys
import threading
import time

cuda, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(None)
how, rounds = sys.argv[2], int(sys.argv[3])
todo, lock, alive = queue.Queue(1), threading.Lock(), True


def compute():
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        sum(range(300))


def hold():
    held.usleep(20000)


def late():
    with lock:
        time.sleep(0.02)
    todo.put(1)


def work():
    print(threading.get_native_id(), flush=True)
    while alive:
        {"compute": compute, "hold": hold, "queue": late, "lock": late}[how]()


def take():
    if how == "compute":
        # As a call does that takes a while, it gives Python's lock up.
        time.sleep(0.001)
    elif how == "queue":
        todo.get()
    elif how == "lock":
        todo.get()
        with lock:
            pass


if "SEVERAL" in os.environ:
    try:
        second = importlib.import_module("_xxsubinterpreters").create()
    except ImportError:
        second = importlib.import_module("_interpreters").create()
context, memory, host = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.create_string_buffer(64)
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
thread = threading.Thread(target=work, daemon=True)
thread.start()
for _ in range(rounds):
    take()
    cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))
    cuda.cuMemcpyDtoH_v2(host, memory, ctypes.c_size_t(64))
alive = False
if how in ("queue", "lock"):
    todo.get()
thread.join()
