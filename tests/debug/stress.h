/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the stress test: stress.c runs the rounds, stress_work.c is the work of a
 * round, stress_text.c reads it as text, stress_books.c reads the rings and compares counts.
 */
#ifndef CT_STRESS_H
#define CT_STRESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "../guest/session.h"

#define PRODUCERS	20
#define CPUS		64

/* The parts of a round. */
#define PAIRS		0x01	/* begin/end pairs among the marks */
#define PROBES		0x02	/* probes that stay for the whole session */
#define CHURN		0x04	/* probes that come and go, on functions of our own */
#define CONTROL		0x08	/* filters, pauses, triggers, sampling, hot churn */
#define OVERWRITE	0x10
#define HOTPLUG		0x20
#define READERS		0x40	/* readers that open and close the device */
#define LAZY		0x80	/* the consumer is slow: rings become full */
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

/* Final counts of removed probes, by the class of their records. */
struct removed { uint64_t hits, lost; };
extern struct removed removed[65536];
extern uint64_t own_lives, own_wrong;	/* probes that came and went; that miscounted */
extern atomic_ulong plugged;		/* times that a CPU went off */
extern atomic_ulong driver_tests, driver_failed, driver_reloads;

/* stress_work.c: the number of threads once all were started. */
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
void follow_begin(void);		/* starts a thread that reads the whole session */
void follow_end(int round);		/* after the session: checks what that thread read */

/* stress_books.c */
struct cursor {
	uint64_t pos, seq, last;
	uint64_t records, fresh;	/* fresh: with a number of its own */
	int bad;
};
extern struct cursor cursor[CPUS];
void books_open(void);
void consume(uint32_t cpu);		/* reads the records that are new in this ring */
void consume_all(void);
void walk_rest(void);			/* of rings that overwrite, at the end */
uint64_t check_probes(int round);
void check_books(int round, uint64_t issued, uint64_t probes_lost);

#endif
