// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What it costs to read the time-stamp counter beside other work: ns of a loop's turn,
 * the least of 40 tries.  Where reading it waits for what came before, and holds up
 * what follows, the times of both add up; where not, the longer one remains.
 *
 *	cc -O2 -o counter counter.c && ./counter
 */
#define _GNU_SOURCE
#include "quiet.h"

#define TURNS	20000

#define COUNTER	"rdtsc\n"
#define NOPS	".rept 60\n nop\n .endr\n"
#define CHAIN	"mov $3, %%ecx\n .rept 16\n imul %%rcx, %%rcx\n .endr\n"	/* begun anew each turn */
#define CAS	"mov 8(%0), %%rax\n lea 1(%%rax), %%rcx\n cmpxchg %%rcx, 8(%0)\n"
#define ADD	"mov $1, %%ecx\n xadd %%rcx, 16(%0)\n"

#define WORK(name, code)							\
static void name(void)								\
{										\
	static unsigned long memory[8] __attribute__((aligned(64)));		\
										\
	for (int i = 0; i < TURNS; i++)						\
		__asm__ volatile(code : : "r"(memory) : "rax", "rcx", "rdx", "memory");	\
}

WORK(counter, COUNTER)
WORK(counter_twice, COUNTER COUNTER)
WORK(nops, NOPS)
WORK(counter_nops, COUNTER NOPS)
WORK(chain, CHAIN)
WORK(counter_chain, COUNTER CHAIN)
WORK(cas, CAS)
WORK(counter_cas, COUNTER CAS)
WORK(add, ADD)
WORK(counter_add, COUNTER ADD)

static void show(const char *what, void (*alone)(void), void (*with)(void))
{
	double least[2] = { 1e9, 1e9 };

	for (int i = 0; i < 80; i++) {
		double begin = now();

		(i & 1 ? with : alone)();
		begin = now() - begin;
		if (begin < least[i & 1])
			least[i & 1] = begin;
	}
	printf("%-44s %6.2f %6.2f\n", what, least[0] / TURNS, least[1] / TURNS);
}

int main(void)
{
	printf("%-44s %6s %6s\n", "ns", "alone", "with");
	show("the counter, and read twice", counter, counter_twice);
	show("60 nops, and with the counter", nops, counter_nops);
	show("16 multiplications that wait for each other", chain, counter_chain);
	show("a compare-and-exchange without lock", cas, counter_cas);
	show("an exchange-and-add without lock", add, counter_add);
	return 0;
}
