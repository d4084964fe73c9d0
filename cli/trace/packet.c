// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checking the head of a packet.  Must never believe a size before it is checked.
 */
#include "trace/packet.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

bool ct_packet_size_valid(const struct ct_packet *head)
{
	return !(head->packet_size % 64) && head->packet_size / 8 >= CT_PACKET_HEAD &&
	       head->packet_size / 8 <= CT_PACKET_MAX;
}

bool ct_packet_is_of(const struct ct_packet *head, int kind, const uint8_t uuid[16])
{
	return head->magic == CT_MAGIC && !memcmp(head->uuid, uuid, sizeof(head->uuid)) &&
	       head->stream_class == (uint32_t)kind;
}

int ct_packet_check(const uint8_t *data, uint64_t in_memory, uint64_t in_file, int kind,
		    const uint8_t uuid[16], struct ct_packet_view *p, struct ct_error *err)
{
	struct ct_packet head;

	if (in_memory >= 4) {
		uint32_t magic;

		memcpy(&magic, data, 4);
		if (!magic)
			return 0;
		if (magic != CT_MAGIC)
			return ct_fail(err, EBADMSG, "no packet begins here (magic %08x)", magic);
	}
	if (in_memory < CT_PACKET_HEAD)
		return ct_fail(err, ENODATA, "the file ends inside a packet's head");
	memcpy(&head, data, sizeof(head));
	/* Its writer may add records: only what is committed now is read. */
	head.content_size =
		__atomic_load_n((const uint64_t *)(data + offsetof(struct ct_packet, content_size)),
				__ATOMIC_ACQUIRE);
	memcpy(&head.ts_end, data + offsetof(struct ct_packet, ts_end), 8);
	if (memcmp(head.uuid, uuid, 16))
		return ct_fail(err, EBADMSG, "a packet of another trace (its uuid differs)");
	if (head.stream_class != (uint32_t)kind)
		return ct_fail(err, EBADMSG, "a packet of stream class %u in a file for class %d",
			       head.stream_class, kind);
	if (!ct_packet_size_valid(&head))
		return ct_fail(err, EBADMSG, "a packet of %llu bits",
			       (unsigned long long)head.packet_size);
	if (head.packet_size / 8 > in_file)
		return ct_fail(err, ENODATA, "a truncated packet (%llu of %llu bytes)",
			       (unsigned long long)in_file,
			       (unsigned long long)head.packet_size / 8);
	if (head.content_size % 64 || head.content_size > head.packet_size ||
	    head.content_size / 8 < CT_PACKET_HEAD)
		return ct_fail(err, EBADMSG, "a packet with %llu of %llu bits used",
			       (unsigned long long)head.content_size,
			       (unsigned long long)head.packet_size);
	if (head.ts_begin > head.ts_end || head.ts_end - head.ts_begin > CT_TS_MASK)
		return ct_fail(err, EBADMSG, "a packet that ends before it begins");

	p->data = data;
	p->content = head.content_size / 8;
	p->size = head.packet_size / 8;
	p->kind = kind;
	p->cpu = head.cpu;
	p->pid = head.pid;
	p->tid = head.tid;
	p->ts_begin = head.ts_begin;
	p->ts_end = head.ts_end;
	p->op_base = head.op_base;
	p->seq = head.seq;
	p->lost = head.lost;
	p->source = NULL;
	return 1;
}

void ct_packet_close(struct ct_packet *p, uint32_t content, uint64_t lost, uint64_t now)
{
	uint64_t latest = p->ts_begin + CT_PACKET_SPAN;

	p->content_size = content * 8ull;
	p->ts_end = now < latest ? now : latest;
	p->lost = lost;
	memset((uint8_t *)p + content, 0, p->packet_size / 8 - content);
}
