/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of the kernel and of the driver, recorded beside the probes. */
#ifndef CT_TRACEPOINT_H
#define CT_TRACEPOINT_H

#include <linux/types.h>
#include "cudatrace.h"
#include "probes/probe.h"

struct tracepoint;

/* Index of ct_tracepoints[]: also how a handler names its own row. */
enum ct_point {
	CT_POINT_SWITCH,
	CT_POINT_WAKING,
	CT_POINT_WAKEUP,
	CT_POINT_FENCE_INIT,
	CT_POINT_FENCE_SIGNALED,
	CT_POINT_FENCE_WAIT_START,
	CT_POINT_FENCE_WAIT_END,
	CT_POINT_GPU_MEM,
	CT_POINT_XID,
	CT_POINT_IRQ_ENTRY,
	CT_POINT_IRQ_EXIT,
	CT_POINT_COUNT,
};

struct ct_tracepoint {
	const char *point;	/* the tracepoint's name */
	const char *name;	/* of the event class of its records */
	const char *module;	/* who should bring it; "": the kernel */
	enum ct_group group;
	u8 category;
	u8 op;
	u8 layout;
	void *handler;

	/* Under ct_session_lock; class is settled before the handler is registered. */
	u16 class;
	u16 state;		/* enum ct_probe_state */
	s32 error;
	struct tracepoint *tp;	/* NULL: nothing that is loaded has it */
	struct ct_count __percpu *count;
};

extern struct ct_tracepoint ct_tracepoints[CT_POINT_COUNT];

/* The handlers: tracepoint_call.c and switch.c. */
struct dma_fence;
struct irqaction;
struct pci_dev;
struct task_struct;
void ct_on_fence_init(void *data, struct dma_fence *fence);
void ct_on_fence_signaled(void *data, struct dma_fence *fence);
void ct_on_fence_wait_start(void *data, struct dma_fence *fence);
void ct_on_fence_wait_end(void *data, struct dma_fence *fence);
void ct_on_gpu_mem(void *data, u32 gpu, u32 pid, u64 size);
void ct_on_xid(void *data, const struct pci_dev *dev, u32 xid, const char *message);
void ct_on_irq_entry(void *data, int irq, struct irqaction *action);
void ct_on_irq_exit(void *data, int irq, struct irqaction *action, int ret);
void ct_on_switch(void *data, bool preempt, struct task_struct *prev,
		  struct task_struct *next, unsigned int state);
void ct_on_waking(void *data, struct task_struct *task);
void ct_on_wakeup(void *data, struct task_struct *task);

int ct_tracepoint_init(void);
void ct_tracepoint_exit(void);

/*
 * ct_tracepoint_arm - register what these groups want and what is there; of the rest,
 * what a module brings later is registered by then.
 * ct_tracepoint_disarm - no handler runs any more when it returns.
 * Both sleep; the caller holds ct_session_lock.
 */
void ct_tracepoint_arm(u64 groups);
void ct_tracepoint_disarm(void);

/* Fill info for row i of ct_tracepoints[]; the caller holds ct_session_lock. */
void ct_tracepoint_info(struct ct_probe_info *info, unsigned int i);

#endif
