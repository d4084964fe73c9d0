/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function has which layout, and where each field comes from: the only list of
 * functions in the library.  What is not here is traced all the same, without arguments.
 *
 * ROW(function, first version, last version, layout, fields) is a line of it.  The versions
 * are those of the exported symbol (cuMemAlloc_v2 is 2, no suffix is 1); where a newer one
 * takes other arguments, or version 1 has 32-bit addresses or sizes, it is not in the range.
 * A field that is not named is 0.  What can be said of one:
 *
 *	ARG(n)		argument n, counted from 0, as it was passed
 *	OUT(n)		the 8 bytes that argument n leads to after the call
 *	AT(n, at)	those at this byte of it
 *	TEXT(n)		the text that argument n leads to
 *	KERNEL(handle)	the name of the kernel with this handle
 *
 * and any other expression; the words in capitals are explained in decode.c.
 * HAND(function, first version, last version, layout, extractor) is one whose record a row
 * can't say: ct_x_EXTRACTOR() in extract.c fills it.  WIDE() is a ROW() whose two last fields
 * are stored as one word, for frequent calls: whole words are read back at once.
 */
ROW(cuInit, 1, 1, init, .flags = (u32)ARG(0))
ROW(cuGetProcAddress, 1, 2, lookup, .symbol_name = TEXT(0), .ptr = OUT(1),
    .version = ARG(2), .flags = ARG(3))

/* what the machine is: lines of the trace, and no fields */
HAND(cuDriverGetVersion, 1, 1, none, cuda_version)
HAND(cuDeviceGetName, 1, 1, none, device_name)
HAND(cuDeviceTotalMem, 2, 2, none, device_memory)
HAND(cuDeviceGetUuid, 1, 2, none, device_uuid)

/* contexts */
ROW(cuCtxCreate, 1, 2, context, .context = OUT(0), .flags = ARG(1), .device = ARG(2))
ROW(cuCtxCreate, 3, 3, context, .context = OUT(0), .flags = ARG(3), .device = ARG(4))
ROW(cuCtxCreate, 4, 4, context, .context = OUT(0), .flags = ARG(2), .device = ARG(3))
ROW(cuCtxDestroy, 1, 2, handle, .handle = ARG(0))
ROW(cuCtxPushCurrent, 1, 2, handle, .handle = ARG(0))
ROW(cuCtxPopCurrent, 1, 2, handle, .handle = OUT(0))
ROW(cuCtxSetCurrent, 1, 1, handle, .handle = ARG(0))
ROW(cuCtxSynchronize, 2, 2, handle, .handle = ARG(0))
ROW(cuCtxFromGreenCtx, 1, 1, handle, .handle = OUT(0))
ROW(cuDevicePrimaryCtxRetain, 1, 1, context, .context = OUT(0), .device = ARG(1))
ROW(cuDevicePrimaryCtxRelease, 1, 2, context, .device = ARG(0))
ROW(cuDevicePrimaryCtxReset, 1, 2, context, .device = ARG(0))
ROW(cuDevicePrimaryCtxSetFlags, 1, 2, context, .device = ARG(0), .flags = ARG(1))

/* modules and kernels */
ROW(cuModuleLoad, 1, 1, module, .module = OUT(0), .file = TEXT(1))
ROW(cuModuleLoadData, 1, 1, module, .module = OUT(0))
ROW(cuModuleLoadDataEx, 1, 1, module, .module = OUT(0), .options = ARG(2))
ROW(cuModuleLoadFatBinary, 1, 1, module, .module = OUT(0))
HAND(cuModuleUnload, 1, 1, handle, module_unload)
HAND(cuModuleGetFunction, 1, 1, function, get_function)
ROW(cuModuleEnumerateFunctions, 1, 1, function, FIRST_KERNEL)
ROW(cuModuleGetGlobal, 2, 2, lookup, .ptr = OUT(0), .symbol_name = TEXT(3))
ROW(cuLibraryLoadData, 1, 1, module, .module = OUT(0), .options = ARG(4))
ROW(cuLibraryLoadFromFile, 1, 1, module, .module = OUT(0), .file = TEXT(1),
    .options = ARG(4))
