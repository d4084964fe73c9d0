/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.h - every function that the simulated libcuda exports, once.
 *
 * A row is SIM_CALL(base, since, mode, symbol, argument types): the name that
 * programs give to cuGetProcAddress, the driver version (1000 * major +
 * 10 * minor) from which that name means this symbol, whether the symbol
 * treats stream 0 as the LEGACY or the PER_THREAD default stream (ANY: it has
 * no stream), the exported symbol. Rows of one base and mode stand in the
 * order of their versions. Prototypes, cuGetProcAddress and the prototype
 * check are made from these rows; it must never hold anything else, which is
 * why it has no include guard.
 */
SIM_CALL(cuInit, 2000, ANY, cuInit, (unsigned int))
SIM_CALL(cuDriverGetVersion, 2020, ANY, cuDriverGetVersion, (int *))
SIM_CALL(cuDeviceGet, 2000, ANY, cuDeviceGet, (CUdevice *, int))
SIM_CALL(cuDeviceGetCount, 2000, ANY, cuDeviceGetCount, (int *))
SIM_CALL(cuDeviceGetName, 2000, ANY, cuDeviceGetName, (char *, int, CUdevice))
SIM_CALL(cuDeviceGetUuid, 9020, ANY, cuDeviceGetUuid, (CUuuid *, CUdevice))
SIM_CALL(cuDeviceGetUuid, 11040, ANY, cuDeviceGetUuid_v2, (CUuuid *, CUdevice))
SIM_CALL(cuDeviceTotalMem, 2000, ANY, cuDeviceTotalMem,
	 (unsigned int *, CUdevice))
SIM_CALL(cuDeviceTotalMem, 3020, ANY, cuDeviceTotalMem_v2, (size_t *, CUdevice))
SIM_CALL(cuDeviceGetAttribute, 2000, ANY, cuDeviceGetAttribute,
	 (int *, CUdevice_attribute, CUdevice))
SIM_CALL(cuDeviceGetPCIBusId, 4010, ANY, cuDeviceGetPCIBusId,
	 (char *, int, CUdevice))
SIM_CALL(cuDeviceGetByPCIBusId, 4010, ANY, cuDeviceGetByPCIBusId,
	 (CUdevice *, const char *))
SIM_CALL(cuDeviceComputeCapability, 2000, ANY, cuDeviceComputeCapability,
	 (int *, int *, CUdevice))
SIM_CALL(cuDeviceCanAccessPeer, 4000, ANY, cuDeviceCanAccessPeer,
	 (int *, CUdevice, CUdevice))
SIM_CALL(cuDeviceGetDefaultMemPool, 11020, ANY, cuDeviceGetDefaultMemPool,
	 (CUmemoryPool *, CUdevice))
SIM_CALL(cuDevicePrimaryCtxRetain, 7000, ANY, cuDevicePrimaryCtxRetain,
	 (CUcontext *, CUdevice))
SIM_CALL(cuDevicePrimaryCtxRelease, 7000, ANY, cuDevicePrimaryCtxRelease,
	 (CUdevice))
SIM_CALL(cuDevicePrimaryCtxRelease, 11000, ANY, cuDevicePrimaryCtxRelease_v2,
	 (CUdevice))
SIM_CALL(cuDevicePrimaryCtxReset, 7000, ANY, cuDevicePrimaryCtxReset,
	 (CUdevice))
SIM_CALL(cuDevicePrimaryCtxReset, 11000, ANY, cuDevicePrimaryCtxReset_v2,
	 (CUdevice))
SIM_CALL(cuDevicePrimaryCtxGetState, 7000, ANY, cuDevicePrimaryCtxGetState,
	 (CUdevice, unsigned int *, int *))
SIM_CALL(cuDevicePrimaryCtxSetFlags, 7000, ANY, cuDevicePrimaryCtxSetFlags,
	 (CUdevice, unsigned int))
SIM_CALL(cuDevicePrimaryCtxSetFlags, 11000, ANY, cuDevicePrimaryCtxSetFlags_v2,
	 (CUdevice, unsigned int))
SIM_CALL(cuCtxCreate, 2000, ANY, cuCtxCreate,
	 (CUcontext *, unsigned int, CUdevice))
