// SPDX-License-Identifier: LGPL-2.1-or-later
/* See startup.h. */
#include "analysis/stacks/startup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/modules.h"
#include "base/grow.h"

#define STARTUP_LEAST	1.0	/* %: less is not worth a word */
#define STARTUP_NAMED	3u	/* packages */

enum startup_kind { IMPORTS, FILES, COMPILATION, OTHER, KINDS };

static const char *const startup_words[KINDS] = { "imports", "waiting for files", "compilation", "other lines" };

struct startup_package {
	const char *name;		/* not terminated */
	int len;
	uint64_t ns;
};

struct startup {
	uint64_t kinds[KINDS], all;	/* ns */
	struct startup_package *packages;
	unsigned int count, room;
};

/* Compilers that are Python themselves: what is in one of these files, or what importlib compiles. */
static bool startup_compiles(const struct ct_stack_frame *f)
{
	static const char *const files[] = {
		"/torch/_inductor/", "/torch/_dynamo/", "/torch/utils/cpp_extension.py", "/triton/compiler/", "/triton/backends/",
		"/numba/core/", "/jax/_src/compiler.py", "/cupy/cuda/compiler.py",
	};

	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (memmem(f->file, f->file_len, files[i], strlen(files[i])))
			return true;
	return false;
}

static bool startup_is(const struct ct_stack_frame *f, const char *function)
{
	return f->name_len == (int)strlen(function) && !memcmp(f->name, function, f->name_len) &&
	       f->file_len > 8 && !memcmp(f->file, "<frozen ", 8);
}

/*
 * What a stack does, whatever its state.  An import is that of the outermost package which it runs; @package is its name, or
 * that of a module of Python's own.
 */
static enum startup_kind startup_kind(const struct ct_registry *reg, uint32_t node, struct startup_package *package)
{
	struct startup_package inside = { .name = "" };
	enum startup_kind kind = OTHER;
	bool named = false, its;
	struct ct_stack_frame f;

	*package = inside;
	for (unsigned int i = 0; i < CT_STACK_DEPTH && ct_stack_frame(reg, node, &f); i++, node = f.parent) {
		int len;
		const char *name = ct_stack_module(&f, &len, &its);

		if (startup_is(&f, "source_to_code"))
			return COMPILATION;
		if (startup_is(&f, "_find_and_load")) {
			kind = IMPORTS;
			*package = inside;
		} else if (len && (its || !named) && (len != 9 || memcmp(name, "importlib", 9))) {
			inside = (struct startup_package){ name, len, 0 };
			named |= its;
		}
		if (kind == OTHER && startup_compiles(&f))
			kind = COMPILATION;
	}
	return kind;
}

static int startup_package(struct startup *s, const struct startup_package *package, uint64_t ns)
{
	if (!package->len)
		return 0;
	for (unsigned int i = 0; i < s->count; i++)
		if (s->packages[i].len == package->len && !memcmp(s->packages[i].name, package->name, package->len)) {
			s->packages[i].ns += ns;
			return 0;
		}
	if (!ct_room(s->packages, s->count, s->room))
		return -ENOMEM;
	s->packages[s->count] = *package;
	s->packages[s->count++].ns = ns;
	return 0;
}

static int startup_add(struct startup *s, const struct ct_registry *reg, const struct ct_stack_sum *sum)
{
	uint64_t ns = sum->cost.of[CT_COST_BEFORE], samples = 0, files;
	struct startup_package package;
	enum startup_kind kind = startup_kind(reg, sum->node, &package);

	for (unsigned int i = 0; i < CT_SAMPLE_STATES; i++)
		samples += sum->cost.of[CT_COST_STATE + i];
	s->all += ns;
	if (kind == OTHER && samples) {
		files = (double)ns * sum->cost.of[CT_COST_STATE + CT_SAMPLE_FILE] / samples;
		s->kinds[FILES] += files;
		ns -= files;
	}
	s->kinds[kind] += ns;
	return kind == IMPORTS ? startup_package(s, &package, ns) : 0;
}

static int startup_order(const void *a, const void *b)
{
	const struct startup_package *x = a, *y = b;

	return x->ns != y->ns ? x->ns > y->ns ? -1 : 1 : 0;
}

static size_t startup_packages(const struct startup *s, char *buf, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; i < s->count && i < STARTUP_NAMED && used < size; i++)
		if (100.0 * s->packages[i].ns >= STARTUP_LEAST * s->all)
			used += snprintf(buf + used, size - used, "%s%.0f %% %.*s", used ? ", " : " (", 100.0 * s->packages[i].ns / s->all,
					 s->packages[i].len, s->packages[i].name);
	return used && used < size ? used + snprintf(buf + used, size - used, ")") : used;
}

int ct_startup_text(const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part, char *buf, size_t size)
{
	struct startup s = { 0 };
	size_t used = 0;
	int rc = 0;

	*buf = 0;
	for (size_t i = 0; i < costs->sums.count && !rc; i++)
		if (costs->sums.list[i].part == part && costs->sums.list[i].node && costs->sums.list[i].cost.of[CT_COST_BEFORE])
			rc = startup_add(&s, reg, &costs->sums.list[i]);
	if (s.count)
		qsort(s.packages, s.count, sizeof(*s.packages), startup_order);
	for (unsigned int i = 0; i < KINDS && used < size; i++) {
		if (!s.kinds[i] || 100.0 * s.kinds[i] < STARTUP_LEAST * s.all)
			continue;
		used += snprintf(buf + used, size - used, "%s%.0f %% %s", used ? ", " : "", 100.0 * s.kinds[i] / s.all, startup_words[i]);
		if (i == IMPORTS && used < size)
			used += startup_packages(&s, buf + used, size - used);
	}
	free(s.packages);
	return rc;
}
