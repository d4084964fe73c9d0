// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: which there are, finding them, registering and unregistering.
 *
 * None of them is exported to modules, and which exist depends on the kernel's
 * configuration and on what is loaded; so all are looked up by name at run time,
 * those of the kernel when the module is loaded, those of modules when they come
 * (the kernel tells of those that are there already, too).  One that is absent is
 * reported by CT_IOC_GET_PROBE like a probe that is.
 */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/dma_fence.h>
#include <trace/events/gpu_mem.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include "nvidia/driver.h"
#include "core/registry.h"
#include "core/session.h"
#include "probes/sched_events.h"
#include "probes/tracepoint.h"

#define POINT(m, p, n, g, c, l, h)					\
	.module = (m), .point = (p), .name = (n), .group = CT_GROUP_##g,	\
	.category = CT_CAT_##c, .layout = CT_LAYOUT_##l, .handler = (h)

struct ct_tracepoint ct_tracepoints[CT_POINT_COUNT] = {
	[CT_POINT_SWITCH] = { POINT("", "sched_switch", "sched_switch", SWITCH, SWITCH,
				    k_switch, ct_on_switch) },
	/* Only remembers who wakes: the wake-up itself may be done by an interrupt. */
	[CT_POINT_WAKING] = { POINT("", "sched_waking", "sched_wakeup", SWITCH, SWITCH,
				    k_wake, ct_on_waking) },
	[CT_POINT_WAKEUP] = { POINT("", "sched_wakeup", "sched_wakeup", SWITCH, SWITCH,
				    k_wake, ct_on_wakeup) },
	[CT_POINT_FENCE_INIT] = { POINT("", "dma_fence_init", "dma_fence_init", FENCE, SYNC,
					k_fence_new, ct_on_fence_init) },
	[CT_POINT_FENCE_SIGNALED] = { POINT("", "dma_fence_signaled", "dma_fence_signaled",
					    FENCE, SYNC, k_fence, ct_on_fence_signaled) },
	/* The start only remembers; the end writes the record. */
	[CT_POINT_FENCE_WAIT_START] = { POINT("", "dma_fence_wait_start", "dma_fence_wait",
					      FENCE, SYNC, k_fence,
					      ct_on_fence_wait_start), .op = CT_OP_WAIT },
	[CT_POINT_FENCE_WAIT_END] = { POINT("", "dma_fence_wait_end", "dma_fence_wait", FENCE,
					    SYNC, k_fence, ct_on_fence_wait_end),
				      .op = CT_OP_WAIT },
	[CT_POINT_GPU_MEM] = { POINT("", "gpu_mem_total", "gpu_mem_total", MEMORY, MEMORY,
				     k_gpu_mem, ct_on_gpu_mem) },
	[CT_POINT_XID] = { POINT("nvidia", "nvidia_dev_xid", "nvidia_dev_xid", INTERRUPT, INTERRUPT,
				 k_xid, ct_on_xid) },
	[CT_POINT_IRQ_ENTRY] = { POINT("", "irq_handler_entry", "irq_handler", INTERRUPT,
				       INTERRUPT, k_irq, ct_on_irq_entry) },
	[CT_POINT_IRQ_EXIT] = { POINT("", "irq_handler_exit", "irq_handler", INTERRUPT,
				      INTERRUPT, k_irq, ct_on_irq_exit) },
};

static u64 wanted;		/* groups of the running session; 0: none runs */

/* The kernel's headers know the signatures: a difference does not compile. */
static void __maybe_unused tracepoint_check_signatures(void)
{
	check_trace_callback_type_sched_switch(ct_on_switch);
	check_trace_callback_type_sched_waking(ct_on_waking);
	check_trace_callback_type_sched_wakeup(ct_on_wakeup);
	check_trace_callback_type_dma_fence_init(ct_on_fence_init);
	check_trace_callback_type_dma_fence_signaled(ct_on_fence_signaled);
	check_trace_callback_type_dma_fence_wait_start(ct_on_fence_wait_start);
	check_trace_callback_type_dma_fence_wait_end(ct_on_fence_wait_end);
	check_trace_callback_type_gpu_mem_total(ct_on_gpu_mem);
	check_trace_callback_type_irq_handler_entry(ct_on_irq_entry);
	check_trace_callback_type_irq_handler_exit(ct_on_irq_exit);
}

static int tracepoint_define_class(struct ct_tracepoint *t)
{
	struct ct_define *def;
	int err;

	if (t->class)
		return 0;
	def = kzalloc(sizeof(*def), GFP_KERNEL);
	if (!def)
		return -ENOMEM;
	def->layer = CT_LAYER_KERNEL;
	def->category = t->category;
	def->op = t->op;
	strscpy(def->name, t->name, sizeof(def->name));
	strscpy(def->symbol, t->name, sizeof(def->symbol));
	ct_layout_fields(t->layout, def);
	err = ct_class_define(def, 0, true);
	t->class = def->id;
	kfree(def);
	return err;
}