HAND(cuLibraryUnload, 1, 1, handle, module_unload)
HAND(cuLibraryGetKernel, 1, 1, function, get_function)
ROW(cuLibraryEnumerateKernels, 1, 1, function, FIRST_KERNEL)
ROW(cuLibraryGetGlobal, 1, 1, lookup, .ptr = OUT(0), .symbol_name = TEXT(3))
ROW(cuLibraryGetManaged, 1, 1, lookup, .ptr = OUT(0), .symbol_name = TEXT(3))
HAND(cuKernelGetFunction, 1, 1, function, kernel_function)
HAND(cuKernelGetName, 1, 1, none, learn_name)
HAND(cuFuncGetName, 1, 1, none, learn_name)

/* memory */
ROW(cuMemAlloc, 2, 2, alloc, .ptr = OUT(0), .size = ARG(1))
ROW(cuMemAllocManaged, 1, 1, alloc, .ptr = OUT(0), .size = ARG(1))
ROW(cuMemAllocHost, 2, 2, alloc, .ptr = OUT(0), .size = ARG(1))
ROW(cuMemHostAlloc, 1, 1, alloc, .ptr = OUT(0), .size = ARG(1))
ROW(cuMemHostRegister, 1, 2, alloc, .ptr = ARG(0), .size = ARG(1))
ROW(cuMemHostUnregister, 1, 1, free, .ptr = ARG(0))
ROW(cuMemAllocPitch, 2, 2, alloc_pitch, .ptr = OUT(0), .pitch = OUT(1), .width = ARG(2),
    .height = ARG(3), .size = (OUT(1) ? OUT(1) : ARG(2)) * ARG(3))
ROW(cuMemAllocAsync, 1, 1, alloc_async, .ptr = OUT(0), .size = ARG(1), .stream = ARG(2))
ROW(cuMemAllocFromPoolAsync, 1, 1, alloc_async, .ptr = OUT(0), .size = ARG(1),
    .pool = ARG(2), .stream = ARG(3))
ROW(cuMemFree, 2, 2, free, .ptr = ARG(0))
ROW(cuMemFreeHost, 1, 1, free, .ptr = ARG(0))
ROW(cuMemFreeAsync, 1, 1, free_async, .ptr = ARG(0), .stream = ARG(1))
ROW(cuMemGetInfo, 2, 2, mem_info, .free = OUT(0), .total = OUT(1))
ROW(cuMemCreate, 1, 1, map, .handle = OUT(0), .size = ARG(1))
ROW(cuMemRelease, 1, 1, handle, .handle = ARG(0))
ROW(cuMemAddressReserve, 1, 1, map, .ptr = OUT(0), .size = ARG(1))
ROW(cuMemAddressFree, 1, 1, map, .ptr = ARG(0), .size = ARG(1))
ROW(cuMemMap, 1, 1, map, .ptr = ARG(0), .size = ARG(1), .handle = ARG(3))
ROW(cuMemUnmap, 1, 1, map, .ptr = ARG(0), .size = ARG(1))
ROW(cuMemSetAccess, 1, 1, map, .ptr = ARG(0), .size = ARG(1))
ROW(cuMemAdvise, 1, 2, alloc, .ptr = ARG(0), .size = ARG(1))
ROW(cuMemPrefetchAsync, 1, 2, alloc, .ptr = ARG(0), .size = ARG(1))
ROW(cuStreamAttachMemAsync, 1, 1, alloc, .ptr = ARG(1), .size = ARG(2))
ROW(cuMemPoolCreate, 1, 1, handle, .handle = OUT(0))
ROW(cuMemPoolDestroy, 1, 1, handle, .handle = ARG(0))
ROW(cuMemPoolTrimTo, 1, 1, handle, .handle = ARG(0))
ROW(cuArrayCreate, 2, 2, map, .handle = OUT(0), .size = ARRAY_SIZE(1, 2))
ROW(cuArray3DCreate, 2, 2, map, .handle = OUT(0), .size = ARRAY_SIZE(1, 3))
ROW(cuArrayDestroy, 1, 1, handle, .handle = ARG(0))
ROW(cuMipmappedArrayCreate, 1, 1, map, .handle = OUT(0), .size = ARRAY_SIZE(1, 3))
ROW(cuMipmappedArrayDestroy, 1, 1, handle, .handle = ARG(0))
ROW(cuIpcGetMemHandle, 1, 1, free, .ptr = ARG(1))
ROW(cuIpcOpenMemHandle, 1, 2, free, .ptr = OUT(0))
ROW(cuIpcCloseMemHandle, 1, 1, free, .ptr = ARG(0))

