// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See attach.h.
 *
 * Must never allocate by malloc: this runs in the program's own calls, perhaps
 * in a signal handler.
 */
#include "record/attach.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/elf.h"
#include "base/process.h"
#include "record/append.h"
#include "tracedir/lost.h"

#define CT_SYS_RSEQ	334	/* older headers lack it */

#define NEVER_CALLED	{						\
	.life = CT_LIFE_NEVER, .packet = &ct_no_packet, .clock = CT_CLOCK_COPY,	\
	.own_rseq.cpu_id = ~0u }

struct ct_thread ct_thread_none = NEVER_CALLED;
__thread struct ct_thread *ct_self
	__attribute__((tls_model("initial-exec"), visibility("hidden"))) = &ct_thread_none;

/* States are mapped by many; the process's lock guards them.  A fork may cost some of them. */
#define STATES	32

static struct ct_thread *states;
static u32 states_used = STATES;
static struct ct_thread *unused;
static struct ct_thread *newest;	/* of all that were ever used */

static struct ct_thread *state_new(void)
{
	struct ct_thread *t = unused, *older;

	if (t) {
		ct_store(&unused, t->next);
	} else {
		if (states_used == STATES) {
			t = ct_map_private(STATES * sizeof(*t));
			if (!t)
				return NULL;
			ct_store(&states, t);
			ct_store(&states_used, 0u);
		}
		t = &states[states_used];
		ct_store(&states_used, states_used + 1);
		t->older = newest;
		ct_store(&newest, t);
	}
	older = t->older;
	*t = (struct ct_thread)NEVER_CALLED;
	t->older = older;
	ct_self = t;
	return t;
}

/* libc's, by name and not by linking: where they live depends on its version. */
static int (*key_create)(unsigned *key, void (*destroy)(void *));
static int (*set_specific)(unsigned key, const void *value);
static int (*at_thread_exit)(void (*exits)(void *), void *self, void *library);
static bool have_key;
static unsigned key;	/* glibc's pthread_key_t */

#ifndef LIBC_RSEQ
#define LIBC_RSEQ	"__rseq_"	/* tests have a libc without */
#endif

static const ptrdiff_t *rseq_offset;	/* of libc's struct rseq; NULL: it has registered none */
static bool rseq_is_ours;		/* libc knows nothing of it */

static long rseq_register(struct ct_thread *t, int flags)
{
	return ct_sys4(CT_SYS_RSEQ, &t->own_rseq, sizeof(t->own_rseq), flags, CT_RSEQ_SIGNATURE);
}

/* Where the thread's struct rseq is, from %fs; 0 if the kernel has none, or another's. */
static s64 rseq_find(struct ct_thread *t)
{
	const char *self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	/* The kernel may have refused it for this thread: cpu_id is negative then. */
	if (rseq_offset)
		return *(const s32 *)(self + *rseq_offset + 4) >= 0 ? *rseq_offset : 0;
	if (!rseq_is_ours)
		return 0;
	/* A child that was forked has its parent's registered already. */
	if ((s32)t->own_rseq.cpu_id < 0 && rseq_register(t, 0) < 0)
		return 0;
	return (const char *)&t->own_rseq - self;
}

/* Where the kernel keeps the number of the CPU; a fixed 0xffff if it does not. */
static const u32 *cpu_find(s64 rseq)
{
	static const u32 unknown = 0xffff;
	const char *self;

	if (!rseq)
		return &unknown;
	__asm__("movq %%fs:0, %0" : "=r"(self));
	return (const u32 *)(self + rseq + 4);
}

/*
 * Destructors of other keys may still call CUDA, so the stream is kept until the
 * last round.  A call after that begins a new one.
 */
#define ROUNDS	4	/* PTHREAD_DESTRUCTOR_ITERATIONS */

static void detach(struct ct_thread *t)
{
	ct_packet_none(t);
	t->producer.last = t->last;
	t->producer.op = t->ops;
	ct_producer_detach(&t->producer);
}

/* The kernel would go on writing to its struct rseq. */
static void state_free(struct ct_thread *t)
{
	if ((s32)t->own_rseq.cpu_id >= 0)
		rseq_register(t, 1);	/* RSEQ_FLAG_UNREGISTER */
	ct_self = &ct_thread_none;
	t->next = unused;
	ct_store(&unused, t);
}

static void thread_gone(void *self)
{
	struct ct_thread *t = self;
	u64 mask;

	ct_thread_name();
	mask = ct_lock();
	if (t->life == ct_process->life && t->life != CT_LIFE_NEVER)
		detach(t);
	else if (t->left)
		ct_producer_drop(&t->producer);
	state_free(t);
	ct_unlock(mask);
}

static void thread_exits(void *self)
{
	struct ct_thread *t = self;

	if (++t->exits < ROUNDS)
		set_specific(key, t);
	else
		thread_gone(t);
}

/*
 * The thread's end is to be told.  Where the program has all keys, by what C++ uses for its
 * thread_local objects: it comes before keys' destructors.
 */
