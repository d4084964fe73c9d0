// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: arming, disarming and the two handlers.
 *
 * A probe is a kretprobe on "module:symbol", so that a name which exists in two
 * modules can't bind to the wrong one, and so that functions of the driver's
 * prebuilt core (no ftrace site) are reached by breakpoint.  Of the alternative
 * names of one function, only the first that resolves is armed: two would count
 * every call twice.
 *
 * A struct kretprobe lives from one arming to the next disarming and is never
 * used twice: when the probed module goes, the kernel kills the probe for good.
 *
 * The handlers run with preemption disabled, in whatever context the probed
 * function runs in, as breakpoint handlers even in what looks like an NMI: no
 * lock, no allocation, no fault, no sleep.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "compat.h"
#include "driver.h"
#include "probe.h"
#include "record.h"
#include "registry.h"

struct ct_count {
	u64 hits;
	u64 lost;
};

/* The life of one arming. */
struct ct_armed {
	struct kretprobe rp;
	struct probe *probe;
	char symbol[80];	/* "module:symbol" */
};

struct probe {
	const struct ct_probe_desc *desc;
	struct ct_armed *armed;
	struct ct_count __percpu *count;
	u64 missed;		/* of armings that are over */
	u32 class[CT_ALTERNATIVES];
	u16 state[CT_ALTERNATIVES];
	s32 error[CT_ALTERNATIVES];
	u8 variant;		/* the alternative that is armed */
};

static struct probe *probes;
static u64 wanted;		/* groups of the running session */
static bool arming;		/* a session runs: arm what comes */

/* ------------------------------------------------------------ handlers --- */

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs);

/* Calls of ours that this task, in this context, has not returned from. */
static u8 open_calls(u8 context)
{
	struct llist_node *n;
	u8 depth = 0;

	for (n = ct_pending_returns(); n; n = READ_ONCE(n->next)) {
		struct kretprobe_instance *ri = ct_return_instance(n);
		struct kretprobe *rp = get_kretprobe(ri);

		if (rp && rp->handler == on_return &&
		    (((struct ct_call *)ri->data)->flags & CT_F_CONTEXT) == context &&
		    depth < 255)
			depth++;
	}
	return depth;
}

static void write_call(struct ct_session_state *s, struct probe *p,
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
	ct_record_done(s, cpu);
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_call *c = (void *)ri->data;
	struct ct_session_state *s = ct_session_writing();
	struct kretprobe *rp = get_kretprobe(ri);
	const struct ct_probe_desc *d;
	struct probe *p;
	unsigned int i, first;
	u8 context;

	if (unlikely(!s || !rp))
		return 1;	/* nothing records: don't hook the return */
	p = container_of(rp, struct ct_armed, rp)->probe;
	d = p->desc;
	this_cpu_inc(p->count->hits);
	context = ct_context();
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

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ct_session_state *s = ct_session_writing();
	struct kretprobe *rp = get_kretprobe(ri);

	if (likely(s && rp))
		write_call(s, container_of(rp, struct ct_armed, rp)->probe,
			   (void *)ri->data, regs_return_value(regs), false);
	return 0;
}
NOKPROBE_SYMBOL(on_entry);
NOKPROBE_SYMBOL(on_return);

/* -------------------------------------------------- arming, disarming ---- */

/* Instances: calls of a function that can be open at once, in all tasks. */
static int max_active(const struct ct_probe_desc *d)
{
	return d->sleeps ? max(1024u, 8 * num_possible_cpus()) :
			   8 * num_possible_cpus();
}

/* A driver of unknown version is taken for the newest. */
static bool alternative_applies(const struct ct_alternative *a)
{
	u32 version = ct_driver_version ? : U32_MAX;

	return version >= a->since && (!a->before || version < a->before);
}

