// SPDX-License-Identifier: LGPL-2.1-or-later
/* See collectives.h.  Must never trust a number of a record: anybody may have written it. */
#include "ranks/collectives.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ranks/made_before.h"
#include "spans/work.h"

#define NONE		UINT32_MAX
/* Kernels without a call that are looked at in the end.  Only they may have been launched before the recording: a GPU is behind by some thousands. */
#define LOOSE_MOST	(1u << 18)

/* A launch of a kernel of libnccl's, inside one of its calls. */
struct find_launch {
	uint64_t op_id, stream;
};

/* A thread in libnccl. */
struct find_thread {
	uint64_t tid;
	uint32_t groups;		/* open ones */
	bool     known;			/* it is not in a group that began before the recording */
	uint32_t *parts;		/* of the open group; until it is known, of what may be one */
	uint32_t parts_count, parts_capacity;
	struct find_launch *launches;	/* since the group, or the call, began */
	uint32_t launches_count, launches_capacity;
};

struct find_kernel {
	uint64_t launch;
	uint64_t begin, end;		/* end 0: it has not run yet */
	uint32_t pid, name;		/* string id */
	uint16_t gpu;
	bool     joined;
};

struct find_loose {
	uint64_t begin, ns;
	uint32_t pid, name;
};

/* How many sends, or receives, there were between two ranks. */
struct find_pair {
	uint64_t who, peer;		/* communicator and rank; peer and direction */
	uint32_t count;
};

struct find_index {
	uint64_t id;
	uint32_t index;
};

/* The first call of a process whose communicators were made before the recording. */
struct find_first {
	uint64_t pid, begin;
	uint64_t kernel;	/* ns: when the first kernel of its calls began; 0: none is known */
};

struct find_launched {
	uint64_t pid, kernel;
	uint64_t count, before;		/* before: the first call that find_first knows of */
};

struct find_before {
	uint64_t who, comm;		/* process and rank; its handle */
	uint32_t index;
};

struct ct_collectives_find {
	struct ct_collectives *c;
	const struct ct_trace *trace;
	CT_KEYED(struct find_thread) threads;
	CT_KEYED(struct find_kernel) kernels;	/* by the launches inside of its calls */
	CT_KEYED(struct find_pair) pairs;
	CT_KEYED(struct find_index) index;	/* of communicators by id */
	CT_KEYED(struct find_before) before;	/* of those that were made before the recording */
	CT_KEYED(struct find_first) first;
	struct find_loose *loose;		/* kernels that no call of it launched */
	size_t loose_count, loose_capacity;
	int failed;				/* negative errno */
	CT_KEYED(struct find_launched) launched;	/* kernels, outside of its calls */
};

bool ct_collectives_there(const struct ct_registry *reg)
{
	for (unsigned int id = CT_CLASS_DYNAMIC; id <= CT_CLASS_MAX; id++) {
		const struct ct_class *class = ct_registry_class(reg, id);

		if (class && ct_class_is(class, CT_IS_COLLECTIVE | CT_IS_COMMUNICATOR))
			return true;
	}
	return false;
}

/* Mangled, as the registry has it: _Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL...; before 2.19 ncclKernel_... */
const char *ct_collectives_kernel(const char *name, int *length)
{
	static const char *const begins[] = { "ncclDevKernel_", "ncclKernel_" };

	for (unsigned int i = 0; i < 2; i++) {
		const char *at = strstr(name, begins[i]);

		if (!at)
			continue;
		at += strlen(begins[i]);
		*length = strcspn(at, "_(");
		/* What has no kernel of its own is run by the generic one. */
		if (*length > 7 && !strncmp(at, "Generic", 7))
			*length = 7;
		return at;
	}
	return NULL;
}

bool ct_collectives_kernels(const struct ct_registry *reg)
{
	int length;

	for (uint32_t id = 1; id < reg->strings_count; id++)
		if (reg->strings[id] && ct_collectives_kernel(reg->strings[id], &length))
			return true;
	return false;
}

/* ------------------------------------------------------------ communicators --- */