SIM_CALL(cuCtxCreate, 3020, ANY, cuCtxCreate_v2,
	 (CUcontext *, unsigned int, CUdevice))
SIM_CALL(cuCtxCreate, 11040, ANY, cuCtxCreate_v3,
	 (CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice))
SIM_CALL(cuCtxCreate, 12050, ANY, cuCtxCreate_v4,
	 (CUcontext *, CUctxCreateParams *, unsigned int, CUdevice))
SIM_CALL(cuCtxDestroy, 2000, ANY, cuCtxDestroy, (CUcontext))
SIM_CALL(cuCtxDestroy, 4000, ANY, cuCtxDestroy_v2, (CUcontext))
SIM_CALL(cuCtxPushCurrent, 2000, ANY, cuCtxPushCurrent, (CUcontext))
SIM_CALL(cuCtxPushCurrent, 4000, ANY, cuCtxPushCurrent_v2, (CUcontext))
SIM_CALL(cuCtxPopCurrent, 2000, ANY, cuCtxPopCurrent, (CUcontext *))
SIM_CALL(cuCtxPopCurrent, 4000, ANY, cuCtxPopCurrent_v2, (CUcontext *))
SIM_CALL(cuCtxSetCurrent, 4000, ANY, cuCtxSetCurrent, (CUcontext))
SIM_CALL(cuCtxGetCurrent, 4000, ANY, cuCtxGetCurrent, (CUcontext *))
SIM_CALL(cuCtxGetDevice, 2000, ANY, cuCtxGetDevice, (CUdevice *))
SIM_CALL(cuCtxGetDevice, 13000, ANY, cuCtxGetDevice_v2, (CUdevice *, CUcontext))
SIM_CALL(cuCtxGetFlags, 7000, ANY, cuCtxGetFlags, (unsigned int *))
SIM_CALL(cuCtxGetId, 12000, ANY, cuCtxGetId, (CUcontext, unsigned long long *))
SIM_CALL(cuProfilerStart, 4000, ANY, cuProfilerStart, (void))
SIM_CALL(cuProfilerStop, 4000, ANY, cuProfilerStop, (void))
SIM_CALL(cuCtxSynchronize, 2000, ANY, cuCtxSynchronize, (void))
SIM_CALL(cuCtxSynchronize, 13000, ANY, cuCtxSynchronize_v2, (CUcontext))
SIM_CALL(cuCtxGetApiVersion, 3020, ANY, cuCtxGetApiVersion,
	 (CUcontext, unsigned int *))
SIM_CALL(cuCtxGetLimit, 3010, ANY, cuCtxGetLimit, (size_t *, CUlimit))
SIM_CALL(cuCtxSetLimit, 3010, ANY, cuCtxSetLimit, (CUlimit, size_t))
SIM_CALL(cuCtxGetStreamPriorityRange, 5050, ANY, cuCtxGetStreamPriorityRange,
	 (int *, int *))
SIM_CALL(cuModuleLoad, 2000, ANY, cuModuleLoad, (CUmodule *, const char *))
SIM_CALL(cuModuleLoadData, 2000, ANY, cuModuleLoadData,
	 (CUmodule *, const void *))
SIM_CALL(cuModuleLoadDataEx, 2010, ANY, cuModuleLoadDataEx,
	 (CUmodule *, const void *, unsigned int, CUjit_option *, void **))
SIM_CALL(cuModuleLoadFatBinary, 2000, ANY, cuModuleLoadFatBinary,
	 (CUmodule *, const void *))
SIM_CALL(cuModuleUnload, 2000, ANY, cuModuleUnload, (CUmodule))
SIM_CALL(cuModuleGetFunction, 2000, ANY, cuModuleGetFunction,
	 (CUfunction *, CUmodule, const char *))
SIM_CALL(cuModuleGetGlobal, 3020, ANY, cuModuleGetGlobal_v2,
	 (CUdeviceptr *, size_t *, CUmodule, const char *))
SIM_CALL(cuModuleGetLoadingMode, 11070, ANY, cuModuleGetLoadingMode,
	 (CUmoduleLoadingMode *))
