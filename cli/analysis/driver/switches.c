// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The report switches: when threads were off the CPU and why, who ran instead, and who woke
 * them.  Only the module records it.  Must never keep more than SWITCHES_MAX threads or pairs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"

#define SWITCHES_MAX	(1u << 16)	/* a damaged trace may have any number */

/* Why a thread left the CPU: X(ID, word). */
#define REASONS(X)							\
	X(PREEMPTED, "preempted")	/* it could have run on */	\
	X(SLEEPING, "sleeping")						\
	X(BLOCKED, "uninterruptible")					\
	X(OTHER, "other")		/* stopped, traced, dead */
#define ROW(id, word)	WHY_##id,
enum { REASONS(ROW) WHY_COUNT };
#undef ROW

enum { PROCESS, PID, TID, SWITCHES, OFF, LONGEST, PREEMPTED, PREEMPTED_NS, SLEEPING, SLEEPING_NS,
       BLOCKED, BLOCKED_NS, OTHER, OTHER_NS, RUNNABLE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[PROCESS] = { "Process", "process", CT_CELL_TEXT, 1 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 4 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 0 },
	[SWITCHES] = { "Switches", "switches", CT_CELL_COUNT, 0 },
	[OFF] = { "Off CPU (ns)", "off the CPU", CT_CELL_NS, 0 },
	[LONGEST] = { "Longest (ns)", "longest", CT_CELL_NS, 1 },
	[PREEMPTED] = { "Preempted", "preempted", CT_CELL_COUNT, 2 },
	[PREEMPTED_NS] = { "Preempted (ns)", "for", CT_CELL_NS, 2 },
	[SLEEPING] = { "Sleeping", "sleeping", CT_CELL_COUNT, 2 },
	[SLEEPING_NS] = { "Sleeping (ns)", "for", CT_CELL_NS, 2 },
	[BLOCKED] = { "Uninterruptible", "uninterruptible", CT_CELL_COUNT, 3 },
	[BLOCKED_NS] = { "Uninterruptible (ns)", "for", CT_CELL_NS, 3 },
	[OTHER] = { "Other", "other", CT_CELL_COUNT, 5 },
	[OTHER_NS] = { "Other (ns)", "for", CT_CELL_NS, 5 },
	[RUNNABLE] = { "Waiting to Run (ns)", "waiting to run", CT_CELL_NS, 0 },
};

enum { W_TID, W_PROCESS, W_WITH, W_WITH_PROCESS, W_TIMES, W_OFF, W_COLUMNS };

static const struct ct_column next_columns[W_COLUMNS] = {
	[W_TID] = { "Tid", "tid", CT_CELL_ID, 0 },
	[W_PROCESS] = { "Process", "process", CT_CELL_TEXT, 1 },
	[W_WITH] = { "Next Tid", "then ran", CT_CELL_ID, 0 },
	[W_WITH_PROCESS] = { "Next Process", "of", CT_CELL_TEXT, 0 },
	[W_TIMES] = { "Switches", "times", CT_CELL_COUNT, 0 },
	[W_OFF] = { "Off CPU (ns)", "off the CPU", CT_CELL_NS, 0 },
};

static const struct ct_column waker_columns[W_COLUMNS] = {
	[W_TID] = { "Tid", "tid", CT_CELL_ID, 0 },
	[W_PROCESS] = { "Process", "process", CT_CELL_TEXT, 1 },
	[W_WITH] = { "Waker Tid", "woken by", CT_CELL_ID, 0 },
	[W_WITH_PROCESS] = { "Waker Process", "of", CT_CELL_TEXT, 0 },
	[W_TIMES] = { "Switches", "times", CT_CELL_COUNT, 0 },
	[W_OFF] = { "Off CPU (ns)", "off the CPU", CT_CELL_NS, 0 },
};

struct switch_thread {
	uint64_t tid;
	uint32_t pid;
	uint64_t count[WHY_COUNT], ns[WHY_COUNT];
	uint64_t longest, runnable;
	uint64_t op;			/* of the switch that has begun; 0: none */
	uint32_t next;			/* who ran then */
};

