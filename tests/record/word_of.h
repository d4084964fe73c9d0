/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where libcuda keeps the pointer to a function that it exports. */
#ifndef CT_TEST_WORD_OF_H
#define CT_TEST_WORD_OF_H

#include <stdint.h>
#include <string.h>

/* The first jump or call by a word in writable data, as libcuda's exports have it. */
static inline void *word_of(const void *function)
{
	const unsigned char *code = function;
	int32_t distance;

	for (int i = 0; i < 100; i++)
		if (code[i] == 0xff && (code[i + 1] == 0x15 || code[i + 1] == 0x25)) {
			memcpy(&distance, code + i + 2, 4);
			return (void *)(code + i + 6 + distance);
		}
	return NULL;
}

#endif
