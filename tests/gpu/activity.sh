#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: activity.sh OUTDIR PART...
#
# record --gpu on a machine with a GPU.  Wants `make programs` done (build/ may come from
# another machine); a part whose program is missing is skipped aloud.  Prints TAP and what was
# counted; what fails leaves its lines in OUTDIR.  Parts:
#   calls threads graph kill idle	programs whose work is known (activity.c)
#   gpt2	GPT-2 with PyTorch, its kernels by name against torch.profiler in a run of its own
#   company	torch.profiler inside a program that is recorded
#   compiled graphs jax cupy python resnet	other programs
#   cost	GPT-2 and graphs in turns: bare, with CUPTI alone, recorded, recorded with --gpu
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu-activity}
shift
mkdir -p "$out"
. tests/judge.sh
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
activity=$out/activity
${CC:-gcc} -O2 -o "$activity" tests/gpu/activity.c -ldl -lpthread || exit 2
export XLA_PYTHON_CLIENT_PREALLOCATE=false

# recorded NAME OPTION COMMAND...: its status; the trace as $out/NAME.jsonl
recorded()
{
	local name=$1 option=$2
	shift 2
	timeout 240 build/cudatrace record $option --no-module -q -f -o "$out/trace-$name" -- "$@" \
		>"$out/$name.out" 2>"$out/$name.err"
	local status=$?
	grep -v '^cudatrace: \(trace in\|recording without\)' "$out/$name.err" | head -n 4
	build/cudatrace export --format jsonl -f -o "$out/$name.jsonl" "$out/trace-$name" 2>&1 | head -n 3
	return $status
}

# check NAME OPTION COMMAND...: every record has its call, and the times fit
check()
{
	local name=$1
	recorded "$@"
	local status=$?
	if [ $status = 77 ]; then
		skip "$name: a package is missing"
		return
	fi
	[ $status = 0 ] || { echo "# $name: status $status"; tail -n 3 "$out/$name.out"; }
	python3 tests/gpu/activity_check.py "$out/$name.jsonl" ${profile:+"$profile"} >"$out/$name.check" 2>&1
	ok $? "$name: every record has its call, and times fit"
	sed 's/^/# /' "$out/$name.check"
	build/cudatrace report "$out/trace-$name" 2>/dev/null | grep -i 'lost records' | sed 's/^/# /'
}

part_calls() { check calls --gpu "$activity" calls; }
part_threads() { check threads --gpu "$activity" threads 5000; }
part_graph()
{
	check graph --gpu "$activity" graph 500
	check graph-nodes --gpu=nodes "$activity" graph 500
	check graph-graphs --gpu=graphs "$activity" graph 500
}

part_kill()
{
	recorded kill --gpu "$activity" kill
	is "$(grep -c '"name":"gpu_kernel","phase":"E"' "$out/kill.jsonl")" 1000 \
		"kill: kernels from more than a second before are there"
}

part_idle()
{
	check idle --gpu "$activity" idle 200
	python3 - "$out/idle.jsonl" "$(sed -n 's/idle_ms //p' "$out/idle.out")" <<'EOF'
import json, sys
spans = []
for line in open(sys.argv[1]):
    e = json.loads(line) if line.startswith("{") else {}
    if e.get("name") == "gpu_kernel" and e["phase"] == "E" and e.get("kernel") == "spin":
        spans.append((e["ts_ns"] - e["duration_us"] * 1000, e["ts_ns"]))
spans.sort()
busy = sum(b - a for a, b in spans) / 1e6
idle = sum(b[0] - a[1] for a, b in zip(spans, spans[1:])) / 1e6
known = float(sys.argv[2])
print(f"# {len(spans)} kernels, busy {busy:.3f} ms, idle {idle:.3f} ms; the program says {known:.3f} ms: {100 * (idle / known - 1):+.2f} %")
sys.exit(abs(idle / known - 1) > 0.02)
EOF
	ok $? "idle: the idle time is that of the program"
	build/cudatrace report --from start gaps "$out/trace-idle" 2>/dev/null | head -n 12 | sed 's/^/# /'
}

part_gpt2()
{
	python3 tests/gpu/activity_profile.py "$out/gpt2.tsv" examples/gpt2.py --tokens 32 >"$out/gpt2.profile" 2>&1 ||
		tail -n 3 "$out/gpt2.profile"
	profile=$out/gpt2.tsv check gpt2 --gpu python3 examples/gpt2.py --tokens 32
}

part_company()
{
	python3 tests/gpu/profiled.py >"$out/company.bare" 2>/dev/null
	recorded company --gpu sh -c 'python3 tests/gpu/profiled.py 2>/dev/null'
	diff "$out/company.bare" "$out/company.out"
	ok $? "company: torch.profiler sees what it sees without us"
	python3 tests/gpu/activity_check.py "$out/company.jsonl" | grep 'state:' | sed 's/^/# /'
	grep -q '"name":"gpu_state".*another tool' "$out/company.jsonl"
	ok $? "company: the trace says from when on it lacks records"
}

part_compiled() { check compiled --gpu python3 tests/gpu/programs/compiled.py; }
part_graphs()
{
	check graphs --gpu python3 examples/graph.py --replays 300
	check graphs-nodes --gpu=nodes python3 examples/graph.py --replays 300
}
part_jax() { check jax --gpu python3 examples/jax_mlp.py --steps 100; }
part_cupy() { check cupy --gpu python3 tests/gpu/programs/cupy_loop.py; }
part_python() { check python --gpu python3 tests/gpu/programs/cuda_python.py; }
part_resnet() { check resnet --gpu python3 tests/gpu/programs/resnet.py; }

# The fastest, and the median.
seconds() { sed -n 's/.* in \([0-9.]*\) s/\1/p' "$1" | sort -n | awk '{ s[NR] = $1 } END { print s[1], s[int((NR + 1) / 2)] }'; }

# turns COMMAND...: bare, with CUPTI's collection alone, recorded, and recorded with --gpu
turns()
{
	local turn
	for turn in 1 2 3; do
		"$@" >"$out/cost.out" 2>/dev/null
		echo "# $turn bare: $(seconds "$out/cost.out")"
		[ ! -e "$out/cupti.so" ] || {
			CUDA_INJECTION64_PATH=$out/cupti.so "$@" >"$out/cost.out" 2>/dev/null
			echo "# $turn CUPTI alone: $(seconds "$out/cost.out")"
		}
		for option in -q --gpu; do
			build/cudatrace record --no-module $option -q -f -o "$out/trace-cost" -- "$@" >"$out/cost.out" 2>/dev/null
			echo "# $turn record $option: $(seconds "$out/cost.out")"
		done
	done
}

part_cost()
{
	${CC:-gcc} -shared -fPIC -O2 -I/usr/local/cuda/include -o "$out/cupti.so" tests/gpu/bench/cupti.c \
		-L/usr/local/cuda/lib64 -lcupti -Wl,-rpath,/usr/local/cuda/lib64 || echo "# cost: no CUPTI to compare with"
	echo "# GPT-2, 64 tokens, s: fastest and median of six"
	turns python3 examples/gpt2.py --tokens 64 --repeat 6
	echo "# 20,000 graph launches, s"
	turns "$activity" graph 20000
}

for part; do
	"part_$part"
done
plan
