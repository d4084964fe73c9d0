/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that the module builds for stands here,
 * so that no other file asks for a version.
 */
#ifndef CT_COMPAT_H
#define CT_COMPAT_H

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/version.h>

#ifndef CONFIG_KRETPROBE_ON_RETHOOK
#error "cudatrace needs a kernel whose kretprobes use rethook (5.18 or newer)"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void ct_vm_flags_mod(struct vm_area_struct *vma,
				   unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void ct_vm_flags_mod(struct vm_area_struct *vma,
				   unsigned long set, unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/* Stop a timer for good. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ct_timer_shutdown(t)	del_timer_sync(t)
#else
#define ct_timer_shutdown(t)	timer_shutdown_sync(t)
#endif

/* The first of the return hooks that the current task has pending, newest first. */
static inline struct llist_node *ct_pending_returns(void)
{
	return READ_ONCE(current->rethooks.first);
}

/* The kretprobe instance behind such a node. */
static inline struct kretprobe_instance *ct_return_instance(struct llist_node *n)
{
	return container_of(container_of(n, struct rethook_node, llist),
			    struct kretprobe_instance, node);
}

/*
 * Is what a hooks run by the same handler as what live hooks?  A hook that is gone
 * has none.  live: of the probe whose handler asks.
 */
static inline bool ct_same_hook(const struct kretprobe_instance *a,
				const struct kretprobe_instance *live)
{
	return READ_ONCE(a->node.rethook->handler) == READ_ONCE(live->node.rethook->handler);
}

#endif
