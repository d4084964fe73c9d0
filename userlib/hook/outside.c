// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Beginning for cudatrace record --pid and session attach: see struct ct_attach_call in include/cudatrace/attach.h.
 *
 * To look at all objects of a large program takes 200 ms, as their tables may not be in memory. The thread
 * that was taken is the program's: it only makes another one, which does that.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "base/elf.h"
#include "base/process.h"
#include "hook/begin.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT struct ct_attach_call cudatrace_attach_call;

static int (*let_go)(pthread_t);

/* Does it record? */
static bool outside_begin(struct ct_attach_call *c)
{
	const struct ct_begin_plugins plugins = {
		.stack = (__typeof__(plugins.stack))c->stack,
		.stacks_begin = (__typeof__(plugins.stacks_begin))c->stacks_begin,
		.gpu_begin = (__typeof__(plugins.gpu_begin))c->gpu_begin,
		.stacks_what = c->stacks_what, .gpu_what = c->gpu_what, .sample = c->sample,
	};
	int result;

	if (ct_load(&c->cancelled)) {
		ct_store(&c->done, CT_ATTACH_LEFT);
		return false;
	}
	result = ct_begin_attached(c->options, &plugins, &c->gpu);
	c->result = result;
	/* Both sides store theirs first, then they look at the other's. */
	__atomic_store_n(&c->done, CT_ATTACH_DONE, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&c->cancelled, __ATOMIC_SEQ_CST) || result < 0)
		return result >= 0;
	cudatrace_detach(CT_DETACH_PUT_BACK);
	cudatrace_detach(CT_DETACH_LEAVE);
	ct_store(&c->done, CT_ATTACH_LEFT);
	return false;
}

static void *outside_run(void *call)
{
	static const struct { s64 s, ns; } second = { 1, 0 };

	ct_sys2(SYS_prctl, PR_SET_NAME, "cudatrace");
	if (let_go)
		let_go(pthread_self());
	/* Where it was refused, another recording runs, which has its own thread. */
	if (outside_begin(call))
		for (u32 number = ct_begin_number(); ct_begin_watched(number);)
			ct_sys2(SYS_nanosleep, &second, NULL);
	return NULL;
}

EXPORT int cudatrace_attach_start(void)
{
	struct ct_attach_call *c = &cudatrace_attach_call;
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	bool created = false;
	pthread_t thread;
	u64 mask;

	create = (__typeof__(create))ct_find_next("pthread_create");
	let_go = (__typeof__(let_go))ct_find_next("pthread_detach");
	/* The program's signals are not for our thread. */
	mask = ct_signals_block();
	if (create)
		created = !create(&thread, NULL, outside_run, c);
	ct_signals_restore(mask);
	if (!created)
		outside_begin(c);
	return created;
}
