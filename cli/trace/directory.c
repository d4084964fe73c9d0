// SPDX-License-Identifier: LGPL-2.1-or-later
/* See directory.h. */
#include "trace/directory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "module/uapi/cudatrace.h"

#define THREAD_PREFIX "u-"

bool ct_is_trace(const char *dir)
{
	char path[4096];

	return (!ct_path(path, sizeof(path), dir, CT_REGISTRY_FILE) && !access(path, F_OK)) ||
	       (!ct_path(path, sizeof(path), dir, CT_METADATA_FILE) && !access(path, F_OK));
}

int ct_stream_kind(const char *name)
{
	char exact[32];
	unsigned int a, b;

	if (!strcmp(name, CT_STATE_FILE))
		return CT_STREAM_STATE;
	/* As it is written: no sign, no space, no zero in front. */
	if (sscanf(name, "k-%u", &a) == 1) {
		snprintf(exact, sizeof(exact), "k-%u", a);
		return strcmp(name, exact) ? -1 : CT_STREAM_CPU;
	}
	if (sscanf(name, "u-%u-%u", &a, &b) == 2) {
		snprintf(exact, sizeof(exact), "u-%u-%u", a, b);
		return strcmp(name, exact) ? -1 : CT_STREAM_THREAD;
	}
	if (sscanf(name, "g-%u-%u", &a, &b) == 2) {
		snprintf(exact, sizeof(exact), "g-%u-%u", a, b);
		return strcmp(name, exact) ? -1 : CT_STREAM_GPU;
	}
	if (sscanf(name, "s-%u-%u", &a, &b) == 2) {
		snprintf(exact, sizeof(exact), "s-%u-%u", a, b);
		return strcmp(name, exact) ? -1 : CT_STREAM_STATE;
	}
	return -1;
}

bool ct_stream_is_gpu_states(const char *name)
{
	unsigned int pid, number;

	return sscanf(name, "g-%u-%u", &pid, &number) == 2 && !number;
}

bool ct_is_inflight_page(const char *name)
{
	return !strncmp(name, CT_INFLIGHT_PREFIX, strlen(CT_INFLIGHT_PREFIX));
}

bool ct_is_lost_page(const char *name)
{
	size_t n = strlen(CT_LOST_PREFIX);

	return !strncmp(name, CT_LOST_PREFIX, n) && name[n] &&
	       !name[n + strspn(name + n, "0123456789")];
}

int ct_stream_of_page(char *stream, size_t size, const char *page)
{
	if (!ct_is_inflight_page(page) ||
	    snprintf(stream, size, THREAD_PREFIX "%s", page + strlen(CT_INFLIGHT_PREFIX)) >=
		    (int)size ||
	    ct_stream_kind(stream) != CT_STREAM_THREAD)
		return -EINVAL;
	return 0;
}

int ct_page_of_stream(char *page, size_t size, const char *stream)
{
	if (ct_stream_kind(stream) != CT_STREAM_THREAD ||
	    snprintf(page, size, CT_INFLIGHT_PREFIX "%s", stream + strlen(THREAD_PREFIX)) >=
		    (int)size)
		return -EINVAL;
	return 0;
}
