// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * activity.c - what is done on the simulated GPU, for the stand-in for libcupti.
 */
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "sim.h"

static sim_activity_hook *hook;
static uint32_t last;			/* number of the last call; locked */

__attribute__((visibility("default"))) void cudatrace_sim_activity(sim_activity_hook *to)
{
	__atomic_store_n(&hook, to, __ATOMIC_RELEASE);
}

static bool told(const struct sim_op *op)
{
	return op->kind == SIM_OP_KERNEL || op->kind == SIM_OP_COPY ||
	       op->kind == SIM_OP_SET;
}

uint32_t sim_activity_number(void)
{
	return ++last;
}

void sim_activity_nothing(void)
{
	pthread_mutex_lock(&sim_lock);
	last++;
	pthread_mutex_unlock(&sim_lock);
}

/* As CUPTI 13.0 numbers them: what is captured too, but for cuLaunchKernelEx. */
void sim_activity_capture(const struct sim_op *op)
{
	if (told(op) && !(op->kind == SIM_OP_KERNEL && op->launch.ex))
		last++;
}

void sim_activity_submit(struct sim_op *op)
{
	if (!op->correlation && told(op))
		op->correlation = sim_activity_number();
	op->seen = __atomic_load_n(&hook, __ATOMIC_ACQUIRE);
}

uint32_t sim_activity_nodes(const struct sim_op *first)
{
	uint32_t n = 0;

	for (; first; first = first->next)
		n += told(first);
	return n;
}

/* Names live as long as the process: modules may be unloaded. */
const char *sim_activity_name(const char *name)
{
	static struct known {
		struct known *next;
		char name[];
	} *known;
	struct known *k;

	for (k = known; k; k = k->next)
		if (!strcmp(k->name, name))
			return k->name;
	k = malloc(sizeof(*k) + strlen(name) + 1);
	if (!k)
		return "";
	strcpy(k->name, name);
	k->next = known;
	known = k;
	return k->name;
}

void sim_activity_done(const struct sim_stream *stream, const struct sim_op *op,
		       uint64_t start, uint64_t end)
{
	sim_activity_hook *tell = __atomic_load_n(&hook, __ATOMIC_ACQUIRE);
	struct sim_activity a = {
		.kind = op->kind, .correlation = op->by_gpu ? 0 : op->correlation, .start = start,
		.end = end, .context = (uint32_t)stream->context->id,
		.stream = (uint32_t)stream->id, .graph = op->graph,
		.node = op->node, .nodes = op->nodes,
		.place = op->place,
	};

	if (!tell || !op->seen || !told(op))
		return;
	if (op->kind == SIM_OP_KERNEL) {
		a.name = op->launch.name;
		memcpy(a.grid, op->launch.grid, sizeof(a.grid));
		memcpy(a.block, op->launch.block, sizeof(a.block));
		a.shared = op->launch.shared;
	} else if (op->kind == SIM_OP_COPY) {
		a.bytes = op->copy.width * op->copy.height;
		a.dst_device = op->copy.dst_device;
		a.src_device = op->copy.src_device;
	} else {
		a.bytes = op->set.width * op->set.height * op->set.value_size;
		a.value = op->set.value;
	}
	tell(&a);
}
