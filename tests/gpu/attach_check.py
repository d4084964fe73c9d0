# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what was recorded of a program that ran already with the iterations that the program counted itself.

Usage: attach_check.py TIMES < TRACE_CSV
TIMES: when each iteration began (running.py).  Of the iterations that lie in the recording wholly, each must have the same
launches, copies, sets and waits of the host, function by function.  Prints the counts; status 1 if one differs.
"""
import bisect
import collections
import csv
import sys

WORK = ("launch", "copy", "set")


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        times = [int(line) for line in file]
    calls = []
    threads = collections.defaultdict(list)
    csv.field_size_limit(1 << 24)
    for row in csv.DictReader(sys.stdin):
        if row["layer"] == "user" and row["phase"] == "E" and row["depth"] == "0":
            calls.append((int(row["begin_ns"]), row["name"], row["op"]))
            threads[row["tid"]].append(calls[-1][0])
    # A recorder that keeps the newest drops the calls of each thread by themselves: what lies behind the first of all
    # threads that call much is there wholly.
    much = [t for t in threads.values() if len(t) > len(calls) // 50]
    begin, behind = max(min(t) for t in much), min(max(t) for t in much)
    first = bisect.bisect_left(times, begin)
    end = bisect.bisect_right(times, behind) - 1		# the last one may lie in it in part
    counts = collections.defaultdict(collections.Counter)
    kinds = {}
    for begin, name, op in calls:
        i = bisect.bisect_right(times, begin) - 1
        if first <= i < end:
            counts[name][i] += 1
            kinds[name] = op
    print("%d iterations wholly in the recording, %d calls" % (end - first, sum(sum(c.values()) for c in counts.values())))
    wrong = 0
    for name, each in sorted(counts.items()):
        by_count = collections.Counter(each[i] for i in range(first, end))
        usual = by_count.most_common(1)[0][0]
        others = (end - first) - by_count[usual]
        print("  %-34s %-10s %4d in each iteration, otherwise in %d %s" % (name, kinds[name], usual, others,
              dict(by_count.most_common(4)) if others else ""))
        if others and (kinds[name] in WORK or name.endswith("Synchronize")):
            wrong += 1
            odd = [i - first for i in range(first, end) if each[i] != usual]
            print("    in iterations", odd[:8], "of", end - first)
    return 1 if wrong or end <= first else 0


sys.exit(main())
