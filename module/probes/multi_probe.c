// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of functions at once, each only counted.
 *
 * A kretprobe for each would make ftrace look at every site of the kernel when it is
 * armed, and again when it is disarmed; and each would have hooks of its own for the
 * returns.  So an owner (a file) has one of everything:
 *
 *   - one ftrace_ops on all functions with an ftrace site, armed and disarmed in one
 *     pass; in batches, it is extended;
 *   - a plain kprobe on each of the others (the driver's prebuilt core), disarmed
 *     together with one wait.  It asks to be called behind the instruction, too,
 *     because the kernel makes no jump of such a one: those made 6.12 oops, and while
 *     some are made nobody can register another, for an RCU grace period each time;
 *   - one kretprobe that is never armed.  Both of the above call its handler, which
 *     hooks the return of the function that was entered: the kernel offers modules no
 *     other way to its return hooks (fprobe is not in Debian's 6.1).
 *
 * The functions stand in one table, by address, which is replaced as a whole when
 * some come.  When one goes its row loses its slot; whoever found the slot before is
 * done after an RCU grace period.
 */
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include "base/clock.h"
#include "probes/quirk.h"
#include "probes/multi_probe.h"
#include "probes/multi_probe_find.h"
#include "probes/probe.h"
#include "core/session.h"

/* What one owner has armed. */
struct ct_multi_probe {
	struct list_head list;
	const void *owner;
	struct kretprobe hook;		/* never armed: see above */
	struct ftrace_ops ops;
	u32 sites;			/* functions that ops is on */
	struct ct_table __rcu *table;
};

/* A function without a site. */
struct ct_plain {
	struct kprobe kp;
	struct ct_multi_probe *multi;
	struct ct_row row;
	struct ct_plain *next;		/* of the same slot */
};

/* All registers; and ftrace is to keep us from being called inside ourselves. */
#define OPS_FLAGS	(FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION)

static LIST_HEAD(all);		/* under ct_session_lock */

/* ------------------------------------------------------------ handlers ----- */

/* Between the entry and the return of one call. */
struct call {
	u64 begin;
	unsigned long address;
};

/* The call that is being entered on this CPU, which the hook's handler is not told. */
struct entering {
	const struct ct_row *row;
	bool hooked;
};
static DEFINE_PER_CPU(struct entering *, entering);

/*
 * A return is counted, in this context of this CPU: the return of what is called
 * meanwhile would be counted too, and so on.
 */
static DEFINE_PER_CPU(bool [4], counting);

static struct ct_row *multi_find(const struct ct_table *t, unsigned long address)
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
NOKPROBE_SYMBOL(multi_find);

/* The handlers' own time, of one in 64 hits; 0: not of this one. */
static u64 multi_time_begins(const struct ct_kprobe *slot)
{
	return this_cpu_read(slot->count->hits) & 63 ? 0 : ct_clock_ns();
}
NOKPROBE_SYMBOL(multi_time_begins);

/* A function is entered.  Preemption is disabled; what interrupts us may come here, too. */
static void multi_enter(struct ct_multi_probe *m, const struct ct_row *row, struct pt_regs *regs)
{
	struct ct_kprobe *slot = READ_ONCE(row->slot);
	struct entering now = { .row = row }, *outer;
	u64 begin;

	if (!slot || !ct_cpu_writing())
		return;
	begin = multi_time_begins(slot);
	outer = this_cpu_read(entering);
	this_cpu_write(entering, &now);
	m->hook.kp.pre_handler(&m->hook.kp, regs);
	this_cpu_write(entering, outer);
	if (!now.hooked)
		this_cpu_inc(slot->count->missed);
	else if (begin)
		this_cpu_add(slot->count->cost, ct_clock_ns() - begin);
}
NOKPROBE_SYMBOL(multi_enter);

static void notrace multi_on_site(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	struct ct_multi_probe *m = container_of(ops, struct ct_multi_probe, ops);
	struct pt_regs *regs = ftrace_get_regs(fregs);
	const struct ct_row *row;

	preempt_disable_notrace();
	if (!this_cpu_read(counting[interrupt_context_level()])) {
		row = multi_find(rcu_dereference_sched(m->table), ip);
		if (row && regs)
			multi_enter(m, row, regs);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(multi_on_site);

/* The kernel does not call it inside another probe's handler. */
static int multi_on_plain(struct kprobe *kp, struct pt_regs *regs)
{
	struct ct_plain *p = container_of(kp, struct ct_plain, kp);

	multi_enter(p->multi, &p->row, regs);
	return 0;
}
NOKPROBE_SYMBOL(multi_on_plain);

static void multi_behind(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(multi_behind);

/* The hook has room for this call; 0: hook the return. */
static int multi_on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct entering *e = this_cpu_read(entering);
	struct call *c = (void *)ri->data;

	e->hooked = true;
	c->address = e->row->address;
	c->begin = ct_clock_ns();
	return 0;
}
NOKPROBE_SYMBOL(multi_on_entry);

static int multi_on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *hook = get_kretprobe(ri);
	struct call *c = (void *)ri->data;
	struct ct_kprobe *slot;
	const struct ct_row *row;
	struct ct_multi_probe *m;
	u64 now;

	if (!hook)
		return 0;
	m = container_of(hook, struct ct_multi_probe, hook);
	preempt_disable_notrace();
	this_cpu_write(counting[interrupt_context_level()], true);
	/* Not by what was found at entry: it may have been removed since. */
	row = multi_find(rcu_dereference_sched(m->table), c->address);
	slot = row ? READ_ONCE(row->slot) : NULL;
	if (slot) {
		now = ct_clock_ns();
		this_cpu_add(slot->count->time, now - c->begin);
		if (multi_time_begins(slot)) {
			this_cpu_add(slot->count->cost, ct_clock_ns() - now);
			this_cpu_inc(slot->count->timed);
		}
		this_cpu_inc(slot->count->hits);
	}
	this_cpu_write(counting[interrupt_context_level()], false);
	preempt_enable_notrace();
	return 0;
}
NOKPROBE_SYMBOL(multi_on_return);

/* ----------------------------------------------------------------- arm ----- */

static int multi_by_address(const void *a, const void *b)
{
	const struct ct_row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int multi_by_name(const void *a, const void *b)
{
	const struct ct_row *x = a, *y = b;
	int d = strcmp(x->slot->desc->module, y->slot->desc->module);

	return d ? d : strcmp(ct_row_name(x), ct_row_name(y));
}

/* Nothing of ours runs here: a place for the hook, which is never armed. */
static noinline __used void multi_place(void)
{
	barrier();
}

/* ftrace frees the filter, and leaves the pointer to it. */
static void multi_ops_reset(struct ct_multi_probe *m)
{
	ftrace_free_filter(&m->ops);
	m->ops = (struct ftrace_ops){ .func = multi_on_site, .flags = OPS_FLAGS };
}

static struct ct_multi_probe *multi_of(const void *owner)
{
	struct ct_multi_probe *m;
	int err;

	list_for_each_entry(m, &all, list)
		if (m->owner == owner)
			return m;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->owner = owner;
	m->hook.kp.addr = (void *)multi_place;
	m->hook.kp.flags = KPROBE_FLAG_DISABLED;
	m->hook.entry_handler = multi_on_entry;
	m->hook.handler = multi_on_return;
	m->hook.data_size = sizeof(struct call);
	/* Calls of all these functions that are open at once. */
	m->hook.maxactive = max(4096u, 64 * num_possible_cpus());
	err = register_kretprobe(&m->hook);
	if (err) {
		kfree(m);
		return ERR_PTR(err);
	}
	m->ops = (struct ftrace_ops){ .func = multi_on_site, .flags = OPS_FLAGS };
	list_add(&m->list, &all);
	return m;
}

/* Nothing is armed any more. */
static void multi_free(struct ct_multi_probe *m)
{
	struct ct_table *t = rcu_dereference_protected(m->table, true);

	/* Of calls that are open the return is not counted. */
	unregister_kretprobe(&m->hook);
	list_del(&m->list);
	kvfree(t);
	kfree(m);
}

static struct ct_table *multi_table_of(struct ct_multi_probe *m)
{
	return rcu_dereference_protected(m->table, lockdep_is_held(&ct_session_lock));
}

/* It could not be armed; another of its name may be. */
static void multi_refuse(struct ct_row *row, int err)
{
	if (!row->slot->multi) {
		row->slot->state[0] = err == -ENOENT ? CT_PROBE_ABSENT : CT_PROBE_FAILED;
		row->slot->error[0] = err;
	}
	WRITE_ONCE(row->slot, NULL);
}

static int multi_arm_plain(struct ct_multi_probe *m, struct ct_row *row)
{
	struct ct_plain *p;
	int err;

	err = ct_quirk_check(row->slot->desc->module, ct_row_name(row));
	if (err)
		return err;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->multi = m;
	p->row = *row;
	p->kp.addr = (void *)row->address;
	p->kp.pre_handler = multi_on_plain;
	p->kp.post_handler = multi_behind;
	err = register_kprobe(&p->kp);
	if (err) {
		kfree(p);
		return err;
	}
	row->plain = p;
	p->next = row->slot->plain;
	row->slot->plain = p;
	return 0;
}

/* Those with a site at once, which takes all or none; then the others. */
static void multi_arm_rows(struct ct_multi_probe *m, struct ct_table *t)
{
	struct ct_row *row;
	int err = 0, refused;
	u32 n = 0;

	for (row = t->row; row < t->row + t->count; row++)
		if (row->site && !row->armed)
			t->site[n++] = row->address;
	if (n)
		err = ftrace_set_filter_ips(&m->ops, t->site, n, 0, 0);
	if (n && !err && !m->sites) {
		err = register_ftrace_function(&m->ops);
		if (err)
			multi_ops_reset(m);
	}
	if (!err)
		m->sites += n;
	for (row = t->row; row < t->row + t->count; row++) {
		if (row->armed)
			continue;
		refused = row->site ? err : multi_arm_plain(m, row);
		if (refused) {
			multi_refuse(row, refused);
			continue;
		}
		row->armed = true;
		row->slot->multi = m;
		row->slot->state[0] = CT_PROBE_ARMED;
		row->slot->error[0] = 0;
		cond_resched();
	}
}

/* A table of what is armed, with room for more. */
static struct ct_table *multi_table_new(struct ct_multi_probe *m, u32 more)
{
	struct ct_table *old = multi_table_of(m), *t;
	size_t room = (old ? old->count : 0) + more;
	u32 i;

	t = kvzalloc(struct_size(t, row, room) +
		     room * (sizeof(*t->site) + sizeof(*t->plain) + sizeof(*t->gone)), GFP_KERNEL);
	if (!t)
		return NULL;
	t->room = room;
	t->site = (void *)&t->row[room];
	t->plain = (void *)&t->site[room];
	t->gone = (void *)&t->plain[room];
	for (i = 0; old && i < old->count; i++)
		if (old->row[i].slot)
			t->row[t->count++] = old->row[i];
	return t;
}

/* Of several names of one function the first stays, or that which is armed. */
static void multi_drop_aliases(struct ct_table *t)
{
	struct ct_row *last = NULL, *row;
	u32 i, n = 0;

	sort(t->row, t->count, sizeof(*t->row), multi_by_address, NULL);
	for (i = 0; i < t->count; i++) {
		row = &t->row[i];
		if (!last || last->address != row->address) {
			last = &t->row[n++];
			*last = *row;
		} else if (row->armed) {
			multi_refuse(last, -EEXIST);
			*last = *row;
		} else {
			multi_refuse(row, -EEXIST);
		}
	}
	t->count = n;
}

/* name: one row for each that waits. */
static int multi_arm(struct ct_multi_probe *m, struct ct_row *name, u32 count)
{
	struct ct_table *old = multi_table_of(m), *t;
	u32 armed, i;
	int err;

	sort(name, count, sizeof(*name), multi_by_name, NULL);
	t = multi_table_new(m, ct_find_functions(name, count, NULL));
	if (!t)
		return -ENOMEM;
	armed = t->count;
	ct_find_functions(name, count, t);
	err = ct_find_sites(t->row + armed, t->count - armed);
	if (err) {
		kvfree(t);
		return err;
	}
	for (i = 0; i < count; i++)
		if (!name[i].address)
			multi_refuse(&name[i], -ENOENT);
	multi_drop_aliases(t);
	/* Handlers run as soon as there is one. */
	rcu_assign_pointer(m->table, t);
	if (old)
		kvfree_rcu(old, rcu);
	multi_arm_rows(m, t);
	return 0;
}

int ct_multi_probe_arm(const void *owner)
{
	struct ct_row *name = NULL;
	struct ct_kprobe *p;
	unsigned long id = 0;
	struct ct_multi_probe *m;
	u32 waiting = 0, n = 0;
	int err = 0;

	mutex_lock(&ct_session_lock);
	if (!ct_probe_arming(CT_GROUP_ADDED))
		err = -ENODATA;
	while (!err && (p = ct_probe_next(&id)))
		waiting += ct_probe_waits(p, owner);
	if (!waiting)
		goto out;
	name = kvcalloc(waiting, sizeof(*name), GFP_KERNEL);
	m = name ? multi_of(owner) : ERR_PTR(-ENOMEM);
	if (IS_ERR(m)) {
		err = PTR_ERR(m);
		goto out;
	}
	id = 0;
	while (n < waiting && (p = ct_probe_next(&id)))
		if (ct_probe_waits(p, owner))
			name[n++].slot = p;
	err = multi_arm(m, name, n);
out:
	mutex_unlock(&ct_session_lock);
	kvfree(name);
	return err;
}

/* -------------------------------------------------------------- disarm ----- */

static void multi_take_off_sites(struct ct_multi_probe *m, const struct ct_table *t, u32 count)
{
	u32 i;

	m->sites -= count;
	/* No filter would be all functions. */
	if (!m->sites) {
		unregister_ftrace_function(&m->ops);
		multi_ops_reset(m);
	} else if (ftrace_set_filter_ips(&m->ops, t->site, count, 1, 0)) {
		/* All or none: what can go goes. */
		for (i = 0; i < count; i++)
			ftrace_set_filter_ip(&m->ops, t->site[i], 1, 0);
	}
}

/* Its handlers are done. */
static void multi_disarmed(struct ct_kprobe *p)
{
	struct ct_plain *plain;

	while ((plain = p->plain)) {
		p->missed += plain->kp.nmissed;
		p->plain = plain->next;
		kfree(plain);
	}
	p->multi = NULL;
	p->state[0] = CT_PROBE_IDLE;
}

/* Those of this module (NULL: any), or this one alone.  m may be gone then. */
static void multi_disarm(struct ct_multi_probe *m, const char *module, const struct ct_kprobe *one)
{
	struct ct_table *t = multi_table_of(m);
	u32 sites = 0, plains = 0, gone = 0, i;
	struct ct_kprobe *p;
	bool stays = false;

	for (i = 0; t && i < t->count; i++) {
		p = t->row[i].slot;
		if (!p)
			continue;
		if (one ? p != one : module && strcmp(p->desc->module, module)) {
			stays = true;
			continue;
		}
		if (t->row[i].plain)
			t->plain[plains++] = &t->row[i].plain->kp;
		else
			t->site[sites++] = t->row[i].address;
		t->gone[gone++] = p;
		WRITE_ONCE(t->row[i].slot, NULL);
	}
	if (sites)
		multi_take_off_sites(m, t, sites);
	if (plains)
		unregister_kprobes(t->plain, plains);
	/* Returns that found a slot before its row lost it. */
	if (gone)
		synchronize_rcu();
	for (i = 0; i < gone; i++)
		multi_disarmed(t->gone[i]);
	if (!stays)
		multi_free(m);
}

void ct_multi_probe_disarm(const char *module, const void *owner)
{
	struct ct_multi_probe *m, *next;

	list_for_each_entry_safe(m, next, &all, list)
		if (!owner || m->owner == owner)
			multi_disarm(m, module, NULL);
}

void ct_multi_probe_drop(struct ct_kprobe *p)
{
	if (p->multi)
		multi_disarm(p->multi, NULL, p);
}

u64 ct_multi_probe_missed(const struct ct_kprobe *p)
{
	const struct ct_plain *plain;
	u64 missed = 0;

	for (plain = p->plain; plain; plain = plain->next)
		missed += plain->kp.nmissed;
	return missed;
}