/* transfers: the numbers of the arguments that are destination, source, size and stream */
ROW(cuMemcpy, 1, 1, copy, COPIES(0, 1, 2, UNKNOWN))
ROW(cuMemcpyAsync, 1, 1, copy, COPIES(0, 1, 2, UNKNOWN), ASYNC(3))
ROW(cuMemcpyHtoD, 2, 2, copy, COPIES(0, 1, 2, H2D))
ROW(cuMemcpyHtoDAsync, 2, 2, copy, COPIES(0, 1, 2, H2D), ASYNC(3))
ROW(cuMemcpyDtoH, 2, 2, copy, COPIES(0, 1, 2, D2H))
ROW(cuMemcpyDtoHAsync, 2, 2, copy, COPIES(0, 1, 2, D2H), ASYNC(3))
ROW(cuMemcpyDtoD, 2, 2, copy, COPIES(0, 1, 2, D2D))
ROW(cuMemcpyDtoDAsync, 2, 2, copy, COPIES(0, 1, 2, D2D), ASYNC(3))
ROW(cuMemcpyPeer, 1, 1, copy, COPIES(0, 2, 4, P2P))
ROW(cuMemcpyPeerAsync, 1, 1, copy, COPIES(0, 2, 4, P2P), ASYNC(5))
ROW(cuMemcpyAtoH, 2, 2, copy, COPIES(0, 1, 3, A2H))
ROW(cuMemcpyAtoHAsync, 2, 2, copy, COPIES(0, 1, 3, A2H), ASYNC(4))
ROW(cuMemcpyHtoA, 2, 2, copy, COPIES(0, 2, 3, H2A))
ROW(cuMemcpyHtoAAsync, 2, 2, copy, COPIES(0, 2, 3, H2A), ASYNC(4))
ROW(cuMemcpyDtoA, 2, 2, copy, COPIES(0, 2, 3, D2A))
ROW(cuMemcpyAtoD, 2, 2, copy, COPIES(0, 1, 3, A2D))
ROW(cuMemcpyAtoA, 2, 2, copy, COPIES(0, 2, 4, A2A))
ROW(cuMemcpy2D, 2, 2, copy, BLOCK_2D, .direction = DIRECTION_2D)
ROW(cuMemcpy2DUnaligned, 2, 2, copy, BLOCK_2D, .direction = DIRECTION_2D)
ROW(cuMemcpy2DAsync, 2, 2, copy, BLOCK_2D, .direction = DIRECTION_2D, ASYNC(1))
ROW(cuMemcpy3D, 2, 2, copy, BLOCK_3D, .direction = DIRECTION_3D)
ROW(cuMemcpy3DAsync, 2, 2, copy, BLOCK_3D, .direction = DIRECTION_3D, ASYNC(1))
ROW(cuMemcpy3DPeer, 1, 1, copy, BLOCK_3D, .direction = CT_DIR_P2P)
ROW(cuMemcpy3DPeerAsync, 1, 1, copy, BLOCK_3D, .direction = CT_DIR_P2P, ASYNC(1))
ROW(cuMemcpyBatchAsync, 1, 1, copy, BATCH, ASYNC(8))
ROW(cuMemcpyBatchAsync, 2, 2, copy, BATCH, ASYNC(7))
WIDE(cuMemsetD8, 2, 2, set, SETS(0, ARG(2), (u8)ARG(1)))
WIDE(cuMemsetD16, 2, 2, set, SETS(0, ARG(2), (u16)ARG(1)))
WIDE(cuMemsetD32, 2, 2, set, SETS(0, ARG(2), (u32)ARG(1)))
WIDE(cuMemsetD8Async, 1, 1, set, SETS(0, ARG(2), (u8)ARG(1)), .stream = ARG(3))
WIDE(cuMemsetD16Async, 1, 1, set, SETS(0, ARG(2), (u16)ARG(1)), .stream = ARG(3))
WIDE(cuMemsetD32Async, 1, 1, set, SETS(0, ARG(2), (u32)ARG(1)), .stream = ARG(3))
WIDE(cuMemsetD2D8, 2, 2, set, SETS(0, ARG(3) * ARG(4), (u8)ARG(2)))
WIDE(cuMemsetD2D16, 2, 2, set, SETS(0, ARG(3) * ARG(4), (u16)ARG(2)))
WIDE(cuMemsetD2D32, 2, 2, set, SETS(0, ARG(3) * ARG(4), (u32)ARG(2)))
WIDE(cuMemsetD2D8Async, 1, 1, set, SETS(0, ARG(3) * ARG(4), (u8)ARG(2)), .stream = ARG(5))
WIDE(cuMemsetD2D16Async, 1, 1, set, SETS(0, ARG(3) * ARG(4), (u16)ARG(2)), .stream = ARG(5))
WIDE(cuMemsetD2D32Async, 1, 1, set, SETS(0, ARG(3) * ARG(4), (u32)ARG(2)), .stream = ARG(5))

