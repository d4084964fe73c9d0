// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * embedded.c - a program of C that has Python in it, and in that two interpreters.
 *
 * Usage: embedded LIBPYTHON LIBCUDA
 *
 * Each interpreter calls cuCtxSynchronize from line 7 of a function of its own name, in turns, and the program calls it
 * itself before, between and after them, from compiled code alone.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int (*cuda_sync)(void);

static void *found(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol) {
		fprintf(stderr, "embedded: no %s\n", name);
		exit(2);
	}
	return symbol;
}

static __attribute__((noinline, noclone)) void outside(void)
{
	cuda_sync();
	__asm__ volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	void *python = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL, *cuda = argc == 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
	void (*begin)(int), *(*interpreter)(void), *(*swap)(void *), *states[2], *context;
	int (*run)(const char *, void *);
	char text[1024];

	if (!python || !cuda) {
		fprintf(stderr, "embedded: %s\n", dlerror());
		return 2;
	}
	*(void **)&begin = found(python, "Py_InitializeEx");
	*(void **)&interpreter = found(python, "Py_NewInterpreter");
	*(void **)&swap = found(python, "PyThreadState_Swap");
	*(void **)&run = found(python, "PyRun_SimpleStringFlags");
	*(void **)&cuda_sync = found(cuda, "cuCtxSynchronize");
	((int (*)(unsigned int))found(cuda, "cuInit"))(0);
	((int (*)(void **, int))found(cuda, "cuDevicePrimaryCtxRetain"))(&context, 0);
	((int (*)(void *))found(cuda, "cuCtxSetCurrent"))(context);
	outside();
	begin(0);
	states[0] = swap(NULL);
	swap(states[0]);
	states[1] = interpreter();
	for (int i = 0; i < 2; i++) {
		swap(states[i]);
		snprintf(text, sizeof(text), "import ctypes\ncuda = ctypes.CDLL('%s')\n\n\n\ndef interpreter_%d():\n    cuda.cuCtxSynchronize()\n",
			 argv[2], i);
		if (run(text, NULL))
			return 1;
	}
	for (int i = 0; i < 20; i++) {
		swap(states[i % 2]);
		snprintf(text, sizeof(text), "interpreter_%d()", i % 2);
		if (run(text, NULL))
			return 1;
		outside();
	}
	fflush(stdout);
	_Exit(0);
}
