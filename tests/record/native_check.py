# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares stacks of native_stacks.cc with what it printed.

Usage: native_check.py JSONL PRINTED
"""
import collections
import json
import re
import sys

OURS = {"call", "forward", "sized", "deep", "left", "right", "once", "~Cleanup", "thrower", "coroutine", "rounds"}
recorded, printed = collections.defaultdict(list), collections.defaultdict(list)
for line in open(sys.argv[1]):
    record = json.loads(line)
    if record.get("name") == "cuCtxSynchronize" and record.get("phase") == "E":
        names = [re.sub(r"\(.*|\[.*", "", name).strip().split("::")[-1] for _, _, name in record.get("stack", [])]
        recorded[record["tid"]].append(([name for name in names if name in OURS], "deeper frames" in str(record.get("stack"))))
for line in open(sys.argv[2]):
    tid, *names = line.split()
    printed[int(tid)].append(names)
wrong = 0
for tid, all_names in printed.items():
    if len(all_names) != len(recorded[tid]):
        wrong += 1
        print(f"# thread {tid}: {len(recorded[tid])} stacks of {len(all_names)}")
    for names, (got, cut) in zip(all_names, recorded[tid]):
        if (got != names[:len(got)] or len(got) < 150) if cut else got != names:
            wrong += 1
            if wrong < 4:
                print(f"# {names}\n# {got}")
total = sum(map(len, printed.values()))
print(f"{total - wrong} of {total} are the same")
sys.exit(wrong > 0 or total < 800)
