// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rank_summary.h.  Must never trust a number of a file: anybody may have written it. */
#include "ranks/rank_summary.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ranks/clocks.h"

#define PROCESSES_MAX	4096u		/* of a file */
#define ROWS_MAX	(1u << 20)	/* and shapes, and communicators */
#define NS_MOST		(1ull << 62)
#define SAME_CLOCK	100000000ll	/* ns: as of traces of one host, see trace/several.c */

struct summary_row {
	uint32_t process, communicator, rank;
	uint32_t next;			/* number */
};

struct summary_shape {
	uint32_t row;
	const struct ct_class *class;
	uint64_t count, size;
	uint16_t datatype;
	int32_t  reduction, root;
};

struct summary_key {
	uint64_t key, who;
	uint32_t value;
};

/* The newest call of each row of all files, and whether the communicator's rank is known. */
struct summary_newest {
	uint64_t row[2];		/* communicator and kind; ends */
	uint32_t number;
};

struct summary {
	struct ct_trace *trace;
	struct ct_summaries *all;
	struct ct_source *source;
	unsigned int index;		/* of the file */
	const char *file;
	unsigned int line;
	/* Of this file. */
	unsigned int first_process;
	uint32_t *communicators;	/* indices into all of them */
	uint32_t communicators_count, communicators_room;
	struct summary_row *rows;
	uint32_t rows_count, rows_room;
	struct summary_shape *shapes;
	uint32_t shapes_count, shapes_room;
	uint32_t *last;			/* by process of the file: index + 1 of its last part */
	uint64_t at;			/* ns: begin of the last call */
	uint64_t calls;
	uint64_t launches;		/* of all files */
	bool ended;
	/* Of all files. */
	CT_KEYED(struct summary_key) ids;	/* of communicators */
	CT_KEYED(struct summary_key) members;	/* communicator, rank */
	uint32_t processes_room;
	uint64_t start;			/* ns on the reference clock; UINT64_MAX: none yet */
};

/* ------------------------------------------------------------------- numbers --- */

static bool summary_u64(const char **at, uint64_t most, uint64_t *value)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	if (errno || end == *at || (*end && *end != ' ') || *value > most)
		return false;
	*at = end;
	return true;
}

static bool summary_u32(const char **at, uint32_t most, uint32_t *value)
{
	uint64_t wide;

	if (!summary_u64(at, most, &wide))
		return false;
	*value = wide;
	return true;
}

static bool summary_s32(const char **at, int32_t *value)
{
	uint32_t wide;
	bool minus;

	while (**at == ' ')
		++*at;
	minus = **at == '-';
	*at += minus;
	if (!summary_u32(at, INT32_MAX, &wide))
		return false;
	*value = minus ? -(int32_t)wide : (int32_t)wide;
	return true;
}

static bool summary_id(const char **at, uint64_t *value)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 16);
	if (errno || (*end && *end != ' '))
		return false;
	*at = end;
	return true;
}

/* A function's name: letters, digits and underscores. */
static bool summary_name(const char **at, char *name, size_t size)
{
	size_t n = 0;

	while (**at == ' ')
		++*at;
	while ((isalnum((unsigned char)**at) || **at == '_') && n + 1 < size)
		name[n++] = *(*at)++;
	name[n] = 0;
	return n && (!**at || **at == ' ');
}

/* ------------------------------------------------------------------- things --- */

/* The class of a function, made if it is new; NULL: no memory, or there are too many. */
static const struct ct_class *summary_class(struct ct_registry *reg, const char *name, bool collective)
{
	unsigned int id = CT_CLASS_DYNAMIC;
	struct ct_error err;
	char line[400];

	for (; id <= CT_CLASS_MAX && reg->classes && reg->classes[id]; id++)
		if (!strcmp(reg->classes[id]->name, name) && collective == !!ct_class_is(reg->classes[id], CT_IS_COLLECTIVE))
			return reg->classes[id];
	snprintf(line, sizeof(line), "class %u %s %s - %s %.128s %.128s", id, ct_layer_word[CT_LAYER_USER],
		 ct_category_word[CT_CAT_COLLECTIVE], collective ? "number:u32,rank:u32," : "-", name, name);
	return id <= CT_CLASS_MAX && !ct_registry_line(reg, line, "summary", &err) ? reg->classes[id] : NULL;
}

