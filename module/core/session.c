// SPDX-License-Identifier: GPL-2.0
/*
 * The session.  At most one is running.  Writers find their CPU's part of it with preemption
 * disabled, and find none while it is paused.  Everybody else holds a reference.
 *
 * A session that ends is first taken away from the writers; when the last writer has left, its
 * rings never change again.  So readers need no lock to read them to the end.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>
#include "core/session.h"
#include "base/clock.h"
#include "base/pages.h"

/* Held while a session is started, changed or stopped. */
DEFINE_MUTEX(ct_session_lock);
DEFINE_PER_CPU(struct ct_cpu *, ct_cpu_current);
/* Paused or not.  Changed under both locks, so either one is enough to read it. */
static struct ct_session_state *running;
/* Held only to take a reference, so that the last one is not dropped meanwhile. */
static DEFINE_SPINLOCK(running_lock);

static void session_free(struct kref *ref)
{
	struct ct_session_state *s = container_of(ref, struct ct_session_state, ref);
	u32 i;

	s->release(s);
	for (i = 0; s->cpu && i < s->cpus; i++) {
		if (!s->cpu[i])
			continue;
		ct_ring_free(&s->cpu[i]->ring);
		kfree(s->cpu[i]);
	}
	kfree(s->cpu);
	put_pid(s->owner_process);
	vfree(s->facts);
	kfree(s);
}

struct ct_session_state *ct_session_get(void)
{
	struct ct_session_state *s;

	spin_lock(&running_lock);
	s = running;
	if (s)
		kref_get(&s->ref);
	spin_unlock(&running_lock);
	return s;
}

void ct_session_put(struct ct_session_state *s)
{
	if (s)
		kref_put(&s->ref, session_free);
}

struct ct_session_state *ct_session_running(void)
{
	lockdep_assert_held(&ct_session_lock);
	return running;
}

struct ct_session_state *ct_session_new(const struct ct_session *arg,
					void (*release)(struct ct_session_state *s))
{
	struct ct_session_state *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	bool overwrite = arg->flags & CT_SESSION_OVERWRITE;
	unsigned int cpu;
	uuid_t uuid;

	if (!s)
		return NULL;
	kref_init(&s->ref);
	s->release = release;
	s->cpus = nr_cpu_ids;
	s->groups = arg->groups;
	s->cpu = kcalloc(s->cpus, sizeof(*s->cpu), GFP_KERNEL_ACCOUNT);
	s->facts = ct_pages_alloc(PAGE_SIZE, NUMA_NO_NODE);
	if (!s->cpu || !s->facts)
		goto err;
	uuid_gen(&uuid);
	/* Every possible CPU, so that a CPU that comes online later has its ring. */
	for_each_possible_cpu(cpu) {
		if (fatal_signal_pending(current))
			goto err;
		s->cpu[cpu] = kzalloc_node(sizeof(**s->cpu), GFP_KERNEL_ACCOUNT, cpu_to_node(cpu));
		if (!s->cpu[cpu] || ct_ring_init(&s->cpu[cpu]->ring, cpu, arg->subbuf_size,
						 arg->subbuf_count, overwrite, uuid.b))
			goto err;
		s->cpu[cpu]->s = s;
		s->cpu[cpu]->charged = &s->cpu[cpu]->uncounted;
		cond_resched();
	}
	*s->facts = (struct ct_facts){
		.magic = CT_MAGIC,
		.abi = CT_ABI_VERSION,
		.cpus = s->cpus,
		.subbuf_size = arg->subbuf_size,
		.subbuf_count = arg->subbuf_count,
		.flags = arg->flags,
		.running = 1,
		.schema = CT_SCHEMA_VERSION,
	};
	memcpy(s->facts->uuid, uuid.b, sizeof(s->facts->uuid));
	return s;
err:
	ct_session_put(s);
	return NULL;
}

static void session_set_running(struct ct_session_state *s)
{
	lockdep_assert_held(&ct_session_lock);
	spin_lock(&running_lock);
	running = s;
	spin_unlock(&running_lock);
	WRITE_ONCE(ct_clock_page->running, !!s);
}

void ct_session_begin(struct ct_session_state *s)
{
	static u32 numbers;

	s->number = ++numbers;
	session_set_running(s);
}

void ct_session_publish(struct ct_session_state *s)
{
	int cpu;

	lockdep_assert_held(&ct_session_lock);
	for_each_possible_cpu(cpu)
		/*
		 * What was stored into the ring before the pointer to it: pairs with the address
		 * dependency of ct_cpu_writing().
		 */
		smp_store_release(per_cpu_ptr(&ct_cpu_current, cpu), s ? s->cpu[cpu] : NULL);
	WRITE_ONCE(ct_clock_page->recording, !!s);
	/* A writer has preemption disabled, so this waits for all of them. */
	if (!s)
		synchronize_rcu();
}

void ct_session_end(struct ct_session_state *s)
{
	session_set_running(NULL);
	WRITE_ONCE(s->facts->running, 0);
	WRITE_ONCE(s->ended, true);
	ct_session_put(s);
}
