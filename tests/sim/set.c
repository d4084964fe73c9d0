// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * set.c - memory sets of 8, 16 and 32-bit values, rows of them too.
 *
 * Like a copy, each is one op of a stream and its range is checked twice. The
 * synchronous forms return once the set is queued, as the real ones do for
 * device memory.
 */
#include "sim.h"

static CUresult set(CUdeviceptr dst, size_t pitch, unsigned int value,
		    unsigned int value_size, size_t width, size_t height,
		    CUstream handle)
{
	struct sim_stream *stream;
	struct sim_memory *mem;
	struct sim_op *op;
	CUresult result;

	if (!width || !height)
		return CUDA_SUCCESS;
	if (dst % value_size || (height > 1 && pitch < width * value_size))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	stream = sim_stream_find(handle);
	mem = sim_memory_find(dst, pitch * (height - 1) + width * value_size);
	if (!stream) {
		result = CUDA_ERROR_INVALID_HANDLE;
	} else if (!mem) {
		result = CUDA_ERROR_INVALID_VALUE;
	} else if ((op = sim_op_new(SIM_OP_SET, NULL, 0))) {
		op->set.dst = dst;
		op->set.pitch = pitch;
		op->set.width = width;
		op->set.height = height;
		op->set.value = value;
		op->set.value_size = value_size;
		result = sim_queue(stream, op);
	} else {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (mem)
		sim_memory_put(mem);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

#define SET_CALLS(bits, type)						\
CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n)	\
{									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return set(dst, 0, value, sizeof(value), n, 1,			\
		   CU_STREAM_LEGACY);					\
}									\
									\
CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr dst, type value, size_t n) \
{									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return set(dst, 0, value, sizeof(value), n, 1,			\
		   CU_STREAM_PER_THREAD);				\
}									\
									\
CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n,	\
				CUstream stream)			\
{									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return set(dst, 0, value, sizeof(value), n, 1, stream);		\
}									\
									\
CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr dst, type value,	\
				     size_t n, CUstream stream)		\
{									\
	return cuMemsetD##bits##Async(dst, value, n,			\
				      SIM_PER_THREAD(stream));		\
}									\
									\
CUresult cuMemsetD##bits(CUdeviceptr_v1 dst, type value, unsigned int n) \
{									\
	SIM_ENTER(SIM_NEEDS_OLD_CONTEXT);				\
	return set(dst, 0, value, sizeof(value), n, 1,			\
		   CU_STREAM_LEGACY);					\
}

SET_CALLS(8, unsigned char)
SET_CALLS(16, unsigned short)
SET_CALLS(32, unsigned int)

#define SET_2D_CALLS(bits, type)					\
CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch,		\
				type value, size_t width, size_t height) \
{									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return set(dst, pitch, value, sizeof(value), width, height,	\
		   CU_STREAM_LEGACY);					\
}									\
									\
CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr dst, size_t pitch,	\
				     type value, size_t width,		\
				     size_t height)			\
{									\
	SIM_ENTER(SIM_NEEDS_CONTEXT);					\
	return set(dst, pitch, value, sizeof(value), width, height,	\
		   CU_STREAM_PER_THREAD);				\
}

SET_2D_CALLS(8, unsigned char)
SET_2D_CALLS(32, unsigned int)
