// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: finding, registering and unregistering them.
 *
 * No tracepoint that we use is exported to modules, and which ones exist depends on the kernel's
 * configuration and on the modules that are loaded.  So all are looked up by name at run time:
 * those of the kernel when the table is added, those of modules when the kernel announces the
 * module (it announces those that are loaded already, too).  CT_IOC_GET_PROBE reports a missing
 * tracepoint as absent, as it does for a missing function.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "probes/thread.h"
#include "probes/tracepoint.h"
#include "nvidia/driver.h"
#include "core/registry.h"

/*
 * Of the rows of all tables.  Not ct_session_lock, which the start of a session may hold for long:
 * modules are loaded and unloaded meanwhile.  Taken inside that one.
 */
static DEFINE_MUTEX(tracepoint_lock);

static int tracepoint_define_class(struct ct_tracepoint *t)
{
	int id;

	if (t->class)
		return 0;
	id = ct_class_define_layout(t->name, t->name, t->category, t->op, t->layout);
	if (id < 0)
		return id;
	t->class = id;
	return 0;
}

static void tracepoint_arm_row(const struct ct_tracepoint_table *table, struct ct_tracepoint *t)
{
	int err;

	if (t->state == CT_PROBE_ARMED || !(table->wanted & BIT_ULL(t->group)))
		return;
	if (!t->tp) {
		t->state = *t->module && !ct_driver_loaded(t->module) ? CT_PROBE_NO_MODULE :
									CT_PROBE_ABSENT;
		return;
	}
	err = t->threads && !table->threads ? -ENOMEM : tracepoint_define_class(t);
	if (!err)
		err = tracepoint_probe_register(t->tp, t->handler, NULL);
	t->error = err;
	t->state = err ? CT_PROBE_FAILED : CT_PROBE_ARMED;
}

/* True if its handler was registered: it may still be running. */
static bool tracepoint_disarm_row(struct ct_tracepoint *t, enum ct_probe_state state)
{
	bool armed = t->state == CT_PROBE_ARMED;

	if (armed)
		tracepoint_probe_unregister(t->tp, t->handler, NULL);
	t->state = state;
	t->error = 0;
	return armed;
}

static struct ct_tracepoint_table *tracepoint_table_of(struct ct_source *source)
{
	return container_of(source, struct ct_tracepoint_table, source);
}

static void tracepoint_arm(struct ct_source *source, u64 groups)
{
	struct ct_tracepoint_table *table = tracepoint_table_of(source);
	struct ct_tracepoint *t;
	bool threads = false;

	mutex_lock(&tracepoint_lock);
	table->wanted = groups;
	for (t = table->row; t < table->row + table->count; t++) {
		ct_count_clear(t->count);
		threads |= t->threads && groups & BIT_ULL(t->group);
	}
	/* Without memory for them, the rows that need threads fail. */
	table->threads = threads && !ct_thread_start();
	for (t = table->row; t < table->row + table->count; t++)
		tracepoint_arm_row(table, t);
	mutex_unlock(&tracepoint_lock);
}

static void tracepoint_disarm(struct ct_source *source)
{
	struct ct_tracepoint_table *table = tracepoint_table_of(source);
	struct ct_tracepoint *t;
	bool any = false, threads;

	mutex_lock(&tracepoint_lock);
	table->wanted = 0;
	for (t = table->row; t < table->row + table->count; t++)
		any |= tracepoint_disarm_row(t, CT_PROBE_IDLE);
	threads = table->threads;
	table->threads = false;
	mutex_unlock(&tracepoint_lock);
	if (any)
		tracepoint_synchronize_unregister();
	if (threads)
		ct_thread_stop();
}

static u32 tracepoint_count(struct ct_source *source)
{
	return tracepoint_table_of(source)->count;
}

