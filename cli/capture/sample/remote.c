// SPDX-License-Identifier: LGPL-2.1-or-later
/* See remote.h. */
#include "capture/sample/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define REMOTE_MANY	256u	/* blocks of ct_remote_blocks() */
#define REMOTE_WORDS	2u
#define REMOTE_TURNS	256u	/* after so many, blocks that are not needed are forgotten */

static uint64_t remote_block(uint64_t at)
{
	return at & -(uint64_t)CT_REMOTE_BLOCK;
}

bool ct_remote_now(struct ct_remote *r, uint64_t at, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)at, size };

	if (process_vm_readv(r->pid, &here, 1, &there, 1, 0) == (ssize_t)size)
		return true;
	r->error = errno;
	return false;
}

/* Blocks that lie beside each other are one. */
static unsigned int remote_there(struct iovec *there, const uint64_t *at, unsigned int count)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (n && (uintptr_t)there[n - 1].iov_base + there[n - 1].iov_len == at[i])
			there[n - 1].iov_len += CT_REMOTE_BLOCK;
		else
			there[n++] = (struct iovec){ (void *)(uintptr_t)at[i], CT_REMOTE_BLOCK };
	}
	return n;
}

bool ct_remote_moment(struct ct_remote *r, const struct ct_remote_known *known, struct ct_remote_word *words, unsigned int count)
{
	size_t size = known->count * (size_t)CT_REMOTE_BLOCK;
	uint64_t values[REMOTE_WORDS];
	struct iovec there[2 * CT_REMOTE_BLOCKS + REMOTE_WORDS];
	/* The kernel copies in this order. */
	struct iovec here[3] = { { r->before, size }, { values, count * sizeof(*values) }, { r->after, size } };
	unsigned int n = remote_there(there, known->at, known->count), blocks = n;

	r->next = r->last = 0;
	r->second = r->late = false;
	r->count = 0;
	memset(r->used, 0, sizeof(r->used));
	for (unsigned int i = 0; i < count; i++)
		there[n++] = (struct iovec){ (void *)(uintptr_t)words[i].at, sizeof(*values) };
	memcpy(there + n, there, blocks * sizeof(*there));
	n += blocks;
	if (process_vm_readv(r->pid, here, 3, there, n, 0) != (ssize_t)(2 * size + count * sizeof(*values))) {
		r->error = errno;
		return false;
	}
	memcpy(r->at, known->at, known->count * sizeof(*known->at));
	r->count = known->count;
	for (unsigned int i = 0; i < count; i++)
		words[i].value = values[i];
	return true;
}

static const uint8_t *remote_find(struct ct_remote *r, uint64_t block)
{
	unsigned int slot = r->last;

	if (slot >= r->count || r->at[slot] != block)
		for (slot = 0; slot < r->count && r->at[slot] != block; slot++)
			;
	if (slot == r->count) {
		/* A chain that is longer than all blocks takes the oldest ones. */
		slot = r->count < CT_REMOTE_BLOCKS ? r->count++ : r->next++ % CT_REMOTE_BLOCKS;
		r->at[slot] = 0;
		if (!ct_remote_now(r, block, r->before[slot], CT_REMOTE_BLOCK))
			return NULL;
		memcpy(r->after[slot], r->before[slot], CT_REMOTE_BLOCK);
		r->at[slot] = block;
		r->late = true;
	}
	r->last = slot;
	r->used[slot] = true;
	return r->second ? r->after[slot] : r->before[slot];
}

bool ct_remote_read(struct ct_remote *r, uint64_t at, void *to, size_t size)
{
	while (size) {
		uint64_t block = remote_block(at);
		size_t from = at - block, n = CT_REMOTE_BLOCK - from < size ? CT_REMOTE_BLOCK - from : size;
		const uint8_t *bytes = block ? remote_find(r, block) : NULL;

		if (!bytes)
			return false;
		memcpy(to, bytes + from, n);
		to = (uint8_t *)to + n;
		at += n;
		size -= n;
	}
	return true;
}

void ct_remote_second(struct ct_remote *r)
{
	r->second = true;
}

void ct_remote_learn(const struct ct_remote *r, struct ct_remote_known *known)
{
	bool all = ++known->turns % REMOTE_TURNS != 0;
	unsigned int at;

	if (all && !r->late)
		return;
	known->count = 0;
	for (unsigned int i = 0; i < r->count; i++) {
		if (!r->at[i] || (!all && !r->used[i]))
			continue;
		for (at = known->count++; at && known->at[at - 1] > r->at[i]; at--)
			known->at[at] = known->at[at - 1];
		known->at[at] = r->at[i];
	}
}

unsigned int ct_remote_blocks(struct ct_remote *r, const uint64_t *at, unsigned int count, void *to, size_t size)
{
	struct iovec here = { to, count * size }, there[REMOTE_MANY];
	ssize_t n;

	count = count < REMOTE_MANY ? count : REMOTE_MANY;
	for (unsigned int i = 0; i < count; i++)
		there[i] = (struct iovec){ (void *)(uintptr_t)at[i], size };
	n = process_vm_readv(r->pid, &here, 1, there, count, 0);
	if (n < 0)
		r->error = errno;
	return n < 0 ? 0 : n / size;
}
