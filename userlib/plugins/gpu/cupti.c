// SPDX-License-Identifier: LGPL-2.1-or-later
/* See cupti.h. */
#include "plugins/gpu/cupti.h"
#include "plugins/gpu/loader.h"

const struct ct_host *host;
struct cupti cupti;
u32 progress;

const char *cupti_load(void *handle)
{
	const char *missing = NULL;

#define FIND(result, name, parameters)	\
	cupti.name = (__typeof__(cupti.name))loader_find(handle, "cupti" #name);
	CUPTI_FUNCTIONS(FIND)
	CUPTI_FUNCTIONS_LATER(FIND)
#undef FIND
#define CHECK(result, name, parameters)	\
	if (!cupti.name && !missing)	\
		missing = "cupti" #name;
	CUPTI_FUNCTIONS(CHECK)
#undef CHECK
	return missing;
}

const char *cupti_why(int error)
{
	const char *text = NULL;

	if (error == CUPTI_MULTIPLE_SUBSCRIBERS)
		return "another tool uses CUPTI (nsys, ncu or a profiler)";
	if (!cupti.GetResultString || cupti.GetResultString(error, &text) != CUPTI_OK || !text)
		return "an error of CUPTI";
	return text;
}
