/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is to be recorded of which call, by the prototypes of cuda.h and nothing of ours:
 * the other side of userlib/call/arguments.h, of which nothing may be taken over here.
 *
 * CALL(symbol, parameters, fields); BOTH: the same for symbol and symbol_v2.
 *
 * Parameters:
 *	64 32 s32 16 8	numbers, addresses and handles of so many bits
 *	n64 n32		how many a list has
 *	*64 *f *str	where the call writes such a number, milliseconds, a text's address
 *	*id		where it writes 16 bytes
 *	str list	a text; numbers of 64 bits, as many as there are
 *	fn *fn		a kernel's handle; where the call writes some
 *	2d 3d a2 a3 cfg	CUDA_MEMCPY2D and 3D (that of PEER has the same places),
 *			CUDA_ARRAY_DESCRIPTOR and ARRAY3D, CUlaunchConfig
 *	kn1 kn2		CUDA_KERNEL_NODE_PARAMS and those of version 2
 *	node		CUgraphNodeParams; the members: the graph in the node, the type, whether the graph
 *			is the node's
 *	S		64 bytes by value
 *	-		of which nothing is recorded; where it is an address, it leads nowhere
 * Fields, as tests/userlib/dump.c prints them: $n is parameter n, as a number (behind 0x
 * in base 16) or a text, $n.m its m-th member (see fill() in bindings.c), * multiplies, and
 * | takes what is behind it if what is before it is 0.
 */

#define COPY(dst, src, size, direction)						\
	"size=$" #size " dst=0x$" #dst " src=0x$" #src " stream=0x0"		\
	" direction=" #direction " async=0"
#define COPY_ASYNC(dst, src, size, stream, direction)				\
	"size=$" #size " dst=0x$" #dst " src=0x$" #src " stream=0x$" #stream	\
	" direction=" #direction " async=1"
#define SET(ptr, size, value, bytes)						\
	"size=" size "*" #bytes " ptr=0x$" #ptr " stream=0x0 value=0x$" #value " width=" #bytes
#define SET_ASYNC(ptr, size, value, bytes, stream)				\
	"size=" size "*" #bytes " ptr=0x$" #ptr " stream=0x$" #stream		\
	" value=0x$" #value " width=" #bytes
#define LAUNCH									\
	"kernel=$0 shared=$7 grid_x=$1 grid_y=$2 grid_z=$3"			\
	" block_x=$4 block_y=$5 block_z=$6 stream=0x$8"
#define MADE(graph, source)	"graph=0x$" #graph " source=0x$" #source
#define NODE(kernel, type)							\
	"graph=0x$1 node=0x$0 child=0x0 kernel=" kernel " node_type=" #type " owned=0"
#define ANY_NODE(n)								\
	"graph=0x$1 node=0x$0 child=0x$" #n ".0 kernel=$" #n " node_type=$" #n ".1 owned=$" #n ".2"
#define LAUNCH_GRID								\
	"kernel=$0 shared=0 grid_x=$1 grid_y=$2 grid_z=1 block_x=0 block_y=0 block_z=0"

CALL(cuInit, "32", "flags=0x$0")
CALL(cuGetProcAddress, "str *64 s32 64", "ptr=0x$1 symbol_name=$0 version=$2 flags=0x$3")
CALL(cuGetProcAddress_v2, "str *64 s32 64 -", "ptr=0x$1 symbol_name=$0 version=$2 flags=0x$3")

/* What the machine is: nothing is recorded of it with the call. */
CALL(cuDriverGetVersion, "*64", "")
CALL(cuDeviceGetName, "str 32 s32", "")
CALL(cuDeviceTotalMem_v2, "*64 s32", "")
BOTH(cuDeviceGetUuid, "*id s32", "")

