// SPDX-License-Identifier: LGPL-2.1-or-later
/* See modules.h. */
#include "analysis/stacks/modules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Behind the last @word of the file's name; NULL: it has none. */
static const char *modules_behind(const struct ct_stack_frame *f, const char *word)
{
	const char *at, *found = NULL, *from = f->file;
	size_t len = strlen(word);

	while ((at = memmem(from, f->file + f->file_len - from, word, len)))
		found = from = at + len;
	return found;
}

/* Behind "/lib/python3.12/"; NULL: it is no file of Python's own. */
static const char *modules_python(const struct ct_stack_frame *f)
{
	const char *at = modules_behind(f, "/lib/python3"), *end = f->file + f->file_len;

	while (at && at < end && *at != '/')
		at++;
	return at && at < end ? at + 1 : NULL;
}

bool ct_stack_foreign(const struct ct_stack_frame *f)
{
	return !f->file_len || *f->file == '<' || modules_behind(f, "/site-packages/") ||
	       modules_behind(f, "/dist-packages/") || modules_behind(f, "/lib/python3");
}

const char *ct_stack_module(const struct ct_stack_frame *f, int *len, bool *package)
{
	const char *name = modules_behind(f, "/site-packages/"), *end = f->file + f->file_len;

	name = name ? name : modules_behind(f, "/dist-packages/");
	*package = name != NULL;
	*len = 0;
	if (!name)
		name = modules_python(f);
	/* "<frozen importlib._bootstrap>" */
	if (!name && f->file_len > 8 && !memcmp(f->file, "<frozen ", 8))
		name = f->file + 8;
	while (name && name + *len < end && !strchr("/.>", name[*len]))
		++*len;
	return name ? name : f->file;
}

bool ct_stack_folded(const struct ct_report_filter *filter, const struct ct_stack_frame *f)
{
	char name[256];
	const char *module;
	bool package;
	int len;

	if (!filter->fold || !ct_stack_foreign(f))
		return false;
	if (!filter->modules)
		return true;
	module = ct_stack_module(f, &len, &package);
	snprintf(name, sizeof(name), "%.*s", len, module);
	return fnmatch(filter->modules, name, 0) != 0;
}
