// SPDX-License-Identifier: LGPL-2.1-or-later
/* See on.h. */
#include "capture/on.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

static int on_error(struct ct_on *on, const char *value)
{
	on->error = true;
	return value ? -EINVAL : 0;
}

static int on_slow(struct ct_on *on, const char *value)
{
	on->slow = value ? ct_option_time(value) : 0;
	return on->slow ? 0 : -EINVAL;
}

/* "3x" or "3": so many times the median. */
static int on_slow_iteration(struct ct_on *on, const char *value)
{
	char *end;

	if (!value)
		return -EINVAL;
	on->slow_iteration = strtod(value, &end);
	return end != value && (!*end || !strcmp(end, "x")) && on->slow_iteration > 1 ? 0 : -EINVAL;
}

static int on_stuck(struct ct_on *on, const char *value)
{
	on->stuck = value ? ct_option_time(value) : CT_ON_STUCK;
	return on->stuck ? 0 : -EINVAL;
}

static const struct {
	const char *name;
	int (*set)(struct ct_on *on, const char *value);
	const char *why;
} on_words[] = {
	{ "error", on_error, "--on error: it has no value" },
	{ "slow", on_slow, "--on slow=TIME: give a time, as slow=50ms" },
	{ "slow-iteration", on_slow_iteration, "--on slow-iteration=3x: give how many times the median, more than 1" },
	{ "stuck", on_stuck, "--on stuck=TIME: give a time, as stuck=60s" },
};

int ct_on_word(struct ct_on *on, const char *word, const char **why)
{
	size_t n = strcspn(word, "=");

	for (unsigned int i = 0; i < sizeof(on_words) / sizeof(on_words[0]); i++) {
		if (strlen(on_words[i].name) != n || strncmp(word, on_words[i].name, n))
			continue;
		*why = on_words[i].why;
		return on_words[i].set(on, word[n] ? word + n + 1 : NULL);
	}
	return -ENOENT;
}