/* Contexts. */
BOTH(cuCtxCreate, "*64 32 s32", "context=0x$0 flags=0x$1 device=$2")
CALL(cuCtxCreate_v3, "*64 - - 32 s32", "context=0x$0 flags=0x$3 device=$4")
CALL(cuCtxCreate_v4, "*64 - 32 s32", "context=0x$0 flags=0x$2 device=$3")
BOTH(cuCtxDestroy, "64", "handle=0x$0")
BOTH(cuCtxPushCurrent, "64", "handle=0x$0")
BOTH(cuCtxPopCurrent, "*64", "handle=0x$0")
CALL(cuCtxSetCurrent, "64", "handle=0x$0")
CALL(cuCtxSynchronize_v2, "64", "handle=0x$0")
CALL(cuCtxFromGreenCtx, "*64 -", "handle=0x$0")
CALL(cuDevicePrimaryCtxRetain, "*64 s32", "context=0x$0 flags=0x0 device=$1")
BOTH(cuDevicePrimaryCtxRelease, "s32", "context=0x0 flags=0x0 device=$0")
BOTH(cuDevicePrimaryCtxReset, "s32", "context=0x0 flags=0x0 device=$0")
BOTH(cuDevicePrimaryCtxSetFlags, "s32 32", "context=0x0 flags=0x$1 device=$0")

/* Modules and kernels. */
CALL(cuModuleLoad, "*64 str", "module=0x$0 file=$1 options=0x0")
CALL(cuModuleLoadData, "*64 -", "module=0x$0 file=- options=0x0")
CALL(cuModuleLoadDataEx, "*64 - 32 - -", "module=0x$0 file=- options=0x$2")
CALL(cuModuleLoadFatBinary, "*64 -", "module=0x$0 file=- options=0x0")
CALL(cuModuleUnload, "64", "handle=0x$0")
CALL(cuModuleGetFunction, "*64 64 str", "function=0x$0 module=0x$1 kernel=$2 count=1")
CALL(cuModuleEnumerateFunctions, "*fn n32 64", "function=0x$0 module=0x$2 kernel=$0 count=$1")
CALL(cuModuleGetGlobal_v2, "*64 - 64 str", "ptr=0x$0 symbol_name=$3 version=0 flags=0x0")
CALL(cuLibraryLoadData, "*64 - - - 32 - - -", "module=0x$0 file=- options=0x$4")
CALL(cuLibraryLoadFromFile, "*64 str - - 32 - - -", "module=0x$0 file=$1 options=0x$4")
CALL(cuLibraryUnload, "64", "handle=0x$0")
CALL(cuLibraryGetKernel, "*64 64 str", "function=0x$0 module=0x$1 kernel=$2 count=1")
CALL(cuLibraryEnumerateKernels, "*fn n32 64", "function=0x$0 module=0x$2 kernel=$0 count=$1")
CALL(cuLibraryGetGlobal, "*64 - 64 str", "ptr=0x$0 symbol_name=$3 version=0 flags=0x0")
CALL(cuLibraryGetManaged, "*64 - 64 str", "ptr=0x$0 symbol_name=$3 version=0 flags=0x0")
CALL(cuKernelGetFunction, "*64 fn", "function=0x$0 module=0x$1.0 kernel=$1 count=1")
CALL(cuKernelGetName, "*str 64", "")
CALL(cuFuncGetName, "*str 64", "")

