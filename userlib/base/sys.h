/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library asks of the kernel, without libc: system calls that return a
 * negative errno and touch nothing else, the clock, and the atomic steps of the
 * hot path.
 *
 * Must never touch errno, call a function that another preloaded library could
 * replace, or be a cancellation point: all of this runs inside the program's own
 * calls.
 */
#ifndef CT_SYS_H
#define CT_SYS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "../../module/uapi/cudatrace.h"

typedef uint8_t  u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t  s32;
typedef int64_t  s64;

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define cold		__attribute__((cold, noinline))
#define hot		__attribute__((hot))	/* together, on one page */
/*
 * Written when any program starts: in a page that the loader has written to already, instead
 * of one more of .bss.
 */
#define early_data	__attribute__((section(".data")))
#define barrier()	__asm__ volatile("" ::: "memory")

static inline long ct_syscall(long nr, long a, long b, long c, long d, long e,
			      long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#define ct_sys0(nr)		ct_syscall(nr, 0, 0, 0, 0, 0, 0)
#define ct_sys1(nr, a)		ct_syscall(nr, (long)(a), 0, 0, 0, 0, 0)
#define ct_sys2(nr, a, b)	ct_syscall(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define ct_sys3(nr, a, b, c)	\
	ct_syscall(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define ct_sys4(nr, a, b, c, d)	\
	ct_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define ct_sys6(nr, a, b, c, d, e, f)	\
	ct_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
		   (long)(f))

static inline int ct_open(const char *path, int flags, int mode)
{
	return (int)ct_sys4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline void ct_close(int fd)
{
	ct_sys1(SYS_close, fd);
}

/* Up to size bytes of a small file, from its beginning.  Returns how many, or a negative errno. */
long ct_read_file(const char *path, void *to, size_t size);

/* Returns NULL when there is no memory. */
static inline void *ct_map(size_t size, int flags, int fd, u64 offset)
{
	long ret = ct_sys6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags, fd,
			   offset);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

static inline void *ct_map_private(size_t size)
{
	return ct_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/*
 * Memory of our own in place of what is mapped there, for who may still write to it; flags:
 * MAP_FIXED, or MAP_FIXED_NOREPLACE where nothing is mapped.
 */
static inline void ct_map_over(void *addr, size_t size, int flags)
{
	ct_sys6(SYS_mmap, addr, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static inline void ct_unmap(void *addr, size_t size)
{
	ct_sys2(SYS_munmap, addr, size);
}

/* Moves what is mapped at @from to @to, in place of what is there.  Return: where it is. */
static inline void *ct_map_move(void *from, void *to, size_t size)
{
	return ct_syscall(SYS_mremap, (long)from, (long)size, (long)size, 3 /* MAYMOVE, FIXED */, (long)to, 0) < 0 ?
	       from : to;
}

/*
 * Adds by one instruction without a lock prefix: safe against signal handlers of the same
 * thread, and only against them.
 */
static inline u64 ct_local_add(u64 *p, u64 n)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*p) : : "memory");
	return n;
}

#define ct_load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define ct_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ct_cas(p, old, new)	({						\
	__typeof__(*(p)) ct_old = (old);					\
	__atomic_compare_exchange_n(p, &ct_old, new, false,			\
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); })

static inline u64 ct_hash(const char *s, size_t n)
{
	u64 h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (u8)s[i]) * 0x100000001b3ull;
	return h ^ h >> 29;
}

/*
 * A line of text built without libc's printf (which allocates and takes locks).
 * What does not fit is cut; len never passes size - 1.
 */
struct ct_text {
	char *buf;
	size_t size;
	size_t len;
};

void ct_put(struct ct_text *t, const char *s);
void ct_put_n(struct ct_text *t, const char *s, size_t n);
void ct_put_u(struct ct_text *t, u64 v);
void ct_put_hex(struct ct_text *t, u64 v, unsigned digits);
/* A word of the registry: bytes outside 0x21..0x7e and '%' become %XX. */
void ct_put_word(struct ct_text *t, const char *s, size_t n);

/* write() that sends no signal (SIGPIPE, SIGXFSZ): a negative errno, or the bytes written. */
long ct_write(int fd, const void *from, size_t n);

/*
 * Says "cudatrace: TEXT" on stderr, in one write.  Says nothing if the descriptor 2 is not
 * the file that it was at ct_say_start(): when the library started; or if it is a full pipe.
 */
void ct_say_start(void);
void ct_say(const char *text, const char *more);

/* Can these 8 bytes be read?  Nothing happens if not. */
bool ct_readable(u64 address);

/* All signals blocked, SIGCANCEL included; the old mask is given back. */
u64 ct_signals_block(void);
void ct_signals_restore(u64 mask);

#endif
