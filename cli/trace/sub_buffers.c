// SPDX-License-Identifier: LGPL-2.1-or-later
/* See slots.h. */
#include "trace/sub_buffers.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/stream.h"

bool ct_slots_read(struct ct_slots *s)
{
	struct ct_handover *h = &s->head;
	struct stat st;

	if (fstat(s->fd, &st) || !S_ISREG(st.st_mode) ||
	    pread(s->fd, h, sizeof(*h), CT_OPEN_HANDOVER) != (ssize_t)sizeof(*h))
		return false;
	return h->slots && h->slots <= CT_HANDOVER_SLOTS && h->slot_size >= CT_PACKET_HEAD &&
	       h->slot_size <= CT_PACKET_MAX &&
	       st.st_size >= (off_t)(CT_OPEN_PACKET + (uint64_t)h->slots * h->slot_size);
}

void ct_slots_open(struct ct_slots *s, const char *dir, const char *stream)
{
	char path[4096];

	s->fd = -1;
	if (ct_stream_kind(stream) != CT_STREAM_THREAD ||
	    snprintf(path, sizeof(path), "%s/.open-%s", dir, stream + 2) >= (int)sizeof(path))
		return;
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (s->fd >= 0 && !ct_slots_read(s))
		ct_slots_close(s);
}

void ct_slots_close(struct ct_slots *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

uint64_t ct_slots_find(const struct ct_slots *s, uint64_t seq, struct ct_packet *head)
{
	uint64_t found = 0;

	for (uint32_t i = 0; s->fd >= 0 && i < s->head.slots; i++) {
		uint64_t at = CT_OPEN_PACKET + (uint64_t)i * s->head.slot_size;
		struct ct_packet p;

		if (pread(s->fd, &p, sizeof(p), at) != (ssize_t)sizeof(p) ||
		    p.magic != CT_MAGIC || p.seq < seq || (found && p.seq >= head->seq))
			continue;
		*head = p;
		found = at;
	}
	return found;
}

bool ct_slots_same(const struct ct_slots *s, uint64_t at, const struct ct_packet *head)
{
	struct ct_packet p;

	return pread(s->fd, &p, sizeof(p), at) == (ssize_t)sizeof(p) && p.magic == CT_MAGIC &&
	       p.seq == head->seq;
}
