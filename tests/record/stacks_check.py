# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the stacks of a recording with those that the program wrote (stacks.py).

Usage: stacks_check.py TRACE_JSONL EXPECTED FUNCTION[,FUNCTION...] [CALLER]
The calls of FUNCTION are compared, in the order of each thread; with CALLER those that this function of the
program makes.  Prints what differs; status 1 then.
"""
import collections
import json
import sys


def main():
    trace, expected = sys.argv[1:3]
    functions = sys.argv[3].split(",")
    caller = sys.argv[4] if len(sys.argv) > 4 else None
    calls = collections.defaultdict(list)
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            record = json.loads(line)
            if record["name"] in functions and record["phase"] == "E":
                stack = [tuple(f) for f in record.get("stack", [])]
                if not caller or (stack and stack[0][2] == caller):
                    calls[record["tid"]].append(stack)
    wanted = collections.defaultdict(list)
    with open(expected, encoding="utf-8") as lines:
        for line in lines:
            e = json.loads(line)
            stack = [tuple(f) for f in e["stack"]]
            if e["cut"]:
                stack.append(("", 0, "(deeper frames)"))
            wanted[e["tid"]].append(stack)
    compared = wrong = 0
    for tid, stacks in wanted.items():
        if len(stacks) != len(calls[tid]):
            print("thread %d: %d calls, %d recorded" % (tid, len(stacks), len(calls[tid])))
            wrong += 1
        for stack, got in zip(stacks, calls[tid]):
            compared += 1
            if got == stack:
                continue
            wrong += 1
            if wrong < 4:
                print("expected %d frames, got %d" % (len(stack), len(got)))
                for a, b in zip(stack + [None] * len(got), got + [None] * len(stack)):
                    if a != b:
                        print("  ", a, b)
                        break
    print("%d stacks compared, %d wrong" % (compared, wrong))
    return 1 if wrong or not compared else 0


sys.exit(main())
