// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * context.c - contexts, each thread's stack of them, and the primary context
 * that cudart and PyTorch share.
 *
 * Destroying a context waits for its work and takes its streams, modules and
 * memory with it. It must never leave an object behind that points to it.
 */
#include <stdlib.h>

#include "sim.h"

#define MAX_DEPTH 64

/* What cuCtxGetApiVersion says; the older interface has 32-bit addresses. */
#define API_VERSION 3020
#define OLD_API_VERSION 3010

static __thread CUcontext stack[MAX_DEPTH];
static __thread unsigned int depth;

static struct sim_context *primary;
static unsigned int primary_users, primary_flags;
static unsigned long long last_id;

struct sim_context *sim_current(void)
{
	return depth ? sim_handle_find(stack[depth - 1], SIM_CONTEXT) : NULL;
}

CUresult sim_no_context(void)
{
	return depth ? CUDA_ERROR_CONTEXT_IS_DESTROYED :
		       CUDA_ERROR_INVALID_CONTEXT;
}

static void context_free(struct sim_object *obj)
{
	free(obj);
}

static struct sim_context *context_new(unsigned int flags)
{
	struct sim_context *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	if (!sim_handle_new(&ctx->object, SIM_CONTEXT, context_free)) {
		free(ctx);
		return NULL;
	}
	ctx->flags = flags;
	ctx->id = ++last_id;
	return ctx;
}

/* Waiting gives the lock up: another thread may have come first. */
static void context_destroy(struct sim_context *ctx)
{
	sim_get(&ctx->object);
	sim_context_wait(ctx);
	if (sim_handle_find(ctx->object.handle, SIM_CONTEXT) != ctx) {
		sim_put(&ctx->object);
		return;
	}
	sim_modules_unload(ctx->object.handle);
	while (ctx->streams)
		sim_stream_close(ctx->streams);
	sim_memory_free_context(ctx->object.handle);
	sim_handle_close(&ctx->object);
	sim_put(&ctx->object);
}

/* NULL takes the current context off, as cuCtxSetCurrent(NULL) does. */
static CUresult set_current(CUcontext handle)
{
	if (!handle) {
		if (depth)
			depth--;
		return CUDA_SUCCESS;
	}
	if (!sim_handle_find(handle, SIM_CONTEXT))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!depth)
		depth = 1;
	stack[depth - 1] = handle;
	return CUDA_SUCCESS;
}

static CUresult push(CUcontext handle)
{
	if (!sim_handle_find(handle, SIM_CONTEXT))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth == MAX_DEPTH)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = handle;
	return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *handle)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (handle)
		*handle = stack[depth];
	return CUDA_SUCCESS;
}

static CUresult create(CUcontext *handle, unsigned int flags, CUdevice dev,
		       bool old)
{
	struct sim_context *ctx;
	CUresult result;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_ioctls_context();
	pthread_mutex_lock(&sim_lock);
	ctx = context_new(flags);
	if (ctx)
		ctx->old = old;
	result = ctx ? push(ctx->object.handle) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		*handle = ctx->object.handle;
	else if (ctx)
		sim_handle_close(&ctx->object);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuCtxCreate(CUcontext *handle, unsigned int flags, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return create(handle, flags, dev, true);
}

CUresult cuCtxCreate_v2(CUcontext *handle, unsigned int flags, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return create(handle, flags, dev, false);
}

CUresult cuCtxCreate_v3(CUcontext *handle, CUexecAffinityParam *params,
			int count, unsigned int flags, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (params || count)
		return CUDA_ERROR_NOT_SUPPORTED;
	return create(handle, flags, dev, false);
}

CUresult cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *params,
			unsigned int flags, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (params)
		return CUDA_ERROR_NOT_SUPPORTED;
	return create(handle, flags, dev, false);
}

