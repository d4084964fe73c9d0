// SPDX-License-Identifier: LGPL-2.1-or-later
/* See stuck.h.  Must never trust a number of a record: anybody may have written it. */
#include "live/stuck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/term.h"

#define STUCK_COMMUNICATORS	1024u
#define STUCK_RANKS		1024u	/* of a communicator */
#define STUCK_FIRST		64u	/* collectives whose first call is kept; a power of two */
#define STUCK_SHOWN		4u	/* ranks that are named */

struct stuck_rank {
	uint32_t rank, number;	/* of its last collective */
	uint32_t pid;
};

struct stuck_first {
	uint32_t number, rank, pid;
	uint64_t ts;			/* ns */
	char name[24];			/* a copy: the registry may be gone when it is printed */
};

struct ct_stuck_communicator {
	uint64_t id;
	struct stuck_rank *ranks;
	uint32_t count, room;
	uint32_t newest;		/* number */
	uint32_t told;			/* number of the last one that ct_stuck_next() has given */
	uint64_t used;			/* ns */
	struct stuck_first first[STUCK_FIRST];
};

/* A recorder that is always on sees one job after the other. */
static void stuck_make_room(struct ct_stuck *s)
{
	struct ct_stuck_communicator *oldest = s->communicators.list;

	if (s->communicators.count < STUCK_COMMUNICATORS)
		return;
	for (size_t i = 1; i < s->communicators.count; i++)
		if (s->communicators.list[i].used < oldest->used)
			oldest = &s->communicators.list[i];
	free(oldest->ranks);
	ct_keyed_remove(&s->communicators, oldest);
}

int ct_stuck_record(struct ct_stuck *s, const struct ct_record *r)
{
	uint32_t number, rank, i;
	struct ct_stuck_communicator *c;
	struct stuck_first *first;
	uint64_t id;

	if (!ct_class_is(r->class, CT_IS_COLLECTIVE) || !r->fields || ct_record_failed(r) || (r->flags & CT_F_BEGIN))
		return 0;
	id = ct_record_known(r, CT_KNOWN_COMMUNICATOR);
	if (!id)
		return ct_stuck_before_record(&s->before, r);
	if (ct_class_is(r->class, CT_IS_SEND | CT_IS_RECEIVE))
		return 0;
	number = ct_record_known(r, CT_KNOWN_NUMBER);
	rank = ct_record_known(r, CT_KNOWN_RANK);
	if (!number)
		return 0;
	c = ct_keyed_get(&s->communicators, id);
	if (!c) {
		stuck_make_room(s);
		c = ct_keyed_put(&s->communicators, id);
	}
	if (!c)
		return -ENOMEM;
	c->used = r->end > c->used ? r->end : c->used;
	for (i = 0; i < c->count && c->ranks[i].rank != rank; i++)
		;
	if (i == c->count) {
		if (i == STUCK_RANKS)
			return 0;
		if (!ct_room(c->ranks, c->count, c->room))
			return -ENOMEM;
		c->ranks[c->count++] = (struct stuck_rank){ .rank = rank, .pid = r->pid };
		s->known++;
	}
	if (number > c->ranks[i].number)
		c->ranks[i].number = number;
	first = &c->first[number & (STUCK_FIRST - 1)];
	if (number > first->number || (number == first->number && r->end < first->ts)) {
		*first = (struct stuck_first){ .number = number, .rank = rank, .pid = r->pid, .ts = r->end };
		ct_term_clean(first->name, sizeof(first->name), r->class->name + 4, sizeof(first->name) - 5);
	}
	c->newest = number > c->newest ? number : c->newest;
	return 0;
}

/* The oldest collective that a rank has not called, of those whose first call is known; NULL: there is none. */
static const struct stuck_first *stuck_oldest(const struct ct_stuck_communicator *c)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < c->count; i++)
		least = c->ranks[i].number < least ? c->ranks[i].number : least;
	if (c->count < 2 || least >= c->newest)
		return NULL;
	for (uint32_t number = c->newest - least > STUCK_FIRST ? c->newest - STUCK_FIRST + 1 : least + 1; number <= c->newest; number++)
		if (c->first[number & (STUCK_FIRST - 1)].number == number)
			return &c->first[number & (STUCK_FIRST - 1)];
	return NULL;
}