/* The index of one more communicator, of which @index is to be kept; NONE: no memory. */
static uint32_t find_add(struct ct_collectives *c, uint32_t *index, struct ct_comm comm)
{
	if (!index || !ct_room(c->communicators, c->communicators_count, c->communicators_capacity))
		return NONE;
	*index = c->communicators_count;
	c->communicators[c->communicators_count] = comm;
	return c->communicators_count++;
}

/* The index of a communicator, made if it is new; NONE: no memory. */
static uint32_t find_communicator(struct ct_collectives_find *f, uint64_t id)
{
	struct find_index *known = ct_keyed_get(&f->index, id);

	if (known)
		return known->index;
	known = ct_keyed_put(&f->index, id);
	return find_add(f->c, known ? &known->index : NULL, (struct ct_comm){ .id = id });
}

/* The same of one that is known by its rank and its process's handle alone. */
static uint32_t find_made_before(struct ct_collectives_find *f, uint32_t pid, uint32_t rank, uint64_t comm)
{
	uint64_t who = (uint64_t)pid << 32 | rank;
	struct find_before *known = ct_keyed_get_pair(&f->before, who, comm);

	if (known)
		return known->index;
	known = ct_keyed_put_pair(&f->before, who, comm);
	return find_add(f->c, known ? &known->index : NULL, (struct ct_comm){ .id = ct_mix(who, comm), .made_before = true });
}

static int find_member(struct ct_comm *c, uint32_t pid, uint32_t rank, int32_t key)
{
	if (c->members_count && c->members[c->members_count - 1].rank == rank)
		return 0;
	for (uint32_t i = 0; i < c->members_count; i++)
		if (c->members[i].rank == rank) {
			c->members[i].pid = pid;
			return 0;
		}
	if (c->members_count == CT_MEMBERS_MAX)
		return 0;
	if (!ct_room(c->members, c->members_count, c->members_capacity))
		return -ENOMEM;
	c->members[c->members_count++] = (struct ct_member){ .pid = pid, .rank = rank, .key = key };
	return 0;
}

static int find_made(struct ct_collectives_find *f, const struct ct_span *s)
{
	uint64_t id = ct_record_known(s->record, CT_KNOWN_COMMUNICATOR);
	uint64_t of = ct_record_known(s->record, CT_KNOWN_SPLIT_OF);
	uint32_t index, ranks = ct_record_known(s->record, CT_KNOWN_RANKS);
	uint32_t rank = ct_record_known(s->record, CT_KNOWN_RANK);
	struct ct_comm *c;

	if (!id || (s->flags & CT_SPAN_FAILED) || (!ranks && !of))
		return 0;
	index = find_communicator(f, id);
	if (index == NONE)
		return -ENOMEM;
	c = &f->c->communicators[index];
	if (ranks > c->ranks)
		c->ranks = ranks;
	c->split_of = of ? of : c->split_of;
	c->color = of ? (int32_t)ct_record_known(s->record, CT_KNOWN_COLOR) : c->color;
	/* All ranks are of this process, and the record is of the first. */
	for (uint32_t i = 1; !strcmp(s->class->name, "ncclCommInitAll") && i < ranks && i < CT_MEMBERS_MAX; i++)
		if (find_member(c, s->pid, i, 0))
			return -ENOMEM;
	return find_member(c, s->pid, rank, of ? (int32_t)ct_record_known(s->record, CT_KNOWN_KEY) : 0);
}

/* --------------------------------------------------------------------- calls --- */

static struct find_thread *find_thread(struct ct_collectives_find *f, uint32_t tid)
{
	return ct_keyed_put(&f->threads, tid);
}

static uint32_t find_number_of_pair(struct ct_collectives_find *f, const struct ct_part *p, bool receives)
{
	struct find_pair *pair = ct_keyed_put_pair(&f->pairs, (uint64_t)p->communicator << 32 | p->rank,
						   (uint64_t)(uint32_t)p->root << 1 | receives);

	return pair ? ++pair->count : 0;
}

