// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See slices.h.  Must never give an end to a format that was given no begin, nor two ends:
 * a viewer would take them for those of other slices.
 */
#include "export/slices/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spans/work.h"
#include "analysis/memory/memory.h"
#include "table/short_name.h"
#include "trace/gpu/gpu_causes.h"

struct slices_process {
	uint64_t pid;
	bool named;
};

struct slices {
	const struct ct_slices_sink *sink;
	void *arg;
	struct ct_slice_tracks tracks;
	CT_KEYED(struct slices_process) processes;
	const struct ct_processes *known;	/* of the pass: ranks of jobs */
	struct ct_counters counters;
	struct ct_slice_metrics metrics;
	struct ct_names *names;
	char **kernels;			/* short names of kernels, by the id of their string */
	uint64_t last;			/* ns */
	bool gpu;			/* there are records of the GPU */
	bool counts;			/* counters have all that they count */
};

/* ------------------------------------------------------------------ ends --- */

/* Ends the innermost slice of a track, of which no end was recorded. */
static int slices_close(struct slices *s, struct ct_slice_track *track, uint64_t ts, bool at_end)
{
	struct ct_open_slice slice = *ct_slice_track_pop(track);
	uint32_t arrows = slice.op_id ? ct_slice_track_drop_arrows(track, slice.op_id) : 0;

	return s->sink->end(s->arg, &(struct ct_slice){
		.track = track, .class = slice.class, .name = slice.class->name,
		.name_len = strlen(slice.class->name), .ts = ts, .begin = slice.begin,
		.unfinished = true, .at_end = at_end, .op_id = slice.op_id,
		/* A slice that was given as a whole only ends early where a trace is damaged. */
		.known = slice.end != UINT64_MAX,
		.arrows = track->arrows + track->arrows_count, .arrows_count = arrows,
	});
}

/* A call never returned: its thread is outside it. */
static int slices_left(struct slices *s, const struct ct_trace_event *e)
{
	uint64_t op_id = e->track->frames[e->track->depth].op_id;
	struct ct_slice_track *track = ct_slice_tracks_find(&s->tracks, ct_slice_track_kind_of(e->class, e->track),
							    e->track, op_id);
	bool closed = !track;
	int rc = 0;

	while (!closed && !rc) {
		closed = track->slices[track->depth - 1].op_id == op_id;
		rc = slices_close(s, track, e->end, false);
	}
	return rc;
}

/* A thread that does something is on a CPU: the end of the time before was lost. */
static int slices_awake(struct slices *s, const struct ct_trace_event *e)
{
	struct ct_slice_track *track = ct_slice_tracks_get(&s->tracks, CT_SLICE_TRACK_DRIVER, e->track);
	const struct ct_open_slice *top = track && track->depth ? &track->slices[track->depth - 1] : NULL;

	if (!top || top->end != UINT64_MAX || !ct_class_is(top->class, CT_IS_SWITCH) || top->op_id == e->point->op_id)
		return 0;
	return slices_close(s, track, e->point->ts, false);
}

/* ---------------------------------------------------------------- begins --- */

static int slices_know_process(struct slices *s, uint32_t pid)
{
	return ct_keyed_put(&s->processes, pid) ? 0 : -ENOMEM;
}

/* The first track of a kind for a record, which the format is told of. */
static int slices_track(struct slices *s, const struct ct_trace_event *e, struct ct_slice_track **track)
{
	uint32_t count = s->tracks.count;

	*track = ct_slice_tracks_make(&s->tracks, ct_slice_track_kind_of(e->class, e->track), e->track, e->record);
	if (!*track)
		return -ENOMEM;
	if (s->tracks.count == count)
		return 0;
	if ((*track)->kind <= CT_SLICE_TRACK_GPU && slices_know_process(s, (*track)->pid))
		return -ENOMEM;
	return s->sink->track(s->arg, *track);
}

