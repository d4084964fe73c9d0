// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_sim.c - what programs and tracers rely on in the simulated libcuda.
 *
 * Linked with it like a program with -lcuda. Expected results that carry a
 * number in a comment were seen on an H200 with driver 580.159.04. It must
 * not test figures of time, only their order.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_sim.h"
#include "tap.h"

#define LIMIT (64u << 20)

static const char image[] =
	"cudatrace-sim-image 1\n"
	"# a comment\n"
	"\n"
	"kernel vector_add pppi\n"
	"kernel relu pi\n"
	"kernel slow - 30000000\n"
	"kernel vector_add_of_another_kind ppi\n"
	"global counters 64\n";

static CUcontext context;
static CUmodule module;

static CUfunction function(const char *name)
{
	CUfunction found = NULL;

	OK(cuModuleGetFunction(&found, module, name));
	return found;
}

static CUresult launch(CUfunction f, CUstream stream, void **params)
{
	return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

static void test_before_init(void)
{
	CUcontext ctx;
	CUdeviceptr ptr;
	int n;

	EXPECT_RESULT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&n));
	EXPECT_RESULT(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&ctx));
	EXPECT_RESULT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc_v2(&ptr, 16));
	OK(cuDriverGetVersion(&n));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
	OK(cuInit(0));
	OK(cuInit(0));
}

static void test_device(void)
{
	char name[64];
	size_t total;
	int n;

	EXPECT(!strcmp(dlsym(RTLD_DEFAULT, "cudatrace_simulated_gpu"),
		       "simulated GPU"));
	EXPECT(!dlsym(RTLD_DEFAULT, "sim_lock"));
	OK(cuDeviceGetCount(&n));
	EXPECT(n == 1);
	OK(cuDeviceGetName(name, sizeof(name), 0));
	EXPECT(!strcmp(name, "cudatrace simulated GPU"));
	OK(cuDeviceTotalMem_v2(&total, 0));
	EXPECT(total == LIMIT);
	OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	EXPECT(n == 32);
	EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&n, 7));
}

static void test_contexts(void)
{
	CUcontext first, second, now;
	unsigned int flags;
	CUdeviceptr ptr;
	int active;

	EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&ptr, 16));
	EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
	EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT,
		      cuDevicePrimaryCtxRelease_v2(0));
	OK(cuCtxCreate_v2(&first, 0, 0));
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuMemAlloc_v2(&ptr, 16));
	OK(cuCtxPopCurrent_v2(&now));
	EXPECT(now == second);
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == first);
	OK(cuCtxDestroy_v2(second));
	EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(second));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(ptr));
	OK(cuCtxDestroy_v2(first));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT(active);
	OK(cuCtxSetCurrent(context));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED,
		      cuMemAlloc_v2(&ptr, 16));	/* 709 */
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
}

static void test_memory(void)
{
	unsigned char out[256], in[256];
	CUdeviceptr ptr, base;
	size_t i, before, available, total, size;

	OK(cuMemGetInfo_v2(&before, &total));
	for (i = 0; i < sizeof(in); i++)
		in[i] = i;
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc_v2(&ptr, 0));
	OK(cuMemAlloc_v2(&ptr, 256));
	OK(cuMemGetInfo_v2(&available, &total));
	EXPECT(total == LIMIT && available == before - 512);
	OK(cuMemcpyHtoD_v2(ptr, in, 256));
	OK(cuMemsetD8_v2(ptr + 16, 7, 16));
	OK(cuMemcpyDtoH_v2(out, ptr, 256));
	memset(in + 16, 7, 16);
	EXPECT(!memcmp(in, out, 256));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(ptr, in, 257));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(0x1234, in, 1));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(ptr + 1, 1, 1));
	OK(cuMemcpyHtoD_v2(ptr, in, 0));
	OK(cuMemGetAddressRange_v2(&base, &size, ptr + 10));
	EXPECT(base == ptr && size == 256);
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(ptr + 16));
	OK(cuMemFree_v2(ptr));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(ptr));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(ptr, in, 1));
	OK(cuMemFree_v2(0));
}

