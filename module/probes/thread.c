// SPDX-License-Identifier: GPL-2.0
/* The table of threads. */
#include <linux/lockdep.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>
#include "probes/thread.h"
#include "core/session.h"
#include "core/traced.h"

#define THREAD_COUNT 16384u

static struct ct_thread *threads; /* NULL: not kept */
static unsigned int users; /* ct_session_lock */

struct ct_thread *ct_thread_of(u32 tid, bool claim)
{
	struct ct_thread *all = READ_ONCE(threads), *t;

	if (!all)
		return NULL;
	t = &all[tid % THREAD_COUNT];
	if (READ_ONCE(t->tid) != tid) {
		if (!claim)
			return NULL;
		*t = (struct ct_thread){};
		WRITE_ONCE(t->tid, tid);
	}
	return t;
}

int ct_thread_start(void)
{
	struct ct_thread *all;

	lockdep_assert_held(&ct_session_lock);
	if (!users) {
		all = vzalloc(array_size(THREAD_COUNT, sizeof(*all)));
		if (!all || ct_traced_start()) {
			vfree(all);
			return -ENOMEM;
		}
		WRITE_ONCE(threads, all);
	}
	users++;
	return 0;
}

void ct_thread_stop(void)
{
	struct ct_thread *all = threads;

	lockdep_assert_held(&ct_session_lock);
	if (--users)
		return;
	WRITE_ONCE(threads, NULL);
	/* Waits for everything that has preemption disabled. */
	ct_traced_stop();
	vfree(all);
}
