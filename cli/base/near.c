// SPDX-License-Identifier: LGPL-2.1-or-later
/* See near.h. */
#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned int near_least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to insert, to remove, to replace or to swap with the next one, until @word fits @pattern. */
static unsigned int near_distance(const char *pattern, const char *word)
{
	unsigned int n = strlen(pattern), m = strlen(word), rows[3][CT_NEAR_MAX + 1];

	for (unsigned int k = 0; k <= m; k++)
		rows[0][k] = k;
	for (unsigned int i = 1; i <= n; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
		int x = tolower((unsigned char)pattern[i - 1]);
		bool any = x == '*';

		row[0] = any ? above[0] : above[0] + 1;
		for (unsigned int k = 1; k <= m; k++) {
			int y = tolower((unsigned char)word[k - 1]);

			if (any) {
				row[k] = near_least(above[k], row[k - 1]);
				continue;
			}
			row[k] = near_least(above[k - 1] + (x != y && x != '?'), near_least(above[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && x == tolower((unsigned char)word[k - 2]) &&
			    tolower((unsigned char)pattern[i - 2]) == y)
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
	if (distance > (typed + 1) / 3 || (*n->best && n->distance < distance))
		return;
	if (*n->best && n->distance == distance) {
		bool known = !strcmp(n->best, word);

		for (unsigned int i = 0; i < n->others && i < CT_NEAR_MORE; i++)
			known |= !strcmp(n->more[i], word);
		if (!known && n->others++ < CT_NEAR_MORE)
			memcpy(n->more[n->others - 1], word, len + 1);
		return;
	}
	memcpy(n->best, word, len + 1);
	n->distance = distance;
	n->others = 0;
}

const char *ct_near_text(struct ct_near *n)
{
	size_t used;

	*n->text = 0;
	if (!*n->best)
		return n->text;
	used = (size_t)snprintf(n->text, sizeof(n->text), "; did you mean '%s'", n->best);
	for (unsigned int i = 0; i < n->others && i < CT_NEAR_MORE; i++)
		used += (size_t)snprintf(n->text + used, sizeof(n->text) - used, "%s'%s'", i + 1 == n->others ? " or " : ", ", n->more[i]);
	snprintf(n->text + used, sizeof(n->text) - used, n->others > CT_NEAR_MORE ? " or another?" : "?");
	return n->text;
}