static struct ct_process_phases *summary_phases(struct summary *s)
{
	return s->all->processes_count > s->first_process ? &s->all->phases.processes[s->all->processes_count - 1] : NULL;
}

static bool rank_summary_process(struct summary *s, const char *at)
{
	struct ct_summaries *all = s->all;
	struct ct_summary_process p = { 0 };
	struct ct_process_phases *phases;
	uint64_t from, to;
	uint32_t pid;

	if (all->processes_count - s->first_process == PROCESSES_MAX || !summary_u32(&at, (1u << 22) - 1, &pid) ||
	    !summary_s32(&at, &p.rank) || !summary_s32(&at, &p.gpu) || !summary_u64(&at, NS_MOST, &from) ||
	    !summary_u64(&at, NS_MOST, &to) || to < from || *at != ' ')
		return false;
	p.pid = pid + s->source->tasks;
	if (all->processes_count == s->processes_room) {
		uint32_t room = s->processes_room ? 2 * s->processes_room : 16;
		void *processes = realloc(all->processes, room * sizeof(*all->processes));

		all->processes = processes ? processes : all->processes;
		phases = realloc(all->phases.processes, room * sizeof(*phases));
		all->phases.processes = phases ? phases : all->phases.processes;
		if (!processes || !phases)
			return false;
		s->processes_room = room;
	}
	if (asprintf(&p.name, s->trace->sources ? "%s@%s" : "%s", at + 1, s->source->label) < 0)
		return false;
	all->processes[all->processes_count] = p;
	phases = &all->phases.processes[all->processes_count++];
	all->phases.processes_count = all->processes_count;
	*phases = (struct ct_process_phases){
		.pid = p.pid, .begin = from, .end = to, .calls = true, .stages_count = 1,
		.stages = { { CT_STAGE_EXECUTION, from, to } },
	};
	return true;
}

static bool summary_step(struct summary *s, const char *at)
{
	struct ct_process_phases *p = summary_phases(s);
	uint64_t begin, duration;
	void *more;

	if (!p || p->iterations_count == CT_ITERATIONS_MAX || !summary_u64(&at, NS_MOST, &begin) ||
	    !summary_u64(&at, NS_MOST, &duration))
		return false;
	/* A power of two is when it is full. */
	if (!(p->iterations_count & (p->iterations_count - 1))) {
		more = realloc(p->iterations, (p->iterations_count ? 2ul * p->iterations_count : 1) * sizeof(*p->iterations));
		if (!more)
			return false;
		p->iterations = more;
	}
	p->stages[0].stage = CT_STAGE_STEADY;
	p->iterations[p->iterations_count++] = (struct ct_iteration){ .begin = begin, .end = begin + duration };
	return true;
}

static bool summary_sum(struct summary *s, const char *at)
{
	struct ct_rank_sums *sums;
	uint64_t value;
	char name[32];

	if (!summary_phases(s) || !summary_name(&at, name, sizeof(name)) || !summary_u64(&at, UINT64_MAX, &value))
		return false;
	sums = &s->all->processes[s->all->processes_count - 1].sums;
#define SUM(word)	if (!strcmp(name, #word)) sums->word = value;
	CT_RANK_SUMS(SUM)
#undef SUM
	return true;	/* one that this version does not know says nothing to it */
}

static bool summary_doing(struct summary *s, const char *at)
{
	struct ct_summary_process *p;
	char name[128];

	if (!summary_phases(s))
		return false;
	p = &s->all->processes[s->all->processes_count - 1];
	if (!summary_u64(&at, NS_MOST, &p->doing_begin) || !summary_u64(&at, NS_MOST, &p->doing_end) ||
	    !summary_name(&at, name, sizeof(name)))
		return false;
	p->doing = summary_class(&s->trace->reg, name, false);
	return p->doing != NULL;
}

