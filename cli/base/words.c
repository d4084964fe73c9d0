// SPDX-License-Identifier: LGPL-2.1-or-later
/* See words.h. */
#include "base/words.h"

#include <string.h>

int ct_word_index(const char *const *table, unsigned int count, const char *word)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(table[i], word))
			return i;
	return -1;
}
