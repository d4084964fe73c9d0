/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library gives a plugin that writes records of its own into the trace directory:
 * the trace's clock, ids of texts, and where the directory is.
 */
#ifndef CT_HOST_H
#define CT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both sides are built from one tree; a plugin refuses another size or schema. */
struct ct_host {
	uint32_t size;		/* of this struct */
	uint32_t schema;	/* CT_SCHEMA_VERSION */
	const char *dir;	/* absolute */
	uint8_t uuid[16];	/* of its trace */
	/* ns, CLOCK_MONOTONIC as in all records.  Any thread may ask, at any time. */
	uint64_t (*clock)(void);
	/* The id of a text of len bytes; 0: there is none, or it was tried in vain a moment ago. */
	uint32_t (*string)(const char *text, size_t len);
	/* So many records are lost, and no packet says so. */
	void (*lose)(uint64_t records);
	/* A line about the recording. */
	void (*info)(const char *key, const char *text);
	/* False: the process was left (record --pid): nothing belongs into the directory any more. */
	bool (*recorded)(void);
	/* May so many bytes be written to the directory?  Asked before each write. */
	bool (*room)(uint64_t bytes);
	/* Is a stream of so many bytes to be followed by another one? */
	bool (*is_long)(uint64_t bytes);
	/*
	 * The capture range (record --capture-range): 0: the process is inside, 1: before, 2: after it, where nothing
	 * is to be collected.  A futex, that is woken when it changes.  Who collects by it tells that it
	 * has followed, first of all when it begins: the program waits for that.
	 */
	const uint32_t *outside;
	void (*followed)(uint32_t outside);
};

/* NULL if nothing is recorded in this process, or in no directory that it can reach. */
const struct ct_host *cudatrace_host(void);

#endif
