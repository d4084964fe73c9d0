// SPDX-License-Identifier: GPL-2.0
/*
 * The list of kprobes, arming and disarming them.
 *
 * A probe is a kretprobe on "module:symbol".  So a name that exists in two modules cannot bind to
 * the wrong module, and functions of the driver's prebuilt core, which have no ftrace site, are
 * reached by breakpoint.  Of the alternative names of a function only the first that resolves is
 * armed: with two armed, every call would be recorded twice.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include "probes/handlers.h"
#include "probes/probe.h"
#include "probes/quirk.h"
#include "nvidia/driver.h"
#include "nvidia/probe_table.h"
#include "core/registry.h"
#include "core/session.h"
#include "core/source.h"
#include "base/compat.h"

/* All of this is under ct_session_lock. */
static DEFINE_XARRAY_ALLOC1(probes); /* of struct ct_kprobe */
static u32 rows; /* alternatives of all probes */
static u64 wanted; /* groups of the running session, whose probes are armed as they appear */

/* ------------------------------------------------------------- arming ---- */

/* A driver of unknown version counts as the newest. */
static bool probe_alternative_applies(const struct ct_alternative *a)
{
	u32 version = ct_driver_version ? : U32_MAX;

	return version >= a->since && (!a->before || version < a->before);
}

/* The event class of this alternative's records, made when first needed. */
static int probe_define_class(struct ct_kprobe *p, unsigned int i)
{
	const struct ct_probe_desc *d = p->desc;
	int id;

	if (p->class[i])
		return 0;
	id = ct_class_define_layout(d->name, d->alt[i].symbol, d->category, d->op, d->layout);
	if (id < 0)
		return id;
	p->class[i] = id;
	return 0;
}

static int probe_arm_alternative(struct ct_kprobe *p, unsigned int i)
{
	const struct ct_probe_desc *d = p->desc;
	struct ct_armed *a;
	int err;

	if (!probe_alternative_applies(&d->alt[i]))
		return -ENOENT;
	err = p->added ? ct_quirk_check_name(d->module, d->alt[i].symbol) : 0;
	if (!err)
		err = probe_define_class(p, i);
	if (err)
		return err;
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return -ENOMEM;
	a->probe = p;
	a->desc = d;
	a->class = p->class[i];
	a->category = d->category;
	a->stacked = d->alt[i].stacked;
	a->variant = i;
	a->verified = ct_driver_verified(d->alt[i].first_branch, d->alt[i].last_branch);
	a->special = d->entry || a->stacked || d->args > CT_ARGS_ALWAYS;
	snprintf(a->symbol, sizeof(a->symbol), "%s%s%s", d->module,
		 *d->module ? ":" : "", d->alt[i].symbol);
	a->rp.kp.symbol_name = a->symbol;
	a->rp.entry_handler = ct_probe_entry;
	a->rp.handler = ct_probe_return;
	a->rp.data_size = sizeof(struct ct_call);
	a->rp.maxactive = ct_kprobe_max_active(d);
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

static void probe_set_state(struct ct_kprobe *p, enum ct_probe_state state)
{
	unsigned int i;

	for (i = 0; i < CT_ALTERNATIVES; i++) {
		p->state[i] = state;
		p->error[i] = 0;
	}
}

static void probe_arm(struct ct_kprobe *p)
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
		err = probe_arm_alternative(p, i);
		p->error[i] = err;
		p->state[i] = !err ? CT_PROBE_ARMED :
			      err == -ENOENT ? CT_PROBE_ABSENT : CT_PROBE_FAILED;
		armed = !err;
	}
	/* The same function with the signature of another version is not absent. */
	for (i = 0; armed && i < p->variant; i++)
		if (p->state[i] == CT_PROBE_ABSENT &&
		    !strcmp(d->alt[i].symbol, d->alt[p->variant].symbol))
			p->state[i] = CT_PROBE_SHADOWED;
}

/* Arm p if the session wants it and its module is loaded. */
static void probe_arm_if_wanted(struct ct_kprobe *p, bool loaded)
{
	if (p->armed || !(wanted & BIT_ULL(p->desc->group)))
		return;
	if (!loaded && *p->desc->module && !ct_driver_loaded(p->desc->module))
		probe_set_state(p, CT_PROBE_NO_MODULE);
	else
		probe_arm(p);
	cond_resched();
}