struct switch_pair {
	uint64_t tids;			/* of both */
	uint32_t tid, with;
	uint64_t count, ns;
};

struct switch_pairs {
	CT_KEYED(struct switch_pair);
};

/* Whose each thread is that has a record. */
struct switch_owner {
	uint64_t tid;
	uint32_t pid;
};

struct switches {
	CT_KEYED(struct switch_thread) threads;
	CT_KEYED(struct switch_owner) owners;
	struct switch_pairs next, wakers;
	unsigned int tracks;		/* whose owners are known */
	bool left_out;
};

static struct switch_thread *switches_thread(struct switches *s, const struct ct_record *r)
{
	size_t before = s->threads.count;
	struct switch_thread *t = ct_keyed_put(&s->threads, r->tid);

	if (t && s->threads.count > before)
		t->pid = r->pid;
	return t;
}

static int switches_pair(struct switches *s, struct switch_pairs *p, uint32_t tid, uint32_t with,
			 uint64_t ns)
{
	uint64_t key = (uint64_t)tid << 32 | with;
	struct switch_pair *pair = ct_keyed_get(p, key);

	if (!pair && p->count == SWITCHES_MAX) {
		s->left_out = true;
		return 0;
	}
	if (!pair)
		pair = ct_keyed_put(p, key);
	if (!pair)
		return -ENOMEM;
	pair->tid = tid;
	pair->with = with;
	pair->count++;
	pair->ns += ns;
	return 0;
}

/* The bits are the kernel's: TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE. */
static unsigned int switches_why(uint64_t state)
{
	return !state ? WHY_PREEMPTED : state & 1 ? WHY_SLEEPING : state & 2 ? WHY_BLOCKED : WHY_OTHER;
}

static int switches_done(struct switches *s, struct switch_thread *t, const struct ct_trace_event *e)
{
	const struct ct_record *r = e->record;
	unsigned int why = switches_why(ct_record_known(r, CT_KNOWN_STATE));
	uint32_t waker = ct_record_known(r, CT_KNOWN_WAKER);
	int rc = 0;

	t->count[why]++;
	t->ns[why] += e->duration;
	t->runnable += ct_record_known(r, CT_KNOWN_RUNNABLE);
	if (e->duration > t->longest)
		t->longest = e->duration;
	if (t->op == e->point->op_id && t->op)
		rc = switches_pair(s, &s->next, t->tid, t->next, e->duration);
	t->op = 0;
	if (!rc && (waker || why != WHY_PREEMPTED))
		rc = switches_pair(s, &s->wakers, t->tid, waker, e->duration);
	return rc;
}

static int switches_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct switches *s = a->state;
	struct switch_thread *t;

	if (!ct_class_is(e->class, CT_IS_SWITCH)) {
		struct switch_owner *owner;

		/* Tracks appear in the order of their indices: once for each is enough. */
		if (e->track->index < s->tracks || s->owners.count >= SWITCHES_MAX)
			return 0;
		s->tracks = e->track->index + 1;
		if (!e->track->tid)
			return 0;
		owner = ct_keyed_put(&s->owners, e->track->tid);
		if (!owner)
			return -ENOMEM;
		owner->pid = e->track->pid;
		return 0;
	}
	if (e->kind == CT_ON_INSTANT || !e->track->tid)
		return 0;
	if (s->threads.count == SWITCHES_MAX && !ct_keyed_get(&s->threads, e->record->tid)) {
		s->left_out = true;
		return 0;
	}
	t = switches_thread(s, e->record);
	if (!t)
		return -ENOMEM;
	if (e->kind == CT_ON_END)
		return switches_done(s, t, e);
	t->op = e->record->flags & CT_F_BEGIN ? e->point->op_id : 0;
	t->next = ct_record_known(e->record, CT_KNOWN_OTHER);
	return 0;
}

/* ---------------------------------------------------------------- tables --- */

static uint64_t switches_off(const struct switch_thread *t)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < WHY_COUNT; i++)
		ns += t->ns[i];
	return ns;
}

