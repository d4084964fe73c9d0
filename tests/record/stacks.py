# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls libcuda from all kinds of Python code, and writes the stack of each call as traceback.extract_stack()
says it: a line of JSON for each call, in the order of calls of each thread.

Usage: stacks.py LIBCUDA OUT [ROUNDS]
"""
import asyncio
import ctypes
import json
import os
import sys
import threading
import traceback

LIBCUDA, OUT = sys.argv[1:3]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 50
DEPTH = 256

cuda = ctypes.CDLL(LIBCUDA)		# gives the interpreter's lock back while it calls
held = ctypes.PyDLL(LIBCUDA)		# keeps it
expected = []
lock = threading.Lock()


def as_recorded(text):
    text = "".join("\ufffd" if 0xd800 <= ord(c) < 0xe000 else c for c in text)
    return text.encode()[-2048:].decode(errors="ignore")


def note(frame):
    stack = [(as_recorded(s.filename), s.lineno or 0, s.name)
             for s in traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False)]
    # Innermost first.
    cut = len(stack) > DEPTH
    with lock:
        expected.append({"tid": threading.get_native_id(), "stack": stack[:DEPTH], "cut": cut})


# The call is made on the line that was noted.
def sync():
    note(sys._getframe()); cuda.cuCtxSynchronize()


def plain(library):
    note(sys._getframe()); library.cuCtxSynchronize()
    (note(sys._getframe()), library.cuCtxSynchronize(
        ))
    for i in range(3):
        note(sys._getframe()); library.cuCtxSynchronize()


def raising():
    try:
        note(sys._getframe()); cuda.cuCtxSynchronize()
        raise ValueError
    except ValueError:
        note(sys._getframe()); cuda.cuCtxSynchronize()
        try:
            [][1]
        except IndexError:
            sync()
    finally:
        note(sys._getframe()); held.cuCtxSynchronize()


def generator():
    for i in range(3):
        note(sys._getframe()); cuda.cuCtxSynchronize()
        yield i
        sync()


def delegating():
    yield from generator()
    yield from (plain(cuda) or i for i in range(2))


class Thing:
    def __init__(self):
        sync()

    def __getitem__(self, i):
        sync()
        return i

    @property
    def value(self):
        sync()
        return 1

    def __del__(self):
        sync()

    @staticmethod
    def of(n):
        return [Thing()[i] for i in range(n)]


async def coroutine(n):
    sync()
    await asyncio.sleep(0)
    note(sys._getframe()); cuda.cuCtxSynchronize()
    if n:
        await coroutine(n - 1)
    async for i in agenerator():
        sync()


async def agenerator():
    for i in range(2):
        sync()
        yield i


async def gathered():
    await asyncio.gather(*(coroutine(i) for i in range(3)))


def recursive(n):
    if n % 50 == 0:
        note(sys._getframe()); cuda.cuCtxSynchronize()
    return recursive(n - 1) if n else 0


def generated(i):
    # Code that comes and goes, at the same addresses: other names, other files, other lines.
    for source, name in ((f"\n\ndef f{i}():\n    note(sys._getframe()); cuda.cuCtxSynchronize()\nf{i}()", f"<generated {i}>"),
                         ("\n" * (i % 7) + "note(sys._getframe()); cuda.cuCtxSynchronize()", "<string>"),
                         ("pass\n" * (i % 5) + "if 1:\n" + " pass\n" * (i % 11) + " note(sys._getframe()); cuda.cuCtxSynchronize()", "<string>")):
        exec(compile(source, name, "exec"), globals())
    # The last but one has a byte that is no UTF-8, of the last one the end is kept.
    for name in "/tmp/n\xe9\u4e2d\U0001f600.py", "caf\xe9.py", "caf\udce9.py", "/long" * 500 + "/\u4e2d" * 400 + "/end.py":
        eval(compile("(note(sys._getframe()), cuda.cuCtxSynchronize())", name, "eval"), globals())


def wide(n):
    # More than 256 units of code, long jumps of lines.
    source = "def wide_made():\n" + "".join(f"    x{i} = {i}\n" + "\n" * (i % 300) for i in range(200))
    source += "    note(sys._getframe()); cuda.cuCtxSynchronize()\n    return x199\nwide_made()"
    exec(compile(source, "wide_%d.py" % n, "exec"), globals())


def sort_key(x):
    sync()
    return x


def callbacks():
    sorted([3, 1, 2], key=sort_key)
    list(map(sort_key, [1, 2]))
    (lambda: sync())()
    max([1, 2], key=lambda x: (sync(), x)[1])
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: (sync(), 0)[1])
    array = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(array, 3, 4, callback)


def everything():
    plain(cuda)
    plain(held)
    raising()
    list(generator())
    list(delegating())
    Thing.of(2)
    Thing().value
    asyncio.run(gathered())
    callbacks()


def thread():
    for i in range(ROUNDS // 5 + 1):
        everything()
        recursive(100)
        generated(i)


def main():
    if os.environ.get("HELD"):
        held.cuInit(0)
    else:
        cuda.cuInit(0)
    context = ctypes.c_void_p()
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    threads = [threading.Thread(target=thread) for i in range(3)]
    for t in threads:
        t.start()
    for i in range(ROUNDS):
        everything()
        generated(i)
        wide(i % 3)
    sys.setrecursionlimit(3000)
    recursive(900)
    for t in threads:
        t.join()
    child = os.fork() if not os.environ.get("NO_FORK") else -1
    if child == 0:
        expected.clear()
        cuda.cuCtxSynchronize
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)


main()
with open(OUT, "w") as out:
    for e in expected:
        out.write(json.dumps(e) + "\n")