/* The event class of this alternative's records, made when first needed. */
static int define_class(struct probe *p, unsigned int i)
{
	const struct ct_probe_desc *d = p->desc;
	struct ct_define *def;
	int err;

	if (p->class[i])
		return 0;
	def = kzalloc(sizeof(*def), GFP_KERNEL);
	if (!def)
		return -ENOMEM;
	def->layer = CT_LAYER_KERNEL;
	def->category = d->category;
	def->op = d->op;
	strscpy(def->name, d->name, sizeof(def->name));
	strscpy(def->symbol, d->alt[i].symbol, sizeof(def->symbol));
	ct_layout_fields(d->layout, def);
	err = ct_class_define(def, 0, true);
	p->class[i] = def->id;
	kfree(def);
	return err;
}

static int arm_alternative(struct probe *p, unsigned int i)
{
	const struct ct_probe_desc *d = p->desc;
	struct ct_armed *a;
	int err;

	if (!alternative_applies(&d->alt[i]))
		return -ENOENT;
	err = define_class(p, i);
	if (err)
		return err;
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return -ENOMEM;
	a->probe = p;
	snprintf(a->symbol, sizeof(a->symbol), "%s:%s", d->module, d->alt[i].symbol);
	a->rp.kp.symbol_name = a->symbol;
	a->rp.entry_handler = on_entry;
	a->rp.handler = on_return;
	a->rp.data_size = sizeof(struct ct_call);
	a->rp.maxactive = max_active(d);
	/* Handlers may run before register_kretprobe() returns. */
	p->variant = i;
	err = register_kretprobe(&a->rp);
	if (err) {
		kfree(a);
		return err;
	}
	p->armed = a;
	return 0;
}

static void arm(struct probe *p)
{
	const struct ct_probe_desc *d = p->desc;
	bool armed = false;
	unsigned int i;
	int err;

	for (i = 0; i < CT_ALTERNATIVES && d->alt[i].symbol; i++) {
		if (armed) {
			p->state[i] = CT_PROBE_SHADOWED;
			continue;
		}
		err = arm_alternative(p, i);
		p->error[i] = err;
		p->state[i] = !err ? CT_PROBE_ARMED :
			      err == -ENOENT ? CT_PROBE_ABSENT : CT_PROBE_FAILED;
		armed = !err;
	}
}

static void set_state(struct probe *p, enum ct_probe_state state)
{
	unsigned int i;

	for (i = 0; i < CT_ALTERNATIVES; i++) {
		p->state[i] = state;
		p->error[i] = 0;
	}
}

static bool in_module(const struct probe *p, const char *module)
{
	return !module || !strcmp(p->desc->module, module);
}

/* Arm what is wanted in this module; in all, where module is NULL. */
static void arm_module(const char *module)
{
	unsigned int i;

	for (i = 0; i < ct_probe_table_size; i++) {
		struct probe *p = &probes[i];

		if (!in_module(p, module) || p->armed ||
		    !(wanted & BIT_ULL(p->desc->group)))
			continue;
		if (!module && !ct_driver_loaded(p->desc->module))
			set_state(p, CT_PROBE_NO_MODULE);
		else
			arm(p);
		cond_resched();
	}
}

static void disarm_module(const char *module, enum ct_probe_state state)
{
	struct kretprobe **batch;
	unsigned int i, n = 0;

	batch = kcalloc(ct_probe_table_size, sizeof(*batch), GFP_KERNEL);
	for (i = 0; i < ct_probe_table_size; i++) {
		if (!in_module(&probes[i], module) || !probes[i].armed)
			continue;
		if (batch)
			batch[n++] = &probes[i].armed->rp;
		else
			unregister_kretprobe(&probes[i].armed->rp);
	}
	/* One wait for all handlers instead of one for each probe. */
	if (n)
		unregister_kretprobes(batch, n);
	kfree(batch);
	for (i = 0; i < ct_probe_table_size; i++) {
		struct ct_armed *a = probes[i].armed;

		if (!in_module(&probes[i], module))
			continue;
		if (a) {
			probes[i].missed += a->rp.nmissed + a->rp.kp.nmissed;
			probes[i].armed = NULL;
			kfree(a);
		}
		set_state(&probes[i], state);
	}
}

void ct_probe_arm(u64 groups)
{
	unsigned int i;
	int cpu;

	lockdep_assert_held(&ct_session_lock);
	for (i = 0; i < ct_probe_table_size; i++) {
		probes[i].missed = 0;
		for_each_possible_cpu(cpu)
			*per_cpu_ptr(probes[i].count, cpu) = (struct ct_count){};
	}
	wanted = groups;
	arming = true;
	ct_driver_learn(NULL);
	arm_module(NULL);
}