static void test_out_of_memory(void)
{
	CUdeviceptr half, rest;
	size_t before, available, total;

	OK(cuMemGetInfo_v2(&before, &total));
	OK(cuMemAlloc_v2(&half, LIMIT / 2));
	EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY,
		      cuMemAlloc_v2(&rest, before - LIMIT / 2 + 1));
	EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY,
		      cuMemAlloc_v2(&rest, (size_t)1 << 50));
	OK(cuMemAlloc_v2(&rest, before - LIMIT / 2));
	OK(cuMemFree_v2(rest));
	OK(cuMemFree_v2(half));
	OK(cuMemGetInfo_v2(&available, &total));
	EXPECT(available == before);
}

static void test_other_memory(void)
{
	CUDA_MEMCPY2D copy = { 0 };
	char rows[3][10], page[4096];
	CUdeviceptr ptr, alias;
	size_t pitch;
	char *host;
	int i;

	OK(cuMemAllocPitch_v2(&ptr, &pitch, 10, 3, 4));
	EXPECT(pitch >= 10 && pitch % 512 == 0);
	memset(rows, 'r', sizeof(rows));
	copy.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy.srcHost = rows;
	copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.dstDevice = ptr;
	copy.dstPitch = pitch;
	copy.WidthInBytes = 10;
	copy.Height = 3;
	OK(cuMemcpy2D_v2(&copy));
	OK(cuMemsetD2D8_v2(ptr, pitch, 's', 5, 2));
	for (i = 0; i < 3; i++)
		OK(cuMemcpyDtoH_v2(rows[i], ptr + i * pitch, 10));
	EXPECT(!memcmp(rows, "sssssrrrrr" "sssssrrrrr" "rrrrrrrrrr", 30));
	OK(cuMemFree_v2(ptr));

	OK(cuMemAllocHost_v2((void **)&host, 100));
	memset(host, 1, 100);
	OK(cuMemHostGetDevicePointer_v2(&alias, host, 0));
	OK(cuMemsetD8_v2(alias, 2, 100));
	OK(cuCtxSynchronize());
	EXPECT(host[99] == 2);
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
		      cuMemFree_v2((CUdeviceptr)(uintptr_t)host));
	OK(cuMemFreeHost(host));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));

	OK(cuMemHostRegister_v2(page, sizeof(page), 0));
	EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
		      cuMemHostRegister_v2(page, sizeof(page), 0));
	OK(cuMemHostUnregister(page));
	EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
		      cuMemHostUnregister(page));

	OK(cuMemAllocAsync(&ptr, 1000, NULL));
	OK(cuMemFreeAsync(ptr, NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(ptr, NULL));
	OK(cuCtxSynchronize());
}

/* c = a + b on the device, by @how: 0 kernelParams, 1 one buffer. */
static void add(int how)
{
	float a[100], b[100], c[100];
	CUdeviceptr p[3];
	int n = 100, i;
	struct {
		CUdeviceptr p[3];
		int n;
	} buffer;
	size_t size = sizeof(buffer);
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
			  CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			  CU_LAUNCH_PARAM_END };
	void *params[] = { &p[0], &p[1], &p[2], &n };

	for (i = 0; i < n; i++) {
		a[i] = i;
		b[i] = 1000 * i;
	}
	for (i = 0; i < 3; i++)
		OK(cuMemAlloc_v2(&p[i], sizeof(a)));
	OK(cuMemcpyHtoD_v2(p[0], a, sizeof(a)));
	OK(cuMemcpyHtoD_v2(p[1], b, sizeof(b)));
	memcpy(buffer.p, p, sizeof(p));
	buffer.n = n;
	OK(cuLaunchKernel(function("vector_add"), 4, 1, 1, 32, 1, 1, 0, NULL,
			  how ? NULL : params, how ? extra : NULL));
	OK(cuMemcpyDtoH_v2(c, p[2], sizeof(c)));
	for (i = 0; i < n; i++)
		EXPECT(c[i] == a[i] + b[i]);
	for (i = 0; i < 3; i++)
		OK(cuMemFree_v2(p[i]));
}

