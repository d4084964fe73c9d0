// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * memory.c - device memory, backed by host memory, and the table of every
 * range that a copy or a kernel may touch.
 *
 * An address of the device is the address of the pages behind it. Every use
 * goes through the table first, so a range that was freed, or that reaches
 * past its allocation, is an error and never a crash or silent corruption;
 * what runs holds a reference, so pages outlive a free that races with it.
 */
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim.h"

/* As the real driver aligns cuMemAlloc and counts what is in use. */
#define ALIGNMENT 512

static void *tree;			/* of struct sim_memory, by address */
static uint64_t used;			/* bytes of device memory */

/* Ranges that overlap compare equal: a search by range finds its owner. */
static int compare(const void *a, const void *b)
{
	const struct sim_memory *x = a, *y = b;

	if (x->base + x->size <= y->base)
		return -1;
	return y->base + y->size <= x->base;
}

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static bool counts(enum sim_memory_kind kind)
{
	return kind == SIM_DEVICE || kind == SIM_GLOBAL || kind == SIM_MANAGED;
}

static struct sim_memory *owner(uintptr_t addr, size_t bytes)
{
	struct sim_memory key = { .base = addr, .size = bytes ? bytes : 1 };
	struct sim_memory **found = tfind(&key, &tree, compare);

	if (!found || addr < (*found)->base ||
	    addr + key.size > (*found)->base + (*found)->size)
		return NULL;
	return *found;
}

struct sim_memory *sim_memory_find(uintptr_t addr, size_t bytes)
{
	struct sim_memory *mem;

	if (addr + bytes < addr)
		return NULL;
	mem = owner(addr, bytes);
	if (mem)
		mem->refs++;
	return mem;
}

void sim_memory_put(struct sim_memory *mem)
{
	if (--mem->refs)
		return;
	if (mem->mapped)
		munmap((void *)mem->base, mem->mapped);
	free(mem);
}

static CUresult insert(struct sim_memory *mem)
{
	struct sim_memory **found = tsearch(mem, &tree, compare);

	if (!found)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return *found == mem ? CUDA_SUCCESS
			     : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

static void remove_memory(struct sim_memory *mem)
{
	tdelete(mem, &tree, compare);
	if (counts(mem->kind))
		used -= round_up(mem->size, ALIGNMENT);
	sim_memory_put(mem);
}

/* @low: below 4 GiB, for the callers of the 32-bit interface of CUDA 2. */
CUresult sim_memory_alloc(enum sim_memory_kind kind, size_t bytes, bool low,
			  uintptr_t *base)
{
	struct sim_context *ctx;
	struct sim_memory *mem;
	size_t mapped;
	void *pages;
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	if (!bytes || !base)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > SIZE_MAX / 2)
		return CUDA_ERROR_OUT_OF_MEMORY;
	mem = calloc(1, sizeof(*mem));
	if (!mem)
		return CUDA_ERROR_OUT_OF_MEMORY;
	mapped = round_up(bytes, sysconf(_SC_PAGESIZE));
	pthread_mutex_lock(&sim_lock);
	ctx = sim_current();
	if (counts(kind) &&
	    round_up(bytes, ALIGNMENT) > sim_knobs()->memory - used)
		goto out;
	pages = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		     (low ? MAP_32BIT : 0), -1, 0);
	if (pages == MAP_FAILED)
		goto out;
	mem->base = (uintptr_t)pages;
	mem->size = bytes;
	mem->mapped = mapped;
	mem->kind = kind;
	mem->refs = 1;
	mem->context = ctx ? ctx->object.handle : NULL;
	result = insert(mem);
	if (result != CUDA_SUCCESS) {
		munmap(pages, mapped);
		goto out;
	}
	if (counts(kind))
		used += round_up(bytes, ALIGNMENT);
	*base = mem->base;
out:
	pthread_mutex_unlock(&sim_lock);
	if (result != CUDA_SUCCESS) {
		free(mem);
		return result;
	}
	if (kind == SIM_DEVICE || kind == SIM_MANAGED) {
		unsigned int object = sim_ioctls_alloc();

		pthread_mutex_lock(&sim_lock);
		mem = owner(*base, bytes);
		if (mem)
			mem->gpu_object = object;
		pthread_mutex_unlock(&sim_lock);
	}
	return CUDA_SUCCESS;
}

