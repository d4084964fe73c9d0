// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records read from the module's rings while they are written, and what is told by them: rings in memory stand for
 * the module's, and are written by the ABI header alone.  Prints TAP.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/live/rings.h"
#include "../../cli/live/trouble.h"
#include "../tap.h"

enum { CPUS = 3, SIZE = 4096, COUNT = 4, LAUNCH = CT_CLASS_DYNAMIC, WAIT, REDUCE, LATE, FAILS };

#define BEGIN	1000000000ull	/* ns, of the session */
#define MS	1000000ull

static const uint8_t uuid[16] = { 0xc0, 0xda, 7 };

/* A CPU's ring, as the module writes it. */
static struct fake {
	struct ct_cpu_status status;
	uint8_t data[SIZE * COUNT];
	uint64_t last;
} fakes[CPUS];

static struct ct_device_ring ring[CPUS];
static struct ct_device device = {
	.fd = -1, .ring = ring,
	.session = { .subbuf_size = SIZE, .subbuf_count = COUNT, .cpus = CPUS, .start = BEGIN },
};
static struct ct_rings rings;

static struct ct_packet *packet(struct fake *f)
{
	return (struct ct_packet *)(f->data + f->status.committed / SIZE * SIZE % sizeof(f->data));
}

/* Its head is complete before the ring says so. */
static void close_packet(struct fake *f, uint32_t content)
{
	struct ct_packet *p = packet(f);

	p->content_size = content * 8;
	p->ts_end = f->last;
	f->status.committed = (f->status.committed / SIZE + 1) * SIZE;
}

static void begin_packet(struct fake *f, uint64_t now)
{
	struct ct_packet *p = packet(f);

	if (f->status.committed / SIZE >= COUNT) {
		f->status.oldest = (f->status.committed / SIZE - COUNT + 1) * SIZE;
		f->status.overwritten++;
	}
	memset(p, 0, SIZE);
	p->magic = CT_MAGIC;
	memcpy(p->uuid, uuid, sizeof(uuid));
	p->stream_class = CT_STREAM_CPU;
	p->packet_size = SIZE * 8;
	p->ts_begin = now;
	p->cpu = (uint32_t)(f - fakes);
	f->status.committed += CT_PACKET_HEAD;
}

/* A call that ended at @end, on @cpu. */
static void call(unsigned int cpu, unsigned int class, uint32_t pid, uint32_t tid, uint64_t begin, uint64_t end, int64_t result,
		 const void *fields, uint32_t size)
{
	struct fake *f = &fakes[cpu];
	struct ct_cpu_record r = {
		.stamp = CT_STAMP(end, class), .pid = pid, .tid = tid, .op = end, .result = result,
		.duration = CT_DURATION(end - begin, 0, 0),
	};
	uint8_t *at;

	size = (size + 7) & ~7u;
	if (f->status.committed % SIZE && f->status.committed % SIZE + sizeof(r) + size > SIZE)
		close_packet(f, f->status.committed % SIZE);
	if (!(f->status.committed % SIZE))
		begin_packet(f, end);
	at = (uint8_t *)packet(f) + f->status.committed % SIZE;
	memcpy(at, &r, sizeof(r));
	memcpy(at + sizeof(r), fields, size);
	f->last = end;
	if (f->status.committed % SIZE + sizeof(r) + size == SIZE)
		close_packet(f, SIZE);
	else
		f->status.committed += sizeof(r) + size;
}

static void launch(unsigned int cpu, uint32_t tid, uint64_t at, uint32_t kernel)
{
	struct ct_launch l = { .kernel = kernel, .grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 32, .block_y = 1, .block_z = 1 };

	call(cpu, LAUNCH, tid, tid, at, at + 1000, 0, &l, sizeof(l));
}

static void waits(unsigned int cpu, uint32_t tid, uint64_t begin, uint64_t end)
{
	struct ct_handle h = { .handle = 1 };

	call(cpu, WAIT, tid, tid, begin, end, 0, &h, sizeof(h));
}

static void reduce(unsigned int cpu, uint32_t pid, uint64_t end, uint64_t communicator, uint32_t number, uint32_t rank)
{
	struct ct_collective c = { .size = 4, .count = 1, .communicator = communicator, .number = number, .ranks = 3, .rank = rank };

	call(cpu, REDUCE, pid, pid, end - 1000, end, 0, &c, sizeof(c));
}

static void add_class(struct ct_registry *reg, unsigned int id, const char *words, const char *layout, const char *names)
{
	char line[1024];
	struct ct_error err;

	snprintf(line, sizeof(line), "class %u %s %s %s", id, words, *layout ? layout : "-", names);
	if (ct_registry_line(reg, line, "rings.c", &err))
		ok(0, "%s: %s", names, err.text);
}

