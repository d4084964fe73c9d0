// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ring of the module and its reader, together: what a ring holds is written as a trace, as
 * `cudatrace snapshot` does, and the command's reader must find each record once, at its time, and
 * say what is missing.
 *
 *	ring DIR	DIR: a folder for the traces.  DIR/week is left there
 *
 * An interrupt comes at each operation of a writer that begins a packet.  The clock moves by days.
 * Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/uapi/cudatrace.h"
#include "trace/merge.h"
#include "trace/packet.h"
#include "trace/reader.h"

#include "../tap.h"
#include "sim.h"

#define HOUR	3600000000000ull
#define START	(1000 * HOUR)

static const uint8_t uuid[16] = { 0xc0, 0xda, 2, 3 };
static const char *folder;
static uint32_t packet_size, packet_count;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		die(path);
	return f;
}

static uint64_t lost(unsigned int cpu)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CT_LOST_REASONS; i++)
		sum += sim_status(cpu)->lost[i];
	return sum;
}

static void begin(uint32_t size, uint32_t count, bool overwrite)
{
	packet_size = size;
	packet_count = count;
	sim_ns = START;
	sim_start(size, count, overwrite, uuid);
}

/* ------------------------------------------------------------------- a trace --- */

static void write_ring(const char *dir, unsigned int cpu)
{
	const struct ct_cpu_status *s = sim_status(cpu);
	struct ct_packet *copy = malloc(packet_size);
	char name[16];
	FILE *f;

	snprintf(name, sizeof(name), "k-%u", cpu);
	f = create(dir, name);
	for (uint64_t pos = s->oldest; pos < s->committed; pos += packet_size) {
		memcpy(copy, sim_data(cpu) + (pos & ((uint64_t)packet_size * packet_count - 1)),
		       packet_size);
		if (s->committed - pos < packet_size)
			ct_packet_close(copy, s->committed - pos, lost(cpu), sim_ns);
		if (fwrite(copy, packet_size, 1, f) != 1)
			die(name);
	}
	fclose(f);
	free(copy);
}

