/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace directory from any bytes.  The bytes are a program: operations that append records
 * to streams, begin packets, repeat what was there, and damage the files at the end.  So most
 * inputs are traces that the reader accepts, and the analysis behind it is reached.
 */
#ifndef CT_TESTS_FUZZ_MAKE_TRACE_H
#define CT_TESTS_FUZZ_MAKE_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* What an input asks for beside its trace: bits of its first byte. */
#define FUZZ_UNFINISHED	1u	/* no metadata */
#define FUZZ_FILTER	2u	/* reports of a part of the trace */
#define FUZZ_EXPORT	4u	/* all formats of export, the timeline, top */
#define FUZZ_NARROW	8u	/* tables of 40 columns */

/* Reads tests/fuzz/classes.  Exits with a line when that fails. */
void fuzz_classes_read(const char *path);

/* Makes the files of @dir, which exists; what was there is removed.  Returns FUZZ_*. */
unsigned int fuzz_make_trace(const char *dir, const uint8_t *data, size_t size);

/* Removes the files of @dir. */
void fuzz_clear(const char *dir);

#endif