static bool summary_communicator(struct summary *s, const char *at)
{
	struct ct_collectives *c = &s->all->collectives;
	struct ct_comm comm = { 0 };
	struct summary_key *known;

	if (!summary_id(&at, &comm.id) || !comm.id || !summary_u32(&at, UINT32_MAX, &comm.ranks) ||
	    !summary_id(&at, &comm.split_of) || !summary_s32(&at, &comm.color) || s->communicators_count == ROWS_MAX ||
	    !ct_room(s->communicators, s->communicators_count, s->communicators_room))
		return false;
	known = ct_keyed_get(&s->ids, comm.id);
	if (!known) {
		known = ct_room(c->communicators, c->communicators_count, c->communicators_capacity) ?
			ct_keyed_put(&s->ids, comm.id) : NULL;
		if (!known)
			return false;
		known->value = c->communicators_count;
		c->communicators[c->communicators_count++] = comm;
	} else if (comm.ranks > c->communicators[known->value].ranks) {
		c->communicators[known->value].ranks = comm.ranks;
	}
	s->communicators[s->communicators_count++] = known->value;
	return true;
}

static bool rank_summary_row(struct summary *s, const char *at)
{
	struct ct_collectives *c = &s->all->collectives;
	struct summary_row r = { .next = 1 };
	struct summary_key *known;
	struct ct_comm *comm;
	uint32_t communicator;
	int32_t key = 0;

	if (!summary_u32(&at, PROCESSES_MAX, &r.process) || r.process >= s->all->processes_count - s->first_process ||
	    !summary_u32(&at, ROWS_MAX, &communicator) || communicator >= s->communicators_count ||
	    !summary_u32(&at, INT32_MAX, &r.rank) || s->rows_count == ROWS_MAX || !ct_room(s->rows, s->rows_count, s->rows_room))
		return false;
	if (*at && !summary_s32(&at, &key))
		return false;
	r.communicator = s->communicators[communicator];
	comm = &c->communicators[r.communicator];
	known = ct_keyed_get_pair(&s->members, r.communicator, r.rank);
	if (!known) {
		if (!ct_keyed_put_pair(&s->members, r.communicator, r.rank) ||
		    !ct_room(comm->members, comm->members_count, comm->members_capacity))
			return false;
		comm->members[comm->members_count++] = (struct ct_member){
			.pid = s->all->processes[s->first_process + r.process].pid, .rank = r.rank, .key = key,
		};
	}
	s->rows[s->rows_count++] = r;
	return true;
}

static bool summary_shape(struct summary *s, const char *at)
{
	struct summary_shape shape = { 0 };
	uint32_t datatype;
	char name[64];

	if (!summary_u32(&at, ROWS_MAX, &shape.row) || shape.row >= s->rows_count || !summary_name(&at, name, sizeof(name)) ||
	    strncmp(name, "nccl", 4) || !summary_u64(&at, UINT64_MAX, &shape.count) ||
	    !summary_u64(&at, UINT64_MAX, &shape.size) || !summary_u32(&at, UINT16_MAX, &datatype) ||
	    !summary_s32(&at, &shape.reduction) || !summary_s32(&at, &shape.root) || s->shapes_count == ROWS_MAX ||
	    !ct_room(s->shapes, s->shapes_count, s->shapes_room))
		return false;
	shape.datatype = datatype;
	shape.class = summary_class(&s->trace->reg, name, true);
	if (!shape.class)
		return false;
	s->shapes[s->shapes_count++] = shape;
	return true;
}

static bool summary_next(struct summary *s, const char *at)
{
	uint32_t row;

	return summary_u32(&at, ROWS_MAX, &row) && row < s->rows_count &&
	       summary_u32(&at, UINT32_MAX - 1, &s->rows[row].next);
}

