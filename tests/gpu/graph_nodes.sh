#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: graph_nodes.sh [OUTDIR]
#
# CUDA graphs that are built by nodes, on a machine with a GPU: each kernel of a replay has the line that added it, in each
# way in which libcuda builds graphs (tests/record/graph_nodes.py); and what JAX's command buffers and PyTorch show.
# Wants build/ (it may come from another machine: cudatrace, libcudatrace*.so), python3, for the rest JAX and PyTorch.
# Prints TAP.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-graph-nodes}
mkdir -p "$out"
. tests/judge.sh

# The numbers of nodes as CUPTI orders them, each in two halves, with the grid of its kernel.
numbers()
{
	build/cudatrace export --format jsonl -f -o "$1.jsonl" "$1" 2>/dev/null
	jq -sc '[.[] | select(.layer == "gpu" and .phase == "E" and (.details.graph_node // 0) != 0) | .details | [(.graph_node / 4294967296 | floor), .graph_node % 4294967296, .grid_x]] | unique | .[]' "$1.jsonl" |
		head -n 20 | tr '\n' ' '
	echo
}

for way in nodes again child moved conditional clone update capture fork; do
	t=$out/$way
	timeout 120 build/cudatrace record -q -f --no-module --stacks --sample=0 --gpu=nodes -o "$t" -- \
		python3 tests/record/graph_nodes.py libcuda.so.1 "$t.expected" $way >"$t.out" 2>"$t.err"
	ok $? "$way: the program runs" || { cat "$t.out" "$t.err"; continue; }
	build/cudatrace explain --slowest 100 --name cuGraphLaunch -n 0 --format json "$t" >"$t.calls" 2>/dev/null
	build/cudatrace report --format json -n 0 graph_lines "$t" >"$t.lines" 2>/dev/null
	python3 tests/record/graph_nodes_check.py "$t.expected" "$t.calls" "$t.lines"
	ok $? "... and each kernel has its line" || { cat "$t.expected"; build/cudatrace report graph_lines "$t"; }
	numbers "$t"
done
for kind in jax torch; do
	t=$out/$kind
	XLA_FLAGS="--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL" XLA_PYTHON_CLIENT_PREALLOCATE=false \
		timeout 200 build/cudatrace record -q -f --no-module --stacks --sample=0 --gpu=nodes -o "$t" -- python3 tests/gpu/graph_nodes.py $kind >"$t.out" 2>"$t.err"
	ok $? "$kind: the program runs" || { tail -n 5 "$t.err"; continue; }
	cat "$t.out"
	build/cudatrace report cuda_api_sum -n 60 "$t" 2>/dev/null | grep -i graph
	build/cudatrace report -n 12 graph_lines "$t"
	numbers "$t"
	op=$(jq -s 'map(select(.name == "cuGraphLaunch" and .phase == "E"))[-1].op_id // empty' "$t.jsonl")
	[ -z "$op" ] || build/cudatrace explain --call "$op" "$t" | sed -n '/ON THE GPU/,$p' | cut -c 1-200 | head -n 20
	build/cudatrace report --format json -n 0 graph_lines "$t" 2>/dev/null | grep -q 'graph_nodes.py:'
	ok $? "$kind: its graphs have lines of the program"
done
plan