/* The track on which a slice that lasts until @end nests in what is open. */
static int slices_choose(struct slices *s, const struct ct_point *p, uint64_t end, struct ct_slice_track **track)
{
	int rc;

	while ((*track)->depth) {
		const struct ct_open_slice *top = &(*track)->slices[(*track)->depth - 1];
		bool gpu = (*track)->kind == CT_SLICE_TRACK_GPU;

		/* What the GPU does at the same time never nests. */
		if (!gpu && (top->end == UINT64_MAX || top->end >= (end == UINT64_MAX ? p->ts : end)))
			return 0;
		if ((*track)->next) {
			*track = (*track)->next;
			continue;
		}
		if ((*track)->number + 1 >= CT_SLICE_TRACKS_ALIKE ||
		    s->tracks.count >= 2 * CT_SLICE_TRACKS_MAX)
			return 0;
		*track = ct_slice_tracks_beside(&s->tracks, *track);
		if (!*track)
			return -ENOMEM;
		rc = s->sink->track(s->arg, *track);
		if (rc)
			return rc;
	}
	return 0;
}

/* Arrows between a call and what the GPU does for it. */
static void slices_join(const struct ct_point *p, struct ct_slice *slice)
{
	if (p->record.class->layer == CT_LAYER_GPU)
		slice->flow_in = p->cause ? p->cause->op_id : 0;
	else if (ct_class_is(p->record.class, CT_IS_WORK))
		slice->flow_out = p->op_id;
}

/* An arrow from the call that is open to the ioctl that begins inside it. */
static int slices_arrow(struct slices *s, const struct ct_trace_event *e, struct ct_slice *slice)
{
	struct ct_slice_track *calls = ct_slice_tracks_get(&s->tracks, CT_SLICE_TRACK_CALLS, e->track);
	int rc = calls && calls->depth ? ct_slice_track_arrow(calls, slice->op_id) : 1;

	if (!rc)
		slice->from = calls;
	return rc < 0 ? rc : 0;
}

/* What the GPU did bears the kernel's name; copies, sets and graphs that of report cuda_gpu_trace. */
static int slices_name_work(struct slices *s, const struct ct_record *r, struct ct_slice *slice)
{
	uint32_t id = ct_record_known(r, CT_KNOWN_KERNEL);
	const char *name = r->fields && ct_record_has(r, CT_KNOWN_KERNEL) ? ct_names_string(s->names, id) : NULL;
	const char *work = ct_gpu_work_name(r);
	char buf[256];

	if (work) {
		slice->name = work;
		slice->name_len = strlen(work);
	}
	if (!name || !*name)
		return 0;
	if (!s->kernels)
		s->kernels = calloc(s->names->reg->strings_count + 1, sizeof(*s->kernels));
	if (!s->kernels)
		return -ENOMEM;
	if (!s->kernels[id])
		s->kernels[id] = strdup(ct_short_kernel(buf, sizeof(buf), name));
	if (!s->kernels[id])
		return -ENOMEM;
	slice->name = s->kernels[id];
	slice->name_len = strlen(s->kernels[id]);
	return 0;
}

static int slices_begin(struct slices *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	const struct ct_record *r = &p->record;
	struct ct_slice slice = {
		.class = r->class, .name = r->class->name, .name_len = strlen(r->class->name),
		.ts = p->ts, .begin = p->ts, .point = p, .known = !p->entry && !p->open,
		.unfinished = p->open, .op_id = p->op_id,
	};
	uint64_t end = slice.known ? r->end : UINT64_MAX;
	bool ioctl = r->fields && ct_record_is_ioctl(r);
	int rc = slices_awake(s, e);

	if (!rc)
		rc = slices_track(s, e, &slice.track);
	if (!rc)
		rc = slices_choose(s, p, end, &slice.track);
	if (!rc && s->gpu)
		slices_join(p, &slice);
	if (!rc && slice.track->kind == CT_SLICE_TRACK_GPU)
		rc = slices_name_work(s, r, &slice);
	if (!rc && ioctl && slice.track->kind == CT_SLICE_TRACK_DRIVER && !slice.track->ioctls)
		rc = slices_arrow(s, e, &slice);
	if (!rc)
		rc = ct_slice_track_push(slice.track, &(struct ct_open_slice){
			.op_id = p->op_id, .begin = p->ts, .end = end, .ioctl = ioctl, .class = r->class });
	return rc ? rc : s->sink->begin(s->arg, &slice);
}

