// SPDX-License-Identifier: LGPL-2.1-or-later
/* See near.h. */
#include "base/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static unsigned int near_least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to insert, to remove, to replace or to swap with the next one; case does not count. */
static unsigned int near_distance(const char *a, const char *b)
{
	unsigned int n = strlen(a), m = strlen(b), rows[3][CT_NEAR_MAX + 1];

	for (unsigned int k = 0; k <= m; k++)
		rows[0][k] = k;
	for (unsigned int i = 1; i <= n; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned int k = 1; k <= m; k++) {
			int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[k - 1]);

			row[k] = near_least(above[k - 1] + (x != y), near_least(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && x == tolower((unsigned char)b[k - 2]) &&
			    tolower((unsigned char)a[i - 2]) == y)
				row[k] = near_least(row[k], two[k - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void ct_near_try(struct ct_near *n, const char *word)
{
	size_t typed = strlen(n->word), len = strlen(word);
	unsigned int distance;

	if (!typed || typed > CT_NEAR_MAX || len > CT_NEAR_MAX)
		return;
	distance = near_distance(n->word, word);
	/* A part of a word is near, too. */
	if (distance > 1 && typed >= 3 && strcasestr(word, n->word))
		distance = 1;
	if (distance > (typed + 1) / 3 || (*n->best && n->distance <= distance))
		return;
	memcpy(n->best, word, len + 1);
	n->distance = distance;
}

const char *ct_near_text(struct ct_near *n)
{
	*n->text = 0;
	if (*n->best)
		snprintf(n->text, sizeof(n->text), "; did you mean '%s'?", n->best);
	return n->text;
}
