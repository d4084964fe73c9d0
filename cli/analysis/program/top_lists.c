// SPDX-License-Identifier: LGPL-2.1-or-later
/* See top_lists.h. */
#include "analysis/program/top_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/short_name.h"
#include "view/term.h"

#define CATEGORIES	6	/* shown at most */
#define FUNCTIONS	8
#define MOST_CALLED	3
#define KERNELS		5
#define TOTAL_COLUMNS	66	/* a page with fewer has no total time of categories */
#define NAME_MOST	60	/* columns of a function's name */

static int lists_by_self(const void *a, const void *b)
{
	const struct ct_function_sum *x = *(struct ct_function_sum *const *)a;
	const struct ct_function_sum *y = *(struct ct_function_sum *const *)b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->class->id - y->class->id;
}

static int lists_by_count(const void *a, const void *b)
{
	const struct ct_function_sum *x = *(struct ct_function_sum *const *)a;
	const struct ct_function_sum *y = *(struct ct_function_sum *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->class->id - y->class->id;
}

static int lists_by_time(const void *a, const void *b)
{
	const struct ct_top_kernel *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->launches != y->launches)
		return x->launches > y->launches ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static const char *lists_category_name(unsigned int category)
{
	return category == CT_CAT_OTHER ? "other" : ct_category_word[category];
}

static void lists_category_row(struct ct_page *page, const char *name, uint64_t count,
				 uint64_t total, uint64_t self, const struct ct_calls *s)
{
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT], c[CT_TERM_TEXT];

	ct_term_count(a, count);
	ct_term_ns(b, total);
	ct_term_ns(c, self);
	if (page->columns < TOTAL_COLUMNS)
		ct_page_add(page, "  %-12s %14s %12s %6.1f %%", name, a, c, s->self ? 100.0 * self / s->self : 0.0);
	else
		ct_page_add(page, "  %-12s %14s %12s %12s %6.1f %%", name, a, total ? b : "", c,
			    s->self ? 100.0 * self / s->self : 0.0);
}

static void lists_categories(const struct ct_calls *s, struct ct_page *page, unsigned int most)
{
	bool said[CT_CAT_COUNT] = { 0 };
	uint64_t count = 0, self = 0;

	if (page->columns < TOTAL_COLUMNS)
		ct_page_head(page, "CATEGORIES        calls         self    share of self time");
	else
		ct_page_head(page, "CATEGORIES        calls        total         self    share%s",
			     page->columns < 74 ? "" : " of all self time");
	for (unsigned int n = 0; n < most; n++) {
		unsigned int best = CT_CAT_COUNT;

		for (unsigned int i = 0; i < CT_CAT_COUNT; i++)
			if (!said[i] && s->categories[i].self &&
			    (best == CT_CAT_COUNT || s->categories[i].self > s->categories[best].self))
				best = i;
		if (best == CT_CAT_COUNT)
			break;
		said[best] = true;
		lists_category_row(page, lists_category_name(best), s->categories[best].count,
				     s->categories[best].total, s->categories[best].self, s);
	}
	for (unsigned int i = 0; i < CT_CAT_COUNT; i++) {
		count += said[i] ? 0 : s->categories[i].count;
		self += said[i] ? 0 : s->categories[i].self;
	}
	if (count)
		lists_category_row(page, "others", count, 0, self, s);
}

static void lists_functions(const struct ct_calls *s, struct ct_function_sum **list, struct ct_page *page,
			      unsigned int most)
{
	char a[CT_TERM_TEXT], b[CT_TERM_TEXT], name[256];
	int width = page->columns < 80 ? page->columns - 37 : 36;

	/* Longer names have their room where there is some. */
	qsort(list, s->functions_count, sizeof(*list), lists_by_self);
	for (unsigned int i = 0; i < s->functions_count && i < most; i++) {
		int wanted = strlen(ct_calls_name(s, list[i]));

		while (width < wanted && width < NAME_MOST && width + 44u < page->columns)
			width++;
	}
	ct_page_head(page, "%-*s %12s %12s    share", width + 2,
		     page->columns < 72 ? "FUNCTIONS by self time" : "FUNCTIONS with the most self time", "calls", "self");
	for (unsigned int i = 0; i < s->functions_count && i < most && list[i]->self; i++)
		ct_page_add(page, "  %-*s %12s %12s %6.1f %%", width,
			    ct_term_clean(name, sizeof(name), ct_calls_name(s, list[i]), width),
			    ct_term_count(a, list[i]->count), ct_term_ns(b, list[i]->self),
			    s->self ? 100.0 * list[i]->self / s->self : 0.0);
}