/* How manieth of the communicators and ranks of the group's calls in this stream its own is. */
static uint32_t find_turn(const struct ct_collectives_find *f, const uint32_t *parts, uint32_t of)
{
	const struct ct_part *p = &f->c->parts[parts[of]];
	uint32_t turn = 0;

	for (uint32_t i = 0; i < of; i++) {
		const struct ct_part *x = &f->c->parts[parts[i]];
		bool again = false;

		if (x->stream != p->stream)
			continue;
		if (x->communicator == p->communicator && x->rank == p->rank)
			return turn;
		for (uint32_t k = 0; k < i && !again; k++) {
			const struct ct_part *y = &f->c->parts[parts[k]];

			again = y->stream == x->stream && y->communicator == x->communicator && y->rank == x->rank;
		}
		turn += !again;
	}
	return turn;
}

#define TURNS_MAX	256	/* calls of a group that are compared with each other */

/*
 * A kernel that serves the call is the one in its stream; else there is only one.  Where one process is several ranks,
 * the stream may be the default one of each GPU: then there is a kernel for each rank, in the order of the calls.
 */
static void find_join(struct ct_collectives_find *f, struct find_thread *t, const uint32_t *parts, uint32_t count)
{
	for (uint32_t i = 0; i < count && t->launches_count; i++) {
		struct ct_part *p = &f->c->parts[parts[i]];
		uint32_t turn = t->launches_count > 1 && count <= TURNS_MAX ? find_turn(f, parts, i) : 0;

		p->launch = t->launches[0].op_id;
		for (uint32_t k = 0, found = 0; k < t->launches_count && found <= turn; k++)
			if (t->launches[k].stream == p->stream) {
				p->launch = t->launches[k].op_id;
				found++;
			}
	}
	t->launches_count = 0;
}

static int find_first_call(struct ct_collectives_find *f, const struct ct_span *s)
{
	struct find_first *first = ct_keyed_put(&f->first, s->pid);

	if (first && !first->begin)
		first->begin = s->begin;
	return first ? 0 : -ENOMEM;
}

static int find_part(struct ct_collectives_find *f, const struct ct_span *s)
{
	struct find_thread *t = find_thread(f, s->tid);
	const struct ct_record *r = s->record;
	struct ct_collectives *c = f->c;
	struct ct_part p = {
		.pid = s->pid, .tid = s->tid, .rank = ct_record_known(r, CT_KNOWN_RANK),
		.number = ct_record_known(r, CT_KNOWN_NUMBER), .stack = s->stack,
		.root = ct_record_known(r, CT_KNOWN_ROOT), .reduction = ct_record_known(r, CT_KNOWN_REDUCTION),
		.datatype = ct_record_known(r, CT_KNOWN_DATATYPE), .class = s->class, .op_id = s->op_id,
		.begin = s->begin, .end = s->end, .size = ct_record_known(r, CT_KNOWN_SIZE),
		.count = ct_record_known(r, CT_KNOWN_ELEMENTS), .stream = ct_record_known(r, CT_KNOWN_STREAM),
	};
	uint64_t id = ct_record_known(r, CT_KNOWN_COMMUNICATOR);
	uint32_t index, ranks = ct_record_known(r, CT_KNOWN_RANKS);

	if (!t)
		return -ENOMEM;
	/* One that libnccl makes inside another, as ncclBcast() does, is no operation of its own. */
	if (s->flags & CT_SPAN_NESTED)
		return 0;
	if ((s->flags & CT_SPAN_FAILED) || (!id && !ranks)) {
		t->launches_count = t->groups ? t->launches_count : 0;
		return 0;
	}
	if (c->parts_count >= CT_PARTS_MAX) {
		c->left_out = true;
		return 0;
	}
	p.communicator = id ? find_communicator(f, id) : find_made_before(f, s->pid, p.rank, ct_record_known(r, CT_KNOWN_COMM));
	if (p.communicator == NONE)
		return -ENOMEM;
	if (!id && find_first_call(f, s))
		return -ENOMEM;
	if (ranks > c->communicators[p.communicator].ranks)
		c->communicators[p.communicator].ranks = ranks;
	c->communicators[p.communicator].calls++;
	if (find_member(&c->communicators[p.communicator], s->pid, p.rank, 0))
		return -ENOMEM;
	if (ct_class_is(s->class, CT_IS_SEND | CT_IS_RECEIVE))
		p.number = find_number_of_pair(f, &p, ct_class_is(s->class, CT_IS_RECEIVE));
	if (!ct_room(c->parts, c->parts_count, c->parts_capacity))
		return -ENOMEM;
	index = c->parts_count;
	c->parts[c->parts_count++] = p;
	/* It may be in a group that began before the recording: then the launch comes with the group's end. */
	if (!t->groups && (t->known || t->launches_count)) {
		t->known = true;
		t->parts_count = 0;
		find_join(f, t, &index, 1);
		return 0;
	}
	if (!ct_room(t->parts, t->parts_count, t->parts_capacity))
		return -ENOMEM;
	t->parts[t->parts_count++] = index;
	return 0;
}

