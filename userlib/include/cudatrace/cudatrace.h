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

/* The same, to be called whether or not the library is there. */
static inline void cudatrace_note(const char *text)
{
	if (cudatrace_mark)
		cudatrace_mark(text);
}

static inline void cudatrace_begin(const char *text)
{
	if (cudatrace_range_push)
		cudatrace_range_push(text);
}

static inline void cudatrace_end(void)
{
	if (cudatrace_range_pop)
		cudatrace_range_pop();
}

#undef CUDATRACE_WEAK

#ifdef __cplusplus
}
#endif

#endif
