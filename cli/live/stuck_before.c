// SPDX-License-Identifier: LGPL-2.1-or-later
/* See stuck_before.h.  Must never trust a number of a record: anybody may have written it. */
#include "live/stuck_before.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "ranks/operations.h"
#include "ranks/made_before.h"
#include "trace/about/ranks.h"
#include "trace/directory.h"
#include "trace/pages.h"
#include "view/term.h"

#define BEFORE_PROCESSES	1024u
#define BEFORE_MEMBERS		1024u
#define BEFORE_CALLS		64u	/* of a member that are kept; a power of two */
#define BEFORE_SHOWN		3u	/* ranks of a kind that are named */
#define BEFORE_LOOK_NS		1000000000ull	/* between two looks, at least */
#define BEFORE_PAUSE		20u	/* ... or so many times what the last one took: of hundreds of communicators it may be a second */

struct ct_stuck_process {
	uint64_t pid;
	uint64_t last;		/* ns: when its last call of libnccl began */
	uint32_t class;		/* of that */
	uint32_t ranks, rank;	/* of its largest communicator */
	/* As the last look saw it: */
	uint64_t in_begin;	/* ns; 0: it is in no call, or not for long */
	uint32_t in;		/* the call's class */
	int32_t  name;		/* its rank */
};

struct before_call {
	uint64_t begin, size, count;
	uint32_t number;
	int32_t  root, reduction;
	uint16_t class, datatype;
};

/* A rank of a communicator. */
struct ct_stuck_member {
	uint64_t who, comm;	/* process and rank; the handle */
	uint32_t ranks, count;
	struct before_call *calls;	/* call i is at i % BEFORE_CALLS */
};

static int before_member(struct ct_stuck_before *b, const struct ct_record *r, uint32_t ranks)
{
	uint64_t who = (uint64_t)r->pid << 32 | ct_record_known(r, CT_KNOWN_RANK), comm = ct_record_known(r, CT_KNOWN_COMM);
	struct ct_stuck_member *m = ct_keyed_get_pair(&b->members, who, comm);

	if (!m && b->members.count == BEFORE_MEMBERS)
		return 0;
	m = m ? m : ct_keyed_put_pair(&b->members, who, comm);
	if (m && !m->calls)
		m->calls = calloc(BEFORE_CALLS, sizeof(*m->calls));
	if (!m || !m->calls)
		return -ENOMEM;
	m->ranks = ranks;
	m->calls[m->count++ % BEFORE_CALLS] = (struct before_call){
		.begin = ct_record_begin(r), .size = ct_record_known(r, CT_KNOWN_SIZE), .count = ct_record_known(r, CT_KNOWN_ELEMENTS),
		.number = ct_record_known(r, CT_KNOWN_NUMBER), .root = ct_record_known(r, CT_KNOWN_ROOT),
		.reduction = ct_record_known(r, CT_KNOWN_REDUCTION), .class = r->class->id, .datatype = ct_record_known(r, CT_KNOWN_DATATYPE),
	};
	return 0;
}

int ct_stuck_before_record(struct ct_stuck_before *b, const struct ct_record *r)
{
	uint32_t ranks = ct_record_known(r, CT_KNOWN_RANKS);
	struct ct_stuck_process *p = ct_keyed_get(&b->processes, r->pid);

	if (!ranks || (!p && b->processes.count == BEFORE_PROCESSES))
		return 0;
	p = p ? p : ct_keyed_put(&b->processes, r->pid);
	if (!p)
		return -ENOMEM;
	b->calls++;
	if (ct_record_begin(r) >= p->last) {
		p->last = ct_record_begin(r);
		p->class = r->class->id;
	}
	if (ranks > p->ranks) {
		p->ranks = ranks;
		p->rank = ct_record_known(r, CT_KNOWN_RANK);
	}
	return ct_class_is(r->class, CT_IS_SEND | CT_IS_RECEIVE) || !ct_record_known(r, CT_KNOWN_NUMBER) ? 0 : before_member(b, r, ranks);
}