/* launches */
HAND(cuLaunchKernel, 1, 1, launch, launch)
HAND(cuLaunchCooperativeKernel, 1, 1, launch, launch)
HAND(cuLaunchKernelEx, 1, 1, launch, launch_ex)
ROW(cuLaunchGrid, 1, 1, launch, .kernel = KERNEL(ARG(0)), .grid_x = ARG(1),
    .grid_y = ARG(2), .grid_z = 1)
ROW(cuLaunchGridAsync, 1, 1, launch, .kernel = KERNEL(ARG(0)), .grid_x = ARG(1),
    .grid_y = ARG(2), .grid_z = 1, .stream = ARG(3))
ROW(cuLaunchHostFunc, 1, 1, host_func, .stream = ARG(0), .function = ARG(1))
ROW(cuStreamAddCallback, 1, 1, host_func, .stream = ARG(0), .function = ARG(1))

/* streams and events */
ROW(cuStreamCreate, 1, 1, stream, .stream = OUT(0), .flags = ARG(1))
ROW(cuStreamCreateWithPriority, 1, 1, stream, .stream = OUT(0), .flags = ARG(1),
    .priority = ARG(2))
ROW(cuGreenCtxStreamCreate, 1, 1, stream, .stream = OUT(0), .flags = ARG(2),
    .priority = ARG(3))
