// SPDX-License-Identifier: LGPL-2.1-or-later
/* See operations.h.  Must never trust a number of a record: anybody may have written it. */
#include "ranks/operations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

/* Who sends and who receives; of a collective 0. */
static uint64_t parts_ends(const struct ct_part *p)
{
	if (!ct_part_is_pair(p))
		return 0;
	return ct_class_is(p->class, CT_IS_SEND) ? (uint64_t)p->rank << 32 | (uint32_t)p->root :
					  (uint64_t)(uint32_t)p->root << 32 | p->rank;
}

static int parts_compare_operation(const struct ct_part *x, const struct ct_part *y)
{
	uint64_t ends[2] = { parts_ends(x), parts_ends(y) };

	if (x->communicator != y->communicator)
		return x->communicator < y->communicator ? -1 : 1;
	if (ct_part_is_pair(x) != ct_part_is_pair(y))
		return ct_part_is_pair(x) ? 1 : -1;
	if (ends[0] != ends[1])
		return ends[0] < ends[1] ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int parts_compare(const void *a, const void *b)
{
	const struct ct_part *x = a, *y = b;
	int order = parts_compare_operation(x, y);

	if (order)
		return order;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

static int members_compare(const void *a, const void *b)
{
	const struct ct_member *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

bool ct_operation_called(const struct ct_collectives *c, const struct ct_operation *o, uint32_t rank)
{
	uint32_t low = 0, high = o->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->parts[o->first + middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->count && c->parts[o->first + low].rank == rank;
}

/* Is a rank that did not call it in the trace?  What others do is not known: they may be those of another node. */
static bool operation_hangs(const struct ct_collectives *c, const struct ct_operation *o)
{
	const struct ct_comm *of = &c->communicators[o->communicator];

	/* Who is who in one that was split off may not be known. */
	if (!of->ranks)
		return false;
	if (o->pair)
		return ct_collectives_member(c, o->communicator, c->parts[o->first].root);
	for (uint32_t i = 0; i < of->members_count; i++)
		if (!ct_operation_called(c, o, of->members[i].rank))
			return true;
	return false;
}

static void operation_judge(struct ct_collectives *c, struct ct_operation *o)
{
	const struct ct_comm *of = &c->communicators[o->communicator];
	const struct ct_part *p = &c->parts[o->first];
	uint32_t ranks = 0;
	bool apart = false;

	o->pair = ct_part_is_pair(p);
	o->weight = p->weight ? p->weight : 1;
	o->expected = !o->pair || !of->ranks ? of->ranks : p->rank == (uint32_t)p->root ? 1 : 2;
	o->measured = true;
	o->last = o->first;
	o->arrived = UINT64_MAX;
	for (uint32_t i = 0; i < o->count; i++) {
		struct ct_part *part = &c->parts[o->first + i];
		uint64_t gone = part->gpu_end ? part->gpu_end : part->end;

		ranks += !i || part->rank != part[-1].rank;
		o->measured &= part->gpu_end != 0;
		apart |= part->apart;
		o->mismatched |= !ct_part_same_call(p, part);
		if (ct_part_arrived(part) > ct_part_arrived(&c->parts[o->last]))
			o->last = o->first + i;
		o->arrived = ct_part_arrived(part) < o->arrived ? ct_part_arrived(part) : o->arrived;
		o->gone = gone > o->gone ? gone : o->gone;
	}
	for (uint32_t i = 0; i < o->count; i++) {
		uint64_t unsure = ct_collectives_unsure(c, c->parts[o->first + i].pid, c->parts[o->last].pid);

		o->unsure = unsure > o->unsure ? unsure : o->unsure;
	}
	o->complete = o->expected && ranks >= o->expected;
	/* Others may have come before, or after, somebody saw it. */
	o->apart = !o->complete && (apart || (of->left && o->arrived >= of->left));
	o->measured &= o->complete;
	o->hangs = !o->complete && !o->apart && operation_hangs(c, o);
	c->mismatched += o->mismatched;
}

static int operations_make(struct ct_collectives *c)
{
	size_t count = 0;

	free(c->operations);
	c->operations_count = 0;
	c->mismatched = 0;
	if (c->parts_count)
		qsort(c->parts, c->parts_count, sizeof(*c->parts), parts_compare);
	for (size_t i = 0; i < c->parts_count; i++)
		count += !i || parts_compare_operation(&c->parts[i - 1], &c->parts[i]);
	c->operations = calloc(count + 1, sizeof(*c->operations));
	if (!c->operations)
		return -ENOMEM;
	for (size_t i = 0; i < c->parts_count; i++) {
		struct ct_operation *o = &c->operations[c->operations_count];

		if (!i || parts_compare_operation(&c->parts[i - 1], &c->parts[i])) {
			c->operations_count++;
			*o = (struct ct_operation){
				.communicator = c->parts[i].communicator, .number = c->parts[i].number, .first = i,
			};
		} else {
			o--;
		}
		o->count++;
		c->parts[i].operation = o - c->operations;
	}
	for (size_t i = 0; i < c->operations_count; i++)
		operation_judge(c, &c->operations[i]);
	return 0;
}

/* ------------------------------------------------------------------- kernels --- */

static int parts_by_launch(const void *a, const void *b, void *arg)
{
	const struct ct_part *parts = arg, *x = &parts[*(const uint32_t *)a], *y = &parts[*(const uint32_t *)b];

	if (x->launch != y->launch)
		return x->launch < y->launch ? -1 : 1;
	return x->op_id < y->op_id ? -1 : x->op_id > y->op_id;
}

/* A kernel waits until the last of all of its operations has come; its time is divided by size. */
static void kernel_divide(struct ct_collectives *c, const uint32_t *list, size_t count)
{
	const struct ct_part *p = &c->parts[list[0]];
	uint64_t until = 0, all = 0, ns = p->gpu_end - p->gpu_begin, waits, unsure = 0;
	bool known = true;

	for (size_t i = 0; i < count; i++) {
		const struct ct_part *part = &c->parts[list[i]];
		const struct ct_operation *o = &c->operations[part->operation];
		uint64_t last = ct_part_arrived(&c->parts[o->last]);

		uint64_t apart = ct_collectives_unsure(c, part->pid, c->parts[o->last].pid);

		known &= o->measured && apart != UINT64_MAX;
		unsure = apart > unsure ? apart : unsure;
		all += part->size;
		until = last > until ? last : until;
	}
	if (!p->gpu_end)
		return;
	/* One of libnccl's all the same: it counts as moving data. */
	for (size_t i = 0; i < count && !known; i++)
		c->parts[list[i]].until = p->gpu_begin;
	if (!known)
		return;
	/* Nothing is concluded from less than the clocks of hosts are exact to. */
	if (until < ct_sum(p->gpu_begin, unsure))
		until = p->gpu_begin;
	until = until > p->gpu_end ? p->gpu_end : until;
	waits = until - p->gpu_begin;
	for (size_t i = 0; i < count; i++) {
		struct ct_part *part = &c->parts[list[i]];
		double share = part->share > 0 ? part->share : all ? (double)part->size / all : 1.0 / count;

		part->until = until;
		part->waiting = waits * share;
		part->moving = (ns - waits) * share;
	}
}

static int kernels_divide(struct ct_collectives *c)
{
	uint32_t *list = malloc((c->parts_count + 1) * sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < c->parts_count; i++) {
		c->parts[i].until = c->parts[i].waiting = c->parts[i].moving = 0;
		if (c->parts[i].launch)
			list[count++] = i;
	}
	qsort_r(list, count, sizeof(*list), parts_by_launch, c->parts);
	for (size_t i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && c->parts[list[i + same]].launch == c->parts[list[i]].launch; same++)
			;
		kernel_divide(c, &list[i], same);
	}
	free(c->by_launch);
	c->by_launch = list;
	c->by_launch_count = count;
	return 0;
}

/* ------------------------------------------------------------ several ranks --- */

/* A process that is several ranks. */
struct several {
	uint64_t pid;
	uint32_t communicator;	/* the largest in which it is */
};

/* Who uses a GPU, or a thread, of such a process. */
struct several_user {
	uint64_t pid, what;
	uint32_t of;
	bool unknown;		/* several do */
};

#define SEVERAL_GPU	(1ull << 32)

struct severals {
	CT_KEYED(struct several) processes;
	CT_KEYED(struct several_user) users;
};

static int several_find(struct severals *s, const struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		const struct ct_comm *comm = &c->communicators[i];
		CT_KEYED(uint64_t) seen = { 0 };
		int rc = 0;

		for (uint32_t k = 0; k < comm->members_count && !rc; k++) {
			uint32_t pid = comm->members[k].pid;
			struct several *one;

			if (!ct_keyed_get(&seen, pid)) {
				rc = ct_keyed_put(&seen, pid) ? 0 : -ENOMEM;
				continue;
			}
			one = ct_keyed_get(&s->processes, pid);
			if (one && c->communicators[one->communicator].members_count >= comm->members_count)
				continue;
			one = one ? one : ct_keyed_put(&s->processes, pid);
			rc = one ? 0 : -ENOMEM;
			if (one)
				one->communicator = i;
		}
		ct_keyed_free(&seen);
		if (rc)
			return rc;
	}
	return 0;
}

static int several_uses(struct severals *s, const struct ct_part *p, uint64_t what)
{
	struct several_user *u = ct_keyed_get_pair(&s->users, p->pid, what);

	if (u) {
		u->unknown |= u->of != p->of;
		return 0;
	}
	u = ct_keyed_put_pair(&s->users, p->pid, what);
	if (!u)
		return -ENOMEM;
	u->of = p->of;
	return 0;
}

/* Was it split off from that one, or one that was? */
static bool several_is_part(const struct ct_collectives *c, uint32_t communicator, uint64_t of)
{
	uint64_t id = c->communicators[communicator].split_of;

	for (uint32_t i = 0, steps = 0; id && id != of && i < c->communicators_count && steps < c->communicators_count; i++)
		if (c->communicators[i].id == id) {
			id = c->communicators[i].split_of;
			i = UINT32_MAX;
			steps++;
		}
	return id && id == of;
}

static uint32_t several_which(const struct severals *s, const struct ct_collectives *c, const struct several *one, const struct ct_part *p)
{
	const struct several_user *u = NULL;

	/* One that was split off has the number of its parent's rank. */
	if (p->communicator == one->communicator || several_is_part(c, p->communicator, c->communicators[one->communicator].id))
		return p->rank;
	if (p->gpu_end)
		u = ct_keyed_get_pair(&s->users, p->pid, SEVERAL_GPU | p->gpu);
	if (!u || u->unknown)
		u = ct_keyed_get_pair(&s->users, p->pid, p->tid);
	return u && !u->unknown ? u->of : p->rank;
}

static int own_ranks_find(struct ct_collectives *c)
{
	ct_keyed_free(&c->own);
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		const struct ct_comm *comm = &c->communicators[i];
		/* Its ranks are numbered as its parent's. */
		uint32_t ranks = comm->ranks < CT_MEMBERS_MAX ? comm->ranks : CT_MEMBERS_MAX;
		uint32_t size = comm->split_of ? 1 : (ranks > comm->members_count ? ranks : comm->members_count) + 1;

		for (uint32_t k = 0; k < comm->members_count; k++) {
			struct ct_own_rank *own = ct_keyed_put(&c->own, comm->members[k].pid);

			if (!own)
				return -ENOMEM;
			own->several |= k && comm->members[k - 1].pid == comm->members[k].pid;
			if (size <= own->size)
				continue;
			own->rank = comm->members[k].rank;
			own->size = size;
		}
	}
	return 0;
}

uint32_t ct_collectives_member(const struct ct_collectives *c, uint32_t communicator, uint32_t rank)
{
	const struct ct_comm *comm = &c->communicators[communicator];
	uint32_t low = 0, high = comm->members_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (comm->members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < comm->members_count && comm->members[low].rank == rank ? comm->members[low].pid : 0;
}

/* Of which rank of its process each call is. */
static int severals_find(struct ct_collectives *c)
{
	struct severals s = { 0 };
	int rc = several_find(&s, c);

	for (size_t i = 0; i < c->parts_count; i++)
		c->parts[i].of = CT_ONE_RANK;
	for (size_t i = 0; i < c->parts_count && s.processes.count && !rc; i++) {
		struct ct_part *p = &c->parts[i];
		const struct several *one = ct_keyed_get(&s.processes, p->pid);

		if (!one || one->communicator != p->communicator)
			continue;
		p->of = p->rank;
		rc = several_uses(&s, p, p->tid);
		if (!rc && p->gpu_end)
			rc = several_uses(&s, p, SEVERAL_GPU | p->gpu);
	}
	for (size_t i = 0; i < c->parts_count && s.processes.count && !rc; i++) {
		const struct several *one = ct_keyed_get(&s.processes, c->parts[i].pid);

		if (one)
			c->parts[i].of = several_which(&s, c, one, &c->parts[i]);
	}
	ct_keyed_free(&s.processes);
	ct_keyed_free(&s.users);
	return rc;
}

/* ------------------------------------------------------------- splits --- */

static int splits_by_key(const void *a, const void *b)
{
	const struct ct_member *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Have all ranks of the one that it was split off of been recorded?  Then so have all that made it. */
static bool splits_complete(const struct ct_collectives *c, const struct ct_comm *comm)
{
	bool others = false;

	for (uint32_t i = 0; comm->split_of && i < c->communicators_count; i++)
		if (c->communicators[i].id == comm->split_of)
			return c->communicators[i].ranks && c->communicators[i].members_count == c->communicators[i].ranks;
	/* Where the trace lacks its beginning, nothing says of which it was: then all that are known must be there. */
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		if (c->communicators[i].members_count < c->communicators[i].ranks)
			return false;
		others |= c->communicators[i].ranks > 0;
	}
	return others;
}

/*
 * The library knows of a communicator that was split off only which rank of the other one it is; peers and roots are by
 * the numbers in the new one.  Those are known where all its ranks were recorded.  @renamed: from the old number, + 1.
 */
static bool splits_number(const struct ct_collectives *c, struct ct_comm *comm, uint32_t *renamed)
{
	if (comm->ranks || !comm->members_count || comm->members_count == CT_MEMBERS_MAX || !splits_complete(c, comm))
		return false;
	qsort(comm->members, comm->members_count, sizeof(*comm->members), splits_by_key);
	for (uint32_t i = 0; i < comm->members_count; i++) {
		if (comm->members[i].rank >= CT_MEMBERS_MAX)
			return false;
		renamed[comm->members[i].rank] = i + 1;
	}
	return true;
}

static int splits_find(struct ct_collectives *c)
{
	uint32_t **renamed = calloc(c->communicators_count + 1ul, sizeof(*renamed));
	int rc = renamed ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < c->communicators_count && !rc; i++) {
		struct ct_comm *comm = &c->communicators[i];

		if (comm->ranks)
			continue;
		renamed[i] = calloc(CT_MEMBERS_MAX, sizeof(**renamed));
		rc = renamed[i] ? 0 : -ENOMEM;
		if (rc || !splits_number(c, comm, renamed[i])) {
			free(renamed[i]);
			renamed[i] = NULL;
			continue;
		}
		comm->ranks = comm->members_count;
		comm->numbered = true;
		for (uint32_t k = 0; k < comm->members_count; k++) {
			comm->members[k].parent = comm->members[k].rank;
			comm->members[k].rank = k;
		}
	}
	for (size_t i = 0; i < c->parts_count && !rc; i++) {
		const uint32_t *of = renamed[c->parts[i].communicator];

		if (of && c->parts[i].rank < CT_MEMBERS_MAX && of[c->parts[i].rank])
			c->parts[i].rank = of[c->parts[i].rank] - 1;
	}
	for (uint32_t i = 0; renamed && i < c->communicators_count; i++)
		free(renamed[i]);
	free(renamed);
	return rc;
}

static void members_sort(struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count; i++)
		if (c->communicators[i].members_count)
			qsort(c->communicators[i].members, c->communicators[i].members_count,
			      sizeof(struct ct_member), members_compare);
}

