// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Beginning for cudatrace record --pid and session attach: see cudatrace_attach_start() in include/cudatrace/attach.h.
 *
 * To look at all objects of a large program takes 200 ms, as their tables may not be in memory. The thread
 * that was taken is the program's: it only makes another one, which does that.
 */
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/elf.h"
#include "hook/begin.h"

#define EXPORT	__attribute__((visibility("default")))

static struct ct_attach_asked outside_asked;

static int (*let_go)(pthread_t);

static void outside_leave(u32 number)
{
	cudatrace_detach(CT_DETACH_PUT_BACK, number);
	cudatrace_detach(CT_DETACH_LEAVE, number);
}

/* The number of the recording; 0: it does not record. */
static u32 outside_begin(void)
{
	const struct ct_attach_asked *c = &outside_asked;
	const struct ct_begin_plugins plugins = {
		.stack = (__typeof__(plugins.stack))c->stack,
		.stacks_begin = (__typeof__(plugins.stacks_begin))c->stacks_begin,
		.gpu_begin = (__typeof__(plugins.gpu_begin))c->gpu_begin,
		.stacks_what = c->stacks_what, .gpu_what = c->gpu_what, .sample = c->sample,
	};
	struct ct_attach_answer *answer = &cudatrace_attach_answer;
	u32 number;

	if (ct_load(&answer->cancelled) == answer->ticket) {
		ct_store(&answer->done, CT_ATTACH_LEFT);
		return 0;
	}
	answer->result = ct_begin_attached(c->options, &plugins, &answer->gpu);
	answer->number = number = answer->result < 0 ? 0 : ct_begin_number();
	/* Both sides store theirs first, then they look at the other's. */
	__atomic_store_n(&answer->done, CT_ATTACH_DONE, __ATOMIC_SEQ_CST);
	if (!number || __atomic_load_n(&answer->cancelled, __ATOMIC_SEQ_CST) != answer->ticket)
		return number;
	outside_leave(number);
	ct_store(&answer->done, CT_ATTACH_LEFT);
	return 0;
}

/* One at a time: the answer is complete before the next one may begin. */
static u32 outside_begin_alone(void)
{
	u32 number = outside_begin();

	__atomic_store_n(&cudatrace_attach_answer.begins, 0ull, __ATOMIC_RELEASE);
	return number;
}

static void *outside_run(void *unused)
{
	static const struct { s64 s, ns; } second = { 1, 0 };
	u32 number;

	(void)unused;
	ct_sys2(SYS_prctl, PR_SET_NAME, "cudatrace");
	if (let_go)
		let_go(pthread_self());
	number = outside_begin_alone();
	while (number && ct_begin_watched(number))
		ct_sys2(SYS_nanosleep, &second, NULL);
	return NULL;
}

EXPORT int cudatrace_attach_start(const struct ct_attach_asked *asked)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct ct_attach_answer *answer = &cudatrace_attach_answer;
	u64 own = CT_ATTACH_BEGINS(ct_sys0(SYS_getpid), asked->mark), other = ct_load(&answer->begins);
	u32 ticket;
	bool created = false;
	pthread_t thread;
	u64 mask;

	create = (__typeof__(create))ct_find_next("pthread_create");
	let_go = (__typeof__(let_go))ct_find_next("pthread_detach");
	/* In a child that was forked meanwhile it is its parent's. */
	if (other >> 32 == own >> 32 || !ct_cas(&answer->begins, other, own))
		return -11;	/* EAGAIN */
	if (ct_begin_records()) {
		ct_store(&answer->begins, 0ull);
		return -16;	/* EBUSY */
	}
	outside_asked = *asked;
	ticket = answer->ticket + 1 < 1u << 31 ? answer->ticket + 1 : 1;
	answer->done = answer->gpu = answer->number = answer->cancelled = 0;
	ct_store(&answer->ticket, ticket);
	/* The program's signals are not for our thread. */
	mask = ct_signals_block();
	if (create)
		created = !create(&thread, NULL, outside_run, NULL);
	ct_signals_restore(mask);
	if (!created)
		outside_begin_alone();
	return (int)ticket;
}
