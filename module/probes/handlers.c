// SPDX-License-Identifier: GPL-2.0
/*
 * The two handlers of every kretprobe: of a function's entry and of its return.
 *
 * They run with preemption disabled, in the context of the probed function; a breakpoint handler
 * even looks like an NMI.  So: no lock, no allocation, no fault, no sleep.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include "probes/handlers.h"
#include "probes/kprobe.h"
#include "core/filter.h"
#include "core/record.h"
#include "core/trigger.h"
#include "base/compat.h"

/* Is this a call in this context? */
static __always_inline bool handler_in_context(const struct ct_call *c, unsigned int context)
{
	return CT_DEPTH_FLAGS_CONTEXT(c->depth_flags) == context;
}

/*
 * How many recorded calls this task, in this context, has not returned from.  self is the call that
 * is being entered; it does not count.
 */
static __always_inline u8 handler_open_calls(const struct kretprobe_instance *self,
					     unsigned int context)
{
	struct llist_node *n;
	u8 depth = 0;

	for (n = ct_pending_returns(); n; n = READ_ONCE(n->next)) {
		struct kretprobe_instance *ri = ct_return_instance(n);
		struct kretprobe *rp = ct_pending_kretprobe(ri, self);

		if (rp && rp->handler == ct_probe_return &&
		    handler_in_context((struct ct_call *)ri->data, context) && depth < 255)
			depth++;
	}
	return depth;
}

/* The arguments that a user chose, each cut to the width of its type. */
static __always_inline void handler_fetch(u64 *payload, const struct ct_probe_desc *d,
					  const struct ct_call *c)
{
	const struct ct_fetch *f = d->fetch;

	if (unlikely(d->fetch_signed)) {
		for (; f->mask; f++)
			*payload++ = ((c->arg[f->number] & f->mask) ^ f->sign) - f->sign;
		return;
	}
	do {
		*payload++ = c->arg[f->number] & f->mask;
	} while ((++f)->mask);
}

static noinline void handler_trigger(struct ct_cpu *cpu, const struct ct_probe_desc *d,
				     const struct ct_call *c, const struct ct_cpu_record *rec,
				     u64 duration)
{
	ct_trigger_test(cpu, rec, duration,
			d->layout == CT_LAYOUT_ioctl ? (const void *)(rec + 1) : NULL,
			d->xid ? &c->arg[1] : NULL);
}

static __always_inline void handler_write_call(struct ct_cpu *cpu, const struct ct_armed *a,
					       struct ct_call *c, s64 ret, bool entry)
{
	const struct ct_probe_desc *d = a->desc;
	struct ct_kprobe *p = a->probe;
	struct ct_cpu_record *rec;
	u64 stamp, duration = 0;

	/* Counted here and not at entry, so that hits = written + lost at any time. */
	this_cpu_inc(p->count->hits);
	rec = ct_record_new(cpu, a->class, d->size, CT_DEPTH_FLAGS_CONTEXT(c->depth_flags), &stamp);
	if (unlikely(!rec)) {
		this_cpu_inc(p->count->lost);
		return;
	}
	if (!entry) {
		duration = stamp - c->begin;
		/* Too long; or negative, because two CPUs' clocks differ. */
		if (unlikely(duration > CT_DURATION_MAX))
			duration = stamp > c->begin ? CT_DURATION_MAX : 0;
	}
	rec->op = c->op;
	rec->duration = CT_DURATION(duration, 0, entry ? CT_F_BEGIN : 0) | (u64)c->depth_flags
										   << 48;
	rec->result = ret;
	if (d->fetch) {
		c->arg[CT_ARG_RETURNED] = ret;
		handler_fetch((u64 *)(rec + 1), d, c);
	} else if (d->fill) {
		c->variant = a->variant;
		c->verified = a->verified;
		d->fill(rec + 1, c, ret, entry);
	}
	if (!entry && ct_trigger_armed())
		handler_trigger(cpu, d, c, rec, duration);
	ct_record_done(cpu, 1);
}

/* 1 in p->sample calls of this CPU. */
static __always_inline bool handler_sampled(struct ct_kprobe *p)
{
	u32 every = READ_ONCE(p->sample);

	return likely(every <= 1) || this_cpu_inc_return(p->count->calls) % every == 0;
}