static void tracepoint_arm(struct ct_tracepoint *t)
{
	int err;

	if (t->state == CT_PROBE_ARMED || !(wanted & BIT_ULL(t->group)))
		return;
	if (!t->tp) {
		t->state = *t->module && !ct_driver_loaded(t->module) ?
				   CT_PROBE_NO_MODULE : CT_PROBE_ABSENT;
		return;
	}
	err = tracepoint_define_class(t);
	if (!err)
		err = tracepoint_probe_register(t->tp, t->handler, NULL);
	t->error = err;
	t->state = err ? CT_PROBE_FAILED : CT_PROBE_ARMED;
}

static bool tracepoint_disarm(struct ct_tracepoint *t, enum ct_probe_state state)
{
	bool armed = t->state == CT_PROBE_ARMED;

	if (armed)
		tracepoint_probe_unregister(t->tp, t->handler, NULL);
	t->state = state;
	t->error = 0;
	return armed;
}

void ct_tracepoint_arm(u64 groups)
{
	unsigned int i;
	int cpu;

	lockdep_assert_held(&ct_session_lock);
	wanted = groups;
	for (i = 0; i < CT_POINT_COUNT; i++)
		for_each_possible_cpu(cpu)
			*per_cpu_ptr(ct_tracepoints[i].count, cpu) = (struct ct_count){};
	if (ct_sched_events_start(groups)) {
		/* No memory to keep whose threads are traced: these two have none. */
		for (i = CT_POINT_SWITCH; i <= CT_POINT_FENCE_WAIT_END; i++) {
			ct_tracepoints[i].state = CT_PROBE_FAILED;
			ct_tracepoints[i].error = -ENOMEM;
		}
		wanted &= ~(BIT_ULL(CT_GROUP_SWITCH) | BIT_ULL(CT_GROUP_FENCE));
	}
	for (i = 0; i < CT_POINT_COUNT; i++)
		tracepoint_arm(&ct_tracepoints[i]);
}

void ct_tracepoint_disarm(void)
{
	bool any = false;
	unsigned int i;

	lockdep_assert_held(&ct_session_lock);
	wanted = 0;
	for (i = 0; i < CT_POINT_COUNT; i++)
		any |= tracepoint_disarm(&ct_tracepoints[i], CT_PROBE_IDLE);
	if (any)
		tracepoint_synchronize_unregister();
	ct_sched_events_stop();
}

void ct_tracepoint_info(struct ct_probe_info *info, unsigned int i)
{
	const struct ct_tracepoint *t = &ct_tracepoints[i];
	int cpu;

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
}

/* ------------------------------------------------------------ finding ------ */

static void tracepoint_found(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < CT_POINT_COUNT; i++) {
		struct ct_tracepoint *t = &ct_tracepoints[i];

		if (t->tp || strcmp(tp->name, t->point))
			continue;
		t->tp = tp;
		tracepoint_arm(t);
	}
}

/* Its tracepoints go with the module: nobody may be in a handler when it does. */
static void tracepoint_lost(struct tracepoint *tp)
{
	unsigned int i;

	for (i = 0; i < CT_POINT_COUNT; i++) {
		struct ct_tracepoint *t = &ct_tracepoints[i];

		if (t->tp != tp)
			continue;
		if (tracepoint_disarm(t, !wanted    ? CT_PROBE_IDLE :
					 *t->module ? CT_PROBE_NO_MODULE :
						      CT_PROBE_ABSENT))
			tracepoint_synchronize_unregister();
		t->tp = NULL;
	}
}

static int tracepoint_module_changed(struct notifier_block *nb, unsigned long what, void *data)
{
	struct module *mod = ((struct tp_module *)data)->mod;
	unsigned int i;

	mutex_lock(&ct_session_lock);
	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp =
			tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (what == MODULE_STATE_COMING)
			tracepoint_found(tp, NULL);
		else if (what == MODULE_STATE_GOING)
			tracepoint_lost(tp);
	}
	mutex_unlock(&ct_session_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = tracepoint_module_changed };

static void tracepoint_free_counts(void)
{
	unsigned int i;

	for (i = 0; i < CT_POINT_COUNT; i++)
		free_percpu(ct_tracepoints[i].count);
}

int ct_tracepoint_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < CT_POINT_COUNT; i++) {
		ct_tracepoints[i].count = alloc_percpu(struct ct_count);
		if (!ct_tracepoints[i].count) {
			tracepoint_free_counts();
			return -ENOMEM;
		}
	}
	for_each_kernel_tracepoint(tracepoint_found, NULL);
	err = register_tracepoint_module_notifier(&module_notifier);
	if (err)
		tracepoint_free_counts();
	return err;
}

void ct_tracepoint_exit(void)
{
	unregister_tracepoint_module_notifier(&module_notifier);
	tracepoint_free_counts();
}
