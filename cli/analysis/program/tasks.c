// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tasks.h.  Must never keep something for each record. */
#include "analysis/program/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/program/process_ends.h"
#include "base/grow.h"

/* The program that @pid runs now, or NULL. */
static struct ct_task_process *tasks_runs(const struct ct_tasks *s, uint32_t pid)
{
	const struct ct_task_index *last = ct_keyed_get(&s->by_pid, pid);

	return last && last->index ? &s->processes[last->index - 1] : NULL;
}

/* The same, made if there is none; -1: no memory. */
static int tasks_process(struct ct_tasks *s, uint32_t pid)
{
	struct ct_task_index *last = ct_keyed_put(&s->by_pid, pid);
	struct ct_task_process *before = tasks_runs(s, pid);
	unsigned int generation = before ? before->generation + 1 : 0;

	if (before && !before->replaced)
		return last->index - 1;
	if (!last || !ct_room(s->processes, s->processes_count, s->processes_room))
		return -1;
	s->processes[s->processes_count] = (struct ct_task_process){
		.pid = pid, .generation = generation, .first = UINT64_MAX,
	};
	last->index = ++s->processes_count;
	return last->index - 1;
}

/* The library's process record: a program begins. */
static int tasks_begin(struct ct_tasks *s, const struct ct_trace_event *e)
{
	struct ct_task_process *before = tasks_runs(s, e->record->pid);
	int at;

	if (before && before->begun)
		before->replaced = true;
	if (s->processes_count >= CT_TASKS_MAX)
		return 0;
	at = tasks_process(s, e->record->pid);
	if (at < 0)
		return -ENOMEM;
	s->processes[at].begun = true;
	return 0;
}

static int tasks_name(struct ct_analysis *a, const struct ct_trace_event *e)
{
	const char *word = ct_processes_word(a->processes, e->record->pid);
	struct ct_tasks *s = a->state;
	struct ct_task_process *p = tasks_runs(s, e->record->pid);

	if (!p || !word || (p->name && !strcmp(p->name, word)))
		return 0;
	free(p->name);
	p->name = strdup(word);
	return p->name ? 0 : -ENOMEM;
}

/* The thread of an event; NULL with *@rc 0: one too many. */
static struct ct_task_thread *tasks_thread(struct ct_tasks *s, uint32_t pid, uint32_t tid, int *rc)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	struct ct_task_index *last = ct_keyed_get(&s->by_thread, key);
	struct ct_task_thread *t;
	int process;

	*rc = 0;
	if (last && last->index && !s->processes[s->threads[last->index - 1].process].replaced)
		return &s->threads[last->index - 1];
	if (s->threads_count == CT_TASKS_MAX)
		return NULL;
	*rc = -ENOMEM;
	last = ct_keyed_put(&s->by_thread, key);
	process = tasks_process(s, pid);
	if (!last || process < 0 || !ct_room(s->threads, s->threads_count, s->threads_room))
		return NULL;
	t = &s->threads[s->threads_count++];
	*t = (struct ct_task_thread){
		.pid = pid, .tid = tid, .process = process, .first = UINT64_MAX,
	};
	s->processes[process].threads++;
	last->index = s->threads_count;
	*rc = 0;
	return t;
}

/* The same by the track of the event, which is faster. */
static struct ct_task_thread *tasks_of(struct ct_tasks *s, const struct ct_trace_event *e, int *rc)
{
	uint32_t pid = e->record ? e->record->pid : e->track->pid;
	struct ct_task_thread *t;
	unsigned int at;

	*rc = -ENOMEM;
	if (!ct_room_at(s->by_track, e->track->index, s->tracks_room))
		return NULL;
	at = s->by_track[e->track->index];
	*rc = 0;
	t = at ? &s->threads[at - 1] : NULL;
	if (t && t->pid == pid && !s->processes[t->process].replaced)
		return t;
	t = tasks_thread(s, pid, e->track->tid, rc);
	s->by_track[e->track->index] = t ? t - s->threads + 1 : 0;
	return t;
}

static void tasks_count(struct ct_task_thread *t, struct ct_task_process *p,
			const struct ct_trace_event *e)
{
	bool launch = ct_class_is(e->class, CT_IS_LAUNCH);

	if (ct_class_is(e->class, CT_IS_SWITCH)) {
		t->switches += e->kind == CT_ON_END;
		t->off_cpu += e->kind == CT_ON_END ? e->duration : 0;
		return;
	}
	if (e->kind == CT_ON_UNRETURNED)
		p->inside = e->class;
	if (!e->api)
		return;
	t->calls++;
	p->calls++;
	t->launches += launch;
	p->launches += launch;
	if (!e->timed)
		return;
	/* A call's depth is known also where the ends of calls before it were overwritten. */
	if (!e->point->depth)
		t->in_calls += e->duration;
	if (ct_class_is(e->class, CT_IS_WAIT) &&
	    (!e->point->depth || !e->track->nested[CT_CAT_SYNC]))
		t->waiting += e->duration;
}

static int tasks_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_tasks *s = a->state;
	struct ct_task_process *p;
	struct ct_task_thread *t;
	int rc = 0;

	/* A thread that left the CPU may not have come back. */
	if (e->kind == CT_ON_BEGIN && !ct_class_is(e->class, CT_IS_SWITCH))
		return 0;
	if (!e->track->tid || e->class->category == CT_CAT_TRACER ||
	    (e->point && e->point->stream && e->point->stream->kind == CT_STREAM_STATE))
		return 0;
	if (ct_program_begins(e))
		rc = tasks_begin(s, e);
	t = rc ? NULL : tasks_of(s, e, &rc);
	if (!t) {
		s->left_out += !rc;
		return rc;
	}
	p = &s->processes[t->process];
	if (e->begin < t->first)
		t->first = e->begin;
	if (e->begin < p->first)
		p->first = e->begin;
	if (e->end > t->last)
		t->last = e->end;
	if (e->end > p->last)
		p->last = e->end;
	if (e->class->id == CT_CLASS_process && e->record)
		return tasks_name(a, e);
	if (ct_program_exits(e))
		p->exit = CT_TASK_EXITED;
	if (ct_thread_leaves(e)) {
		t->exit = CT_TASK_EXITED;
		if (t->tid == t->pid)
			p->exit = CT_TASK_EXITED;
	}
	tasks_count(t, p, e);
	return 0;
}

const char *ct_task_name(const struct ct_tasks *s, uint32_t pid, uint32_t generation)
{
	const struct ct_task_index *last = ct_keyed_get(&s->by_pid, pid);

	/* The map has the last one; those before stand before it. */
	for (uint64_t i = last ? last->index : 0; i > 0; i--)
		if (s->processes[i - 1].pid == pid && s->processes[i - 1].generation == generation)
			return s->processes[i - 1].name;
	return NULL;
}

static void tasks_free(struct ct_analysis *a)
{
	struct ct_tasks *s = a->state;

	for (unsigned int i = 0; i < s->processes_count; i++)
		free(s->processes[i].name);
	free(s->processes);
	free(s->threads);
	free(s->by_track);
	ct_keyed_free(&s->by_thread);
	ct_keyed_free(&s->by_pid);
}

const struct ct_analyser ct_tasks_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.state_size = sizeof(struct ct_tasks),
	.event = tasks_event,
	.free = tasks_free,
};