SIM_CALL(cuLibraryLoadData, 12000, ANY, cuLibraryLoadData,
	 (CUlibrary *, const void *, CUjit_option *, void **, unsigned int,
	  CUlibraryOption *, void **, unsigned int))
SIM_CALL(cuLibraryUnload, 12000, ANY, cuLibraryUnload, (CUlibrary))
SIM_CALL(cuLibraryGetKernel, 12000, ANY, cuLibraryGetKernel,
	 (CUkernel *, CUlibrary, const char *))
SIM_CALL(cuLibraryGetModule, 12000, ANY, cuLibraryGetModule,
	 (CUmodule *, CUlibrary))
SIM_CALL(cuKernelGetFunction, 12000, ANY, cuKernelGetFunction,
	 (CUfunction *, CUkernel))
SIM_CALL(cuKernelGetName, 12030, ANY, cuKernelGetName,
	 (const char **, CUkernel))
SIM_CALL(cuFuncGetAttribute, 2020, ANY, cuFuncGetAttribute,
	 (int *, CUfunction_attribute, CUfunction))
SIM_CALL(cuFuncGetName, 12030, ANY, cuFuncGetName, (const char **, CUfunction))
SIM_CALL(cuFuncGetModule, 11000, ANY, cuFuncGetModule, (CUmodule *, CUfunction))
SIM_CALL(cuFuncSetAttribute, 9000, ANY, cuFuncSetAttribute,
	 (CUfunction, CUfunction_attribute, int))
SIM_CALL(cuMemGetInfo, 2000, ANY, cuMemGetInfo,
	 (unsigned int *, unsigned int *))
SIM_CALL(cuMemGetInfo, 3020, ANY, cuMemGetInfo_v2, (size_t *, size_t *))
SIM_CALL(cuMemAlloc, 2000, ANY, cuMemAlloc, (CUdeviceptr_v1 *, unsigned int))
SIM_CALL(cuMemAlloc, 3020, ANY, cuMemAlloc_v2, (CUdeviceptr *, size_t))
SIM_CALL(cuMemAllocPitch, 3020, ANY, cuMemAllocPitch_v2,
	 (CUdeviceptr *, size_t *, size_t, size_t, unsigned int))
SIM_CALL(cuMemFree, 2000, ANY, cuMemFree, (CUdeviceptr_v1))
SIM_CALL(cuMemFree, 3020, ANY, cuMemFree_v2, (CUdeviceptr))
SIM_CALL(cuMemGetAddressRange, 3020, ANY, cuMemGetAddressRange_v2,
	 (CUdeviceptr *, size_t *, CUdeviceptr))
SIM_CALL(cuMemAllocHost, 2000, ANY, cuMemAllocHost, (void **, unsigned int))
SIM_CALL(cuMemAllocHost, 3020, ANY, cuMemAllocHost_v2, (void **, size_t))
SIM_CALL(cuMemFreeHost, 2000, ANY, cuMemFreeHost, (void *))
SIM_CALL(cuMemHostAlloc, 2020, ANY, cuMemHostAlloc,
	 (void **, size_t, unsigned int))
SIM_CALL(cuMemHostGetDevicePointer, 3020, ANY, cuMemHostGetDevicePointer_v2,
	 (CUdeviceptr *, void *, unsigned int))
SIM_CALL(cuMemHostRegister, 4000, ANY, cuMemHostRegister,
	 (void *, size_t, unsigned int))
SIM_CALL(cuMemHostRegister, 6050, ANY, cuMemHostRegister_v2,
	 (void *, size_t, unsigned int))
SIM_CALL(cuMemHostUnregister, 4000, ANY, cuMemHostUnregister, (void *))
SIM_CALL(cuMemAllocManaged, 6000, ANY, cuMemAllocManaged,
	 (CUdeviceptr *, size_t, unsigned int))
SIM_CALL(cuMemAllocAsync, 11020, LEGACY, cuMemAllocAsync,
	 (CUdeviceptr *, size_t, CUstream))
SIM_CALL(cuMemAllocAsync, 11020, PER_THREAD, cuMemAllocAsync_ptsz,
	 (CUdeviceptr *, size_t, CUstream))
