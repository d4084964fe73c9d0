// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ways of a program to libcuda that lead past a preloaded dlsym().  One file, built as
 *
 *	-DSHIM		a library that is preloaded as well, and gives the program functions of its
 *			own in libcuda's place, as those that share a GPU do; -DSHIM_DLSYM: it
 *			exports dlsym(), and finds the real one by itself
 *	-DSHARE		one that looks itself up by a handle, hands out its functions by
 *			cuGetProcAddress too, and gives no thread an address by RTLD_NEXT twice
 *	-DHELPER	a library without CUDA names that is preloaded, and goes on by RTLD_NEXT
 *	-DWRAPPER	one that wraps one function, and no other
 *	-DDEEP		a library that is opened with RTLD_DEEPBIND and looks up everything
 *	-DQUIET		one that is linked to libcuda and is called without any lookup
 *	-DSTALE		one whose constructor asks for cuInit, of about libcuda's size
 *	(none)		the program: bypass shim|share|linked|next|global|local|deep LIB|quiet LIB|versions|
 *			rewritten LIB OFFSET|child LIB|walk OFFSET|address|stale LIB|deeper LIB|
 *			back
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x)	do { if (!(x)) { printf("%d: %s\n", __LINE__, #x); exit(1); } } while (0)

typedef void *lookup(void *, const char *);

#if defined(SHIM)
static lookup *find;
static void *cuda;

static void start(void)
{
	if (cuda)
		return;
	cuda = dlopen("libcuda.so.1", RTLD_NOW);
#ifdef SHIM_DLSYM
	find = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#else
	find = dlsym;
#endif
}

int cuInit(unsigned flags)
{
	start();
	return ((__typeof__(cuInit) *)find(cuda, "cuInit"))(flags);
}

int cuMemAlloc_v2(dptr *p, size_t size)
{
	start();
	/* One more than is told, and one that it answers itself. */
	return size == 7 ? 2 : ((__typeof__(cuMemAlloc_v2) *)find(cuda, "cuMemAlloc_v2"))(p, size);
}

#ifdef SHIM_DLSYM
void *dlsym(void *handle, const char *name)
{
	start();
	if (!strcmp(name, "cuInit"))
		return cuInit;
	if (!strcmp(name, "cuMemAlloc_v2"))
		return cuMemAlloc_v2;
	return find(handle, name);
}
#endif
#elif defined(SHARE)
static lookup *find;
static void *cuda, *self;
static __thread void *given;

static void *real(const char *name)
{
	if (!find)
		find = (lookup *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!self)
		self = dlopen(getenv("SHARE"), RTLD_LAZY);
	if (name && !cuda)
		cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NODELETE);
	return name ? find(cuda, name) : NULL;
}

int cuInit(unsigned flags)
{
	return ((__typeof__(cuInit) *)real("cuInit"))(flags);
}

int cuMemAlloc_v2(dptr *p, size_t size)
{
	/* Its share of memory is used up. */
	return size == 7 ? 2 : ((__typeof__(cuMemAlloc_v2) *)real("cuMemAlloc_v2"))(p, size);
}

/* What the program gets if it asks for the asker: no symbol of the library. */
static int ask(const char *name, void **p, int version, unsigned long long flags, int *status)
{
	*p = !strcmp(name, "cuGetProcAddress") ? (void *)ask : find(self, name);
	if (!*p && !strcmp(name, "cuMemAlloc"))
		*p = (void *)cuMemAlloc_v2;
	return *p ? 0 : ((__typeof__(cuGetProcAddress_v2) *)real("cuGetProcAddress_v2"))
		(name, p, version, flags, status);
}

int cuGetProcAddress_v2(const char *name, void **p, int version, unsigned long long flags, int *status)
{
	real(NULL);
	return ask(name, p, version, flags, status);
}

void *dlsym(void *handle, const char *name)
{
	void *p;

	real(NULL);
	if (handle == RTLD_NEXT) {
		p = find(RTLD_NEXT, name);
		p = p == given ? NULL : p;
		given = p;
		return p;
	}
	p = !strncmp(name, "cu", 2) ? find(self, name) : NULL;
	return p ? p : find(handle, name);
}
#elif defined(HELPER)
void *helper(const char *name);
void *versioned(const char *name, const char *version);

void *helper(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *versioned(const char *name, const char *version)
{
	return dlvsym(RTLD_NEXT, name, version);
}
#elif defined(WRAPPER)
int cuMemAlloc_v2(dptr *p, size_t size)
{
	__typeof__(cuMemAlloc_v2) *next = dlsym(RTLD_NEXT, "cuMemAlloc_v2");

	return next == cuMemAlloc_v2 ? 1 : next(p, size);
}
#elif defined(DEEP)
int run(void);

int run(void)
{
	void *l = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(cuInit) *init = dlsym(l, "cuInit");
	__typeof__(cuCtxSetCurrent) *set = dlvsym(l, "cuCtxSetCurrent", "MOCK_1");

	if (!init || init(0) || !set)
		return 1;
	for (int i = 0; i < 10; i++)
		set((void *)1);
	return 0;
}
#elif defined(QUIET)
void called(int (*f)(void));

static int run(void)
{
	cuInit(0);
	if (getenv("NODE"))
		cuMockIoctl(open(getenv("NODE"), O_PATH), 0xc020462a, NULL);
	for (int i = 0; i < 10; i++)
		cuCtxSetCurrent((void *)1);
	return 0;
}

__attribute__((constructor)) static void tell(void)
{
	called(run);
}
#elif defined(STALE)
char pad[PAD] = { 1 };

__attribute__((constructor)) static void ask(void)
{
	void *l = dlopen("libcuda.so.1", RTLD_NOW);

	if (!l || !dlsym(l, "cuInit"))
		exit(1);
}
#else
static int (*quiet)(void);
void cudatrace_mark(const char *text) __attribute__((weak));
void called(int (*f)(void));

void called(int (*f)(void))
{
	quiet = f;
}

#ifndef LINKED
static void *thunk, *real;

/* As the loader does that binds a slot late: over what was put there meanwhile. */
static int rewrite(struct dl_phdr_info *info, size_t size, void *file)
{
	for (int i = 0; i < info->dlpi_phnum && !strcmp(info->dlpi_name, file); i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		void **at = (void **)(info->dlpi_addr + p->p_vaddr);

		for (; p->p_type == PT_LOAD && p->p_flags & PF_W &&
		     (char *)at < (char *)info->dlpi_addr + p->p_vaddr + p->p_filesz; at++)
			if (*at == thunk)
				*at = real;
	}
	return 0;
}

static void allocate(void *l)
{
	__typeof__(cuInit) *init = dlsym(l, "cuInit");
	__typeof__(cuMemAlloc_v2) *alloc = dlsym(l, "cuMemAlloc_v2");
	__typeof__(cuCtxSetCurrent) *set = dlsym(l, "cuCtxSetCurrent");
	dptr p;

	CHECK(init && alloc && set && !dlerror());
	CHECK(!init(0) && !set((void *)1));
	for (int i = 0; i < 3; i++)
		CHECK(!alloc(&p, 100));
	alloc(&p, 7);
}

int main(int argc, char **argv)
{
	void *(*helper)(const char *) = dlsym(RTLD_DEFAULT, "helper"), *l;
	__typeof__(cuCtxSetCurrent) *set = NULL;
	int (*run)(void), status;

	dlerror();
	CHECK(argc > 1);
	if (!strcmp(argv[1], "shim")) {
		allocate(dlopen("libcuda.so.1", RTLD_NOW));
	} else if (!strcmp(argv[1], "share")) {
		__typeof__(cuGetProcAddress_v2) *ask, *again;
		__typeof__(cuCtxGetCurrent) *get;
		__typeof__(cuMemAlloc_v2) *alloc;
		__typeof__(cuInit) *init;
		void *context;
		dptr p;

		l = dlopen("libcuda.so.1", RTLD_NOW);
		ask = dlsym(l, "cuGetProcAddress_v2");
		set = dlsym(l, "cuCtxSetCurrent");
		CHECK(ask && set && !ask("cuGetProcAddress", (void **)&again, 12000, 0, &status));
		CHECK(!again("cuInit", (void **)&init, 12000, 0, &status) && !init(0));
		CHECK(!again("cuMemAlloc", (void **)&alloc, 12000, 0, &status) && !alloc(&p, 100));
		printf("%d %d\n", alloc(&p, 7), dlsym(RTLD_NEXT, "malloc") != NULL);
		printf("%d\n", dlsym(RTLD_NEXT, "malloc") != NULL);
		CHECK(!set((void *)1));
		CHECK(!again("cuCtxGetCurrent", (void **)&get, 12000, 0, &status) && !get(&context));
	} else if (!strcmp(argv[1], "global") || !strcmp(argv[1], "local")) {
		CHECK(!helper("cuCtxSetCurrent") && dlerror());
		l = dlopen("libcuda.so.1", RTLD_NOW | (*argv[1] == 'g' ? RTLD_GLOBAL : 0));
		dlopen("none", RTLD_NOW);		/* an error that waits */
		set = helper("cuCtxSetCurrent");
		CHECK(!!set == (*argv[1] == 'g') && !!dlerror() == !set);
		CHECK(!helper("cuNothing") && dlerror());
		CHECK(!set || !set((void *)1));
	} else if (!strcmp(argv[1], "versions")) {
		l = dlopen("libcuda.so.1", RTLD_NOW);
		set = dlvsym(l, "cuCtxSetCurrent", "MOCK_1");
		CHECK(set && !dlerror() && !set((void *)1));
		CHECK(!dlvsym(l, "cuCtxSetCurrent", "MOCK_2") && dlerror());
		CHECK(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5") && !dlerror());
		CHECK(dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5") == dlsym(RTLD_NEXT, "malloc"));
	} else if (!strcmp(argv[1], "deep")) {
		l = dlopen(argv[2], RTLD_LAZY | RTLD_DEEPBIND);
		run = (int (*)(void))dlsym(l, "run");
		CHECK(run && !run());
	} else if (!strcmp(argv[1], "rewritten")) {
		l = dlopen("libcuda.so.1", RTLD_NOW);
		thunk = dlsym(l, "cuCtxSetCurrent");
		real = (char *)((struct link_map *)l)->l_addr + strtoul(argv[3], NULL, 0);
		CHECK(dlopen(argv[2], RTLD_LAZY) && dlsym(RTLD_DEFAULT, "malloc"));
		dl_iterate_phdr(rewrite, argv[2]);
		CHECK(dlsym(RTLD_DEFAULT, "malloc") && !quiet());
	} else if (!strcmp(argv[1], "walk")) {
		/* A look at the file says where it is; nobody else is asked. */
		l = dlopen("libcuda.so.1", RTLD_NOW);
		set = (void *)((char *)((struct link_map *)l)->l_addr + strtoul(argv[2], NULL, 0));
		CHECK(dlsym(RTLD_DEFAULT, "malloc") && !set((void *)1));
	} else if (!strcmp(argv[1], "address")) {
		Dl_info info;

		l = dlopen("libcuda.so.1", RTLD_NOW);
		set = dlsym(l, "cuCtxSetCurrent");
		CHECK(set && dladdr((void *)set, &info) && !strcmp(info.dli_sname, "cuCtxSetCurrent"));
		CHECK(strstr(info.dli_fname, "libcuda.so.1") && !set((void *)1));
	} else if (!strcmp(argv[1], "stale")) {
		l = dlopen("libcuda.so.1", RTLD_NOW);
		CHECK(l && dlsym(l, "cuInit") && !dlclose(l));
		CHECK(dlopen(argv[2], RTLD_NOW));
	} else if (!strcmp(argv[1], "deeper")) {
		CHECK(dlopen(argv[2], RTLD_NOW | RTLD_DEEPBIND) && dlsym(RTLD_DEFAULT, "malloc"));
		CHECK(quiet && !quiet());
	} else if (!strcmp(argv[1], "back")) {
		int (*back)(void);

		l = dlopen("libcuda.so.1", RTLD_NOW);
		set = dlsym(l, "cuCtxSetCurrent");
		back = (int (*)(void))dlsym(l, "cuMockPutBack");
		CHECK(!set((void *)1) && !back() && !set((void *)2));
		CHECK(dlsym(RTLD_DEFAULT, "malloc") && !set((void *)3));
		/* With full packets alone: those until the next one begins are not seen. */
		CHECK(!back());
		for (int i = 0; i < 5000; i++)
			getenv("MARK") ? cudatrace_mark("x") : 0;
		CHECK(!set((void *)4));
	} else if (!strcmp(argv[1], "child")) {
		if (!fork()) {
			CHECK(dlopen(argv[2], RTLD_NOW) && dlsym(RTLD_DEFAULT, "malloc"));
			_exit(quiet());
		}
		CHECK(wait(&status) > 0 && !status);
	} else {
		/* Nothing is looked up from here on, nor does a packet begin. */
		getenv("MARK") ? cudatrace_mark("x") : 0;
		CHECK(dlopen(argv[2], RTLD_NOW) && quiet && !quiet());
	}
	return 0;
}
#else
void *helper(const char *name) __attribute__((weak));
void *versioned(const char *name, const char *version) __attribute__((weak));

int main(void)
{
	__typeof__(cuCtxSetCurrent) *set;
	dptr p;

	set = dlvsym(RTLD_DEFAULT, "cuCtxSetCurrent", "MOCK_1");
	CHECK(set && !dlerror() && !set((void *)2));
	CHECK(!dlvsym(RTLD_DEFAULT, "cuCtxSetCurrent", "MOCK_2") && dlerror());
	set = versioned ? versioned("cuCtxSetCurrent", "MOCK_1") : NULL;
	CHECK(!versioned || (set && !dlerror() && !set((void *)3)));
	CHECK(!versioned || (!versioned("cuCtxSetCurrent", "MOCK_2") && dlerror()));

	dlopen("none", RTLD_NOW);		/* an error that waits */
	set = helper ? helper("cuCtxSetCurrent") : NULL;
	CHECK(!helper || (set && !dlerror() && !set((void *)1)));
	for (int i = 0; i < 3; i++)
		CHECK(!cuMemAlloc_v2(&p, 100));
	return cuInit(0);
}
#endif
#endif
