/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the words that there are a misspelled one may stand for: "did you mean ...?" */
#ifndef CT_CLI_NEAR_H
#define CT_CLI_NEAR_H

#define CT_NEAR_MAX	64u	/* characters of a word; longer ones are near to none */
#define CT_NEAR_MORE	2u	/* words that are as near as the best one */

struct ct_near {
	const char *word;	/* what was typed; set by the caller.  In it * stands for any letters, ? for one */
	char best[CT_NEAR_MAX + 1];	/* the nearest one so far, "": none is near */
	unsigned int distance;	/* of that one: letters to insert, to remove, to replace or to swap with the next one */
	char more[CT_NEAR_MORE][CT_NEAR_MAX + 1];	/* others that are as near */
	unsigned int others;	/* how many these are */
	char text[4 * CT_NEAR_MAX];	/* of ct_near_text() */
};

/* A word that there is; it may come again.  Case does not count. */
void ct_near_try(struct ct_near *n, const char *word);

/* "; did you mean 'WORD'?", with up to CT_NEAR_MORE that are as near, or "" where none is near. */
const char *ct_near_text(struct ct_near *n);

#endif