/* ------------------------------------------------------------- calls in flight --- */

static const char *before_name(const struct ct_registry *reg, uint32_t id)
{
	const struct ct_class *class = ct_registry_class(reg, id);

	return class ? class->name : "a call";
}

/* The call that a thread of one of the processes is in since its last collective, the oldest one. */
static void before_page(struct ct_stuck_before *b, const char *dir, const char *name, const struct ct_registry *reg, uint64_t until)
{
	struct ct_inflight_page page;
	struct ct_stuck_process *p;
	const struct ct_inflight_call *call = &page.entry[0];

	if (!ct_is_inflight_page(name) || ct_inflight_page_read(dir, name, &page) <= 0)
		return;
	p = ct_keyed_get(&b->processes, page.pid);
	if (!p || !call->begin || (call->flags & CT_INFLIGHT_RECORDED) || call->begin > until || call->begin < p->last ||
	    !ct_registry_class(reg, call->class))
		return;
	if (p->in_begin && p->in_begin <= call->begin)
		return;
	/* Loading code may take long by itself. */
	if (ct_class_is(ct_registry_class(reg, call->class), CT_IS_LOAD | CT_IS_CODE))
		return;
	p->in_begin = call->begin;
	p->in = call->class;
}

/* Is somebody in a call for long? */
static bool before_in_calls(struct ct_stuck_before *b, const char *dir, const struct ct_registry *reg, bool (*lives)(uint32_t pid), uint64_t until)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool any = false;

	for (size_t i = 0; i < b->processes.count; i++)
		b->processes.list[i].in_begin = 0;
	while (d && (entry = readdir(d)))
		before_page(b, dir, entry->d_name, reg, until);
	if (d)
		closedir(d);
	for (size_t i = 0; i < b->processes.count; i++) {
		struct ct_stuck_process *p = &b->processes.list[i];

		if (p->in_begin && lives && !lives(p->pid))
			p->in_begin = 0;
		any |= p->in_begin != 0;
	}
	return any;
}