SIM_CALL(cuMemFreeAsync, 11020, LEGACY, cuMemFreeAsync, (CUdeviceptr, CUstream))
SIM_CALL(cuMemFreeAsync, 11020, PER_THREAD, cuMemFreeAsync_ptsz,
	 (CUdeviceptr, CUstream))
SIM_CALL(cuMemcpy, 4000, LEGACY, cuMemcpy, (CUdeviceptr, CUdeviceptr, size_t))
SIM_CALL(cuMemcpy, 7000, PER_THREAD, cuMemcpy_ptds,
	 (CUdeviceptr, CUdeviceptr, size_t))
SIM_CALL(cuMemcpyAsync, 4000, LEGACY, cuMemcpyAsync,
	 (CUdeviceptr, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpyAsync, 7000, PER_THREAD, cuMemcpyAsync_ptsz,
	 (CUdeviceptr, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpyHtoD, 2000, ANY, cuMemcpyHtoD,
	 (CUdeviceptr_v1, const void *, unsigned int))
SIM_CALL(cuMemcpyHtoD, 3020, LEGACY, cuMemcpyHtoD_v2,
	 (CUdeviceptr, const void *, size_t))
SIM_CALL(cuMemcpyHtoD, 7000, PER_THREAD, cuMemcpyHtoD_v2_ptds,
	 (CUdeviceptr, const void *, size_t))
SIM_CALL(cuMemcpyDtoH, 2000, ANY, cuMemcpyDtoH,
	 (void *, CUdeviceptr_v1, unsigned int))
SIM_CALL(cuMemcpyDtoH, 3020, LEGACY, cuMemcpyDtoH_v2,
	 (void *, CUdeviceptr, size_t))
SIM_CALL(cuMemcpyDtoH, 7000, PER_THREAD, cuMemcpyDtoH_v2_ptds,
	 (void *, CUdeviceptr, size_t))
SIM_CALL(cuMemcpyDtoD, 2000, ANY, cuMemcpyDtoD,
	 (CUdeviceptr_v1, CUdeviceptr_v1, unsigned int))
SIM_CALL(cuMemcpyDtoD, 3020, LEGACY, cuMemcpyDtoD_v2,
	 (CUdeviceptr, CUdeviceptr, size_t))
SIM_CALL(cuMemcpyDtoD, 7000, PER_THREAD, cuMemcpyDtoD_v2_ptds,
	 (CUdeviceptr, CUdeviceptr, size_t))
SIM_CALL(cuMemcpyHtoDAsync, 3020, LEGACY, cuMemcpyHtoDAsync_v2,
	 (CUdeviceptr, const void *, size_t, CUstream))
SIM_CALL(cuMemcpyHtoDAsync, 7000, PER_THREAD, cuMemcpyHtoDAsync_v2_ptsz,
	 (CUdeviceptr, const void *, size_t, CUstream))
SIM_CALL(cuMemcpyDtoHAsync, 3020, LEGACY, cuMemcpyDtoHAsync_v2,
	 (void *, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpyDtoHAsync, 7000, PER_THREAD, cuMemcpyDtoHAsync_v2_ptsz,
	 (void *, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpyDtoDAsync, 3020, LEGACY, cuMemcpyDtoDAsync_v2,
	 (CUdeviceptr, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpyDtoDAsync, 7000, PER_THREAD, cuMemcpyDtoDAsync_v2_ptsz,
	 (CUdeviceptr, CUdeviceptr, size_t, CUstream))
SIM_CALL(cuMemcpy2D, 3020, LEGACY, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *))
SIM_CALL(cuMemcpy2D, 7000, PER_THREAD, cuMemcpy2D_v2_ptds,
	 (const CUDA_MEMCPY2D *))
SIM_CALL(cuMemcpy2DAsync, 3020, LEGACY, cuMemcpy2DAsync_v2,
	 (const CUDA_MEMCPY2D *, CUstream))
SIM_CALL(cuMemcpy2DAsync, 7000, PER_THREAD, cuMemcpy2DAsync_v2_ptsz,
	 (const CUDA_MEMCPY2D *, CUstream))
SIM_CALL(cuMemcpy2DUnaligned, 3020, LEGACY, cuMemcpy2DUnaligned_v2,
	 (const CUDA_MEMCPY2D *))
SIM_CALL(cuMemcpy2DUnaligned, 7000, PER_THREAD, cuMemcpy2DUnaligned_v2_ptds,
	 (const CUDA_MEMCPY2D *))
SIM_CALL(cuMemsetD8, 2000, ANY, cuMemsetD8,
	 (CUdeviceptr_v1, unsigned char, unsigned int))
SIM_CALL(cuMemsetD8, 3020, LEGACY, cuMemsetD8_v2,
	 (CUdeviceptr, unsigned char, size_t))
SIM_CALL(cuMemsetD8, 7000, PER_THREAD, cuMemsetD8_v2_ptds,
	 (CUdeviceptr, unsigned char, size_t))
SIM_CALL(cuMemsetD16, 2000, ANY, cuMemsetD16,
	 (CUdeviceptr_v1, unsigned short, unsigned int))
SIM_CALL(cuMemsetD16, 3020, LEGACY, cuMemsetD16_v2,
	 (CUdeviceptr, unsigned short, size_t))
SIM_CALL(cuMemsetD16, 7000, PER_THREAD, cuMemsetD16_v2_ptds,
	 (CUdeviceptr, unsigned short, size_t))
SIM_CALL(cuMemsetD32, 2000, ANY, cuMemsetD32,
	 (CUdeviceptr_v1, unsigned int, unsigned int))
SIM_CALL(cuMemsetD32, 3020, LEGACY, cuMemsetD32_v2,
	 (CUdeviceptr, unsigned int, size_t))
SIM_CALL(cuMemsetD32, 7000, PER_THREAD, cuMemsetD32_v2_ptds,
	 (CUdeviceptr, unsigned int, size_t))
SIM_CALL(cuMemsetD8Async, 3020, LEGACY, cuMemsetD8Async,
	 (CUdeviceptr, unsigned char, size_t, CUstream))
SIM_CALL(cuMemsetD8Async, 7000, PER_THREAD, cuMemsetD8Async_ptsz,
	 (CUdeviceptr, unsigned char, size_t, CUstream))
SIM_CALL(cuMemsetD16Async, 3020, LEGACY, cuMemsetD16Async,
	 (CUdeviceptr, unsigned short, size_t, CUstream))
SIM_CALL(cuMemsetD16Async, 7000, PER_THREAD, cuMemsetD16Async_ptsz,
	 (CUdeviceptr, unsigned short, size_t, CUstream))
SIM_CALL(cuMemsetD32Async, 3020, LEGACY, cuMemsetD32Async,
	 (CUdeviceptr, unsigned int, size_t, CUstream))
SIM_CALL(cuMemsetD32Async, 7000, PER_THREAD, cuMemsetD32Async_ptsz,
	 (CUdeviceptr, unsigned int, size_t, CUstream))
SIM_CALL(cuMemsetD2D8, 3020, LEGACY, cuMemsetD2D8_v2,
	 (CUdeviceptr, size_t, unsigned char, size_t, size_t))
SIM_CALL(cuMemsetD2D8, 7000, PER_THREAD, cuMemsetD2D8_v2_ptds,
	 (CUdeviceptr, size_t, unsigned char, size_t, size_t))
SIM_CALL(cuMemsetD2D32, 3020, LEGACY, cuMemsetD2D32_v2,
	 (CUdeviceptr, size_t, unsigned int, size_t, size_t))
SIM_CALL(cuMemsetD2D32, 7000, PER_THREAD, cuMemsetD2D32_v2_ptds,
	 (CUdeviceptr, size_t, unsigned int, size_t, size_t))
SIM_CALL(cuPointerGetAttribute, 4000, ANY, cuPointerGetAttribute,
	 (void *, CUpointer_attribute, CUdeviceptr))
SIM_CALL(cuLaunchKernel, 4000, LEGACY, cuLaunchKernel,
	 (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
	  unsigned int, unsigned int, unsigned int, CUstream, void **,
	  void **))
SIM_CALL(cuLaunchKernel, 7000, PER_THREAD, cuLaunchKernel_ptsz,
	 (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
	  unsigned int, unsigned int, unsigned int, CUstream, void **,
	  void **))
SIM_CALL(cuLaunchKernelEx, 11060, LEGACY, cuLaunchKernelEx,
	 (const CUlaunchConfig *, CUfunction, void **, void **))
SIM_CALL(cuLaunchKernelEx, 11060, PER_THREAD, cuLaunchKernelEx_ptsz,
	 (const CUlaunchConfig *, CUfunction, void **, void **))
SIM_CALL(cuLaunchCooperativeKernel, 9000, LEGACY, cuLaunchCooperativeKernel,
	 (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
	  unsigned int, unsigned int, unsigned int, CUstream, void **))
SIM_CALL(cuLaunchCooperativeKernel, 9000, PER_THREAD, cuLaunchCooperativeKernel_ptsz,
	 (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
	  unsigned int, unsigned int, unsigned int, CUstream, void **))
SIM_CALL(cuLaunchHostFunc, 10000, LEGACY, cuLaunchHostFunc,
	 (CUstream, CUhostFn, void *))
SIM_CALL(cuLaunchHostFunc, 10000, PER_THREAD, cuLaunchHostFunc_ptsz,
	 (CUstream, CUhostFn, void *))
SIM_CALL(cuStreamCreate, 2000, ANY, cuStreamCreate, (CUstream *, unsigned int))
SIM_CALL(cuStreamCreateWithPriority, 5050, ANY, cuStreamCreateWithPriority,
	 (CUstream *, unsigned int, int))
SIM_CALL(cuStreamDestroy, 2000, ANY, cuStreamDestroy, (CUstream))
SIM_CALL(cuStreamDestroy, 4000, ANY, cuStreamDestroy_v2, (CUstream))
SIM_CALL(cuStreamSynchronize, 2000, LEGACY, cuStreamSynchronize, (CUstream))
SIM_CALL(cuStreamSynchronize, 7000, PER_THREAD, cuStreamSynchronize_ptsz,
	 (CUstream))
SIM_CALL(cuStreamQuery, 2000, LEGACY, cuStreamQuery, (CUstream))
SIM_CALL(cuStreamQuery, 7000, PER_THREAD, cuStreamQuery_ptsz, (CUstream))
SIM_CALL(cuStreamWaitEvent, 3020, LEGACY, cuStreamWaitEvent,
	 (CUstream, CUevent, unsigned int))
SIM_CALL(cuStreamWaitEvent, 7000, PER_THREAD, cuStreamWaitEvent_ptsz,
	 (CUstream, CUevent, unsigned int))
SIM_CALL(cuStreamGetCtx, 9020, LEGACY, cuStreamGetCtx, (CUstream, CUcontext *))
SIM_CALL(cuStreamGetCtx, 9020, PER_THREAD, cuStreamGetCtx_ptsz,
	 (CUstream, CUcontext *))
SIM_CALL(cuStreamGetFlags, 5050, LEGACY, cuStreamGetFlags,
	 (CUstream, unsigned int *))
SIM_CALL(cuStreamGetFlags, 7000, PER_THREAD, cuStreamGetFlags_ptsz,
	 (CUstream, unsigned int *))
SIM_CALL(cuStreamGetPriority, 5050, LEGACY, cuStreamGetPriority,
	 (CUstream, int *))
SIM_CALL(cuStreamGetPriority, 7000, PER_THREAD, cuStreamGetPriority_ptsz,
	 (CUstream, int *))
SIM_CALL(cuStreamGetId, 12000, LEGACY, cuStreamGetId,
	 (CUstream, unsigned long long *))
SIM_CALL(cuStreamGetId, 12000, PER_THREAD, cuStreamGetId_ptsz,
	 (CUstream, unsigned long long *))
SIM_CALL(cuStreamAddCallback, 5000, LEGACY, cuStreamAddCallback,
	 (CUstream, CUstreamCallback, void *, unsigned int))
SIM_CALL(cuStreamAddCallback, 7000, PER_THREAD, cuStreamAddCallback_ptsz,
	 (CUstream, CUstreamCallback, void *, unsigned int))
SIM_CALL(cuStreamBeginCapture, 10000, LEGACY, cuStreamBeginCapture, (CUstream))
SIM_CALL(cuStreamBeginCapture, 10000, PER_THREAD, cuStreamBeginCapture_ptsz,
	 (CUstream))
SIM_CALL(cuStreamBeginCapture, 10010, LEGACY, cuStreamBeginCapture_v2,
	 (CUstream, CUstreamCaptureMode))
SIM_CALL(cuStreamBeginCapture, 10010, PER_THREAD, cuStreamBeginCapture_v2_ptsz,
	 (CUstream, CUstreamCaptureMode))
SIM_CALL(cuStreamBeginCaptureToGraph, 12030, LEGACY, cuStreamBeginCaptureToGraph,
	 (CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
	  CUstreamCaptureMode))
SIM_CALL(cuStreamBeginCaptureToGraph, 12030, PER_THREAD, cuStreamBeginCaptureToGraph_ptsz,
	 (CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
	  CUstreamCaptureMode))
SIM_CALL(cuStreamEndCapture, 10000, LEGACY, cuStreamEndCapture,
	 (CUstream, CUgraph *))
SIM_CALL(cuStreamEndCapture, 10000, PER_THREAD, cuStreamEndCapture_ptsz,
	 (CUstream, CUgraph *))
SIM_CALL(cuStreamIsCapturing, 10000, LEGACY, cuStreamIsCapturing,
	 (CUstream, CUstreamCaptureStatus *))
SIM_CALL(cuStreamIsCapturing, 10000, PER_THREAD, cuStreamIsCapturing_ptsz,
	 (CUstream, CUstreamCaptureStatus *))
SIM_CALL(cuStreamGetCaptureInfo, 10010, LEGACY, cuStreamGetCaptureInfo,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *))
SIM_CALL(cuStreamGetCaptureInfo, 10010, PER_THREAD, cuStreamGetCaptureInfo_ptsz,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *))
SIM_CALL(cuStreamGetCaptureInfo, 11030, LEGACY, cuStreamGetCaptureInfo_v2,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	  const CUgraphNode **, size_t *))
SIM_CALL(cuStreamGetCaptureInfo, 11030, PER_THREAD, cuStreamGetCaptureInfo_v2_ptsz,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	  const CUgraphNode **, size_t *))
SIM_CALL(cuStreamGetCaptureInfo, 12030, LEGACY, cuStreamGetCaptureInfo_v3,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	  const CUgraphNode **, const CUgraphEdgeData **, size_t *))
SIM_CALL(cuStreamGetCaptureInfo, 12030, PER_THREAD, cuStreamGetCaptureInfo_v3_ptsz,
	 (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	  const CUgraphNode **, const CUgraphEdgeData **, size_t *))
