// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job_names.h. */
#include "analysis/ranks/job_names.h"

#include <stdlib.h>

#include "decode/nccl.h"
#include "view/term.h"

#define MISSING_SHOWN	8	/* ranks that are named */

/* Of a process that no launcher calls a rank: that in its largest communicator. */
static int64_t job_rank_of_pid(const struct ct_analysis *a, uint32_t pid)
{
	const struct ct_own_rank *own = ct_keyed_get(&a->collectives->own, pid);
	int32_t rank = ct_processes_rank(a->processes, pid);

	if (own && own->several)
		return -1;
	return rank >= 0 ? rank : own ? (int64_t)own->rank : -1;
}

int64_t ct_job_rank_in(const struct ct_analysis *a, uint32_t communicator, uint32_t rank)
{
	uint32_t pid = ct_collectives_member(a->collectives, communicator, rank);
	const struct ct_own_rank *own = ct_keyed_get(&a->collectives->own, pid);

	if (!pid)
		return -1;
	return own && own->several ? (int64_t)rank : job_rank_of_pid(a, pid);
}

uint32_t ct_job_rank_of(const struct ct_analysis *a, const struct ct_part *p)
{
	int64_t rank = p->of != CT_ONE_RANK ? (int64_t)p->of : job_rank_of_pid(a, p->pid);

	return rank < 0 ? p->rank : (uint32_t)rank;
}

/* Behind @used: "3", or where it is not known which process that is: "1 of it", where the communicator's numbers are its own. */
static size_t job_put_rank(const struct ct_analysis *a, uint32_t communicator, uint32_t rank, bool first, char *buf, size_t used, size_t size)
{
	const struct ct_comm *of = &a->collectives->communicators[communicator];
	int64_t known = ct_job_rank_in(a, communicator, rank);
	bool same = known >= 0;

	for (uint32_t i = 0; known < 0 && i < of->members_count && !same; i++)
		same = ct_job_rank_in(a, communicator, of->members[i].rank) == (int64_t)of->members[i].rank;
	if (used < size)
		used += snprintf(buf + used, size - used, "%s%u%s", first ? "" : ", ", known < 0 ? rank : (uint32_t)known, same ? "" : " of it");
	return used;
}

static int job_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* "0-3, 8" of ranks, which are sorted. */
static size_t job_put_ranges(uint32_t *ranks, uint32_t n, char *buf, size_t used, size_t size)
{
	if (n)
		qsort(ranks, n, sizeof(*ranks), job_by_number);
	for (uint32_t i = 0, same; i < n && used < size; i += same) {
		for (same = 1; i + same < n && ranks[i + same] == ranks[i] + same; same++)
			;
		if (used + 28 >= size)
			return used + snprintf(buf + used, size - used, ", ...");
		used += snprintf(buf + used, size - used, same > 1 ? "%s%u-%u" : "%s%u", i ? ", " : "", ranks[i], ranks[i] + same - 1);
	}
	return used;
}

const char *ct_job_members(const struct ct_analysis *a, uint32_t communicator, char *buf, size_t size)
{
	const struct ct_comm *of = &a->collectives->communicators[communicator];
	uint32_t *ranks = malloc((of->members_count + 1ul) * sizeof(*ranks));
	uint32_t n = 0;

	*buf = 0;
	for (uint32_t i = 0; ranks && i < of->members_count; i++) {
		int64_t rank = ct_job_rank_in(a, communicator, of->members[i].rank);

		if (rank >= 0)
			ranks[n++] = (uint32_t)rank;
	}
	job_put_ranges(ranks, n, buf, 0, size);
	free(ranks);
	return buf;
}

