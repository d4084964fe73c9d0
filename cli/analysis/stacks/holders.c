// SPDX-License-Identifier: LGPL-2.1-or-later
/* See holders.h. */
#include "analysis/stacks/holders.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/stacks/hot.h"
#include "trace/about/machine.h"

#define HOLDERS_MOST	0.9	/* of the samples: others are not worth a word */

/* Of a thread, by its tid; or of a line, by function << 32 | line. */
struct holders_sum {
	uint64_t key, samples;
	uint32_t node;
	uint64_t states[CT_SAMPLE_STATES];
};

typedef CT_KEYED(struct holders_sum) holders_sums;

static int holders_sum(holders_sums *sums, uint64_t key, uint32_t node, const struct ct_holder *h)
{
	struct holders_sum *sum = ct_keyed_put(sums, key);

	if (!sum)
		return -ENOMEM;
	sum->node = node;
	sum->samples += h->samples;
	for (unsigned int i = 0; i < CT_SAMPLE_STATES; i++)
		sum->states[i] += h->states[i];
	return 0;
}

static const struct holders_sum *holders_most(const holders_sums *sums)
{
	const struct holders_sum *most = NULL;

	for (size_t i = 0; i < sums->count; i++)
		most = !most || sums->list[i].samples > most->samples ? &sums->list[i] : most;
	return most;
}

static size_t holders_thread(const struct ct_registry *reg, uint32_t pid, uint32_t tid, char *buf, size_t size)
{
	struct ct_machine m;
	const char *name = ct_machine_read(&m, reg) ? NULL : ct_machine_thread(&m, pid, tid);
	size_t used = snprintf(buf, size, "held by thread %u%s%s%s", tid, name ? " (" : "", name ? name : "", name ? ")" : "");

	ct_machine_free(&m);
	return used;
}

bool ct_holders_wait(const struct ct_stack_costs *costs, uint64_t part)
{
	uint64_t all = 0, waits = 0;

	for (size_t i = 0; i < costs->holders.count; i++) {
		const struct ct_holder *one = &costs->holders.list[i];

		if (one->whose >> 32 != part)
			continue;
		all += one->samples;
		waits += one->samples - one->states[CT_SAMPLE_UNKNOWN] - one->states[CT_SAMPLE_RUNNING];
	}
	return waits * 2 > all;
}

const char *ct_holders_text(const struct ct_stack_costs *costs, const struct ct_registry *reg, uint64_t part, uint32_t pid, char *buf,
			    size_t size)
{
	holders_sums threads = { 0 }, lines = { 0 };
	const struct holders_sum *thread, *line;
	uint64_t all = 0, known = 0;
	struct ct_stack_frame f;
	char words[256];
	uint32_t node;
	size_t used;
	int rc = 0;

	*buf = 0;
	for (size_t i = 0; i < costs->holders.count && !rc; i++) {
		const struct ct_holder *one = &costs->holders.list[i];

		if (one->whose >> 32 != part)
			continue;
		all += one->samples;
		if (!(uint32_t)one->whose)
			continue;
		known += one->samples;
		rc = holders_sum(&threads, (uint32_t)one->whose, 0, one);
		if (!rc && one->node && ct_stack_own(reg, one->node, &f, &node))
			rc = holders_sum(&lines, (uint64_t)f.function << 32 | f.line, node, one);
	}
	thread = holders_most(&threads);
	line = holders_most(&lines);
	if (!rc && thread && known * 2 > all) {
		if (thread->samples < HOLDERS_MOST * known)
			used = snprintf(buf, size, "held by %zu threads", threads.count);
		else
			used = holders_thread(reg, pid, thread->key, buf, size);
		if (line && used < size && ct_stack_frame(reg, line->node, &f)) {
			if (line->samples < HOLDERS_MOST * known)
				used += snprintf(buf + used, size - used, ", for %.0f %%", 100.0 * line->samples / known);
			if (used < size)
				used += snprintf(buf + used, size - used, " at %s", ct_stack_line(&f, words, sizeof(words)));
		}
		for (unsigned int i = CT_SAMPLE_RUNNING + 1; i < CT_SAMPLE_STATES && used < size; i++)
			if (2 * (line ? line : thread)->states[i] > (line ? line : thread)->samples)
				used += snprintf(buf + used, size - used, ", itself %s", ct_sample_words[i]);
	}
	ct_keyed_free(&threads);
	ct_keyed_free(&lines);
	return buf;
}