static bool summary_call(struct summary *s, const char *at, bool same)
{
	struct ct_collectives *c = &s->all->collectives;
	uint64_t since, duration, gpu_since, gpu_duration, share;
	const struct summary_shape *shape;
	uint32_t index, *last;
	struct summary_row *row;
	struct ct_part p = { 0 };

	if (!summary_u32(&at, ROWS_MAX, &index) || index >= s->shapes_count || !summary_u64(&at, NS_MOST, &since) ||
	    !summary_u64(&at, NS_MOST, &duration) || s->at + since > NS_MOST)
		return false;
	s->at += since;
	shape = &s->shapes[index];
	row = &s->rows[shape->row];
	last = &s->last[row->process];
	p = (struct ct_part){
		.communicator = row->communicator, .pid = s->all->processes[s->first_process + row->process].pid,
		.rank = row->rank, .number = row->next++, .root = shape->root, .reduction = shape->reduction,
		.datatype = shape->datatype, .class = shape->class, .begin = s->at, .end = s->at + duration,
		.size = shape->size, .count = shape->count, .op_id = ++s->calls,
	};
	p.tid = p.pid;
	if (summary_u64(&at, NS_MOST, &gpu_since)) {
		if (!summary_u64(&at, NS_MOST, &gpu_duration) || (same && !*last))
			return false;
		p.gpu_begin = p.begin + gpu_since;
		p.gpu_end = p.gpu_begin + gpu_duration;
		p.share = summary_u64(&at, 1000000, &share) ? share / 1e6f : 1;
		p.launch = same ? c->parts[*last - 1].launch : ++s->launches;
	}
	if (c->parts_count >= CT_PARTS_MAX) {
		c->left_out = true;
		return true;
	}
	if (!ct_room(c->parts, c->parts_count, c->parts_capacity))
		return false;
	c->communicators[p.communicator].calls++;
	c->measured |= p.gpu_end != 0;
	c->parts[c->parts_count++] = p;
	*last = c->parts_count;
	return true;
}

static bool summary_clock(struct summary *s, const char *at)
{
	struct ct_trace *t = s->trace;
	uint64_t end;

	if (!summary_u64(&at, NS_MOST, &s->source->start) || !summary_u64(&at, UINT64_MAX, &s->source->realtime) ||
	    !summary_u64(&at, NS_MOST, &end))
		return false;
	/* Corrected when the clocks are known. */
	s->source->clock.from = end;
	if (!s->index) {
		t->reg.start = s->source->start;
		t->reg.realtime = s->source->realtime;
	}
	return true;
}

static bool summary_counts(struct summary *s, const char *at)
{
	uint64_t records, lost;

	if (!summary_u64(&at, NS_MOST, &records) || !summary_u64(&at, NS_MOST, &lost))
		return false;
	s->trace->records += records;
	s->trace->lost += lost;
	return true;
}

static bool rank_summary_gpu(struct summary *s, const char *at)
{
	uint32_t measured, simulated;

	if (!summary_u32(&at, 1, &measured) || !summary_u32(&at, 1, &simulated))
		return false;
	s->trace->has_gpu |= measured;
	s->trace->simulated |= simulated;
	return true;
}

static bool summary_stride(struct summary *s, const char *at)
{
	uint32_t stride;

	if (!summary_u32(&at, 1u << 20, &stride) || !stride || (stride & (stride - 1)))
		return false;
	s->all->stride = stride > s->all->stride ? stride : s->all->stride;
	return true;
}

static bool summary_host(struct summary *s, const char *at)
{
	while (*at == ' ')
		at++;
	free(s->source->label);
	s->source->label = strndup(*at ? at : "?", 64);
	return s->source->label != NULL;
}

static bool summary_ends(struct summary *s, const char *at)
{
	uint64_t calls;

	s->ended = summary_u64(&at, UINT64_MAX, &calls) && calls == s->calls;
	return s->ended;
}

/* -------------------------------------------------------------------- files --- */