/* How many alternative names its function has. */
static unsigned int probe_alternatives(const struct ct_kprobe *p)
{
	unsigned int n = 0;

	while (n < CT_ALTERNATIVES && p->desc->alt[n].symbol)
		n++;
	return n;
}

/* Is p in this module?  NULL: any. */
static bool probe_is_in(const struct ct_kprobe *p, const char *module)
{
	return !module || !strcmp(p->desc->module, module);
}

static void probe_disarmed(struct ct_kprobe *p, enum ct_probe_state state)
{
	struct ct_armed *a = p->armed;

	if (a) {
		p->missed += a->rp.nmissed + a->rp.kp.nmissed;
		p->armed = NULL;
		kfree(a);
	}
	probe_set_state(p, state);
}

/* Disarm all probes of this module (NULL: any). */
static void probe_disarm(const char *module, enum ct_probe_state state)
{
	struct kretprobe *batch[64]; /* disarmed with one wait for all their handlers */
	struct ct_kprobe *p;
	unsigned long id;
	unsigned int n = 0;

	xa_for_each(&probes, id, p) {
		if (p->armed && probe_is_in(p, module))
			batch[n++] = &p->armed->rp;
		if (n == ARRAY_SIZE(batch)) {
			unregister_kretprobes(batch, n);
			n = 0;
		}
	}
	unregister_kretprobes(batch, n);
	xa_for_each(&probes, id, p)
		if (probe_is_in(p, module))
			probe_disarmed(p, state);
}

static void probe_arm_all(struct ct_source *source, u64 groups)
{
	struct ct_kprobe *p;
	unsigned long id;

	wanted = groups;
	ct_driver_learn(NULL);
	xa_for_each(&probes, id, p) {
		p->missed = 0;
		ct_count_clear(p->count);
		probe_arm_if_wanted(p, false);
	}
}

static void probe_disarm_all(struct ct_source *source)
{
	wanted = 0;
	probe_disarm(NULL, CT_PROBE_IDLE);
}

/* Without ct_session_lock: the list's own lock keeps a probe that is in it from being freed. */
static bool probe_any_in_module(const char *module)
{
	struct ct_kprobe *p;
	unsigned long id;
	bool any = false;

	xa_lock(&probes);
	xa_for_each(&probes, id, p)
		any |= probe_is_in(p, module);
	xa_unlock(&probes);
	return any;
}

static void probe_module_coming(struct module *mod)
{
	struct ct_kprobe *p;
	unsigned long id;

	ct_driver_learn(mod);
	ct_quirk_coming(mod);
	xa_for_each(&probes, id, p)
		if (probe_is_in(p, mod->name))
			probe_arm_if_wanted(p, true);
	ct_quirk_coming(NULL);
}

/*
 * COMING: before the module's own init runs.  GOING: after its exit.  Starting a session may take
 * long, so modules without probes do not wait for ct_session_lock, and the load of one that waits
 * can be killed.
 */