SIM_CALL(cuThreadExchangeStreamCaptureMode, 10010, ANY, cuThreadExchangeStreamCaptureMode,
	 (CUstreamCaptureMode *))
SIM_CALL(cuEventCreate, 2000, ANY, cuEventCreate, (CUevent *, unsigned int))
SIM_CALL(cuEventDestroy, 2000, ANY, cuEventDestroy, (CUevent))
SIM_CALL(cuEventDestroy, 4000, ANY, cuEventDestroy_v2, (CUevent))
SIM_CALL(cuEventRecord, 2000, LEGACY, cuEventRecord, (CUevent, CUstream))
SIM_CALL(cuEventRecord, 7000, PER_THREAD, cuEventRecord_ptsz,
	 (CUevent, CUstream))
SIM_CALL(cuEventRecordWithFlags, 11010, LEGACY, cuEventRecordWithFlags,
	 (CUevent, CUstream, unsigned int))
SIM_CALL(cuEventRecordWithFlags, 11010, PER_THREAD, cuEventRecordWithFlags_ptsz,
	 (CUevent, CUstream, unsigned int))
SIM_CALL(cuEventQuery, 2000, ANY, cuEventQuery, (CUevent))
SIM_CALL(cuEventSynchronize, 2000, ANY, cuEventSynchronize, (CUevent))
SIM_CALL(cuEventElapsedTime, 2000, ANY, cuEventElapsedTime,
	 (float *, CUevent, CUevent))
