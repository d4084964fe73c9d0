// SPDX-License-Identifier: LGPL-2.1-or-later
/* See functions.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/functions.h"

static int functions_compare(const void *a, const void *b)
{
	const struct ct_kfunc *x = a, *y = b;
	int d = strcmp(x->module, y->module);

	return d ? d : strcmp(x->name, y->name);
}

static int functions_add(struct ct_functions *f, const char *module, const char *name)
{
	struct ct_kfunc *row;

	/* Grown by doubling: it is full when count is 0 or a power of two. */
	if (!(f->count & (f->count - 1))) {
		row = realloc(f->row, (f->count ? 2 * f->count : 1) * sizeof(*row));
		if (!row)
			return -ENOMEM;
		f->row = row;
	}
	row = &f->row[f->count];
	row->module = strdup(module);
	row->name = strdup(name);
	row->ftrace = false;
	if (!row->module || !row->name) {
		free(row->module);
		free(row->name);
		return -ENOMEM;
	}
	f->count++;
	return 0;
}

/* Which of them ftrace knows: name, or name and [module], a line each. */
static void functions_mark_sites(struct ct_functions *f)
{
	static const char *const paths[] = { "/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions" };
	struct ct_kfunc key, *row;
	char line[512], name[256], module[128];
	FILE *in = NULL;
	size_t i;
	int n;

	for (i = 0; i < 2 && !in; i++)
		in = fopen(paths[i], "re");
	if (!in)
		return;
	while (fgets(line, sizeof(line), in)) {
		module[0] = '\0';
		n = sscanf(line, "%255s [%127[^]]", name, module);
		if (n < 1)
			continue;
		key.module = module;
		key.name = name;
		row = bsearch(&key, f->row, f->count, sizeof(*row), functions_compare);
		if (row)
			row->ftrace = true;
		f->sites_known = true;
	}
	fclose(in);
}

/* Symbols that are functions: not data, nor parts that the compiler split off. */
static bool functions_is_function(char type, const char *name)
{
	return (type == 't' || type == 'T') && !strchr(name, '.') &&
	       strncmp(name, "__pfx_", 6) && strncmp(name, "__cfi_", 6);
}

static bool functions_matches(const char *glob, bool modules, const char *module, const char *name)
{
	const char *colon = strchr(glob, ':'), *of = *module ? module : "vmlinux";

	if (!colon)
		return !(modules && !*module) && !fnmatch(glob, name, 0);
	return !strncmp(of, glob, colon - glob) && !of[colon - glob] &&
	       !fnmatch(colon + 1, name, 0);
}

int ct_functions_find(struct ct_functions *f, char *const *globs, size_t count,
		      bool modules, struct ct_error *err)
{
	char line[1024], type, name[512], module[128];
	bool hit, *used = calloc(count, sizeof(*used));
	size_t i, unused = 0;
	int n, ret = 0;
	FILE *in;

	memset(f, 0, sizeof(*f));
	in = used ? fopen("/proc/kallsyms", "re") : NULL;
	if (!in) {
		ret = used ? errno : ENOMEM;
		free(used);
		return ct_fail(err, ret, "/proc/kallsyms: %s", strerror(ret));
	}
	while (!ret && fgets(line, sizeof(line), in)) {
		module[0] = '\0';
		n = sscanf(line, "%*s %c %511s [%127[^]]", &type, name, module);
		if (n < 2 || !functions_is_function(type, name))
			continue;
		for (i = 0, hit = false; i < count; i++)
			if (functions_matches(globs[i], modules, module, name))
				hit = used[i] = true;
		if (hit)
			ret = functions_add(f, module, name);
	}
	fclose(in);
	for (i = 0; i < count && used[i]; i++)
		;
	unused = i;
	free(used);
	if (ret)
		return ct_fail(err, ENOMEM, "out of memory");
	if (unused < count)
		return ct_fail(err, ENOENT, "no function matches '%s'%s", globs[unused],
			       modules && !strchr(globs[unused], ':') ?
			       " in a module (is the driver loaded? vmlinux:NAME for the kernel's own)" : "");
	qsort(f->row, f->count, sizeof(*f->row), functions_compare);
	functions_mark_sites(f);
	return 0;
}

void ct_functions_free(struct ct_functions *f)
{
	while (f->count) {
		f->count--;
		free(f->row[f->count].module);
		free(f->row[f->count].name);
	}
	free(f->row);
	f->row = NULL;
}
