/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of a record as values, for every format that shows them by name. */
#ifndef CT_CLI_FIELDS_H
#define CT_CLI_FIELDS_H

#include "trace/names.h"

enum ct_field_kind {
	CT_FIELD_UNSIGNED,	/* number */
	CT_FIELD_SIGNED,	/* number, as int64_t */
	CT_FIELD_HEX,		/* number, to be shown in hexadecimal */
	CT_FIELD_WORD,		/* text: a constant, or a string of the registry */
	CT_FIELD_TEXT,		/* text: what the program wrote, any bytes */
	CT_FIELD_NULL,		/* an id that stands for nothing */
};

struct ct_field_value {
	enum ct_field_kind kind;
	uint64_t number;
	const char *text;
	size_t len;
	char buf[24];		/* of a text that is made */
};

/* Field @i of @r, which has fields.  What @v points to lasts as long as @r, @names and @v. */
void ct_field_value(struct ct_names *names, const struct ct_record *r, unsigned int i,
		    struct ct_field_value *v);

/* Words of an ioctl's parameter block that were not there: they are not shown. */
bool ct_field_missing(const struct ct_record *r, unsigned int i);

#endif
