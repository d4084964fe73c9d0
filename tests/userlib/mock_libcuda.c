// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A libcuda for tests of the preload library: it does nothing, checks that its
 * arguments came through, and counts.  It never talks to a driver, and nothing
 * that it gives may be used as a measurement.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXPORT	__attribute__((visibility("default")))
#define COUNT()	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)

#define INVALID_VALUE	1
#define OUT_OF_MEMORY	2
#define DEINITIALIZED	4
#define NOT_FOUND	500

static int count;
static int gone;		/* the process ends */

static void shut_down(void)
{
	gone = 1;
}

__attribute__((constructor)) static void loaded(void)
{
	atexit(shut_down);
}

#ifdef MOCK_SIMULATED
EXPORT int cudatrace_simulated_gpu = 1;
#endif

EXPORT int cuMockCount(void)
{
	return count;
}

/* As the real one does when it is initialised. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *l = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*start)(void) = l ? (int (*)(void))dlsym(l, "InitializeInjection") : NULL;

	if (start)
		start();
}

/* The words of its table, as the loader left them (tests/sim/entries.S). */
extern void *libcuda_words[] __attribute__((weak, visibility("hidden")));
extern void *libcuda_words_end[] __attribute__((weak, visibility("hidden")));
static void *words[256];

__attribute__((constructor)) static void keep_words(void)
{
	for (int i = 0; libcuda_words && i < libcuda_words_end - libcuda_words && i < 256; i++)
		words[i] = libcuda_words[i];
}

/* As a tool that ends and puts back what it found at its begin. */
EXPORT int cuMockPutBack(void)
{
	for (int i = 0; libcuda_words && i < libcuda_words_end - libcuda_words && i < 256; i++)
		libcuda_words[i] = words[i];
	return 0;
}

EXPORT int cuInit(unsigned flags)
{
	if (!COUNT())
		inject();
	return flags ? INVALID_VALUE : 0;
}

EXPORT int cuDriverGetVersion(int *version)
{
	COUNT();
	*version = 13000;
	return 0;
}

/* This function crashes from now on. */
static const char *crash_in = "";

EXPORT int cuMockCrash(const char *function)
{
	crash_in = function;
	return 0;
}

static void may_crash(const char *function)
{
	if (!strcmp(crash_in, function))
		raise(SIGSEGV);
}

EXPORT int cuCtxGetCurrent(void **ctx)
{
	COUNT();
	may_crash("cuCtxGetCurrent");
	*ctx = (void *)0xc0ffee;
	return 0;
}

EXPORT int cuCtxSetCurrent(void *ctx)
{
	(void)ctx;
	COUNT();
	return gone ? DEINITIALIZED : 0;
}

EXPORT int cuMemAlloc_v2(dptr *p, size_t size)
{
	COUNT();
	if (!p)
		return INVALID_VALUE;
	if (size > 1ull << 40)
		return OUT_OF_MEMORY;
	*p = 0x7f0000000000ull + size;
	return 0;
}

/* The first version: 32-bit addresses. */
EXPORT int cuMemAlloc(unsigned *p, unsigned size)
{
	COUNT();
	*p = size;
	return 0;
}

EXPORT int cuMemFree_v2(dptr p)
{
	(void)p;
	COUNT();
	return 0;
}

EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total)
{
	COUNT();
	if (free)
		*free = 1000;
	if (total)
		*total = 2000;
	return 0;
}

EXPORT int cuMemcpyHtoD_v2(dptr dst, const void *src, size_t n)
{
	(void)dst;
	(void)src;
	(void)n;
	COUNT();
	return 0;
}

EXPORT int cuMemcpyHtoD_v2_ptds(dptr dst, const void *src, size_t n)
{
	return cuMemcpyHtoD_v2(dst, src, n);
}

EXPORT int cuMemcpyDtoH_v2(void *dst, dptr src, size_t n)
{
	(void)src;
	COUNT();
	memset(dst, 0x5a, n);
	return 0;
}

