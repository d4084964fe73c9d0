// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See calls.h.  Memory is bounded by the number of classes: must never keep something for
 * each record.
 */
#include "analysis/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ct_function_sum *calls_function(struct ct_calls *c, const struct ct_class *class)
{
	struct ct_function_sum **sum = &c->by_class[class->id];

	if (!*sum) {
		*sum = calloc(1, sizeof(**sum));
		if (*sum)
			(*sum)->class = class;
	}
	return *sum;
}

/* What comes before a launch: initialisation, a context, a kernel that is loaded. */
static bool calls_prepares(const struct ct_class *class)
{
	return class->category == CT_CAT_INIT || ct_class_is(class, CT_IS_LOAD | CT_IS_CONTEXT);
}

/* Does this process call libcuda, and does it use what only libcuda uses of the driver? */
static int calls_note_use(struct ct_calls *c, const struct ct_trace_event *e)
{
	bool calls = e->api && e->class->operation != CT_OP_LOOKUP, uvm, launches, prepares;
	struct ct_process_use *use;

	uvm = e->record->fields && ct_record_is_ioctl(e->record) &&
	       ct_record_known(e->record, CT_KNOWN_DEVICE) == CT_DEV_UVM;
	launches = ct_class_is(e->class, CT_IS_KERNEL_LAUNCH) && c->launcher != e->track->pid;
	prepares = e->api && calls_prepares(e->class);
	if (!uvm && !launches && !prepares && (!calls || c->caller == e->track->pid))
		return 0;
	use = ct_keyed_put(&c->uses, e->track->pid);
	if (!use)
		return -ENOMEM;
	use->calls |= calls;
	use->uvm |= uvm;
	use->launches |= launches;
	use->prepares |= prepares;
	if (launches)
		c->launcher = e->track->pid;
	if (calls)
		c->caller = e->track->pid;
	return 0;
}

static void calls_count_copy(struct ct_calls *c, const struct ct_trace_event *e, uint64_t size)
{
	uint64_t direction = ct_record_known(e->record, CT_KNOWN_DIRECTION);

	if (direction >= CT_DIR_COUNT)
		direction = CT_DIR_UNKNOWN;
	c->copies++;
	c->direction_count[direction]++;
	if (e->failed)
		return;
	c->copy_bytes += size;
	c->direction_bytes[direction] += size;
}

/* What is counted once a call is over, or of an instant. */
static void calls_count(struct ct_calls *c, const struct ct_trace_event *e)
{
	const struct ct_class *class = e->class;
	uint64_t size;

	c->categories[e->category].count++;
	if (class->category == CT_CAT_SCHEDULER)
		c->scheduler_calls++;
	if (!e->api)
		return;
	c->api_calls++;
	c->api_failed += e->failed;
	c->runtime_calls += class->category == CT_CAT_RUNTIME;
	if (class->operation == CT_OP_NONE)
		return;
	size = ct_record_known(e->record, CT_KNOWN_SIZE);
	if (ct_class_is(class, CT_IS_KERNEL_LAUNCH)) {
		c->launches++;
		c->launches_failed += e->failed;
	}
	if (ct_class_is(class, CT_IS_GRAPH_LAUNCH)) {
		c->graph_launches++;
		c->graph_launches_failed += e->failed;
	}
	if (ct_class_is(class, CT_IS_ALLOC)) {
		c->allocs++;
		c->allocs_failed += e->failed;
		c->alloc_bytes += e->failed ? 0 : size;
	}
	if (ct_class_is(class, CT_IS_FREE))
		c->frees++;
	if (ct_class_is(class, CT_IS_COPY))
		calls_count_copy(c, e, size);
	if (ct_class_is(class, CT_IS_SET)) {
		c->sets++;
		c->set_bytes += e->failed ? 0 : size;
	}
}

static int calls_timed(struct ct_calls *c, const struct ct_trace_event *e, struct ct_function_sum *sum)
{
	struct ct_category_stat *category = &c->categories[e->category];

	sum->self += e->self;
	category->self += e->self;
	c->self += e->self;
	if (!e->track->nested[e->category])
		category->total += e->duration;
	/* An entry function may call the next one, which is an ioctl's, too. */
	if (ct_record_is_ioctl(e->record) && !e->track->ioctls[e->kernel]) {
		struct ct_ioctl_stat *stat = &c->by_layer[e->kernel];

		stat->count++;
		stat->total += e->duration;
		stat->failed += e->failed;
	}
	return ct_histogram_add(&sum->durations, e->duration);
}