static void test_launches(void)
{
	CUfunction f = function("vector_add"), slow = function("slow");
	CUlaunchConfig config = { 1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0 };

	add(0);
	add(1);
	OK(cuLaunchKernelEx(&config, slow, NULL, NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch(f, NULL, NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
		      cuLaunchKernel(slow, 0, 1, 1, 1, 1, 1, 0, NULL, NULL,
				     NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
		      cuLaunchKernel(slow, 1, 1, 1, 1024, 2, 1, 0, NULL, NULL,
				     NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
		      launch((CUfunction)module, NULL, NULL));
	OK(cuCtxSynchronize());
}

static void test_modules(void)
{
	CUmodule other;
	CUlibrary library;
	CUkernel kernel;
	CUfunction f;
	CUdeviceptr ptr;
	size_t size;
	const char *name;

	EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE,
		      cuModuleLoadData(&other, "hello"));	/* 200 */
	EXPECT_RESULT(CUDA_ERROR_INVALID_IMAGE,
		      cuModuleLoadData(&other, "cudatrace-sim-image 1\nx"));
	EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND,
		      cuModuleLoad(&other, "/nonexistent"));
	OK(cuModuleLoadData(&other, image));
	EXPECT_RESULT(CUDA_ERROR_NOT_FOUND,
		      cuModuleGetFunction(&f, other, "none"));
	OK(cuModuleGetFunction(&f, other, "slow"));
	OK(cuFuncGetName(&name, f));
	EXPECT(!strcmp(name, "slow"));
	OK(cuModuleGetGlobal_v2(&ptr, &size, other, "counters"));
	EXPECT(size == 64);
	OK(cuMemsetD32_v2(ptr, 1, 16));
	OK(cuModuleUnload(other));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, launch(f, NULL, NULL));
	EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(other));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(ptr, 1, 16));

	OK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "slow"));
	OK(cuKernelGetFunction(&f, kernel));
	OK(launch((CUfunction)kernel, NULL, NULL));
	OK(cuLibraryUnload(library));
}

/* What cuGetProcAddress_v2 gives for a name: the symbol's own address. */
static void expect_symbol(const char *name, int version, cuuint64_t flags,
			  const char *symbol, int status)
{
	CUdriverProcAddressQueryResult got = 99;
	void *pfn = &got;

	OK(cuGetProcAddress_v2(name, &pfn, version, flags, &got));
	EXPECT((int)got == status);
	EXPECT(pfn == (symbol ? dlsym(RTLD_DEFAULT, symbol) : NULL));
	if (symbol && pfn != dlsym(RTLD_DEFAULT, symbol))
		printf("# %s, %d, %d is not %s\n", name, version, (int)flags,
		       symbol);
}

static void test_proc_address(void)
{
	void *pfn;

	/* name, version, flags: all as the real driver answered */
	expect_symbol("cuInit", 13000, 0, "cuInit", 0);
	expect_symbol("cuMemAlloc", 2000, 0, "cuMemAlloc", 0);
	expect_symbol("cuMemAlloc", 3020, 0, "cuMemAlloc_v2", 0);
	expect_symbol("cuMemAlloc_v2", 13000, 0, NULL, 1);
	expect_symbol("cuMemcpyHtoD", 13000, 1, "cuMemcpyHtoD_v2", 0);
	expect_symbol("cuMemcpyHtoD", 13000, 2, "cuMemcpyHtoD_v2_ptds", 0);
	expect_symbol("cuMemcpyHtoD", 5000, 2, NULL, 2);
	expect_symbol("cuMemAlloc", 13000, 3, "cuMemAlloc_v2", 0);
	expect_symbol("cuStreamSynchronize", 13000, 3,
		      "cuStreamSynchronize_ptsz", 0);
	expect_symbol("cuLibraryLoadData", 11000, 0, NULL, 2);
	expect_symbol("cuNoSuch", 13000, 0, NULL, 1);
	expect_symbol("cuGetProcAddress", 11030, 0, "cuGetProcAddress", 0);
	expect_symbol("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", 0);
	expect_symbol("cuGraphInstantiate", 13000, 0, "cuGraphInstantiate_v2",
		      0);
	expect_symbol("cuCtxCreate", 12000, 0, "cuCtxCreate_v3", 0);
	expect_symbol("cuCtxCreate", 13000, 0, "cuCtxCreate_v4", 0);
	OK(cuGetProcAddress_v2("cuNoSuch", &pfn, 13000, 0, NULL));
	EXPECT(!pfn);
	EXPECT_RESULT(CUDA_ERROR_NOT_FOUND,
		      cuGetProcAddress("cuNoSuch", &pfn, 13000, 0));
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
		      cuGetProcAddress("cuInit", &pfn, 13000, 4));
}

