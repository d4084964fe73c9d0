# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What record sets for the program: options of the library, and the ways in, with what the
# user had there before.  Over the libcuda of the preload library's own tests.  Sourced by
# run.sh.

B=$PWD/build/tests/userlib

# recorded NAME [OPTION...] -- COMMAND...: its records in $work/NAME.jsonl, its output in NAME.out
recorded()
{
	local name=$1
	shift
	LD_LIBRARY_PATH=$B "$cudatrace" record -q -f --no-module -o "$work/$name" "$@" >"$work/$name.out" 2>"$work/$name.err" &&
		"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name"
}
# those NAME FILTER: how many records
those() { jq -s "[.[] | select(.layer == \"user\" and ($2))] | length" "$work/$1.jsonl"; }

# Options of record that the library obeys, and tools that the user has set.
t_options()
{
	make -s -j2 -f tests/userlib/build.mk || ok 1 "the preload library's test programs build"
	recorded queries -- "$B/victim" basic
	is "$?$(those queries '.name == "cuCtxGetCurrent" and .duration_us != null')" 00 "a query has no duration"
	recorded timed --time-queries -- "$B/victim" basic
	is "$?$(those timed '.name == "cuCtxGetCurrent" and .duration_us != null')" 01 "record --time-queries: it has one"

	recorded driver -- "$B/runtime"
	is "$?$(those driver '.name | startswith("cuda")')" 00 "calls of libcudart are not recorded"
	recorded runtime --runtime -- "$B/runtime"
	is "$?$(those runtime '.name == "cudaGetDevice"')" 02 "record --runtime: they are"

	NVTX_INJECTION64_PATH=$B/nvtx_tool.so "$B/nvtx_app" >"$work/nvtx.bare"
	NVTX_INJECTION64_PATH=$B/nvtx_tool.so recorded nvtx -- "$B/nvtx_app"
	is "$?$(those nvtx '.name == "range_push" and .details.text == "plain" and .phase != "E"')" 01 "NVTX: the program's ranges are in the trace"
	cmp -s "$work/nvtx.out" "$work/nvtx.bare" && grep -q '^tool: RANGE_PUSH_A plain' "$work/nvtx.out"
	ok $? "and in the tool that the user had set" || head -n 3 "$work/nvtx.out"

	recorded annotated --inject -- "$B/nvtx_app"
	is "$?$(those annotated '.name == "range_push" and .details.text == "plain" and .phase != "E"')" 01 "record --inject: NVTX ranges, too"
	recorded silent --no-nvtx -- sh -c 'echo "${NVTX_INJECTION64_PATH-unset}"'
	is "$?$(cat "$work/silent.out")" 0unset "record --no-nvtx leaves NVTX as it is"
	mkdir "$work/core" && cp build/libcudatrace.so "$work/core"
	CUDATRACE_LIBRARY=$work/core/libcudatrace.so NVTX_INJECTION64_PATH=mine \
		recorded without -- sh -c 'echo "$NVTX_INJECTION64_PATH"'
	is "$?$(cat "$work/without.out")$(grep -c '^cudatrace: NVTX .* not recorded: .*/core/libcudatrace-nvtx.so' "$work/without.err")" 0mine1 "without the NVTX plugin record says so, and goes on"

	CUDA_INJECTION64_PATH=$B/inject_tool.so recorded inject --inject -- "$B/inject_app"
	is "$?$(those inject '.name == "cuCtxSetCurrent" and .phase == "E"')$(grep -c '^tool: injected' "$work/inject.out")" 01001 "record --inject: each call once, and the tool that the user had set is injected, too"

	LD_PRELOAD=$B/late.so recorded preload -- sh -c 'echo "$LD_PRELOAD"'
	is "$?$(cat "$work/preload.out")" "0$PWD/build/libcudatrace.so:$B/late.so" "what the user preloads stays behind ours"
}

# sanitized NAME COMMAND...: its status, output and report are as without us, and its call is recorded.
sanitized()
{
	local name=$1 bare
	shift
	LD_LIBRARY_PATH=$B "$@" >"$work/$name.bare" 2>"$work/$name.bare.err"
	bare=$?
	recorded "$name" -- "$@"
	is $? $bare "record, $name: the program's status"
	cmp -s "$work/$name.out" "$work/$name.bare"
	ok $? "$name: its output"
	is "$(grep '^SUMMARY: A' "$work/$name.err")" "$(grep '^SUMMARY: A' "$work/$name.bare.err")" "$name: its report"
	"$cudatrace" export -f -o "$work/$name.jsonl" "$work/$name"
	is "$(those "$name" '.name == "cuInit" and .phase == "E"')" 1 "$name: its call is recorded"
}

# A program that reads behind its memory, under a sanitizer.
t_sanitizers()
{
	make -s -j2 -f tests/userlib/build.mk || ok 1 "the preload library's test programs build"
	cat >"$work/overrun.c" <<-'EOF'
	#include <dlfcn.h>
	#include <stdio.h>
	#include <stdlib.h>

	static char *p;

	int main(int argc, char **argv)
	{
		int (*init)(unsigned) = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit");

		printf("cuInit %d\n", init(0));
		fflush(stdout);
		p = malloc(argc);
		p[argc] = 1;
		return 3;
	}
EOF

	if gcc -w -g -fsanitize=address -o "$work/overrun" "$work/overrun.c" -ldl 2>"$work/asan.log"; then
		ASAN_OPTIONS=exitcode=77 sanitized "AddressSanitizer, with options of the user's" "$work/overrun"
		sanitized "AddressSanitizer in a script" sh -c '"$0"; exit $?' "$work/overrun"
		gcc -w -o "$work/plain" "$work/overrun.c" -ldl
		LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
			sanitized "AddressSanitizer, preloaded by the user" "$work/plain"
	else
		skip "AddressSanitizer: $(tail -n 1 "$work/asan.log")"
	fi
	if gcc -w -g -fsanitize=thread -o "$work/overrun" "$work/overrun.c" -ldl 2>"$work/tsan.log"; then
		sanitized ThreadSanitizer "$work/overrun"
	else
		skip "ThreadSanitizer: $(tail -n 1 "$work/tsan.log")"
	fi
}