/* Memory. */
CALL(cuMemAlloc_v2, "*64 64", "size=$1 ptr=0x$0")
CALL(cuMemAllocManaged, "*64 64 -", "size=$1 ptr=0x$0")
CALL(cuMemAllocHost_v2, "*64 64", "size=$1 ptr=0x$0")
CALL(cuMemHostAlloc, "*64 64 -", "size=$1 ptr=0x$0")
BOTH(cuMemHostRegister, "64 64 -", "size=$1 ptr=0x$0")
CALL(cuMemHostUnregister, "64", "ptr=0x$0")
CALL(cuMemAllocPitch_v2, "*64 *64 64 64 -", "size=$1|$2*$3 ptr=0x$0 pitch=$1 width=$2 height=$3")
CALL(cuMemAllocAsync, "*64 64 64", "size=$1 ptr=0x$0 stream=0x$2 pool=0x0")
CALL(cuMemAllocFromPoolAsync, "*64 64 64 64", "size=$1 ptr=0x$0 stream=0x$3 pool=0x$2")
CALL(cuMemFree_v2, "64", "ptr=0x$0")
CALL(cuMemFreeHost, "64", "ptr=0x$0")
CALL(cuMemFreeAsync, "64 64", "ptr=0x$0 stream=0x$1")
CALL(cuMemGetInfo_v2, "*64 *64", "free=$0 total=$1")
CALL(cuMemCreate, "*64 64 - -", "size=$1 ptr=0x0 handle=0x$0")
CALL(cuMemRelease, "64", "handle=0x$0")
CALL(cuMemAddressReserve, "*64 64 - - -", "size=$1 ptr=0x$0 handle=0x0")
CALL(cuMemAddressFree, "64 64", "size=$1 ptr=0x$0 handle=0x0")
CALL(cuMemMap, "64 64 - 64 -", "size=$1 ptr=0x$0 handle=0x$3")
CALL(cuMemUnmap, "64 64", "size=$1 ptr=0x$0 handle=0x0")
CALL(cuMemSetAccess, "64 64 - -", "size=$1 ptr=0x$0 handle=0x0")
BOTH(cuMemAdvise, "64 64 - -", "size=$1 ptr=0x$0")
CALL(cuMemPrefetchAsync, "64 64 - -", "size=$1 ptr=0x$0")
CALL(cuMemPrefetchAsync_v2, "64 64 - - -", "size=$1 ptr=0x$0")
CALL(cuStreamAttachMemAsync, "- 64 64 -", "size=$2 ptr=0x$1")
CALL(cuMemPoolCreate, "*64 -", "handle=0x$0")
CALL(cuMemPoolDestroy, "64", "handle=0x$0")
CALL(cuMemPoolTrimTo, "64 -", "handle=0x$0")
CALL(cuArrayCreate_v2, "*64 a2", "size=$1.0 ptr=0x0 handle=0x$0")
CALL(cuArray3DCreate_v2, "*64 a3", "size=$1.0 ptr=0x0 handle=0x$0")
CALL(cuArrayDestroy, "64", "handle=0x$0")
CALL(cuMipmappedArrayCreate, "*64 a3 -", "size=$1.0 ptr=0x0 handle=0x$0")
CALL(cuMipmappedArrayDestroy, "64", "handle=0x$0")
CALL(cuIpcGetMemHandle, "- 64", "ptr=0x$1")
BOTH(cuIpcOpenMemHandle, "*64 S -", "ptr=0x$0")
CALL(cuIpcCloseMemHandle, "64", "ptr=0x$0")

