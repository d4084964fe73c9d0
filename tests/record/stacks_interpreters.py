# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls cuCtxSynchronize from a second interpreter that the first one runs, in the same thread, in two threads at a time
and by a thread that did not make it; and code of an interpreter that went, at whose place another one's lies.

Usage: stacks_interpreters.py LIBCUDA EXPECTED [SECONDS]

EXPECTED: a line for each call, TID [[LINE, FUNCTION] ...], the innermost first.  SECONDS: then the second interpreter computes for so long.
"""
import json
import sys
import threading

try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters

SOURCE = """import ctypes
cuda = ctypes.CDLL(%r)
%s
def %s():
    cuda.cuCtxSynchronize()
for _ in range(%d):
    %s()
"""
expected = open(sys.argv[2], "w")
lock = threading.Lock()


def new():
    try:
        return _interpreters.create("legacy")
    except TypeError:
        return _interpreters.create(isolated=False)


def source(name, above, count):
    # Nothing else of the interpreter is between the frames of the two.
    return SOURCE % (sys.argv[1], "\n" * above, name, count, name)


def expect(name, above, count, frame):
    stack = [[5 + above, name], [7 + above, "<module>"]]
    while frame:
        stack.append([frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    with lock:
        for _ in range(count):
            print(threading.get_native_id(), json.dumps(stack), file=expected)


def run(which, name, above, count):
    def called():
        expect(name, above, count, sys._getframe()), _interpreters.run_string(which, source(name, above, count))
    called()




import ctypes
cuda, context = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
first = new()
run(first, "inner", 0, 10)
thread = threading.Thread(target=run, args=(first, "foreign", 3, 10))
thread.start()
thread.join()
threads = [threading.Thread(target=lambda i: run(new(), "thread_%d" % i, i, 20), args=(i,)) for i in range(2)]
for thread in threads:
    thread.start()
    # Before 3.12 two that run at a time may wait for each other's lock for ever.
    if sys.version_info < (3, 12):
        thread.join()
run(first, "inner", 0, 10)
for thread in threads:
    thread.join()


class Large(ctypes.Structure):
    """As an argument it lies on the thread's stack: the main thread's grows by it."""
    _fields_ = [("bytes", ctypes.c_char * (1 << 20))]


ctypes.CFUNCTYPE(None, Large)(lambda large: run(first, "deeper", 1, 10))(Large())
for i in range(20):
    again = new()
    run(again, "went_%02d" % i, i % 3, 2)
    _interpreters.destroy(again)
expected.close()


def spin_from():
    SPIN = "import time\ndef spin(end):\n    while time.time() < end:\n        pass\nspin(time.time() + %s)\n" % sys.argv[3]
    _interpreters.run_string(first, SPIN)


if len(sys.argv) > 3:
    spin_from()
