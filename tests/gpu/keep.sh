#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: [SECONDS_LONG=540] [KEEP=60s] keep.sh [OUTDIR]
#
# record --keep with --gpu and --stacks on a machine with a GPU: a PyTorch program runs under it for minutes, and what the
# program, the recorder and the trace take is looked at every 10 s.  None may grow once the kept time is full.
# A snapshot in the middle and one at the end have the kept time.  Prints TAP, and the figures.
set -u
cd "$(dirname "$0")/../.."
out=${1:-build/tests/gpu}
mkdir -p "$out"
. tests/judge.sh
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
long=${SECONDS_LONG:-540} keep=${KEEP:-60s}

# kib PID FIELD
kib() { awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status" 2>/dev/null; }

build/cudatrace record -q -f --no-module --keep "$keep" --gpu --stacks -o "$out/trace-keep" -- \
	python3 tests/gpu/running.py training "$long" "$out/keep.times" >"$out/keep.out" 2>"$out/keep.err" & recorder=$!
until grep -q ready "$out/keep.out" || ! kill -0 $recorder 2>/dev/null; do sleep 0.5; done
program=$(pgrep -P $recorder -f running.py | head -n 1)
echo "seconds program-anon program-shared recorder-anon recorder-shared trace-KiB" >"$out/keep.memory"
begun=$SECONDS
while kill -0 "$program" 2>/dev/null; do
	echo "$((SECONDS - begun)) $(kib "$program" RssAnon) $(kib "$program" RssShmem) $(kib $recorder RssAnon) $(kib $recorder RssShmem) $(du -sk "$out/trace-keep" | cut -f1)" >>"$out/keep.memory"
	if [ $((SECONDS - begun)) -gt $((long / 2)) ] && [ ! -e "$out/keep-half" ]; then
		build/cudatrace snapshot -q -f --pid $recorder -o "$out/keep-half" 2>"$out/keep-half.err"
		is $? 0 "a snapshot in the middle" || cat "$out/keep-half.err"
	fi
	sleep 10
done
wait $recorder
is $? 0 "the program ends as it would"
grep -q '^wrong 0$' "$out/keep.out"
ok $? "with the same results" || tail -n 3 "$out/keep.out" "$out/keep.err"
cat "$out/keep.memory"
# From when the kept time is full twice over: the last third against the first.
awk -v from=150 'NF == 6 && $1 > from { n++; for (i = 2; i <= 6; i++) v[n, i] = $i }
	END { for (i = 2; i <= 6; i++) { a = b = 0; t = int(n / 3); for (k = 1; k <= t; k++) { a += v[k, i]; b += v[n - t + k, i] }
		printf "%.3f ", a ? b / a : 1 } print "" }' "$out/keep.memory" >"$out/keep.growth"
echo "growth: $(cat "$out/keep.growth")"
awk '{ for (i = 1; i <= NF; i++) if ($i > 1.05) exit 1 }' "$out/keep.growth"
ok $? "neither the program's and the recorder's memory nor the trace grow"
for trace in keep-half trace-keep; do
	build/cudatrace report "$out/$trace" >"$out/$trace.report" 2>&1
	is $? 0 "$trace is read"
	sed -n '1,12p' "$out/$trace.report"
	! grep -E 'were lost|damaged' "$out/$trace.report"
	ok $? "... nothing is lost"
	build/cudatrace report --format csv cuda_gpu_kern_sum "$out/$trace" 2>/dev/null | head -n 3
done
plan
