/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of the mock libcuda, as its callers see them.  Names and argument
 * lists follow the driver API, so that the thunks meet the real shapes; the
 * cuMock* functions exist nowhere else, as those of a newer driver would.
 *
 * Those with arguments on the stack, for tests/sim/link_libcuda:
CT_PARAM(cuMockMany, 6, 1)
 */
#ifndef MOCK_H
#define MOCK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long dptr;
typedef struct { char bytes[64]; } ipc_handle;

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetProcAddress_v2(const char *name, void **p, int version,
			unsigned long long flags, int *status);
int cuCtxGetCurrent(void **ctx);
int cuCtxSetCurrent(void *ctx);
int cuMemAlloc_v2(dptr *p, size_t size);
int cuMemFree_v2(dptr p);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemcpyHtoD_v2(dptr dst, const void *src, size_t n);
int cuMemcpyDtoH_v2(void *dst, dptr src, size_t n);
int cuMemcpyHtoDAsync_v2(dptr dst, const void *src, size_t n, void *stream);
int cuMemcpy2D_v2(const void *block);
int cuMemsetD32_v2(dptr p, unsigned value, size_t n);
int cuModuleLoadData(void **m, const void *image);
int cuModuleUnload(void *m);
int cuModuleGetFunction(void **f, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		   unsigned by, unsigned bz, unsigned shared, void *stream,
		   void **params, void **extra);
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra);
int cuStreamCreate(void **s, unsigned flags);
int cuStreamSynchronize(void *s);
int cuStreamBeginCapture_v2(void *s, int mode);
int cuStreamEndCapture(void *s, void **graph);
int cuFuncGetName(const char **name, void *f);
int cuIpcOpenMemHandle_v2(dptr *p, ipc_handle h, unsigned flags);
int cuTensorMapEncodeIm2colWide(void *map, int a, unsigned b, void *c, const void *d,
			    const void *e, const int *f, const int *g, unsigned h,
			    unsigned i, const void *j, int k, int l, int m, int n,
			    int o);
int cuParamSetf(void *f, int offset, float value);

/* Unknown to every header. */
double cuMockMany(int a, double b, long c, float d, long e, long f, long g, double h,
		  long i, long j, long k, double l, double m, double n, double o,
		  double p, double q, long r, long s, long t);
int cuMockCall(void (*f)(void *), void *arg);
int cuMockNext(int (*f)(void *));
int cuMockCrash(const char *function);
int cuMockHang(void);
int cuMockIoctl(int fd, unsigned long cmd, void *arg);	/* 999: it failed */
int cuMockErrno(void);
int cuMockCount(void);		/* calls that the mock has seen in this process */

#ifdef __cplusplus
}
#endif

#endif
