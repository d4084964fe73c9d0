/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What module/base/ring.c and module/core/rate.c use of the kernel, for a program on one thread.  An "interrupt" may come
 * at each of these operations: sim_point() decides.  The clock is a variable.
 */
#ifndef CT_TEST_KERNEL_H
#define CT_TEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef __u64 u64;
typedef __s64 s64;
typedef struct { u64 value; } local64_t;

void sim_point(void);
u64 ct_clock_ns(void);

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define BUILD_BUG_ON(x)		((void)sizeof(char[1 - 2 * !!(x)]))
#define BIT(n)			(1ul << (n))
#define PAGE_SIZE		4096
#define ENOMEM			12
#define cpu_to_node(cpu)	((int)(cpu))
#define NSEC_PER_SEC		1000000000ll
#define GFP_KERNEL_ACCOUNT	0
#define div_u64(a, b)		((a) / (b))
#define div64_u64(a, b)		((a) / (b))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))

#define barrier()		sim_point()
#define smp_wmb()		sim_point()
#define READ_ONCE(x)		(sim_point(), *(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	do { sim_point(); *(volatile __typeof__(x) *)&(x) = (v); sim_point(); } while (0)
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)

#define local64_read(l)		(sim_point(), *(volatile u64 *)&(l)->value)
#define local64_set(l, v)	((l)->value = (v))

static inline u64 local64_add_return(u64 n, local64_t *l)
{
	sim_point();
	l->value += n;
	sim_point();
	return l->value;
}

#define local64_add(n, l)	((void)local64_add_return(n, l))
#define local64_inc(l)		local64_add(1, l)

static inline u64 local64_cmpxchg(local64_t *l, u64 old, u64 new)
{
	u64 found;

	sim_point();
	found = l->value;
	if (found == old)
		l->value = new;
	sim_point();
	return found;
}

#define ct_local64_replace(l, old, new)	(local64_cmpxchg(l, old, new) == (u64)(old))
#define cmpxchg_local(p, old, new)	local64_cmpxchg((local64_t *)(p), old, new)

/* Nothing else runs here, so what is atomic against other CPUs is the same. */
typedef local64_t atomic64_t;
#define atomic64_read(a)	((s64)local64_read(a))
#define atomic64_set(a, v)	local64_set(a, v)
#define atomic64_add(n, a)	local64_add(n, a)
#define atomic64_sub(n, a)	local64_add(-(u64)(n), a)
#define atomic64_cmpxchg(a, old, new)	local64_cmpxchg(a, old, new)
#define smp_load_acquire(p)	READ_ONCE(*(p))

#define vfree(p)		free(p)
#define kvfree(p)		free(p)

u64 ktime_get_mono_fast_ns(void);

#endif
