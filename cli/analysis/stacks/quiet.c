// SPDX-License-Identifier: LGPL-2.1-or-later
/* See quiet.h. */
#include "analysis/stacks/quiet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/hot.h"
#include "view/term.h"

#define QUIET_LINES	3u	/* that are told */
#define QUIET_LEAST	0.05	/* of the samples: less is not worth a word */

/* Did its main thread call something, as far as the streams say, or does another thread give the GPU work? */
static bool quiet_works(const struct ct_trace *t, const struct ct_phases *phases, uint32_t pid)
{
	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_THREAD && t->streams[i].pid == pid && t->streams[i].tid == pid)
			return true;
	for (unsigned int i = 0; i < phases->processes_count; i++)
		if (phases->processes[i].pid == pid && phases->processes[i].works)
			return true;
	return false;
}

/* Those that were asked about. */
struct quiet_asked {
	uint64_t pid;
	bool works;
};

struct quiet_look {
	const struct ct_trace *trace;
	const struct ct_phases *phases;
	CT_KEYED(struct quiet_asked) asked;
};

/* *@one: NULL: it works, or there is no room for more.  0 or -ENOMEM. */
static int quiet_of(struct ct_quiets *q, struct quiet_look *look, uint32_t pid, struct ct_quiet **one)
{
	struct quiet_asked *a = ct_keyed_get(&look->asked, pid);

	*one = NULL;
	if (!a) {
		a = ct_keyed_put(&look->asked, pid);
		if (!a)
			return -ENOMEM;
		a->works = quiet_works(look->trace, look->phases, pid);
	}
	if (a->works)
		return 0;
	for (unsigned int i = 0; i < q->count; i++)
		if (q->list[i].pid == pid) {
			*one = &q->list[i];
			return 0;
		}
	if (q->count == CT_QUIET_MOST)
		return 0;
	*one = &q->list[q->count];
	q->list[q->count] = (struct ct_quiet){ .pid = pid };
	q->count++;
	return 0;
}

static int quiet_sample(struct ct_quiet *q, const struct ct_registry *reg, const struct ct_record *r)
{
	uint32_t stack = ct_record_known(r, CT_KNOWN_STACK), node = 0;
	uint64_t state = ct_record_known(r, CT_KNOWN_STATE);
	struct ct_quiet_line *line;
	struct ct_stack_frame f;
	bool own = stack && ct_stack_own(reg, stack, &f, &node);

	line = ct_keyed_put(&q->lines, own ? (uint64_t)f.function << 32 | f.line : 0);
	if (!line)
		return -ENOMEM;
	line->node = node;
	line->samples++;
	line->states[state < CT_SAMPLE_STATES ? state : CT_SAMPLE_UNKNOWN]++;
	q->from = !q->samples || r->end < q->from ? r->end : q->from;
	q->to = r->end > q->to ? r->end : q->to;
	q->samples++;
	return 0;
}

static int quiet_compare(const void *a, const void *b)
{
	const struct ct_quiet_line *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

int ct_quiets_find(struct ct_quiets *q, const struct ct_trace *t, const struct ct_phases *phases)
{
	struct quiet_look look = { .trace = t, .phases = phases };
	int rc = 0;

	*q = (struct ct_quiets){ .count = 0 };
	/* Of a program that record has started nobody asks: it may not have come to CUDA yet. */
	if (!ct_registry_info(&t->reg, CT_ATTACHED_INFO))
		return 0;
	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		struct ct_cursor c;
		struct ct_record r;

		if (t->streams[i].kind != CT_STREAM_STATE)
			continue;
		ct_cursor_init(&c, t, i);
		while (!rc && ct_cursor_next(&c, &r)) {
			struct ct_quiet *one;

			if (!ct_class_is_sample(r.class) || r.tid != r.pid || (t->filter && t->filter->pid && t->filter->pid != r.pid))
				continue;
			rc = quiet_of(q, &look, r.pid, &one);
			rc = rc || !one ? rc : quiet_sample(one, &t->reg, &r);
		}
	}
	for (unsigned int i = 0; i < q->count; i++)
		ct_keyed_sort(&q->list[i].lines, quiet_compare);
	ct_keyed_free(&look.asked);
	return rc;
}

void ct_quiets_free(struct ct_quiets *q)
{
	for (unsigned int i = 0; i < q->count; i++)
		ct_keyed_free(&q->list[i].lines);
	q->count = 0;
}

const char *ct_quiet_name(const struct ct_trace *t, const struct ct_processes *processes, const struct ct_quiet *q, char *buf, size_t size)
{
	const char *command = ct_registry_info(&t->reg, "command"), *end, *begin;
	char number[16], name[64], clean[64];

	int32_t rank = ct_processes_rank(processes, q->pid);

	if (ct_processes_word(processes, q->pid))
		return ct_processes_name(processes, q->pid, buf, size);
	snprintf(number, sizeof(number), "[%u]", q->pid);
	end = command ? strstr(command, number) : NULL;
	for (begin = end; begin && begin > command && begin[-1] != ' '; begin--)
		;
	snprintf(name, sizeof(name), "%.*s", end ? (int)(end - begin > 40 ? 40 : end - begin) : 1, end ? begin : "?");
	ct_term_clean(clean, sizeof(clean), name, 40);
	if (rank >= 0)
		snprintf(buf, size, "rank %d (%s %u)", rank, clean, q->pid);
	else
		snprintf(buf, size, "%s (%u)", clean, q->pid);
	return buf;
}

/* What it did at most of the samples of a line. */
static enum ct_sample_state quiet_state(const struct ct_quiet_line *line)
{
	enum ct_sample_state most = CT_SAMPLE_UNKNOWN;

	for (unsigned int i = 0; i < CT_SAMPLE_STATES; i++)
		if (line->states[i] > line->states[most])
			most = i;
	return most;
}

const char *ct_quiet_text(const struct ct_registry *reg, const struct ct_quiet *q, char *buf, size_t size)
{
	char ns[CT_TERM_TEXT], number[CT_TERM_TEXT], place[300];
	size_t used = snprintf(buf, size, "its main thread made no call of CUDA in %s: it waits, hangs, or works without CUDA. It was at ",
			       ct_term_ns(ns, q->to - q->from));

	for (size_t i = 0; i < q->lines.count && i < QUIET_LINES && used < size; i++) {
		const struct ct_quiet_line *line = &q->lines.list[i];
		double share = (double)line->samples / q->samples;
		struct ct_stack_frame f;

		if (i && share < QUIET_LEAST)
			break;
		if (line->key && ct_stack_frame(reg, line->node, &f))
			ct_stack_line(&f, place, sizeof(place));
		else
			snprintf(place, sizeof(place), "without lines");
		used += snprintf(buf + used, size - used, "%s%s, %s (%.0f %%)", i ? "; " : "", place, ct_sample_words[quiet_state(line)], 100 * share);
	}
	if (used < size)
		snprintf(buf + used, size - used, ", by %s samples.", ct_term_count(number, q->samples));
	return buf;
}
