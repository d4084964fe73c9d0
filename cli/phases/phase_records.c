// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collecting, see phase_records.h.  Reads each stream by itself, without the merge, and looks at a
 * record's fields only if its class matters.  Must keep nothing that grows with the trace
 * beyond CT_PHASE_RECORDS_MAX.
 */
#include "phases/phase_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define EVENTS_FIRSTS	64u		/* contexts, allocations kept of a thread */
#define EVENTS_LOADS	4096u		/* modules; so many tell that kernels are tried (stages.c) */
#define EVENTS_COMMAND	200	/* bytes of a command line that may have been cut */
#define EVENTS_BIRTHS	(64u << 10)
#define EVENTS_TEXT	96u
#define EVENTS_IN_PROGRESS	7	/* ncclInProgress */
#define EVENTS_WAITED	8	/* a program that waits for more events looks after many things at a time */

enum ct_phase_record_kind ct_phase_record_kind(const struct ct_class *c)
{
	switch (c->id) {
	case CT_CLASS_mark:		return CT_PHASE_MARK;
	case CT_CLASS_range_push:	return CT_PHASE_PUSH;
	case CT_CLASS_range_pop:	return CT_PHASE_POP;
	}
	if (ct_class_is(c, CT_IS_NEW_COMMUNICATOR))
		return CT_PHASE_COMMUNICATOR;
	if (ct_class_is(c, CT_IS_COMMUNICATOR_STATE))
		return CT_PHASE_COMMUNICATOR_STATE;
	if (ct_class_is(c, CT_IS_GROUP_BEGIN | CT_IS_GROUP_END))
		return ct_class_is(c, CT_IS_GROUP_BEGIN) ? CT_PHASE_GROUP_BEGIN : CT_PHASE_GROUP_END;
	/* What a call of libcudart does is in the calls inside it. */
	if (!ct_class_is(c, CT_IS_CUDA) || c->category == CT_CAT_IOCTL)
		return CT_PHASE_NONE;
	if (ct_class_is(c, CT_IS_POLL))
		return CT_PHASE_POLL;
	if (!strncmp(c->name, "cuStreamBeginCapture", 20))
		return CT_PHASE_CAPTURE;
	if (!strncmp(c->name, "cuStreamEndCapture", 18))
		return CT_PHASE_CAPTURED;
	return ct_class_is(c, CT_IS_CONTEXT) ? CT_PHASE_CONTEXT :
	       ct_class_is(c, CT_IS_LOAD) ? CT_PHASE_MODULE :
	       ct_class_is(c, CT_IS_ALLOC) ? CT_PHASE_ALLOC :
	       ct_class_is(c, CT_IS_SET) ? CT_PHASE_SET :
	       ct_class_is(c, CT_IS_COPY) ? CT_PHASE_COPY :
	       ct_class_is(c, CT_IS_KERNEL_LAUNCH) ? CT_PHASE_LAUNCH :
	       ct_class_is(c, CT_IS_GRAPH_LAUNCH) ? CT_PHASE_GRAPH :
	       ct_class_is(c, CT_IS_WAIT) ? CT_PHASE_WAIT : CT_PHASE_CALL;
}

static uint64_t phase_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Domains in which a library marks its own calls: such a range is no iteration of the program. */
static bool phase_is_library(const char *text)
{
	static const char *const domains[] = { "NCCL: ", "NVSHMEM: ", "CCCL: " };

	for (unsigned int i = 0; i < sizeof(domains) / sizeof(*domains); i++)
		if (!strncmp(text, domains[i], strlen(domains[i])))
			return true;
	return false;
}

