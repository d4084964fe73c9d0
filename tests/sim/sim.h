/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim.h - what the parts of the simulated libcuda share with each other.
 *
 * One lock, sim_lock, guards every object, table and queue; it is never held
 * while a kernel computes, a copy runs, a user's callback is called or an
 * ioctl is made. Functions marked "locked" want it held. No name declared
 * here may become visible outside the library (libcuda.map sees to that).
 */
#ifndef CUDATRACE_SIM_H
#define CUDATRACE_SIM_H

#include <pthread.h>
#include <stdbool.h>

#include "cuda_sim.h"

extern pthread_mutex_t sim_lock;
extern pthread_cond_t sim_done;		/* broadcast after each finished op */

/* knobs.c: the environment, read once. */
struct sim_knobs {
	uint64_t memory;		/* bytes of device memory */
	double time_scale;		/* 0: no modelled latency at all */
	bool ioctls;			/* issue the recorded ioctls */
	bool ioctls_forced;		/* ... even beside a working GPU */
};

const struct sim_knobs *sim_knobs(void);
/* Injected failure (or hang) of this call of the exported @name, if any. */
CUresult sim_inject(const char *name);

/* driver.c */
#define SIM_DRIVER_VERSION 13000		/* CUDA 13.0 */

enum sim_needs {
	SIM_NEEDS_NOTHING,		/* may be called before cuInit */
	SIM_NEEDS_INIT,
	SIM_NEEDS_CONTEXT,		/* ... and a healthy current context */
	SIM_NEEDS_OLD_CONTEXT,		/* ... made for 32-bit addresses */
};

CUresult sim_enter(const char *name, enum sim_needs needs);
bool sim_device_valid(CUdevice dev);

/* The first statement of every exported function. */
#define SIM_ENTER(needs)						\
	do {								\
		CUresult sim_r_ = sim_enter(__func__, (needs));		\
									\
		if (sim_r_ != CUDA_SUCCESS)				\
			return sim_r_;					\
	} while (0)

/* handle.c: programs hold numbers, never our pointers, so that a handle that
 * was destroyed is recognised however late it comes back. */
enum sim_type {
	SIM_FREE_SLOT,
	SIM_CONTEXT,
	SIM_MODULE,
	SIM_KERNEL,
	SIM_STREAM,
	SIM_EVENT,
	SIM_GRAPH,
	SIM_EXEC,
};

struct sim_object {
	enum sim_type type;
	unsigned int refs;		/* one is the handle's own */
	void *handle;
	void (*destroy)(struct sim_object *obj);	/* locked */
};

void *sim_handle_new(struct sim_object *obj, enum sim_type type,
		     void (*destroy)(struct sim_object *obj));	/* locked */
void *sim_handle_find(const void *handle, enum sim_type type);	/* locked */
void sim_handle_close(struct sim_object *obj);			/* locked */
void sim_get(struct sim_object *obj);				/* locked */
void sim_put(struct sim_object *obj);				/* locked */

/* context.c */
struct sim_stream;

struct sim_context {
	struct sim_object object;
	struct sim_context *next;
	unsigned int flags;
	unsigned long long id;
	bool old;			/* made by cuCtxCreate of CUDA 2 */
	CUresult error;			/* sticky, as after a bad kernel */
	struct sim_stream *streams;	/* linked by their next_in_context */
	struct sim_stream *legacy;	/* stream 0, made on first use */
};

struct sim_context *sim_current(void);				/* locked */
/* Why sim_current() found nothing: none was set, or it was destroyed. */
CUresult sim_no_context(void);

/* memory.c */
enum sim_memory_kind {
	SIM_DEVICE,
	SIM_HOST,			/* pinned, allocated here */
	SIM_REGISTERED,			/* pinned, the program's own pages */
	SIM_MANAGED,
	SIM_GLOBAL,			/* a module's variable */
};

struct sim_memory {
	uintptr_t base;
	size_t size;			/* asked for */
	size_t mapped;			/* ours to unmap; 0 if registered */
	enum sim_memory_kind kind;
	unsigned int refs;
	bool freeing;			/* a stream-ordered free is queued */
	void *context;			/* handle, NULL if none */
	unsigned int gpu_object;	/* of the ioctls issued for it, or 0 */
};