static int before_compare(const void *a, const void *b)
{
	const struct ct_stuck_process *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

/* The launcher's number of each, as ct_stuck does it; in their order. */
static void before_names(struct ct_stuck_before *b, const struct ct_registry *reg, int32_t (*rank)(uint32_t pid))
{
	struct ct_ranks names = { 0 };
	bool there = !ct_ranks_read(&names, reg);

	for (size_t i = 0; i < b->processes.count; i++) {
		struct ct_stuck_process *p = &b->processes.list[i];
		const struct ct_rank *name = there ? ct_ranks_of(&names, p->pid) : NULL;

		p->name = name ? name->rank : -1;
		if (p->name < 0 && rank)
			p->name = rank(p->pid);
		if (p->name < 0)
			p->name = p->rank;
	}
	ct_ranks_free(&names);
	ct_keyed_sort(&b->processes, before_compare);
}

/* ---------------------------------------------------- which calls belong together --- */

static int before_parts(const struct ct_stuck_before *b, const struct ct_registry *reg, struct ct_collectives *c)
{
	for (size_t i = 0; i < b->members.count; i++) {
		const struct ct_stuck_member *m = &b->members.list[i];
		struct ct_comm *comm;

		if (!ct_room(c->communicators, c->communicators_count, c->communicators_capacity))
			return -ENOMEM;
		comm = &c->communicators[c->communicators_count];
		*comm = (struct ct_comm){ .id = ct_mix(m->who, m->comm), .ranks = m->ranks, .made_before = true };
		c->communicators_count++;
		if (!ct_room(comm->members, comm->members_count, comm->members_capacity))
			return -ENOMEM;
		comm->members[comm->members_count++] = (struct ct_member){ .pid = m->who >> 32, .rank = (uint32_t)m->who };
		for (uint32_t k = m->count > BEFORE_CALLS ? m->count - BEFORE_CALLS : 0; k < m->count; k++) {
			const struct before_call *call = &m->calls[k % BEFORE_CALLS];

			if (!ct_registry_class(reg, call->class))
				continue;
			if (!ct_room(c->parts, c->parts_count, c->parts_capacity))
				return -ENOMEM;
			c->parts[c->parts_count++] = (struct ct_part){
				.communicator = c->communicators_count - 1, .pid = m->who >> 32, .tid = m->who >> 32, .rank = (uint32_t)m->who,
				.number = call->number, .root = call->root, .reduction = call->reduction, .datatype = call->datatype,
				.class = ct_registry_class(reg, call->class), .op_id = c->parts_count, .begin = call->begin, .end = call->begin,
				.size = call->size, .count = call->count,
			};
			comm->calls++;
		}
	}
	return 0;
}

/* Is each rank that has called it in a call since, and no other one?  Else which calls belong together was guessed wrongly. */
static bool before_agrees(const struct ct_stuck_before *b, const struct ct_collectives *c, const struct ct_operation *o)
{
	const struct ct_comm *of = &c->communicators[o->communicator];

	for (uint32_t i = 0; i < of->members_count; i++) {
		const struct ct_stuck_process *p = ct_keyed_get(&b->processes, of->members[i].pid);

		if (!p || (p->in_begin != 0) != ct_operation_called(c, o, of->members[i].rank))
			return false;
	}
	return true;
}

static const struct ct_operation *before_operation(const struct ct_stuck_before *b, const struct ct_collectives *c, uint64_t until)
{
	const struct ct_operation *found = NULL;

	for (size_t i = 0; i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];
		const struct ct_comm *of = &c->communicators[o->communicator];

		if (o->hangs && of->members_count == of->ranks && o->arrived <= until && before_agrees(b, c, o) &&
		    (!found || o->arrived < found->arrived))
			found = o;
	}
	return found;
}

/* ---------------------------------------------------------------------- texts --- */

/* "rank 0 is in cuStreamSynchronize for 60.1 s since AllReduce"; or "rank 1 called AllReduce last, 60.2 s ago". */
static size_t before_put_rank(const struct ct_stuck_process *p, const struct ct_registry *reg, uint64_t now, char *buf, size_t size)
{
	const char *last = before_name(reg, p->class);
	char ns[CT_TERM_TEXT];

	last += strncmp(last, "nccl", 4) ? 0 : 4;
	if (p->in_begin)
		return snprintf(buf, size, "rank %d is in %.40s for %s since %.30s", p->name, before_name(reg, p->in),
				ct_term_ns(ns, now - p->in_begin), last);
	return snprintf(buf, size, "rank %d called %.30s last, %s ago", p->name, last, ct_term_ns(ns, now > p->last ? now - p->last : 0));
}

static void before_text(struct ct_stuck_before *b, const struct ct_registry *reg, uint64_t now)
{
	size_t used = 0;

	for (int in = 1; in >= 0; in--) {
		uint32_t shown = 0;

		for (size_t i = 0; i < b->processes.count && used < sizeof(b->text); i++) {
			const struct ct_stuck_process *p = &b->processes.list[i];

			if ((p->in_begin != 0) != in)
				continue;
			if (shown++ == BEFORE_SHOWN) {
				used += snprintf(b->text + used, sizeof(b->text) - used, " ...");
				break;
			}
			used += snprintf(b->text + used, sizeof(b->text) - used, "%s", used ? "; " : "");
			if (used < sizeof(b->text))
				used += before_put_rank(p, reg, now, b->text + used, sizeof(b->text) - used);
		}
	}
}