/* The text with '#' for each run of digits, cut to EVENTS_TEXT.  0: it says nothing of iterations. */
static uint32_t phase_text(const struct ct_record *r, char plain[EVENTS_TEXT])
{
	uint64_t hash = 1;
	uint16_t len;
	const char *text = ct_record_text(r, &len);
	unsigned int n = 0;

	for (unsigned int i = 0; text && i < len && text[i]; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (digit && i && text[i - 1] >= '0' && text[i - 1] <= '9')
			continue;
		hash = phase_mix(hash, digit ? '#' : (uint8_t)text[i]);
		if (n < EVENTS_TEXT - 1)
			plain[n++] = digit ? '#' : text[i];
	}
	plain[n] = 0;
	if (phase_is_library(plain))
		return 0;
	return hash >> 32 ? hash >> 32 : 1;
}

static uint64_t phase_since(const struct ct_registry *reg, uint64_t ts)
{
	return ts > reg->start ? ts - reg->start : 0;
}

static uint64_t phase_since_start(const struct ct_trace *t, uint64_t ts)
{
	return phase_since(&t->reg, ts);
}

/* ct_record_known() of a field that usually has four bytes. */
static uint64_t phase_word(const struct ct_record *r, enum ct_known known)
{
	int i = r->class->known[known];
	uint32_t word;

	if (i < 0 || !r->fields || r->class->fields[i].bytes != sizeof(word))
		return ct_record_known(r, known);
	memcpy(&word, r->fields + r->class->fields[i].offset, sizeof(word));
	return word;
}

static void phase_lasts(struct ct_phase_record *h, uint64_t ns)
{
	h->flags &= ~CT_PHASE_COARSE;
	if (ns <= UINT32_MAX) {
		h->duration = ns;
	} else {
		h->duration = ns >> 10 > UINT32_MAX ? UINT32_MAX : ns >> 10;
		h->flags |= CT_PHASE_COARSE;
	}
}

void ct_phase_record_make(const struct ct_registry *reg, const struct ct_record *r,
		       enum ct_phase_record_kind kind, struct ct_phase_record *h)
{
	char plain[EVENTS_TEXT];
	uint64_t hash = 1;

	*h = (struct ct_phase_record){
		.at = phase_since(reg, ct_record_begin(r)), .kind = kind,
	};
	phase_lasts(h, r->duration);
	switch (kind) {
	case CT_PHASE_LAUNCH:
		hash = phase_mix(hash, ct_registry_first(reg, phase_word(r, CT_KNOWN_KERNEL)) |
				  phase_word(r, CT_KNOWN_BLOCK_X) << 32);
		hash = phase_mix(hash, phase_word(r, CT_KNOWN_BLOCK_Y) |
				  phase_word(r, CT_KNOWN_BLOCK_Z) << 32);
		h->sig = hash >> 32 & 0xfffff000u;
		hash = phase_mix(hash, phase_word(r, CT_KNOWN_GRID_X) |
				  phase_word(r, CT_KNOWN_GRID_Y) << 32);
		hash = phase_mix(hash, phase_word(r, CT_KNOWN_GRID_Z));
		h->sig |= hash >> 52;
		break;
	case CT_PHASE_GRAPH:
		/* The field "graph": the first of its layout. */
		if (r->class->fields_count && r->fields)
			hash = phase_mix(hash, ct_record_field(r, 0));
		h->sig = hash >> 52;
		break;
	case CT_PHASE_WAIT:
		h->sig = r->class->id;
		break;
	case CT_PHASE_POLL:
		h->sig = r->class->id;
		h->flags |= ct_record_not_ready(r) ? CT_PHASE_IN_PROGRESS : 0;
		break;
	case CT_PHASE_COPY: {
		uint64_t size = ct_record_known(r, CT_KNOWN_SIZE);
		uint64_t direction = ct_record_known(r, CT_KNOWN_DIRECTION);

		h->sig = size > UINT32_MAX ? UINT32_MAX : size;
		h->flags |= direction < CT_COPY_DIRECTION ? direction : CT_COPY_DIRECTION;
		if (!ct_record_known(r, CT_KNOWN_ASYNC))
			h->flags |= CT_COPY_BLOCKING;
		break;
	}
	case CT_PHASE_COMMUNICATOR_STATE:
		if (ct_record_known(r, CT_KNOWN_STATE) == EVENTS_IN_PROGRESS)
			h->flags |= CT_PHASE_IN_PROGRESS;
		/* fall through */
	case CT_PHASE_COMMUNICATOR:
		hash = ct_record_known(r, CT_KNOWN_COMM);
		h->sig = hash ? phase_mix(1, hash) >> 32 | 1 : 0;
		break;
	case CT_PHASE_PUSH:
	case CT_PHASE_MARK:
		h->sig = phase_text(r, plain);
		break;
	default:
		break;
	}
}

