// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See stream_tail.h.  The thread never waits for a reader: what was copied is only used
 * if it did not change meanwhile.
 */
#include "trace/stream_tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/sub_buffers.h"

/* Appends one packet of a sub-buffer to @copy, as it would be in the stream. */
static int tail_add_sub_buffer(const struct ct_sub_buffers *subbufs, uint64_t at,
			       struct ct_packet *head, const struct ct_packet_view *p,
			       uint8_t **copy, uint32_t *bytes)
{
	uint8_t *more = realloc(*copy, *bytes + p->content);

	if (!more)
		return -ENOMEM;
	*copy = more;
	if (pread(subbufs->fd, more + *bytes, p->content, at) != (ssize_t)p->content ||
	    !ct_sub_buffers_same(subbufs, at, head))
		return -EAGAIN;
	head->content_size = head->packet_size = p->content * 8ull;
	memcpy(more + *bytes, head, sizeof(*head));
	*bytes += p->content;
	return 0;
}

/*
 * A copy of the packets of a busy thread that are not in its stream yet, for which their
 * writer left them unchanged while it was made; in the last one it may have gone on.  Return: 0;
 * -EAGAIN: they changed, or the stream got some of them meanwhile.  *@copy is NULL if there are
 * none newer than what the stream holds.
 */
static int tail_read(const struct ct_stream_file *s, const char *dir, const uint8_t uuid[16],
		     uint8_t **copy, uint32_t *bytes)
{
	uint64_t at, seq = s->next_seq, before = 0;
	struct ct_packet head, copied = { 0 };
	struct ct_sub_buffers subbufs;
	struct ct_packet_view p;
	struct ct_error ignored;
	int rc = 0;

	*copy = NULL;
	*bytes = 0;
	ct_sub_buffers_open(&subbufs, dir, s->name);
	while (!rc && (at = ct_sub_buffers_find(&subbufs, seq, &head)) &&
	       ct_packet_check((void *)&head, sizeof(head), subbufs.head.subbuf_size, s->kind, uuid,
			       &p, &ignored) == 1) {
		/*
		 * Drained since the stream was read, and its sub-buffer was reused; or the thread had not
		 * filled the one before when that was copied.
		 */
		if ((head.seq > seq && ct_stream_grown(s, dir)) ||
		    (before && !ct_sub_buffers_still(&subbufs, before, &copied)))
			rc = -EAGAIN;
		before = at;
		copied = head;
		if (!rc)
			rc = tail_add_sub_buffer(&subbufs, at, &head, &p, copy, bytes);
		seq = head.seq + 1;
	}
	ct_sub_buffers_close(&subbufs);
	if (rc) {
		free(*copy);
		*copy = NULL;
	}
	return rc;
}

/*
 * Makes one map of the stream up to its tail and the packets in @copy.  Whole pages of
 * the stream stay the file's, however long it is; only the pages from the tail on are
 * memory.
 */
static int tail_map(struct ct_stream_file *s, uint8_t *copy, uint32_t bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE), kept = s->tail & -page, size = s->tail + bytes;
	uint64_t mapped = (s->map_size + page - 1) & -page;
	uint8_t *map =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(map + kept, size - kept, PROT_READ | PROT_WRITE)) {
		munmap(map, size);
		return -ENOMEM;
	}
	if (s->tail > kept)
		memcpy(map + kept, s->map + kept, s->tail - kept);
	memcpy(map + s->tail, copy, bytes);
	if (kept &&
	    mremap((void *)s->map, kept, kept, MREMAP_MAYMOVE | MREMAP_FIXED, map) == MAP_FAILED) {
		munmap(map, size);
		return -ENOMEM;
	}
	if (mapped > kept)
		munmap((void *)(s->map + kept), mapped - kept);
	s->map = map;
	s->map_size = size;
	s->map_file = kept;
	s->added = bytes;
	return 0;
}

int ct_stream_tail_add(struct ct_stream_file *s, const char *dir, const uint8_t uuid[16])
{
	uint32_t bytes;
	uint8_t *copy;
	int rc = tail_read(s, dir, uuid, &copy, &bytes);

	if (!copy)
		return rc;
	rc = tail_map(s, copy, bytes);
	free(copy);
	return rc ? rc : 1;
}
