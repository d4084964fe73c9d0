// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * lazy_loading.c - code is loaded in the middle of the steady state.
 *
 * Every 20th iteration needs a kernel of a module that no iteration before it needed, and loads
 * it then: the driver compiles it, and the iteration takes many times as long as the others.
 * Mended: all modules are loaded before the loop.
 *
 * The driver's cache of compiled code is switched off, so that each run is like the first.
 */
#include "common.h"

enum { EVERY = 20, MODULES = 20, STEPS = 8, NUMBERS = 1024, NS = 50000, MIX_STEPS = 2000 };

static CUmodule modules[MODULES];
static CUfunction mix[MODULES];

/* mix(out, n, seed): some steps of a random generator, each an instruction to compile. */
static const char mix_begin[] =
	".version 7.0\n"
	".target sm_70\n"
	".address_size 64\n"
	"\n"
	".visible .entry mix(.param .u64 pout, .param .u32 pn,\n"
	"		.param .u32 pseed)\n"
	"{\n"
	"	.reg .pred %p<2>;\n"
	"	.reg .u32 %i, %n, %seed, %bx, %bd, %tx, %v;\n"
	"	.reg .u64 %out, %off;\n"
	"	mov.u32 %bx, %ctaid.x;\n"
	"	mov.u32 %bd, %ntid.x;\n"
	"	mov.u32 %tx, %tid.x;\n"
	"	mad.lo.u32 %i, %bx, %bd, %tx;\n"
	"	ld.param.u32 %n, [pn];\n"
	"	setp.ge.u32 %p1, %i, %n;\n"
	"	@%p1 bra done;\n"
	"	ld.param.u32 %seed, [pseed];\n"
	"	ld.param.u64 %out, [pout];\n"
	"	cvta.to.global.u64 %out, %out;\n"
	"	mul.wide.u32 %off, %i, 4;\n"
	"	add.u64 %out, %out, %off;\n"
	"	ld.global.u32 %v, [%out];\n";
static const char mix_step[] = "	mad.lo.u32 %v, %v, 1664525, %seed;\n";
static const char mix_end[] =
	"	st.global.u32 [%out], %v;\n"
	"done:\n"
	"	ret;\n"
	"}\n";

/* The simulated library compiles nothing; 10 ms stand in for it. */
static const char mix_simulated[] = "cudatrace-sim-image 1\n"
				    "load 10000000\n"
				    "kernel mix pii\n";

static char *mix_image(void)
{
	char *text, *at;
	int step;

	if (driver_simulated())
		return strdup(mix_simulated);
	text = at = malloc(sizeof(mix_begin) + sizeof(mix_end) + MIX_STEPS * sizeof(mix_step));
	if (!text)
		return NULL;
	at = stpcpy(at, mix_begin);
	for (step = 0; step < MIX_STEPS; step++)
		at = stpcpy(at, mix_step);
	stpcpy(at, mix_end);
	return text;
}

static void load(const char *image, int m)
{
	CHECK(cuModuleLoadData(&modules[m], image));
	CHECK(cuModuleGetFunction(&mix[m], modules[m], "mix"));
}

static void launch_mix(int m, CUdeviceptr out)
{
	int n = NUMBERS;
	void *params[] = { &out, &n, &m };

	CHECK(cuLaunchKernel(mix[m], (n + PROBLEM_BLOCK - 1) / PROBLEM_BLOCK, 1, 1, PROBLEM_BLOCK,
			     1, 1, 0, problem.stream, params, NULL));
}

int main(int argc, char **argv)
{
	CUdeviceptr numbers, mixed;
	int i, m, step, used = 0;
	uint32_t wanted = 0;
	char *image;
	double us;
	bool right;

	problem_options(argc, argv, "lazy_loading", 400,
			"Loads another module in every 20th iteration.",
			"load all modules before the loop");
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	problem_open();
	image = mix_image();
	if (!image)
		return 1;
	numbers = device_memory(NUMBERS * sizeof(uint32_t));
	mixed = device_memory(NUMBERS * sizeof(uint32_t));
	for (m = 0; problem.mended && m < MODULES; m++)
		load(image, m);
	problem_begin();
	for (i = 0; i < problem.iterations; i++) {
		for (step = 0; step < STEPS; step++)
			launch_work(numbers, NUMBERS, NS);
		if (i % EVERY == EVERY / 2 && used < MODULES) {
			if (!problem.mended)
				load(image, used);
			launch_mix(used++, mixed);
		}
		CHECK(cuStreamSynchronize(problem.stream));
	}
	us = problem_end();
	for (m = 0; m < used; m++)
		for (step = 0; step < MIX_STEPS; step++)
			wanted = wanted * 1664525 + m;
	right = all_are(numbers, NUMBERS, STEPS * problem.iterations) &&
		all_are(mixed, NUMBERS, wanted);
	for (m = 0; m < (problem.mended ? MODULES : used); m++)
		CHECK(cuModuleUnload(modules[m]));
	free(image);
	CHECK(cuMemFree(mixed));
	CHECK(cuMemFree(numbers));
	return problem_close(us, right);
}
