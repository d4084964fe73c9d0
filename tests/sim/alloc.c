// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * alloc.c - the calls that allocate and free: device, pitched, pinned,
 * managed and stream-ordered memory.
 *
 * Kept apart from memory.c, which owns the table. A free waits for the
 * device first, as the real one does; it must never free under a kernel.
 */
#include "sim.h"

#define PITCH 512

static CUresult allowed(void)
{
	struct sim_context *ctx;
	CUresult result;

	pthread_mutex_lock(&sim_lock);
	ctx = sim_current();
	result = ctx ? sim_capture_forbids_unsafe(ctx) : sim_no_context();
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult device_alloc(CUdeviceptr *ptr, size_t bytes,
			     enum sim_memory_kind kind)
{
	uintptr_t base;
	CUresult result;

	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	result = allowed();
	if (result == CUDA_SUCCESS)
		result = sim_memory_alloc(kind, bytes, false, &base);
	if (result == CUDA_SUCCESS)
		*ptr = base;
	return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return device_alloc(ptr, bytes, SIM_DEVICE);
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return device_alloc(ptr, bytes, SIM_MANAGED);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width,
			    size_t height, unsigned int element)
{
	size_t row = (width + PITCH - 1) / PITCH * PITCH;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!pitch || !width || !height ||
	    (element != 4 && element != 8 && element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	if (row < width || height > SIZE_MAX / row)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = device_alloc(ptr, row * height, SIM_DEVICE);
	if (result == CUDA_SUCCESS)
		*pitch = row;
	return result;
}

static CUresult wait_for_device(void)
{
	struct sim_context *ctx;
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&sim_lock);
	ctx = sim_current();
	if (ctx)
		result = sim_capture_forbids_unsafe(ctx);
	if (ctx && result == CUDA_SUCCESS)
		result = sim_context_wait(ctx);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult device_free(CUdeviceptr ptr)
{
	CUresult result;

	if (!ptr)
		return CUDA_SUCCESS;
	result = wait_for_device();
	if (result != CUDA_SUCCESS)
		return result;
	return sim_memory_free(ptr, SIM_DEVICE);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return device_free(ptr);
}

/* The first interface has 32-bit device addresses and works only in a context
 * made through it, as with the real driver; what it hands out lies below
 * 4 GiB, so that the old calls really work. */
CUresult cuMemAlloc(CUdeviceptr_v1 *ptr, unsigned int bytes)
{
	uintptr_t base;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_memory_alloc(SIM_DEVICE, bytes, true, &base);
	if (result == CUDA_SUCCESS)
		*ptr = (CUdeviceptr_v1)base;
	return result;
}

CUresult cuMemFree(CUdeviceptr_v1 ptr)
{
	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	return device_free(ptr);
}

static unsigned int clamp(size_t bytes)
{
	return bytes < 0xffffffff ? (unsigned int)bytes : 0xffffffff;
}

CUresult cuMemGetInfo(unsigned int *available, unsigned int *total)
{
	size_t a, t;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	result = cuMemGetInfo_v2(&a, &t);
	if (result != CUDA_SUCCESS)
		return result;
	if (!available || !total)
		return CUDA_ERROR_INVALID_VALUE;
	*available = clamp(a);
	*total = clamp(t);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
	size_t total;
	CUresult result = cuDeviceTotalMem_v2(&total, dev);

	if (result != CUDA_SUCCESS)
		return result;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = clamp(total);
	return CUDA_SUCCESS;
}

static CUresult host_alloc(void **host, size_t bytes)
{
	uintptr_t base;
	CUresult result;

	if (!host)
		return CUDA_ERROR_INVALID_VALUE;
	result = allowed();
	if (result == CUDA_SUCCESS)
		result = sim_memory_alloc(SIM_HOST, bytes, false, &base);
	if (result == CUDA_SUCCESS)
		*host = (void *)base;
	return result;
}

CUresult cuMemAllocHost(void **host, unsigned int bytes)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return host_alloc(host, bytes);
}

CUresult cuMemAllocHost_v2(void **host, size_t bytes)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return host_alloc(host, bytes);
}

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
		      CU_MEMHOSTALLOC_WRITECOMBINED))
		return CUDA_ERROR_INVALID_VALUE;
	return host_alloc(host, bytes);
}

CUresult cuMemFreeHost(void *host)
{
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!host)
		return CUDA_SUCCESS;
	result = wait_for_device();
	if (result != CUDA_SUCCESS)
		return result;
	return sim_memory_free((uintptr_t)host, SIM_HOST);
}

/* The address is usable at once, as with the real driver's pools; only the
 * free takes its turn in the stream. */
CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream handle)
{
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream)
		result = sim_capture_forbids(stream);
	pthread_mutex_unlock(&sim_lock);
	if (result != CUDA_SUCCESS)
		return result;
	return device_alloc(ptr, bytes, SIM_DEVICE);
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	return cuMemAllocAsync(ptr, bytes, SIM_PER_THREAD(stream));
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream handle)
{
	struct sim_stream *stream;
	struct sim_memory *mem;
	struct sim_op *op;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	mem = sim_memory_find(ptr, 1);
	if (!stream) {
		result = CUDA_ERROR_INVALID_HANDLE;
	} else if (!mem || mem->base != ptr || mem->kind != SIM_DEVICE ||
		   mem->freeing) {
		result = CUDA_ERROR_INVALID_VALUE;
	} else if ((op = sim_op_new(SIM_OP_FREE, NULL, 0))) {
		op->address = ptr;
		mem->freeing = !stream->capture;
		result = sim_queue(stream, op);
	} else {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (mem)
		sim_memory_put(mem);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream)
{
	return cuMemFreeAsync(ptr, SIM_PER_THREAD(stream));
}