static void left_find(struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		struct ct_comm *comm = &c->communicators[i];

		comm->left = 0;
		for (uint32_t k = 0; k < comm->members_count && c->left.count; k++) {
			const struct ct_left *left = ct_keyed_get(&c->left, comm->members[k].pid);

			if (left && (!comm->left || left->at < comm->left))
				comm->left = left->at;
		}
	}
}

int ct_operations_make(struct ct_collectives *c)
{
	int rc = 0;

	members_sort(c);
	/* The second time only the clocks have changed. */
	if (!c->numbered) {
		rc = own_ranks_find(c);
		rc = rc ? rc : severals_find(c);
		rc = rc ? rc : splits_find(c);
		members_sort(c);
	}
	c->numbered = !rc;
	left_find(c);
	rc = rc ? rc : operations_make(c);
	return rc ? rc : kernels_divide(c);
}

uint64_t ct_operations_until(const struct ct_collectives *c, uint64_t launch)
{
	size_t low = 0, high = c ? c->by_launch_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->parts[c->by_launch[middle]].launch < launch)
			low = middle + 1;
		else
			high = middle;
	}
	return c && low < c->by_launch_count && c->parts[c->by_launch[low]].launch == launch ?
	       c->parts[c->by_launch[low]].until : 0;
}
/* -------------------------------------------------------------------- sizes --- */

static bool operation_is(const struct ct_part *p, const char *name)
{
	return !strcmp(ct_part_name(p), name);
}

uint64_t ct_operation_size(const struct ct_collectives *c, const struct ct_operation *o)
{
	const struct ct_part *p = &c->parts[o->first];

	if (operation_is(p, "AllGather") || operation_is(p, "ReduceScatter") || operation_is(p, "AlltoAll") ||
	    operation_is(p, "Gather") || operation_is(p, "Scatter"))
		return p->size * (o->expected ? o->expected : 1);
	return p->size;
}

double ct_operation_bus(const struct ct_collectives *c, const struct ct_operation *o)
{
	const struct ct_part *p = &c->parts[o->first];
	double n = o->expected ? o->expected : 1;

	if (operation_is(p, "AllReduce"))
		return 2 * (n - 1) / n;
	if (operation_is(p, "AllGather") || operation_is(p, "ReduceScatter") || operation_is(p, "AlltoAll") ||
	    operation_is(p, "Gather") || operation_is(p, "Scatter"))
		return (n - 1) / n;
	return 1;
}