static void begin(void)
{
	struct ct_error err;

	memset(fakes, 0, sizeof(fakes));
	memcpy(device.session.uuid, uuid, sizeof(uuid));
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		/* The last one is not possible. */
		ring[cpu] = (struct ct_device_ring){ .fd = -1, .status = cpu < CPUS - 1 ? &fakes[cpu].status : NULL, .data = fakes[cpu].data };
	if (ct_rings_open(&rings, &device, &err))
		ok(0, "%s", err.text);
	add_class(&rings.reg, LAUNCH, "user kernel launch", CT_LAYOUT_SPEC(launch), "cuLaunchKernel cuLaunchKernel");
	add_class(&rings.reg, WAIT, "user sync wait", CT_LAYOUT_SPEC(handle), "cuStreamSynchronize cuStreamSynchronize");
	add_class(&rings.reg, REDUCE, "user collective -", CT_LAYOUT_SPEC(collective), "ncclAllReduce ncclAllReduce");
	add_class(&rings.reg, FAILS, "user memory alloc", CT_LAYOUT_SPEC(alloc), "cuMemAlloc cuMemAlloc_v2");
}

/* ------------------------------------------------------ the order ---------- */

static struct {
	uint64_t records, last;
	bool ordered;
	uint64_t next[2];	/* grid of each thread's next launch */
	bool gaps;
} seen;

static int see(void *arg, const struct ct_registry *reg, const struct ct_record *r)
{
	uint64_t kernel = ct_record_known(r, CT_KNOWN_KERNEL);

	(void)arg;
	(void)reg;
	seen.records++;
	seen.ordered &= r->end >= seen.last;
	seen.last = r->end;
	seen.gaps |= seen.next[r->tid % 2] != kernel;
	seen.next[r->tid % 2] = kernel + 1;
	return 0;
}

/* Two threads that go from CPU to CPU, read again and again. */
static void order(void)
{
	uint64_t now = BEGIN, given = 0;
	uint32_t kernel[2] = { 0 };

	begin();
	memset(&seen, 0, sizeof(seen));
	seen.ordered = true;
	srand(7);
	for (unsigned int i = 0; i < 5000; i++) {
		unsigned int tid = rand() % 2;

		now += 2000;
		launch(rand() % 2, tid, now, kernel[tid]++);
		if (rand() % 10)
			continue;
		/* What is newer comes with the next look. */
		ct_rings_read(&rings, now - 5000, see, NULL);
		given += seen.records > i - 2;
	}
	ok(!given, "records that are too new are not given yet");
	ct_rings_read(&rings, now + MS, see, NULL);
	ok(seen.records == 5000, "each record once (%llu of 5000)", (unsigned long long)seen.records);
	ok(seen.ordered && !seen.gaps, "in the order of time, and of each thread without a gap, from which CPU ever");
	ct_rings_read(&rings, now + MS, see, NULL);
	ok(seen.records == 5000, "what was given does not come again");

	/* Much more than the ring holds, then some more. */
	seen.gaps = false;
	for (unsigned int i = 0; i < 1000; i++)
		launch(0, 0, now += 2000, 100000 + i);
	seen.records = 0;
	ct_rings_read(&rings, now + MS, see, NULL);
	ok(seen.records > 3 * 30 && seen.records < 1000 && seen.next[0] == 101000,
	   "of what was overwritten the rest comes (%llu of 1000)", (unsigned long long)seen.records);

	/* A class that is not known is left out with the rest of its packet. */
	seen.records = 0;
	call(0, LATE, 0, 0, now, now + 10, 0, &(struct ct_handle){ 0 }, sizeof(struct ct_handle));
	for (unsigned int i = 0; i < 200; i++)
		launch(0, 0, now += 2000, 200000 + i);
	ct_rings_read(&rings, now + MS, see, NULL);
	ok(seen.records > 100 && seen.records < 200 && seen.next[0] == 200200, "a record of no known class costs its packet alone (%llu of 200)",
	   (unsigned long long)seen.records);
	ct_rings_close(&rings);
}

/* ------------------------------------------------------ what happened ------ */

static int tell(void *arg, const struct ct_registry *reg, const struct ct_record *r)
{
	return ct_trouble_record(arg, reg, r);
}

/* One iteration of 5 launches and a wait, of @ns. */
static uint64_t iteration(unsigned int cpu, uint64_t now, uint64_t ns)
{
	for (uint32_t i = 0; i < 5; i++)
		launch(cpu, 42, now + i * 3000, i + 1);
	waits(cpu, 42, now + 20000, now + ns - 1000);
	return now + ns;
}

static void slow_iteration(void)
{
	struct ct_trouble t = { .on = { .slow_iteration = 3 }, .from = BEGIN };
	uint64_t now = BEGIN;

	begin();
	ct_trouble_begin(&t);
	for (unsigned int i = 0; i < 200; i++) {
		now = iteration(i % 2, now, MS);
		ct_rings_read(&rings, now, tell, &t);
	}
	ok(!t.happened, "200 iterations of 1 ms are none that is slow (%s)", t.why);
	now = iteration(0, now, 5 * MS);
	now = iteration(1, now, MS);
	ct_rings_read(&rings, now, tell, &t);
	ok(t.happened && strstr(t.why, "took 5.00 ms, 5.0 times the median of 1.00 ms"), "one of 5 ms is (%s)", t.why);
	ct_trouble_end(&t);

	/* It ended before somebody waited for one. */
	t = (struct ct_trouble){ .on = { .slow_iteration = 3 }, .from = now + 1000 * MS };
	ct_trouble_begin(&t);
	ct_rings_close(&rings);
	begin();
	for (unsigned int i = 0; i < 200; i++) {
		now = iteration(0, now, i == 150 ? 9 * MS : MS);
		ct_rings_read(&rings, now, tell, &t);
	}
	ok(!t.happened, "... and none that was over before somebody asked");
	now = iteration(0, now + 1000 * MS, 9 * MS);
	now = iteration(0, now, MS);
	ct_rings_read(&rings, now, tell, &t);
	ok(t.happened, "... from which the median is known");
	ct_trouble_end(&t);
	ct_rings_close(&rings);
}