static void before_text_of(struct ct_stuck_before *b, const struct ct_collectives *c, const struct ct_operation *o, uint64_t now)
{
	const struct ct_comm *of = &c->communicators[o->communicator];
	const struct ct_stuck_process *first = ct_keyed_get(&b->processes, c->parts[o->first].pid), *p;
	char ranks[96] = "", ns[CT_TERM_TEXT];
	uint32_t missing = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < o->count; i++)
		if (c->parts[o->first + i].begin == o->arrived)
			first = ct_keyed_get(&b->processes, c->parts[o->first + i].pid);
	for (uint32_t i = 0; i < of->members_count; i++) {
		if (ct_operation_called(c, o, of->members[i].rank))
			continue;
		p = ct_keyed_get(&b->processes, of->members[i].pid);
		if (missing++ < BEFORE_SHOWN)
			used += snprintf(ranks + used, sizeof(ranks) - used, "%s%d", missing > 1 ? ", " : "", p->name);
		else if (missing == BEFORE_SHOWN + 1)
			snprintf(ranks + used, sizeof(ranks) - used, " ...");
	}
	snprintf(b->text, sizeof(b->text), "%.20s of communicator %04llx: rank%s %s %s not called it %s after rank %d", ct_part_name(&c->parts[o->first]),
		 (unsigned long long)of->id >> 48, missing == 1 ? "" : "s", ranks, missing == 1 ? "has" : "have",
		 ct_term_ns(ns, now - o->arrived), first->name);
}

/* ------------------------------------------------------------------------ all --- */

static bool before_look(struct ct_stuck_before *b, const struct ct_registry *reg, uint64_t now, uint64_t limit)
{
	struct ct_collectives c = { 0 };
	const struct ct_operation *o = NULL;
	int rc = before_parts(b, reg, &c);

	rc = rc ? rc : ct_made_before_join(&c);
	rc = rc ? rc : ct_operations_make(&c);
	if (!rc)
		o = before_operation(b, &c, now - limit);
	if (o) {
		b->since = o->arrived;
		before_text_of(b, &c, o, now);
	} else {
		b->since = now;
		for (size_t i = 0; i < b->processes.count; i++)
			if (b->processes.list[i].in_begin && b->processes.list[i].in_begin < b->since)
				b->since = b->processes.list[i].in_begin;
		before_text(b, reg, now);
	}
	ct_collectives_free(&c);
	return true;
}

const char *ct_stuck_before_find(struct ct_stuck_before *b, const char *dir, bool (*lives)(uint32_t pid), int32_t (*rank)(uint32_t pid),
				 uint64_t now, uint64_t limit)
{
	struct ct_registry reg = { 0 };
	uint64_t began;
	bool silent = false;

	for (size_t i = 0; i < b->processes.count; i++)
		silent |= b->processes.list[i].last + limit <= now;
	if (!silent || !dir || limit > now)
		return NULL;
	if (b->looked_calls == b->calls && now - b->looked < b->pause)
		return b->found ? b->text : NULL;
	if (now - b->looked < b->pause)
		return NULL;
	began = ct_now_ns();
	b->looked = now;
	b->looked_calls = b->calls;
	b->found = false;
	if (!ct_registry_read(&reg, dir, NULL) && before_in_calls(b, dir, &reg, lives, now - limit)) {
		before_names(b, &reg, rank);
		b->found = before_look(b, &reg, now, limit);
	}
	ct_registry_free(&reg);
	b->pause = BEFORE_PAUSE * (ct_now_ns() - began);
	b->pause = b->pause > BEFORE_LOOK_NS ? b->pause : BEFORE_LOOK_NS;
	return b->found ? b->text : NULL;
}

bool ct_stuck_before_told(struct ct_stuck_before *b)
{
	bool told = b->told == b->calls;

	b->told = b->calls;
	return told;
}

void ct_stuck_before_free(struct ct_stuck_before *b)
{
	for (size_t i = 0; i < b->members.count; i++)
		free(b->members.list[i].calls);
	ct_keyed_free(&b->members);
	ct_keyed_free(&b->processes);
}
