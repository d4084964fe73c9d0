// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that looks like CPython 3.11 and is none: what its structures say is wrong in a way that
 * its argument chooses.  It calls libcuda as any other program does.
 *
 * Usage: false_python LIBCUDA HOW
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint64_t Py_Version = 0x030b07f0;
char PyCode_Type[512], PyUnicode_Type[512], PyBytes_Type[512], _PyRuntime[4096];
static uint64_t thread[64], cframe[8], frame[32], code[64];

void *PyGILState_GetThisThreadState(void);
void *_PyThreadState_UncheckedGet(void);
int Py_IsInitialized(void);
int PyCode_Addr2Line(void *of, int at);

void *PyGILState_GetThisThreadState(void)
{
	return thread;
}

void *_PyThreadState_UncheckedGet(void)
{
	return thread;
}

int Py_IsInitialized(void)
{
	return 1;
}

int PyCode_Addr2Line(void *of, int at)
{
	(void)of;
	return at;
}

int main(int argc, char **argv)
{
	void *cuda = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*init)(unsigned int) = cuda ? (int (*)(unsigned int))dlsym(cuda, "cuInit") : NULL;
	int (*wait)(void) = cuda ? (int (*)(void))dlsym(cuda, "cuCtxSynchronize") : NULL;
	const char *how = argc > 2 ? argv[2] : "";

	if (!init || !wait)
		return 2;
	thread[7] = (uintptr_t)cframe;
	cframe[1] = (uintptr_t)frame;
	frame[4] = (uintptr_t)code;
	frame[7] = (uintptr_t)code + 184;
	code[1] = (uintptr_t)PyCode_Type;
	if (!strcmp(how, "nowhere"))
		thread[7] = 16;
	else if (!strcmp(how, "unmapped"))
		cframe[1] = 0x123456789000ull;
	else if (!strcmp(how, "circle"))
		frame[6] = (uintptr_t)frame;
	else if (!strcmp(how, "type"))
		code[1] = (uintptr_t)PyBytes_Type;
	else if (!strcmp(how, "names"))
		code[14] = code[17] = (uintptr_t)PyCode_Type, code[15] = (uintptr_t)PyBytes_Type;
	init(0);
	for (unsigned int i = 0; i < 300; i++)
		wait();
	return 0;
}
