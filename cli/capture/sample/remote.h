/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of another process, which runs meanwhile: read by process_vm_readv(), in blocks.  What a chain of structs
 * says was true at one moment only if the structs are the same before and after that moment: see ct_remote_moment().
 */
#ifndef CT_CLI_SAMPLE_REMOTE_H
#define CT_CLI_SAMPLE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_REMOTE_BLOCK		1024u
#define CT_REMOTE_BLOCKS	64u

/* The blocks in which a chain lay the last times, by their address. */
struct ct_remote_known {
	unsigned int count;
	unsigned int turns;		/* since those that are needed no more were left out */
	uint64_t at[CT_REMOTE_BLOCKS];
	uint64_t end;			/* of the chain: its last struct; 0: not known */
	unsigned int ends;		/* readings in a row that had it */
};

struct ct_remote {
	pid_t pid;
	int error;			/* the errno of the last read that failed */
	unsigned int count, next, last;
	bool second;			/* which reading counts: .before or .after */
	bool late;			/* a block was not among those that were known: it was read when it was needed */
	uint64_t at[CT_REMOTE_BLOCKS];
	bool used[CT_REMOTE_BLOCKS];
	uint8_t before[CT_REMOTE_BLOCKS][CT_REMOTE_BLOCK], after[CT_REMOTE_BLOCKS][CT_REMOTE_BLOCK];
};

/* A word of the other process. */
struct ct_remote_word {
	uint64_t at, value;
};

/* As it is now, past the blocks; false: it can't be read. */
bool ct_remote_now(struct ct_remote *r, uint64_t at, void *to, size_t size);

/*
 * Reads by one call: the known blocks, then the @count words, then the known blocks again.  What is the same in both
 * readings was so when the words were read.  Forgets the blocks that were read before.
 */
bool ct_remote_moment(struct ct_remote *r, const struct ct_remote_known *known, struct ct_remote_word *words, unsigned int count);

/* From the blocks; one that is missing is read now. */
bool ct_remote_read(struct ct_remote *r, uint64_t at, void *to, size_t size);

/* From now on blocks as they were at the second reading. */
void ct_remote_second(struct ct_remote *r);

/* The blocks that were read from are known from now on. */
void ct_remote_learn(const struct ct_remote *r, struct ct_remote_known *known);

/* @count blocks of @size bytes; the number of those that could be read, from the first on. */
unsigned int ct_remote_blocks(struct ct_remote *r, const uint64_t *at, unsigned int count, void *to, size_t size);

#endif