bool ct_phase_polled(struct ct_phase_poll *poll, const struct ct_registry *reg, const struct ct_record *r,
		     enum ct_phase_record_kind kind, struct ct_phase_record *h)
{
	uint64_t bit;

	ct_phase_record_make(reg, r, kind, h);
	if (kind != CT_PHASE_POLL) {
		if (kind >= CT_PHASE_SET && kind <= CT_PHASE_GRAPH) {
			poll->since = poll->asked = 0;
			poll->gave = !ct_phase_record_wait(h);
		}
		return true;
	}
	bit = 1ull << (phase_mix(1, ct_record_known(r, CT_KNOWN_HANDLE)) >> 58);
	if (h->flags & CT_PHASE_IN_PROGRESS) {
		poll->since = poll->since ? poll->since : h->at;
		poll->asked |= bit;
		return false;
	}
	h->kind = CT_PHASE_WAIT;
	if (poll->asked & bit && ct_phase_record_end(h) >= poll->since) {
		phase_lasts(h, ct_phase_record_end(h) - poll->since);
		h->at = poll->since;
		poll->waited |= bit;
	} else if (!poll->gave || !(poll->waited & bit) || __builtin_popcountll(poll->waited) > EVENTS_WAITED) {
		return false;
	}
	poll->since = poll->asked = 0;
	poll->gave = false;
	return true;
}

/* Is this the command line that record started?  A process keeps only the begin of a long one. */
static bool phase_is_command(const struct ct_trace *t, const char *text, uint16_t len)
{
	const char *command = ct_registry_info(&t->reg, "command");

	return command && text && len && strlen(command) >= len && !memcmp(command, text, len) &&
	       (!command[len] || len >= EVENTS_COMMAND);
}

static int phase_birth(struct ct_phase_records *h, const struct ct_record *r, unsigned int kind)
{
	struct ct_phase_index *images;
	uint64_t hash = 1;
	uint16_t len;
	const char *text = ct_record_text(r, &len);

	if (h->births_count >= EVENTS_BIRTHS || !r->pid)
		return 0;
	images = ct_keyed_put(&h->images, r->pid);
	if (!images || !ct_room(h->births, h->births_count, h->births_capacity))
		return -ENOMEM;
	images->index++;
	if (r->class->fields_count)
		hash = phase_mix(hash, ct_record_field(r, 0));
	for (unsigned int i = 0; text && i < len; i++)
		hash = phase_mix(hash, (uint8_t)text[i]);
	h->births[h->births_count++] = (struct ct_phase_birth){
		.pid = r->pid, .own = kind == CT_STREAM_THREAD, .dropped = kind == CT_STREAM_STATE, .at = phase_since_start(h->trace, r->end), .text = hash,
		.parent = r->class->fields_count ? ct_record_field(r, 0) : 0,
		.command = phase_is_command(h->trace, text, len),
	};
	return 0;
}

static struct ct_phase_thread *phase_thread(struct ct_phase_records *h, uint32_t pid, uint32_t tid)
{
	struct ct_phase_index *of = ct_keyed_put(&h->thread_of, (uint64_t)pid << 32 | tid);

