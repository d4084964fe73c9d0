/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rings of module/base/ring.c in a program, with a clock and with interrupts that the test
 * moves.  Records have class range_pop, which has no fields.
 */
#ifndef CT_TEST_SIM_H
#define CT_TEST_SIM_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_CPUS	4

/* A record that was written. */
struct sim_record {
	uint64_t ns, op;
};

struct sim_cpu {
	struct ct_ring *ring;
	struct sim_record *record;
	uint64_t records, room;
	uint64_t refused;	/* records that the ring did not take */
};

extern struct sim_cpu sim_cpu[SIM_CPUS];

/* ns; each time that the ring reads the clock it is 1 ns later. */
extern uint64_t sim_ns;

/* An interrupt comes once, at this operation of the ring from now on; 0: none. */
extern unsigned long sim_interrupt_at;
extern void (*sim_interrupt)(void);

void sim_start(uint32_t size, uint32_t count, bool overwrite, const uint8_t uuid[16]);
void sim_stop(void);

/* A record on this CPU, which may be inside another one. */
void sim_put(unsigned int cpu);

/* What a reader maps. */
const uint8_t *sim_data(unsigned int cpu);
const struct ct_cpu_status *sim_status(unsigned int cpu);
struct ct_cpu_consumer *sim_consumer(unsigned int cpu);

#endif