SIM_CALL(cuEventElapsedTime, 12080, ANY, cuEventElapsedTime_v2,
	 (float *, CUevent, CUevent))
SIM_CALL(cuGraphCreate, 10000, ANY, cuGraphCreate, (CUgraph *, unsigned int))
SIM_CALL(cuGraphDestroy, 10000, ANY, cuGraphDestroy, (CUgraph))
SIM_CALL(cuGraphGetNodes, 10000, ANY, cuGraphGetNodes,
	 (CUgraph, CUgraphNode *, size_t *))
SIM_CALL(cuGraphClone, 10000, ANY, cuGraphClone, (CUgraph *, CUgraph))
SIM_CALL(cuGraphAddKernelNode, 10000, ANY, cuGraphAddKernelNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
	  const CUDA_KERNEL_NODE_PARAMS_v1 *))
SIM_CALL(cuGraphAddKernelNode, 12000, ANY, cuGraphAddKernelNode_v2,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
	  const CUDA_KERNEL_NODE_PARAMS_v2 *))
SIM_CALL(cuGraphAddMemsetNode, 10000, ANY, cuGraphAddMemsetNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
	  const CUDA_MEMSET_NODE_PARAMS *, CUcontext))
SIM_CALL(cuGraphAddHostNode, 10000, ANY, cuGraphAddHostNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
	  const CUDA_HOST_NODE_PARAMS *))
