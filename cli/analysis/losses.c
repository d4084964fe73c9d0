// SPDX-License-Identifier: LGPL-2.1-or-later
/* See losses.h. */
#include "analysis/losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/sum.h"
#include "view/term.h"

#define RING_DEFAULT (4ull << 20) /* of traces that don't say it */
#define RECORD_BYTES 64 /* of a CPU that recorded nothing */
#define RING_MAX (1ull << 30) /* the module takes no more */
#define LOST_MAX (1ull << 40) /* a damaged trace may say anything */

static const char *const group_word[] = {
#define CT_ROW(id, word) [CT_GROUP_##id] = word,
	CT_GROUPS(CT_ROW)
#undef CT_ROW
};

static uint64_t losses_bounded(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/*
 * A ring with room for the lost records as well loses nothing if the recorder comes as
 * often as it did.  It may come later the next time: half as much again.  One producer may use
 * only a share of the ring: then the room that its records need is larger by as much.
 */
uint64_t ct_losses_needed(const struct ct_losses_cpu *cpu, uint64_t ring)
{
	uint64_t bytes = cpu->records && cpu->bytes ? cpu->bytes / cpu->records : RECORD_BYTES;
	uint64_t full = losses_bounded(cpu->lost[CT_LOST_FULL], LOST_MAX);
	uint64_t share = losses_bounded(cpu->lost[CT_LOST_SHARE], LOST_MAX);
	uint64_t lost =
		(full + share * 100 / CT_SHARE_DEFAULT) * losses_bounded(bytes, CT_RECORD_MAX);
	uint64_t size = ring;

	if (!lost)
		return 0;
	while (size < ring + lost * 3 / 2)
		size *= 2;
	return size;
}

struct losses_cpus {
	CT_KEYED(struct ct_losses_cpu);
};

static uint64_t losses_number(const struct ct_trace *t, const char *key, uint64_t otherwise)
{
	const char *text = ct_registry_info(&t->reg, key);
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	return value && !(value & (value - 1)) && value <= RING_MAX ? value : otherwise;
}

/* A probe's counters, which stand in the trace once, at the end. */
static void losses_take_probe(struct ct_losses *l, const struct ct_record *r)
{
	struct ct_probe p;
	const char *text;
	uint16_t len;

	memcpy(&p, r->fields, sizeof(p) < r->class->size ? sizeof(p) : r->class->size);
	if (p.group >= CT_GROUP_COUNT || !p.hits)
		return;
	l->hits[p.group] += p.hits;
	l->all_hits += p.hits;
	text = ct_record_text(r, &len);
	if (!text || p.hits <= l->busiest_hits)
		return;
	l->busiest_hits = p.hits;
	snprintf(l->busiest, sizeof(l->busiest), "%.*s", len, text);
}

/* Counters are cumulative: the last record of a CPU and reason counts. */
static int losses_take_stat(struct losses_cpus *by_cpu, const struct ct_record *r)
{
	uint64_t reason = ct_record_known(r, CT_KNOWN_REASON);
	struct ct_losses_cpu *cpu = ct_keyed_put(by_cpu, ct_record_known(r, CT_KNOWN_CPU));
	struct ct_stream_stat stat;

	if (!cpu)
		return -ENOMEM;
	if (reason < CT_LOST_REASONS)
		cpu->lost[reason] = ct_record_known(r, CT_KNOWN_LOST);
	memcpy(&stat, r->fields, sizeof(stat));
	cpu->records = stat.records;
	return 0;
}

static int losses_take_state(struct ct_losses *l, struct losses_cpus *by_cpu, const struct ct_trace *t,
			     unsigned int stream)
{
	struct ct_cursor c;
	struct ct_record r;
	int rc = 0;

	ct_cursor_init(&c, t, stream);
	while (!rc && ct_cursor_next(&c, &r)) {
		if (r.class->id == CT_CLASS_stream_stat)
			rc = losses_take_stat(by_cpu, &r);
		else if (r.class->id == CT_CLASS_probe)
			losses_take_probe(l, &r);
	}
	return rc;
}

/* What a CPU's packets say, where the recorder could not write its counters. */
static int losses_take_stream(struct losses_cpus *by_cpu, const struct ct_stream_file *s)
{
	struct ct_losses_cpu *cpu = ct_keyed_put(by_cpu, s->cpu);
	uint64_t known = 0;

	if (!cpu)
		return -ENOMEM;
	for (unsigned int i = 0; i < CT_LOST_REASONS; i++)
		known = ct_sum(known, cpu->lost[i]);
	if (s->lost > known)
		cpu->lost[CT_LOST_FULL] = ct_sum(cpu->lost[CT_LOST_FULL], s->lost - known);
	cpu->records = s->records;
	for (uint32_t i = 0; i < s->packets_count; i++)
		cpu->bytes += s->packets[i].content;
	return 0;
}

static void losses_add(struct ct_losses *l, const struct ct_losses_cpu *cpu)
{
	uint64_t needed = ct_losses_needed(cpu, l->ring), cpus = 0;

	for (unsigned int i = 0; i < CT_LOST_REASONS; i++) {
		l->lost[i] = ct_sum(l->lost[i], cpu->lost[i]);
		cpus = ct_sum(cpus, cpu->lost[i]);
	}
	l->threads -= cpus < l->threads ? cpus : l->threads;
	if (needed > l->needed)
		l->needed = needed;
}

static int losses_compare(const void *a, const void *b)
{
	const struct ct_losses_cpu *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* Sums up the CPUs, frees them, and makes a list of those that lost records. */
static int losses_finish(struct ct_losses *l, struct losses_cpus *by_cpu, struct ct_losses_cpu **cpus,
			 unsigned int *count)
{
	*count = 0;
	*cpus = calloc(by_cpu->count + 1, sizeof(**cpus));
	for (size_t i = 0; i < by_cpu->count; i++) {
		const struct ct_losses_cpu *cpu = &by_cpu->list[i];
		bool lost = false;

		losses_add(l, cpu);
		for (unsigned int k = 0; k < CT_LOST_REASONS; k++)
			lost |= cpu->lost[k] > 0;
		if (lost && *cpus)
			(*cpus)[(*count)++] = *cpu;
	}
	ct_keyed_free(by_cpu);
	if (*cpus)
		qsort(*cpus, *count, sizeof(**cpus), losses_compare);
	return *cpus ? 0 : -ENOMEM;
}

int ct_losses_by_cpu(struct ct_losses *l, const struct ct_trace *t, struct ct_losses_cpu **cpus,
		     unsigned int *count)
{
	struct losses_cpus by_cpu = { 0 };
	int rc = 0, finished;

	*l = (struct ct_losses){
		.threads = t->lost,
		.module = t->has_kernel, .keeps = ct_registry_info(&t->reg, CT_KEEP_INFO),
		.ring = losses_number(t, CT_LOSSES_RING, RING_DEFAULT),
		.largest = losses_number(t, CT_LOSSES_LARGEST, 0),
	};
	for (unsigned int i = 0; t->lost && i < t->streams_count && !rc; i++)
		if (t->streams[i].kind == CT_STREAM_STATE)
			rc = losses_take_state(l, &by_cpu, t, i);
	for (unsigned int i = 0; t->lost && i < t->streams_count && !rc; i++)
		if (t->streams[i].kind == CT_STREAM_CPU)
			rc = losses_take_stream(&by_cpu, &t->streams[i]);
	finished = losses_finish(l, &by_cpu, cpus, count);
	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_GPU)
			l->gpu = ct_sum(l->gpu, t->streams[i].lost);
	l->threads -= l->gpu < l->threads ? l->gpu : l->threads;
	if (rc) {
		free(*cpus);
		*cpus = NULL;
	}
	return rc ? rc : finished;
}

static int losses_collect(struct ct_losses *l, const struct ct_trace *t)
{
	struct ct_losses_cpu *cpus;
	unsigned int count;
	int rc = ct_losses_by_cpu(l, t, &cpus, &count);

	free(rc ? NULL : cpus);
	return rc;
}

/* ------------------------------------------------------------------- words --- */

/* "32M", as the option takes it. */
static const char *losses_option(char buf[CT_TERM_TEXT], uint64_t bytes)
{
	static const char units[] = "KMG";
	unsigned int unit = 0;

	bytes >>= 10;
	for (; bytes >= 1024 && unit < 2; unit++)
		bytes >>= 10;
	snprintf(buf, CT_TERM_TEXT, "%llu%c", (unsigned long long)bytes, units[unit]);
	return buf;
}

static void losses_print_why(const struct ct_losses *l, FILE *out)
{
	static const char *const why[] = {
		[CT_LOST_FULL] = "the ring of a CPU was full",
		[CT_LOST_NESTED] = "interrupts came too deep inside the recorder's own work",
		[CT_LOST_RATE] = "a producer went beyond the limit of its rate",
		[CT_LOST_SHARE] = "one producer's records took up its share of a ring",
	};
	char a[CT_TERM_TEXT];

	for (unsigned int i = 0; i < CT_LOST_REASONS; i++)
		if (l->lost[i])
			fprintf(out, "    why: %s: %s\n", ct_term_count(a, l->lost[i]), why[i]);
	if (l->gpu)
		fprintf(out, "    why: %s: of the GPU: CUPTI dropped them, or they could not be written\n",
			ct_term_count(a, l->gpu));
	if (l->threads)
		fprintf(out, "    why: %s: %s\n", ct_term_count(a, l->threads),
			l->module ?
				"a thread's own buffer was full, or its producer went beyond a limit" :
			l->keeps ?
				"the oldest were not dropped in time, by a recorder that was busy, stopped or killed, or the disk was full" :
				"a program could not write into the trace's directory");
}

static unsigned int losses_busiest_group(const struct ct_losses *l)
{
	unsigned int group = 0;

	for (unsigned int i = 1; i < CT_GROUP_COUNT; i++)
		if (l->hits[i] > l->hits[group])
			group = i;
	return group;
}

/* What to leave out of the recording, and how. */
static void losses_print_less(const struct ct_losses *l, FILE *out)
{
	unsigned int group = losses_busiest_group(l), percent;
	char name[64], a[CT_TERM_TEXT];
	const char *comma = "";

	/* Nothing is left of the recording without the only group. */
	if (l->hits[group] == l->all_hits) {
		fprintf(out,
			"         record less: choose processes or types by cudatrace session filter%s%s\n",
			l->all_hits ? "; most hits has " : "",
			ct_term_clean(name, sizeof(name), l->busiest, 60));
		return;
	}
	percent = 100 * (l->hits[group] / (double)l->all_hits);
	fprintf(out, "         record less: %s has the most hits (%s), its group %s %u %% of all: ",
		ct_term_clean(name, sizeof(name), l->busiest, 60),
		ct_term_count(a, l->busiest_hits), group_word[group], percent);
	fprintf(out, "leave it out by --groups ");
	for (unsigned int i = 0; i < CT_GROUP_COUNT; i++) {
		if (i == group)
			continue;
		fprintf(out, "%s%s", comma, group_word[i]);
		comma = ",";
	}
	fprintf(out, "\n");
}

static void losses_print_ring(const struct ct_losses *l, FILE *out)
{
	uint64_t largest = l->largest ? l->largest : RING_MAX;
	char size[CT_TERM_TEXT], had[CT_TERM_TEXT], most[CT_TERM_TEXT];

	if (l->needed <= largest) {
		fprintf(out,
			"    do:  record again with --ring-size %s (memory for each CPU; it had %s)\n",
			losses_option(size, l->needed), losses_option(had, l->ring));
		return;
	}
	fprintf(out, "    do:  a ring would need %s for each CPU; memory allows %s",
		losses_option(size, l->needed), losses_option(most, largest));
	if (largest > l->ring)
		fprintf(out, " (--ring-size %s)", most);
	fprintf(out, "\n");
	losses_print_less(l, out);
}

void ct_losses_print(const struct ct_losses *l, FILE *out)
{
	losses_print_why(l, out);
	if (l->needed)
		losses_print_ring(l, out);
	if (l->lost[CT_LOST_RATE])
		fprintf(out,
			"    do:  raise the limit: cudatrace session limit --rate N --bandwidth BYTES\n");
	if (l->threads && l->module && !l->lost[CT_LOST_RATE])
		fprintf(out,
			"    do:  leave a processor to cudatrace record: it empties the threads' buffers\n");
	else if (l->threads && l->keeps)
		fprintf(out, "    do:  keep more (--keep), or leave a processor to cudatrace record\n");
	else if (l->threads && !l->module)
		fprintf(out,
			"    do:  give a directory with more space, or that the program's user may write (-o)\n");
}

int ct_losses_report(const struct ct_trace *t, FILE *out)
{
	struct ct_losses l;
	int rc = losses_collect(&l, t);

	if (!rc)
		ct_losses_print(&l, out);
	return rc;
}
