// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the calls of thousands of functions at once.
 *
 * Each call of ct_counter_add() makes one counter.  Its functions with an ftrace site have one
 * ftrace_ops, which is armed in one pass over the kernel's sites; each other function (of the
 * driver's prebuilt core) has a kprobe.  A counter lives until its file is closed, and its
 * functions do not move, so the handlers take no lock.
 *
 * The functions of this module are refused, and breakpoints where the kernel takes no kprobe.
 * Functions with a site are not asked for that: ftrace keeps its functions from recursion, and no
 * return is hooked.  The kernel's own function tracer is on all of them, too.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include "probes/counter.h"
#include "probes/quirk.h"
#include "nvidia/driver.h"
#include "core/session.h"
#include "core/source.h"
#include "base/compat.h"

struct counter_row {
	struct kprobe kp; /* registered as long as armed, unless the function has a site */
	u64 __percpu *calls;
	s32 error; /* 0: it is counted */
	bool site, armed;
};

struct counter {
	struct list_head list;
	const void *owner;
	u32 first, count, sites;
	u32 filtered; /* sites that ops is called for */
	u64 __percpu *calls; /* [count] */
	struct kprobe **list_of; /* space to sort, and to unregister together */
	struct counter_row **site; /* by address */
#ifdef CT_FTRACE_REGS
	struct ftrace_ops ops;
#endif
	struct counter_row row[]; /* in the order of the user */
};

static LIST_HEAD(counters); /* under ct_session_lock; those of an owner in the order of first */
static bool counting; /* likewise: the running session has CT_GROUP_ADDED */
static atomic_t counter_adds; /* counters that exist or are being made */

#define counter_row_of(probe)	container_of(probe, struct counter_row, kp)

/* ----------------------------------------------------------- handlers ------ */

/* In the context of the function, in a breakpoint's handler or called by ftrace. */
static __always_inline void counter_hit(const struct counter_row *row)
{
	if (ct_cpu_writing() && !READ_ONCE(row->error))
		this_cpu_inc(*row->calls);
}

/* The kernel does not call this inside the handler of another probe. */
static int counter_on_breakpoint(struct kprobe *kp, struct pt_regs *regs)
{
	counter_hit(counter_row_of(kp));
	return 0;
}

/*
 * Only so that the kernel does not replace the breakpoint by a jump: while it makes some, no other
 * kprobe can be registered, for an RCU grace period each time (docs/upstream.md).
 */