static void snapshot(char dir[4096], const char *name)
{
	FILE *f;

	snprintf(dir, 4096, "%s/%s", folder, name);
	mkdir(dir, 0777);
	f = create(dir, ".registry");
	fprintf(f, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (int i = 0; i < 16; i++)
		fprintf(f, "%02x", uuid[i]);
	fprintf(f, " start=%llu realtime=1700000000123456789\n", START);
	fclose(f);
	for (unsigned int i = 0; i < SIM_CPUS; i++)
		write_ring(dir, i);
}

/* -------------------------------------------------------------- and its reader --- */

static int by_time(const void *a, const void *b)
{
	const struct sim_record *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/*
 * Does the trace say what happened?  Each CPU's records are the newest that it wrote; if some are
 * missing, the trace says that packets are, and how many records were refused.
 */
static bool truthful(const char *dir)
{
	uint64_t next[SIM_CPUS] = { 0 }, had[SIM_CPUS] = { 0 }, refused = 0;
	struct ct_point point;
	struct ct_trace t;
	struct ct_error err;
	struct ct_merge *m;
	bool good = true;

	if (ct_trace_open(&t, dir, &err)) {
		printf("# %s\n", err.text);
		ct_trace_close(&t);
		return false;
	}
	for (unsigned int i = 0; i < t.streams_count; i++) {
		const struct ct_stream_file *s = &t.streams[i];
		struct sim_cpu *c = &sim_cpu[atoi(s->name + 2)];
		uint64_t all = c->records;

		refused += c->refused;
		if (all)
			qsort(c->record, all, sizeof(*c->record), by_time);
		had[c - sim_cpu] = s->records;
		next[c - sim_cpu] = all - s->records;
		if (s->records > all || (s->records < all && !s->packets_lost))
			good = false;
		if (s->packets_lost != sim_status(c - sim_cpu)->overwritten)
			good = false;
		if (!good)
			printf("# %s: %llu of %llu records, %llu packets lost\n", s->name,
			       (unsigned long long)s->records, (unsigned long long)all,
			       (unsigned long long)s->packets_lost);
	}
	if (t.packets_bad || t.lost != refused) {
		printf("# %llu packets are bad, %llu of %llu lost records are told\n",
		       (unsigned long long)t.packets_bad, (unsigned long long)t.lost,
		       (unsigned long long)refused);
		good = false;
	}
	m = ct_merge_new(&t);
	while (good && ct_merge_next(m, &point) == 1) {
		unsigned int cpu = point.record.cpu;
		const struct sim_record *r = &sim_cpu[cpu].record[next[cpu]++];

		if (point.ts != r->ns || point.record.op != r->op) {
			printf("# CPU %u: record %llu of %llu ns is read as %llu of %llu ns\n", cpu,
			       (unsigned long long)r->op, (unsigned long long)r->ns,
			       (unsigned long long)point.record.op, (unsigned long long)point.ts);
			good = false;
		}
	}
	for (unsigned int i = 0; i < SIM_CPUS && good; i++)
		good = next[i] == sim_cpu[i].records && (had[i] || !sim_cpu[i].records);
	ct_merge_free(m);
	ct_trace_close(&t);
	return good;
}

static bool snapshot_is_truthful(void)
{
	char dir[4096];

	snapshot(dir, "now");
	return truthful(dir);
}

/* ---------------------------------------------------------------- interrupts --- */

static unsigned int storm;	/* records of an interrupt */

static void interrupt(void)
{
	for (unsigned int i = 0; i < storm; i++)
		sim_put(0);
}

/*
 * An interrupt at each operation of the record that begins a packet, because the one before it is
 * full, or @later ns after the last record.
 */
static void windows(unsigned int records, bool overwrite, uint64_t later)
{
	unsigned int before = later ? 10 : (CT_PACKET_MIN - CT_PACKET_HEAD - 1) / sizeof(struct ct_cpu_record);
	unsigned long at, wrong = 0, left;

	sim_interrupt = interrupt;
	storm = records;
	for (at = 1;; at++) {
		begin(CT_PACKET_MIN, 8, overwrite);
		for (unsigned int i = 0; i < before; i++)
			sim_put(0);
		sim_ns += later;
		sim_interrupt_at = at;
		sim_put(0);
		left = sim_interrupt_at;
		sim_interrupt_at = 0;
		for (unsigned int i = 0; i < 200; i++)
			sim_put(0);
		if (!left && !snapshot_is_truthful()) {
			printf("# the interrupt at operation %lu\n", at);
			wrong++;
		}
		sim_stop();
		if (left)
			break;
	}
	ok(!wrong && at > 20, "%u records inside each of %lu operations of a record that begins a packet%s%s",
	   records, at - 1, later ? ", days after the last one" : "", overwrite ? ", overwriting" : "");
}

/* ---------------------------------------------------------------------- days --- */

static void quiet(bool overwrite)
{
	const char *way = overwrite ? "overwriting" : "not overwriting";

	begin(65536, 8, overwrite);
	sim_put(0);
	sim_ns += 80 * HOUR;
	ok(snapshot_is_truthful(), "a CPU rests for 80 hours after its record (%s)", way);
	sim_put(0);
	ok(snapshot_is_truthful(), "and then has another record");
	for (int i = 0; i < 20; i++) {
		sim_ns += 30 * HOUR;
		sim_put(0);
	}
	ok(snapshot_is_truthful(), "and then one each 30 hours");
	sim_stop();
}

/* A lossless ring that is full for days, and is then read. */
static void full(void)
{
	begin(CT_PACKET_MIN, 2, false);
	for (int i = 0; i < 400; i++)
		sim_put(0);
	sim_ns += 80 * HOUR;
	for (int i = 0; i < 10; i++)
		sim_put(0);
	ok(sim_cpu[0].refused > 100 && snapshot_is_truthful(), "a ring that is full for 80 hours");
	sim_stop();
}

/*
 * A flight recorder's week: a busy CPU, one with a record an hour, one with a record in 50 hours,
 * and one that writes once.  Some records are interrupted by others.
 */
static void week(void)
{
	unsigned int snapshots = 0, wrong = 0;
	char dir[4096];

	srand(1);
	storm = 3;
	sim_interrupt = interrupt;
	begin(16384, 8, true);
	sim_put(3);
	for (unsigned int minute = 0; minute < 7 * 24 * 60; minute++) {
		for (unsigned int i = 0; i < 20; i++) {
			sim_ns += HOUR / 60 / 20;
			if (rand() % 8 == 0)
				sim_interrupt_at = 1 + rand() % 40;
			sim_put(0);
			sim_interrupt_at = 0;
		}
		if (minute % 60 == 7)
			sim_put(1);
		if (minute % (50 * 60) == 11)
			sim_put(2);
		if (minute % (6 * 60) == 59) {
			snapshots++;
			wrong += !snapshot_is_truthful();
		}
	}
	ok(!wrong && snapshots == 28, "a week: %u of %u snapshots are right", snapshots - wrong, snapshots);
	ok(sim_cpu[0].records > 200000 && sim_status(0)->overwritten > 100 &&
	   sim_cpu[2].records == 4 && sim_cpu[3].records == 1,
	   "of a busy CPU, which overwrote %llu packets, and of quiet ones",
	   (unsigned long long)sim_status(0)->overwritten);
	snapshot(dir, "week");
	sim_stop();
}

int main(int argc, char **argv)
{
	static const unsigned int storms[] = { 1, 90, 110, 250, 1500 };

	if (argc != 2) {
		fprintf(stderr, "usage: ring DIR\n");
		return 2;
	}
	folder = argv[1];
	mkdir(folder, 0777);
	for (unsigned int i = 0; i < sizeof(storms) / sizeof(*storms); i++)
		for (unsigned int way = 0; way < 4; way++)
			windows(storms[i], way & 1, way & 2 ? 80 * HOUR : 0);
	quiet(true);
	quiet(false);
	full();
	week();
	return tap_done();
}
