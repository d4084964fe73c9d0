// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * inference.c - a small inference program on the CUDA driver interface.
 *
 * A perceptron of 64, 128 and 10 neurons with fixed pseudo-random weights
 * answers one request of several tokens: weights to the device, then for each
 * token a copy, four kernels on a stream, a copy back; one more token through
 * a captured graph. Every result is compared with the CPU's. It knows nothing
 * of cudatrace and must stay that way: it is what cudatrace is tried on, with
 * a real GPU and with the simulated library alike.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver_api.h"
#include "mlp_kernels.h"

enum { INPUTS = 64, HIDDEN = 128, OUTPUTS = 10, BLOCK = 64 };

/* GPUs compute e^x with some two units in the last place of error. */
#define TOLERANCE 1e-4f

static struct {
	int iterations;
	int device;
	bool leak;
	bool verbose;
} env = { .iterations = 8 };

/* Everything on the device, in the order in which it is made. */
static struct {
	CUcontext context;
	CUmodule module;
	CUfunction linear, relu, softmax;
	CUdeviceptr w1, b1, w2, b2, x, h, y;
	CUstream stream;
	CUevent start, end;
	float *input, *output;		/* pinned host memory */
} gpu;

static float w1[HIDDEN * INPUTS], b1[HIDDEN], w2[OUTPUTS * HIDDEN], b2[OUTPUTS];

static void check(CUresult result, const char *what)
{
	const char *name = NULL;

	if (result == CUDA_SUCCESS)
		return;
	if (cuGetErrorName(result, &name) || !name)
		name = "an unknown error";
	fprintf(stderr, "inference: %s: %s (%d)\n", what, name, result);
	exit(1);
}

#define CHECK(call) check(call, #call)

static void say(const char *text)
{
	if (env.verbose)
		fprintf(stderr, "inference: %s\n", text);
}

/* The same numbers on every machine, between -scale and scale. */
static void fill(float *values, int count, float scale, uint32_t seed)
{
	int i;

	for (i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		values[i] = scale * ((int)(seed >> 8) - (1 << 23)) / (1 << 23);
	}
}

static void cpu_linear(const float *x, const float *w, const float *b,
		       float *y, int in, int out)
{
	int o, i;

	for (o = 0; o < out; o++) {
		y[o] = b[o];
		for (i = 0; i < in; i++)
			y[o] = fmaf(w[o * in + i], x[i], y[o]);
	}
}

static void cpu_forward(const float *x, float *y)
{
	float h[HIDDEN], most = -INFINITY, sum = 0;
	int i;

	cpu_linear(x, w1, b1, h, INPUTS, HIDDEN);
	for (i = 0; i < HIDDEN; i++)
		h[i] = h[i] > 0 ? h[i] : 0;
	cpu_linear(h, w2, b2, y, HIDDEN, OUTPUTS);
	for (i = 0; i < OUTPUTS; i++)
		most = fmaxf(most, y[i]);
	for (i = 0; i < OUTPUTS; i++)
		sum += y[i] = expf(y[i] - most);
	for (i = 0; i < OUTPUTS; i++)
		y[i] /= sum;
}

static CUdeviceptr upload(const float *values, int count)
{
	CUdeviceptr ptr;

	CHECK(cuMemAlloc(&ptr, count * sizeof(float)));
	CHECK(cuMemcpyHtoD(ptr, values, count * sizeof(float)));
	return ptr;
}

static void set_up(void)
{
	const char *simulated = driver_simulated();
	CUdevice device;
	char name[128];
	int count, version;

	CHECK(cuInit(0));
	CHECK(cuDriverGetVersion(&version));
	CHECK(cuDeviceGetCount(&count));
	if (env.device >= count) {
		fprintf(stderr, "inference: no device %d, there are %d\n",
			env.device, count);
		exit(1);
	}
	CHECK(cuDeviceGet(&device, env.device));
	CHECK(cuDeviceGetName(name, sizeof(name), device));
	printf("device: %s, CUDA %d.%d%s%s\n", name, version / 1000,
	       version % 1000 / 10, simulated ? ", " : "",
	       simulated ? simulated : "");

	say("making the context");
	CHECK(cuDevicePrimaryCtxRetain(&gpu.context, device));
	CHECK(cuCtxSetCurrent(gpu.context));

	say("loading the module");
	CHECK(cuModuleLoadData(&gpu.module,
			       simulated ? mlp_simulated : mlp_ptx));
	CHECK(cuModuleGetFunction(&gpu.linear, gpu.module, "linear"));
	CHECK(cuModuleGetFunction(&gpu.relu, gpu.module, "relu"));
	CHECK(cuModuleGetFunction(&gpu.softmax, gpu.module, "softmax"));

	say("loading the weights");
	gpu.w1 = upload(w1, HIDDEN * INPUTS);
	gpu.b1 = upload(b1, HIDDEN);
	gpu.w2 = upload(w2, OUTPUTS * HIDDEN);
	gpu.b2 = upload(b2, OUTPUTS);
	CHECK(cuMemAlloc(&gpu.x, INPUTS * sizeof(float)));
	CHECK(cuMemAlloc(&gpu.h, HIDDEN * sizeof(float)));
	CHECK(cuMemAlloc(&gpu.y, OUTPUTS * sizeof(float)));
	CHECK(cuMemAllocHost((void **)&gpu.input, INPUTS * sizeof(float)));
	CHECK(cuMemAllocHost((void **)&gpu.output, OUTPUTS * sizeof(float)));
	CHECK(cuStreamCreate(&gpu.stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&gpu.start, 0));
	CHECK(cuEventCreate(&gpu.end, 0));
}

