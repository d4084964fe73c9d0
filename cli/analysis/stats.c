// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collecting figures.  Memory is bounded by the number of classes, of threads and
 * of open calls: must never keep something for each record.
 */
#include "analysis/stats.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

/* An open call of a track. */
struct frame {
	uint64_t op_id;
	uint64_t inner;		/* ns in calls inside it */
	const struct ct_class *class;
	bool ioctl;
};

/* What runs one after the other: a thread, or a CPU's interrupts. */
struct track {
	struct frame *frames;
	uint32_t depth, capacity;
	uint32_t nested[CT_CAT_COUNT];	/* open calls by category */
	uint32_t ioctls[2];		/* open ioctls: the program's, the kernel's */
	uint32_t pid;
	bool calls, uses_cuda;		/* its thread's: more than lookups; an ioctl of UVM */
};

struct collector {
	struct ct_stats *s;
	struct ct_hash by_track;	/* a: index + 1 into tracks */
	struct track *tracks;
	size_t tracks_count, tracks_capacity;
	struct ct_hash pids;
	struct ct_op_stat **by_class;
	struct ct_ioctl_stat kernel, user;
	bool has_kernel;		/* the module recorded */
};

/*
 * The program's ioctl calls are in the category syscall.  Where the module saw
 * nothing they are all that is known of the driver: then they are its ioctls.
 */
static unsigned int stats_category_of(const struct collector *c, const struct ct_class *class)
{
	return class->id == CT_CLASS_ioctl && !c->has_kernel ? CT_CAT_IOCTL : class->category;
}

static bool stats_is_kernel(const struct ct_class *class)
{
	return class->layer != CT_LAYER_USER;
}

static struct track *stats_track_of(struct collector *c, const struct ct_record *r)
{
	struct ct_hash_slot *slot = ct_hash_put(&c->by_track, ct_track_key(r));

	if (!slot)
		return NULL;
	if (!slot->a) {
		if (c->tracks_count == c->tracks_capacity) {
			size_t capacity = c->tracks_capacity ? 2 * c->tracks_capacity : 16;
			struct track *more = realloc(c->tracks, capacity * sizeof(*more));

			if (!more)
				return NULL;
			c->tracks = more;
			c->tracks_capacity = capacity;
		}
		c->tracks[c->tracks_count] = (struct track){ .pid = r->pid };
		slot->a = ++c->tracks_count;
		if (r->tid && !(ct_track_key(r) >> 32))
			c->s->threads++;
		if (r->pid && !ct_hash_get(&c->pids, r->pid)) {
			if (!ct_hash_put(&c->pids, r->pid))
				return NULL;
			c->s->processes++;
		}
	}
	return &c->tracks[slot->a - 1];
}

static struct ct_op_stat *stats_op_of(struct collector *c, const struct ct_class *class)
{
	struct ct_op_stat **op = &c->by_class[class->id];

	if (!*op) {
		*op = calloc(1, sizeof(**op));
		if (*op)
			(*op)->class = class;
	}
	return *op;
}

/* A call of libcuda's or libcudart's interface. */
static bool stats_is_api(const struct ct_class *class)
{
	return class->layer == CT_LAYER_USER && class->call && class->category != CT_CAT_SYSCALL;
}