ROW(cuStreamDestroy, 1, 2, handle, .handle = ARG(0))
ROW(cuStreamSynchronize, 1, 1, handle, .handle = ARG(0))
ROW(cuStreamQuery, 1, 1, handle, .handle = ARG(0))
ROW(cuStreamBeginCapture, 1, 2, handle, .handle = ARG(0))
ROW(cuStreamBeginCaptureToGraph, 1, 1, graph, .stream = ARG(0), .graph = ARG(1))
ROW(cuStreamEndCapture, 1, 1, graph, .stream = ARG(0), .graph = OUT(1))
ROW(cuStreamWaitEvent, 1, 1, event, .stream = ARG(0), .event = ARG(1))
ROW(cuStreamWaitValue32, 1, 2, handle, .handle = ARG(0))
ROW(cuStreamWaitValue64, 1, 2, handle, .handle = ARG(0))
ROW(cuStreamWriteValue32, 1, 2, handle, .handle = ARG(0))
ROW(cuStreamWriteValue64, 1, 2, handle, .handle = ARG(0))
ROW(cuCtxRecordEvent, 1, 1, event, .stream = ARG(0), .event = ARG(1))
ROW(cuCtxWaitEvent, 1, 1, event, .stream = ARG(0), .event = ARG(1))
ROW(cuEventCreate, 1, 1, event_new, .event = OUT(0), .flags = (u32)ARG(1))
ROW(cuEventRecord, 1, 1, event, .event = ARG(0), .stream = ARG(1))
ROW(cuEventRecordWithFlags, 1, 1, event, .event = ARG(0), .stream = ARG(1))
ROW(cuEventQuery, 1, 1, handle, .handle = ARG(0))
ROW(cuEventSynchronize, 1, 1, handle, .handle = ARG(0))
ROW(cuEventDestroy, 1, 2, handle, .handle = ARG(0))
ROW(cuEventElapsedTime, 1, 2, elapsed, .start = ARG(1), .end = ARG(2), .elapsed_ns = OUT_MS(0))

/* graphs */
ROW(cuGraphCreate, 1, 1, graph, .graph = OUT(0))
ROW(cuGraphClone, 1, 1, graph_made, .graph = OUT(0), .source = ARG(1))
ROW(cuGraphInstantiate, 1, 2, graph_made, .graph = OUT(0), .source = ARG(1))
ROW(cuGraphInstantiateWithFlags, 1, 1, graph_made, .graph = OUT(0), .source = ARG(1))
ROW(cuGraphInstantiateWithParams, 1, 1, graph_made, .graph = OUT(0), .source = ARG(1))
ROW(cuGraphUpload, 1, 1, graph, .graph = ARG(0), .stream = ARG(1))
ROW(cuGraphLaunch, 1, 1, graph, .graph = ARG(0), .stream = ARG(1))
ROW(cuGraphExecUpdate, 1, 2, graph_made, .graph = ARG(0), .source = ARG(1))
ROW(cuGraphDestroy, 1, 1, handle, .handle = ARG(0))
ROW(cuGraphExecDestroy, 1, 1, handle, .handle = ARG(0))

/* nodes of graphs, with their types in cuda.h */
ROW(cuGraphAddKernelNode, 1, 1, graph_node, NODE(0), .kernel = KERNEL(AT(4, 0)))
ROW(cuGraphAddKernelNode, 2, 2, graph_node, NODE(0), .kernel = KERNEL(NODE_KERNEL(4, 0)))
ROW(cuGraphAddMemcpyNode, 1, 1, graph_node, NODE(1))
ROW(cuGraphAddMemsetNode, 1, 1, graph_node, NODE(2))
ROW(cuGraphAddHostNode, 1, 1, graph_node, NODE(3))
ROW(cuGraphAddChildGraphNode, 1, 1, graph_node, NODE(4), .child = ARG(4))
ROW(cuGraphAddEmptyNode, 1, 1, graph_node, NODE(5))
ROW(cuGraphAddEventWaitNode, 1, 1, graph_node, NODE(6))
ROW(cuGraphAddEventRecordNode, 1, 1, graph_node, NODE(7))
ROW(cuGraphAddExternalSemaphoresSignalNode, 1, 1, graph_node, NODE(8))
ROW(cuGraphAddExternalSemaphoresWaitNode, 1, 1, graph_node, NODE(9))
ROW(cuGraphAddMemAllocNode, 1, 1, graph_node, NODE(10))
ROW(cuGraphAddMemFreeNode, 1, 1, graph_node, NODE(11))
ROW(cuGraphAddBatchMemOpNode, 1, 1, graph_node, NODE(12))
ROW(cuGraphAddNode, 1, 1, graph_node, ANY_NODE(4))
ROW(cuGraphAddNode, 2, 2, graph_node, ANY_NODE(5))
ROW(cuGraphDestroyNode, 1, 1, handle, .handle = ARG(0))