static void launch(CUfunction function, int threads, void **params)
{
	CHECK(cuLaunchKernel(function, (threads + BLOCK - 1) / BLOCK, 1, 1,
			     BLOCK, 1, 1, 0, gpu.stream, params, NULL));
}

/* Queues one token; neither waits nor allocates, so it can be captured. */
static void queue_forward(void)
{
	int inputs = INPUTS, hidden = HIDDEN, outputs = OUTPUTS, rows = 1;

	CHECK(cuMemcpyHtoDAsync(gpu.x, gpu.input, INPUTS * sizeof(float),
				gpu.stream));
	launch(gpu.linear, HIDDEN, (void *[]){ &gpu.x, &gpu.w1, &gpu.b1, &gpu.h,
					       &inputs, &hidden });
	launch(gpu.relu, HIDDEN, (void *[]){ &gpu.h, &hidden });
	launch(gpu.linear, OUTPUTS, (void *[]){ &gpu.h, &gpu.w2, &gpu.b2,
						&gpu.y, &hidden, &outputs });
	launch(gpu.softmax, rows, (void *[]){ &gpu.y, &rows, &outputs });
	CHECK(cuMemcpyDtoHAsync(gpu.output, gpu.y, OUTPUTS * sizeof(float),
				gpu.stream));
}

/* The largest difference to what the CPU computes from the same input. */
static float difference(void)
{
	float wanted[OUTPUTS], most = 0;
	int i;

	cpu_forward(gpu.input, wanted);
	for (i = 0; i < OUTPUTS; i++) {
		float off = fabsf(gpu.output[i] - wanted[i]);

		/* Written so that NaN counts as a difference. */
		if (!(off <= most))
			most = off;
	}
	return most;
}

static int likeliest(void)
{
	int best = 0, i;

	for (i = 1; i < OUTPUTS; i++)
		if (gpu.output[i] > gpu.output[best])
			best = i;
	return best;
}

static float run_token(int token)
{
	float ms, off;

	fill(gpu.input, INPUTS, 1, 1000 + token);
	memset(gpu.output, 0, OUTPUTS * sizeof(float));
	CHECK(cuEventRecord(gpu.start, gpu.stream));
	queue_forward();
	CHECK(cuEventRecord(gpu.end, gpu.stream));
	CHECK(cuStreamSynchronize(gpu.stream));
	CHECK(cuEventElapsedTime(&ms, gpu.start, gpu.end));
	off = difference();
	if (env.verbose)
		fprintf(stderr, "inference: token %d: %d, %.3f ms, off by %g\n",
			token, likeliest(), ms, off);
	return off;
}

static float run_graph(int token)
{
	CUgraphExec exec;
	CUgraph graph;

	say("one token through a graph");
	CHECK(cuStreamBeginCapture(gpu.stream,
				   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	queue_forward();
	CHECK(cuStreamEndCapture(gpu.stream, &graph));
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	fill(gpu.input, INPUTS, 1, 1000 + token);
	memset(gpu.output, 0, OUTPUTS * sizeof(float));
	CHECK(cuGraphLaunch(exec, gpu.stream));
	CHECK(cuStreamSynchronize(gpu.stream));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	return difference();
}

static void clean_up(void)
{
	say("cleaning up");
	CHECK(cuEventDestroy(gpu.end));
	CHECK(cuEventDestroy(gpu.start));
	CHECK(cuStreamDestroy(gpu.stream));
	CHECK(cuMemFreeHost(gpu.output));
	CHECK(cuMemFreeHost(gpu.input));
	CHECK(cuMemFree(gpu.y));
	CHECK(cuMemFree(gpu.h));
	CHECK(cuMemFree(gpu.x));
	CHECK(cuMemFree(gpu.b2));
	CHECK(cuMemFree(gpu.w2));
	CHECK(cuMemFree(gpu.b1));
	if (!env.leak)
		CHECK(cuMemFree(gpu.w1));
	CHECK(cuModuleUnload(gpu.module));
	/* With a leak the context stays too: its end would free all memory. */
	if (!env.leak)
		CHECK(cuDevicePrimaryCtxRelease(env.device));
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: inference [--iterations N] [--device N] [--leak] [--verbose]\n"
		"\n"
		"  --iterations N  tokens to answer (8)\n"
		"  --device N      the GPU to use (0)\n"
		"  --leak          leave the first layer's weights allocated\n"
		"  --verbose       say on stderr what is being done\n");
}

static int number(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > 1000000) {
		fprintf(stderr, "inference: not a number: %s\n", text);
		exit(2);
	}
	return value;
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "iterations", required_argument, NULL, 'i' },
		{ "device", required_argument, NULL, 'd' },
		{ "leak", no_argument, NULL, 'l' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "i:d:lvh", options, NULL)) != -1) {
		switch (c) {
		case 'i':
			env.iterations = number(optarg);
			break;
		case 'd':
			env.device = number(optarg);
			break;
		case 'l':
			env.leak = true;
			break;
		case 'v':
			env.verbose = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	float off, most = 0;
	int token;

	read_options(argc, argv);
	fill(w1, HIDDEN * INPUTS, 0.2f, 1);
	fill(b1, HIDDEN, 0.1f, 2);
	fill(w2, OUTPUTS * HIDDEN, 0.2f, 3);
	fill(b2, OUTPUTS, 0.1f, 4);
	if (driver_open())
		return 1;
	set_up();
	printf("response:");
	for (token = 0; token <= env.iterations; token++) {
		off = token < env.iterations ? run_token(token) :
					       run_graph(token);
		printf(" %d", likeliest());
		if (!(off <= most))
			most = off;
	}
	printf("\n%d tokens and 1 by graph, off by %g at most: %s\n",
	       env.iterations, most, most <= TOLERANCE ? "right" : "WRONG");
	clean_up();
	return most <= TOLERANCE ? 0 : 1;
}
