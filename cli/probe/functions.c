// SPDX-License-Identifier: LGPL-2.1-or-later
/* See functions.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_symbols.h"
#include "probe/functions.h"

static int functions_compare(const void *a, const void *b)
{
	const struct ct_kfunc *x = a, *y = b;
	int d = strcmp(x->module, y->module);

	return d ? d : strcmp(x->name, y->name);
}

static int functions_add(struct ct_functions *f, const char *module, const char *name,
			 uint64_t address)
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
	row->address = address;
	row->ftrace = false;
	if (!row->module || !row->name) {
		free(row->module);
		free(row->name);
		return -ENOMEM;
	}
	f->count++;
	return 0;
}

static bool functions_mark_site(void *arg, const char *module, const char *name, uint64_t address)
{
	struct ct_kfunc key = { .module = (char *)module, .name = (char *)name }, *row;
	struct ct_functions *f = arg;

	(void)address;
	row = bsearch(&key, f->row, f->count, sizeof(*row), functions_compare);
	if (row)
		row->ftrace = true;
	f->sites_known = true;
	return true;
}

/* Not a part that the compiler split off, nor padding. */
static bool functions_is_whole(const char *name)
{
	return !strchr(name, '.') && strncmp(name, "__pfx_", 6) && strncmp(name, "__cfi_", 6);
}

static bool functions_matches(const char *glob, bool modules, const char *module, const char *name)
{
	const char *colon = strchr(glob, ':'), *of = *module ? module : "vmlinux";

	if (!colon)
		return !(modules && !*module) && !fnmatch(glob, name, 0);
	return !strncmp(of, glob, colon - glob) && !of[colon - glob] &&
	       !fnmatch(colon + 1, name, 0);
}

struct search {
	struct ct_functions *found;
	char *const *globs;
	size_t count;
	bool modules;
	bool *used;		/* by glob: it matched */
	int error;		/* negative errno */
};

static bool functions_search(void *arg, const char *module, const char *name, uint64_t address)
{
	struct search *s = arg;
	bool hit = false;

	if (!functions_is_whole(name))
		return true;
	for (size_t i = 0; i < s->count; i++)
		if (functions_matches(s->globs[i], s->modules, module, name))
			hit = s->used[i] = true;
	if (hit)
		s->error = functions_add(s->found, module, name, address);
	return !s->error;
}

int ct_functions_find(struct ct_functions *f, char *const *globs, size_t count,
		      bool modules, struct ct_error *err)
{
	struct search s = { .found = f, .globs = globs, .count = count, .modules = modules };
	size_t unused = 0;
	int rc;

	memset(f, 0, sizeof(*f));
	s.used = calloc(count, sizeof(*s.used));
	if (!s.used)
		return ct_fail(err, ENOMEM, "out of memory");
	rc = ct_symbols_each(functions_search, &s);
	while (unused < count && s.used[unused])
		unused++;
	free(s.used);
	if (rc)
		return ct_fail(err, -rc, "/proc/kallsyms: %s", strerror(-rc));
	if (s.error)
		return ct_fail(err, ENOMEM, "out of memory");
	if (unused < count)
		return ct_fail(err, ENOENT, "no function matches '%s'%s", globs[unused],
			       modules && !strchr(globs[unused], ':') ?
			       " in a module (is the driver loaded? vmlinux:NAME for the kernel's own)" : "");
	qsort(f->row, f->count, sizeof(*f->row), functions_compare);
	ct_ftrace_sites_each(functions_mark_site, f);
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
