/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface with CUPTI, as far as it is used here: numbers and layouts of its public
 * protocol, so that the plugin is built without CUDA.  make sim-check compares it with NVIDIA's
 * header where that is.
 *
 * CUPTI's records grow at their end from version to version; what is named here has been at its
 * place since version 17 (CUDA 11.6).
 */
#ifndef CT_GPU_CUPTI_ABI_H
#define CT_GPU_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define CUPTI_VERSION_LEAST	17u

enum {
	CUPTI_OK = 0, CUPTI_NOT_INITIALIZED = 15, CUPTI_MULTIPLE_SUBSCRIBERS = 39,
};

enum {
	CUPTI_MEMCPY = 1, CUPTI_MEMSET = 2, CUPTI_KERNEL = 10, CUPTI_PEER_COPY = 22,
	CUPTI_GRAPH = 51,
};

#define CUPTI_FLUSH_FORCED	1u
#define CUPTI_ASYNC		1u	/* of a copy's flags */

struct cupti_kernel {
	u32 kind;
	u8 caches[2];
	u16 registers;
	u32 caches2[2];
	u64 start, end, completed;
	u32 device, context, stream;
	u32 grid[3], block[3];
	u32 shared_static, shared;
	u32 local, local_total;
	u32 correlation;
	u64 grid_id;
	const char *name;
	void *reserved;
	u64 queued, submitted;
	u8 launch[4];
	u32 shared_executed;
	u64 graph_node;
	u32 limit, graph;
};

struct cupti_copy {
	u32 kind;
	u8 copy_kind, src_kind, dst_kind, flags;
	u64 bytes, start, end;
	u32 device, context, stream;
	u32 correlation, runtime_correlation, pad;
	void *reserved;
	u64 graph_node;
	u32 graph, channel;
};

struct cupti_peer_copy {
	u32 kind;
	u8 copy_kind, src_kind, dst_kind, flags;
	u64 bytes, start, end;
	u32 device, context, stream;
	u32 src_device, src_context, dst_device, dst_context;
	u32 correlation;
	void *reserved;
	u64 graph_node;
	u32 graph, channel;
};

struct cupti_set {
	u32 kind, value;
	u64 bytes, start, end;
	u32 device, context, stream;
	u32 correlation;
	u16 flags, memory_kind;
	u32 pad;
	void *reserved;
	u64 graph_node;
	u32 graph, channel;
};

struct cupti_graph {
	u32 kind, correlation;
	u64 start, end;
	u32 device, graph, context, stream;
};

typedef void cupti_requested(u8 **buffer, size_t *size, size_t *most_records);
typedef void cupti_completed(void *context, u32 stream, u8 *buffer, size_t size, size_t valid);

/* The functions; those of the second list may be absent.  X(result, name, parameters) */
#define CUPTI_FUNCTIONS(X)							\
	X(int, GetVersion, (u32 *version))					\
	X(int, GetTimestamp, (u64 *timestamp))					\
	X(int, ActivityEnable, (u32 kind))					\
	X(int, ActivityDisable, (u32 kind))					\
	X(int, ActivityRegisterCallbacks, (cupti_requested *, cupti_completed *))	\
	X(int, ActivityGetNextRecord, (u8 *buffer, size_t valid, void **record))	\
	X(int, ActivityGetNumDroppedRecords, (void *context, u32 stream, size_t *dropped)) \
	X(int, ActivityFlushAll, (u32 flag))
#define CUPTI_FUNCTIONS_LATER(X)						\
	X(int, GetResultString, (int result, const char **text))		\
	X(int, ActivityRegisterTimestampCallback, (u64 (*now)(void)))		\
	X(int, ActivityEnableHWTrace, (u8 enable))

#define CUPTI_MEMBER(result, name, parameters)	result (*name) parameters;
struct cupti {
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
	CUPTI_FUNCTIONS_LATER(CUPTI_MEMBER)
};
#undef CUPTI_MEMBER

#endif