static int probe_module_changed(struct notifier_block *nb, unsigned long what, void *data)
{
	struct module *mod = data;

	if (what != MODULE_STATE_COMING && what != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	if (!probe_any_in_module(mod->name))
		return NOTIFY_DONE;
	if (what == MODULE_STATE_GOING)
		mutex_lock(&ct_session_lock);
	else if (mutex_lock_killable(&ct_session_lock))
		return notifier_from_errno(-EINTR);
	if (wanted && what == MODULE_STATE_COMING)
		probe_module_coming(mod);
	else if (wanted)
		probe_disarm(mod->name, CT_PROBE_NO_MODULE);
	mutex_unlock(&ct_session_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = probe_module_changed };

/* ---------------------------------------------------------- questions ---- */

static u32 probe_count(struct ct_source *source)
{
	return rows;
}

void ct_probe_sum(const struct ct_kprobe *p, u64 *hits, u64 *missed, u64 *lost)
{
	int cpu;

	*hits = *lost = 0;
	*missed = p->missed;
	if (p->armed)
		*missed += p->armed->rp.nmissed + p->armed->rp.kp.nmissed;
	for_each_possible_cpu(cpu) {
		*hits += per_cpu_ptr(p->count, cpu)->hits;
		*lost += per_cpu_ptr(p->count, cpu)->lost;
	}
}

static void probe_fill_info(struct ct_probe_info *info, struct ct_kprobe *p, u32 alt)
{
	const struct ct_probe_desc *d = p->desc;

	info->class = p->class[alt];
	info->group = d->group;
	info->state = p->state[alt];
	info->error = p->state[alt] == CT_PROBE_FAILED ? p->error[alt] : 0;
	strscpy(info->module, d->module, sizeof(info->module));
	strscpy(info->symbol, d->alt[alt].symbol, sizeof(info->symbol));
	strscpy(info->name, d->name, sizeof(info->name));
	if (p->variant != alt)
		return;
	if (p->armed)
		info->address = (unsigned long)p->armed->rp.kp.addr;
	ct_probe_sum(p, &info->hits, &info->missed, &info->lost);
	info->cost = ct_count_cost(p->count);
}

static void probe_info(struct ct_source *source, struct ct_probe_info *info, u32 index)
{
	struct ct_kprobe *p;
	unsigned long id;
	u32 n;

	xa_for_each(&probes, id, p) {
		n = probe_alternatives(p);
		if (index < n) {
			probe_fill_info(info, p, index);
			break;
		}
		index -= n;
	}
}

static u64 probe_memory(struct ct_source *source)
{
	struct ct_kprobe *p;
	unsigned long id;
	u64 bytes = 0;

	xa_for_each(&probes, id, p)
		if (p->armed)
			bytes += ct_kretprobe_memory(&p->armed->rp);
	return bytes;
}

static struct ct_source probe_source = {
	.arm = probe_arm_all,
	.disarm = probe_disarm_all,
	.count = probe_count,
	.info = probe_info,
	.memory = probe_memory,
};

/* ------------------------------------------------------------- life ------ */

struct ct_kprobe *ct_probe_next(unsigned long *id)
{
	struct ct_kprobe *p = *id ? xa_find_after(&probes, id, ULONG_MAX, XA_PRESENT) :
				    xa_find(&probes, id, ULONG_MAX, XA_PRESENT);

	lockdep_assert_held(&ct_session_lock);
	return p;
}

struct ct_kprobe *ct_probe_new(const struct ct_probe_desc *desc, bool added, u32 class, u32 sample)
{
	struct ct_kprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err = -ENOMEM;

	if (!p)
		return ERR_PTR(-ENOMEM);
	p->desc = desc;
	p->added = added;
	p->class[0] = class;
	p->sample = sample;
	p->count = alloc_percpu(struct ct_count);
	if (p->count)
		err = xa_alloc(&probes, &p->id, p, xa_limit_31b, GFP_KERNEL);
	if (err) {
		free_percpu(p->count);
		kfree(p);
		return ERR_PTR(err);
	}
	rows += probe_alternatives(p);
	probe_arm_if_wanted(p, false);
	ct_source_changed();
	return p;
}

void ct_probe_disarm(struct ct_kprobe *p)
{
	if (!p->armed)
		return;
	unregister_kretprobe(&p->armed->rp);
	probe_disarmed(p, CT_PROBE_IDLE);
}

void ct_probe_free(struct ct_kprobe *p)
{
	ct_probe_disarm(p);
	xa_erase(&probes, p->id);
	rows -= probe_alternatives(p);
	ct_source_changed();
	free_percpu(p->count);
	if (p->class[0] && p->desc->group == CT_GROUP_ADDED)
		ct_class_drop(p->class[0]);
	if (p->added)
		kfree(p->desc);
	kfree(p);
}

static void probe_free_all(void)
{
	struct ct_kprobe *p;
	unsigned long id;

	mutex_lock(&ct_session_lock);
	xa_for_each(&probes, id, p)
		ct_probe_free(p);
	mutex_unlock(&ct_session_lock);
	xa_destroy(&probes);
}

int ct_probe_init(void)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&ct_session_lock);
	for (i = 0; i < ct_probe_table_size && !err; i++)
		err = PTR_ERR_OR_ZERO(ct_probe_new(&ct_probe_table[i], false, 0, 0));
	mutex_unlock(&ct_session_lock);
	if (err)
		goto err_free;
	ct_source_register(&probe_source);
	err = register_module_notifier(&module_notifier);
	if (err)
		goto err_source;
	return 0;
err_source:
	ct_source_unregister(&probe_source);
err_free:
	probe_free_all();
	return err;
}

void ct_probe_exit(void)
{
	unregister_module_notifier(&module_notifier);
	ct_source_unregister(&probe_source);
	probe_free_all();
}
