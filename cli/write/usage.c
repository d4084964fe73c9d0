// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One pass over all records.  Must stay bounded when a hostile trace holds a new
 * number in every record.
 */
#include "write/usage.h"

#include <errno.h>
#include <stdlib.h>

static int usage_note(struct ct_usage_numbers *numbers, uint64_t number, uint32_t have)
{
	struct ct_usage_number *n;

	if (numbers->count >= CT_USAGE_LABELS && !ct_keyed_get(numbers, number))
		return 0;
	n = ct_keyed_put(numbers, number);
	if (!n)
		return -ENOMEM;
	n->have |= have;
	return 0;
}

static int usage_note_record(struct ct_usage *usage, const struct ct_record *r)
{
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE);
	int rc = 0;

	for (unsigned int i = 0; i < r->class->fields_count && !rc; i++) {
		uint64_t value;

		switch (r->class->fields[i].type) {
		case CT_TYPE_str:
			value = ct_record_field(r, i);
			if (value)
				rc = usage_note(&usage->strings, value, 0);
			break;
		case CT_TYPE_nvcode:
			if (have & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS))
				rc = usage_note(&usage->codes, ct_record_field(r, i), have);
			break;
		case CT_TYPE_nvst:
			rc = usage_note(&usage->statuses, ct_record_field(r, i), 0);
			break;
		}
	}
	return rc;
}

int ct_usage_collect(struct ct_usage *usage, const struct ct_trace *t)
{
	struct ct_cursor c;
	struct ct_record r;
	int rc = 0;

	*usage = (struct ct_usage){ .classes = calloc(CT_CLASS_MAX + 1, 1) };
	if (!usage->classes)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		ct_cursor_init(&c, t, i);
		while (!rc && ct_cursor_next(&c, &r)) {
			usage->classes[r.class->id] |= 1u << t->streams[i].kind;
			rc = usage_note_record(usage, &r);
		}
	}
	return rc;
}

void ct_usage_free(struct ct_usage *usage)
{
	free(usage->classes);
	ct_keyed_free(&usage->strings);
	ct_keyed_free(&usage->codes);
	ct_keyed_free(&usage->statuses);
}
