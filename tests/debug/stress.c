// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All operations at the same time, and every record must be accounted for: 20 producer
 * threads, probes that are added and removed (one of them in the timer's interrupt), CPUs
 * that are taken down and up, readers that open and close, filters, pauses and triggers; one
 * session after the other.  On each CPU and for each probe the number of records written
 * must equal the records read plus the records counted as lost.
 *
 * Usage: stress [SECONDS [SEED [KIND [MS]]]]
 * KIND: only rounds of this kind; each takes MS milliseconds (2000).  With
 * CUDATRACE_DRIVER=1 also with NVIDIA's driver: its own test of its work queues runs while
 * the driver is probed, unloaded and loaded again.  Prints TAP.
 */
#include "stress.h"

static const struct kind kinds[] = {
	{ "full rings", LAZY | HOTPLUG | READERS, 4096, 4 },
	{ "pairs", PAIRS | HOTPLUG | READERS | FOLLOW, 16384, 32 },
	{ "probes", PROBES | CHURN | HOTPLUG | READERS, 65536, 64 },
	{ "full rings, probes", LAZY | PROBES | CHURN | PAIRS | HOTPLUG, 4096, 8 },
	{ "control", CONTROL | PROBES | CHURN | PAIRS | HOTPLUG | READERS, 8192, 16 },
	{ "overwriting", OVERWRITE | PAIRS | HOTPLUG | READERS | FOLLOW, 4096, 16 },
	{ "driver", DRIVER | PROBES | CHURN | HOTPLUG | READERS, 65536, 64 },
	{ "driver reloaded", DRIVER | RELOAD | PROBES | CHURN | HOTPLUG | READERS, 65536, 64 },
};
#define KINDS	((int)(sizeof(kinds) / sizeof(kinds[0])))

const struct kind *kind;
struct session s;
uint16_t alloc_class;
static int kinds_used = KINDS;
static const struct kind *only;	/* NULL: one after the other */
static uint64_t round_ms = 2000;

static int begin_session(void)
{
	uint32_t i;
	int err;

	memset(&s, 0, sizeof(s));
	books_open();
	s.fd = device(O_RDWR);
	s.arg = (struct ct_session){ .size = sizeof(s.arg), .subbuf_size = kind->size,
				     .subbuf_count = kind->count,
				     .groups = kind->what & DRIVER ? ~0ull : 1u << CT_GROUP_ADDED,
				     .flags = kind->what & OVERWRITE ? CT_SESSION_OVERWRITE : 0 };
	err = call(s.fd, CT_IOC_START, &s.arg);
	if (err)
		return err;
	s.facts = map(s.fd, CT_MMAP_FACTS, PAGE, PROT_READ);
	for (i = 0; i < s.arg.cpus; i++) {
		s.cpu[i].status = map(s.fd, CT_MMAP_STATUS(i), PAGE, PROT_READ);
		s.cpu[i].consumer = map(s.fd, CT_MMAP_CONSUMER(i), PAGE, PROT_READ | PROT_WRITE);
		s.cpu[i].data = map(s.fd, CT_MMAP_DATA(i), (size_t)kind->size * kind->count,
				    PROT_READ);
	}
	return 0;
}

/* Did the operations of this round not run yet, because their thread got no processor? */
static int idle(void)
{
	return (kind->what & CHURN && !own_lives) || (kind->what & HOTPLUG && !plugged) ||
	       (kind->what & RELOAD && !driver_reloads);
}

/* Lets all threads work for a while; returns when all have stopped and no call is in flight. */
static void work(void)
{
	uint64_t until = now() + round_ms * 1000000, last = until + 60000000000ull;
	uint32_t cpu;

	atomic_store(&working, threads);
	atomic_fetch_add(&phase, 1);
	while (now() < until || (idle() && now() < last)) {
		consume_all();
		if (kind->what & LAZY)
			usleep(20000);
	}
	atomic_fetch_add(&phase, 1);
	while (atomic_load(&working)) {
		consume_all();
		usleep(1000);
	}
	for (cpu = 1; cpu < s.arg.cpus; cpu++)
		set_online(cpu, 1);
	call(s.fd, CT_IOC_FLUSH, NULL);
	consume_all();
}

static void check_round(int round)
{
	uint64_t issued = 0, failed = 0, probes_lost = 0;
	int i, bad = 0, all = 1;
	uint32_t cpu;

	for (i = 0; i < PRODUCERS; i++) {
		issued += producers[i].issued;
		failed += producers[i].failed;
	}
	ok(!failed, "%d %s: no mark is refused", round, kind->name);
	if (!(kind->what & (PROBES | CONTROL | OVERWRITE)))
		check_books(round, issued, 0);
	call(s.fd, CT_IOC_STOP, NULL);
	consume_all();
	if (kind->what & OVERWRITE)
		walk_rest();
	follow_end(round);
	for (cpu = 0; cpu < s.arg.cpus; cpu++) {
		bad += cursor[cpu].bad;
		all &= cursor[cpu].records == s.cpu[cpu].status->records;
	}
	ok(!bad, "%d %s: packets are well formed, time never steps back", round, kind->name);
	ok(all, "%d %s: read = written, on each CPU", round, kind->name);
	if (kind->what & PROBES)
		probes_lost = check_probes(round);
	if ((kind->what & (PROBES | CONTROL)) == PROBES)
		check_books(round, issued, probes_lost);
	if (kind->what & CHURN)
		ok(!own_wrong && own_lives, "%d %s: %llu probes came and went, and saw each call",
		   round, kind->name, (unsigned long long)own_lives);
}

static void one_round(int round)
{
	cpu_set_t set;
	int i;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
	kind = only ? only : &kinds[round % kinds_used];
	memset(removed, 0, sizeof(removed));
	own_wrong = own_lives = 0;
	for (i = 0; i < PRODUCERS; i++)
		producers[i].issued = producers[i].failed = 0;
	i = begin_session();
	if (i) {
		ok(0, "%d %s: a session starts: %s", round, kind->name, strerror(i));
		return;
	}
	stay_probes(1);
	follow_begin();
	work();
	check_round(round);
	stay_probes(0);
	session_end(&s);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 20;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : now(), end;
	struct ct_define def = define("stress", "stress");
	const char *driver = getenv("CUDATRACE_DRIVER");
	int round = 0, fd = device(O_WRONLY);

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# %u s, seed %llu\n", seconds, (unsigned long long)seed);
	/* The file stays open: as long as it is, so long is the class there. */
	if (call(fd, CT_IOC_DEFINE, &def))
		return 1;
	alloc_class = def.id;
	while (!(driver && *driver) && kinds[kinds_used - 1].what & DRIVER)
		kinds_used--;
	for (only = argc > 3 ? kinds : NULL; only && strcmp(only->name, argv[3]);)
		if (++only == &kinds[kinds_used]) {
			printf("Bail out! no kind of rounds here is named \"%s\"\n", argv[3]);
			return 2;
		}
	if (argc > 4)
		round_ms = strtoull(argv[4], NULL, 0);
	start_threads(seed);
	end = now() + seconds * 1000000000ull;
	do
		one_round(round++);
	while (now() < end || (!only && round < kinds_used));
	ok(!line_bad && lines, "%lu lines of readers: whole, numbered", lines);
	ok(!line_back, "and in the order of time");
	ok(plugged, "CPUs went off %lu times", plugged);
	if (kinds_used == KINDS)
		ok(!driver_failed && driver_reloads,
		   "the driver's own test passed %lu times while it was traced, which was reloaded %lu times",
		   driver_tests, driver_reloads);
	return tap_done();
}
