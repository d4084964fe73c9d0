// SPDX-License-Identifier: GPL-2.0
/*
 * Multi-probe: thousands of functions at once, each only counted.
 *
 * With one kretprobe for each function, ftrace would walk over every site of the kernel when it is
 * armed, and again when it is disarmed; and each would have its own instances for the returns.  So
 * an owner (an open file) has:
 *
 *   - one ftrace_ops for all functions with an ftrace site.  It is armed and disarmed in one pass,
 *     and extended for each batch;
 *   - one plain kprobe for each function without a site (the driver's prebuilt core).  They are
 *     disarmed together, with one wait.  Each has a post_handler, because the kernel does not
 *     replace the breakpoint of such a kprobe by a jump: while it makes some, no other kprobe can
 *     be registered, for an RCU grace period each time (docs/upstream.md).
 *     Where ftrace cannot be used so (CT_FTRACE_SITES) every function has one;
 *   - one kretprobe that is never armed.  Both of the above call its handler, which hooks the
 *     return of the function that was entered.  The kernel offers modules no other way to its
 *     return hooks (fprobe is not in Debian's 6.1).
 *
 * The functions stand in one table, by address.  The table is replaced as a whole when functions
 * are added.  When a function is removed, its row loses its probe; after an RCU grace period no
 * handler uses the probe that it found there before.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include "probes/multi_probe.h"
#include "probes/multi_probe_find.h"
#include "probes/multi_probe_handlers.h"
#include "probes/multi_probe_sites.h"
#include "probes/probe.h"
#include "probes/quirk.h"
#include "core/session.h"
#include "base/compat.h"

static LIST_HEAD(all);		/* under ct_session_lock */

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
	ct_multi_probe_set_hook(m);
	err = register_kretprobe(&m->hook);
	if (err) {
		kfree(m);
		return ERR_PTR(err);
	}
	ct_multi_probe_sites_init(m);
	list_add(&m->list, &all);
	return m;
}

/* Nothing of m is armed. */
static void multi_free(struct ct_multi_probe *m)
{
	struct ct_table *t = rcu_dereference_protected(m->table, true);

	/* The returns of calls that are open now are not counted. */
	unregister_kretprobe(&m->hook);
	list_del(&m->list);
	kvfree(t);
	kfree(m);
}

static struct ct_table *multi_table_of(struct ct_multi_probe *m)
{
	return rcu_dereference_protected(m->table, lockdep_is_held(&ct_session_lock));
}

/* This function cannot be armed; another one of the same name may be armed. */
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
	ct_multi_probe_set_plain(p);
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

/* First all functions with a site, of which ftrace takes all or none; then the others. */
static void multi_arm_rows(struct ct_multi_probe *m, struct ct_table *t)
{
	struct ct_row *row;
	int err, refused;
	u32 n = 0;

	for (row = t->row; row < t->row + t->count; row++)
		if (row->site && !row->armed)
			t->site[n++] = row->address;
	err = ct_multi_probe_sites_arm(m, t->site, n);
	for (row = t->row; row < t->row + t->count; row++) {
		if (row->armed)
			continue;
		refused = row->site ? err : fatal_signal_pending(current) ? -EINTR :
					    multi_arm_plain(m, row);
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

/* A table of what is armed, with room for so many more. */
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

/* Of several names of one function, the one that is armed stays, else the first. */
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

/* name: one row for each probe that waits. */
static int multi_arm(struct ct_multi_probe *m, struct ct_row *name, u32 count)
{
	struct ct_table *old = multi_table_of(m), *t;
	u32 armed, i;
	int err;

	sort(name, count, sizeof(*name), multi_by_name, NULL);
	t = multi_table_new(m, ct_multi_probe_find(name, count, NULL));
	if (!t)
		return -ENOMEM;
	armed = t->count;
	ct_multi_probe_find(name, count, t);
	err = ct_multi_probe_sites_find(t->row + armed, t->count - armed);
	if (err) {
		kvfree(t);
		return err;
	}
	for (i = 0; i < count; i++)
		if (!name[i].address)
			multi_refuse(&name[i], -ENOENT);
	multi_drop_aliases(t);
	/* Before arming: handlers run as soon as the first function is armed. */
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

	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
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

/* ---------------------------------------------------------- disarming ----- */

/* No handler of it runs any more. */
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

/* Disarm the functions of this module (NULL: any), or of one probe.  May free m. */
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
		ct_multi_probe_sites_disarm(m, t->site, sites);
	if (plains)
		unregister_kprobes(t->plain, plains);
	/* For handlers that found the probe before its row lost it. */
	if (gone)
		synchronize_rcu();
	for (i = 0; i < gone; i++)
		multi_disarmed(t->gone[i]);
	if (!stays)
		multi_free(m);
}

static void multi_disarm_all(const char *module, const void *owner)
{
	struct ct_multi_probe *m, *next;

	list_for_each_entry_safe(m, next, &all, list)
		if (!owner || m->owner == owner)
			multi_disarm(m, module, NULL);
}

static void multi_drop(struct ct_kprobe *p)
{
	multi_disarm(p->multi, NULL, p);
}

static u64 multi_missed(const struct ct_kprobe *p)
{
	const struct ct_plain *plain;
	u64 missed = 0;

	for (plain = p->plain; plain; plain = plain->next)
		missed += plain->kp.nmissed;
	return missed;
}

static u64 multi_memory(void)
{
	const struct ct_multi_probe *m;
	u64 bytes = 0;

	list_for_each_entry(m, &all, list)
		bytes += ct_kretprobe_memory(&m->hook);
	return bytes;
}

const struct ct_probe_together ct_multi_probe_together = {
	.disarm = multi_disarm_all,
	.drop = multi_drop,
	.missed = multi_missed,
	.memory = multi_memory,
};
