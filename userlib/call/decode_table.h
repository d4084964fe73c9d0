/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function has which layout and extractor: the only list of functions in
 * the library.  What is not here is traced all the same, without arguments.
 *
 * X(function, first version, last version, layout, extractor).  The versions are
 * those of the exported symbol (cuMemAlloc_v2 is 2, no suffix is 1); where a
 * newer one takes other arguments, or version 1 has 32-bit addresses or sizes, it is not
 * in the range.
 */
#ifndef CT_DECODE_TABLE_H
#define CT_DECODE_TABLE_H

#include "call/decode.h"

#define CT_BINDINGS(X)							\
	X(cuInit, 1, 1, init, init)					\
	X(cuGetProcAddress, 1, 2, lookup, proc_address)			\
	/* contexts */							\
	X(cuCtxCreate, 1, 2, context, ctx_create)			\
	X(cuCtxCreate, 3, 3, context, ctx_create_v3)			\
	X(cuCtxCreate, 4, 4, context, ctx_create_v4)			\
	X(cuCtxDestroy, 1, 2, handle, handle)				\
	X(cuCtxPushCurrent, 1, 2, handle, handle)			\
	X(cuCtxPopCurrent, 1, 2, handle, handle_out)			\
	X(cuCtxSetCurrent, 1, 1, handle, handle)			\
	X(cuCtxSynchronize, 2, 2, handle, handle)			\
	X(cuCtxFromGreenCtx, 1, 1, handle, handle_out)			\
	X(cuDevicePrimaryCtxRetain, 1, 1, context, ctx_retain)		\
	X(cuDevicePrimaryCtxRelease, 1, 2, context, ctx_device)		\
	X(cuDevicePrimaryCtxReset, 1, 2, context, ctx_device)		\
	X(cuDevicePrimaryCtxSetFlags, 1, 2, context, ctx_device_flags)	\
	/* modules and kernels */					\
	X(cuModuleLoad, 1, 1, module, module_file)			\
	X(cuModuleLoadData, 1, 1, module, module_data)			\
	X(cuModuleLoadDataEx, 1, 1, module, module_data_ex)		\
	X(cuModuleLoadFatBinary, 1, 1, module, module_data)		\
	X(cuModuleUnload, 1, 1, handle, module_unload)			\
	X(cuModuleGetFunction, 1, 1, function, get_function)		\
	X(cuModuleEnumerateFunctions, 1, 1, function, enumerate)	\
	X(cuModuleGetGlobal, 2, 2, lookup, get_global)			\
	X(cuLibraryLoadData, 1, 1, module, library_data)		\
	X(cuLibraryLoadFromFile, 1, 1, module, library_file)		\
	X(cuLibraryUnload, 1, 1, handle, module_unload)			\
	X(cuLibraryGetKernel, 1, 1, function, get_function)		\
	X(cuLibraryEnumerateKernels, 1, 1, function, enumerate)		\
	X(cuLibraryGetGlobal, 1, 1, lookup, get_global)			\
	X(cuLibraryGetManaged, 1, 1, lookup, get_global)		\
	X(cuKernelGetFunction, 1, 1, function, kernel_function)		\
	X(cuKernelGetName, 1, 1, none, learn_name)			\
	X(cuFuncGetName, 1, 1, none, learn_name)			\
	/* memory */							\
	X(cuMemAlloc, 2, 2, alloc, alloc)				\
	X(cuMemAllocManaged, 1, 1, alloc, alloc)			\
	X(cuMemAllocHost, 2, 2, alloc, alloc)				\
	X(cuMemHostAlloc, 1, 1, alloc, alloc)				\
	X(cuMemHostRegister, 1, 2, alloc, range)			\
	X(cuMemHostUnregister, 1, 1, free, free)			\
	X(cuMemAllocPitch, 2, 2, alloc_pitch, alloc_pitch)		\
	X(cuMemAllocAsync, 1, 1, alloc_async, alloc_async)		\
	X(cuMemAllocFromPoolAsync, 1, 1, alloc_async, alloc_pool)	\
	X(cuMemFree, 2, 2, free, free)					\
	X(cuMemFreeHost, 1, 1, free, free)				\
	X(cuMemFreeAsync, 1, 1, free_async, free_async)			\
	X(cuMemGetInfo, 2, 2, mem_info, mem_info)			\
	X(cuMemCreate, 1, 1, map, mem_create)				\
	X(cuMemRelease, 1, 1, handle, handle)				\
	X(cuMemAddressReserve, 1, 1, map, mem_reserve)			\
	X(cuMemAddressFree, 1, 1, map, mem_range)			\
	X(cuMemMap, 1, 1, map, mem_map)					\
	X(cuMemUnmap, 1, 1, map, mem_range)				\
	X(cuMemSetAccess, 1, 1, map, mem_range)				\
	X(cuMemAdvise, 1, 2, alloc, range)				\
	X(cuMemPrefetchAsync, 1, 2, alloc, range)			\
	X(cuStreamAttachMemAsync, 1, 1, alloc, attach)			\
	X(cuMemPoolCreate, 1, 1, handle, handle_out)			\
	X(cuMemPoolDestroy, 1, 1, handle, handle)			\
	X(cuMemPoolTrimTo, 1, 1, handle, handle)			\
	X(cuArrayCreate, 2, 2, map, array)				\
	X(cuArray3DCreate, 2, 2, map, array3d)				\
	X(cuArrayDestroy, 1, 1, handle, handle)				\
	X(cuMipmappedArrayCreate, 1, 1, map, array3d)			\
	X(cuMipmappedArrayDestroy, 1, 1, handle, handle)		\
	X(cuIpcGetMemHandle, 1, 1, free, free_second)			\
	X(cuIpcOpenMemHandle, 1, 2, free, free_out)			\
	X(cuIpcCloseMemHandle, 1, 1, free, free)			\
	/* transfers */							\
	X(cuMemcpy, 1, 1, copy, copy)					\
	X(cuMemcpyAsync, 1, 1, copy, copy_async)			\
	X(cuMemcpyHtoD, 2, 2, copy, h2d)				\
	X(cuMemcpyHtoDAsync, 2, 2, copy, h2d_async)			\
	X(cuMemcpyDtoH, 2, 2, copy, d2h)				\
	X(cuMemcpyDtoHAsync, 2, 2, copy, d2h_async)			\
	X(cuMemcpyDtoD, 2, 2, copy, d2d)				\
	X(cuMemcpyDtoDAsync, 2, 2, copy, d2d_async)			\
	X(cuMemcpyPeer, 1, 1, copy, peer)				\
	X(cuMemcpyPeerAsync, 1, 1, copy, peer_async)			\
	X(cuMemcpyAtoH, 2, 2, copy, a2h)				\
	X(cuMemcpyAtoHAsync, 2, 2, copy, a2h_async)			\
	X(cuMemcpyHtoA, 2, 2, copy, h2a)				\
	X(cuMemcpyHtoAAsync, 2, 2, copy, h2a_async)			\
	X(cuMemcpyDtoA, 2, 2, copy, d2a)				\
	X(cuMemcpyAtoD, 2, 2, copy, a2d)				\
	X(cuMemcpyAtoA, 2, 2, copy, a2a)				\
	X(cuMemcpy2D, 2, 2, copy, copy2d)				\
	X(cuMemcpy2DUnaligned, 2, 2, copy, copy2d)			\
	X(cuMemcpy2DAsync, 2, 2, copy, copy2d_async)			\
	X(cuMemcpy3D, 2, 2, copy, copy3d)				\
	X(cuMemcpy3DAsync, 2, 2, copy, copy3d_async)			\
	X(cuMemcpy3DPeer, 1, 1, copy, copy3d_peer)			\
	X(cuMemcpy3DPeerAsync, 1, 1, copy, copy3d_peer_async)		\
	X(cuMemcpyBatchAsync, 1, 1, copy, batch)			\
	X(cuMemcpyBatchAsync, 2, 2, copy, batch_v2)			\
	X(cuMemsetD8, 2, 2, set, set8)					\
	X(cuMemsetD16, 2, 2, set, set16)				\
	X(cuMemsetD32, 2, 2, set, set32)				\
	X(cuMemsetD8Async, 1, 1, set, set8_async)			\
	X(cuMemsetD16Async, 1, 1, set, set16_async)			\
	X(cuMemsetD32Async, 1, 1, set, set32_async)			\
	X(cuMemsetD2D8, 2, 2, set, set2d8)				\
	X(cuMemsetD2D16, 2, 2, set, set2d16)				\
	X(cuMemsetD2D32, 2, 2, set, set2d32)				\
	X(cuMemsetD2D8Async, 1, 1, set, set2d8_async)			\
	X(cuMemsetD2D16Async, 1, 1, set, set2d16_async)			\
	X(cuMemsetD2D32Async, 1, 1, set, set2d32_async)			\
	/* launches */							\
	X(cuLaunchKernel, 1, 1, launch, launch)				\
	X(cuLaunchCooperativeKernel, 1, 1, launch, launch)		\
	X(cuLaunchKernelEx, 1, 1, launch, launch_ex)			\
	X(cuLaunchGrid, 1, 1, launch, launch_grid)			\
	X(cuLaunchGridAsync, 1, 1, launch, launch_grid_async)		\
	X(cuLaunchHostFunc, 1, 1, host_func, host_func)			\
	X(cuStreamAddCallback, 1, 1, host_func, host_func)		\
	/* streams and events */					\
	X(cuStreamCreate, 1, 1, stream, stream_new)			\
	X(cuStreamCreateWithPriority, 1, 1, stream, stream_priority)	\
	X(cuGreenCtxStreamCreate, 1, 1, stream, stream_green)		\
	X(cuStreamDestroy, 1, 2, handle, handle)			\
	X(cuStreamSynchronize, 1, 1, handle, handle)			\
	X(cuStreamQuery, 1, 1, handle, handle)				\
	X(cuStreamBeginCapture, 1, 2, handle, handle)			\
	X(cuStreamEndCapture, 1, 1, graph, end_capture)			\
	X(cuStreamWaitEvent, 1, 1, event, event_second)			\
	X(cuStreamWaitValue32, 1, 2, handle, handle)			\
	X(cuStreamWaitValue64, 1, 2, handle, handle)			\
	X(cuStreamWriteValue32, 1, 2, handle, handle)			\
	X(cuStreamWriteValue64, 1, 2, handle, handle)			\
	X(cuCtxRecordEvent, 1, 1, event, event_second)			\
	X(cuCtxWaitEvent, 1, 1, event, event_second)			\
	X(cuEventCreate, 1, 1, event_new, event_new)			\
	X(cuEventRecord, 1, 1, event, event)				\
	X(cuEventRecordWithFlags, 1, 1, event, event)			\
	X(cuEventQuery, 1, 1, handle, handle)				\
	X(cuEventSynchronize, 1, 1, handle, handle)			\
	X(cuEventDestroy, 1, 2, handle, handle)				\
	X(cuEventElapsedTime, 1, 2, elapsed, elapsed)			\
	/* graphs */							\
	X(cuGraphCreate, 1, 1, graph, graph_new)			\
	X(cuGraphClone, 1, 1, graph, graph_new)				\
	X(cuGraphInstantiate, 1, 2, graph, graph_new)			\
	X(cuGraphInstantiateWithFlags, 1, 1, graph, graph_new)		\
	X(cuGraphInstantiateWithParams, 1, 1, graph, graph_new)		\
	X(cuGraphUpload, 1, 1, graph, graph_stream)			\
	X(cuGraphLaunch, 1, 1, graph, graph_stream)			\
	X(cuGraphExecUpdate, 1, 2, handle, handle)			\
	X(cuGraphDestroy, 1, 1, handle, handle)				\
	X(cuGraphExecDestroy, 1, 1, handle, handle)

/* Every extractor is declared, so that a name used twice has one type. */
#define CT_DECLARE(function, from, to, layout, extractor)	\
	CT_EXTRACTOR(extractor);
CT_BINDINGS(CT_DECLARE)
#undef CT_DECLARE

#endif