static bool lives(uint32_t pid)
{
	return pid != 13;
}

static void stuck(void)
{
	struct ct_trouble t = { .on = { .stuck = 1000 * MS, .error = true }, .from = BEGIN, .stuck.lives = lives };
	uint64_t now = BEGIN + MS;
	struct ct_alloc alloc = { .size = 1 };

	begin();
	ct_trouble_begin(&t);
	for (uint32_t rank = 0; rank < 3; rank++)
		reduce(rank % 2, 100 + rank, now += MS, 0x1234000000000000, 1, rank);
	reduce(0, 100, now += MS, 0x1234000000000000, 2, 0);
	reduce(1, 102, now + MS, 0x1234000000000000, 2, 2);
	ct_rings_read(&rings, now + 10 * MS, tell, &t);
	ct_trouble_now(&t, now + 999 * MS);
	ok(!t.happened, "a collective that waits for a rank for less than the limit is none that hangs");
	ct_trouble_now(&t, now + 1000 * MS);
	ok(t.happened && !strcmp(t.why, "AllReduce 2 of communicator 1234: rank 1 has not called it 1.000 s after rank 0") && t.since == now, "then it is (%s), since its first rank called it", t.why);
	t.happened = false;
	ct_trouble_now(&t, now + 9000 * MS);
	ok(!t.happened, "once");
	reduce(0, 101, now += 9001 * MS, 0x1234000000000000, 2, 1);
	reduce(0, 101, now += MS, 0x1234000000000000, 3, 1);
	ct_rings_read(&rings, now, tell, &t);
	ct_trouble_now(&t, now + 2000 * MS);
	ok(t.happened && strstr(t.why, "AllReduce 3") && strstr(t.why, "ranks 0, 2 have not"), "the next one that hangs is told, too (%s)", t.why);
	t.happened = false;
	for (uint32_t rank = 0; rank < 2; rank++)
		reduce(1, 13, now += MS, 0x5678000000000000, rank + 1, rank);
	ct_rings_read(&rings, now, tell, &t);
	ct_trouble_now(&t, now + 5000 * MS);
	ok(!t.happened, "of a process that has ended nothing waits");
	/* One job after the other. */
	for (uint64_t id = 1; id < 3000; id++) {
		reduce(0, 100, now += MS, id << 48 | 1, 1, 0);
		reduce(0, 101, now += MS, id << 48 | 1, 1, 1);
		ct_rings_read(&rings, now, tell, &t);
	}
	ok(t.stuck.communicators.count <= 1024, "of communicators that were used long ago nothing is kept (%zu are)", t.stuck.communicators.count);
	reduce(0, 100, now += MS, 0xabcd000000000000, 1, 0);
	reduce(0, 101, now += MS, 0xabcd000000000000, 1, 1);
	reduce(0, 101, now += MS, 0xabcd000000000000, 2, 1);
	ct_rings_read(&rings, now, tell, &t);
	ct_trouble_now(&t, now + 1500 * MS);
	ok(t.happened && strstr(t.why, "communicator abcd"), "... and a new one is told (%s)", t.why);
	t.happened = false;
	call(1, FAILS, 100, 100, now, now + MS, 2, &alloc, sizeof(alloc));
	ct_rings_read(&rings, now + MS, tell, &t);
	ok(t.happened && !strcmp(t.why, "cuMemAlloc = CUDA_ERROR_OUT_OF_MEMORY"), "a call that fails (%s)", t.why);
	ct_trouble_end(&t);
	ct_rings_close(&rings);
}

/* Threads come and go, each with its own iterations. */
static void many_threads(void)
{
	struct ct_trouble t = { .on = { .slow_iteration = 3 }, .from = BEGIN };
	uint64_t now = BEGIN;

	begin();
	ct_trouble_begin(&t);
	for (uint32_t tid = 1000; tid < 1100; tid++)
		launch(0, tid, now += MS, 1);
	now += 100000 * MS;
	for (unsigned int i = 0; i < 200; i++) {
		now = iteration(0, now, i == 198 ? 9 * MS : MS);
		ct_rings_read(&rings, now, tell, &t);
	}
	ok(t.happened, "a thread that comes after many others has iterations, too (%s)", t.why);
	ct_trouble_end(&t);
	ct_rings_close(&rings);
}

int main(void)
{
	order();
	slow_iteration();
	stuck();
	many_threads();
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
