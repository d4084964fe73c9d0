# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what a trace of graph_nodes.py says of graphs with what the program expects.

Usage: graph_nodes_check.py EXPECTED CALLS LINES

CALLS: explain --slowest, of all graph launches, as JSON. LINES: report graph_lines as JSON. EXPECTED is the program's. Each
kernel of each replay has its line, by its grid; and each graph has its lines with how many kernels, and how long these ran.
With --host the trace has no records of the GPU. With --untold it is not known of each kernel which node it is: some have
their line, the others none, and there is no time.
"""
import collections
import json
import re
import sys

SHOWN = 20			# by explain, of a launch

host, untold = "--host" in sys.argv, "--untold" in sys.argv
expected, calls, lines = (name for name in sys.argv[1:] if not name.startswith("--"))
with open(expected, encoding="utf-8") as text:
    graphs = [(way, int(launches), [kernel.split(":") for kernel in kernels]) for way, launches, *kernels in map(str.split, text)]
with open(lines, encoding="utf-8") as text:
    rows = json.load(text)
wrong = []

replays, times = collections.defaultdict(list), collections.Counter()
if not host:
    with open(calls, encoding="utf-8") as text:
        for row in json.load(text)["call_gpu"]:
            if row["Name"] == "gpu_kernel":
                replays[row["Call"]].append((re.search(r"grid (\d+)x", row["Detail"])[1], row.get("Captured"), row["Duration (ns)"]))
    wanted = [(number, dict((grid, f"{line} ({function})") for grid, line, function in kernels))
              for number, (way, launches, kernels) in enumerate(graphs, 1) for _ in range(launches)]
    if len(replays) != len(wanted):
        wrong.append(f"{len(replays)} graph launches with kernels, not {len(wanted)}")
    for (call, kernels), (number, places) in zip(sorted(replays.items()), wanted):
        found = {grid: (captured or "").partition(":")[2] for grid, captured, _ in kernels}
        if untold:
            known = {grid: place for grid, place in found.items() if place}
            if not known or len(known) == len(places) or not known.items() <= places.items():
                wrong.append(f"graph {number} ({graphs[number - 1][0]}), call {call}: {found}, not some of {places}")
        elif found != places if len(graphs[number - 1][2]) <= SHOWN else not found.items() <= places.items():
            wrong.append(f"graph {number} ({graphs[number - 1][0]}), call {call}: {found}, not {places}")
        for grid, captured, ns in kernels:
            times[number, (captured or "").partition(":")[2]] += ns

for number, (way, launches, kernels) in enumerate(graphs, 1):
    places = collections.Counter(f"{line} ({function})" for _, line, function in kernels)
    found = {f"{row['Line'].partition(':')[2]} ({row['Function']})": row for row in rows if row["Graph"] == number}
    if {place: row["Captured Kernels"] for place, row in found.items()} != places:
        wrong.append(f"graph {number} ({way}): report graph_lines has {found}, not {places}")
        continue
    for place, row in found.items():
        if row["Graph Launches"] != launches:
            wrong.append(f"graph {number} ({way}): {row['Graph Launches']} launches, not {launches}")
        if len(kernels) <= SHOWN and row["GPU Time (ns)"] != (None if host or untold else times[number, place]):
            wrong.append(f"graph {number} ({way}), {place}: {row['GPU Time (ns)']} ns, not {times[number, place]}")
if len(graphs) != len({row["Graph"] for row in rows}):
    wrong.append(f"graphs {sorted({row['Graph'] for row in rows})}, not {len(graphs)}")
for what in wrong[:10]:
    print(what[:1000])
print(f"{len(graphs)} graphs, {len(wrong)} differences")
sys.exit(bool(wrong) or not graphs)
