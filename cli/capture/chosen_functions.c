// SPDX-License-Identifier: LGPL-2.1-or-later
/* See chosen_functions.h. */
#include "capture/chosen_functions.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "decode/function_names.h"

/* As the library's, userlib/call/chosen.c: nothing but * and ? is special. */
static bool chosen_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *from = NULL;	/* the last *, and the first letter that it does not stand for */

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			from = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

static bool chosen_is_runtime(const char *name)
{
	return !strncmp(name, "cuda", 4);
}

/* How many known functions fit, and how many of them are libcudart's. */
static unsigned int chosen_count(const char *pattern, unsigned int *runtime)
{
	unsigned int count = 0;

	*runtime = 0;
	for (unsigned int i = 0; i < ct_function_names_count; i++) {
		if (!chosen_fits(pattern, ct_function_names[i]))
			continue;
		count++;
		*runtime += chosen_is_runtime(ct_function_names[i]);
	}
	return count;
}

#define LETTERS	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?"

/* Could it be the name of a function that is not known yet?  Those begin with cu, cuda or nccl, and go on with a capital. */
static bool chosen_looks_new(const char *pattern)
{
	static const char *const starts[] = { "cuda", "nccl", "cu" };

	if (pattern[strspn(pattern, LETTERS)])
		return false;
	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t n = strlen(starts[i]);

		if (!strncmp(pattern, starts[i], n))
			return isupper((unsigned char)pattern[n]) || pattern[n] == '*' || pattern[n] == '?';
	}
	return false;
}

/* "_v2", "_ptsz" and "_ptds" at the end of a symbol, which no name has; NULL: it has none. */
static const char *chosen_suffix(const char *pattern)
{
	const char *last = strrchr(pattern, '_');

	if (!last || last == pattern)
		return NULL;
	if (!strncmp(last, "_ptsz", 5) || !strncmp(last, "_ptds", 5) || (last[1] == 'v' && isdigit((unsigned char)last[2])))
		return last;
	return NULL;
}

/* Of a pattern that no known function fits. */
static int chosen_unknown(const char *pattern, struct ct_error *err)
{
	const char *suffix = chosen_suffix(pattern);
	struct ct_near near = { .word = pattern };
	unsigned int letters = 0, runtime, most;
	char other[CT_NEAR_MAX + 3];

	if (suffix) {
		snprintf(other, sizeof(other), "%.*s", (int)(suffix - pattern), pattern);
		if (chosen_count(other, &runtime))
			return ct_fail(err, EINVAL, "--functions: names have no %.5s here; did you mean '%s'?", suffix, other);
	}
	snprintf(other, sizeof(other), "%s*", pattern);
	if (chosen_count(other, &runtime))
		return ct_fail(err, EINVAL, "--functions: no function has the whole name '%s'; did you mean '%s'?", pattern, other);
	if (pattern[strspn(pattern, LETTERS)])
		return ct_fail(err, EINVAL, "--functions: no function fits '%s': only * and ? stand for other letters", pattern);
	for (unsigned int i = 0; i < ct_function_names_count; i++)
		ct_near_try(&near, ct_function_names[i]);
	for (const char *p = pattern; *p; p++)
		letters += *p != '*' && *p != '?';
	/* A letter of four is a slip, and two of eight; where it can't be a new function, one of three. */
	if (chosen_looks_new(pattern))
		most = letters / 4 < 2 ? letters / 4 : 2;
	else
		most = letters < 6 ? 0 : letters / 3;
	if (*near.best && near.distance <= most)
		return ct_fail(err, EINVAL, "--functions: no function fits '%s'%s", pattern, ct_near_text(&near));
	if (!chosen_looks_new(pattern))
		return ct_fail(err, EINVAL, "--functions: no function fits '%s': their names begin with cu (libcuda), nccl, or cuda (libcudart)",
			       pattern);
	ct_fail(err, EINVAL, "--functions: '%s' fits no function that is known here, perhaps one of a newer driver", pattern);
	return 1;
}

/* As the library decides, userlib/call/chosen.c. */
static bool chosen_takes(const char *patterns, const char *name)
{
	bool named = false, any = false;

	for (const char *p = patterns; *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");
		bool but = *p == '!';
		char pattern[CT_NEAR_MAX + 1];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)(n - but), p + but);
		p += n;
		if (but && chosen_fits(pattern, name))
			return false;
		any |= !but;
		named |= !but && chosen_fits(pattern, name);
	}
	return named || !any;
}

int ct_chosen_functions_check(const char *patterns, bool runtime, struct ct_error *err)
{
	int said = 0;

	patterns += strspn(patterns, ", ");
	if (!*patterns)
		return ct_fail(err, EINVAL, "--functions: give patterns with commas between them, as 'cuLaunch*,cuMemcpy*'");
	for (const char *p = patterns; *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");
		char pattern[CT_NEAR_MAX + 1];
		unsigned int fits, of_runtime;
		bool but = *p == '!';

		if (n == but)
			return ct_fail(err, EINVAL, "--functions: after ! give a pattern, as '!cuEvent*'");
		if (n - but > CT_NEAR_MAX)
			return ct_fail(err, EINVAL, "--functions: no function has a name as long as '%.40s...'", p);
		snprintf(pattern, sizeof(pattern), "%.*s", (int)(n - but), p + but);
		p += n;
		fits = chosen_count(pattern, &of_runtime);
		if (!fits) {
			int ret = chosen_unknown(pattern, err);

			if (ret < 0)
				return ret;
			said = ret;
		} else if (fits == of_runtime && !runtime && !but) {
			return ct_fail(err, EINVAL, "--functions: '%s' fits functions of libcudart only, which are recorded with --runtime",
				       pattern);
		}
	}
	for (unsigned int i = 0; i < ct_function_names_count && !said; i++)
		if ((runtime || !chosen_is_runtime(ct_function_names[i])) && chosen_takes(patterns, ct_function_names[i]))
			return 0;
	return said ? said : ct_fail(err, EINVAL, "--functions: '%s' leaves no function", patterns);
}