static int find_group(struct ct_collectives_find *f, const struct ct_span *s)
{
	struct find_thread *t;

	if ((s->flags & CT_SPAN_NESTED) || !ct_class_is(s->class, CT_IS_GROUP_BEGIN | CT_IS_GROUP_END))
		return 0;
	t = find_thread(f, s->tid);
	if (!t)
		return -ENOMEM;
	if (ct_class_is(s->class, CT_IS_GROUP_BEGIN)) {
		if (!t->groups++)
			t->launches_count = t->parts_count = 0;
		t->known = true;
		return 0;
	}
	if (t->groups && --t->groups)
		return 0;
	t->known = true;
	find_join(f, t, t->parts, t->parts_count);
	t->parts_count = 0;
	return 0;
}

static bool collectives_kernel_is(const struct ct_collectives *c, const struct ct_registry *reg, const struct ct_record *r)
{
	uint32_t id = ct_record_known(r, CT_KNOWN_KERNEL);
	const char *name;
	int length;

	if (id >= c->kernels_count)
		return false;
	if (!c->kernels[id]) {
		name = ct_registry_string(reg, id);
		c->kernels[id] = name && ct_collectives_kernel(name, &length) ? 1 : 2;
	}
	return c->kernels[id] == 1;
}

static bool find_is_ours(const struct ct_collectives_find *f, const struct ct_record *r)
{
	return collectives_kernel_is(f->c, &f->trace->reg, r);
}

/* Another kernel with that name, which lasted for @ns. */
static int find_uncalled(struct ct_uncalled *u, uint32_t name, uint64_t ns)
{
	if (!u)
		return -ENOMEM;
	u->kernel = name;
	u->count++;
	u->ns += ns;
	return 0;
}

static int find_launched_uncalled(struct ct_collectives_find *f, uint32_t pid, uint32_t name)
{
	struct find_launched *l = ct_keyed_put_pair(&f->launched, pid, name);

	if (!l)
		return -ENOMEM;
	if (ct_keyed_get(&f->first, pid))
		l->count++;
	else
		l->before++;
	return 0;
}

static int find_launched(struct ct_collectives_find *f, const struct ct_span *s)
{
	uint32_t name = ct_record_known(s->record, CT_KNOWN_KERNEL);
	struct find_thread *t;

	if (!find_is_ours(f, s->record))
		return 0;
	if (!s->track->nested[CT_CAT_COLLECTIVE])
		return find_launched_uncalled(f, s->pid, name);
	t = find_thread(f, s->tid);
	if (!t || !ct_room(t->launches, t->launches_count, t->launches_capacity))
		return -ENOMEM;
	if (f->trace->has_gpu && !ct_keyed_put(&f->kernels, s->op_id))
		return -ENOMEM;
	t->launches[t->launches_count++] = (struct find_launch){
		s->op_id, ct_record_known(s->record, CT_KNOWN_STREAM),
	};
	return 0;
}

/* One that no call launched; or one of a program that calls its own libnccl, which nobody sees. */
static int find_loose(struct ct_collectives_find *f, const struct ct_span *s, uint32_t name)
{
	if (f->loose_count == LOOSE_MOST) {
		f->c->uncalled_before = true;
		return find_uncalled(ct_keyed_put(&f->c->uncalled, name), name, s->duration);
	}
	if (!ct_room(f->loose, f->loose_count, f->loose_capacity))
		return -ENOMEM;
	f->loose[f->loose_count++] = (struct find_loose){ .begin = s->begin, .ns = s->duration, .pid = s->pid, .name = name };
	return 0;
}