	if (!of)
		return NULL;
	if (!of->index) {
		if (!ct_room(h->threads, h->threads_count, h->threads_capacity))
			return NULL;
		h->threads[h->threads_count++] = (struct ct_phase_thread){
			.pid = pid, .tid = tid, .first_call = UINT64_MAX, .stream = UINT32_MAX,
		};
		of->index = h->threads_count;
	}
	return &h->threads[of->index - 1];
}

static int phase_keep_text(struct ct_phase_records *h, const struct ct_record *r)
{
	char plain[EVENTS_TEXT];
	uint32_t hash = phase_text(r, plain);
	struct ct_phase_text *text = ct_keyed_get(&h->texts, hash);

	if (text || h->texts.count >= CT_RANGE_TEXTS)
		return 0;
	text = ct_keyed_put(&h->texts, hash);
	if (!text)
		return -ENOMEM;
	text->text = strdup(plain);
	return text->text ? 0 : -ENOMEM;
}

static int phase_append(struct ct_phase_thread *t, const struct ct_phase_record *e)
{
	if (!ct_room(t->list, t->count, t->capacity))
		return -ENOMEM;
	t->list[t->count++] = *e;
	return 0;
}

/* The first call of each image, and again of each stream: the order is known later. */
static int phase_first_call(struct ct_phase_thread *t, uint64_t begin, uint32_t images,
			     uint32_t stream)
{
	if (t->images != images || t->stream != stream || t->first_call == UINT64_MAX) {
		struct ct_phase_record e = { .at = begin, .kind = CT_PHASE_CALL };

		if (t->images != images)
			t->firsts = t->loads = 0;
		t->images = images;
		t->stream = stream;
		t->first_call = begin;
		t->first_call_at = t->count;
		return phase_append(t, &e);
	}
	if (begin < t->first_call) {
		t->first_call = begin;
		t->list[t->first_call_at].at = begin;
	}
	return 0;
}

/* Keeps the begins of groups that wait for what comes. */
static int phase_groups(struct ct_phase_thread *t)
{
	struct ct_phase_record e = { .at = t->groups_at, .kind = CT_PHASE_GROUP_BEGIN };
	int rc = 0;

	for (; t->groups && !rc; t->groups--)
		rc = phase_append(t, &e);
	return rc;
}

/*
 * A program may have groups in each iteration.  Those in which nothing is made are not kept, unless their begin and
 * end are in several streams.  *keep: does the record stay?
 */
static int phase_group(struct ct_phase_thread *t, enum ct_phase_record_kind kind, uint64_t begin, uint32_t stream, bool *keep)
{
	int rc = t->groups && t->groups_stream != stream ? phase_groups(t) : 0;

	*keep = kind != CT_PHASE_GROUP_BEGIN && (kind != CT_PHASE_GROUP_END || !t->groups);
	if (rc)
		return rc;
	switch (kind) {
	case CT_PHASE_GROUP_BEGIN:
		t->groups_at = t->groups ? t->groups_at : begin;
		t->groups_stream = stream;
		t->groups++;
		return 0;
	case CT_PHASE_GROUP_END:
		t->groups -= t->groups > 0;
		return 0;
	default:
		return phase_groups(t);
	}
}

/*
 * A program asks again and again for the state of a communicator: one record is kept for the times that it had the
 * same answer.  *keep: is it another one?
 */
static int phase_state(struct ct_phase_records *h, struct ct_phase_thread *t, const struct ct_phase_record *e, uint32_t stream,
		       bool *keep)
{
	struct ct_phase_state *s = ct_keyed_put(&h->states, (uint64_t)(t - h->threads) << 32 | e->sig);
	struct ct_phase_record *last;

	if (!s)
		return -ENOMEM;
	last = s->index && s->stream == stream ? &t->list[s->index - 1] : NULL;
	*keep = !last || (last->flags & CT_PHASE_IN_PROGRESS) != (e->flags & CT_PHASE_IN_PROGRESS);
	if (*keep) {
		s->index = t->count + 1;
		s->stream = stream;
	} else if (e->flags & CT_PHASE_IN_PROGRESS && ct_phase_record_end(e) > last->at) {
		phase_lasts(last, ct_phase_record_end(e) - last->at);
	}
	return 0;
}

