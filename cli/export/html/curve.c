// SPDX-License-Identifier: LGPL-2.1-or-later
/* See curve.h.  Must never keep something for each change: points are thinned out. */
#include "export/html/curve.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "export/html/html_source.h"

/* Half as many: two pairs become one. */
static void curve_thin(struct ct_html_curve *c)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < c->count; i += 4) {
		const struct ct_html_point *p = &c->points[i];
		unsigned int peak = 0;
		struct ct_html_point last = p[3];

		for (unsigned int k = 1; k < 3; k++)
			peak = p[k].value > p[peak].value ? k : peak;
		c->points[kept++] = p[peak];
		c->points[kept++] = last;
	}
	c->count = kept;
	c->group *= 2;
}

int ct_html_curve_add(struct ct_html_curve *c, uint64_t ts, uint64_t value)
{
	struct ct_html_point *last;

	if (c->count && c->points[c->count - 1].value == value)
		return 0;
	c->group = c->group ? c->group : 2;
	if (c->count == CT_HTML_CURVE_POINTS && !c->changes)
		curve_thin(c);
	if (c->changes < 2) {
		if (!ct_room(c->points, c->count, c->capacity))
			return -ENOMEM;
		c->count++;
	} else {
		last = &c->points[c->count - 1];
		last[-1] = last->value > last[-1].value ? *last : last[-1];
	}
	c->points[c->count - 1] = (struct ct_html_point){ ts, value };
	c->changes = c->changes + 1 < c->group ? c->changes + 1 : 0;
	return 0;
}

int ct_html_curve_write(const struct ct_html_curve *c, const struct ct_trace *t, struct ct_html_blobs *blobs,
			const char *prefix, unsigned int number, const char *word)
{
	uint64_t *values = calloc(c->count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = ct_html_moment(t, c->points[i].ts);
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "%s%u.ts", prefix, number);
	for (unsigned int i = 0; i < c->count; i++)
		values[i] = c->points[i].value < CT_HTML_MOST ? c->points[i].value : CT_HTML_MOST;
	ct_html_column(blobs, CT_HTML_DELTA, values, c->count, "%s%u.%s", prefix, number, word);
	free(values);
	return 0;
}

void ct_html_curve_free(struct ct_html_curve *c)
{
	free(c->points);
}
