# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# shellcheck disable=SC2034
#
# How much the suites of the command line (cli, reports, export) do.  Sourced; the only place that
# reads CT_TEST_LONG.  With CT_TEST_LONG=1 (make test-long) they run in full, else with
# what shows the same defects in a tenth of the time (docs/testing.md has the table).
#
#	$archives	traces of real programs.  In full also those of tests/data/long, which are
#			whole where tests/data has their begin
#	$spared		traces that the formats of export, and the reports on calls, are not tried on: no record
#			of them has a word or a field that those of the others lack (the test
#			export_spared says so, in full)
#	$hostile_count	records, threads, classes of a hostile trace: more than each limit of depth and
#			of tracks that a test can reach by thousands.  In full: as many as hostile_trace says
#	$hostile_big	records of one whose memory is measured
#	$full		not empty: in full
#	$fuzz_count	damaged traces, where CT_FUZZ does not say it
archives=(tests/data/*.tar.xz)
hostile_count=5000
hostile_big=100000
fuzz_count=12
full=
spared='(problems/)?(alloc_in_loop|alloc_in_loop-mended|exact_repeats|getters|getters-mended|host_bound|host_bound-mended|
	ignored_errors-mended|lazy_loading|lazy_loading-mended|leak-mended|off_cpu-mended|pageable_copies|pageable_copies-mended|
	shared_gpu-mended|small_copies|small_copies-mended|sync_each_step|sync_each_step-mended)|
	guest-off-cpu-mended|guest-two|train'
spared=${spared//[[:space:]]/}
if [ "${CT_TEST_LONG:-}" = 1 ]; then
	archives+=(tests/data/long/*.tar.xz)
	hostile_count=
	hostile_big=1500000
	fuzz_count=1000
	full=1
	spared=
fi

# without_spared: of the names of traces on stdin, those that are not spared
without_spared() { if [ -n "$spared" ]; then grep -vxE "$spared"; else cat; fi; }

# fuzz_seeds: numbers that differ from commit to commit; CT_FUZZ_SEED=N repeats those from N on.
fuzz_seeds()
{
	local first=${CT_FUZZ_SEED:-}
	[ -n "$first" ] || first=$((16#0$(git rev-parse HEAD 2>/dev/null | cut -c 1-6)))
	echo "# CT_FUZZ_SEED=$first" >&2
	seq "$first" $((first + ${CT_FUZZ:-$fuzz_count} - 1))
}
