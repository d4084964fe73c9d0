// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * launch.c - launches of kernels and of host functions, and what may be asked
 * of a kernel before.
 *
 * A launch copies the parameters and returns; it never enters the kernel
 * driver, as the recorded trace shows of the real one, and costs the host
 * what cuLaunchKernel was measured to cost on an H200 server.
 */
#include <string.h>

#include "sim.h"

/* An empty kernel, back to back, untraced: 2,330 ns. */
#define LAUNCH_NS 2330
#define MAX_BLOCK 1024
#define MAX_PARAMS 4096

static bool shape_valid(const struct sim_shape *s)
{
	unsigned long long threads = 1;
	int i;

	for (i = 0; i < 3; i++) {
		if (!s->grid[i] || !s->block[i] || s->block[i] > MAX_BLOCK)
			return false;
		if (s->grid[i] > (i ? 65535u : 2147483647u))
			return false;
		threads *= s->block[i];
	}
	return threads <= MAX_BLOCK && s->shared <= 227 * 1024;
}

/* Parameters one by one, or as one buffer by way of @extra. */
static CUresult gather(const char *signature, void **params, void **extra,
		       char buffer[MAX_PARAMS], size_t *bytes)
{
	size_t offset[SIM_MAX_ARGS], size[SIM_MAX_ARGS], given = 0;
	const void *from = NULL;
	unsigned int i;

	*bytes = sim_signature_layout(signature, offset, size);
	if (!*bytes)
		return CUDA_SUCCESS;
	if (params) {
		for (i = 0; signature[i]; i++)
			memcpy(buffer + offset[i], params[i], size[i]);
		return CUDA_SUCCESS;
	}
	for (i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			from = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			given = *(size_t *)extra[i + 1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (!from || given < *bytes)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(buffer, from, *bytes);
	return CUDA_SUCCESS;
}

CUresult sim_launch_op(CUfunction function, const struct sim_shape *shape,
		       void **params, void **extra, struct sim_op **made)
{
	char signature[SIM_MAX_ARGS + 1], buffer[MAX_PARAMS];
	struct sim_launch launch;
	struct sim_op *op;
	size_t bytes = 0;
	CUresult result;

	if (!shape_valid(shape))
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_kernel_find(function, &launch, signature);
	if (result == CUDA_SUCCESS)
		result = gather(signature, params, extra, buffer, &bytes);
	if (result != CUDA_SUCCESS)
		return result;
	launch.threads = (unsigned long long)shape->grid[0] *
		shape->grid[1] * shape->grid[2] * shape->block[0] *
		shape->block[1] * shape->block[2];
	op = sim_op_new(SIM_OP_KERNEL, buffer, bytes);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(launch.grid, shape->grid, sizeof(launch.grid));
	memcpy(launch.block, shape->block, sizeof(launch.block));
	launch.shared = shape->shared;
	launch.ex = shape->ex;
	op->launch = launch;
	*made = op;
	return CUDA_SUCCESS;
}

static CUresult queue_launch(CUfunction function, const struct sim_shape *shape,
			     CUstream handle, void **params, void **extra)
{
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;
	struct sim_op *op;

	if (!shape_valid(shape))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream)
		result = sim_launch_op(function, shape, params, extra, &op);
	if (result == CUDA_SUCCESS)
		result = sim_queue(stream, op);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult launch(const char *name, CUfunction function,
		       const struct sim_shape *shape, CUstream stream,
		       void **params, void **extra)
{
	uint64_t start = sim_now();
	CUresult result = sim_enter(name, SIM_NEEDS_CONTEXT);

	if (result == CUDA_SUCCESS) {
		result = queue_launch(function, shape, stream, params, extra);
		if (result != CUDA_SUCCESS)
			sim_activity_nothing();
	}
	if (result == CUDA_SUCCESS)
		sim_spin_until(start +
			(uint64_t)(LAUNCH_NS * sim_knobs()->time_scale));
	return result;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy,
			unsigned int gz, unsigned int bx, unsigned int by,
			unsigned int bz, unsigned int shared, CUstream stream,
			void **params, void **extra)
{
	struct sim_shape shape = { { gx, gy, gz }, { bx, by, bz }, shared, false };

	return launch(__func__, function, &shape, stream, params, extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int gx,
			     unsigned int gy, unsigned int gz, unsigned int bx,
			     unsigned int by, unsigned int bz,
			     unsigned int shared, CUstream stream,
			     void **params, void **extra)
{
	struct sim_shape shape = { { gx, gy, gz }, { bx, by, bz }, shared, false };

	return launch(__func__, function, &shape, SIM_PER_THREAD(stream),
		      params, extra);
}

/* A cooperative kernel differs only in what it may do on a GPU. */
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gx,
				   unsigned int gy, unsigned int gz,
				   unsigned int bx, unsigned int by,
				   unsigned int bz, unsigned int shared,
				   CUstream stream, void **params)
{
	struct sim_shape shape = { { gx, gy, gz }, { bx, by, bz }, shared, false };

	return launch(__func__, function, &shape, stream, params, NULL);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int gx,
					unsigned int gy, unsigned int gz,
					unsigned int bx, unsigned int by,
					unsigned int bz, unsigned int shared,
					CUstream stream, void **params)
{
	struct sim_shape shape = { { gx, gy, gz }, { bx, by, bz }, shared, false };

	return launch(__func__, function, &shape, SIM_PER_THREAD(stream),
		      params, NULL);
}

/* Attributes are not looked at. */
static CUresult launch_config(const char *name, const CUlaunchConfig *config,
			      bool per_thread, CUfunction function,
			      void **params, void **extra)
{
	struct sim_shape shape;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	shape = (struct sim_shape){
		{ config->gridDimX, config->gridDimY, config->gridDimZ },
		{ config->blockDimX, config->blockDimY, config->blockDimZ },
		config->sharedMemBytes, true,
	};
	return launch(name, function, &shape,
		      per_thread ? SIM_PER_THREAD(config->hStream) :
				   config->hStream,
		      params, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
			  void **params, void **extra)
{
	return launch_config(__func__, config, false, function, params, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config,
			       CUfunction function, void **params, void **extra)
{
	return launch_config(__func__, config, true, function, params, extra);
}

static CUresult queue_host(CUstream handle, CUhostFn fn,
			   CUstreamCallback callback, void *data)
{
	struct sim_stream *stream;
	struct sim_op *op;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (!fn && !callback)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream && stream->capture && callback) {
		result = sim_capture_forbids(stream);
	} else if (stream) {
		op = sim_op_new(SIM_OP_HOST, NULL, 0);
		result = CUDA_ERROR_OUT_OF_MEMORY;
		if (op) {
			op->host.fn = fn;
			op->host.callback = callback;
			op->host.data = data;
			op->host.stream = handle;
			result = sim_queue(stream, op);
		}
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return queue_host(stream, fn, NULL, data);
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn fn, void *data)
{
	return cuLaunchHostFunc(SIM_PER_THREAD(stream), fn, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
			     void *data, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return queue_host(stream, NULL, callback, data);
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback,
				  void *data, unsigned int flags)
{
	return cuStreamAddCallback(SIM_PER_THREAD(stream), callback, data,
				   flags);
}

static CUresult function_exists(CUfunction function)
{
	char signature[SIM_MAX_ARGS + 1];
	struct sim_launch launch;
	CUresult result;

	pthread_mutex_lock(&sim_lock);
	result = sim_kernel_find(function, &launch, signature);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
			    CUfunction function)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = MAX_BLOCK;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = 32;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = 90;
		break;
	default:
		*value = 0;
	}
	return function_exists(function);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
			    int value)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)attribute;
	(void)value;
	return function_exists(function);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
						     CUfunction function,
						     int block_size,
						     size_t shared)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)shared;
	if (!blocks || block_size <= 0 || block_size > MAX_BLOCK)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks = 2048 / block_size < 32 ? 2048 / block_size : 32;
	return function_exists(function);
}