static void test_errors(void)
{
	const char *text = NULL;
	int n = 8;

	OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
	EXPECT(!strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
	EXPECT(text && *text);
	EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(12345, &text));
	OK(launch(function("relu"), NULL,
		  (void *[]){ &(CUdeviceptr){ 0x1000 }, &n }));
	EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
	EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS,
		      cuMemAlloc_v2(&(CUdeviceptr){ 0 }, 16));
	OK(cuDevicePrimaryCtxReset_v2(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuCtxSynchronize());
	OK(cuModuleLoadData(&module, image));
}

/* What the environment, set in main(), asks for. */
static void test_injection(void)
{
	struct timespec before, after;
	unsigned long long id;
	CUdeviceptr ptr;
	int status;
	pid_t child;

	OK(cuMemAllocManaged(&ptr, 16, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemFree_v2(ptr));
	EXPECT_RESULT(2, cuMemAllocManaged(&ptr, 16, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemAllocManaged(&ptr, 16, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemFree_v2(ptr));
	EXPECT_RESULT(719, cuMemsetD2D32_v2(0, 0, 0, 0, 0));
	EXPECT_RESULT(719, cuMemsetD2D32_v2_ptds(0, 0, 0, 0, 0));
	clock_gettime(CLOCK_MONOTONIC, &before);
	OK(cuCtxGetId(NULL, &id));
	clock_gettime(CLOCK_MONOTONIC, &after);
	EXPECT((after.tv_sec - before.tv_sec) * 1000 +
	       (after.tv_nsec - before.tv_nsec) / 1000000 >= 19);
	child = fork();
	if (!child) {
		alarm(1);
		cuDeviceGetPCIBusId(NULL, 0, 0);	/* never returns */
		_exit(0);
	}
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status));
}

static void test_fork(void)
{
	int status, n;
	pid_t child = fork();

	if (!child)
		_exit(cuDeviceGetCount(&n));
	waitpid(child, &status, 0);
	EXPECT(WIFEXITED(status) &&
	       WEXITSTATUS(status) == CUDA_ERROR_NOT_INITIALIZED);
}

static void test_old_interface(void)
{
	CUcontext old, now;
	CUdeviceptr_v1 ptr;
	unsigned int version;
	int in = 42, out = 0;

	EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT,
		      cuMemAlloc(&ptr, 16));			/* 201 */
	OK(cuCtxCreate(&old, 0, 0));
	OK(cuCtxGetApiVersion(old, &version));
	EXPECT(version == 3010);
	OK(cuMemAlloc(&ptr, sizeof(in)));
	OK(cuMemcpyHtoD(ptr, &in, sizeof(in)));
	OK(cuMemcpyDtoH(&out, ptr, sizeof(out)));
	EXPECT(out == 42);
	OK(cuMemFree(ptr));
	OK(cuCtxPopCurrent_v2(&now));
	OK(cuCtxDestroy_v2(old));
}

int main(void)
{
	setenv("CUDASIM_MEMORY", "64M", 1);
	setenv("CUDASIM_FAIL", "cuMemAllocManaged:2:2,cuMemsetD2D32:0:719", 1);
	setenv("CUDASIM_HANG", "cuCtxGetId:1:20,cuDeviceGetPCIBusId:1", 1);

	tap_run(test_before_init, "nothing works before cuInit");
	tap_run(test_device, "one device, marked as simulated");
	tap_run(test_contexts, "contexts: stack, primary, what a dead one gives");
	OK(cuModuleLoadData(&module, image));
	tap_run(test_memory, "copies copy, wrong ranges and double frees fail");
	tap_run(test_out_of_memory, "memory ends at the limit and comes back");
	tap_run(test_other_memory, "pitched, pinned, registered, stream-ordered");
	tap_run(test_launches, "known kernels compute, bad launches fail");
	tap_run(test_modules, "modules and libraries, stale handles fail");
	tap_run(test_proc_address, "cuGetProcAddress: versions, flags, status");
	tap_run(test_errors, "error names; a bad kernel ruins its context");
	tap_run(test_injection, "injected failures and hangs");
	tap_run(test_fork, "a forked child is told that CUDA is gone");
	tap_run(test_old_interface, "the 32-bit calls in a context of their own");
	return tap_end();
}