/* Transfers: H2D is 1, D2H 2, D2D 3, P2P 5, H2A 6, A2H 7, D2A 8, A2D 9, A2A 10. */
CALL(cuMemcpy, "64 64 64", COPY(0, 1, 2, 0))
CALL(cuMemcpyAsync, "64 64 64 64", COPY_ASYNC(0, 1, 2, 3, 0))
CALL(cuMemcpyHtoD_v2, "64 64 64", COPY(0, 1, 2, 1))
CALL(cuMemcpyHtoDAsync_v2, "64 64 64 64", COPY_ASYNC(0, 1, 2, 3, 1))
CALL(cuMemcpyDtoH_v2, "64 64 64", COPY(0, 1, 2, 2))
CALL(cuMemcpyDtoHAsync_v2, "64 64 64 64", COPY_ASYNC(0, 1, 2, 3, 2))
CALL(cuMemcpyDtoD_v2, "64 64 64", COPY(0, 1, 2, 3))
CALL(cuMemcpyDtoDAsync_v2, "64 64 64 64", COPY_ASYNC(0, 1, 2, 3, 3))
CALL(cuMemcpyPeer, "64 - 64 - 64", COPY(0, 2, 4, 5))
CALL(cuMemcpyPeerAsync, "64 - 64 - 64 64", COPY_ASYNC(0, 2, 4, 5, 5))
CALL(cuMemcpyAtoH_v2, "64 64 - 64", COPY(0, 1, 3, 7))
CALL(cuMemcpyAtoHAsync_v2, "64 64 - 64 64", COPY_ASYNC(0, 1, 3, 4, 7))
CALL(cuMemcpyHtoA_v2, "64 - 64 64", COPY(0, 2, 3, 6))
CALL(cuMemcpyHtoAAsync_v2, "64 - 64 64 64", COPY_ASYNC(0, 2, 3, 4, 6))
CALL(cuMemcpyDtoA_v2, "64 - 64 64", COPY(0, 2, 3, 8))
CALL(cuMemcpyAtoD_v2, "64 64 - 64", COPY(0, 1, 3, 9))
CALL(cuMemcpyAtoA_v2, "64 - 64 - 64", COPY(0, 2, 4, 10))
CALL(cuMemcpy2D_v2, "2d", COPY(0.0, 0.1, 0.2, $0.3))
CALL(cuMemcpy2DUnaligned_v2, "2d", COPY(0.0, 0.1, 0.2, $0.3))
CALL(cuMemcpy2DAsync_v2, "2d 64", COPY_ASYNC(0.0, 0.1, 0.2, 1, $0.3))
CALL(cuMemcpy3D_v2, "3d", COPY(0.0, 0.1, 0.2, $0.3))
CALL(cuMemcpy3DAsync_v2, "3d 64", COPY_ASYNC(0.0, 0.1, 0.2, 1, $0.3))
CALL(cuMemcpy3DPeer, "3d", COPY(0.0, 0.1, 0.2, 5))
CALL(cuMemcpy3DPeerAsync, "3d 64", COPY_ASYNC(0.0, 0.1, 0.2, 1, 5))
CALL(cuMemcpyBatchAsync, "list list list n64 - - - - 64", COPY_ASYNC(0.0, 1.0, 2.1, 8, 0))
CALL(cuMemcpyBatchAsync_v2, "list list list n64 - - - 64", COPY_ASYNC(0.0, 1.0, 2.1, 7, 0))
CALL(cuMemsetD8_v2, "64 8 64", SET(0, "$2", 1, 1))
CALL(cuMemsetD16_v2, "64 16 64", SET(0, "$2", 1, 2))
CALL(cuMemsetD32_v2, "64 32 64", SET(0, "$2", 1, 4))
CALL(cuMemsetD8Async, "64 8 64 64", SET_ASYNC(0, "$2", 1, 1, 3))
CALL(cuMemsetD16Async, "64 16 64 64", SET_ASYNC(0, "$2", 1, 2, 3))
CALL(cuMemsetD32Async, "64 32 64 64", SET_ASYNC(0, "$2", 1, 4, 3))
CALL(cuMemsetD2D8_v2, "64 - 8 64 64", SET(0, "$3*$4", 2, 1))
CALL(cuMemsetD2D16_v2, "64 - 16 64 64", SET(0, "$3*$4", 2, 2))
CALL(cuMemsetD2D32_v2, "64 - 32 64 64", SET(0, "$3*$4", 2, 4))
CALL(cuMemsetD2D8Async, "64 - 8 64 64 64", SET_ASYNC(0, "$3*$4", 2, 1, 5))
CALL(cuMemsetD2D16Async, "64 - 16 64 64 64", SET_ASYNC(0, "$3*$4", 2, 2, 5))
CALL(cuMemsetD2D32Async, "64 - 32 64 64 64", SET_ASYNC(0, "$3*$4", 2, 4, 5))

