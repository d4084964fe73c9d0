/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that a trace names by number.  A text is written once, in the packet that uses it first;
 * bounded: further texts are written where they are used.
 */
#ifndef CT_CLI_INTERN_H
#define CT_CLI_INTERN_H

#include "base/keyed.h"
#include "export/perfetto/proto.h"

/* Fields of Perfetto's InternedData. */
enum ct_intern_kind {
	CT_INTERN_CATEGORY = 1,
	CT_INTERN_NAME = 2,
	CT_INTERN_ANNOTATION = 3,	/* names of debug annotations */
	CT_INTERN_FUNCTION = 5,
	CT_INTERN_FRAME = 6,
	CT_INTERN_CALLSTACK = 7,
	CT_INTERN_SOURCE = 18,		/* files of functions */
	CT_INTERN_STRING = 29,		/* values of debug annotations */
};

#define CT_INTERN_MAX	(1u << 16)	/* texts */
#define CT_INTERN_BYTES	(1u << 24)	/* of all of them */

struct ct_intern_text {
	uint64_t hash;			/* of kind and text */
	uint64_t number;
	char *text;
	size_t len;
};

struct ct_intern {
	CT_KEYED(struct ct_intern_text) known;
	uint64_t last[CT_INTERN_STRING + 1];	/* the last number of each kind */
	size_t bytes;
	struct ct_proto added;		/* InternedData for the next packet */
	struct ct_proto entry;
};

/* The number of a text; 0: write the text itself. */
uint64_t ct_intern(struct ct_intern *t, enum ct_intern_kind kind, const char *text, size_t len);

/* Gives a text a number without remembering it: for those that the caller finds by itself. */
uint64_t ct_intern_new(struct ct_intern *t, enum ct_intern_kind kind, const char *text, size_t len);
void ct_intern_free(struct ct_intern *t);

#endif
