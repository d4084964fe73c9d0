// SPDX-License-Identifier: LGPL-2.1-or-later
/* See job_uncovered.h. */
#include "analysis/ranks/job_uncovered.h"

#include <stdlib.h>
#include <string.h>

#include "view/term.h"

/* Are there ranks of other communicators with as many, of which it may be one, too? */
static bool job_is_unclear(const struct ct_collectives *c, const struct ct_comm *comm)
{
	for (uint32_t i = 0; comm->made_before && i < c->communicators_count; i++) {
		const struct ct_comm *other = &c->communicators[i];

		if (other != comm && other->made_before && other->ranks == comm->ranks && other->members_count &&
		    other->members_count < other->ranks && other->members[0].pid != comm->members[0].pid)
			return true;
	}
	return false;
}

const char *ct_job_unrecorded(const struct ct_analysis *a, char *buf, size_t size)
{
	const struct ct_collectives *c = a->collectives;
	const struct ct_comm *most = NULL;

	*buf = 0;
	for (uint32_t i = 0; i < c->communicators_count; i++) {
		const struct ct_comm *comm = &c->communicators[i];

		if (comm->members_count && comm->members_count < comm->ranks && (!most || comm->ranks > most->ranks))
			most = comm;
	}
	if (most && job_is_unclear(c, most))
		snprintf(buf, size, "Communicators of %u ranks were made before the recording began, and which ranks belong together is not known of all%s.",
			 most->ranks, c->measured ? "" : ": that needs the GPU's times (record --gpu)");
	else if (most)
		snprintf(buf, size, "Of the %u ranks of communicator %04llx %u %s in the trace.", most->ranks,
			 (unsigned long long)most->id >> 48, most->members_count, most->members_count == 1 ? "is" : "are");
	return buf;
}

static bool job_is(const struct ct_analysis *a)
{
	const struct ct_ranks *ranks = &a->processes->ranks;

	for (size_t i = 0; i < ranks->list.count; i++)
		if (ranks->list.list[i].size > 1)
			return true;
	return a->collectives->parts_count || a->collectives->communicators_count;
}

/* Communicators were made and never used: the ranks talk by other ways. */
static bool job_is_silent(const struct ct_collectives *c)
{
	for (uint32_t i = 0; i < c->communicators_count && !c->parts_count; i++)
		if (c->communicators[i].ranks > 1)
			return true;
	return false;
}

const char *ct_job_uncovered(const struct ct_analysis *a, char *buf, size_t size)
{
	static const char *const by[] = { "libmpi", "libnvshmem" };
	const struct ct_registry *reg = &a->trace->reg;
	char names[2][64] = { "", "" };
	size_t used = 0;

	*buf = 0;
	if (job_is_silent(a->collectives)) {
		snprintf(buf, size, "Communicators of libnccl were made, but none of its collectives was called. A framework may exchange small data in "
			 "kernels of its own over the GPUs' memory, as XLA does: that is not covered. ");
		used = strlen(buf);
	}
	for (unsigned int i = 0; i < reg->infos_count && job_is(a); i++) {
		const char *file = strcmp(reg->infos[i].key, "library") ? NULL : strrchr(reg->infos[i].text, '/');

		for (unsigned int k = 0; file && k < 2; k++)
			if (!strncmp(file + 1, by[k], strlen(by[k])) && !*names[k])
				ct_term_clean(names[k], sizeof(names[k]), file + 1, 40);
	}
	if (*names[0] || *names[1])
		snprintf(buf + used, size - used, "%s%s%s %s mapped: what ranks exchange by %s is not covered.", names[0], *names[0] && *names[1] ? " and " : "",
			 names[1], *names[0] && *names[1] ? "are" : "is", *names[0] && *names[1] ? "them" : "it");
	else if (used)
		buf[used - 1] = 0;
	return buf;
}

#define UNCALLED_SHOWN	4u	/* operations */

static int uncalled_compare(const void *a, const void *b)
{
	const struct ct_uncalled *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->count > y->count ? -1 : x->count < y->count;
}

/* One for each operation: libnccl has a kernel for each datatype and algorithm. */
static unsigned int uncalled_sum(const struct ct_analysis *a, struct ct_uncalled *sums, unsigned int room)
{
	const struct ct_registry *reg = &a->trace->reg;
	const struct ct_collectives *c = a->collectives;
	unsigned int count = 0, k;

	for (size_t i = 0; i < c->uncalled.count; i++) {
		const struct ct_uncalled *u = &c->uncalled.list[i];
		int length, other;
		const char *name = ct_collectives_kernel(reg->strings[u->kernel], &length);

		for (k = 0; k < count; k++) {
			const char *known = ct_collectives_kernel(reg->strings[sums[k].kernel], &other);

			if (other == length && !strncmp(name, known, length))
				break;
		}
		if (k == room)
			continue;
		if (k == count)
			sums[count++] = (struct ct_uncalled){ .kernel = u->kernel };
		sums[k].count += u->count;
		sums[k].ns += u->ns;
	}
	qsort(sums, count, sizeof(*sums), uncalled_compare);
	return count;
}

const char *ct_job_uncalled(const struct ct_analysis *a, char *buf, size_t size)
{
	const struct ct_registry *reg = &a->trace->reg;
	struct ct_uncalled sums[16];
	unsigned int count = a->trace->summaries ? 0 : uncalled_sum(a, sums, 16);
	const char *inside = ct_registry_info(reg, "nccl_inside");
	char number[CT_TERM_TEXT], ns[CT_TERM_TEXT], file[128];
	size_t used = 0;

	*buf = 0;
	for (unsigned int i = 0; i < count && i < UNCALLED_SHOWN && used < size; i++) {
		int length;
		const char *name = ct_collectives_kernel(reg->strings[sums[i].kernel], &length);

		used += snprintf(buf + used, size - used, "%s%.*s (%s kernel%s%s%s)", !i ? "" : i + 1 == count ? " and " : ", ",
				 length > 40 ? 40 : length, name, ct_term_count(number, sums[i].count), sums[i].count == 1 ? "" : "s",
				 sums[i].ns ? ", " : "", sums[i].ns ? ct_term_ns(ns, sums[i].ns) : "");
	}
	if (used && used < size)
		used += snprintf(buf + used, size - used, "%s of NCCL ran without a recorded call, as in CUDA graphs and where libnccl is linked "
				 "statically: how long ranks wait in them is not known, and a GPU that waits counts as busy.",
				 count > UNCALLED_SHOWN ? ", ..." : "");
	if (used && used < size && a->collectives->uncalled_before && ct_registry_info(reg, "attached"))
		used += snprintf(buf + used, size - used, " Some of them may have been launched before the recording began.");
	if (used && used < size && inside)
		snprintf(buf + used, size - used, " There is a libnccl in %s: what that calls of it directly is not recorded.",
			 ct_term_clean(file, sizeof(file), inside, 100));
	return buf;
}
