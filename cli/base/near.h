/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the words that there are a misspelled one may stand for: "did you mean ...?" */
#ifndef CT_CLI_NEAR_H
#define CT_CLI_NEAR_H

#define CT_NEAR_MAX	48u	/* characters of a word; longer ones are near to none */

struct ct_near {
	const char *word;	/* what was typed; set by the caller */
	char best[CT_NEAR_MAX + 1];	/* the nearest one so far, "": none is near */
	unsigned int distance;	/* of that one */
	char text[96];		/* of ct_near_text() */
};

/* Another word that there is. */
void ct_near_try(struct ct_near *n, const char *word);

/* "; did you mean 'WORD'?", or "" where none is near. */
const char *ct_near_text(struct ct_near *n);

#endif
