/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stress test's parts: stress.c makes rounds, stress_work.c is what goes on in
 * one, stress_text.c who reads it as text, stress_books.c who reads the rings and
 * counts.
 */
#ifndef CT_STRESS_H
#define CT_STRESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "../guest/session.h"

#define PRODUCERS	20
#define CPUS		64

/* What a round is made of. */
#define PAIRS		0x01	/* begin/end pairs among the marks */
#define PROBES		0x02	/* probes that stay for the whole session */
#define CHURN		0x04	/* probes that come and go, on functions of our own */
#define CONTROL		0x08	/* filters, pauses, triggers, sampling, hot churn */
#define OVERWRITE	0x10
#define HOTPLUG		0x20
#define READERS		0x40	/* who come and go */
#define LAZY		0x80	/* the consumer takes its time: rings run full */
#define FOLLOW		0x100	/* one reads the whole session as text */
#define DRIVER		0x200	/* NVIDIA's driver is at work, and probed */
#define RELOAD		0x400	/* and unloaded and loaded again and again */

struct kind {
	const char *name;
	unsigned int what;
	uint32_t size, count;
};
extern const struct kind *kind;		/* of the round */
extern struct session s;		/* of the round */
extern uint16_t alloc_class;

struct producer {
	uint64_t seed, issued, failed;
	int fd, number;
	char pad[32];
};
extern struct producer producers[PRODUCERS];

/* What probes had counted when they were removed, by their records' class. */
struct removed { uint64_t hits, lost; };
extern struct removed removed[65536];
extern uint64_t own_lives, own_wrong;	/* probes that came and went; that miscounted */
extern atomic_ulong plugged;		/* times that a CPU went off */
extern atomic_ulong driver_tests, driver_failed, driver_reloads;

/* stress_work.c: how many threads there are once all were started. */
extern int threads;
extern atomic_int phase;		/* even: stand still; odd: work */
extern atomic_int working;		/* threads that have not stopped yet */
void start_threads(uint64_t seed);
void rounds(void (*work)(void *), void *arg);	/* a thread's life: work in each round */
uint64_t random_of(uint64_t *state);
int set_online(int cpu, int on);
void stay_probes(int add);		/* those that stay for a session */

/* stress_text.c */
extern atomic_ulong lines, line_bad, line_back;
void read_lines(uint64_t *seed);	/* open, read a while, close */
void follow_begin(void);		/* somebody reads the whole session */
void follow_end(int round);		/* after it was stopped: the books of who did */

/* stress_books.c */
struct cursor {
	uint64_t pos, seq, last;
	uint64_t records, fresh;	/* fresh: with a number of its own */
	int bad;
};
extern struct cursor cursor[CPUS];
void books_open(void);
void consume(uint32_t cpu);		/* what is committed, from where we were */
void consume_all(void);
void walk_rest(void);			/* of rings that overwrite, at the end */
uint64_t check_probes(int round);
void check_books(int round, uint64_t issued, uint64_t probes_lost);

#endif
