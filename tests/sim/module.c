// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * module.c - modules and libraries: which kernels and variables exist.
 *
 * An image is text of our own, since nothing here can run GPU code:
 *
 *	cudatrace-sim-image 1
 *	kernel NAME SIGNATURE [NANOSECONDS]
 *	global NAME BYTES
 *	load NANOSECONDS
 *
 * SIGNATURE has a letter for each parameter (kernels.c) or is "-" for none. A
 * kernel whose name and signature kernels.c knows computes; any other only
 * takes time. "load" says how long a load of the image takes, for a driver
 * compiles what it is given; without it a load costs nothing. Empty lines and lines that begin with # do not count. Anything
 * else, a real PTX or cubin too, must be refused, never guessed at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define MAGIC "cudatrace-sim-image 1"
#define NAME_SIZE 128

struct kernel {
	struct sim_object object;
	struct kernel *next;
	struct module *module;
	char name[NAME_SIZE];
	char signature[SIM_MAX_ARGS + 1];
	const struct sim_builtin *builtin;
	uint64_t cost_ns;
};

struct global {
	struct global *next;
	char name[NAME_SIZE];
	uintptr_t base;
	size_t size;
};

struct module {
	struct sim_object object;
	struct module *next;
	void *context;			/* handle; NULL for a library */
	struct kernel *kernels;
	struct global *globals;
	uint64_t load_ns;
};

static struct module *modules;

static void kernel_free(struct sim_object *obj)
{
	free(obj);
}

/* The caller has taken the variables' memory and the kernels' handles. */
static void module_free(struct sim_object *obj)
{
	struct module *module = (struct module *)obj;
	struct global *global;

	while ((global = module->globals)) {
		module->globals = global->next;
		free(global);
	}
	free(module);
}

/* One line of an image, without its end; false if it cannot be read. */
static bool read_line(struct module *module, const char *line)
{
	char name[NAME_SIZE], signature[SIM_MAX_ARGS + 2];
	unsigned long long number = 0;
	int used = 0;

	if (!*line || *line == '#')
		return true;
	if (sscanf(line, "kernel %127s %17s%n %llu%n", name, signature, &used,
		   &number, &used) >= 2 && !line[used]) {
		struct kernel *kernel;

		if (!strcmp(signature, "-"))
			*signature = '\0';
		if (strlen(signature) > SIM_MAX_ARGS ||
		    strspn(signature, "pilfd") != strlen(signature))
			return false;
		kernel = calloc(1, sizeof(*kernel));
		if (!kernel)
			return false;
		strcpy(kernel->name, name);
		strcpy(kernel->signature, signature);
		kernel->cost_ns = number;
		kernel->builtin = sim_builtin_find(name, signature);
		kernel->module = module;
		kernel->next = module->kernels;
		module->kernels = kernel;
		return true;
	}
	if (sscanf(line, "global %127s %llu%n", name, &number, &used) == 2 &&
	    !line[used] && number) {
		struct global *global = calloc(1, sizeof(*global));

		if (!global)
			return false;
		strcpy(global->name, name);
		global->size = number;
		global->next = module->globals;
		module->globals = global;
		return true;
	}
	return sscanf(line, "load %llu%n", &number, &used) == 1 && !line[used] &&
	       (module->load_ns = number) <= 1000000000;
}

static bool read_image(struct module *module, const char *image)
{
	char line[512];
	size_t len;

	for (image += strlen(MAGIC); *image; image += len) {
		image += *image == '\n';
		len = strcspn(image, "\n");
		if (len >= sizeof(line))
			return false;
		memcpy(line, image, len);
		line[len] = '\0';
		if (!read_line(module, line))
			return false;
	}
	return true;
}

/* Handles for all, memory for the variables. */
static CUresult register_module(struct module *module)
{
	struct kernel *kernel;
	struct global *global;
	CUresult result;

	for (global = module->globals; global; global = global->next) {
		result = sim_memory_alloc(SIM_GLOBAL, global->size, false,
					  &global->base);
		if (result != CUDA_SUCCESS)
			return result;
	}
	pthread_mutex_lock(&sim_lock);
	sim_handle_new(&module->object, SIM_MODULE, module_free);
	for (kernel = module->kernels; kernel; kernel = kernel->next)
		sim_handle_new(&kernel->object, SIM_KERNEL, kernel_free);
	module->next = modules;
	modules = module;
	pthread_mutex_unlock(&sim_lock);
	return CUDA_SUCCESS;
}

/* Everything that @module has, registered or not; the lock is held. */
static void forget(struct module *module)
{
	struct kernel *kernel;
	struct global *global;

	while ((kernel = module->kernels)) {
		module->kernels = kernel->next;
		if (kernel->object.handle)
			sim_handle_close(&kernel->object);
		else
			free(kernel);
	}
	for (global = module->globals; global; global = global->next)
		if (global->base)
			sim_memory_drop(global->base);
	if (module->object.handle)
		sim_handle_close(&module->object);
	else
		module_free(&module->object);
}

