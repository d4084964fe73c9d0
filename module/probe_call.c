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
#include <linux/timekeeping.h>
#include "compat.h"
#include "filter.h"
#include "probe.h"
#include "record.h"
#include "trigger.h"

/* Calls of ours that this task, in this context, has not returned from. */
static u8 open_calls(u8 context)
{
	struct llist_node *n;
	u8 depth = 0;

	for (n = ct_pending_returns(); n; n = READ_ONCE(n->next)) {
		struct kretprobe_instance *ri = ct_return_instance(n);
		struct kretprobe *rp = get_kretprobe(ri);

		if (rp && rp->handler == ct_probe_return &&
		    (((struct ct_call *)ri->data)->flags & CT_F_CONTEXT) == context &&
		    depth < 255)
			depth++;
	}
	return depth;
}

/* The arguments that a user asked for, each cut to its type's width. */
static void fetch(void *payload, const struct ct_fetch *f, const struct ct_call *c,
		  s64 ret)
{
	u64 v;
	int shift;

	for (; f->size; f++) {
		v = f->number == CT_ARG_RETURN ? ret : c->arg[f->number];
		shift = 64 - 8 * f->size;
		v = f->sign ? (s64)(v << shift) >> shift : v << shift >> shift;
		memcpy(payload + f->offset, &v, sizeof(v));
	}
}

static void write_call(struct ct_session_state *s, struct ct_probe_slot *p,
		       const struct ct_call *c, s64 ret, bool entry)
{
	const struct ct_probe_desc *d = p->desc;
	struct ct_cpu *cpu = ct_cpu_here(s);
	struct ct_cpu_record *rec;
	u64 stamp, duration = 0;

	rec = ct_record_new(cpu, p->class[c->variant], d->size,
			    c->flags & CT_F_CONTEXT, &stamp);
	if (unlikely(!rec)) {
		this_cpu_inc(p->count->lost);
		return;
	}
	if (!entry && stamp > c->begin)
		duration = stamp - c->begin;
	rec->op = c->op;
	rec->duration = CT_DURATION(min_t(u64, duration, CT_DURATION_MAX), c->depth,
				    c->flags | (entry ? CT_F_BEGIN : 0));
	rec->result = ret;
	if (d->fill)
		d->fill(rec + 1, c, ret, entry);
	else if (d->fetch)
		fetch(rec + 1, d->fetch, c, ret);
	if (!entry)
		ct_trigger_call(s, cpu, p, c, duration, rec);
	ct_record_done(s, cpu);
}

/* 1 in p->sample calls of this CPU. */
static bool sampled(struct ct_probe_slot *p)
{
	u32 every = READ_ONCE(p->sample);

	return every <= 1 || this_cpu_inc_return(p->count->calls) % every == 0;
}

int ct_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_call *c = (void *)ri->data;
	struct ct_session_state *s = ct_session_writing();
	struct kretprobe *rp = get_kretprobe(ri);
	const struct ct_probe_desc *d;
	struct ct_probe_slot *p;
	unsigned int i, first;
	u8 context;

	if (unlikely(!s || !rp))
		return 1;	/* nothing records: don't hook the return */
	p = container_of(rp, struct ct_armed, rp)->probe;
	d = p->desc;
	context = ct_context();
	if (!ct_wanted(d->category, context) || !sampled(p))
		return 1;	/* nobody wants it: don't hook the return */
	this_cpu_inc(p->count->hits);
	c->variant = p->variant;
	first = d->alt[c->variant].first_arg;
	for (i = 0; i < d->args; i++)
		c->arg[i] = regs_get_kernel_argument(regs, first + i);
	c->op = ct_ring_op(&ct_cpu_here(s)->ring);
	c->flags = context;
	c->depth = open_calls(context);
	if (d->entry) {
		write_call(s, p, c, 0, true);
		c->flags |= CT_F_HAS_BEGIN;
	}
	c->begin = ktime_get_mono_fast_ns();
	return 0;
}

int ct_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_session_state *s = ct_session_writing();
	struct kretprobe *rp = get_kretprobe(ri);

	if (likely(s && rp))
		write_call(s, container_of(rp, struct ct_armed, rp)->probe,
			   (void *)ri->data, regs_return_value(regs), false);
	return 0;
}
NOKPROBE_SYMBOL(ct_probe_entry);
NOKPROBE_SYMBOL(ct_probe_return);