static int find_ran(struct ct_collectives_find *f, const struct ct_span *s)
{
	uint32_t name = ct_record_known(s->record, CT_KNOWN_KERNEL);
	struct find_kernel *k = NULL;

	if (!find_is_ours(f, s->record))
		return 0;
	f->c->measured = true;
	if (s->cause && ct_class_is(s->cause->class, CT_IS_GRAPH_LAUNCH))
		return find_uncalled(ct_keyed_put(&f->c->uncalled, name), name, s->duration);
	if (s->cause)
		k = ct_keyed_get(&f->kernels, s->cause->op_id);
	/* It is over before its launch has returned, of which is not known yet where it was made. */
	if (!k && s->cause && (!s->cause->end || s->cause->end >= s->end)) {
		k = ct_keyed_put(&f->kernels, s->cause->op_id);
		if (!k)
			return -ENOMEM;
	}
	if (!k)
		return find_loose(f, s, name);
	k->begin = s->begin;
	k->end = s->end;
	k->pid = s->pid;
	k->name = name;
	k->gpu = ct_record_known(s->record, CT_KNOWN_GPU);
	return 0;
}

int ct_collectives_span(struct ct_collectives_find *f, const struct ct_span *s)
{
	if (!s->record || !s->record->fields || (s->flags & CT_SPAN_UNFINISHED))
		return 0;
	if (ct_class_is(s->class, CT_IS_COLLECTIVE))
		return find_part(f, s);
	if (ct_class_is(s->class, CT_IS_COMMUNICATOR))
		return find_made(f, s);
	if (ct_class_is(s->class, CT_IS_NCCL))
		return find_group(f, s);
	return ct_class_is(s->class, CT_IS_GPU_KERNEL) ? find_ran(f, s) : find_launched(f, s);
}

static int find_span(void *arg, const struct ct_span *s, unsigned int orders)
{
	(void)orders;
	return ct_collectives_span(arg, s);
}

bool ct_collectives_want(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_NCCL | CT_IS_KERNEL_LAUNCH | CT_IS_GPU_KERNEL);
}

static unsigned int find_wants(void *arg, const struct ct_class *class)
{
	(void)arg;
	return ct_collectives_want(class) ? CT_WANTS_SPANS : 0;
}

/* ------------------------------------------------------------------- kernels --- */

uint64_t ct_collectives_until(const struct ct_collectives *c, const struct ct_registry *reg, const struct ct_trace_event *e)
{
	const struct ct_cause *cause = e->point ? e->point->cause : NULL;

	if (!cause)
		return 0;
	if (!c->to_end)
		return ct_operations_until(c, cause->op_id);
	return ct_class_is(e->class, CT_IS_GPU_KERNEL) && !ct_class_is(cause->class, CT_IS_GRAPH_LAUNCH) &&
	       collectives_kernel_is(c, reg, e->record) ? e->record->end : 0;
}

/* Not one whose call was made before its process was attached to. */
static int kernel_uncalled(struct ct_collectives_find *f, const struct find_loose *k)
{
	const struct find_first *first = ct_keyed_get(&f->first, k->pid);

	if (first && (k->begin < first->begin || k->begin < first->kernel))
		return 0;
	return find_uncalled(ct_keyed_put(&f->c->uncalled, k->name), k->name, k->ns);
}

