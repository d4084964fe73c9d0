// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * check_cupti.c - compiles only if the plugin's view of CUPTI is that of NVIDIA's header.
 */
#include <cupti.h>
#include <stddef.h>

#include "../../userlib/plugins/gpu/cupti_abi.h"

#define SAME(a, b)	_Static_assert((a) == (b), #a)
#define AT(ours, mine, theirs, its)	SAME(offsetof(struct ours, mine), offsetof(theirs, its))

SAME(CUPTI_OK, CUPTI_SUCCESS);
SAME(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(CUPTI_PEER_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(CUPTI_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(CUPTI_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);

#define KERNEL(mine, its)	AT(cupti_kernel, mine, CUpti_ActivityKernel10, its)
KERNEL(kind, kind);
KERNEL(registers, registersPerThread);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(device, deviceId);
KERNEL(context, contextId);
KERNEL(stream, streamId);
KERNEL(grid, gridX);
KERNEL(block, blockX);
KERNEL(shared_static, staticSharedMemory);
KERNEL(shared, dynamicSharedMemory);
KERNEL(correlation, correlationId);
KERNEL(name, name);
KERNEL(graph_node, graphNodeId);
KERNEL(graph, graphId);

#define COPY(mine, its)		AT(cupti_copy, mine, CUpti_ActivityMemcpy6, its)
COPY(copy_kind, copyKind);
COPY(src_kind, srcKind);
COPY(dst_kind, dstKind);
COPY(flags, flags);
COPY(bytes, bytes);
COPY(start, start);
COPY(end, end);
COPY(device, deviceId);
COPY(context, contextId);
COPY(stream, streamId);
COPY(correlation, correlationId);
COPY(graph_node, graphNodeId);
COPY(graph, graphId);

#define PEER(mine, its)		AT(cupti_peer_copy, mine, CUpti_ActivityMemcpyPtoP4, its)
PEER(copy_kind, copyKind);
PEER(bytes, bytes);
PEER(start, start);
PEER(context, contextId);
PEER(stream, streamId);
PEER(src_device, srcDeviceId);
PEER(dst_device, dstDeviceId);
PEER(correlation, correlationId);
PEER(graph_node, graphNodeId);
PEER(graph, graphId);

#define SET(mine, its)		AT(cupti_set, mine, CUpti_ActivityMemset4, its)
SET(value, value);
SET(bytes, bytes);
SET(start, start);
SET(device, deviceId);
SET(correlation, correlationId);
SET(memory_kind, memoryKind);
SET(graph_node, graphNodeId);
SET(graph, graphId);

#define GRAPH(mine, its)	AT(cupti_graph, mine, CUpti_ActivityGraphTrace2, its)
GRAPH(correlation, correlationId);
GRAPH(start, start);
GRAPH(end, end);
GRAPH(device, deviceId);
GRAPH(graph, graphId);
GRAPH(context, contextId);
GRAPH(stream, streamId);