void ct_probe_disarm_all(void)
{
	lockdep_assert_held(&ct_session_lock);
	arming = false;
	disarm_module(NULL, CT_PROBE_IDLE);
}

/* COMING: before the driver's own init runs.  GOING: after its exit. */
static int module_changed(struct notifier_block *nb, unsigned long what, void *data)
{
	struct module *mod = data;
	unsigned int i;

	for (i = 0; i < ct_probe_table_size; i++)
		if (!strcmp(ct_probe_table[i].module, mod->name))
			break;
	if (i == ct_probe_table_size)
		return NOTIFY_DONE;
	mutex_lock(&ct_session_lock);
	if (arming && what == MODULE_STATE_COMING) {
		ct_driver_learn(mod);
		arm_module(mod->name);
	} else if (arming && what == MODULE_STATE_GOING) {
		disarm_module(mod->name, CT_PROBE_NO_MODULE);
	}
	mutex_unlock(&ct_session_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = module_changed };

/* ---------------------------------------------------------- questions ---- */

u32 ct_probe_count(void)
{
	u32 i, j, n = 0;

	for (i = 0; i < ct_probe_table_size; i++)
		for (j = 0; j < CT_ALTERNATIVES && ct_probe_table[i].alt[j].symbol; j++)
			n++;
	return n;
}

static void fill_info(struct ct_probe_info *info, struct probe *p, u32 alt)
{
	const struct ct_probe_desc *d = p->desc;
	int cpu;

	info->class = p->class[alt];
	info->group = d->group;
	info->state = p->state[alt];
	info->error = p->state[alt] == CT_PROBE_FAILED ? p->error[alt] : 0;
	strscpy(info->module, d->module, sizeof(info->module));
	strscpy(info->symbol, d->alt[alt].symbol, sizeof(info->symbol));
	strscpy(info->name, d->name, sizeof(info->name));
	if (p->variant != alt)
		return;
	info->missed = p->missed;
	if (p->armed) {
		info->missed += p->armed->rp.nmissed + p->armed->rp.kp.nmissed;
		info->address = (unsigned long)p->armed->rp.kp.addr;
	}
	for_each_possible_cpu(cpu) {
		info->hits += per_cpu_ptr(p->count, cpu)->hits;
		info->lost += per_cpu_ptr(p->count, cpu)->lost;
	}
}

int ct_probe_info(struct ct_probe_info *info)
{
	u32 i, j, n = 0, index = info->index;

	*info = (struct ct_probe_info){ .size = info->size, .index = index };
	mutex_lock(&ct_session_lock);
	for (i = 0; i < ct_probe_table_size; i++)
		for (j = 0; j < CT_ALTERNATIVES && ct_probe_table[i].alt[j].symbol; j++)
			if (n++ == index) {
				fill_info(info, &probes[i], j);
				mutex_unlock(&ct_session_lock);
				return 0;
			}
	mutex_unlock(&ct_session_lock);
	return -ENOENT;
}

/* ------------------------------------------------------------- life ------ */

static void probes_free(void)
{
	unsigned int i;

	for (i = 0; probes && i < ct_probe_table_size; i++)
		free_percpu(probes[i].count);
	kfree(probes);
	probes = NULL;
}

int ct_probe_init(void)
{
	unsigned int i;
	int err = -ENOMEM;

	probes = kcalloc(ct_probe_table_size, sizeof(*probes), GFP_KERNEL);
	if (!probes)
		return -ENOMEM;
	for (i = 0; i < ct_probe_table_size; i++) {
		probes[i].desc = &ct_probe_table[i];
		probes[i].count = alloc_percpu(struct ct_count);
		if (!probes[i].count)
			goto err;
	}
	err = register_module_notifier(&module_notifier);
	if (err)
		goto err;
	return 0;
err:
	probes_free();
	return err;
}

void ct_probe_exit(void)
{
	unregister_module_notifier(&module_notifier);
	probes_free();
}