static void watch_end(struct ct_thread *t)
{
	if (have_key)
		set_specific(key, t);
	else if (at_thread_exit)
		at_thread_exit(thread_gone, t, (void *)thread_gone);
}

/* What the thread had is its parent's. */
static void forget(struct ct_thread *t)
{
	/* The module's memory is not there in a child. */
	t->packet = &ct_no_packet;
	ct_packet_none(t);
	if (t->left)
		ct_producer_return(&t->producer);
	else
		ct_producer_forget(&t->producer);
	t->left = 0;
	t->open = t->producer.inflight;
}

/*
 * In a child, in fork().  Until its first call it writes nowhere: a signal handler may have
 * forked, and the call that it interrupted return in the child, too, with its record half
 * made.  (Who calls clone() by itself, or _Fork(), may not return there.)
 */
static void forked(void)
{
	struct ct_thread *t = ct_self;
	u64 mask = ct_signals_block();

	/* A handler, of fork() or of a signal, that came before may have called CUDA. */
	if (t->life != CT_LIFE_NEVER && t->life != ct_process->life)
		forget(t);
	ct_signals_restore(mask);
}

/*
 * With the first call and not when the library starts, so that a program without CUDA
 * does not pay for it.  Not under the lock: it takes the loader's.  With a libc that has
 * its threads in another library, that one may come later than we; then the next thread
 * tries.
 */
static void find_libc(void)
{
	static u32 looked;

	if (!ct_load(&looked)) {
		const u32 *size = ct_find_next(LIBC_RSEQ "size");
		const ptrdiff_t *offset = ct_find_next(LIBC_RSEQ "offset");
		int (*at_fork)(void (*)(void), void (*)(void), void (*)(void), void *) =
			(__typeof__(at_fork))ct_find_next("__register_atfork");

		if (size && *size && offset)
			ct_store(&rseq_offset, offset);
		/* Where libc could and does not, something else in the program wants to. */
		ct_store(&rseq_is_ours, !size);
		if (at_fork)
			at_fork(NULL, NULL, forked, NULL);
		ct_clock_start();
		at_thread_exit = (__typeof__(at_thread_exit))ct_find_next("__cxa_thread_atexit_impl");
		ct_store(&looked, 1u);
	}
	if (ct_load(&set_specific))
		return;
	key_create = (int (*)(unsigned *, void (*)(void *)))
		ct_find_next("pthread_key_create");
	ct_store(&set_specific, (int (*)(unsigned, const void *))
		 ct_find_next("pthread_setspecific"));
}

/* Under the lock: one key for all. */
static void make_key(void)
{
	if (!have_key && key_create && set_specific)
		have_key = !key_create(&key, thread_exits);
}

#define NAMES_MOST	256	/* of threads; lines of info are bounded for all processes together */

static void name_tell(u32 tid, const char *name)
{
	char buf[64];
	struct ct_text line = { buf, sizeof(buf), 0 };

	ct_put_u(&line, ct_process->pid);
	ct_put(&line, " ");
	ct_put_u(&line, tid);
	ct_put(&line, " ");
	ct_put_n(&line, name, strnlen(name, 16));
	ct_backend->info("thread_name", buf);
}

/*
 * The kernel's name of the thread, which programs set when they like: asked at its first record, where
 * it gets another packet, and at its end.  A line of the trace for the process, and for each thread
 * that is not called like it: a new thread has the name of its creator.
 */
void ct_thread_name(void)
{
	static char process[16];
	static u32 life, told;
	struct ct_thread *t = ct_self;
	char name[sizeof(t->name)] = "";
	long n;

	if (t == &ct_thread_none || t->life != ct_process->life ||
	    ct_sys2(SYS_prctl, PR_GET_NAME, name) < 0 || !memcmp(name, t->name, sizeof(name)))
		return;
	memcpy(t->name, name, sizeof(name));
	if (__atomic_exchange_n(&life, t->life, __ATOMIC_RELAXED) != t->life) {
		n = ct_read_file("/proc/self/comm", process, sizeof(process));
		for (long i = n < 0 ? 0 : n; i < (long)sizeof(process); i++)
			process[i] = 0;
		if (n > 0 && process[n - 1] == '\n')
			process[n - 1] = 0;
		ct_store(&told, 0u);
		name_tell(ct_process->pid, n > 0 ? process : name);
	}
	if (strncmp(name, process, sizeof(name)) &&
	    __atomic_fetch_add(&told, 1u, __ATOMIC_RELAXED) < NAMES_MOST)
		name_tell(t->tid, name);
}