static bool lists_is_api(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_API);
}

static void lists_most_called(const struct ct_calls *s, struct ct_function_sum **list, struct ct_page *page)
{
	char line[512] = "", name[128];
	unsigned int n = 0;
	size_t used = 0;

	qsort(list, s->functions_count, sizeof(*list), lists_by_count);
	for (unsigned int i = 0; i < s->functions_count && n < MOST_CALLED && s->api_calls; i++) {
		if (!lists_is_api(list[i]->class))
			continue;
		used += snprintf(line + used, sizeof(line) - used, "%s%s %.1f %%", n++ ? ", " : "",
				 ct_term_clean(name, sizeof(name), ct_calls_name(s, list[i]), 40),
				 100.0 * list[i]->count / s->api_calls);
	}
	if (n)
		ct_page_add(page, "  most called: %s of the API calls", line);
}

static void lists_kernels(struct ct_names *names, struct ct_top_kernels *kernels, struct ct_page *page,
			  unsigned int most, bool graphs)
{
	const struct ct_top_kernel *list;
	char count[CT_TERM_TEXT], ns[CT_TERM_TEXT], name[512], clean[512];
	unsigned int width;
	uint64_t all = 0;
	size_t n = kernels->count;

	for (size_t i = 0; i < n; i++)
		all += kernels->list[i].ns;
	ct_keyed_sort(kernels, lists_by_time);
	list = kernels->list;
	if (n && most) {
		if (all)
			ct_page_head(page, "KERNELS by time on the GPU (of %zu%s): share, time, launches", n,
				     graphs ? ", without graphs" : "");
		else
			ct_page_head(page, "KERNELS launched most (of %zu)", n);
	}
	width = page->columns - (all ? 33 : 18);
	for (size_t i = 0; i < n && i < most; i++) {
		const char *text = ct_names_string(names, list[i].name);

		if (all) {
			ct_short_kernel_fit(name, sizeof(name), text ? text : "?", width);
			ct_page_add(page, "  %5.1f %% %11s %9s  %s", 100.0 * list[i].ns / all, ct_term_ns(ns, list[i].ns),
				    ct_term_count(count, list[i].launches), ct_term_clean(clean, sizeof(clean), name, width));
			continue;
		}
		ct_short_kernel_fit(name, sizeof(name), text ? text : "?", width);
		ct_page_add(page, "  %14s  %s", ct_term_count(count, list[i].launches),
			    ct_term_clean(clean, sizeof(clean), name, width));
	}
}

#define HEAD		3	/* lines of a list beside its rows */
#define LEAST_ROWS	2	/* of a list that is shown */

/* The lists share the lines that are left.  Where these are few, one with its rows says more than two heads. */
int ct_top_lists(struct ct_page *page, const struct ct_calls *s, struct ct_top_kernels *kernels,
		 struct ct_names *names, bool graphs)
{
	unsigned int rows[3] = { CATEGORIES, FUNCTIONS, KERNELS }, have[3] = { 0 };
	unsigned int left = ct_page_left(page), heads = 3 * HEAD + 1, lists = 3, used;
	struct ct_function_sum **list = calloc(s->functions_count + 1ul, sizeof(*list));
	bool timed = false;

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < CT_CAT_COUNT; i++)
		have[0] += s->categories[i].self > 0;
	for (unsigned int i = 0; i < s->functions_count; i++) {
		have[1] += s->functions[i].self > 0;
		list[i] = &s->functions[i];
	}
	have[2] = kernels->count;
	for (size_t i = 0; i < kernels->count; i++)
		timed |= kernels->list[i].ns > 0;
	for (unsigned int i = 0; i < 3; i++)
		rows[i] = have[i] < rows[i] ? have[i] : rows[i];
	/* First kernels that are only counted, then categories. */
	for (unsigned int i = timed ? 0 : 2; left < heads + LEAST_ROWS * lists && lists > 1; i = 0) {
		if (!rows[i])
			break;
		rows[i] = 0;
		heads -= HEAD;
		lists--;
	}
	for (used = rows[0] + rows[1] + rows[2]; used && used + heads > left; used--) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < 3; i++)
			most = rows[i] > rows[most] ? i : most;
		rows[most]--;
	}
	/* What the GPU did tells more than what the host called. */
	if (timed)
		lists_kernels(names, kernels, page, rows[2], graphs);
	if (rows[0] || !have[0])
		lists_categories(s, page, rows[0]);
	if (rows[1])
		lists_functions(s, list, page, rows[1]);
	lists_most_called(s, list, page);
	if (!timed)
		lists_kernels(names, kernels, page, rows[2], graphs);
	free(list);
	return 0;
}