/* @e is not kept. */
static int phase_leave(struct ct_phase_thread *t, const struct ct_phase_record *e, uint32_t stream, uint32_t images)
{
	struct ct_phase_more *more = t->more_count ? &t->more[t->more_count - 1] : NULL;

	if (!more || more->stream != stream || more->image != images) {
		if (!ct_room(t->more, t->more_count, t->more_capacity))
			return -ENOMEM;
		more = &t->more[t->more_count++];
		*more = (struct ct_phase_more){ .stream = stream, .image = images, .from = e->at };
	}
	if (e->kind >= CT_PHASE_SET && e->kind <= CT_PHASE_GRAPH && ct_phase_record_end(e) > more->last_end)
		more->last_end = ct_phase_record_end(e);
	more->launches += ct_phase_record_launch(e);
	more->works += ct_phase_record_work(e);
	more->from = e->at < more->from ? e->at : more->from;
	more->to = e->at > more->to ? e->at : more->to;
	return 0;
}

/* @left: how many more of this stream are kept */
static int phase_add(struct ct_phase_records *h, const struct ct_record *r,
		      enum ct_phase_record_kind kind, struct ct_phase_thread *t, uint32_t stream,
		      uint32_t images, uint64_t *left)
{
	struct ct_phase_record e;
	bool load = kind == CT_PHASE_MODULE, first = load || kind == CT_PHASE_CONTEXT || kind == CT_PHASE_ALLOC;
	int rc;

	if (kind == CT_PHASE_GROUP_BEGIN || kind == CT_PHASE_GROUP_END || kind == CT_PHASE_COMMUNICATOR) {
		bool keep;

		rc = phase_group(t, kind, phase_since_start(h->trace, ct_record_begin(r)), stream, &keep);
		if (rc || !keep)
			return rc;
	}
	if (kind < CT_PHASE_PUSH || kind == CT_PHASE_POLL) {
		uint64_t end = phase_since_start(h->trace, r->end);

		if (first)
			t->last_use = end > t->last_use ? end : t->last_use;
		rc = phase_first_call(t, phase_since_start(h->trace, ct_record_begin(r)), images,
				       stream);
		if (rc || kind == CT_PHASE_CALL || (load && t->loads >= EVENTS_LOADS) ||
		    (first && !load && t->firsts >= EVENTS_FIRSTS))
			return rc;
	}
	if (t->poll_stream != stream)
		t->poll = (struct ct_phase_poll){ 0 };
	t->poll_stream = stream;
	if (!ct_phase_polled(&t->poll, &h->trace->reg, r, kind, &e))
		return 0;
	if (!*left)
		return phase_leave(t, &e, stream, images);
	if (kind == CT_PHASE_COMMUNICATOR_STATE) {
		bool keep;

		rc = phase_state(h, t, &e, stream, &keep);
		if (rc || !keep)
			return rc;
	}
	--*left;
	t->firsts += first && !load;
	t->loads += load;
	if (kind == CT_PHASE_PUSH || kind == CT_PHASE_MARK) {
		rc = phase_keep_text(h, r);
		if (rc)
			return rc;
	}
	return phase_append(t, &e);
}

/* The last span of each process of a stream. */
struct phase_spans {
	CT_KEYED(struct ct_phase_index);
};

static int phase_span(struct ct_phase_records *h, struct phase_spans *of, const struct ct_record *r,
		       struct ct_phase_span **span)
{
	uint64_t begin = phase_since_start(h->trace, ct_record_begin(r));
	uint64_t end = phase_since_start(h->trace, r->end);
	struct ct_phase_index *last = ct_keyed_put(of, r->pid);