static int switches_compare(const void *a, const void *b)
{
	const struct switch_thread *x = a, *y = b;

	if (switches_off(x) != switches_off(y))
		return switches_off(x) > switches_off(y) ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int switches_compare_pairs(const void *a, const void *b)
{
	const struct switch_pair *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->with < y->with ? -1 : x->with > y->with;
}

/* The process that a thread belongs to, by its records. */
static struct ct_cell switches_name(const struct ct_analysis *a, uint32_t tid)
{
	const struct switches *s = a->state;
	const struct switch_owner *owner = ct_keyed_get(&s->owners, tid);
	const struct switch_thread *own = ct_keyed_get(&s->threads, tid);

	return ct_const(ct_processes_word(a->processes, own ? own->pid : owner ? owner->pid : tid));
}

static void switches_rows(struct ct_analysis *a, struct ct_table *t)
{
	const struct switches *s = a->state;

	for (size_t i = 0; i < s->threads.count; i++) {
		const struct switch_thread *thread = &s->threads.list[i];
		uint64_t count = 0;
		struct ct_cell *row;

		for (unsigned int why = 0; why < WHY_COUNT; why++)
			count += thread->count[why];
		if (!count)
			continue;
		row = ct_table_row(t);
		row[PROCESS] = ct_const(ct_processes_word(a->processes, thread->pid));
		row[PID] = ct_u64(thread->pid);
		row[TID] = ct_u64(thread->tid);
		row[SWITCHES] = ct_u64(count);
		row[OFF] = ct_u64(switches_off(thread));
		row[LONGEST] = ct_u64(thread->longest);
		for (unsigned int why = 0; why < WHY_COUNT; why++) {
			row[PREEMPTED + 2 * why] = ct_u64(thread->count[why]);
			row[PREEMPTED_NS + 2 * why] = ct_u64(thread->ns[why]);
		}
		row[RUNNABLE] = ct_u64(thread->runnable);
	}
}

static void switches_pair_rows(struct ct_analysis *a, struct ct_table *t, struct switch_pairs *p,
			       const char *nobody)
{
	ct_keyed_sort(p, switches_compare_pairs);
	for (size_t i = 0; i < p->count; i++) {
		const struct switch_pair *pair = &p->list[i];
		struct ct_cell *row = ct_table_row(t);

		row[W_TID] = ct_u64(pair->tid);
		row[W_PROCESS] = switches_name(a, pair->tid);
		row[W_WITH] = ct_u64(pair->with);
		row[W_WITH_PROCESS] = pair->with ? switches_name(a, pair->with) : ct_const(nobody);
		row[W_TIMES] = ct_u64(pair->count);
		row[W_OFF] = ct_u64(pair->ns);
	}
}

static int switches_end(struct ct_analysis *a)
{
	struct switches *s = a->state;
	struct ct_table *t = ct_analysis_table(a, "switches",
		"Traced threads off the CPU, by why they left it; waiting to run: they could, others ran",
		columns, COLUMNS);

	ct_keyed_sort(&s->threads, switches_compare);
	switches_rows(a, t);
	if (!a->trace->has_kernel)
		ct_table_note(t, "Only the kernel module sees when a thread is off the CPU.");
	if (s->left_out)
		ct_table_note(t, "Only the first %u threads and pairs of threads have rows.", SWITCHES_MAX);
	switches_pair_rows(a, ct_analysis_table(a, "switches_next",
		"Who ran when the thread left the CPU, and how long it was then off it", next_columns,
		W_COLUMNS), &s->next, "(idle)");
	switches_pair_rows(a, ct_analysis_table(a, "switches_wakers",
		"Who woke the thread, and how long it had been off the CPU", waker_columns,
		W_COLUMNS), &s->wakers, "(interrupt)");
	return 0;
}

static void switches_free(struct ct_analysis *a)
{
	struct switches *s = a->state;

	ct_keyed_free(&s->threads);
	ct_keyed_free(&s->owners);
	ct_keyed_free(&s->next);
	ct_keyed_free(&s->wakers);
}

const struct ct_analyser ct_report_switches = {
	.name = "switches",
	.summary = "threads off the CPU: how long and why, who ran instead, who woke them",
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.state_size = sizeof(struct switches),
	.event = switches_event,
	.end = switches_end,
	.free = switches_free,
};