static int slices_end(struct slices *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	struct ct_slice slice = {
		.class = p->record.class, .name = p->record.class->name,
		.name_len = strlen(p->record.class->name), .ts = p->ts, .begin = p->begin,
		.point = p, .op_id = p->op_id,
	};
	const struct ct_open_slice *popped;
	int rc = slices_awake(s, e);

	if (rc)
		return rc;
	slice.track = ct_slice_tracks_find(&s->tracks, ct_slice_track_kind_of(e->class, e->track), e->track, p->op_id);
	if (!slice.track) {
		/* Else it was ended before, where its thread was seen outside it. */
		if (!p->begin_lost)
			return 0;
		rc = slices_track(s, e, &slice.track);
		return rc ? rc : s->sink->whole(s->arg, &slice);
	}
	while (!rc && slice.track->slices[slice.track->depth - 1].op_id != p->op_id)
		rc = slices_close(s, slice.track, p->ts, false);
	if (rc)
		return rc;
	popped = ct_slice_track_pop(slice.track);
	slice.known = popped->end != UINT64_MAX;
	slice.begin = popped->begin;
	slice.arrows_count = ct_slice_track_drop_arrows(slice.track, p->op_id);
	slice.arrows = slice.track->arrows + slice.track->arrows_count;
	if (p->begin != popped->begin && !(p->record.flags & CT_F_ABANDONED))
		slice.measured = p->ts - p->begin;
	return s->sink->end(s->arg, &slice);
}

/* -------------------------------------------------------------- instants --- */

/* A text names a marker; without one its class does. */
static void slices_text(struct ct_slice *slice, const struct ct_record *r)
{
	uint16_t len;
	const char *text = ct_record_text(r, &len);

	if (!text || !len)
		return;
	slice->name = text;
	slice->name_len = len;
}

static int slices_range(struct slices *s, struct ct_slice *slice)
{
	const struct ct_record *r = &slice->point->record;
	struct ct_slice_track *track = slice->track;

	if (r->class->id == CT_CLASS_range_push) {
		slices_text(slice, r);
		if (ct_slice_track_push(track, &(struct ct_open_slice){
			    .begin = slice->ts, .end = UINT64_MAX, .class = r->class }))
			return -ENOMEM;
		return s->sink->begin(s->arg, slice);
	}
	/* Where many threads share a track, the innermost slice may be a call, which ends by itself. */
	if (!track->depth || track->slices[track->depth - 1].op_id)
		return s->sink->instant(s->arg, slice);
	slice->begin = ct_slice_track_pop(track)->begin;
	return s->sink->end(s->arg, slice);
}

/* "rank 3: python train.py", of one of several traces with its host. */
static int slices_name_process(struct slices *s, const struct ct_record *r, const char *text, uint16_t len)
{
	int32_t rank = ct_processes_rank(s->known, r->pid);
	char name[512];
	int n = 0;

	if (rank < 0 && !r->source)
		return s->sink->process(s->arg, r->pid, text, len);
	if (rank >= 0)
		n = snprintf(name, sizeof(name), "rank %d: ", rank);
	if (r->source)
		n += snprintf(name + n, sizeof(name) - n, "%.64s: ", r->source->label);
	n += snprintf(name + n, sizeof(name) - n, "%.*s", len < 400 ? len : 400, text);
	return s->sink->process(s->arg, r->pid, name, n);
}

