/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * driver_api.h - the few calls of the CUDA driver interface that the examples
 * make, and the two ways in which a program gets them.
 *
 * By default like cudart: dlopen libcuda.so.1, one dlsym for
 * cuGetProcAddress_v2, everything else through that. With EXAMPLE_LINKED like
 * a program that was linked with -lcuda. Declared here from the documented
 * interface so that the examples build on machines without CUDA; it must not
 * be included together with cuda.h. Include it in one file of a program.
 */
#ifndef CUDATRACE_EXAMPLES_DRIVER_API_H
#define CUDATRACE_EXAMPLES_DRIVER_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

#define CUDA_SUCCESS 0
#define CU_STREAM_NON_BLOCKING 1
#define CU_STREAM_CAPTURE_MODE_THREAD_LOCAL 1

/* CALL(name, CUDA version that brought it, its symbol, argument types) */
#define EXAMPLE_CALLS(CALL)						\
	CALL(cuInit, 2000, cuInit, (unsigned int))			\
	CALL(cuDriverGetVersion, 2020, cuDriverGetVersion, (int *))	\
	CALL(cuGetErrorName, 6000, cuGetErrorName,			\
	     (CUresult, const char **))					\
	CALL(cuGetErrorString, 6000, cuGetErrorString,			\
	     (CUresult, const char **))					\
	CALL(cuDeviceGetCount, 2000, cuDeviceGetCount, (int *))		\
	CALL(cuDeviceGet, 2000, cuDeviceGet, (CUdevice *, int))		\
	CALL(cuDeviceGetName, 2000, cuDeviceGetName,			\
	     (char *, int, CUdevice))					\
	CALL(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain,	\
	     (CUcontext *, CUdevice))					\
	CALL(cuDevicePrimaryCtxRelease, 11000,				\
	     cuDevicePrimaryCtxRelease_v2, (CUdevice))			\
	CALL(cuCtxSetCurrent, 4000, cuCtxSetCurrent, (CUcontext))	\
	CALL(cuCtxSynchronize, 2000, cuCtxSynchronize, (void))		\
	CALL(cuModuleLoadData, 2000, cuModuleLoadData,			\
	     (CUmodule *, const void *))				\
	CALL(cuModuleGetFunction, 2000, cuModuleGetFunction,		\
	     (CUfunction *, CUmodule, const char *))			\
	CALL(cuModuleUnload, 2000, cuModuleUnload, (CUmodule))		\
	CALL(cuMemGetInfo, 3020, cuMemGetInfo_v2, (size_t *, size_t *))	\
	CALL(cuMemAlloc, 3020, cuMemAlloc_v2, (CUdeviceptr *, size_t))	\
	CALL(cuMemFree, 3020, cuMemFree_v2, (CUdeviceptr))		\
	CALL(cuMemAllocHost, 3020, cuMemAllocHost_v2,			\
	     (void **, size_t))						\
	CALL(cuMemFreeHost, 2000, cuMemFreeHost, (void *))		\
	CALL(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2,			\
	     (CUdeviceptr, const void *, size_t))			\
	CALL(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2,		\
	     (CUdeviceptr, const void *, size_t, CUstream))		\
	CALL(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2,		\
	     (void *, CUdeviceptr, size_t, CUstream))			\
	CALL(cuMemsetD8Async, 3020, cuMemsetD8Async,			\
	     (CUdeviceptr, unsigned char, size_t, CUstream))		\
	CALL(cuStreamCreate, 2000, cuStreamCreate,			\
	     (CUstream *, unsigned int))				\
	CALL(cuStreamSynchronize, 2000, cuStreamSynchronize, (CUstream)) \
	CALL(cuStreamDestroy, 4000, cuStreamDestroy_v2, (CUstream))	\
	CALL(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2,	\
	     (CUstream, int))						\
	CALL(cuStreamEndCapture, 10000, cuStreamEndCapture,		\
	     (CUstream, CUgraph *))					\
	CALL(cuGraphInstantiateWithFlags, 11040,			\
	     cuGraphInstantiateWithFlags,				\
	     (CUgraphExec *, CUgraph, unsigned long long))		\
	CALL(cuGraphLaunch, 10000, cuGraphLaunch,			\
	     (CUgraphExec, CUstream))					\
	CALL(cuGraphExecDestroy, 10000, cuGraphExecDestroy,		\
	     (CUgraphExec))						\
	CALL(cuGraphDestroy, 10000, cuGraphDestroy, (CUgraph))		\
	CALL(cuEventCreate, 2000, cuEventCreate,			\
	     (CUevent *, unsigned int))					\
	CALL(cuEventRecord, 2000, cuEventRecord, (CUevent, CUstream))	\
	CALL(cuEventSynchronize, 2000, cuEventSynchronize, (CUevent))	\
	CALL(cuEventElapsedTime, 2000, cuEventElapsedTime,		\
	     (float *, CUevent, CUevent))				\
	CALL(cuEventDestroy, 4000, cuEventDestroy_v2, (CUevent))	\
	CALL(cuLaunchKernel, 4000, cuLaunchKernel,			\
	     (CUfunction, unsigned int, unsigned int, unsigned int,	\
	      unsigned int, unsigned int, unsigned int, unsigned int,	\
	      CUstream, void **, void **))

/* What a program needs beside these: defined by it in the same form, before the include. */
#ifndef EXAMPLE_MORE_CALLS
#define EXAMPLE_MORE_CALLS(CALL)
#endif

#ifdef EXAMPLE_LINKED

#define EXAMPLE_DECLARE(name, since, symbol, args) \
	CUresult name args __asm__(#symbol);
EXAMPLE_CALLS(EXAMPLE_DECLARE)
EXAMPLE_MORE_CALLS(EXAMPLE_DECLARE)

static void *driver_library = RTLD_DEFAULT;	/* it is among the program's own */

static int driver_open(void)
{
	return 0;
}

#else

static void *driver_library;

#define EXAMPLE_DECLARE(name, since, symbol, args) \
	static CUresult (*name) args;
EXAMPLE_CALLS(EXAMPLE_DECLARE)
EXAMPLE_MORE_CALLS(EXAMPLE_DECLARE)

/* 0, or -1 after one line that says what is missing. */
static int driver_open(void)
{
	CUresult (*get)(const char *name, void **pfn, int version,
			uint64_t flags, int *status);
	int status;

	driver_library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver_library) {
		fprintf(stderr, "no CUDA driver here: %s\n", dlerror());
		return -1;
	}
	*(void **)&get = dlsym(driver_library, "cuGetProcAddress_v2");
	if (!get) {
		fprintf(stderr, "this libcuda.so.1 is older than CUDA 12\n");
		return -1;
	}
#define EXAMPLE_GET(name, since, symbol, args)				\
	if (get(#name, (void **)&name, since, 0, &status) || !name) {	\
		fprintf(stderr, "this libcuda.so.1 has no " #name "\n"); \
		return -1;						\
	}
	EXAMPLE_CALLS(EXAMPLE_GET)
	EXAMPLE_MORE_CALLS(EXAMPLE_GET)
#undef EXAMPLE_GET
	return 0;
}

#endif /* EXAMPLE_LINKED */

/* NULL on a real GPU, "simulated GPU" with the tests' library. */
static const char *driver_simulated(void)
{
	return dlsym(driver_library, "cudatrace_simulated_gpu");
}

#endif /* CUDATRACE_EXAMPLES_DRIVER_API_H */