	if (!last)
		return -ENOMEM;
	if (!last->index || r->class->id == CT_CLASS_process) {
		if (!ct_room(h->spans, h->spans_count, h->spans_capacity))
			return -ENOMEM;
		h->spans[h->spans_count++] = (struct ct_phase_span){
			.pid = r->pid, .first = begin, .last = end,
		};
		last->index = h->spans_count;
	}
	*span = &h->spans[last->index - 1];
	return 0;
}

/* Which part of the trace a moment is in. */
static unsigned int phase_slot(const struct ct_phase_records *h, uint64_t at)
{
	uint64_t all = phase_since_start(h->trace, h->trace->end);
	double slot = all ? (double)at / all * CT_PHASE_SLOTS : 0;

	return slot < CT_PHASE_SLOTS ? slot : CT_PHASE_SLOTS - 1;
}

uint64_t ct_phase_gpu_worked(const struct ct_phase_records *h, const struct ct_phase_gpu *g, uint64_t from, uint64_t to)
{
	uint64_t ns = 0;

	for (unsigned int i = phase_slot(h, from); from < to && i <= phase_slot(h, to - 1); i++)
		ns += g->worked[i];
	return ns;
}

static int phase_gpu(struct ct_phase_records *h, const struct ct_record *r)
{
	uint64_t begin = phase_since_start(h->trace, ct_record_begin(r)), end = phase_since_start(h->trace, r->end);
	struct ct_phase_gpu *g = ct_keyed_put(&h->gpu, r->pid);

	if (!g)
		return -ENOMEM;
	if (!g->worked)
		g->worked = calloc(CT_PHASE_SLOTS, sizeof(*g->worked));
	if (!g->worked)
		return -ENOMEM;
	g->worked[phase_slot(h, begin)] += end - begin;
	g->first = !g->last || begin < g->first ? begin : g->first;
	g->last = end > g->last ? end : g->last;
	return 0;
}

/* A process is sampled from when it has our library, long before its first call. */
static int phase_sample(struct ct_phase_records *h, const struct ct_record *r)
{
	uint64_t at = phase_since_start(h->trace, r->end);
	struct ct_phase_sampled *s = ct_keyed_get(&h->sampled, r->pid);

	if (s) {
		s->first = at < s->first ? at : s->first;
		return 0;
	}
	s = ct_keyed_put(&h->sampled, r->pid);
	if (!s)
		return -ENOMEM;
	s->first = at;
	return 0;
}

static int phase_stream(struct ct_phase_records *h, unsigned int index, struct phase_spans *spans_of)
{
	const struct ct_stream_file *s = &h->trace->streams[index];
	bool cpu_stream = s->kind == CT_STREAM_CPU;
	uint64_t left = h->trace->records <= h->max ? UINT64_MAX :
		(uint64_t)((double)h->max * s->records / h->trace->records);
	struct ct_phase_thread *thread = NULL;
	struct ct_phase_span *span = NULL;
	const struct ct_phase_index *births;
	struct ct_cursor c;
	struct ct_record r;
	uint32_t images = 0;
	int rc = 0;

	ct_cursor_init(&c, h->trace, index);
	while (!rc && ct_cursor_next(&c, &r)) {
		uint8_t kind = h->kinds[r.class->id];

		if (r.class->id == CT_CLASS_process) {
			rc = phase_birth(h, &r, s->kind);
			thread = NULL;
			span = NULL;
			if (rc)
				break;
		}
		if (r.pid && cpu_stream) {
			uint64_t end = phase_since_start(h->trace, r.end), begin;

			if (!span || span->pid != r.pid)
				rc = phase_span(h, spans_of, &r, &span);
			if (rc)
				break;
			begin = phase_since_start(h->trace, ct_record_begin(&r));
			if (begin < span->first)
				span->first = begin;
			if (end > span->last)
				span->last = end;
		}
		if (s->kind == CT_STREAM_GPU && r.class->call && r.pid)
			rc = phase_gpu(h, &r);
		if (ct_class_is_sample(r.class) && r.pid)
			rc = phase_sample(h, &r);
		if (!kind || !r.pid || r.flags & CT_F_BEGIN)
			continue;
		if (!thread || thread->tid != r.tid || thread->pid != r.pid) {
			thread = phase_thread(h, r.pid, r.tid);
			if (!thread)
				return -ENOMEM;
			thread->in_cpu_streams |= cpu_stream;
			births = ct_keyed_get(&h->images, r.pid);
			images = births ? births->index : 0;
		}
		rc = phase_add(h, &r, kind, thread, index, images, &left);
	}
	return rc;
}

