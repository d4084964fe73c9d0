// SPDX-License-Identifier: LGPL-2.1-or-later
/* See packets.h. */
#include "export/perfetto/packets.h"

#include <errno.h>

#define CLOCK_REALTIME_ID	1
#define CLOCK_MONOTONIC_ID	3
#define CLOCK_BOOTTIME_ID	6
#define CLOCK_SEQUENCE_ID	64	/* the first of those that a sequence may define */
#define STATE_CLEARED		1	/* bits of sequence_flags */
#define NEEDS_STATE		2

/* Fields of Trace, TracePacket, TracePacketDefaults, TrackEventDefaults, ClockSnapshot. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCKS = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_INTERNED = 12,
	PACKET_FLAGS = 13, PACKET_CLOCK = 58, PACKET_DEFAULTS = 59, PACKET_FIRST = 87,
	DEFAULTS_CLOCK = 58, DEFAULTS_EVENT = 11, EVENT_DEFAULTS_TRACK = 11,
	CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2,
	CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3,
};

static void packets_finish(struct ct_packets *p, unsigned int flags)
{
	ct_proto_number(&p->packet, PACKET_SEQUENCE, p->sequence);
	ct_proto_number(&p->packet, PACKET_FLAGS, flags);
	if (p->packet.failed)
		return;
	ct_proto_message(&p->head, TRACE_PACKET, &p->packet);
	if (!p->head.failed)
		ct_out_bytes(p->out, p->head.data, p->head.used);
	p->head.used = 0;
}

static void packets_put_clock(struct ct_packets *p, struct ct_proto *clocks, unsigned int id, uint64_t ts)
{
	ct_proto_number(&p->head, CLOCK_ID, id);
	ct_proto_number(&p->head, CLOCK_TIMESTAMP, ts);
	if (id >= CLOCK_SEQUENCE_ID)
		ct_proto_number(&p->head, CLOCK_INCREMENTAL, 1);
	ct_proto_message(clocks, CLOCKS_CLOCK, &p->head);
}

static void packets_put_defaults(struct ct_packets *p)
{
	struct ct_proto defaults = { 0 };

	ct_proto_number(&defaults, DEFAULTS_CLOCK, CLOCK_SEQUENCE_ID);
	if (p->default_track) {
		ct_proto_number(&p->head, EVENT_DEFAULTS_TRACK, p->default_track);
		ct_proto_message(&defaults, DEFAULTS_EVENT, &p->head);
	}
	ct_proto_message(&p->packet, PACKET_DEFAULTS, &defaults);
	ct_proto_free(&defaults);
}

void ct_packets_begin(struct ct_packets *p, uint32_t sequence, uint64_t monotonic, uint64_t realtime,
		      uint64_t boottime)
{
	struct ct_proto clocks = { 0 };

	p->sequence = sequence;
	p->last = monotonic;
	packets_put_clock(p, &clocks, CLOCK_MONOTONIC_ID, monotonic);
	packets_put_clock(p, &clocks, CLOCK_SEQUENCE_ID, monotonic);
	packets_put_clock(p, &clocks, CLOCK_REALTIME_ID, realtime);
	packets_put_clock(p, &clocks, CLOCK_BOOTTIME_ID, boottime);
	ct_proto_number(&clocks, CLOCKS_PRIMARY, CLOCK_MONOTONIC_ID);
	ct_proto_message(&p->packet, PACKET_CLOCKS, &clocks);
	/* It has no time: none can be understood before it. */
	ct_proto_number(&p->packet, PACKET_FIRST, 1);
	packets_put_defaults(p);
	packets_finish(p, STATE_CLEARED);
	ct_proto_free(&clocks);
}

void ct_packets_default_track(struct ct_packets *p, uint64_t uuid)
{
	p->default_track = uuid;
	packets_put_defaults(p);
	packets_finish(p, NEEDS_STATE);
}

void ct_packets_add(struct ct_packets *p, enum ct_packet_body field, struct ct_proto *body)
{
	if (p->intern.added.used)
		ct_proto_message(&p->packet, PACKET_INTERNED, &p->intern.added);
	ct_proto_message(&p->packet, field, body);
	packets_finish(p, NEEDS_STATE);
}

void ct_packets_add_at(struct ct_packets *p, uint64_t ts, enum ct_packet_body field, struct ct_proto *body)
{
	if (ts >= p->last) {
		ct_proto_number(&p->packet, PACKET_TIMESTAMP, ts - p->last);
		p->last = ts;
	} else {
		ct_proto_number(&p->packet, PACKET_TIMESTAMP, ts);
		ct_proto_number(&p->packet, PACKET_CLOCK, CLOCK_MONOTONIC_ID);
	}
	ct_packets_add(p, field, body);
}

int ct_packets_error(const struct ct_packets *p)
{
	return p->out->error ? p->out->error : p->packet.failed || p->head.failed ? -ENOMEM : 0;
}

void ct_packets_free(struct ct_packets *p)
{
	ct_intern_free(&p->intern);
	ct_proto_free(&p->packet);
	ct_proto_free(&p->head);
}
