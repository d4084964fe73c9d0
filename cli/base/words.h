/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of words. */
#ifndef CT_CLI_WORDS_H
#define CT_CLI_WORDS_H

/* The index of @word in @table of @count words, or -1. */
int ct_word_index(const char *const *table, unsigned int count, const char *word);

#endif