uint32_t ct_phase_records_find(const struct ct_phase_thread *thread, uint64_t at)
{
	uint32_t low = 0, high = thread->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (thread->list[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int phase_order(const void *a, const void *b)
{
	const struct ct_phase_record *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return ct_phase_record_end(x) < ct_phase_record_end(y) ? 1 : -1;	/* the outer one first */
}

/* In the order of time, and without launches, copies and waits inside one of their kind. */
static void phase_sort(struct ct_phase_thread *t)
{
	const struct ct_phase_record *outer = NULL;
	uint32_t kept = 0;

	for (uint32_t i = 1; i < t->count; i++)
		if (t->list[i].at < t->list[i - 1].at) {
			qsort(t->list, t->count, sizeof(*t->list), phase_order);
			break;
		}
	for (uint32_t i = 0; i < t->count; i++) {
		struct ct_phase_record e = t->list[i];

		if (e.kind >= CT_PHASE_COPY && e.kind <= CT_PHASE_GRAPH) {
			if (outer && outer->kind == e.kind &&
			    ct_phase_record_end(&e) <= ct_phase_record_end(outer))
				continue;
			outer = &t->list[kept];
		}
		t->list[kept++] = e;
	}
	t->count = kept;
}

int ct_phase_records_collect(struct ct_phase_records *h, const struct ct_trace *t)
{
	struct phase_spans spans_of = { 0 };
	int rc = 0;

	h->trace = t;
	if (!h->max)
		h->max = CT_PHASE_RECORDS_MAX;
	h->kinds = calloc(1, CT_CLASS_MAX + 1);
	if (!h->kinds)
		return -ENOMEM;
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++) {
		const struct ct_class *c = ct_registry_class(&t->reg, i);

		if (c)
			h->kinds[i] = ct_phase_record_kind(c);
	}
	for (unsigned int i = 0; i < t->streams_count && !rc; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		rc = phase_stream(h, i, &spans_of);
		ct_keyed_free(&spans_of);
		if (rc || s->kind != CT_STREAM_THREAD || !s->pid || !s->records)
			continue;
		if (!ct_room(h->spans, h->spans_count, h->spans_capacity))
			return -ENOMEM;
		h->spans[h->spans_count++] = (struct ct_phase_span){
			.pid = s->pid, .thread = true, .first = phase_since_start(t, ct_stream_time(s, s->first)),
			.last = phase_since_start(t, ct_stream_time(s, s->last)),
		};
	}
	for (uint32_t i = 0; i < h->threads_count; i++)
		phase_sort(&h->threads[i]);
	return rc;
}

void ct_phase_records_free(struct ct_phase_records *h)
{
	for (uint32_t i = 0; i < h->threads_count; i++) {
		free(h->threads[i].list);
		free(h->threads[i].more);
	}
	for (size_t i = 0; i < h->texts.count; i++)
		free(h->texts.list[i].text);
	for (size_t i = 0; i < h->gpu.count; i++)
		free(h->gpu.list[i].worked);
	free(h->kinds);
	free(h->threads);
	free(h->births);
	free(h->spans);
	ct_keyed_free(&h->thread_of);
	ct_keyed_free(&h->gpu);
	ct_keyed_free(&h->sampled);
	ct_keyed_free(&h->images);
	ct_keyed_free(&h->texts);
	ct_keyed_free(&h->states);
	*h = (struct ct_phase_records){ 0 };
}
