# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program whose functions wait for a socket, for several files at once, in an event loop, for another process and for a pipe.

Usage: stacks_waits.py LIBCUDA
"""
import asyncio
import ctypes
import os
import select
import socket
import subprocess
import sys
import threading
import time

cuda = ctypes.CDLL(sys.argv[1])
rounds = int(os.environ.get("ROUNDS", "10"))
here, there = socket.socketpair()
pipe, into = os.pipe()
wanted = threading.Semaphore(0)


def peer():
    for _ in range(rounds * 3):
        wanted.acquire()
        time.sleep(0.03)
        there.send(b"x")


def receiver():
    wanted.release()
    here.recv(1)


def poller():
    wanted.release()
    poll = select.poll()
    poll.register(here, select.POLLIN)
    poll.register(pipe, select.POLLIN)
    poll.poll()
    here.recv(1, socket.MSG_DONTWAIT)


def limited():
    # A socket with a time limit is waited for by poll().
    here.settimeout(60)
    wanted.release()
    here.recv(1)
    here.settimeout(None)


async def one():
    await asyncio.sleep(0.03)


def event_loop():
    asyncio.run(one())


def parent():
    process = subprocess.Popen(["sleep", "0.03"])
    parent_wait(process)


def parent_wait(process):
    process.wait()


def piped():
    process = subprocess.Popen(["sh", "-c", "sleep 0.03; echo x"], stdout=into)
    piped_read()
    process.wait()


def piped_read():
    os.read(pipe, 2)


context, memory = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
threading.Thread(target=peer).start()
for _ in range(rounds):
    for wait in (receiver, limited, poller, event_loop, parent, piped):
        wait()
        cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))
