// SPDX-License-Identifier: LGPL-2.1-or-later
/* See sim.h.  kernel.h stands for the kernel's headers. */
#include "kernel.h"

#include "base/ring.c"

#include "sim.h"

struct sim_cpu sim_cpu[SIM_CPUS];
uint64_t sim_ns;
unsigned long sim_interrupt_at;
void (*sim_interrupt)(void);

static uint64_t ops;

void sim_point(void)
{
	if (sim_interrupt_at && !--sim_interrupt_at)
		sim_interrupt();
}

u64 ct_clock_ns(void)
{
	sim_point();
	return ++sim_ns;
}

void *ct_pages_alloc(size_t size, int node)
{
	(void)node;
	return calloc(1, size);
}

void sim_start(uint32_t size, uint32_t count, bool overwrite, const uint8_t uuid[16])
{
	for (unsigned int i = 0; i < SIM_CPUS; i++) {
		struct ct_ring *r = aligned_alloc(64, sizeof(*r));

		sim_cpu[i] = (struct sim_cpu){ .ring = r };
		if (!r || ct_ring_init(r, i, size, count, overwrite, uuid))
			abort();
	}
}

void sim_stop(void)
{
	for (unsigned int i = 0; i < SIM_CPUS; i++) {
		ct_ring_free(sim_cpu[i].ring);
		free(sim_cpu[i].ring);
		free(sim_cpu[i].record);
	}
}

void sim_put(unsigned int cpu)
{
	struct sim_cpu *c = &sim_cpu[cpu];
	struct ct_reservation room = ct_ring_reserve(c->ring, sizeof(struct ct_cpu_record), 1);
	uint64_t op = ++ops;

	if (!room.at) {
		c->refused++;
		return;
	}
	*(struct ct_cpu_record *)room.at = (struct ct_cpu_record){
		.stamp = CT_STAMP(room.stamp, CT_CLASS_range_pop), .pid = 1, .tid = 1, .op = op,
		.duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT),
	};
	ct_ring_commit(c->ring, 1);
	if (c->records == c->room) {
		c->room = c->room ? 2 * c->room : 1024;
		c->record = realloc(c->record, c->room * sizeof(*c->record));
		if (!c->record)
			abort();
	}
	c->record[c->records++] = (struct sim_record){ room.stamp, op };
}

const uint8_t *sim_data(unsigned int cpu)
{
	return sim_cpu[cpu].ring->data;
}

const struct ct_cpu_status *sim_status(unsigned int cpu)
{
	return sim_cpu[cpu].ring->status;
}

struct ct_cpu_consumer *sim_consumer(unsigned int cpu)
{
	return sim_cpu[cpu].ring->consumer;
}
