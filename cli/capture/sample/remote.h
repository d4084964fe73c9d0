/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of another process, which runs meanwhile: read by process_vm_readv(), a page at a time.
 * Pages are kept for one sample.
 */
#ifndef CT_CLI_SAMPLE_REMOTE_H
#define CT_CLI_SAMPLE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_REMOTE_PAGE	4096u
#define CT_REMOTE_PAGES	16u

struct ct_remote {
	pid_t pid;
	int error;			/* the errno of the last read that failed */
	unsigned int count, next;
	uint64_t at[CT_REMOTE_PAGES];
	uint8_t pages[CT_REMOTE_PAGES][CT_REMOTE_PAGE];
};

/* Forgets the pages. */
void ct_remote_begin(struct ct_remote *r);

/* As it is now, past the pages; false: it can't be read. */
bool ct_remote_now(struct ct_remote *r, uint64_t at, void *to, size_t size);

/* From the pages, those that are needed are read. */
bool ct_remote_read(struct ct_remote *r, uint64_t at, void *to, size_t size);

/* Reads the page of @at, and then the word at @word, by one call. */
bool ct_remote_page(struct ct_remote *r, uint64_t at, uint64_t word, uint64_t *value);

/* @count blocks of @size bytes; the number of those that could be read, from the first on. */
unsigned int ct_remote_blocks(struct ct_remote *r, const uint64_t *at, unsigned int count, void *to, size_t size);

#endif
