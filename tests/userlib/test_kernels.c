// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of kernels: a thread learns one while another is in the middle of that, of handles
 * for which the search begins at the same place; then more than there is room for.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/sys.h"

static void before_store(void);

#undef ct_store
#define ct_store(p, v)	(before_store(), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#include "../../userlib/call/kernels.c"

struct ct_slot ct_slots[CT_THUNKS];	/* for a mutation that makes kernels.c use them */

#define STORES	4	/* at least as many as it takes to learn a name */

static u32 stop_at;		/* the first thread stops at this store, 0: never */
static bool learnt;		/* by the second */

static void before_store(void)
{
	if (!stop_at || --stop_at)
		return;
	/* The other may have to wait for us. */
	for (int i = 0; i < 50 && !ct_load(&learnt); i++)
		usleep(1000);
}

/* The nth handle of those with the same place. */
static u64 handle_at_place(u64 n)
{
	u64 inverse = CT_KERNEL_HASH;	/* modulo 2^64, by Newton's method */

	for (int i = 0; i < 6; i++)
		inverse *= 2 - CT_KERNEL_HASH * inverse;
	return inverse * (7ull << (64 - CT_KERNEL_BITS) | n);
}

static void *other(void *n)
{
	while (ct_load(&stop_at))
		usleep(100);
	ct_kernel_learn(handle_at_place((u64)n), (u64)n, (u32)(u64)n);
	__atomic_store_n(&learnt, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Gives how many handles had not their own name. */
static int together(void)
{
	u32 wrong = 0, n = 1;

	for (u32 round = 0; round < 2 * STORES; round++, n += 2) {
		pthread_t thread;

		/* In the second half entries of kernels that are gone are taken over. */
		if (round >= STORES)
			for (u32 i = 1; i < n; i++)
				ct_kernels_forget(i);
		learnt = false;
		stop_at = 1 + round % STORES;
		pthread_create(&thread, NULL, other, (void *)(u64)(n + 1));
		ct_kernel_learn(handle_at_place(n), n, n);
		__atomic_store_n(&stop_at, 0, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		wrong += ct_kernel_name(handle_at_place(n)) != n;
		wrong += ct_kernel_name(handle_at_place(n + 1)) != n + 1;
	}
	for (u32 i = 1; i < n; i++)
		ct_kernels_forget(i);
	return (int)wrong;
}

/* Gives how many of so many handles have their name, -1 if one has another's. */
static int many(u32 count)
{
	int known = 0;

	for (u32 i = 1; i <= count; i++)
		ct_kernel_learn(i * 4096ull, 1, i);
	for (u32 i = 1; i <= count; i++) {
		u32 name = ct_kernel_name(i * 4096ull);

		if (name && name != i)
			return -1;
		known += name == i;
	}
	return known;
}

int main(void)
{
	int wrong, few, full;

	ct_say_start();
	wrong = together();
	few = many(20000);
	full = many(100000);
	printf("%d kernels with a wrong name\n", wrong);
	printf("%d of 20000, %d of 100000 known\n", few, full);
	return wrong || few != 20000 || full < 50000;
}