static CUresult destroy(CUcontext handle)
{
	struct sim_context *ctx;
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;

	pthread_mutex_lock(&sim_lock);
	ctx = sim_handle_find(handle, SIM_CONTEXT);
	if (ctx && ctx != primary) {
		context_destroy(ctx);
		if (depth && stack[depth - 1] == handle)
			depth--;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuCtxDestroy(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return destroy(handle);
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return destroy(handle);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice dev)
{
	CUresult result = CUDA_SUCCESS;
	bool first;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&sim_lock);
	first = !primary;
	pthread_mutex_unlock(&sim_lock);
	if (first)
		sim_ioctls_context();
	pthread_mutex_lock(&sim_lock);
	if (!primary)
		primary = context_new(primary_flags);
	if (primary) {
		primary_users++;
		*handle = primary->object.handle;
	} else {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult release(CUdevice dev, bool all)
{
	struct sim_context *ctx;
	CUresult result = CUDA_SUCCESS;

	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&sim_lock);
	if (!all && !primary_users)
		result = CUDA_ERROR_INVALID_CONTEXT;
	else if (all || --primary_users == 0) {
		ctx = primary;
		primary = NULL;
		primary_users = 0;
		if (ctx)
			context_destroy(ctx);
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return release(dev, false);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return release(dev, false);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return release(dev, true);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return release(dev, true);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
				    int *active)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&sim_lock);
	*flags = primary_flags;
	*active = primary != NULL;
	pthread_mutex_unlock(&sim_lock);
	return CUDA_SUCCESS;
}

static CUresult set_flags(CUdevice dev, unsigned int flags)
{
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&sim_lock);
	primary_flags = flags;
	if (primary)
		primary->flags = flags;
	pthread_mutex_unlock(&sim_lock);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return set_flags(dev, flags);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return set_flags(dev, flags);
}

#define LOCKED(call)						\
	({							\
		CUresult r_;					\
								\
		pthread_mutex_lock(&sim_lock);			\
		r_ = (call);					\
		pthread_mutex_unlock(&sim_lock);		\
		r_;						\
	})

CUresult cuCtxPushCurrent(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return LOCKED(push(handle));
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return LOCKED(push(handle));
}

CUresult cuCtxPopCurrent(CUcontext *handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return LOCKED(pop(handle));
}

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return LOCKED(pop(handle));
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return LOCKED(set_current(handle));
}

CUresult cuCtxGetCurrent(CUcontext *handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	*handle = depth ? stack[depth - 1] : NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = 0;
	return CUDA_SUCCESS;
}

/* The context that @handle names; NULL names the current one. */
static struct sim_context *find(CUcontext handle)
{
	return handle ? sim_handle_find(handle, SIM_CONTEXT) : sim_current();
}

CUresult cuCtxGetDevice_v2(CUdevice *dev, CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = 0;
	return LOCKED(find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	return LOCKED((*flags = sim_current()->flags, CUDA_SUCCESS));
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
	struct sim_context *ctx;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	ctx = find(handle);
	if (ctx)
		*id = ctx->id;
	pthread_mutex_unlock(&sim_lock);
	return ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
	struct sim_context *ctx;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	ctx = find(handle);
	if (ctx)
		*version = ctx->old ? OLD_API_VERSION : API_VERSION;
	pthread_mutex_unlock(&sim_lock);
	return ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult synchronize(CUcontext handle)
{
	struct sim_context *ctx;
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;

	pthread_mutex_lock(&sim_lock);
	ctx = find(handle);
	if (ctx)
		result = sim_context_wait(ctx);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

/* No profiler is there. */
CUresult cuProfilerStart(void)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return synchronize(NULL);
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return synchronize(handle);
}

static size_t limits[] = {
	[CU_LIMIT_STACK_SIZE] = 1024,
	[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
	[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!value || (unsigned int)limit >= LIMITS)
		return CUDA_ERROR_INVALID_VALUE;
	return LOCKED((*value = limits[limit], CUDA_SUCCESS));
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if ((unsigned int)limit >= LIMITS)
		return CUDA_ERROR_INVALID_VALUE;
	return LOCKED((limits[limit] = value, CUDA_SUCCESS));
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}
