// SPDX-License-Identifier: GPL-2.0
/*
 * The two handlers of every probe.
 *
 * They run with preemption disabled, in whatever context the probed function runs
 * in, as breakpoint handlers even in what looks like an NMI: no lock, no allocation,
 * no fault, no sleep.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include "compat.h"
#include "filter.h"
#include "probe.h"
#include "record.h"
#include "trigger.h"

/*
 * Calls of ours that this task, in this context, has not returned from.  self is
 * the call that is being entered, and not among them.
 *
 * A pending return may belong to another tracer's hook, or to a probe that was
 * disarmed (and freed) while the call slept.  Only a hook whose handler is that of
 * kretprobes, as ours is, has a kretprobe behind it that may be looked at: it is
 * taken off before the wait that disarming does for us.
 */
static u8 open_calls(const struct kretprobe_instance *self, u8 context)
{
	struct llist_node *n;
	u8 depth = 0;

	for (n = ct_pending_returns(); n; n = READ_ONCE(n->next)) {
		struct kretprobe_instance *ri = ct_return_instance(n);

		if (ct_same_hook(ri, self) &&
		    get_kretprobe(ri)->handler == ct_probe_return &&
		    (((struct ct_call *)ri->data)->flags & CT_F_CONTEXT) == context &&
		    depth < 255)
			depth++;
	}
	return depth;
}

/* The arguments that a user asked for, each cut to its type's width. */
static __always_inline void fetch(u64 *payload, const struct ct_fetch *f,
				  const struct ct_call *c)
{
	do {
		*payload++ = ((c->arg[f->number] & f->mask) ^ f->sign) - f->sign;
	} while ((++f)->mask);
}

static __always_inline void write_call(struct ct_cpu *cpu, struct ct_probe_slot *p,
				       struct ct_call *c, s64 ret, bool entry)
{
	const struct ct_probe_desc *d = p->desc;
	struct ct_cpu_record *rec;
	u64 stamp, duration = 0;

	/* Here, so that hits = written + lost, whatever happens between two handlers. */
	this_cpu_inc(p->count->hits);
	rec = ct_record_new(cpu, p->class[c->variant], d->size,
			    c->flags & CT_F_CONTEXT, &stamp, 1);
	if (unlikely(!rec)) {
		this_cpu_inc(p->count->lost);
		return;
	}
	if (!entry && likely(stamp > c->begin))
		duration = min_t(u64, stamp - c->begin, CT_DURATION_MAX);
	rec->op = c->op;
	rec->duration = CT_DURATION(duration, c->depth,
				    c->flags | (entry ? CT_F_BEGIN : 0));
	rec->result = ret;
	c->arg[CT_ARG_RETURNED] = ret;
	if (d->fetch)
		fetch((u64 *)(rec + 1), d->fetch, c);
	else if (d->fill)
		d->fill(rec + 1, c, ret, entry);
	if (!entry)
		ct_trigger_call(cpu, p, c, duration, rec);
	ct_record_done(cpu, 1);
}

/* 1 in p->sample calls of this CPU. */
static __always_inline bool sampled(struct ct_probe_slot *p)
{
	u32 every = READ_ONCE(p->sample);

	return likely(every <= 1) || this_cpu_inc_return(p->count->calls) % every == 0;
}

int ct_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_call *c = (void *)ri->data;
	struct ct_cpu *cpu = ct_cpu_writing();
	struct kretprobe *rp = get_kretprobe(ri);
	const struct ct_probe_desc *d;
	struct ct_probe_slot *p;
	unsigned int i, first;
	u8 context;

	if (unlikely(!cpu || !rp))
		return 1;	/* nothing records: don't hook the return */
	p = container_of(rp, struct ct_armed, rp)->probe;
	d = p->desc;
	context = ct_context();
	if (!ct_wanted(d->category, context) || !sampled(p))
		return 1;	/* nobody wants it: don't hook the return */
	if (d->count) {
		c->begin = ct_clock_ns();
		return 0;
	}
	c->variant = p->variant;
	first = d->alt[c->variant].first_arg;
	for (i = 0; i < d->args; i++)
		c->arg[i] = regs_get_kernel_argument(regs, first + i);
	c->op = ct_ring_op(&cpu->ring);
	c->flags = context;
	c->depth = open_calls(ri, context);
	if (d->entry) {
		write_call(cpu, p, c, 0, true);
		c->flags |= CT_F_HAS_BEGIN;
	}
	c->begin = ct_clock_ns();
	return 0;
}

int ct_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_call *c = (void *)ri->data;
	struct ct_cpu *cpu = ct_cpu_writing();
	struct kretprobe *rp = get_kretprobe(ri);
	struct ct_probe_slot *p;

	if (unlikely(!cpu || !rp))
		return 0;
	p = container_of(rp, struct ct_armed, rp)->probe;
	if (p->desc->count) {
		this_cpu_inc(p->count->hits);
		this_cpu_add(p->count->time, ct_clock_ns() - c->begin);
	} else {
		write_call(cpu, p, c, regs_return_value(regs), false);
	}
	return 0;
}
NOKPROBE_SYMBOL(ct_probe_entry);
NOKPROBE_SYMBOL(ct_probe_return);