/* The allocation that holds all of [@addr, @addr + @bytes), or NULL. */
struct sim_memory *sim_memory_find(uintptr_t addr, size_t bytes); /* locked */
void sim_memory_put(struct sim_memory *mem);			/* locked */
CUresult sim_memory_alloc(enum sim_memory_kind kind, size_t bytes, bool low,
			  uintptr_t *base);
CUresult sim_memory_free(uintptr_t base, enum sim_memory_kind kind);
void sim_memory_drop(uintptr_t base);				/* locked */
void sim_memory_free_context(void *context);			/* locked */

/* kernels.c */
struct sim_args;

struct sim_builtin {
	const char *name;
	const char *signature;		/* p i l f d: see kernels.c */
	CUresult (*run)(struct sim_args *args);
	unsigned int ns_arg;		/* a 32-bit parameter that says how long it lasts; 0: none */
};

const struct sim_builtin *sim_builtin_find(const char *name,
					   const char *signature);
size_t sim_signature_layout(const char *signature, size_t offset[],
			    size_t size[]);	/* returns all bytes */
#define SIM_MAX_ARGS 16

struct sim_launch {
	const struct sim_builtin *builtin;	/* NULL: lasts, computes nothing */
	uint64_t cost_ns;			/* 0: by the number of threads */
	unsigned long long threads;
	const char *name;		/* as long as the process lives */
	uint32_t grid[3], block[3], shared;
	bool ex;			/* by cuLaunchKernelEx */
};

/* Nanoseconds that the parameters ask for; 0: they say nothing. */
uint64_t sim_kernel_asked_ns(const struct sim_launch *launch, const void *params);
bool sim_kernel_meets(const struct sim_launch *launch);	/* with those of other processes */
CUresult sim_kernel_run(const struct sim_launch *launch, void *params);

/* launch.c */
struct sim_shape {
	unsigned int grid[3], block[3], shared;
	bool ex;			/* by cuLaunchKernelEx */
};

struct sim_op;

/* A launch, to be queued or to become a node. */
CUresult sim_launch_op(CUfunction function, const struct sim_shape *shape, void **params,
		       void **extra, struct sim_op **made);	/* locked */

/* queue.c: streams and what is queued on them. */
enum sim_op_kind {
	SIM_OP_KERNEL,
	SIM_OP_COPY,
	SIM_OP_SET,
	SIM_OP_HOST,
	SIM_OP_FREE,
	SIM_OP_RECORD,
	SIM_OP_WAIT_EVENT,
	SIM_OP_WAIT_STREAM,
	SIM_OP_GRAPH,			/* of a graph only: what another one holds */
};

struct sim_capture;

struct sim_event {
	struct sim_object object;
	unsigned int flags;
	uint64_t recorded;		/* how often it was queued ... */
	uint64_t completed;		/* ... and the newest that is done */
	uint64_t time_ns;		/* modelled, of the completed one */
	struct sim_capture *capture;	/* recorded inside this capture */
};

struct sim_copy {
	uintptr_t dst, src;
	size_t dst_pitch, src_pitch, width, height;
	bool dst_device, src_device;
};

struct sim_op {
	struct sim_op *next;
	enum sim_op_kind kind;
	uint64_t seq;			/* in its stream, from 1 */
	uint64_t queued_ns;
	uint32_t correlation;		/* number of the call that submitted it; 0: not counted */
	uint32_t graph, node, nodes;	/* of a graph launch: see activity.h */
	uint32_t place;			/* in an executable graph: see activity.h */
	bool seen;			/* it was submitted while its activity was collected */
	bool by_gpu;			/* the body of a conditional node: CUPTI gives it no number of a call */
	void *blob;			/* owned: parameters or staged source */
	size_t blob_size;
	union {
		struct sim_launch launch;
		struct sim_copy copy;
		struct {
			uintptr_t dst;
			size_t pitch, width, height;
			unsigned int value, value_size;
		} set;
		struct {
			CUhostFn fn;
			CUstreamCallback callback;
			void *data;
			CUstream stream;
		} host;
		uintptr_t address;
		struct {
			struct sim_event *event;
			uint64_t target;
		} event;
		struct {
			struct sim_stream *stream;
			uint64_t target;
		} after;
		struct sim_graph *inside;
	};
};

