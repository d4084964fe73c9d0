# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that writes anything into the page by which the recorder samples it, but for what says whose page it is.

Usage: stacks_hostile.py LIBCUDA SEED TURNS
"""
import ctypes
import os
import random
import sys
import time

HEAD = 36   # bytes of struct python_page up to .state
WORDS = range(HEAD, 164, 2)     # the numbers behind it, most of them offsets of two bytes

cuda = ctypes.CDLL(sys.argv[1])
chance = random.Random(int(sys.argv[2]))
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))


def step():
    cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(16))
    time.sleep(0.005)


for _ in range(50):
    step()
with open("/proc/self/maps") as maps:
    pages = [int(line.split("-")[0], 16) for line in maps if "/.sample-%d" % os.getpid() in line]
if not pages:
    sys.exit("no page")
whole = ctypes.string_at(pages[0], 4096)
for at in list(WORDS) * int(sys.argv[3]):
    # One number at a time gets far, all of them get nowhere.
    for value in (0xffff, 0xff00, 0x8000, chance.randrange(1 << 16)):
        ctypes.memmove(pages[0] + HEAD, whole[HEAD:at] + value.to_bytes(2, "little") + whole[at + 2:], 4096 - HEAD)
        step()
noise = bytes(chance.randrange(256) for _ in range(4096 - HEAD))
ctypes.memmove(pages[0] + HEAD, noise, len(noise))
for _ in range(20):
    step()
ctypes.memmove(pages[0] + HEAD, whole[HEAD:], 4096 - HEAD)
for _ in range(20):
    step()
os._exit(0)
