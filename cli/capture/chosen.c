// SPDX-License-Identifier: LGPL-2.1-or-later
/* See chosen.h; the library's side is userlib/call/chosen.h. */
#include "capture/chosen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/chosen_functions.h"
#include "module/uapi/cudatrace_events.h"
#include "trace/registry.h"

/* A bit for each category of calls that is named; 0: one is not. */
static uint64_t chosen_types(const char *list)
{
	static const struct { const char *word; unsigned int category; } calls[] = {
#define CT_ROW(id, word)	{ word, CT_CAT_##id },
		CT_CATEGORIES(CT_ROW)
#undef CT_ROW
	};
	const uint64_t of_calls = ((1ull << CT_CAT_IOCTL) - 1) | 1ull << CT_CAT_RUNTIME | 1ull << CT_CAT_COLLECTIVE;
	char *copy = strdup(list), *save = NULL;
	uint64_t types = 0;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save)) {
		uint64_t bit = 0;

		for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (!strcmp(calls[i].word, word))
				bit = 1ull << calls[i].category & of_calls;
		if (!bit) {
			free(copy);
			return 0;
		}
		types |= bit;
	}
	free(copy);
	return types;
}

int ct_chosen_set(const struct ct_chosen *c, struct ct_error *err)
{
	char only[512] = "";
	size_t used = 0;
	uint64_t types;

	unsetenv("CUDATRACE_ONLY");
	if (c->no_queries)
		used += snprintf(only, sizeof(only), "-queries ");
	if (c->types) {
		types = chosen_types(c->types);
		if (!types)
			return ct_fail(err, EINVAL, "--types: give some of " CT_CHOSEN_TYPES ", with commas between them");
		used += snprintf(only + used, sizeof(only) - used, "types:%" PRIx64 " ", types);
	}
	if (c->functions) {
		size_t begin = used;

		used += snprintf(only + used, sizeof(only) - used, "%s", c->functions);
		for (size_t i = begin; i < used && i < sizeof(only); i++)
			if (only[i] == ',')
				only[i] = ' ';
	}
	if (used >= sizeof(only))
		return ct_fail(err, E2BIG, "--functions: at most 400 characters");
	if (used && setenv("CUDATRACE_ONLY", only, 1))
		return ct_fail(err, ENOMEM, "no memory");
	return c->functions ? ct_chosen_functions_check(c->functions, c->runtime, err) : 0;
}

void ct_chosen_info(const struct ct_chosen *c, struct ct_registry_writer *w)
{
	char text[700];
	int n = 0;

	if (!c->functions && !c->types && !c->no_queries)
		return;
	if (c->functions)
		n += snprintf(text, sizeof(text), "functions %s", c->functions);
	if (c->types)
		n += snprintf(text + n, sizeof(text) - n, "%stypes %s", n ? ", " : "", c->types);
	if (c->no_queries)
		snprintf(text + n, sizeof(text) - n, "%sno getters of a few ns", n ? ", " : "");
	ct_registry_add_info(w, CT_ONLY_INFO, text);
}
