/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One of several traces that are read as one: how its numbers become those of the whole.
 *
 * The traces are of several hosts, or of several recordings: their ids of classes and strings, their pids,
 * processors and GPUs collide, and each has a clock of its own.  Streams and packets that have a source
 * hold its own numbers; struct ct_record has those of the whole.  A trace that is alone has no source.
 */
#ifndef CT_CLI_SOURCE_H
#define CT_CLI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/class.h"

/* What is added to pids and tids: those of source 2 stand as 20001234. */
#define CT_SOURCE_TASKS		10000000u
#define CT_SOURCE_CPUS		10000u
#define CT_SOURCES_MAX		256u	/* of more, pids would not fit */

/*
 * A clock on that of the whole: ns + offset + (ns - from) * rate.  Its error is at most .uncertainty, as far
 * as collectives showed it.
 */
struct ct_source_clock {
	uint64_t from;		/* ns, of its own clock */
	int64_t  offset;	/* ns */
	int64_t  rate;		/* 2^-40 */
	uint64_t uncertainty;	/* ns; UINT64_MAX: it was only guessed */
	uint32_t fitted;	/* operations by which it was fitted; 0: by CLOCK_REALTIME alone */
	uint32_t outliers;	/* that were left out */
	bool     same;		/* it is the clock of the first source: traces of one host */
};

struct ct_source {
	char *dir;
	char *label;		/* its host's name; where two have one, the directory's */
	const struct ct_class **classes;	/* by its own id: those of the whole */
	uint32_t strings;	/* what is added to its ids ... */
	uint32_t tasks, cpus, gpus;
	uint64_t start, realtime;	/* ns: a moment on its clock and on CLOCK_REALTIME */
	struct ct_source_clock clock;
};

/* The class of its own id, or NULL. */
static inline const struct ct_class *ct_source_class(const struct ct_source *s, unsigned int id)
{
	return id <= CT_CLASS_MAX ? s->classes[id] : NULL;
}

#define CT_SOURCE_RATE	(1ull << 40)

/* ns of the source's clock on the clock of the whole. */
static inline uint64_t ct_source_time(const struct ct_source *s, uint64_t ns)
{
	const struct ct_source_clock *c = &s->clock;
	int64_t since = (int64_t)(ns - c->from);

	return ns + (uint64_t)(c->offset + (int64_t)((__int128)since * c->rate >> 40));
}

/* The value of a field whose class says that it shifts. */
static inline uint64_t ct_source_field(const struct ct_source *s, enum ct_shift shift, uint64_t value)
{
	switch (shift) {
	case CT_SHIFT_STRING:
		return value ? value + s->strings : 0;
	case CT_SHIFT_CLASS:
		return value <= CT_CLASS_MAX && s->classes[value] ? s->classes[value]->id : 0;
	case CT_SHIFT_TASK:
		return value ? value + s->tasks : 0;
	case CT_SHIFT_GPU:
		return (int64_t)value < 0 ? value : value + s->gpus;
	case CT_SHIFT_TIME:
		return ct_source_time(s, value);
	default:
		return value;
	}
}

#endif