static __always_inline void handler_time_ends(const struct ct_kprobe *p, u64 begin, bool counts)
{
	if (likely(!begin))
		return;
	this_cpu_add(p->count->cost, ct_clock_ns() - begin);
	if (counts)
		this_cpu_inc(p->count->timed);
}

static __always_inline void handler_begin_call(struct ct_cpu *cpu, struct kretprobe_instance *ri,
					       unsigned int context)
{
	struct ct_call *c = (void *)ri->data;

	c->op = ct_ring_op(&cpu->ring, 1);
	c->depth_flags = CT_DEPTH_FLAGS(handler_open_calls(ri, context), context);
}

/* A call of a probe with special set: see struct ct_armed. */
static noinline int handler_enter_special(struct ct_cpu *cpu, const struct ct_armed *a,
					  struct kretprobe_instance *ri, struct pt_regs *regs,
					  unsigned int context)
{
	struct ct_call *c = (void *)ri->data;
	unsigned int i;
	u64 timing;

	timing = ct_count_time_begins(a->probe->count);
	for (i = 0; i < a->desc->args; i++)
		c->arg[i] = regs_get_kernel_argument(regs, i);
	/* Above the return address, from the seventh argument on. */
	if (a->stacked)
		c->stacked = regs_get_kernel_stack_nth(regs, a->stacked - 5);
	handler_begin_call(cpu, ri, context);
	if (a->desc->entry) {
		handler_write_call(cpu, a, c, 0, true);
		c->depth_flags |= CT_DEPTH_FLAGS(0, CT_F_HAS_BEGIN);
	}
	handler_time_ends(a->probe, timing, false);
	c->begin = ct_clock_ns();
	return 0;
}

/* A call that is recorded. */
static __always_inline int handler_enter(struct ct_cpu *cpu, const struct ct_armed *a,
					 struct kretprobe_instance *ri, struct pt_regs *regs,
					 unsigned int context)
{
	struct ct_call *c = (void *)ri->data;
	u64 timing;

	if (unlikely(a->special))
		return handler_enter_special(cpu, a, ri, regs, context);
	timing = ct_count_time_begins(a->probe->count);
	/* All three: this costs less than a test, because the numbers are constants. */
	c->arg[0] = regs_get_kernel_argument(regs, 0);
	c->arg[1] = regs_get_kernel_argument(regs, 1);
	c->arg[2] = regs_get_kernel_argument(regs, 2);
	BUILD_BUG_ON(CT_ARGS_ALWAYS != 3);
	handler_begin_call(cpu, ri, context);
	handler_time_ends(a->probe, timing, false);
	c->begin = ct_clock_ns();
	return 0;
}

int ct_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct kretprobe *rp = ct_kretprobe_of(ri);
	const struct ct_armed *a;
	unsigned int context;

	if (unlikely(!cpu || !rp))
		return 1;	/* nothing records: don't hook the return */
	a = container_of(rp, struct ct_armed, rp);
	context = ct_context(ct_in_breakpoint(&rp->kp, regs));
	OPTIMIZER_HIDE_VAR(context); /* else the compiler keeps it in three forms */
	if (!ct_wanted(a->category, context) || !handler_sampled(a->probe))
		return 1; /* not wanted: don't hook the return */
	return handler_enter(cpu, a, ri, regs, context);
}

int ct_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_cpu *cpu = ct_cpu_writing();
	struct kretprobe *rp = ct_kretprobe_of(ri);
	const struct ct_armed *a;
	u64 timing;

	if (unlikely(!cpu || !rp))
		return 0;
	a = container_of(rp, struct ct_armed, rp);
	timing = ct_count_time_begins(a->probe->count);
	handler_write_call(cpu, a, (void *)ri->data, regs_return_value(regs), false);
	handler_time_ends(a->probe, timing, true);
	return 0;
}
NOKPROBE_SYMBOL(handler_trigger);
NOKPROBE_SYMBOL(handler_enter_special);
NOKPROBE_SYMBOL(ct_probe_entry);
NOKPROBE_SYMBOL(ct_probe_return);