static int calls_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct ct_calls *c = a->state;
	struct ct_function_sum *sum;
	int rc;

	if (ct_class_is(e->class, CT_IS_SWITCH)) {
		c->switches += e->kind == CT_ON_END;
		c->off_cpu += e->duration;
		return 0;
	}
	if (e->kind == CT_ON_INSTANT && !e->class->call)
		return 0;
	sum = calls_function(c, e->class);
	if (!sum)
		return -ENOMEM;
	if (!sum->count++ || e->begin < sum->first)
		sum->first = e->begin;
	if (e->kind == CT_ON_UNRETURNED) {
		sum->open++;
		c->open++;
		c->api_calls += e->api;
		return 0;
	}
	sum->failed += e->failed;
	rc = calls_note_use(c, e);
	calls_count(c, e);
	return !rc && e->timed ? calls_timed(c, e, sum) : rc;
}

/* What the GPU did is no call. */
static bool calls_wants(const struct ct_class *class)
{
	return class->layer != CT_LAYER_GPU;
}

static void calls_find_bypassed(struct ct_calls *c)
{
	for (size_t i = 0; i < c->uses.count; i++) {
		const struct ct_process_use *use = &c->uses.list[i];

		if (!use->calls && use->uvm) {
			if (c->bypassed_count < CT_CALLS_BYPASSED)
				c->bypassed[c->bypassed_count] = use->pid;
			c->bypassed_count++;
		}
		if (use->launches && !use->prepares) {
			if (c->partial_count < CT_CALLS_BYPASSED)
				c->partial[c->partial_count] = use->pid;
			c->partial_count++;
		}
	}
}

static int calls_begin(struct ct_analysis *a)
{
	struct ct_calls *c = a->state;

	c->by_class = calloc(CT_CLASS_MAX + 1, sizeof(*c->by_class));
	return c->by_class ? 0 : -ENOMEM;
}

static int calls_end(struct ct_analysis *a)
{
	struct ct_calls *c = a->state;

	calls_find_bypassed(c);
	c->ioctl_by_kernel = c->by_layer[1].count > 0;
	c->ioctl = c->by_layer[c->ioctl_by_kernel];
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++)
		c->functions_count += c->by_class[i] != NULL;
	c->functions = calloc(c->functions_count + 1, sizeof(*c->functions));
	if (!c->functions)
		return -ENOMEM;
	c->functions_count = 0;
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++) {
		if (!c->by_class[i])
			continue;
		c->functions[c->functions_count++] = *c->by_class[i];
		free(c->by_class[i]);
		c->by_class[i] = NULL;
	}
	for (unsigned int i = 0; i < c->functions_count; i++) {
		const struct ct_class *class = c->functions[i].class;
		bool ioctl = class->id == CT_CLASS_ioctl && !a->trace->has_kernel;
		struct ct_category_stat *category =
			&c->categories[ioctl ? CT_CAT_IOCTL : class->category];

		if (!category->main || c->functions[i].self > category->main->self)
			category->main = &c->functions[i];
	}
	return 0;
}

static void calls_free(struct ct_analysis *a)
{
	struct ct_calls *c = a->state;

	for (unsigned int i = 0; c->by_class && i <= CT_CLASS_MAX; i++)
		if (c->by_class[i]) {
			ct_histogram_free(&c->by_class[i]->durations);
			free(c->by_class[i]);
		}
	free(c->by_class);
	for (unsigned int i = 0; i < c->functions_count; i++)
		ct_histogram_free(&c->functions[i].durations);
	free(c->functions);
	ct_keyed_free(&c->uses);
}

const char *ct_calls_name(const struct ct_calls *calls, const struct ct_function_sum *sum)
{
	for (unsigned int i = 0; i < calls->functions_count; i++)
		if (&calls->functions[i] != sum && *sum->class->symbol &&
		    !strcmp(calls->functions[i].class->name, sum->class->name))
			return sum->class->symbol;
	return sum->class->name;
}

const struct ct_analyser ct_calls_analyser = {
	.on = CT_ON_END | CT_ON_INSTANT | CT_ON_UNRETURNED,
	.wants = calls_wants,
	.state_size = sizeof(struct ct_calls),
	.begin = calls_begin,
	.event = calls_event,
	.end = calls_end,
	.free = calls_free,
};
