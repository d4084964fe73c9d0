#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the GPU records of a trace (JSON Lines) against the calls that caused them.

    activity_check.py FILE.jsonl [PROFILE.tsv]

Prints one line a check; exit status 1 if a record has no call, began before its call by more
than the clock's uncertainty, or ended after a synchronisation that waited for it. With
PROFILE.tsv (name, count, ns; activity_profile.py): kernels by name side by side.
"""

import collections
import json
import sys

SLACK_NS = 2000


def main():
    calls, records, uncertainty, states = {}, [], 0, []
    for line in open(sys.argv[1], encoding="utf-8"):
        if not line.startswith("{"):
            continue
        e = json.loads(line)
        if e.get("name") == "gpu_clock":
            uncertainty = max(uncertainty, e["details"]["uncertainty_ns"])
            states.append("clock method %d, %d ns" % (e["details"]["method"], e["details"]["uncertainty_ns"]))
        elif e.get("name") == "gpu_state":
            states.append("%d %s" % (e["details"]["state"], e["details"]["text"]))
        elif e["phase"] != "E":
            continue
        elif e.get("layer") == "gpu":
            records.append(e)
        elif e.get("layer") == "user" and e["type"] in ("kernel", "transfer", "graph", "sync"):
            calls[e["op_id"]] = e
    for e in (*calls.values(), *records):
        e["begin"] = e["ts_ns"] - round(e["duration_us"] * 1000)
    print("  state:", "; ".join(states))
    work = {i: c for i, c in calls.items() if c.get("op") in ("launch", "copy", "set")}
    unjoined = [r for r in records if r.get("launch_op_id") not in work]
    joined = [(r, work[r["launch_op_id"]]) for r in records if r.get("launch_op_id") in work]
    early = [r["begin"] - c["begin"] for r, c in joined]
    print("  records %d, kernels %d, not joined %d; earliest after its call's begin %s ns" % (
        len(records), sum(r["name"] == "gpu_kernel" for r in records), len(unjoined), min(early, default="-")))
    for r in unjoined[:5]:
        print("    not joined:", r["name"], r["details"]["correlation"], r.get("kernel", ""), r.get("size", ""))
    done = {r["launch_op_id"] for r, _ in joined}
    silent = collections.Counter(c["name"] for i, c in work.items()
                                 if i not in done and c.get("result") == "CUDA_SUCCESS")
    print("  calls %d, without a record: %s" % (len(work), dict(silent)))
    print("  numbers: first %s, last %s; offset changes %s" % (*ends(joined), changes(work, joined)))
    late = waits(calls, joined)
    print("  ended after a wait for it returned: %d, at most by %d ns" % (len(late), max(late, default=0)))
    if len(sys.argv) > 2:
        compare(records, sys.argv[2])
    limit = SLACK_NS + uncertainty
    return bool(unjoined) or min(early, default=0) < -limit or max(late, default=0) > limit


def ends(joined):
    numbers = sorted(r["details"]["correlation"] for r, _ in joined)
    return (numbers[0], numbers[-1]) if numbers else ("-", "-")


def changes(work, joined):
    """Where number and index of the call do not go side by side: (number, index - number)."""
    index = {op: i for i, op in enumerate(sorted(i for i, c in work.items()
                                                 if c.get("result") == "CUDA_SUCCESS"))}
    found, last = [], None
    for number, op in sorted({(r["details"]["correlation"], c["op_id"]) for r, c in joined}):
        if op in index and index[op] - number != last:
            last = index[op] - number
            found.append((number, last))
    return "%d %s" % (len(found), found[:12])


def waits(calls, joined):
    """ns by which work ended after a synchronisation that waited for it."""
    by_thread = collections.defaultdict(list)
    for r, c in joined:
        by_thread[c["tid"], c["pid"]].append((c["ts_ns"], r["ts_ns"], c["details"].get("stream"), c))
    late = []
    for wait in calls.values():
        if wait["type"] != "sync" or wait.get("result") != "CUDA_SUCCESS":
            continue
        stream = wait["details"].get("handle", wait["details"].get("stream"))
        if wait["name"] not in ("cuStreamSynchronize", "cuCtxSynchronize"):
            continue
        pending = by_thread[wait["tid"], wait["pid"]]
        rest = []
        for item in pending:
            covered = item[0] <= wait["begin"] and (wait["name"] == "cuCtxSynchronize" or item[2] == stream)
            if covered and item[1] > wait["ts_ns"]:
                late.append(item[1] - wait["ts_ns"])
            if not covered:
                rest.append(item)
        by_thread[wait["tid"], wait["pid"]] = rest
    return late


def plain(name):
    return "".join(name.split()).removeprefix("void")


def compare(records, path):
    ours = collections.defaultdict(lambda: [0, 0])
    for r in records:
        if r["name"] == "gpu_kernel":
            k = ours[plain(r.get("kernel", "?"))]
            k[0] += 1
            k[1] += r["duration_us"] * 1000
    theirs = {}
    for line in open(path, encoding="utf-8"):
        name, count, ns = line.rstrip("\n").split("\t")
        theirs[plain(name)] = [int(count), float(ns)]
    differ = [n for n in {*ours, *theirs} if ours.get(n, [0])[0] != theirs.get(n, [0])[0]]
    print("  profiler: %d names, %d kernels, %.3f ms; ours: %d names, %d kernels, %.3f ms; counts differ: %d" % (
        len(theirs), sum(t[0] for t in theirs.values()), sum(t[1] for t in theirs.values()) / 1e6,
        len(ours), sum(o[0] for o in ours.values()), sum(o[1] for o in ours.values()) / 1e6, len(differ)))
    for n in differ[:6]:
        print("    %s: ours %s, profiler %s" % (n[:90], ours.get(n, [0])[0], theirs.get(n, [0])[0]))
    for n in sorted(theirs, key=lambda n: -theirs[n][1])[:6]:
        if n in ours:
            print("    %8.3f ms, profiler %8.3f ms: %s" % (ours[n][1] / 1e6, theirs[n][1] / 1e6, n[:70]))


if __name__ == "__main__":
    sys.exit(main())