SIM_CALL(cuGraphAddChildGraphNode, 10000, ANY, cuGraphAddChildGraphNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph))
SIM_CALL(cuGraphAddEmptyNode, 10000, ANY, cuGraphAddEmptyNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t))
SIM_CALL(cuGraphAddNode, 12020, ANY, cuGraphAddNode,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *))
SIM_CALL(cuGraphAddNode, 12030, ANY, cuGraphAddNode_v2,
	 (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
	  CUgraphNodeParams *))
SIM_CALL(cuGraphConditionalHandleCreate, 12030, ANY, cuGraphConditionalHandleCreate,
	 (CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int))
SIM_CALL(cuGraphInstantiate, 10000, ANY, cuGraphInstantiate,
	 (CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))
SIM_CALL(cuGraphInstantiate, 11000, ANY, cuGraphInstantiate_v2,
	 (CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t))
SIM_CALL(cuGraphInstantiateWithFlags, 11040, ANY, cuGraphInstantiateWithFlags,
	 (CUgraphExec *, CUgraph, unsigned long long))
SIM_CALL(cuGraphInstantiateWithParams, 12000, LEGACY, cuGraphInstantiateWithParams,
	 (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))
SIM_CALL(cuGraphInstantiateWithParams, 12000, PER_THREAD, cuGraphInstantiateWithParams_ptsz,
	 (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *))
