/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlopen() and dlsym(), where they are: the plugin is preloaded into programs of older C
 * libraries, too, which have them in a library that such a program may not have.
 */
#ifndef CT_GPU_LOADER_H
#define CT_GPU_LOADER_H

#include <dlfcn.h>

/* Not the versions of new C libraries. */
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");

extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));

static inline void *loader_open(const char *path, int flags)
{
	return dlopen ? dlopen(path, flags) : NULL;
}

static inline void *loader_find(void *handle, const char *name)
{
	return dlsym ? dlsym(handle, name) : NULL;
}

#endif
