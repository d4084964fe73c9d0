// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sub_buffers.h. */
#include "trace/sub_buffers.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/directory.h"

bool ct_sub_buffers_read(struct ct_sub_buffers *s)
{
	struct ct_subbufs *h = &s->head;
	struct stat st;

	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode) ||
	    pread(s->fd, h, sizeof(*h), CT_INFLIGHT_SUBBUFS) != (ssize_t)sizeof(*h))
		return false;
	return h->subbufs && h->subbufs <= CT_SUBBUFS_MAX && h->subbuf_size >= CT_PACKET_HEAD &&
	       h->subbuf_size <= CT_PACKET_MAX &&
	       st.st_size >= (off_t)(CT_INFLIGHT_PACKET + (uint64_t)h->subbufs * h->subbuf_size);
}

void ct_sub_buffers_open(struct ct_sub_buffers *s, const char *dir, const char *stream)
{
	char page[280], path[4096];

	s->fd = -1;
	if (ct_page_of_stream(page, sizeof(page), stream) || ct_path(path, sizeof(path), dir, page))
		return;
	s->fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (s->fd >= 0 && !ct_sub_buffers_read(s))
		ct_sub_buffers_close(s);
}

void ct_sub_buffers_close(struct ct_sub_buffers *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

uint64_t ct_sub_buffers_find(const struct ct_sub_buffers *s, uint64_t seq, struct ct_packet *head)
{
	uint64_t found = 0;

	for (uint32_t i = 0; s->fd >= 0 && i < s->head.subbufs; i++) {
		uint64_t at = CT_INFLIGHT_PACKET + (uint64_t)i * s->head.subbuf_size;
		struct ct_packet p;

		if (pread(s->fd, &p, sizeof(p), at) != (ssize_t)sizeof(p) ||
		    p.magic != CT_MAGIC || p.seq < seq || (found && p.seq >= head->seq))
			continue;
		*head = p;
		found = at;
	}
	return found;
}

static bool sub_buffers_again(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head,
			      struct ct_packet *now)
{
	return pread(s->fd, now, sizeof(*now), at) == (ssize_t)sizeof(*now) && now->magic == CT_MAGIC &&
	       now->seq == head->seq;
}

bool ct_sub_buffers_same(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head)
{
	struct ct_packet now;

	return sub_buffers_again(s, at, head, &now);
}

bool ct_sub_buffers_still(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head)
{
	struct ct_packet now;

	return sub_buffers_again(s, at, head, &now) && now.content_size == head->content_size;
}