/* Launches. */
CALL(cuLaunchKernel, "fn 32 32 32 32 32 32 32 64 - -", LAUNCH)
CALL(cuLaunchCooperativeKernel, "fn 32 32 32 32 32 32 32 64 -", LAUNCH)
CALL(cuLaunchKernelEx, "cfg fn - -",
     "kernel=$1 shared=$0.6 grid_x=$0.0 grid_y=$0.1 grid_z=$0.2"
     " block_x=$0.3 block_y=$0.4 block_z=$0.5 stream=0x$0.7")
CALL(cuLaunchGrid, "fn 32 32", LAUNCH_GRID " stream=0x0")
CALL(cuLaunchGridAsync, "fn 32 32 64", LAUNCH_GRID " stream=0x$3")
CALL(cuLaunchHostFunc, "64 64 -", "function=0x$1 stream=0x$0")
CALL(cuStreamAddCallback, "64 64 - -", "function=0x$1 stream=0x$0")

/* Streams and events. */
CALL(cuStreamCreate, "*64 32", "stream=0x$0 flags=0x$1 priority=0")
CALL(cuStreamCreateWithPriority, "*64 32 s32", "stream=0x$0 flags=0x$1 priority=$2")
CALL(cuGreenCtxStreamCreate, "*64 - 32 s32", "stream=0x$0 flags=0x$2 priority=$3")
BOTH(cuStreamDestroy, "64", "handle=0x$0")
CALL(cuStreamSynchronize, "64", "handle=0x$0")
CALL(cuStreamQuery, "64", "handle=0x$0")
CALL(cuStreamBeginCapture, "64", "handle=0x$0")
CALL(cuStreamBeginCapture_v2, "64 -", "handle=0x$0")
CALL(cuStreamBeginCaptureToGraph, "64 64 - - - -", "graph=0x$1 stream=0x$0")
CALL(cuStreamEndCapture, "64 *64", "graph=0x$1 stream=0x$0")
CALL(cuStreamWaitEvent, "64 64 -", "event=0x$1 stream=0x$0")
BOTH(cuStreamWaitValue32, "64 - - -", "handle=0x$0")
BOTH(cuStreamWaitValue64, "64 - - -", "handle=0x$0")
BOTH(cuStreamWriteValue32, "64 - - -", "handle=0x$0")
BOTH(cuStreamWriteValue64, "64 - - -", "handle=0x$0")
CALL(cuCtxRecordEvent, "64 64", "event=0x$1 stream=0x$0")
CALL(cuCtxWaitEvent, "64 64", "event=0x$1 stream=0x$0")
CALL(cuEventCreate, "*64 32", "event=0x$0 flags=0x$1")
CALL(cuEventRecord, "64 64", "event=0x$0 stream=0x$1")
CALL(cuEventRecordWithFlags, "64 64 -", "event=0x$0 stream=0x$1")
CALL(cuEventQuery, "64", "handle=0x$0")
CALL(cuEventSynchronize, "64", "handle=0x$0")
BOTH(cuEventDestroy, "64", "handle=0x$0")
BOTH(cuEventElapsedTime, "*f 64 64", "start=0x$1 end=0x$2 elapsed_ns=$0")

/* Graphs. */
CALL(cuGraphCreate, "*64 -", "graph=0x$0 stream=0x0")
CALL(cuGraphClone, "*64 64", MADE(0, 1))
BOTH(cuGraphInstantiate, "*64 64 - - -", MADE(0, 1))
CALL(cuGraphInstantiateWithFlags, "*64 64 -", MADE(0, 1))
CALL(cuGraphInstantiateWithParams, "*64 64 -", MADE(0, 1))
CALL(cuGraphUpload, "64 64", "graph=0x$0 stream=0x$1")
CALL(cuGraphLaunch, "64 64", "graph=0x$0 stream=0x$1")
CALL(cuGraphExecUpdate, "64 64 - -", MADE(0, 1))
CALL(cuGraphExecUpdate_v2, "64 64 -", MADE(0, 1))
CALL(cuGraphDestroy, "64", "handle=0x$0")
CALL(cuGraphExecDestroy, "64", "handle=0x$0")

