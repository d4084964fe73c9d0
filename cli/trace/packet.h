/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The head of a packet. */
#ifndef CT_CLI_PACKET_H
#define CT_CLI_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "module/uapi/cudatrace.h"

struct ct_source;

/* A packet's bytes and what its head says. */
struct ct_packet_view {
	const uint8_t *data;
	uint32_t content;	/* bytes, head included */
	uint32_t size;		/* bytes, of the whole packet */
	uint8_t  kind;		/* enum ct_stream_class */
	uint32_t cpu, pid, tid;
	uint64_t ts_begin, ts_end, op_base, seq, lost;	/* by the clock of its source */
	const struct ct_source *source;	/* NULL: its trace is alone */
};

/* Is the size that a head says, in bits, one that a packet can have? */
bool ct_packet_size_valid(const struct ct_packet *head);

/* Is this head, which may be cut short by zeros, one of such a stream of this trace, whatever else it says? */
bool ct_packet_is_of(const struct ct_packet *head, int kind, const uint8_t uuid[16]);

/**
 * ct_packet_check() - the head of a packet
 * @data: its first bytes: @in_memory of them may be read here, @in_file in the file
 * @kind: which stream it must belong to
 *
 * Return: 1: @p is set; 0: no magic: nothing was written here yet; -ENODATA: the
 * file ends inside the packet; -EBADMSG.  @err says what is wrong, but not where.
 */
int ct_packet_check(const uint8_t *data, uint64_t in_memory, uint64_t in_file, int kind,
		    const uint8_t uuid[16], struct ct_packet_view *p, struct ct_error *err);

/**
 * ct_packet_close() - completes the head of a copy of a CPU's open packet
 * @content: bytes that were committed when it was copied, head included; what follows becomes zeros
 * @lost: records that the CPU lost so far
 * @now: ns
 *
 * The packet may have been begun long ago: its records may not be newer than CT_PACKET_SPAN allows.
 */
void ct_packet_close(struct ct_packet *p, uint32_t content, uint64_t lost, uint64_t now);

#endif
