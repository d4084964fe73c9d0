// SPDX-License-Identifier: LGPL-2.1-or-later
/* See chosen.h.  A function that is left out gets no thunk, so that its calls cost nothing. */
#include "call/chosen.h"

#include "base/options.h"
#include "call/classify.h"
#include "call/range.h"

/* Does the pattern fit, up to its end or a blank? */
static bool fits(const char *pattern, const char *name)
{
	for (; *pattern && *pattern != ' '; pattern++, name++) {
		if (*pattern == '*') {
			do {
				if (fits(pattern + 1, name))
					return true;
			} while (*name++);
			return false;
		}
		if (!*name || (*pattern != '?' && *pattern != *name))
			return false;
	}
	return !*name;
}

static u64 hex(const char *s)
{
	u64 v = 0;

	for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
		v = v << 4 | (u64)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return v;
}

bool ct_function_chosen(const char *symbol)
{
	bool named = false, any = false;
	struct ct_symbol f;

	if (likely(!ct_options.only))
		return true;
	if (ct_range_role(symbol) || !ct_classify(&f, symbol) || !strcmp(f.name, "cuInit") || !strcmp(f.name, "cuGetProcAddress") ||
	    (f.category == CT_CAT_MODULE && f.op == CT_OP_LOOKUP))
		return true;
	for (const char *word = ct_options.only; *word;) {
		if (!strncmp(word, "-queries", 8)) {
			if (f.query)
				return false;
		} else if (!strncmp(word, "types:", 6)) {
			if (!(hex(word + 6) >> f.category & 1))
				return false;
		} else if (*word == '!') {
			if (fits(word + 1, f.name))
				return false;
		} else {
			any = true;
			named |= fits(word, f.name);
		}
		while (*word && *word != ' ')
			word++;
		while (*word == ' ')
			word++;
	}
	return named || !any;
}