/* Frees what was allocated at exactly @base; SIM_DEVICE covers managed. */
CUresult sim_memory_free(uintptr_t base, enum sim_memory_kind kind)
{
	struct sim_memory *mem;
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	unsigned int object = 0;

	pthread_mutex_lock(&sim_lock);
	mem = owner(base, 1);
	if (mem && mem->base == base &&
	    (mem->kind == kind ||
	     (kind == SIM_DEVICE && mem->kind == SIM_MANAGED))) {
		object = mem->gpu_object;
		remove_memory(mem);
		result = CUDA_SUCCESS;
	} else if (kind == SIM_REGISTERED) {
		result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	}
	pthread_mutex_unlock(&sim_lock);
	if (object)
		sim_ioctls_free(object);
	return result;
}

/* A variable of a module that goes. */
void sim_memory_drop(uintptr_t base)
{
	struct sim_memory *mem = owner(base, 1);

	if (mem && mem->base == base && mem->kind == SIM_GLOBAL)
		remove_memory(mem);
}

static void *wanted_context;		/* walk has no argument; under the lock */
static struct sim_memory *walk_found;

static void walk(const void *node, VISIT visit, int depth)
{
	struct sim_memory *mem = *(struct sim_memory *const *)node;

	(void)depth;
	if ((visit == postorder || visit == leaf) &&
	    mem->context == wanted_context)
		walk_found = mem;
}

void sim_memory_free_context(void *context)
{
	wanted_context = context;
	for (;;) {
		walk_found = NULL;
		twalk(tree, walk);
		if (!walk_found)
			return;
		remove_memory(walk_found);
	}
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!available || !total)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	*total = sim_knobs()->memory;
	*available = *total - used;
	pthread_mutex_unlock(&sim_lock);
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
				 CUdeviceptr ptr)
{
	struct sim_memory *mem;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	pthread_mutex_lock(&sim_lock);
	mem = owner(ptr, 1);
	if (mem && base)
		*base = mem->base;
	if (mem && size)
		*size = mem->size;
	pthread_mutex_unlock(&sim_lock);
	return mem ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host,
				      unsigned int flags)
{
	struct sim_memory *mem;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!ptr || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	mem = owner((uintptr_t)host, 1);
	if (mem)
		*ptr = (uintptr_t)host;
	pthread_mutex_unlock(&sim_lock);
	return mem ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult host_register(void *host, size_t bytes)
{
	struct sim_memory *mem;
	CUresult result;

	if (!host || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	mem = calloc(1, sizeof(*mem));
	if (!mem)
		return CUDA_ERROR_OUT_OF_MEMORY;
	mem->base = (uintptr_t)host;
	mem->size = bytes;
	mem->kind = SIM_REGISTERED;
	mem->refs = 1;
	pthread_mutex_lock(&sim_lock);
	mem->context = sim_current()->object.handle;
	result = insert(mem);
	pthread_mutex_unlock(&sim_lock);
	if (result != CUDA_SUCCESS)
		free(mem);
	return result;
}

CUresult cuMemHostRegister(void *host, size_t bytes, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)flags;
	return host_register(host, bytes);
}

CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)flags;
	return host_register(host, bytes);
}

CUresult cuMemHostUnregister(void *host)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return sim_memory_free((uintptr_t)host, SIM_REGISTERED);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
			       CUdeviceptr ptr)
{
	struct sim_memory *mem;
	CUresult result = CUDA_SUCCESS;

	SIM_ENTER(SIM_NEEDS_INIT);
	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	mem = owner(ptr, 1);
	if (!mem) {
		pthread_mutex_unlock(&sim_lock);
		return CUDA_ERROR_INVALID_VALUE;
	}
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = mem->context;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = counts(mem->kind) ?
			CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = ptr;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (mem->kind == SIM_DEVICE || mem->kind == SIM_GLOBAL)
			result = CUDA_ERROR_INVALID_VALUE;
		else
			*(void **)data = (void *)(uintptr_t)ptr;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)data = mem->kind == SIM_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = 0;
		break;
	default:
		result = CUDA_ERROR_NOT_SUPPORTED;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}