struct sim_stream {
	struct sim_object object;
	struct sim_stream *next_in_context;
	struct sim_context *context;
	unsigned int flags;
	int priority;
	unsigned long long id;
	unsigned long owner;		/* thread of a per-thread stream, or 0 */
	bool running, closing;
	pthread_cond_t wake;
	struct sim_op *first, *last;
	uint64_t queued, completed;	/* sequence numbers */
	uint64_t clock_ns;		/* modelled time at which it is free */
	struct sim_capture *capture;	/* being captured, or NULL */
};

uint64_t sim_now(void);
void sim_spin_until(uint64_t ns);
struct sim_op *sim_op_new(enum sim_op_kind kind, const void *blob,
			  size_t blob_size);
struct sim_op *sim_op_clone(const struct sim_op *op);
void sim_op_free(struct sim_op *op);
/* Takes @op over, also when it fails. */
CUresult sim_queue(struct sim_stream *stream, struct sim_op *op); /* locked */
CUresult sim_stream_wait(struct sim_stream *stream);		/* locked */
CUresult sim_context_wait(struct sim_context *ctx);		/* locked */

/* activity.c: what is told to the stand-in for libcupti. */
uint32_t sim_activity_number(void);				/* locked */
void sim_activity_nothing(void);	/* a call that submits nothing has a number, too */
void sim_activity_capture(const struct sim_op *op);		/* locked */
void sim_activity_submit(struct sim_op *op);			/* locked */
uint32_t sim_activity_nodes(const struct sim_op *first);	/* locked */
const char *sim_activity_name(const char *name);		/* locked */
void sim_activity_done(const struct sim_stream *stream, const struct sim_op *op,
		       uint64_t start, uint64_t end);

/* stream.c */
struct sim_stream *sim_stream_find(CUstream handle);		/* locked */
struct sim_stream *sim_stream_new(struct sim_context *ctx, unsigned int flags,
				  int priority);		/* locked */
void sim_stream_close(struct sim_stream *stream);		/* locked */
/* Stream 0 as the _ptsz and _ptds functions mean it. */
#define SIM_PER_THREAD(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/* capture.c: a capture lives as long as a stream or an event refers to it. */
struct sim_graph {
	struct sim_object object;
	struct sim_op *first, *last;	/* in an order that may be executed */
	size_t count;
};

struct sim_graph *sim_graph_new(enum sim_type type);		/* locked */
void sim_graph_append(struct sim_graph *graph, struct sim_op *op); /* locked */
/* What @from holds, copies of the graphs inside it too, to the end of @to. */
bool sim_graph_copy(struct sim_graph *to, const struct sim_graph *from); /* locked */
/* The same for an executable graph, in the order in which it runs. */
bool sim_graph_flatten(struct sim_graph *to, const struct sim_graph *from); /* locked */
/* Takes @op over, also when it fails. */
CUresult sim_capture_op(struct sim_stream *stream, struct sim_op *op); /* locked */
void sim_capture_set(struct sim_capture **at, struct sim_capture *capture);
bool sim_capture_active(const struct sim_capture *capture);	/* locked */
/* The error of a call that neither a capturing stream nor, beside one, the
 * legacy stream may make; such a call ends the capture. */
CUresult sim_capture_forbids(struct sim_stream *stream);	/* locked */
/* The same for what allocates and frees, beside any capture of @ctx. */
CUresult sim_capture_forbids_unsafe(struct sim_context *ctx);	/* locked */

/* module.c */
CUresult sim_kernel_find(CUfunction handle, struct sim_launch *launch,
			 char signature[SIM_MAX_ARGS + 1]);	/* locked */
void sim_modules_unload(void *context);				/* locked */

/* ioctls.c: no effect without NVIDIA's kernel driver. */
void sim_ioctls_init(void);
void sim_ioctls_context(void);
unsigned int sim_ioctls_alloc(void);
void sim_ioctls_free(unsigned int object);

#endif /* CUDATRACE_SIM_H */