static void process_record(struct ct_thread *t)
{
	static char text[CT_RECORD_MAX] __attribute__((aligned(8)));
	struct ct_process_fields {
		u32 ppid, uid;
		u16 len;
		char text[];
	} *p = (void *)text;
	size_t room = CT_RECORD_MAX - 64 - sizeof(*p);
	long n = ct_read_file("/proc/self/cmdline", p->text, room);
	struct ct_record e = {
		.class = CT_CLASS_process, .flags = CT_F_INSTANT | CT_F_NO_RESULT,
	};

	if (n < 0)
		n = 0;
	if ((size_t)n == room)
		e.flags |= CT_F_TRUNCATED;
	while (n && !p->text[n - 1])
		n--;
	for (long i = 0; i < n; i++)
		if (!p->text[i])
			p->text[i] = ' ';
	p->ppid = (u32)ct_sys0(SYS_getppid);
	p->uid = (u32)ct_sys0(SYS_getuid);
	memset(p->text + n, 0, 8);
	p->len = (u16)CT_TEXT_BYTES(10, (u64)n);	/* the NULs behind it are its own */
	e.payload = text;
	e.size = 10u + p->len;
	e.op = ct_local_add(&t->ops, 1);
	ct_record(t, &e);
}

/* With the lock held. */
static void process_attach(void)
{
	if (ct_process_renew()) {
		ct_clock_renew();
		ct_producers_forget();
	}
	ct_backend_choose();
}

cold bool ct_process_attach(void)
{
	u64 mask, unlocked;
	bool stopped;

	if (ct_load(&ct_stopped))
		return false;
	mask = ct_signals_block();
	find_libc();
	unlocked = ct_lock();
	stopped = ct_load(&ct_stopped);
	if (!stopped)
		process_attach();
	ct_unlock(unlocked);
	ct_signals_restore(mask);
	return !stopped && ct_backend->producers != NULL;
}

cold struct ct_thread *ct_thread_attach(void)
{
	struct ct_thread *t = ct_self;
	bool ok = true, fresh = false, say;
	u64 mask, unlocked, now = ct_clock_real();

	if (unlikely(ct_load(&ct_stopped))) {
		if (ct_load(&ct_stopped) == CT_STANDS_BY)
			ct_first_call();
		if (ct_load(&ct_stopped))
			return NULL;
	}
	if (t->tried == ct_process->life && ct_backoff_waits(&t->backoff, now)) {
		ct_lost_add();
		return NULL;
	}
	/*
	 * Also over what follows the lock: a handler that jumps out must not skip that. And
	 * over what libc does under locks of its own: a handler may make a thread's first call.
	 */
	mask = ct_signals_block();
	/* A handler may have come before that, and made the thread's first call. */
	t = ct_self;
	find_libc();
	unlocked = ct_lock();
	/* The recording may have been left before the lock was ours: a stream of it would stay open for ever. */
	if (ct_load(&ct_stopped)) {
		ct_unlock(unlocked);
		ct_signals_restore(mask);
		return NULL;
	}
	process_attach();
	if (t == &ct_thread_none) {
		make_key();
		fresh = true;
		t = state_new();
	}
	if (!t) {
		ct_unlock(unlocked);
		ct_signals_restore(mask);
		ct_lost_add();
		return NULL;
	}
	t->tried = ct_process->life;
	if (t->life != ct_process->life) {
		if (t->life != CT_LIFE_NEVER)
			forget(t);
		t->tid = t->producer.tid = (u32)ct_sys0(SYS_gettid);
		t->name[0] = 0;
		t->ops = 1;
		t->rseq = rseq_find(t);
		t->cpu = cpu_find(t->rseq);
		ct_packet_none(t);
		ok = ct_backend->producers && ct_producer_attach(&t->producer, ct_backend->producers);
		if (ok) {
			ct_thread_update(t);
			t->last = ct_clock_now(&t->clock);
			if (t->last < t->producer.last)
				t->last = t->producer.last;
			ct_store(&t->life, ct_process->life);
		}
		ct_backoff_note(&t->backoff, ok, now);
	}
	say = ok && !ct_process->process_record;
	if (say)
		ct_process->process_record = 1;
	ct_unlock(unlocked);
	if (!ok)
		ct_lost_add();
	/* Not under the lock: it may allocate, and the program's calloc() may call CUDA. */
	if (fresh)
		watch_end(t);
	ct_signals_restore(mask);
	/* Not under the lock, which a backend may have to take. */
	if (say)
		process_record(t);
	if (ok)
		ct_thread_name();
	return ok ? t : NULL;
}

void ct_threads_leave(void)
{
	u32 life = ct_process->life;

	/* First: nobody appends or drains any more but who is at it. */
	ct_process_restart();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (struct ct_thread *t = newest; t; t = t->older) {
		if (t->life == CT_LIFE_NEVER || t->left)
			continue;
		t->left = 1;
		/* Who is at it lets go of the memory itself, which may be another by then. */
		if (!ct_load(&t->changing))
			ct_producer_leave(&t->producer, t->life == life);
	}
	ct_producers_forget();
	ct_backend_forget();
}

void ct_thread_end(void)
{
	struct ct_thread *t = ct_self;
	u64 mask;

	if (t->life != ct_process->life)
		return;
	ct_thread_name();
	mask = ct_signals_block();
	ct_packet_none(t);
	ct_producer_flush(&t->producer);
	ct_signals_restore(mask);
}