static void tracepoint_info(struct ct_source *source, struct ct_probe_info *info, u32 index)
{
	const struct ct_tracepoint *t = &tracepoint_table_of(source)->row[index];
	int cpu;

	mutex_lock(&tracepoint_lock);
	info->class = t->class;
	info->group = t->group;
	info->state = t->state;
	info->error = t->state == CT_PROBE_FAILED ? t->error : 0;
	info->flags = CT_PROBE_IS_TRACEPOINT;
	strscpy(info->module, t->module, sizeof(info->module));
	strscpy(info->symbol, t->point, sizeof(info->symbol));
	strscpy(info->name, t->name, sizeof(info->name));
	for_each_possible_cpu(cpu) {
		info->hits += per_cpu_ptr(t->count, cpu)->hits;
		info->lost += per_cpu_ptr(t->count, cpu)->lost;
	}
	mutex_unlock(&tracepoint_lock);
}

/* ------------------------------------------------------------ finding ------ */

/*
 * This module ("": the kernel itself) has this tracepoint.  In another module than its row names it
 * is another tracepoint, with arguments that nobody has checked.
 */
static void tracepoint_found(struct tracepoint *tp, struct ct_tracepoint_table *table,
			     const char *module)
{
	struct ct_tracepoint *t;

	for (t = table->row; t < table->row + table->count; t++) {
		if (t->tp || strcmp(tp->name, t->point) ||
		    (!t->anywhere && strcmp(module, t->module)))
			continue;
		t->tp = tp;
		tracepoint_arm_row(table, t);
	}
}

static void tracepoint_found_in_kernel(struct tracepoint *tp, void *table)
{
	tracepoint_found(tp, table, "");
}

/* Its module is unloaded: when this returns, no handler runs that it called. */
static void tracepoint_lost(struct ct_tracepoint_table *table, struct tracepoint *tp)
{
	enum ct_probe_state state;
	struct ct_tracepoint *t;

	for (t = table->row; t < table->row + table->count; t++) {
		if (t->tp != tp)
			continue;
		state = !table->wanted ? CT_PROBE_IDLE :
			*t->module     ? CT_PROBE_NO_MODULE :
					 CT_PROBE_ABSENT;
		if (tracepoint_disarm_row(t, state))
			tracepoint_synchronize_unregister();
		t->tp = NULL;
	}
}

static int tracepoint_module_changed(struct notifier_block *nb, unsigned long what, void *data)
{
	struct ct_tracepoint_table *table = container_of(nb, struct ct_tracepoint_table, notifier);
	struct module *mod = ((struct tp_module *)data)->mod;
	struct tracepoint *tp;
	unsigned int i;

	mutex_lock(&tracepoint_lock);
	for (i = 0; i < mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);
		if (what == MODULE_STATE_COMING)
			tracepoint_found(tp, table, mod->name);
		else if (what == MODULE_STATE_GOING)
			tracepoint_lost(table, tp);
	}
	mutex_unlock(&tracepoint_lock);
	return NOTIFY_OK;
}

static void tracepoint_free_counts(struct ct_tracepoint_table *table)
{
	u32 i;

	for (i = 0; i < table->count; i++) {
		free_percpu(table->row[i].count);
		table->row[i].count = NULL;
	}
}

int ct_tracepoint_add(struct ct_tracepoint_table *table)
{
	int err;
	u32 i;

	for (i = 0; i < table->count; i++) {
		table->row[i].count = alloc_percpu(struct ct_count);
		if (!table->row[i].count) {
			err = -ENOMEM;
			goto err_counts;
		}
	}
	table->source = (struct ct_source){
		.arm = tracepoint_arm,
		.disarm = tracepoint_disarm,
		.count = tracepoint_count,
		.info = tracepoint_info,
	};
	ct_source_register(&table->source);
	mutex_lock(&tracepoint_lock);
	for_each_kernel_tracepoint(tracepoint_found_in_kernel, table);
	mutex_unlock(&tracepoint_lock);
	table->notifier.notifier_call = tracepoint_module_changed;
	err = register_tracepoint_module_notifier(&table->notifier);
	if (err)
		goto err_source;
	return 0;
err_source:
	ct_source_unregister(&table->source);
err_counts:
	tracepoint_free_counts(table);
	return err;
}

void ct_tracepoint_remove(struct ct_tracepoint_table *table)
{
	unregister_tracepoint_module_notifier(&table->notifier);
	ct_source_unregister(&table->source);
	tracepoint_free_counts(table);
}
