// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * kernels.c - the kernels that really compute, on the CPU, and how the
 * parameters of any kernel lie in memory.
 *
 * A signature has a letter a parameter: p pointer, i 32-bit and l 64-bit
 * integer, f float, d double, each at its natural alignment as in PTX. Every
 * pointer is looked up with the bytes that the kernel will touch; one that
 * does not hold them gives CUDA_ERROR_ILLEGAL_ADDRESS, never a crash.
 * Results do not depend on grid and block: these compute the whole problem.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nccl.h"
#include "sim.h"

struct sim_args {
	const char *params;
	size_t offset[SIM_MAX_ARGS];
	unsigned int held_count;
	struct sim_memory *held[SIM_MAX_ARGS];
};

size_t sim_signature_layout(const char *signature, size_t offset[],
			    size_t size[])
{
	size_t at = 0, bytes;
	unsigned int i;

	for (i = 0; signature[i]; i++) {
		bytes = strchr("if", signature[i]) ? 4 : 8;
		at = (at + bytes - 1) / bytes * bytes;
		offset[i] = at;
		size[i] = bytes;
		at += bytes;
	}
	return at;
}

static int arg_int(const struct sim_args *args, unsigned int i)
{
	int value;

	memcpy(&value, args->params + args->offset[i], sizeof(value));
	return value;
}

/* @count floats (or ints: both have four bytes) behind pointer @i. */
static void *arg_array(struct sim_args *args, unsigned int i, size_t count)
{
	struct sim_memory *mem;
	uintptr_t addr;

	memcpy(&addr, args->params + args->offset[i], sizeof(addr));
	if (count > SIZE_MAX / 4 || addr % 4)
		return NULL;
	pthread_mutex_lock(&sim_lock);
	mem = sim_memory_find(addr, count * 4);
	pthread_mutex_unlock(&sim_lock);
	if (!mem)
		return NULL;
	args->held[args->held_count++] = mem;
	return (void *)addr;
}

/* Negative sizes touch nothing, like a grid whose threads all return. */
static size_t arg_size(const struct sim_args *args, unsigned int i)
{
	int value = arg_int(args, i);

	return value > 0 ? value : 0;
}

/* (a, b, c, n): c = a + b */
static CUresult vector_add(struct sim_args *args)
{
	size_t n = arg_size(args, 3), i;
	const float *a = arg_array(args, 0, n), *b = arg_array(args, 1, n);
	float *c = arg_array(args, 2, n);

	if (!a || !b || !c)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < n; i++)
		c[i] = a[i] + b[i];
	return CUDA_SUCCESS;
}

/* (x, w, b, y, in, out): y[o] = b[o] + sum over i of w[o][i] x[i] */
static CUresult linear(struct sim_args *args)
{
	size_t in = arg_size(args, 4), out = arg_size(args, 5), i, o;
	const float *x = arg_array(args, 0, in);
	const float *w = arg_array(args, 1, in * out);
	const float *b = arg_array(args, 2, out);
	float *y = arg_array(args, 3, out);

	if (!x || !w || !b || !y)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (o = 0; o < out; o++) {
		float sum = b[o];

		for (i = 0; i < in; i++)
			sum = fmaf(w[o * in + i], x[i], sum);
		y[o] = sum;
	}
	return CUDA_SUCCESS;
}

/* (a, b, c, m, n, k): c[m][n] = a[m][k] b[k][n] */
static CUresult gemm(struct sim_args *args)
{
	size_t m = arg_size(args, 3), n = arg_size(args, 4);
	size_t k = arg_size(args, 5), row, col, i;
	const float *a = arg_array(args, 0, m * k);
	const float *b = arg_array(args, 1, k * n);
	float *c = arg_array(args, 2, m * n);

	if (!a || !b || !c)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (row = 0; row < m; row++)
		for (col = 0; col < n; col++) {
			float sum = 0;

			for (i = 0; i < k; i++)
				sum = fmaf(a[row * k + i], b[i * n + col], sum);
			c[row * n + col] = sum;
		}
	return CUDA_SUCCESS;
}

/* (x, n), in place */
static CUresult relu(struct sim_args *args)
{
	size_t n = arg_size(args, 1), i;
	float *x = arg_array(args, 0, n);

	if (!x)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < n; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
	return CUDA_SUCCESS;
}

/* (x, n), in place, the form with tanh that GPT-2 uses */
static CUresult gelu(struct sim_args *args)
{
	size_t n = arg_size(args, 1), i;
	float *x = arg_array(args, 0, n);

	if (!x)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < n; i++) {
		float v = x[i];
		float u = 0.7978845608f * (v + 0.044715f * v * v * v);

		x[i] = 0.5f * v * (1 + tanhf(u));
	}
	return CUDA_SUCCESS;
}

/* (x, rows, cols), each row in place */
static CUresult softmax(struct sim_args *args)
{
	size_t rows = arg_size(args, 1), cols = arg_size(args, 2), row, i;
	float *x = arg_array(args, 0, rows * cols);

	if (!x)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (row = 0; row < rows; row++, x += cols) {
		float most = -INFINITY, sum = 0;

		for (i = 0; i < cols; i++)
			most = fmaxf(most, x[i]);
		for (i = 0; i < cols; i++)
			sum += x[i] = expf(x[i] - most);
		for (i = 0; i < cols; i++)
			x[i] /= sum;
	}
	return CUDA_SUCCESS;
}

