// SPDX-License-Identifier: GPL-2.0
/*
 * What runs when a function of a multi-probe is entered and when it returns.
 *
 * All of it runs in the context of the function, in a breakpoint's handler or called by ftrace: no
 * lock, no allocation, no fault, no sleep.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "probes/kprobe.h"
#include "probes/multi_probe_handlers.h"
#include "core/session.h"
#include "base/clock.h"

/* Between the entry and the return of one call. */
struct call {
	u64 begin;
	unsigned long address;
};

/* The call that is being entered on this CPU: the kernel does not pass it to the hook's handler. */
struct entering {
	const struct ct_row *row;
	bool hooked;
};
static DEFINE_PER_CPU(struct entering *, entering);

/*
 * True while a return is counted, in this context of this CPU.  Counting may call probed functions,
 * whose returns would be counted too, and so on without end.
 */
static DEFINE_PER_CPU(bool[4], counting);

static struct ct_row *multi_handlers_find(const struct ct_table *t, unsigned long address)
{
	u32 low = 0, high = t ? t->count : 0, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (t->row[middle].address == address)
			return (struct ct_row *)&t->row[middle];
		if (t->row[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
NOKPROBE_SYMBOL(multi_handlers_find);

/* A function is entered.  Preemption is disabled; an interrupt may enter here as well. */
static void multi_handlers_enter(struct ct_multi_probe *m, const struct ct_row *row,
				 struct pt_regs *regs)
{
	struct ct_kprobe *slot = READ_ONCE(row->slot);
	struct entering now = { .row = row }, *outer;
	u64 begin;

	if (!slot || !ct_cpu_writing())
		return;
	begin = ct_count_time_begins(slot->count);
	outer = this_cpu_read(entering);
	this_cpu_write(entering, &now);
	m->hook.kp.pre_handler(&m->hook.kp, regs);
	this_cpu_write(entering, outer);
	if (!now.hooked)
		this_cpu_inc(slot->count->missed);
	else if (begin)
		this_cpu_add(slot->count->cost, ct_clock_ns() - begin);
}
NOKPROBE_SYMBOL(multi_handlers_enter);

#ifdef CT_FTRACE_SITES
static void notrace multi_handlers_on_site(unsigned long ip, unsigned long parent,
					   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ct_multi_probe *m = container_of(ops, struct ct_multi_probe, ops);
	struct pt_regs *regs = ftrace_get_regs(fregs);
	const struct ct_row *row;

	preempt_disable_notrace();
	if (!this_cpu_read(counting[ct_context_level()])) {
		row = multi_handlers_find(rcu_dereference_sched(m->table), ip);
		if (row && regs)
			multi_handlers_enter(m, row, regs);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(multi_handlers_on_site);

void ct_multi_probe_set_ops(struct ct_multi_probe *m)
{
	m->ops = (struct ftrace_ops){
		.func = multi_handlers_on_site,
		/*
		 * All registers; ftrace must not call us inside ourselves, nor where RCU does not
		 * watch (an idle CPU), because the table is freed by RCU.
		 */
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
	};
}
#endif

/* The kernel does not call this inside the handler of another probe. */
static int multi_handlers_on_plain(struct kprobe *kp, struct pt_regs *regs)
{
	struct ct_plain *p = container_of(kp, struct ct_plain, kp);

	multi_handlers_enter(p->multi, &p->row, regs);
	return 0;
}
NOKPROBE_SYMBOL(multi_handlers_on_plain);

/* Only so that the kernel does not replace the breakpoint by a jump: see multi_probe.c. */
static void multi_handlers_after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(multi_handlers_after);

/* The kernel has an instance for this call.  Returns 0: hook the return. */
static int multi_handlers_on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct entering *e = this_cpu_read(entering);
	struct call *c = (void *)ri->data;

	e->hooked = true;
	c->address = e->row->address;
	c->begin = ct_clock_ns();
	return 0;
}
NOKPROBE_SYMBOL(multi_handlers_on_entry);

static int multi_handlers_on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *hook = ct_kretprobe_of(ri);
	struct call *c = (void *)ri->data;
	struct ct_kprobe *slot;
	const struct ct_row *row;
	struct ct_multi_probe *m;
	u64 now;

	if (!hook)
		return 0;
	m = container_of(hook, struct ct_multi_probe, hook);
	preempt_disable_notrace();
	this_cpu_write(counting[ct_context_level()], true);
	/* Searched again: the probe that was found at entry may have been removed since. */
	row = multi_handlers_find(rcu_dereference_sched(m->table), c->address);
	slot = row ? READ_ONCE(row->slot) : NULL;
	if (slot) {
		now = ct_clock_ns();
		this_cpu_add(slot->count->time, now - c->begin);
		if (ct_count_time_begins(slot->count)) {
			this_cpu_add(slot->count->cost, ct_clock_ns() - now);
			this_cpu_inc(slot->count->timed);
		}
		this_cpu_inc(slot->count->hits);
	}
	this_cpu_write(counting[ct_context_level()], false);
	preempt_enable_notrace();
	return 0;
}
NOKPROBE_SYMBOL(multi_handlers_on_return);

/* No code of ours runs here: it is an address for the hook, which is never armed. */
static noinline __used void multi_handlers_place(void)
{
	barrier();
}

void ct_multi_probe_set_hook(struct ct_multi_probe *m)
{
	m->hook.kp.addr = (void *)multi_handlers_place;
	m->hook.kp.flags = KPROBE_FLAG_DISABLED;
	m->hook.entry_handler = multi_handlers_on_entry;
	m->hook.handler = multi_handlers_on_return;
	m->hook.data_size = sizeof(struct call);
	/* Calls of all these functions that can be open at once; a constant: see probe.c. */
	m->hook.maxactive = 4096;
}

void ct_multi_probe_set_plain(struct ct_plain *p)
{
	p->kp.addr = (void *)p->row.address;
	p->kp.pre_handler = multi_handlers_on_plain;
	p->kp.post_handler = multi_handlers_after;
}
