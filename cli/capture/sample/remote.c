// SPDX-License-Identifier: LGPL-2.1-or-later
/* See remote.h. */
#include "capture/sample/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define REMOTE_BLOCKS	256u

void ct_remote_begin(struct ct_remote *r)
{
	r->count = r->next = 0;
}

bool ct_remote_now(struct ct_remote *r, uint64_t at, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)at, size };

	if (process_vm_readv(r->pid, &here, 1, &there, 1, 0) == (ssize_t)size)
		return true;
	r->error = errno;
	return false;
}

/* Where a page that is read now may go. */
static unsigned int remote_slot(struct ct_remote *r)
{
	unsigned int slot = r->next++ % CT_REMOTE_PAGES;

	if (slot >= r->count)
		r->count = slot + 1;
	r->at[slot] = 0;
	return slot;
}

static const uint8_t *remote_find(struct ct_remote *r, uint64_t page)
{
	unsigned int slot;

	for (unsigned int i = 0; i < r->count; i++)
		if (r->at[i] == page)
			return r->pages[i];
	slot = remote_slot(r);
	if (!ct_remote_now(r, page, r->pages[slot], CT_REMOTE_PAGE))
		return NULL;
	r->at[slot] = page;
	return r->pages[slot];
}

bool ct_remote_read(struct ct_remote *r, uint64_t at, void *to, size_t size)
{
	while (size) {
		uint64_t page = at & -(uint64_t)CT_REMOTE_PAGE;
		size_t from = at - page, n = CT_REMOTE_PAGE - from < size ? CT_REMOTE_PAGE - from : size;
		const uint8_t *bytes = page ? remote_find(r, page) : NULL;

		if (!bytes)
			return false;
		memcpy(to, bytes + from, n);
		to = (uint8_t *)to + n;
		at += n;
		size -= n;
	}
	return true;
}

bool ct_remote_page(struct ct_remote *r, uint64_t at, uint64_t word, uint64_t *value)
{
	uint64_t page = at & -(uint64_t)CT_REMOTE_PAGE;
	unsigned int slot = remote_slot(r);
	struct iovec here[2] = { { r->pages[slot], CT_REMOTE_PAGE }, { value, 8 } };
	struct iovec there[2] = { { (void *)(uintptr_t)page, CT_REMOTE_PAGE }, { (void *)(uintptr_t)word, 8 } };

	if (!page || process_vm_readv(r->pid, here, 2, there, 2, 0) != CT_REMOTE_PAGE + 8) {
		r->error = errno;
		return false;
	}
	r->at[slot] = page;
	return true;
}

unsigned int ct_remote_blocks(struct ct_remote *r, const uint64_t *at, unsigned int count, void *to, size_t size)
{
	struct iovec here = { to, count * size }, there[REMOTE_BLOCKS];
	ssize_t n;

	count = count < REMOTE_BLOCKS ? count : REMOTE_BLOCKS;
	for (unsigned int i = 0; i < count; i++)
		there[i] = (struct iovec){ (void *)(uintptr_t)at[i], size };
	n = process_vm_readv(r->pid, &here, 1, there, count, 0);
	if (n < 0)
		r->error = errno;
	return n < 0 ? 0 : n / size;
}
