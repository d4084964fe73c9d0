// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * driver.c - cuInit and the one simulated device.
 *
 * What it says of the device follows an H200 in shape (so that programs
 * choose the same paths) but must never pass for one: the name says
 * "simulated", and cudatrace_simulated_gpu marks the library itself.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DEVICE_NAME "cudatrace simulated GPU"
#define BUS_ID "0000:00:00.0"

__attribute__((visibility("default")))
const char cudatrace_simulated_gpu[] = "simulated GPU";

/* Held for well under a microsecond: spinning beats sleeping. */
pthread_mutex_t sim_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t sim_done = PTHREAD_COND_INITIALIZER;

static enum { NOT_YET, READY, FORKED } state;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* CUDA does not survive fork: the child has no queue threads and is told so
 * at its first call. The lock may have been held by a thread it lacks. */
static void forked(void)
{
	pthread_mutex_init(&sim_lock, NULL);
	if (state == READY)
		state = FORKED;
}

static void first_init(void)
{
	sim_ioctls_init();
	pthread_atfork(NULL, NULL, forked);
}

CUresult sim_enter(const char *name, enum sim_needs needs)
{
	CUresult result = sim_inject(name);
	struct sim_context *ctx;

	if (result != CUDA_SUCCESS || needs == SIM_NEEDS_NOTHING)
		return result;
	pthread_mutex_lock(&sim_lock);
	if (state != READY) {
		result = CUDA_ERROR_NOT_INITIALIZED;
	} else if (needs >= SIM_NEEDS_CONTEXT) {
		ctx = sim_current();
		if (!ctx)
			result = sim_no_context();
		else if (needs == SIM_NEEDS_OLD_CONTEXT && !ctx->old)
			result = CUDA_ERROR_INVALID_CONTEXT;
		else
			result = ctx->error;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

bool sim_device_valid(CUdevice dev)
{
	return dev == 0;
}

/* The library that CUDA_INJECTION64_PATH names, once, when all else is ready. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *handle = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void) = handle ? (int (*)(void))dlsym(handle, "InitializeInjection") : NULL;

	if (begin)
		begin();
}

CUresult cuInit(unsigned int flags)
{
	static pthread_once_t injected = PTHREAD_ONCE_INIT;
	CUresult result = CUDA_SUCCESS;

	SIM_ENTER(SIM_NEEDS_NOTHING);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_once(&once, first_init);
	pthread_mutex_lock(&sim_lock);
	if (state == FORKED)
		result = CUDA_ERROR_NOT_INITIALIZED;
	else
		state = READY;
	pthread_mutex_unlock(&sim_lock);
	if (result == CUDA_SUCCESS)
		pthread_once(&injected, inject);
	return result;
}

CUresult cuDriverGetVersion(int *version)
{
	SIM_ENTER(SIM_NEEDS_NOTHING);
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = SIM_DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = ordinal;
	return CUDA_SUCCESS;
}

/* @text into @buffer of @len bytes, cut and always terminated. */
static CUresult give_text(char *buffer, int len, CUdevice dev, const char *text)
{
	if (!buffer || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(buffer, len, "%s", text);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return give_text(name, len, dev, DEVICE_NAME);
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return give_text(id, len, dev, BUS_ID);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!dev || !id)
		return CUDA_ERROR_INVALID_VALUE;
	if (strcmp(id, BUS_ID))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = 0;
	return CUDA_SUCCESS;
}

static CUresult give_uuid(CUuuid *uuid, CUdevice dev)
{
	static const char bytes[sizeof(uuid->bytes)] = "cudatrace simGPU";

	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, bytes, sizeof(bytes));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return give_uuid(uuid, dev);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return give_uuid(uuid, dev);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim_knobs()->memory;
	return CUDA_SUCCESS;
}

static const struct {
	CUdevice_attribute attribute;
	int value;
} attributes[] = {
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
	{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
	{ CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000 },
	{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
	{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
	{ CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0 },
	{ CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0 },
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
	{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
	{ CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
};

/* 0 for what the table does not name: "the device cannot". */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
			      CUdevice dev)
{
	unsigned int i;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!value || (int)attribute <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 0;
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = 9;
	*minor = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev) || !sim_device_valid(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*can = 0;
	return CUDA_SUCCESS;
}

/* A pool that nothing can be done with, but that exists: programs ask for it
 * before their first cuMemAllocAsync. */
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev)
{
	static char the_pool;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_valid(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)&the_pool;
	return CUDA_SUCCESS;
}
