/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a function is, told from its name alone, so that functions newer than this library
 * get a category too.
 */
#ifndef CT_CLASSIFY_H
#define CT_CLASSIFY_H

#include "base/sys.h"

struct ct_symbol {
	char name[CT_NAME_LEN];	/* as users know it: cuMemAlloc */
	unsigned version;	/* of the symbol: 2 for cuMemAlloc_v2, else 1 */
	u8 category;		/* enum ct_category */
	u8 op;			/* enum ct_op */
	bool query;		/* a getter of a few ns */
	u8 words;		/* of its arguments on the stack */
	bool vector;		/* it takes floating point */
};

#define CT_WORDS_UNKNOWN	255	/* of functions that tables/param_counts.h has not */

/* False, but for words, for a name that is longer than a class's name may be. */
bool ct_classify(struct ct_symbol *f, const char *symbol);

#endif
