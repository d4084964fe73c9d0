// SPDX-License-Identifier: LGPL-2.1-or-later
/* See launches.h.  Memory is bounded: launches of further processes do not count. */
#include "export/slices/launches.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/program/process_ends.h"
#include "trace/gpu/gpu_causes.h"

#define PROCESSES_MAX	16384u
#define JOINS_MAX	(1u << 18)

static int launches_add_process(struct ct_launches *l, uint32_t pid, struct ct_launches_process **p)
{
	*p = ct_keyed_get(&l->processes, pid);
	if (*p || l->processes.count >= PROCESSES_MAX)
		return 0;
	*p = ct_keyed_put(&l->processes, pid);
	return *p ? 0 : -ENOMEM;
}

/* A launch was counted: its record of the GPU may say that it ended.  Of a graph's kernels nobody knows the last. */
static int launches_join(struct ct_launches *l, const struct ct_streams *s, const struct ct_trace_event *e)
{
	uint64_t stream = ct_call_stream(e, CT_KNOWN_STREAM);
	const struct ct_stream_work *work = ct_keyed_get(&s->open, stream);
	struct ct_launches_join *join;

	if (!work || !ct_class_is(e->class, CT_IS_KERNEL_LAUNCH))
		return 0;
	if (l->joins.count >= JOINS_MAX)
		ct_keyed_free(&l->joins);
	join = ct_keyed_put(&l->joins, e->point->op_id);
	if (!join)
		return -ENOMEM;
	join->stream = stream;
	join->number = work->launches;
	return 0;
}

/* A kernel ended on the GPU. */
static void launches_gpu(struct ct_launches *l, const struct ct_point *point)
{
	struct ct_launches_join *join = point->cause ? ct_keyed_get(&l->joins, point->cause->op_id) : NULL;
	struct ct_launches_process *p = ct_keyed_get(&l->processes, point->record.pid);

	if (!join)
		return;
	if (p)
		ct_streams_ended(&p->streams, join->stream, join->number);
	ct_keyed_remove(&l->joins, join);
}

static void launches_end_process(struct ct_launches *l, uint32_t pid)
{
	struct ct_launches_process *p = ct_keyed_get(&l->processes, pid);

	if (!p)
		return;
	ct_streams_free(&p->streams);
	ct_keyed_remove(&l->processes, p);
}

int ct_launches_event(struct ct_launches *l, const struct ct_trace_event *e)
{
	struct ct_launches_process *p;
	enum ct_stream_call call;
	uint64_t launches;
	int rc;

	if (!l->calls) {
		l->calls = calloc(CT_CLASS_MAX + 1, 1);
		if (!l->calls)
			return -ENOMEM;
	}
	if (ct_program_begins(e) || ct_program_exits(e))
		launches_end_process(l, e->record->pid);
	if (e->class->layer == CT_LAYER_GPU && e->kind == CT_ON_END)
		launches_gpu(l, e->point);
	if (!l->calls[e->class->id])
		l->calls[e->class->id] = ct_stream_call_of(e->class) + 1;
	call = l->calls[e->class->id] - 1;
	if (call == CT_STREAM_NONE || e->kind == CT_ON_BEGIN || !ct_stream_call_succeeded(e))
		return 0;
	if (launches_add_process(l, e->record->pid, &p))
		return -ENOMEM;
	if (!p)
		return 0;
	launches = p->streams.launches;
	rc = ct_streams_returned(&p->streams, e, call);
	if (rc >= 0 && l->gpu && p->streams.launches > launches)
		rc = launches_join(l, &p->streams, e);
	return rc < 0 ? rc : 0;
}

uint64_t ct_launches_open(const struct ct_launches *l, uint32_t pid)
{
	const struct ct_launches_process *p = ct_keyed_get(&l->processes, pid);

	return p ? p->streams.launches_open : 0;
}

void ct_launches_free(struct ct_launches *l)
{
	for (size_t i = 0; i < l->processes.count; i++)
		ct_streams_free(&l->processes.list[i].streams);
	ct_keyed_free(&l->processes);
	ct_keyed_free(&l->joins);
	free(l->calls);
}