SIM_CALL(cuGraphUpload, 11010, LEGACY, cuGraphUpload, (CUgraphExec, CUstream))
SIM_CALL(cuGraphUpload, 11010, PER_THREAD, cuGraphUpload_ptsz,
	 (CUgraphExec, CUstream))
SIM_CALL(cuGraphLaunch, 10000, LEGACY, cuGraphLaunch, (CUgraphExec, CUstream))
SIM_CALL(cuGraphLaunch, 10000, PER_THREAD, cuGraphLaunch_ptsz,
	 (CUgraphExec, CUstream))
SIM_CALL(cuGraphExecUpdate, 12000, ANY, cuGraphExecUpdate_v2,
	 (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *))
SIM_CALL(cuGraphExecDestroy, 10000, ANY, cuGraphExecDestroy, (CUgraphExec))
SIM_CALL(cuGetErrorName, 6000, ANY, cuGetErrorName, (CUresult, const char **))
SIM_CALL(cuGetErrorString, 6000, ANY, cuGetErrorString,
	 (CUresult, const char **))
SIM_CALL(cuGetProcAddress, 11030, ANY, cuGetProcAddress,
	 (const char *, void **, int, cuuint64_t))
SIM_CALL(cuGetProcAddress, 12000, ANY, cuGetProcAddress_v2,
	 (const char *, void **, int, cuuint64_t,
	  CUdriverProcAddressQueryResult *))
SIM_CALL(cuGetExportTable, 3000, ANY, cuGetExportTable,
	 (const void **, const CUuuid *))
SIM_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, ANY,
	 cuOccupancyMaxActiveBlocksPerMultiprocessor,
	 (int *, CUfunction, int, size_t))