static bool summary_line(struct summary *s, const char *line)
{
	size_t n = strcspn(line, " ");
	const char *at = line + n;

#define IS(word)	(n == sizeof(word) - 1 && !memcmp(line, word, n))
	if (s->ended || !s->source->label)
		return !s->ended && IS("host") && summary_host(s, at);
	if (IS("call") || IS("same"))
		return s->last && summary_call(s, at, IS("same"));
	if (IS("step"))
		return summary_step(s, at);
	if (IS("next"))
		return summary_next(s, at);
	if (IS("shape"))
		return summary_shape(s, at);
	if (IS("row"))
		return rank_summary_row(s, at);
	if (IS("sum"))
		return summary_sum(s, at);
	if (IS("process"))
		return rank_summary_process(s, at);
	if (IS("doing"))
		return summary_doing(s, at);
	if (IS("communicator"))
		return summary_communicator(s, at);
	if (IS("clock"))
		return summary_clock(s, at);
	if (IS("records"))
		return summary_counts(s, at);
	if (IS("gpu"))
		return rank_summary_gpu(s, at);
	if (IS("stride"))
		return summary_stride(s, at);
	if (IS("calls"))
		return summary_ends(s, at);
#undef IS
	return true;	/* what a later version says beside that */
}

static int summary_lines(struct summary *s, FILE *in, struct ct_error *err)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	bool good = true;

	while (good && (n = getline(&line, &room, in)) > 0) {
		s->line++;
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		if (s->line == 1)
			good = !strncmp(line, CT_SUMMARY_MAGIC, strlen(CT_SUMMARY_MAGIC)) &&
			       atoi(line + strlen(CT_SUMMARY_MAGIC)) == CT_SUMMARY_VERSION;
		else
			good = summary_line(s, line);
	}
	free(line);
	if (!good && s->line == 1)
		return ct_fail(err, EPROTO, "%s: not a summary of version %u: make it again, with this cudatrace", s->file,
			       CT_SUMMARY_VERSION);
	if (!good)
		return ct_fail(err, EBADMSG, "%s:%u: not what cudatrace summarize writes: make it again", s->file, s->line);
	if (!s->ended)
		return ct_fail(err, EBADMSG, "%s: cut short: make it again", s->file);
	return 0;
}

/* The calls come behind all that they name. */
static int summary_file(struct summary *s, const char *file, unsigned int index, struct ct_error *err)
{
	FILE *in = fopen(file, "re");
	int rc;

	if (!in)
		return ct_fail(err, errno, "%s: %s", file, strerror(errno));
	s->file = file;
	s->index = index;
	s->line = 0;
	s->first_process = s->all->processes_count;
	s->communicators_count = s->rows_count = s->shapes_count = 0;
	s->at = s->calls = 0;
	s->ended = false;
	free(s->last);
	s->last = calloc(PROCESSES_MAX, sizeof(*s->last));
	rc = s->last ? summary_lines(s, in, err) : ct_fail(err, ENOMEM, "no memory");
	fclose(in);
	return rc;
}

/* -------------------------------------------------------------------- clocks --- */

static void summary_guess(struct ct_source *sources, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		struct ct_source *s = &sources[i];
		int64_t offset = (int64_t)(s->realtime - s->start) - (int64_t)(sources[0].realtime - sources[0].start);
		bool near = offset <= SAME_CLOCK && offset >= -SAME_CLOCK, same = !i || (near && !strcmp(s->label, sources[0].label));

		s->clock = (struct ct_source_clock){
			.from = s->start, .offset = same ? 0 : offset, .uncertainty = same ? 0 : UINT64_MAX, .same = same,
		};
	}
}

static uint64_t summary_moved(uint64_t ns, const struct ct_source *s, int64_t guess)
{
	return ns ? ct_source_time(s, ns - (uint64_t)guess) : 0;
}

