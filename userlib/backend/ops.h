/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where records go: the device, or files of the trace directory.
 *
 * None of its functions touches errno or allocates by malloc.
 */
#ifndef CT_BACKEND_OPS_H
#define CT_BACKEND_OPS_H

#include "backend/producer.h"
#include "tracedir/registry.h"

/* A record to be written; payload: size bytes (a multiple of 8), aligned. */
struct ct_record {
	u16 class;
	u8 depth;
	u8 flags;		/* CT_F_* */
	u32 size;
	const void *payload;
	u64 op;
	u64 begin;		/* 0 with CT_F_INSTANT */
	u64 end;		/* when it happened; 0: now */
	u64 result;
};

struct ct_backend {
	const char *name;
	const struct ct_producer_ops *producers;
	bool ioctls;		/* nobody but the library sees the program's ioctls */

	/* Ids of a class and of a string (at most CT_STRING_MAX); 0 if none could be had. */
	u32 (*define)(const struct ct_class_text *c);
	u32 (*string)(const char *s, size_t n);

	/* A line about the recording, once for all processes. */
	void (*info)(const char *key, const char *text);

	/*
	 * A backend whose memory comes and goes; NULL in others.
	 * changed: the stream's memory is not valid, and to ask for it again is worth it.
	 * renew: lets go of what there is, and asks; true if the memory is valid then.
	 * begin: without memory, a call begins: sets e->op and e->begin if a record says so,
	 * else gives false.
	 * mark: without memory, writes the record.
	 */
	bool (*changed)(const struct ct_producer *s);
	bool (*renew)(struct ct_producer *s);
	bool (*begin)(struct ct_record *e);
	void (*mark)(const struct ct_record *e);

	/*
	 * Has nobody recorded for CT_RECORDER_GONE_NS?  now: CLOCK_MONOTONIC in ns.  NULL: that
	 * can't be told.
	 */
	bool (*deserted)(u64 now);
};

#endif