EXPORT int cuMemcpyHtoDAsync_v2(dptr dst, const void *src, size_t n, void *stream)
{
	(void)dst;
	(void)src;
	(void)n;
	(void)stream;
	COUNT();
	return 0;
}

EXPORT int cuMemcpy2D_v2(const void *block)
{
	COUNT();
	return block ? 0 : INVALID_VALUE;
}

EXPORT int cuMemsetD32_v2(dptr p, unsigned value, size_t n)
{
	(void)p;
	(void)value;
	(void)n;
	COUNT();
	return 0;
}

EXPORT int cuModuleLoadData(void **m, const void *image)
{
	(void)image;
	COUNT();
	*m = (void *)0x4d0d;
	return 0;
}

EXPORT int cuModuleUnload(void *m)
{
	(void)m;
	COUNT();
	return 0;
}

/* Every function gets the same handle: handles are reused after unload. */
EXPORT int cuModuleGetFunction(void **f, void *m, const char *name)
{
	(void)m;
	COUNT();
	if (!strcmp(name, "absent"))
		return NOT_FOUND;
	*f = (void *)0xf00d;
	return 0;
}

EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			  unsigned by, unsigned bz, unsigned shared, void *stream,
			  void **params, void **extra)
{
	(void)f;
	COUNT();
	may_crash("cuLaunchKernel");
	if (gx != 1 || gy != 2 || gz != 3 || bx != 4 || by != 5 || bz != 6 ||
	    shared != 7 || stream != (void *)8 || params != (void *)9 ||
	    extra != (void *)10)
		return INVALID_VALUE;
	return 0;
}

EXPORT int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz,
			       unsigned bx, unsigned by, unsigned bz, unsigned shared,
			       void *stream, void **params, void **extra)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

EXPORT int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra)
{
	(void)f;
	(void)params;
	(void)extra;
	COUNT();
	return config ? 0 : INVALID_VALUE;
}

EXPORT int cuStreamCreate(void **s, unsigned flags)
{
	(void)flags;
	COUNT();
	*s = (void *)8;
	return 0;
}

static int (*next)(void *);

/* cuStreamSynchronize ends in a jump to this function from now on. */
EXPORT int cuMockNext(int (*f)(void *))
{
	next = f;
	return 0;
}

EXPORT int cuStreamSynchronize(void *s)
{
	COUNT();
	may_crash("cuStreamSynchronize");
	return next ? next(s) : 0;
}

EXPORT int cuStreamBeginCapture_v2(void *s, int mode)
{
	(void)s;
	(void)mode;
	COUNT();
	return 0;
}

EXPORT int cuStreamEndCapture(void *s, void **graph)
{
	(void)s;
	COUNT();
	*graph = (void *)0x9a9;
	return 0;
}

EXPORT int cuFuncGetName(const char **name, void *f)
{
	(void)f;
	COUNT();
	*name = "named";
	return 0;
}

EXPORT int cuIpcOpenMemHandle_v2(dptr *p, ipc_handle h, unsigned flags)
{
	COUNT();
	for (int i = 0; i < 64; i++)
		if (h.bytes[i] != (char)(i * 3 + 1))
			return INVALID_VALUE;
	*p = 0xabc;
	return flags == 77 ? 0 : INVALID_VALUE;
}

EXPORT int cuTensorMapEncodeIm2colWide(void *map, int a, unsigned b, void *c, const void *d,
				   const void *e, const int *f, const int *g, unsigned h,
				   unsigned i, const void *j, int k, int l, int m, int n,
				   int o)
{
	COUNT();
	return map == (void *)100 && a == 101 && b == 102 && c == (void *)103 &&
	       d == (void *)104 && e == (void *)105 && f == (void *)106 &&
	       g == (void *)107 && h == 108 && i == 109 && j == (void *)110 &&
	       k == 111 && l == 112 && m == 113 && n == 114 && o == 115 ?
	       0 : INVALID_VALUE;
}