static CUresult load(void **handle, const void *image, bool library)
{
	uint64_t start = sim_now();
	struct module *module;
	CUresult result = CUDA_ERROR_INVALID_IMAGE;

	if (!handle || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (strncmp(image, MAGIC, strlen(MAGIC)))
		return CUDA_ERROR_INVALID_IMAGE;
	module = calloc(1, sizeof(*module));
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!library) {
		pthread_mutex_lock(&sim_lock);
		module->context = sim_current()->object.handle;
		pthread_mutex_unlock(&sim_lock);
	}
	if (read_image(module, image)) {
		sim_spin_until(start + (uint64_t)(module->load_ns * sim_knobs()->time_scale));
		result = register_module(module);
	}
	if (result == CUDA_SUCCESS) {
		*handle = module->object.handle;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&sim_lock);
	forget(module);
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static void unlink_module(struct module *module)
{
	struct module **at = &modules;

	while (*at != module)
		at = &(*at)->next;
	*at = module->next;
}

void sim_modules_unload(void *context)
{
	struct module *module;
again:
	for (module = modules; module; module = module->next)
		if (module->context == context) {
			unlink_module(module);
			forget(module);
			goto again;
		}
}

static CUresult unload(void *handle)
{
	struct sim_context *ctx;
	struct module *module;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&sim_lock);
	ctx = sim_current();
	if (ctx)
		sim_context_wait(ctx);
	module = sim_handle_find(handle, SIM_MODULE);
	if (module) {
		unlink_module(module);
		forget(module);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

static CUresult get_kernel(void **handle, void *module_handle, const char *name)
{
	struct module *module;
	struct kernel *kernel;
	CUresult result = CUDA_ERROR_INVALID_HANDLE;

	if (!handle || !name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	module = sim_handle_find(module_handle, SIM_MODULE);
	if (module) {
		result = CUDA_ERROR_NOT_FOUND;
		for (kernel = module->kernels; kernel; kernel = kernel->next)
			if (!strcmp(kernel->name, name)) {
				*handle = kernel->object.handle;
				result = CUDA_SUCCESS;
				break;
			}
	}
	pthread_mutex_unlock(&sim_lock);
	return result;
}

CUresult sim_kernel_find(CUfunction handle, struct sim_launch *launch,
			 char signature[SIM_MAX_ARGS + 1])
{
	struct kernel *kernel = sim_handle_find(handle, SIM_KERNEL);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	launch->builtin = kernel->builtin;
	launch->cost_ns = kernel->cost_ns;
	launch->name = sim_activity_name(kernel->name);
	strcpy(signature, kernel->signature);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return load((void **)module, image, false);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
			    unsigned int count, CUjit_option *options,
			    void **values)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	(void)options;
	(void)values;
	(void)count;
	return load((void **)module, image, false);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return load((void **)module, image, false);
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
	char *text = NULL;
	size_t space = 0;
	FILE *file;
	CUresult result;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	file = fopen(path, "re");
	if (!file)
		return CUDA_ERROR_FILE_NOT_FOUND;
	if (getdelim(&text, &space, '\0', file) < 0)
		result = CUDA_ERROR_INVALID_IMAGE;
	else
		result = load((void **)module, text, false);
	free(text);
	fclose(file);
	return result;
}

CUresult cuModuleUnload(CUmodule module)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return unload(module);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
			     const char *name)
{
	SIM_ENTER(SIM_NEEDS_CONTEXT);
	return get_kernel((void **)function, module, name);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *size,
			      CUmodule module_handle, const char *name)
{
	struct module *module;
	struct global *global = NULL;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	module = sim_handle_find(module_handle, SIM_MODULE);
	if (module)
		global = module->globals;
	while (global && strcmp(global->name, name))
		global = global->next;
	if (global && ptr)
		*ptr = global->base;
	if (global && size)
		*size = global->size;
	pthread_mutex_unlock(&sim_lock);
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	return global ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image,
			   CUjit_option *options, void **values,
			   unsigned int count, CUlibraryOption *lib_options,
			   void **lib_values, unsigned int lib_count)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	(void)options;
	(void)values;
	(void)count;
	(void)lib_options;
	(void)lib_values;
	(void)lib_count;
	return load((void **)library, image, true);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return unload(library);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
			    const char *name)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return get_kernel((void **)kernel, library, name);
}

/* A library and its module, a kernel and its function are one object here. */
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	struct module *found;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	found = sim_handle_find(library, SIM_MODULE);
	pthread_mutex_unlock(&sim_lock);
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	*module = (CUmodule)library;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	struct kernel *found;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	found = sim_handle_find(kernel, SIM_KERNEL);
	pthread_mutex_unlock(&sim_lock);
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	*function = (CUfunction)kernel;
	return CUDA_SUCCESS;
}

static CUresult get_name(const char **name, void *handle)
{
	struct kernel *kernel;

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	kernel = sim_handle_find(handle, SIM_KERNEL);
	if (kernel)
		*name = kernel->name;
	pthread_mutex_unlock(&sim_lock);
	return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return get_name(name, kernel);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
	SIM_ENTER(SIM_NEEDS_INIT);
	return get_name(name, function);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
	struct kernel *kernel;

	SIM_ENTER(SIM_NEEDS_CONTEXT);
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim_lock);
	kernel = sim_handle_find(function, SIM_KERNEL);
	if (kernel)
		*module = kernel->module->object.handle;
	pthread_mutex_unlock(&sim_lock);
	return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