/* Nodes of graphs: kernels are 0, copies 1, sets 2, functions of the host 3, graphs 4, and so on. */
CALL(cuGraphAddKernelNode, "*64 64 - - kn1", NODE("$4", 0))
CALL(cuGraphAddKernelNode_v2, "*64 64 - - kn2", NODE("$4", 0))
CALL(cuGraphAddMemcpyNode, "*64 64 - - - -", NODE("-", 1))
CALL(cuGraphAddMemsetNode, "*64 64 - - - -", NODE("-", 2))
CALL(cuGraphAddHostNode, "*64 64 - - -", NODE("-", 3))
CALL(cuGraphAddChildGraphNode, "*64 64 - - 64", "graph=0x$1 node=0x$0 child=0x$4 kernel=- node_type=4 owned=0")
CALL(cuGraphAddEmptyNode, "*64 64 - -", NODE("-", 5))
CALL(cuGraphAddEventWaitNode, "*64 64 - - -", NODE("-", 6))
CALL(cuGraphAddEventRecordNode, "*64 64 - - -", NODE("-", 7))
CALL(cuGraphAddExternalSemaphoresSignalNode, "*64 64 - - -", NODE("-", 8))
CALL(cuGraphAddExternalSemaphoresWaitNode, "*64 64 - - -", NODE("-", 9))
CALL(cuGraphAddMemAllocNode, "*64 64 - - -", NODE("-", 10))
CALL(cuGraphAddMemFreeNode, "*64 64 - - 64", NODE("-", 11))
CALL(cuGraphAddBatchMemOpNode, "*64 64 - - -", NODE("-", 12))
CALL(cuGraphAddNode, "*64 64 - - node", ANY_NODE(4))
CALL(cuGraphAddNode_v2, "*64 64 - - - node", ANY_NODE(5))
CALL(cuGraphDestroyNode, "64", "handle=0x$0")

/* With streams of their own for each thread. */
CALL(cuMemcpy_ptds, "64 64 64", COPY(0, 1, 2, 0))
CALL(cuMemcpyHtoDAsync_v2_ptsz, "64 64 64 64", COPY_ASYNC(0, 1, 2, 3, 1))
CALL(cuLaunchKernel_ptsz, "fn 32 32 32 32 32 32 32 64 - -", LAUNCH)

/*
 * Other versions, of which nothing may be recorded: those of CUDA 3.1 take 32 bits where
 * later ones take 64 (cuCtxSynchronize takes nothing), and one that is to come is unknown.
 */
CALL(cuMemAlloc, "- -", "")
CALL(cuMemAllocHost, "- -", "")
CALL(cuMemAllocPitch, "- - - - -", "")
CALL(cuMemFree, "-", "")
CALL(cuMemGetInfo, "- -", "")
CALL(cuModuleGetGlobal, "- - - -", "")
CALL(cuArrayCreate, "- -", "")
CALL(cuMemcpyHtoD, "- - -", "")
CALL(cuMemcpyDtoHAsync, "- - - -", "")
CALL(cuMemcpy2D, "-", "")
CALL(cuMemcpy3DAsync, "- -", "")
CALL(cuMemsetD2D16, "- - - - -", "")
CALL(cuCtxSynchronize, "", "")
CALL(cuCtxCreate_v5, "- - - - -", "")
CALL(cuMemcpyBatchAsync_v3, "- - - - - - - -", "")

#undef COPY
#undef COPY_ASYNC
#undef SET
#undef SET_ASYNC
#undef LAUNCH
#undef LAUNCH_GRID
#undef MADE
#undef NODE
#undef ANY_NODE