static int slices_instant(struct slices *s, const struct ct_trace_event *e)
{
	const struct ct_point *p = e->point;
	const struct ct_record *r = &p->record;
	struct ct_slice slice = {
		.class = r->class, .name = r->class->name, .name_len = strlen(r->class->name),
		.ts = p->ts, .begin = p->ts, .point = p, .op_id = p->op_id,
	};
	struct slices_process *process;
	const char *text;
	uint16_t len;
	int rc;

	text = ct_record_text(r, &len);
	if (r->class->id == CT_CLASS_process && text) {
		process = ct_keyed_put(&s->processes, r->pid);
		if (!process)
			return -ENOMEM;
		process->named = len > 0;
		return len ? slices_name_process(s, r, text, len) : 0;
	}
	if (ct_class_is_sample(r->class) && s->sink->sample)
		return s->sink->sample(s->arg, &slice);
	if (r->class->category == CT_CAT_TRACER)
		return 0;
	rc = slices_track(s, e, &slice.track);
	if (rc)
		return rc;
	if (r->class->id == CT_CLASS_range_push || r->class->id == CT_CLASS_range_pop)
		return slices_range(s, &slice);
	if (r->class->id == CT_CLASS_mark)
		slices_text(&slice, r);
	return s->sink->instant(s->arg, &slice);
}

/* ------------------------------------------------------------------ pass --- */

static struct slices *slices_of(const struct ct_analysis *a)
{
	return a->arg;
}

static int slices_start(struct ct_analysis *a)
{
	const struct ct_points_filter *only = a->trace->filter;
	struct slices *s = slices_of(a);

	s->gpu = a->trace->has_gpu;
	s->counters.launches.gpu = s->gpu;
	s->counts = !only || !(only->partial || only->from);
	s->names = a->names;
	s->known = a->processes;
	s->last = a->trace->reg.start;
	return s->sink->start(s->arg, a->names, s->gpu);
}

static int slices_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct slices *s = slices_of(a);
	int rc;

	/* What was sampled does not say how long the trace is. */
	if (e->class->id == CT_CLASS_gpu_metrics)
		return ct_slice_metrics_record(&s->metrics, e->record, e->point->ts);
	if (ct_class_is_sample(e->class))
		return slices_instant(s, e);
	/* What is open at the end of the trace is ended there. */
	if (e->kind == CT_ON_UNRETURNED)
		return e->left ? slices_left(s, e) : 0;
	s->last = e->point->ts;
	rc = e->kind == CT_ON_BEGIN ? slices_begin(s, e) : e->kind == CT_ON_END ? slices_end(s, e) : slices_instant(s, e);
	if (rc || !s->counts)
		return rc;
	return ct_counters_event(&s->counters, ct_analysis_state(a, &ct_memory_analyser), e);
}

static int slices_finish(struct ct_analysis *a)
{
	struct slices *s = slices_of(a);
	int rc = 0;

	for (uint32_t i = 0; i < s->tracks.count && !rc; i++)
		while (s->tracks.list[i]->depth && !rc)
			rc = slices_close(s, s->tracks.list[i], s->last, true);
	for (size_t i = 0; i < s->processes.count && !rc; i++)
		if (!s->processes.list[i].named)
			rc = s->sink->process(s->arg, s->processes.list[i].pid, "", 0);
	return rc;
}

static const struct ct_analyser *const needs[] = { &ct_memory_analyser, NULL };

static const struct ct_analyser slices_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.unfiltered = true,
	.samples = true,
	.needs = needs,
	.begin = slices_start,
	.event = slices_event,
	.end = slices_finish,
};

int ct_slices(const struct ct_trace *t, const struct ct_slices_sink *sink, void *arg)
{
	struct slices s = { .sink = sink, .arg = arg, .counters = { .give = sink->counter, .arg = arg },
			    .metrics = { .give = sink->metric, .arg = arg } };
	int rc = ct_engine_one(t, &slices_analyser, &s);

	for (unsigned int i = 0; s.kernels && i < t->reg.strings_count; i++)
		free(s.kernels[i]);
	free(s.kernels);
	ct_slice_tracks_free(&s.tracks);
	ct_keyed_free(&s.processes);
	ct_counters_free(&s.counters);
	ct_slice_metrics_free(&s.metrics);
	return rc;
}