const char *ct_job_missing(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_comm *of = &c->communicators[o->communicator];
	const struct ct_part *first = &c->parts[o->first];
	/* What ranks did that are not in the trace is not known. */
	uint32_t count = of->members_count ? of->members_count : o->expected;
	unsigned int shown = 0;
	size_t used = 0;

	*buf = 0;
	if (o->pair) {
		if (!o->complete && first->root >= 0)
			job_put_rank(a, o->communicator, first->root, true, buf, 0, size);
		return buf;
	}
	for (uint32_t i = 0; i < count && used < size; i++) {
		uint32_t rank = of->members_count ? of->members[i].rank : i;

		if (ct_operation_called(c, o, rank))
			continue;
		if (shown++ == MISSING_SHOWN) {
			snprintf(buf + used, size - used, " ...");
			break;
		}
		used = job_put_rank(a, o->communicator, rank, shown == 1, buf, used, size);
	}
	return buf;
}

const char *ct_job_operation_text(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_part *p = &c->parts[o->first];
	char bytes[CT_TERM_TEXT], ends[2][24];
	bool sends = ct_class_is(p->class, CT_IS_SEND);

	ct_term_bytes(bytes, ct_operation_size(c, o));
	if (!o->pair || p->root < 0) {
		snprintf(buf, size, "%s %u of communicator %04llx (%s)", ct_part_name(p), o->number,
			 (unsigned long long)c->communicators[o->communicator].id >> 48, bytes);
		return buf;
	}
	snprintf(ends[!sends], sizeof(ends[0]), "%u", ct_job_rank_of(a, p));
	job_put_rank(a, o->communicator, p->root, true, ends[sends], 0, sizeof(ends[0]));
	snprintf(buf, size, "%s %u from rank %s to rank %s (communicator %04llx, %s)", ct_part_name(p), o->number, ends[0], ends[1],
		 (unsigned long long)c->communicators[o->communicator].id >> 48, bytes);
	return buf;
}

/* "ranks 0-2 call AllReduce of 262,144 float32, sum" */
static size_t job_call(const struct ct_analysis *a, const struct ct_part *p, uint32_t *ranks, uint32_t n, char *buf, size_t used, size_t size)
{
	char count[CT_TERM_TEXT], root[32], list[64];
	const char *type = nccl_type_name(p->datatype), *reduction = nccl_reduction_name(p->reduction);

	job_put_ranges(ranks, n, list, 0, sizeof(list));
	used += snprintf(buf + used, size - used, "rank%s %s call%s %s of %s %s%s%s", n > 1 ? "s" : "", list, n > 1 ? "" : "s", ct_part_name(p),
			 ct_term_count(count, p->count), type ? type : "elements of an unknown type", reduction ? ", " : "",
			 reduction ? reduction : "");
	if (p->root < 0 || used >= size)
		return used;
	job_put_rank(a, p->communicator, p->root, true, root, 0, sizeof(root));
	return used + snprintf(buf + used, size - used, ct_class_is(p->class, CT_IS_SEND) ? " to rank %s" :
			       ct_class_is(p->class, CT_IS_RECEIVE) ? " from rank %s" : ", root %s", root);
}

#define CALLS_SHOWN	4	/* that differ */

const char *ct_job_mismatch(const struct ct_analysis *a, const struct ct_operation *o, char *buf, size_t size)
{
	const struct ct_part *parts = &a->collectives->parts[o->first];
	uint32_t *ranks = o->mismatched ? malloc(o->count * sizeof(*ranks)) : NULL;
	unsigned int calls = 0;
	size_t used = 0;

	*buf = 0;
	for (uint32_t i = 0; ranks && i < o->count && used < size && calls < CALLS_SHOWN; i++) {
		uint32_t n = 0, k = 0;

		/* Those that call the same stand with the first of them. */
		while (k < i && (!ct_part_same_call(&parts[k], &parts[i]) || parts[k].class != parts[i].class))
			k++;
		if (k < i)
			continue;
		for (k = i; k < o->count; k++)
			if (ct_part_same_call(&parts[k], &parts[i]) && parts[k].class == parts[i].class)
				ranks[n++] = ct_job_rank_of(a, &parts[k]);
		used += snprintf(buf + used, size - used, "%s", calls++ ? "; " : "");
		if (used < size)
			used = job_call(a, &parts[i], ranks, n, buf, used, size);
	}
	free(ranks);
	return buf;
}
