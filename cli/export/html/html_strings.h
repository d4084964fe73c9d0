/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The strings of an HTML report, each kept once.  A string number is its index plus 1; 0: none. */
#ifndef CT_CLI_HTML_STRINGS_H
#define CT_CLI_HTML_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_HTML_STRING_MAX	4096u		/* bytes of one; what is longer is cut */
#define CT_HTML_STRINGS_BYTES	(64u << 20)	/* of all; what follows is left out */

struct ct_html_strings {
	char *bytes;
	size_t used, room;
	struct ct_html_string { uint64_t hash; uint32_t at, len; } *list;
	uint32_t count, capacity;
	uint32_t *table;		/* numbers by hash; 0: free */
	uint32_t table_size;		/* a power of two */
	uint64_t left_out;		/* that have no number: each time, as they are not known again */
	uint64_t cut;			/* different ones that are longer than CT_HTML_STRING_MAX */
	int error;			/* -ENOMEM */
};

/* The number of a string; 0: there is no memory, or too much was kept. */
uint32_t ct_html_string(struct ct_html_strings *s, const char *text, size_t len);

void ct_html_strings_free(struct ct_html_strings *s);

#endif
