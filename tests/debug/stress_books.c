// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the rings in the stress test and compares the counts: see stress.h. */
#include "stress.h"

/* --------------------------------------------------------- the consumer ---- */

struct cursor cursor[CPUS];
static uint64_t by_class[65536];

void books_open(void)
{
	memset(cursor, 0, sizeof(cursor));
	memset(by_class, 0, sizeof(by_class));
}

void consume(uint32_t cpu)
{
	const uint64_t mask = (uint64_t)kind->size * kind->count - 1;
	struct cursor *c = &cursor[cpu];
	uint64_t committed = __atomic_load_n(&s.cpu[cpu].status->committed, __ATOMIC_ACQUIRE);

	while (c->pos < committed) {
		uint64_t begin = c->pos & ~(uint64_t)(kind->size - 1), end = committed;
		const struct ct_packet *p = (void *)(s.cpu[cpu].data + (begin & mask));
		int closed = committed >= begin + kind->size;

		if (c->pos == begin) {
			c->bad += p->magic != CT_MAGIC || p->seq != c->seq++ || p->cpu != cpu ||
				  memcmp(p->uuid, s.arg.uuid, 16) || p->ts_begin < c->last ||
				  p->packet_size != kind->size * 8ull;
			c->pos += CT_PACKET_HEAD;
		}
		if (closed)
			end = begin + p->content_size / 8;
		if (end > begin + kind->size) {
			c->bad++;
			end = begin + kind->size;
		}
		while (c->pos < end) {
			const struct ct_cpu_record *r = (void *)(s.cpu[cpu].data + (c->pos & mask));
			uint16_t class = CT_RECORD_CLASS(r->stamp);
			uint64_t stamp = CT_UNSTAMP(p->ts_begin, r->stamp);

			c->bad += stamp < c->last || (closed && stamp > p->ts_end);
			c->last = stamp;
			by_class[class]++;
			c->records++;
			if (class == CT_CLASS_mark || class == alloc_class)
				c->fresh++;
			c->pos += sizeof(*r) + payload_size(class, (void *)(r + 1));
		}
		if (c->pos != end) {
			c->bad++;
			c->pos = end;
		}
		if (!closed)
			break;
		c->pos = begin + kind->size;
	}
	__atomic_store_n(&s.cpu[cpu].consumer->consumed, c->pos, __ATOMIC_RELEASE);
}

void consume_all(void)
{
	uint32_t cpu;

	for (cpu = 0; !(kind->what & OVERWRITE) && cpu < s.arg.cpus; cpu++)
		consume(cpu);
}

void walk_rest(void)
{
	uint32_t cpu;

	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		struct walk w = walk(&s, cpu, CT_CLASS_mark);

		cursor[cpu].bad += w.bad;
		cursor[cpu].records = s.cpu[cpu].status->records;
	}
}

static uint64_t all_lost(void)
{
	uint64_t n = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < s.arg.cpus; cpu++)
		n += lost(&s, cpu);
	return n;
}

/*
 * Each mark without a number that is written gets the next number of its CPU.  So the
 * number of one more mark says how many numbers this CPU has assigned.
 */
static uint64_t numbered(uint32_t cpu)
{
	struct { struct ct_mark_head head; struct ct_alloc args; } a = { 0 };
	int fd = device(O_WRONLY);
	struct walk w;

	pin(cpu);
	a.head = (struct ct_mark_head){ .size = sizeof(a), .class = alloc_class };
	call(fd, CT_IOC_MARK(sizeof(a)), &a);
	close(fd);
	w = walk(&s, cpu, alloc_class);
	return w.found ? (w.found->op >> 13) - 1 : 0;
}

/*
 * Checks each probe, removed ones included: hits = read + lost.  Returns how many records of
 * probes were lost, or ~0.
 */
uint64_t check_probes(int round)
{
	static struct { uint64_t hits, lost; } sum[65536];
	uint64_t hits = 0, missed = 0, gone = 0;
	int classes = 0, off = 0, fd = device(O_RDONLY);
	struct ct_probe_info info;
	uint32_t i;

	memcpy(sum, removed, sizeof(sum));
	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (call(fd, CT_IOC_GET_PROBE, &info))
			break;
		sum[info.class].hits += info.hits;
		sum[info.class].lost += info.lost;
		missed += info.missed;
	}
	close(fd);
	for (i = 1; i < 65536; i++) {
		if (!sum[i].hits && !sum[i].lost)
			continue;
		classes++;
		hits += sum[i].hits;
		gone += sum[i].lost;
		if (sum[i].hits == by_class[i] + sum[i].lost)
			continue;
		off++;
		printf("# class %u: %llu hits, %llu read, %llu lost\n", i,
		       (unsigned long long)sum[i].hits, (unsigned long long)by_class[i],
		       (unsigned long long)sum[i].lost);
	}
	ok(classes && !off,
	   "%d %s: %d probed functions: hits %llu = read + lost %llu, each (the kernel missed %llu)",
	   round, kind->name, classes, (unsigned long long)hits, (unsigned long long)gone,
	   (unsigned long long)missed);
	return gone;
}

/* Prints all counts if they do not match: a forgotten probe shows here. */
static void say_records(void)
{
	uint32_t i, why;

	for (i = 0; i < 65536; i++)
		if (by_class[i])
			printf("# class %u: %llu records read\n", i, (unsigned long long)by_class[i]);
	for (i = 0; i < s.arg.cpus; i++)
		for (why = 0; why < CT_LOST_REASONS; why++)
			if (s.cpu[i].status->lost[why])
				printf("# CPU %u: %llu lost for reason %u\n", i,
				       (unsigned long long)s.cpu[i].status->lost[why], why);
}

/* probes_lost: how many of the lost records were records of probes. */
void check_books(int round, uint64_t issued, uint64_t probes_lost)
{
	uint64_t got = by_class[CT_CLASS_mark] + by_class[alloc_class];
	uint64_t gone = all_lost() - probes_lost;
	uint32_t cpu;
	int off = 0;

	ok(issued == got + gone, "%d %s: made %llu = read %llu + lost %llu", round, kind->name,
	   (unsigned long long)issued, (unsigned long long)got, (unsigned long long)gone);
	if (issued != got + gone)
		say_records();
	if (kind->what & (PAIRS | PROBES))
		return;
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		uint64_t made = numbered(cpu), here = cursor[cpu].fresh;

		if (made == here)
			continue;
		off++;
		printf("# CPU %u: numbered %llu, read %llu, lost %llu\n", cpu,
		       (unsigned long long)made, (unsigned long long)here,
		       (unsigned long long)lost(&s, cpu));
	}
	ok(!off, "%d %s: every number that a CPU gave was read, and each once", round, kind->name);
}