/* All times by the sources' clocks; @guess: the offsets that they are by until now, NULL: none. */
static void summary_times(struct ct_summaries *all, const struct ct_source *sources, const int64_t *guess)
{
	struct ct_collectives *c = &all->collectives;

	for (size_t i = 0; i < c->parts_count; i++) {
		struct ct_part *p = &c->parts[i];
		uint32_t source = ct_collectives_source(c, p->pid);
		int64_t by = guess ? guess[source] : 0;

		p->begin = summary_moved(p->begin, &sources[source], by);
		p->end = summary_moved(p->end, &sources[source], by);
		p->gpu_begin = summary_moved(p->gpu_begin, &sources[source], by);
		p->gpu_end = summary_moved(p->gpu_end, &sources[source], by);
	}
	for (unsigned int i = 0; i < all->processes_count; i++) {
		struct ct_process_phases *p = &all->phases.processes[i];
		const struct ct_source *s = &sources[ct_collectives_source(c, p->pid)];
		int64_t by = guess ? guess[s - sources] : 0;

		p->begin = p->stages[0].begin = summary_moved(p->begin, s, by);
		p->end = p->stages[0].end = summary_moved(p->end, s, by);
		for (uint32_t k = 0; k < p->iterations_count; k++) {
			p->iterations[k].begin = summary_moved(p->iterations[k].begin, s, by);
			p->iterations[k].end = summary_moved(p->iterations[k].end, s, by);
		}
		all->processes[i].doing_begin = summary_moved(all->processes[i].doing_begin, s, by);
		all->processes[i].doing_end = summary_moved(all->processes[i].doing_end, s, by);
	}
}

static int summary_clocks(struct ct_trace *t, struct ct_summaries *all)
{
	struct ct_collectives *c = &all->collectives;
	bool needed = false;
	int64_t *guess;
	int rc;

	for (unsigned int i = 0; i < t->sources_count; i++)
		needed |= !t->sources[i].clock.same;
	if (!needed)
		return 0;
	guess = malloc(t->sources_count * sizeof(*guess));
	for (unsigned int i = 0; guess && i < t->sources_count; i++)
		guess[i] = t->sources[i].clock.offset;
	summary_times(all, t->sources, NULL);
	rc = guess ? ct_operations_make(c) : -ENOMEM;
	if (!rc && c->measured)
		rc = ct_clocks_fit_to(t->sources, t->sources_count, c);
	if (!rc)
		summary_times(all, t->sources, guess);
	free(guess);
	return rc;
}

/* ----------------------------------------------------------------------- all --- */

static bool summary_pair(const struct ct_part *p)
{
	return ct_class_is(p->class, CT_IS_SEND | CT_IS_RECEIVE);
}

/* The row that a call is numbered in, on all ranks. */
static struct summary_newest *summary_newest(struct ct_keyed *newest, const struct ct_part *p)
{
	uint64_t ends = !summary_pair(p) ? 0 : ct_class_is(p->class, CT_IS_SEND) ?
			(uint64_t)p->rank << 32 | (uint32_t)p->root : (uint64_t)(uint32_t)p->root << 32 | p->rank;

	return ct_keyed_make(newest, sizeof(struct summary_newest), (uint64_t)p->communicator << 1 | summary_pair(p), ends, true);
}

/* Files may have other strides: what not all have goes. */
static int summary_thin(struct ct_summaries *all)
{
	struct ct_collectives *c = &all->collectives;
	struct ct_keyed newest = { 0 };
	size_t kept = 0;

	if (all->stride < 2)
		return 0;
	for (size_t i = 0; i < c->parts_count; i++) {
		struct summary_newest *n = summary_newest(&newest, &c->parts[i]);

		if (!n) {
			ct_keyed_release(&newest);
			return -ENOMEM;
		}
		n->number = c->parts[i].number > n->number ? c->parts[i].number : n->number;
	}
	for (size_t i = 0; i < c->parts_count; i++) {
		struct ct_part *p = &c->parts[i];
		bool last = (uint64_t)p->number + CT_SUMMARY_LAST > summary_newest(&newest, p)->number;

		if (!last && p->number % all->stride)
			continue;
		p->weight = last ? 1 : all->stride;
		c->parts[kept++] = *p;
	}
	c->parts_count = kept;
	ct_keyed_release(&newest);
	return 0;
}

