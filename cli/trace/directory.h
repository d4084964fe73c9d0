/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the files in a trace directory. */
#ifndef CT_CLI_DIRECTORY_H
#define CT_CLI_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CT_REGISTRY_FILE	".registry"
#define CT_METADATA_FILE	"metadata"
#define CT_STATE_FILE		"state"
#define CT_LIBRARY_LINK		".library"	/* to the folder of the preload library */
#define CT_RECORDER_FILE	".recorder"	/* struct ct_recorder_page */
#define CT_LOCK_FILE		".lock"

#define CT_INFLIGHT_PREFIX	".open-"	/* and PID-N: struct ct_inflight_page */
#define CT_LOST_PREFIX		".lost-"	/* and UID: struct ct_lost_page */

/* Is it the directory of a trace?  It has a registry, or its copy. */
bool ct_is_trace(const char *dir);

/* The kind of stream (enum ct_stream_class) that a file of this name holds, or -1. */
int ct_stream_kind(const char *name);

/* Is it the stream of a process's states of the GPU, which is short, and not one of what the GPU did? */
bool ct_stream_is_gpu_states(const char *name);

/* Is it a page of in-flight calls, or one of lost records? */
bool ct_is_inflight_page(const char *name);
bool ct_is_lost_page(const char *name);

/* Is it a file that a finished trace has: its registry, its metadata, a stream, a page of lost records? */
static inline bool ct_is_trace_file(const char *name)
{
	return !strcmp(name, CT_REGISTRY_FILE) || !strcmp(name, CT_METADATA_FILE) || ct_stream_kind(name) >= 0 ||
	       ct_is_lost_page(name);
}

/*
 * The stream of the thread that @page is of: u-PID-N of .open-PID-N, and back.
 * Return: 0, or -EINVAL where @page or @stream is no name of that kind.
 */
int ct_stream_of_page(char *stream, size_t size, const char *page);
int ct_page_of_stream(char *page, size_t size, const char *stream);

#endif
