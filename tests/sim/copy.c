// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * copy.c - copies and memory sets, synchronous and queued.
 *
 * Each becomes one op of a stream; the synchronous ones then wait for it.
 * Ranges of device memory are checked here, so that a wrong address is the
 * result of the call, and again when the op runs. Host memory is trusted.
 */
#include "sim.h"

#define PTR(p) ((uintptr_t)(p))

static bool in_table(uintptr_t addr, size_t pitch, size_t width, size_t height)
{
	struct sim_memory *mem;

	mem = sim_memory_find(addr, pitch * (height - 1) + width);
	if (mem)
		sim_memory_put(mem);
	return mem != NULL;
}

/* Pinned, managed and device memory may be touched after the call returned;
 * a pageable source is staged and a pageable target waited for, as the real
 * driver does it. */
static bool pageable(uintptr_t addr)
{
	return !in_table(addr, 0, 1, 1);
}

static CUresult copy_op(const struct sim_copy *copy, struct sim_stream *stream,
			bool wait)
{
	const void *staged = NULL;
	size_t staged_size = 0;
	struct sim_op *op;
	CUresult result;

	if (copy->dst_device &&
	    !in_table(copy->dst, copy->dst_pitch, copy->width, copy->height))
		return CUDA_ERROR_INVALID_VALUE;
	if (copy->src_device &&
	    !in_table(copy->src, copy->src_pitch, copy->width, copy->height))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream->capture && !wait) {
		if (!copy->src_device && pageable(copy->src)) {
			staged = (const void *)copy->src;
			staged_size = copy->src_pitch * (copy->height - 1) +
				      copy->width;
		}
		wait = !copy->dst_device && pageable(copy->dst);
	}
	op = sim_op_new(SIM_OP_COPY, staged, staged_size);
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	op->copy = *copy;
	result = sim_queue(stream, op);
	if (result == CUDA_SUCCESS && wait)
		result = sim_stream_wait(stream);
	return result;
}

static CUresult copy(const struct sim_copy *copy, CUstream handle, bool wait)
{
	struct sim_stream *stream;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (!copy->width || !copy->height) {
		sim_activity_nothing();
		return CUDA_SUCCESS;
	}
	if (!copy->dst || !copy->src)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	if (stream)
		result = wait || !stream->capture ?
			 sim_capture_forbids(stream) : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS)
		result = copy_op(copy, stream, wait);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult linear(uintptr_t dst, bool dst_device, uintptr_t src,
		       bool src_device, size_t bytes, CUstream stream,
		       bool wait)
{
	struct sim_copy what = {
		.dst = dst, .src = src, .width = bytes, .height = 1,
		.dst_device = dst_device, .src_device = src_device,
	};

	return copy(&what, stream, wait);
}

/* Direction by address: what the table knows is the device's. */
static CUresult either(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
		       CUstream stream, bool wait)
{
	bool dst_device, src_device;

	pthread_mutex_lock(&sim_lock);
	dst_device = !pageable(dst);
	src_device = !pageable(src);
	pthread_mutex_unlock(&sim_lock);
	return linear(dst, dst_device, src, src_device, bytes, stream, wait);
}

/*
 * The four forms of a copy: plain and _ptds wait, Async and Async_ptsz do not.
 */
#define COPY_CALLS(name, suffix, dst_t, src_t, body)			\
CUresult name##suffix(dst_t dst, src_t src, size_t bytes)		\
{									\
	CUstream stream = CU_STREAM_LEGACY;				\
	const bool wait = true;						\
									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return body;							\
}									\
									\
CUresult name##suffix##_ptds(dst_t dst, src_t src, size_t bytes)	\
{									\
	CUstream stream = CU_STREAM_PER_THREAD;				\
	const bool wait = true;						\
									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return body;							\
}									\
									\
CUresult name##Async##suffix(dst_t dst, src_t src, size_t bytes,	\
			     CUstream stream)				\
{									\
	const bool wait = false;					\
									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return body;							\
}									\
									\
CUresult name##Async##suffix##_ptsz(dst_t dst, src_t src, size_t bytes,	\
				    CUstream stream)			\
{									\
	return name##Async##suffix(dst, src, bytes,			\
				   SIM_PER_THREAD(stream));		\
}

COPY_CALLS(cuMemcpyHtoD, _v2, CUdeviceptr, const void *,
	   linear(dst, true, PTR(src), false, bytes, stream, wait))
COPY_CALLS(cuMemcpyDtoH, _v2, void *, CUdeviceptr,
	   linear(PTR(dst), false, src, true, bytes, stream, wait))
COPY_CALLS(cuMemcpyDtoD, _v2, CUdeviceptr, CUdeviceptr,
	   linear(dst, true, src, true, bytes, stream, wait))
COPY_CALLS(cuMemcpy,, CUdeviceptr, CUdeviceptr,
	   either(dst, src, bytes, stream, wait))

/* The 32-bit interface of CUDA 2. */
CUresult cuMemcpyHtoD(CUdeviceptr_v1 dst, const void *src, unsigned int bytes)
{
	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	return linear(dst, true, PTR(src), false, bytes, NULL, true);
}

CUresult cuMemcpyDtoH(void *dst, CUdeviceptr_v1 src, unsigned int bytes)
{
	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	return linear(PTR(dst), false, src, true, bytes, NULL, true);
}

CUresult cuMemcpyDtoD(CUdeviceptr_v1 dst, CUdeviceptr_v1 src,
		      unsigned int bytes)
{
	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);
	return linear(dst, true, src, true, bytes, NULL, true);
}

static CUresult copy2d(const CUDA_MEMCPY2D *p, CUstream stream, bool wait)
{
	struct sim_copy what = { 0 };

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
	    p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
		return CUDA_ERROR_NOT_SUPPORTED;
	what.width = p->WidthInBytes;
	what.height = p->Height;
	what.src_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
	what.dst_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
	if (what.src_pitch < p->srcXInBytes + p->WidthInBytes ||
	    what.dst_pitch < p->dstXInBytes + p->WidthInBytes)
		return CUDA_ERROR_INVALID_VALUE;
	what.src_device = p->srcMemoryType != CU_MEMORYTYPE_HOST;
	what.dst_device = p->dstMemoryType != CU_MEMORYTYPE_HOST;
	what.src = what.src_device ? p->srcDevice : PTR(p->srcHost);
	what.dst = what.dst_device ? p->dstDevice : PTR(p->dstHost);
	what.src += p->srcY * what.src_pitch + p->srcXInBytes;
	what.dst += p->dstY * what.dst_pitch + p->dstXInBytes;
	return copy(&what, stream, wait);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return copy2d(p, CU_STREAM_LEGACY, true);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return copy2d(p, CU_STREAM_PER_THREAD, true);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return copy2d(p, CU_STREAM_LEGACY, true);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *p)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return copy2d(p, CU_STREAM_PER_THREAD, true);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return copy2d(p, stream, false);
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *p, CUstream stream)
{
	return cuMemcpy2DAsync_v2(p, SIM_PER_THREAD(stream));
}