static int stats_push(struct collector *c, struct track *track, const struct ct_point *p)
{
	if (track->depth == track->capacity) {
		uint32_t capacity = track->capacity ? 2 * track->capacity : 16;
		struct frame *more = realloc(track->frames, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		track->frames = more;
		track->capacity = capacity;
	}
	track->frames[track->depth++] = (struct frame){
		.op_id = p->op_id, .class = p->record.class,
		.ioctl = p->record.fields && ct_record_is_ioctl(&p->record),
	};
	track->nested[stats_category_of(c, p->record.class)]++;
	track->ioctls[stats_is_kernel(p->record.class)] += track->frames[track->depth - 1].ioctl;
	return 0;
}

static void stats_pop(struct collector *c, struct track *track, bool returned)
{
	struct frame *frame = &track->frames[--track->depth];

	track->nested[stats_category_of(c, frame->class)]--;
	track->ioctls[stats_is_kernel(frame->class)] -= frame->ioctl;
	if (!returned) {
		struct ct_op_stat *op = stats_op_of(c, frame->class);

		c->s->open++;
		c->s->api_calls += stats_is_api(frame->class);
		if (op) {
			op->count++;
			op->open++;
		}
		/* Its time is not known; what was inside it stays accounted there. */
	}
}

/* Does this thread call libcuda, and does it use what only libcuda uses of the driver? */
static void stats_note_use(struct track *track, const struct ct_record *r)
{
	track->calls |= stats_is_api(r->class) && r->class->op != CT_OP_LOOKUP;
	track->uses_cuda |= r->fields && ct_record_is_ioctl(r) &&
			    ct_record_quick(r, CT_QUICK_DEVICE) == CT_DEV_UVM;
}

/* What is counted once a call is over, or of an instant. */
static void stats_count(struct collector *c, const struct ct_record *r, bool failed)
{
	const struct ct_class *class = r->class;
	struct ct_stats *s = c->s;
	uint64_t size = ct_record_quick(r, CT_QUICK_SIZE), direction;

	s->categories[stats_category_of(c, class)].count++;
	if (class->category == CT_CAT_SCHEDULER)
		s->scheduler_calls++;
	if (!stats_is_api(class))
		return;
	s->api_calls++;
	s->api_failed += failed;
	s->runtime_calls += class->category == CT_CAT_RUNTIME;
	if (class->category == CT_CAT_KERNEL && class->op == CT_OP_LAUNCH) {
		s->launches++;
		s->launches_failed += failed;
	}
	if (class->category == CT_CAT_MEMORY && class->op == CT_OP_ALLOC) {
		s->allocs++;
		s->allocs_failed += failed;
		s->alloc_bytes += failed ? 0 : size;
	}
	if (class->category == CT_CAT_MEMORY && class->op == CT_OP_FREE)
		s->frees++;
	if (class->op == CT_OP_COPY) {
		direction = ct_record_quick(r, CT_QUICK_DIRECTION);
		if (direction >= CT_DIR_COUNT)
			direction = CT_DIR_UNKNOWN;
		s->copies++;
		s->direction_count[direction]++;
		if (!failed) {
			s->copy_bytes += size;
			s->direction_bytes[direction] += size;
		}
	}
	if (class->op == CT_OP_SET) {
		s->sets++;
		s->set_bytes += failed ? 0 : size;
	}
}

/*
 * A thread off the CPU stands inside whatever it was doing, whose time it is: a wait
 * for the GPU must not look like the scheduler's doing.
 */
static bool stats_is_switch(const struct ct_class *class)
{
	return class->category == CT_CAT_SWITCH;
}

static int stats_end_call(struct collector *c, const struct ct_point *p, struct ct_op_stat *op)
{
	struct track *track = stats_track_of(c, &p->record);
	uint64_t duration = p->ts - p->begin, inner = 0;
	bool failed = ct_record_failed(&p->record), kernel;
	struct ct_category_stat *category =
		&c->s->categories[stats_category_of(c, p->record.class)];
	uint32_t at;

	if (!track)
		return -ENOMEM;
	stats_note_use(track, &p->record);
	for (at = track->depth; at > 0; at--)
		if (track->frames[at - 1].op_id == p->op_id)
			break;
	/* Its begin was lost: then nothing is known to be inside it. */
	if (at) {
		while (track->depth > at)	/* their ends were lost */
			stats_pop(c, track, false);
		inner = track->frames[at - 1].inner;
		stats_pop(c, track, true);
	}
	op->count++;
	op->failed += failed;
	/* When the call was abandoned is not known, only when that was noticed. */
	if (p->record.flags & CT_F_ABANDONED) {
		if (track->depth)
			track->frames[track->depth - 1].inner += inner;
		stats_count(c, &p->record, failed);
		return 0;
	}
	if (track->depth)
		track->frames[track->depth - 1].inner += duration;
	if (inner > duration)
		inner = duration;
	op->self += duration - inner;
	category->self += duration - inner;
	c->s->self += duration - inner;
	if (!track->nested[stats_category_of(c, p->record.class)])
		category->total += duration;
	kernel = stats_is_kernel(p->record.class);
	/* An entry function may call the next one, which is an ioctl's, too. */
	if (ct_record_is_ioctl(&p->record) && !track->ioctls[kernel]) {
		struct ct_ioctl_stat *stat = kernel ? &c->kernel : &c->user;

		stat->count++;
		stat->total += duration;
		stat->failed += failed;
	}
	stats_count(c, &p->record, failed);
	return ct_histogram_add(&op->durations, duration);
}

static int stats_take(struct collector *c, const struct ct_point *p)
{
	struct ct_stats *s = c->s;
	struct ct_op_stat *op;
	struct track *track;
	bool failed;

	if (!s->points++ || p->ts < s->first)
		s->first = p->ts;
	if (p->ts > s->last)
		s->last = p->ts;
	if (stats_is_switch(p->record.class)) {
		if (p->phase == 'E') {
			s->switches++;
			s->off_cpu += p->ts - p->begin;
		}
		return 0;
	}
	if (!p->record.class->call && p->phase == 'I')
		return 0;
	if (p->phase == 'B') {
		track = stats_track_of(c, &p->record);
		return track ? stats_push(c, track, p) : -ENOMEM;
	}
	op = stats_op_of(c, p->record.class);
	if (!op)
		return -ENOMEM;
	if (p->phase == 'E')
		return stats_end_call(c, p, op);
	failed = ct_record_failed(&p->record);
	op->count++;
	op->failed += failed;
	stats_count(c, &p->record, failed);
	track = stats_track_of(c, &p->record);
	if (track)
		stats_note_use(track, &p->record);
	return track ? 0 : -ENOMEM;
}

/* The threads of a process together: the hash of pids takes what they do. */
static void stats_find_bypassed(struct collector *c)
{
	struct ct_stats *s = c->s;
	struct ct_hash_slot *slot;

	for (size_t i = 0; i < c->tracks_count; i++) {
		slot = ct_hash_get(&c->pids, c->tracks[i].pid);
		if (!slot)
			continue;
		slot->a |= c->tracks[i].calls;
		slot->b |= c->tracks[i].uses_cuda;
	}
	for (size_t i = 0; i < c->pids.size; i++) {
		slot = &c->pids.slots[i];
		if (!slot->used || slot->a || !slot->b)
			continue;
		if (s->bypassed_count < CT_STATS_BYPASSED)
			s->bypassed[s->bypassed_count] = slot->key;
		s->bypassed_count++;
	}
}

static int stats_finish(struct collector *c)
{
	struct ct_stats *s = c->s;

	for (size_t i = 0; i < c->tracks_count; i++)
		while (c->tracks[i].depth)
			stats_pop(c, &c->tracks[i], false);
	stats_find_bypassed(c);
	s->ioctl_by_kernel = c->kernel.count > 0;
	s->ioctl = s->ioctl_by_kernel ? c->kernel : c->user;
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++)
		s->ops_count += c->by_class[i] != NULL;
	s->ops = calloc(s->ops_count + 1, sizeof(*s->ops));
	if (!s->ops)
		return -ENOMEM;
	s->ops_count = 0;
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++) {
		if (!c->by_class[i])
			continue;
		s->ops[s->ops_count++] = *c->by_class[i];
		free(c->by_class[i]);
		c->by_class[i] = NULL;
	}
	for (unsigned int i = 0; i < s->ops_count; i++) {
		struct ct_category_stat *category =
			&s->categories[stats_category_of(c, s->ops[i].class)];

		if (!category->main || s->ops[i].self > category->main->self)
			category->main = &s->ops[i];
	}
	return 0;
}

