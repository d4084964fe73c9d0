/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Markers of a program's own in its cudatrace recording.
 *
 * Nothing needs to be linked: the functions are found if libcudatrace.so is
 * preloaded, and do nothing otherwise.  They may be called from any thread.
 *
 *	#include <cudatrace/cudatrace.h>
 *
 *	cudatrace_note("step 12");
 *	cudatrace_begin("forward");
 *	...
 *	cudatrace_end();
 */
#ifndef CUDATRACE_CUDATRACE_H
#define CUDATRACE_CUDATRACE_H

#ifndef __PIC__
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CUDATRACE_WEAK	__attribute__((weak))

/*
 * A marker with a text (UTF-8, NUL-terminated; what is longer than some 1,900
 * bytes is cut).
 */
void cudatrace_mark(const char *text) CUDATRACE_WEAK;

/* Ranges nest, per thread: each pop ends the last push that is open. */
void cudatrace_range_push(const char *text) CUDATRACE_WEAK;
void cudatrace_range_pop(void) CUDATRACE_WEAK;

/*
 * The same, to be called whether or not the library is there.
 *
 * Where code is not position-independent (-fno-pic), the linker takes a weak function that
 * it does not find for absent for good: there it is looked up when the program runs, by
 * dlsym() (in libc since glibc 2.34, before that -ldl).
 */
#ifdef __PIC__
#define CUDATRACE_CALL(function, argument)	\
	do {					\
		if (function)			\
			function argument;	\
	} while (0)
#else
#define CUDATRACE_CALL(function, argument)					\
	do {									\
		static __typeof__(&function) found;				\
		static char looked;						\
										\
		if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {		\
			found = (__typeof__(found))dlsym(0, #function);		\
			__atomic_store_n(&looked, 1, __ATOMIC_RELEASE);		\
		}								\
		if (found)							\
			found argument;						\
	} while (0)
#endif

static inline void cudatrace_note(const char *text)
{
	CUDATRACE_CALL(cudatrace_mark, (text));
}

static inline void cudatrace_begin(const char *text)
{
	CUDATRACE_CALL(cudatrace_range_push, (text));
}

static inline void cudatrace_end(void)
{
	CUDATRACE_CALL(cudatrace_range_pop, ());
}

#undef CUDATRACE_CALL
#undef CUDATRACE_WEAK

#ifdef __cplusplus
}
#endif

#endif
