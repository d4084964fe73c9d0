# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads that give the GPU work by turns: work() sleeps before its thread launches, take() waits for another thread.

Usage: stacks_threads.py LIBCUDA HOW [ROUNDS [lock|often]]
HOW they hand on: queue, condition, pool (with futures), join, poll (the main thread looks after them); socket: a thread of the program
that calls no CUDA sends what each of them waits for; event: it sets what they wait for; gil: they do not, each computes in Python, which
one at a time can do; a file: stacks_partner.c's thread, which
has no Python code.  With "lock" work() waits for a lock that nobody gives back; with "often" stacks_partner.c's thread launches each
half millisecond.
"""
import concurrent.futures
import ctypes
import queue
import socket
import sys
import threading
import time

cuda = ctypes.CDLL(sys.argv[1])
how = sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
context, module, kernel = (ctypes.c_void_p() for _ in range(3))
SHAPE = [ctypes.c_uint(1)] * 6 + [ctypes.c_uint(0)]


held = threading.Lock() if sys.argv[4:] == ["lock"] else None
if held:
    held.acquire()


def work(seconds=0.004):
    if held:
        held.acquire(timeout=seconds)
    elif how == "gil":
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            sum(range(300))
    else:
        time.sleep(seconds)


def give():
    cuda.cuLaunchKernel(kernel, *SHAPE, None, None, None)
    cuda.cuCtxSynchronize()


def take(wait, *args):
    return wait(*args)


def by_queue(me, queues):
    while take(queues[me].get):
        work()
        give()
        more = next(turns, None) is not None
        for q in [queues[(me + 1) % len(queues)]] if more else queues:
            q.put(more)


def by_condition(me):
    global turn
    for _ in range(rounds // 2):
        with condition:
            take(condition.wait_for, lambda: turn == me)
        work()
        give()
        with condition:
            turn = 1 - me
            condition.notify_all()


def in_pool():
    cuda.cuCtxSetCurrent(context)
    work()
    give()


def by_socket(end):
    while take(end.recv, 1) == b"x":
        give()


def by_event(mine):
    for event in mine:
        take(event.wait)
        give()


def by_gil():
    for _ in range(rounds // 2):
        work(0.02)
        give()


def run(threads, join=True):
    def begin(target, *args):
        cuda.cuCtxSetCurrent(context)
        target(*args)

    threads = [threading.Thread(target=begin, args=one) for one in threads]
    for thread in threads:
        thread.start()
    for thread in threads if join else []:
        take(thread.join)
    return threads


cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
cuda.cuModuleLoadData(ctypes.byref(module), b"cudatrace-sim-image 1\nkernel one - 100000\n")
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"one")
if how == "queue":
    turns = iter(range(rounds))
    queues = [queue.Queue() for _ in range(3)]
    queues[0].put(True)
    threads = [(by_queue, i, queues) for i in range(3)]
    run(threads)
elif how in ("condition", "poll"):
    turn, condition = 0, threading.Condition()
    give()
    threads = run([(by_condition, i) for i in range(2)], how == "condition")
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.01)
elif how == "gil":
    run([(by_gil,) for i in range(2)], False)
elif how == "pool":
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            take(pool.submit(in_pool).result)
            give()
elif how == "join":
    # A thread is not sampled before its first launch, on a busy machine until later: each has many.
    for _ in range(rounds // 20):
        give()
        run([(lambda: [in_pool() for _ in range(20)],)])
elif how == "socket":
    ends = [socket.socketpair() for _ in range(2)]

    def send():
        for i in range(rounds):
            time.sleep(0.004)
            ends[i % 2][1].send(b"x")
        for end in ends:
            end[1].send(b"-")

    threading.Thread(target=send).start()
    run([(by_socket, end[0]) for end in ends])
elif how == "event":
    events = [threading.Event() for _ in range(rounds)]

    def set_them():
        for event in events:
            time.sleep(0.004)
            event.set()

    threading.Thread(target=set_them).start()
    run([(by_event, events[i::2]) for i in range(2)])
else:
    partner = ctypes.CDLL(how)
    if partner.partner_begin(sys.argv[1].encode(), context, kernel, ctypes.c_long(500000 if sys.argv[4:] == ["often"] else 0)):
        sys.exit("no partner")
    for _ in range(rounds):
        work(0.02)
        give()
        partner.partner_turn()