int ct_stats_collect(struct ct_stats *s, const struct ct_trace *t)
{
	struct ct_merge *m = ct_merge_new(t);
	struct collector c = { .s = s, .has_kernel = t->has_kernel };
	struct ct_point point;
	int rc = -ENOMEM;

	*s = (struct ct_stats){ .records = t->records };
	c.by_class = calloc(CT_CLASS_MAX + 1, sizeof(*c.by_class));
	if (!m || !c.by_class)
		goto out;
	while ((rc = ct_merge_next(m, &point)) > 0) {
		rc = stats_take(&c, &point);
		if (rc)
			break;
	}
	if (!rc)
		rc = stats_finish(&c);
out:
	for (unsigned int i = 0; c.by_class && i <= CT_CLASS_MAX; i++)
		if (c.by_class[i]) {
			ct_histogram_free(&c.by_class[i]->durations);
			free(c.by_class[i]);
		}
	free(c.by_class);
	for (size_t i = 0; i < c.tracks_count; i++)
		free(c.tracks[i].frames);
	free(c.tracks);
	ct_hash_free(&c.by_track);
	ct_hash_free(&c.pids);
	ct_merge_free(m);
	return rc;
}

void ct_stats_free(struct ct_stats *s)
{
	for (unsigned int i = 0; i < s->ops_count; i++)
		ct_histogram_free(&s->ops[i].durations);
	free(s->ops);
	*s = (struct ct_stats){ 0 };
}
