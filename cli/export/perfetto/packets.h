/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perfetto's trace as a row of packets of one sequence.  Times are differences to the packet
 * before (a clock of the sequence), texts are numbers, and the track of most events is a default:
 * that makes a packet small.  Field numbers are those of Perfetto's published schema.
 */
#ifndef CT_CLI_PACKETS_H
#define CT_CLI_PACKETS_H

#include "base/out.h"
#include "export/perfetto/intern.h"

/* Fields of TracePacket that hold a message. */
enum ct_packet_body {
	CT_PACKET_EVENT = 11,
	CT_PACKET_TRACK = 60,
	CT_PACKET_SAMPLE = 66,
	CT_PACKET_ATTRIBUTES = 126,
};

struct ct_packets {
	struct ct_out *out;
	uint64_t last;			/* ns: of the packet before */
	uint64_t default_track;		/* uuid; 0: none */
	uint32_t sequence;		/* this file's: other files may be put behind it */
	struct ct_intern intern;
	struct ct_proto packet, head;
};

/*
 * The first packet: what three clocks say at one moment, in ns.  All times are of the first.
 * @sequence:	a number, not 0, that no other file has which may be put behind this one
 */
void ct_packets_begin(struct ct_packets *p, uint32_t sequence, uint64_t monotonic, uint64_t realtime,
		      uint64_t boottime);

/* Events without a track are on this one from now on. */
void ct_packets_default_track(struct ct_packets *p, uint64_t uuid);

/* Writes @body, which is empty afterwards, with what was interned for it. */
void ct_packets_add(struct ct_packets *p, enum ct_packet_body field, struct ct_proto *body);

/* The same at a time, which may be before that of the last packet. */
void ct_packets_add_at(struct ct_packets *p, uint64_t ts, enum ct_packet_body field, struct ct_proto *body);

/* 0 or a negative errno. */
int ct_packets_error(const struct ct_packets *p);
void ct_packets_free(struct ct_packets *p);

#endif