/* (x, gamma, beta, y, rows, cols) */
static CUresult layernorm(struct sim_args *args)
{
	size_t rows = arg_size(args, 4), cols = arg_size(args, 5), row, i;
	const float *x = arg_array(args, 0, rows * cols);
	const float *gamma = arg_array(args, 1, cols);
	const float *beta = arg_array(args, 2, cols);
	float *y = arg_array(args, 3, rows * cols);

	if (!x || !gamma || !beta || !y)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (row = 0; row < rows; row++, x += cols, y += cols) {
		float mean = 0, var = 0, scale;

		for (i = 0; i < cols; i++)
			mean += x[i] / cols;
		for (i = 0; i < cols; i++)
			var += (x[i] - mean) * (x[i] - mean) / cols;
		scale = 1 / sqrtf(var + 1e-5f);
		for (i = 0; i < cols; i++)
			y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
	}
	return CUDA_SUCCESS;
}

/* (ids, table, y, count, dim, vocabulary) */
static CUresult embedding(struct sim_args *args)
{
	size_t count = arg_size(args, 3), dim = arg_size(args, 4);
	size_t vocabulary = arg_size(args, 5), i;
	const int *ids = arg_array(args, 0, count);
	const float *table = arg_array(args, 1, vocabulary * dim);
	float *y = arg_array(args, 2, count * dim);

	if (!ids || !table || !y)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < count; i++) {
		if (ids[i] < 0 || (size_t)ids[i] >= vocabulary)
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		memcpy(y + i * dim, table + ids[i] * dim, dim * 4);
	}
	return CUDA_SUCCESS;
}

/* (out, n, ns): out[i] grows by 1; lasts ns */
static CUresult work(struct sim_args *args)
{
	size_t n = arg_size(args, 1), i;
	uint32_t *out = arg_array(args, 0, n);

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < n; i++)
		out[i]++;
	return CUDA_SUCCESS;
}

/* (out, n, seed): 2000 steps of a random generator on each number */
static CUresult mix(struct sim_args *args)
{
	size_t n = arg_size(args, 1), i;
	uint32_t *out = arg_array(args, 0, n);
	int step;

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < n; i++)
		for (step = 0; step < 2000; step++)
			out[i] = out[i] * 1664525 + (uint32_t)arg_int(args, 2);
	return CUDA_SUCCESS;
}

/* (struct sim_nccl_meet *): of the stand-in for libnccl, which passes what is its own. */
static CUresult meet(struct sim_args *args)
{
	struct sim_nccl_meet *m;

	memcpy(&m, args->params + args->offset[0], sizeof(m));
	for (unsigned int i = 0; i < m->count; i++)
		__atomic_add_fetch(m->arrived[i], 1, __ATOMIC_ACQ_REL);
	for (unsigned int i = 0; i < m->count; i++)
		while ((int32_t)(__atomic_load_n(m->arrived[i], __ATOMIC_ACQUIRE) - m->target[i]) < 0)
			nanosleep(&(struct timespec){ 0, 20000 }, NULL);
	nanosleep(&(struct timespec){ m->move_ns / 1000000000, m->move_ns % 1000000000 }, NULL);
	free(m);
	return CUDA_SUCCESS;
}

static const struct sim_builtin builtins[] = {
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "l", meet, 0 },
	{ "ncclDevKernel_Generic", "l", meet, 0 },
	{ "ncclDevKernel_SendRecv", "l", meet, 0 },
	{ "vector_add", "pppi", vector_add, 0 },
	{ "linear", "ppppii", linear, 0 },
	{ "gemm", "pppiii", gemm, 0 },
	{ "relu", "pi", relu, 0 },
	{ "gelu", "pi", gelu, 0 },
	{ "softmax", "pii", softmax, 0 },
	{ "layernorm", "ppppii", layernorm, 0 },
	{ "embedding", "pppiii", embedding, 0 },
	{ "work", "pii", work, 2 },
	{ "mix", "pii", mix, 0 },
};

const struct sim_builtin *sim_builtin_find(const char *name,
					   const char *signature)
{
	unsigned int i;

	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (!strcmp(builtins[i].name, name) &&
		    !strcmp(builtins[i].signature, signature))
			return &builtins[i];
	return NULL;
}

uint64_t sim_kernel_asked_ns(const struct sim_launch *launch, const void *params)
{
	struct sim_args args = { .params = params };
	size_t size[SIM_MAX_ARGS];

	if (!launch->builtin || !launch->builtin->ns_arg)
		return 0;
	sim_signature_layout(launch->builtin->signature, args.offset, size);
	return arg_size(&args, launch->builtin->ns_arg);
}

bool sim_kernel_meets(const struct sim_launch *launch)
{
	return launch->builtin && launch->builtin->run == meet;
}

CUresult sim_kernel_run(const struct sim_launch *launch, void *params)
{
	struct sim_args args = { .params = params };
	size_t size[SIM_MAX_ARGS];
	CUresult result;

	if (!launch->builtin)
		return CUDA_SUCCESS;
	sim_signature_layout(launch->builtin->signature, args.offset, size);
	result = launch->builtin->run(&args);
	pthread_mutex_lock(&sim_lock);
	while (args.held_count)
		sim_memory_put(args.held[--args.held_count]);
	pthread_mutex_unlock(&sim_lock);
	return result;
}
