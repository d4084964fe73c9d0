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

/* A file of the machine, or one of Python's packages. */
static bool modules_installed(const struct ct_stack_frame *f)
{
	static const char *const folders[] = { "/usr/", "/lib", "linux-vdso" };

	for (unsigned int i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (f->object_len >= (int)strlen(folders[i]) && !memcmp(f->object, folders[i], strlen(folders[i])))
			return true;
	return memmem(f->object, f->object_len, "-packages/", 10) != NULL;
}

bool ct_stack_foreign(const struct ct_stack_frame *f)
{
	if (f->object_len)
		return modules_installed(f);
	return !f->file_len || *f->file == '<' || modules_behind(f, "/site-packages/") ||
	       modules_behind(f, "/dist-packages/") || modules_behind(f, "/lib/python3");
}

/* Of compiled code: its package, or "libfoo" of "/usr/lib/libfoo.so.1". */
static const char *modules_object(const struct ct_stack_frame *f, int *len, bool *package)
{
	static const char *const runtimes[] = { "libc", "libstdc++", "libpthread", "libgcc_s" };
	struct ct_stack_frame object = { .file = f->object, .file_len = f->object_len };
	const char *name = modules_behind(&object, "-packages/"), *end = f->object + f->object_len;

	*package = true;
	for (const char *at = f->object; !name && at < end; at++)
		if (*at == '/' && !memchr(at + 1, '/', end - at - 1))
			name = at + 1;
	name = name ? name : f->object;
	for (*len = 0; name + *len < end && !strchr("/.", name[*len]); ++*len)
		;
	/* These only start a thread or call back: they name what runs only where nothing else does. */
	for (unsigned int i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (*len == (int)strlen(runtimes[i]) && !memcmp(name, runtimes[i], *len))
			*package = false;
	return name;
}

const char *ct_stack_module(const struct ct_stack_frame *f, int *len, bool *package)
{
	const char *name = modules_behind(f, "/site-packages/"), *end = f->file + f->file_len;

	if (f->object_len)
		return modules_object(f, len, package);
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

void ct_module_vote(struct ct_module_vote *v, const char *name, int len, uint64_t value)
{
	if (v->len == len && (!len || !memcmp(v->name, name, len))) {
		v->value += value;
	} else if (v->value >= value) {
		v->value -= value;
	} else {
		*v = (struct ct_module_vote){ name, len, value - v->value };
	}
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