static int kernels_join(struct ct_collectives_find *f)
{
	struct ct_collectives *c = f->c;
	int rc = 0;

	for (size_t i = 0; i < c->parts_count; i++) {
		struct ct_part *p = &c->parts[i];
		struct find_kernel *k = p->launch ? ct_keyed_get(&f->kernels, p->launch) : NULL;
		struct find_first *first = ct_keyed_get(&f->first, p->pid);

		if (!k || !k->end)
			continue;
		k->joined = true;
		if (first && (!first->kernel || k->begin < first->kernel))
			first->kernel = k->begin;
		p->gpu_begin = k->begin;
		p->gpu_end = k->end;
		p->gpu = k->gpu;
	}
	for (size_t i = 0; i < f->kernels.count && !rc; i++) {
		const struct find_kernel *k = &f->kernels.list[i];

		if (k->end && !k->joined)
			rc = kernel_uncalled(f, &(struct find_loose){ .begin = k->begin, .ns = k->end - k->begin, .pid = k->pid, .name = k->name });
	}
	for (size_t i = 0; i < f->loose_count && !rc; i++)
		rc = kernel_uncalled(f, &f->loose[i]);
	/* Without the GPU's records the launches are all that is known. */
	for (size_t i = 0; i < f->launched.count && !c->measured && !rc; i++) {
		const struct find_launched *l = &f->launched.list[i];
		/* Those before it were of a call that was made before the process was attached to. */
		uint64_t count = l->count + (ct_keyed_get(&f->first, l->pid) ? 0 : l->before);
		struct ct_uncalled *u = count ? ct_keyed_put(&c->uncalled, l->kernel) : NULL;

		if (!count)
			continue;
		if (u)
			u->count += count;
		rc = u ? 0 : -ENOMEM;
	}
	return rc;
}

/* ----------------------------------------------------------------------- all --- */

/* When processes were left. */
static int find_left(struct ct_collectives *c, const struct ct_trace *t)
{
	for (uint32_t i = 0; i < t->reg.infos_count; i++) {
		const struct ct_info *info = &t->reg.infos[i];
		struct ct_left *left;
		uint32_t pid, source;
		uint64_t ns;

		if (strcmp(info->key, CT_LEFT_INFO) || sscanf(info->text, "%" SCNu32 " %" SCNu64, &pid, &ns) != 2)
			continue;
		source = ct_collectives_source(c, pid);
		ns = t->sources && source < t->sources_count ? ct_source_time(&t->sources[source], ns) : ns;
		left = ct_keyed_put(&c->left, pid);
		if (!left)
			return -ENOMEM;
		left->at = ns;
	}
	return 0;
}

struct ct_collectives_find *ct_collectives_begin(struct ct_collectives *c, const struct ct_trace *t)
{
	struct ct_collectives_find *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->c = c;
	f->trace = t;
	c->sources = t->sources;
	c->tasks = t->sources ? CT_SOURCE_TASKS : 0;
	f->failed = find_left(c, t);
	c->kernels = calloc(t->reg.strings_count + 1ul, 1);
	c->kernels_count = c->kernels ? t->reg.strings_count : 0;
	return f;
}

int ct_collectives_end(struct ct_collectives_find *f, int rc)
{
	struct ct_collectives *c = f->c;

	rc = rc || c->kernels ? rc : -ENOMEM;
	rc = rc ? rc : f->failed;
	rc = rc ? rc : kernels_join(f);
	rc = rc ? rc : ct_made_before_join(c);
	rc = rc ? rc : ct_operations_make(c);
	for (size_t i = 0; i < f->threads.count; i++) {
		free(f->threads.list[i].parts);
		free(f->threads.list[i].launches);
	}
	ct_keyed_free(&f->threads);
	ct_keyed_free(&f->kernels);
	ct_keyed_free(&f->pairs);
	ct_keyed_free(&f->index);
	ct_keyed_free(&f->before);
	ct_keyed_free(&f->first);
	free(f->loose);
	ct_keyed_free(&f->launched);
	free(f);
	return rc;
}

int ct_collectives_find(struct ct_collectives *c, const struct ct_trace *t)
{
	/* Of a part of the trace it would look as if ranks had not come. */
	struct ct_trace whole = *t;
	struct ct_spans spans = {
		.trace = &whole, .span = find_span, .wants = find_wants,
		.orders = CT_SPANS_BY_END,
	};
	int rc;

	*c = (struct ct_collectives){ 0 };
	whole.filter = NULL;
	spans.arg = ct_collectives_begin(c, t);
	if (!spans.arg)
		return -ENOMEM;
	rc = ct_spans_run(&spans);
	ct_spans_free(&spans);
	return ct_collectives_end(spans.arg, rc);
}