static void summaries_free(struct ct_trace *t)
{
	struct ct_summaries *all = (struct ct_summaries *)t->summaries;

	for (unsigned int i = 0; i < all->processes_count; i++)
		free(all->processes[i].name);
	free(all->processes);
	ct_phases_free(&all->phases);
	ct_collectives_free(&all->collectives);
	free(all);
	t->summaries = NULL;
}

static int summaries_make(struct ct_trace *t, struct ct_summaries *all, struct ct_source *sources, const uint64_t *ends)
{
	int rc = summary_thin(all);

	summary_guess(sources, all->files);
	rc = rc ? rc : summary_clocks(t, all);
	rc = rc ? rc : ct_operations_make(&all->collectives);
	rc = rc ? rc : ct_phases_index(&all->phases);
	t->reg.start = UINT64_MAX;
	for (unsigned int i = 0; i < all->files; i++) {
		uint64_t start = ct_source_time(&sources[i], sources[i].start), end = ct_source_time(&sources[i], ends[i]);

		t->reg.start = start < t->reg.start ? start : t->reg.start;
		t->end = end > t->end ? end : t->end;
	}
	t->end = t->end > t->reg.start ? t->end : t->reg.start;
	t->reg.realtime = sources[0].realtime + (t->reg.start - sources[0].start);
	t->reg.head = true;
	all->phases.main = all->processes_count ? 0 : -1;
	return rc;
}

int ct_summaries_open(struct ct_trace *t, const char *const *files, unsigned int count, const char *name, struct ct_error *err)
{
	struct ct_summaries *all = calloc(1, sizeof(*all));
	struct ct_source *sources = calloc(count + 1ul, sizeof(*sources));
	uint64_t *ends = calloc(count + 1ul, sizeof(*ends));
	struct summary s = { .trace = t, .all = all };
	int rc = 0;

	*t = (struct ct_trace){ .summaries = all, .summaries_free = summaries_free, .dir = strdup(name), .has_metadata = true };
	if (!all)
		t->summaries = NULL;
	/* (The first class makes the registry.) */
	if (!all || !sources || !ends || !t->dir || !summary_class(&t->reg, "ncclAllReduce", true))
		rc = ct_fail(err, ENOMEM, "no memory");
	else if (count > CT_SUMMARIES_MAX)
		rc = ct_fail(err, E2BIG, "%s: %u summaries; at most %u are read as one", name, count, CT_SUMMARIES_MAX);
	if (!rc) {
		all->stride = 1;
		all->files = count;
		all->collectives.tasks = count > CT_SOURCES_MAX ? 1u << 22 : CT_SOURCE_TASKS;
	}
	if (!rc && count > 1) {
		all->collectives.sources = t->sources = sources;
		t->sources_count = count;
	}
	for (unsigned int i = 0; i < count && !rc; i++) {
		s.source = &sources[i];
		s.source->tasks = i * all->collectives.tasks;
		s.source->dir = strdup(files[i]);
		rc = s.source->dir ? summary_file(&s, files[i], i, err) : ct_fail(err, ENOMEM, "no memory");
		ends[i] = sources[i].clock.from;
	}
	if (!rc && summaries_make(t, all, sources, ends))
		rc = ct_fail(err, ENOMEM, "no memory");
	free(s.communicators);
	free(s.rows);
	free(s.shapes);
	free(s.last);
	free(ends);
	ct_keyed_free(&s.ids);
	ct_keyed_free(&s.members);
	if (!t->sources && sources) {
		free(sources[0].dir);
		free(sources[0].label);
		free(sources);
	}
	return rc;
}

bool ct_summary_is(const char *path)
{
	char head[sizeof(CT_SUMMARY_MAGIC)] = "";
	FILE *in = fopen(path, "re");
	bool is;

	if (!in)
		return false;
	is = fread(head, 1, sizeof(head) - 1, in) == sizeof(head) - 1 && !memcmp(head, CT_SUMMARY_MAGIC, sizeof(head) - 1);
	fclose(in);
	return is;
}