EXPORT int cuParamSetf(void *f, int offset, float value)
{
	COUNT();
	return f == (void *)1 && offset == 2 && value == 3.5f ? 0 : INVALID_VALUE;
}

EXPORT double cuMockMany(int a, double b, long c, float d, long e, long f, long g,
			 double h, long i, long j, long k, double l, double m, double n,
			 double o, double p, double q, long r, long s, long t)
{
	COUNT();
	return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 &&
	       h == 8 && i == 9 && j == 10 && k == 11 && l == 12 && m == 13 && n == 14 &&
	       o == 15 && p == 16 && q == 17 && r == 18 && s == 19 && t == 20 ?
	       42.5 : -1;
}

EXPORT int cuMockCall(void (*f)(void *), void *arg)
{
	COUNT();
	f(arg);
	return 0;
}

EXPORT int cuMockHang(void)
{
	COUNT();
	for (;;)
		pause();
}

EXPORT int cuMockIoctl(int fd, unsigned long cmd, void *arg)
{
	COUNT();
	return ioctl(fd, cmd, arg) ? 999 : 0;
}

EXPORT int cuMockErrno(void)
{
	COUNT();
	return errno == 4711 ? 0 : INVALID_VALUE;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **p, int version,
			       unsigned long long flags, int *status);

/* What the program gets: the exported functions (tests/sim/entries.S). */
extern char entry_cuCtxGetCurrent[], entry_cuGetProcAddress[], entry_cuGetProcAddress_v2[],
	entry_cuInit[], entry_cuLaunchKernel[], entry_cuLaunchKernel_ptsz[],
	entry_cuMemAlloc[], entry_cuMemAlloc_v2[], entry_cuMemFree_v2[],
	entry_cuMemcpyHtoD_v2[], entry_cuMemcpyHtoD_v2_ptds[], entry_cuMockMany[];

static const struct {
	const char *name;
	int since;
	int per_thread;
	void *function;
} functions[] = {
	{ "cuInit", 2000, 0, entry_cuInit },
	{ "cuMemAlloc", 3020, 0, entry_cuMemAlloc_v2 },
	{ "cuMemAlloc", 2000, 0, entry_cuMemAlloc },
	{ "cuMemFree", 3020, 0, entry_cuMemFree_v2 },
	{ "cuCtxGetCurrent", 4000, 0, entry_cuCtxGetCurrent },
	{ "cuLaunchKernel", 7000, 1, entry_cuLaunchKernel_ptsz },
	{ "cuLaunchKernel", 4000, 0, entry_cuLaunchKernel },
	{ "cuMemcpyHtoD", 7000, 1, entry_cuMemcpyHtoD_v2_ptds },
	{ "cuMemcpyHtoD", 3020, 0, entry_cuMemcpyHtoD_v2 },
	{ "cuMockMany", 2000, 0, entry_cuMockMany },
	{ "cuGetProcAddress", 12000, 0, entry_cuGetProcAddress_v2 },
};

EXPORT int cuGetProcAddress(const char *name, void **p, int version,
			    unsigned long long flags)
{
	return cuGetProcAddress_v2(name, p, version, flags, NULL);
}

EXPORT int cuGetProcAddress_v2(const char *name, void **p, int version,
			       unsigned long long flags, int *status)
{
	COUNT();
	if (!name || !p)
		return INVALID_VALUE;
	*p = NULL;
	if (!strcmp(name, "cuGetProcAddress") && version < 12000)
		*p = entry_cuGetProcAddress;
	for (size_t i = 0; !*p && i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name) && version >= functions[i].since &&
		    (!functions[i].per_thread || flags & 2))
			*p = functions[i].function;
	if (status)
		*status = *p ? 0 : 1;
	return *p ? 0 : NOT_FOUND;
}