/* The launcher's number; of a process that is several ranks, and of one without a launcher, that in the communicator. */
static uint32_t stuck_rank(const struct ct_stuck *s, const struct ct_stuck_communicator *c, uint32_t pid, uint32_t rank)
{
	const struct ct_rank *name = ct_ranks_of(&s->names, pid);
	int32_t own;

	for (uint32_t i = 0; i < c->count; i++)
		if (c->ranks[i].pid == pid && c->ranks[i].rank != rank)
			return rank;
	if (name && name->rank >= 0)
		return (uint32_t)name->rank;
	own = s->rank ? s->rank(pid) : -1;
	return own >= 0 ? (uint32_t)own : rank;
}

/* Again only where there are more ranks than then. */
static void stuck_names(struct ct_stuck *s)
{
	if (!s->dir || s->read == s->known)
		return;
	ct_ranks_free(&s->names);
	ct_registry_free(&s->reg);
	s->names = (struct ct_ranks){ 0 };
	s->reg = (struct ct_registry){ 0 };
	s->read = s->known;
	if (!ct_registry_read(&s->reg, s->dir, NULL))
		ct_ranks_read(&s->names, &s->reg);
}

static void stuck_text(const struct ct_stuck *s, const struct ct_stuck_communicator *c, const struct stuck_first *first, uint64_t age, char *buf, size_t size)
{
	char ranks[96] = "", ns[CT_TERM_TEXT];
	unsigned int missing = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		if (c->ranks[i].number >= first->number)
			continue;
		if (missing++ < STUCK_SHOWN)
			used += snprintf(ranks + used, sizeof(ranks) - used, "%s%u", missing > 1 ? ", " : "",
					 stuck_rank(s, c, c->ranks[i].pid, c->ranks[i].rank));
		else if (missing == STUCK_SHOWN + 1)
			snprintf(ranks + used, sizeof(ranks) - used, " ...");
	}
	snprintf(buf, size, "%s %u of communicator %04llx: rank%s %s %s not called it %s after rank %u", first->name,
		 first->number, (unsigned long long)c->id >> 48, missing == 1 ? "" : "s", ranks,
		 missing == 1 ? "has" : "have", ct_term_ns(ns, age), stuck_rank(s, c, first->pid, first->rank));
}

/* What it waits for; NULL: it does not, or not for so long. */
static const struct stuck_first *stuck_waits(const struct ct_stuck *s, const struct ct_stuck_communicator *c, uint64_t now,
					     uint64_t limit)
{
	const struct stuck_first *first = stuck_oldest(c);

	if (!first || now < first->ts || now - first->ts < limit || (s->lives && !s->lives(first->pid)))
		return NULL;
	return first;
}

bool ct_stuck_find(struct ct_stuck *s, unsigned int i, uint64_t now, uint64_t limit, char *buf, size_t size)
{
	const char *text;

	for (size_t k = 0; k < s->communicators.count; k++) {
		const struct ct_stuck_communicator *c = &s->communicators.list[k];
		const struct stuck_first *first = stuck_waits(s, c, now, limit);

		if (!first || i--)
			continue;
		stuck_names(s);
		stuck_text(s, c, first, now - first->ts, buf, size);
		return true;
	}
	text = i ? NULL : ct_stuck_before_find(&s->before, s->dir, s->lives, s->rank, now, limit);
	if (text)
		ct_term_clean(buf, (unsigned int)size, text, (unsigned int)size);
	return text;
}

bool ct_stuck_next(struct ct_stuck *s, uint64_t now, uint64_t limit, uint64_t *since, char *buf, size_t size)
{
	const char *text;

	for (size_t k = 0; k < s->communicators.count; k++) {
		struct ct_stuck_communicator *c = &s->communicators.list[k];
		const struct stuck_first *first = stuck_waits(s, c, now, limit);

		if (!first || first->number <= c->told)
			continue;
		c->told = first->number;
		*since = first->ts;
		stuck_names(s);
		stuck_text(s, c, first, now - first->ts, buf, size);
		return true;
	}
	text = ct_stuck_before_find(&s->before, s->dir, s->lives, s->rank, now, limit);
	if (!text || ct_stuck_before_told(&s->before))
		return false;
	*since = s->before.since;
	ct_term_clean(buf, (unsigned int)size, text, (unsigned int)size);
	return true;
}

void ct_stuck_free(struct ct_stuck *s)
{
	for (size_t i = 0; i < s->communicators.count; i++)
		free(s->communicators.list[i].ranks);
	ct_keyed_free(&s->communicators);
	ct_stuck_before_free(&s->before);
	ct_ranks_free(&s->names);
	ct_registry_free(&s->reg);
}