static void counter_after_breakpoint(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

NOKPROBE_SYMBOL(counter_on_breakpoint);
NOKPROBE_SYMBOL(counter_after_breakpoint);

#ifdef CT_FTRACE_REGS
/* ftrace does not call this inside itself, and waits for it before the counter is freed. */
static void notrace counter_on_site(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				    CT_FTRACE_REGS *regs)
{
	const struct counter *c = container_of(ops, struct counter, ops);
	u32 low = 0, high = c->sites, middle;
	unsigned long address;

	/* The last one that begins at ip or below: a site may lie behind the first instruction. */
	while (low < high) {
		middle = (low + high) / 2;
		address = (unsigned long)c->site[middle]->kp.addr;
		if (address <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		counter_hit(c->site[low - 1]);
}

NOKPROBE_SYMBOL(counter_on_site);

/*
 * Takes those of count functions that have an ftrace site.  ftrace takes all of a list or none, so
 * a list with some of both kinds is halved.
 */
static void counter_take_sites(struct counter *c, struct kprobe **list, unsigned long *ip,
			       u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		ip[i] = (unsigned long)list[i]->addr;
	cond_resched();
	if (!ct_ftrace_filter(&c->ops, ip, count)) {
		for (i = 0; i < count; i++) {
			counter_row_of(list[i])->site = true;
			c->site[c->sites++] = counter_row_of(list[i]);
		}
	} else if (count > 1) {
		counter_take_sites(c, list, ip, count / 2);
		counter_take_sites(c, list + count / 2, ip, count - count / 2);
	}
}

/* An empty filter would mean all functions.  Not all kernels export ftrace_free_filter(). */
static void counter_free_filter(struct counter *c)
{
	ftrace_set_filter(&c->ops, NULL, 0, 1);
}

/* Of a list that is sorted by address. */
static int counter_arm_sites(struct counter *c, u32 count)
{
	unsigned long *ip = kvcalloc(count, sizeof(*ip), GFP_KERNEL);
	int err;

	if (!ip)
		return -ENOMEM;
	c->ops.func = counter_on_site;
	c->ops.flags = CT_FTRACE_RECURSION;
	counter_take_sites(c, c->list_of, ip, count);
	kvfree(ip);
	c->filtered = c->sites;
	err = c->sites ? register_ftrace_function(&c->ops) : 0;
	if (err)
		counter_free_filter(c);
	return err;
}

static void counter_disarm_sites(struct counter *c)
{
	unregister_ftrace_function(&c->ops);
	counter_free_filter(c);
}

/* If ftrace has no memory for that, or it is the last one, the handler is called in vain. */
static void counter_stop_site(struct counter *c, const struct counter_row *row)
{
	if (c->filtered > 1 && !ftrace_set_filter_ip(&c->ops, (unsigned long)row->kp.addr, 1, 0))
		c->filtered--;
}
#else
static int counter_arm_sites(struct counter *c, u32 count)
{
	return 0;
}

static void counter_disarm_sites(struct counter *c)
{
}

static void counter_stop_site(struct counter *c, const struct counter_row *row)
{
}
#endif

/* ------------------------------------------------- arming, disarming ------- */

static int counter_by_address(const void *a, const void *b)
{
	const struct kprobe *x = *(struct kprobe **)a, *y = *(struct kprobe **)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int counter_arm_breakpoint(struct counter_row *row)
{
	int err = signal_pending(current) ? -EINTR : ct_quirk_check((unsigned long)row->kp.addr);

	if (err)
		return err;
	row->kp.pre_handler = counter_on_breakpoint;
	row->kp.post_handler = counter_after_breakpoint;
	err = register_kprobe(&row->kp);
	/* The kernel has several errors for "may not be probed"; users get one. */
	return !err || err == -ENOMEM ? err : -EINVAL;
}

static void counter_arm(struct counter *c)
{
	struct counter_row *row;
	u32 i, all, n = 0;
	int err;

	for (row = c->row; row < c->row + c->count; row++) {
		if (within_module((unsigned long)row->kp.addr, THIS_MODULE))
			row->error = -EPERM;
		if (!row->error)
			c->list_of[n++] = &row->kp;
	}
	sort(c->list_of, n, sizeof(*c->list_of), counter_by_address, NULL);
	for (i = 0, all = n, n = 0; i < all; i++) {
		if (n && c->list_of[i]->addr == c->list_of[n - 1]->addr)
			counter_row_of(c->list_of[i])->error = -EEXIST;
		else
			c->list_of[n++] = c->list_of[i];
	}
	err = n ? counter_arm_sites(c, n) : 0;
	for (i = 0; i < n; i++) {
		row = counter_row_of(c->list_of[i]);
		row->error = row->site || err ? err : counter_arm_breakpoint(row);
		row->armed = !row->error;
		cond_resched();
	}
	if (err)
		c->sites = 0;
}

/* No handler of it runs any more; its counts stay. */
static void counter_disarm(struct counter *c)
{
	struct counter_row *row;
	u32 gone = 0;

	if (c->sites)
		counter_disarm_sites(c);
	c->sites = 0;
	for (row = c->row; row < c->row + c->count; row++) {
		if (row->armed && !row->site)
			c->list_of[gone++] = &row->kp;
		row->error = row->error ? : -ECANCELED;
		row->armed = false;
	}
	unregister_kprobes(c->list_of, gone);
}

/* It is not armed. */
static void counter_free(struct counter *c)
{
	free_percpu(c->calls);
	kvfree(c->list_of);
	kvfree(c->site);
	kvfree(c);
	atomic_dec(&counter_adds);
}

/* ------------------------------------------------------------- ioctls ------ */

/* Is it in its module?  The addresses of what has been freed may be another module's by now. */
static int counter_check(struct ct_count_function *f)
{
	struct module *mod;
	bool in;

	f->module[sizeof(f->module) - 1] = '\0';
	if (!*f->module)
		return 0;
	mod = ct_driver_get(f->module);
	in = mod && within_module_core(f->address, mod);
	if (mod)
		ct_driver_put(mod);
	return in ? 0 : -ENOENT;
}

static struct counter *counter_new(const struct ct_count_function __user *function, u32 count)
{
	struct counter *c = kvzalloc(struct_size(c, row, count), GFP_KERNEL);
	struct ct_count_function at;
	u32 i;

	if (!c)
		return ERR_PTR(-ENOMEM);
	atomic_inc(&counter_adds);
	c->count = count;
	c->list_of = kvcalloc(count, sizeof(*c->list_of), GFP_KERNEL);
	c->site = kvcalloc(count, sizeof(*c->site), GFP_KERNEL);
	c->calls = __alloc_percpu(count * sizeof(*c->calls), sizeof(*c->calls));
	if (!c->list_of || !c->site || !c->calls) {
		counter_free(c);
		return ERR_PTR(-ENOMEM);
	}
	for (i = 0; i < count; i++) {
		if (copy_from_user(&at, function + i, sizeof(at))) {
			counter_free(c);
			return ERR_PTR(-EFAULT);
		}
		c->row[i].kp.addr = (void *)(unsigned long)at.address;
		c->row[i].error = counter_check(&at);
		c->row[i].calls = c->calls + i;
	}
	return c;
}

/* Of this owner, the counter of function number, or NULL. */
static struct counter *counter_at(const void *owner, u32 number)
{
	struct counter *c;

	list_for_each_entry(c, &counters, list)
		if (c->owner == owner && number - c->first < c->count)
			return c;
	return NULL;
}

static int counter_add(const void *owner, struct counter *c)
{
	struct counter *other;
	u32 many = 0;

	if (!counting)
		return -ENODATA;
	list_for_each_entry(other, &counters, list) {
		if (other->owner != owner)
			continue;
		c->first = other->first + other->count;
		if (++many == CT_COUNT_ADDS_MAX)
			return -ENOSPC;
	}
	c->owner = owner;
	list_add_tail(&c->list, &counters);
	counter_arm(c);
	return 0;
}

int ct_counter_add(const void *owner, struct ct_count_add *arg)
{
	struct counter *c;
	int err;

	if (!arg->count || arg->count > CT_COUNT_MAX)
		return -EINVAL;
	c = counter_new(u64_to_user_ptr(arg->functions), arg->count);
	if (IS_ERR(c))
		return PTR_ERR(c);
	err = mutex_lock_killable(&ct_session_lock);
	if (!err) {
		err = counter_add(owner, c);
		mutex_unlock(&ct_session_lock);
	}
	if (err)
		counter_free(c);
	else
		arg->first = c->first;
	return err;
}

static void counter_stop(struct counter *c, struct counter_row *row)
{
	if (row->error)
		return;
	row->error = -ECANCELED;
	if (row->site)
		counter_stop_site(c, row);
	else
		disable_kprobe(&row->kp);
}

int ct_counter_read(const void *owner, struct ct_count_read *arg)
{
	struct ct_function_count *to;
	struct counter_row *row;
	struct counter *c;
	u32 i, n = 0;
	int cpu;

	if (!arg->count || arg->count > CT_COUNT_MAX || arg->flags & ~CT_COUNT_STOP)
		return -EINVAL;
	to = kvcalloc(arg->count, sizeof(*to), GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	if (mutex_lock_killable(&ct_session_lock)) {
		kvfree(to);
		return -EINTR;
	}
	c = counter_at(owner, arg->first);
	if (c)
		n = min(arg->count, c->first + c->count - arg->first);
	for (i = 0; i < n; i++) {
		row = &c->row[arg->first - c->first + i];
		if (arg->flags & CT_COUNT_STOP)
			counter_stop(c, row);
		to[i].error = row->error;
		to[i].missed = row->kp.nmissed;
		to[i].site = row->site;
		for_each_possible_cpu(cpu)
			to[i].calls += *per_cpu_ptr(row->calls, cpu);
	}
	mutex_unlock(&ct_session_lock);
	arg->count = n;
	if (copy_to_user(u64_to_user_ptr(arg->counts), to, n * sizeof(*to)))
		n = U32_MAX;
	kvfree(to);
	return n == U32_MAX ? -EFAULT : n ? 0 : -ENOENT;
}

void ct_counter_closed(const void *owner)
{
	struct counter *c, *next;

	mutex_lock(&ct_session_lock);
	list_for_each_entry_safe(c, next, &counters, list) {
		if (c->owner != owner)
			continue;
		counter_disarm(c);
		list_del(&c->list);
		counter_free(c);
	}
	mutex_unlock(&ct_session_lock);
}

/* ----------------------------------------------- sessions, modules --------- */

static void counter_session_starts(struct ct_source *source, u64 groups)
{
	counting = groups & BIT_ULL(CT_GROUP_ADDED);
}

static void counter_session_ends(struct ct_source *source)
{
	struct counter *c;

	counting = false;
	list_for_each_entry(c, &counters, list)
		counter_disarm(c);
}

/* Functions that are counted are no rows of CT_IOC_GET_PROBE. */
static u32 counter_rows(struct ct_source *source)
{
	return 0;
}

static struct ct_source counter_source = {
	.arm = counter_session_starts,
	.disarm = counter_session_ends,
	.count = counter_rows,
};

/*
 * A module goes.  The kernel takes probes off its functions by itself, and refused new ones before
 * this is called.  Another module may get its addresses: no call of that may count.
 */
static int counter_module_changed(struct notifier_block *nb, unsigned long what, void *data)
{
	struct counter *c;
	u32 i;

	if (what != MODULE_STATE_GOING || !atomic_read(&counter_adds))
		return NOTIFY_DONE;
	mutex_lock(&ct_session_lock);
	list_for_each_entry(c, &counters, list)
		for (i = 0; i < c->count; i++)
			if (!c->row[i].error &&
			    within_module((unsigned long)c->row[i].kp.addr, data))
				c->row[i].error = -ENODEV;
	mutex_unlock(&ct_session_lock);
	return NOTIFY_DONE;
}

static struct notifier_block counter_notifier = { .notifier_call = counter_module_changed };

int ct_counter_init(void)
{
	int err = register_module_notifier(&counter_notifier);

	if (!err)
		ct_source_register(&counter_source);
	return err;
}

void ct_counter_exit(void)
{
	ct_source_unregister(&counter_source);
	unregister_module_notifier(&counter_notifier);
}
