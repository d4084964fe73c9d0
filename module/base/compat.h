/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the kernels that the module builds for.  No other file may ask for them.
 * conftest.h says which form the kernel has: module/conftest/ has a source for each of its macros.
 */
#ifndef CT_COMPAT_H
#define CT_COMPAT_H

#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <asm/local64.h>
#include "conftest.h"

static inline void ct_vm_flags_mod(struct vm_area_struct *vma,
				   unsigned long set, unsigned long clear)
{
#if CT_VM_FLAGS == 1
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* Charge to the task's memory cgroup, where the kernel can map such pages into a program. */
#if CT_PAGE_CHARGE == 1
#define CT_GFP_MAPPED	GFP_KERNEL
#else
#define CT_GFP_MAPPED	GFP_KERNEL_ACCOUNT
#endif

/*
 * The operations of a dma_fence that was just made.  In newer kernels they may be freed
 * before the fence and RCU protects them; a new fence still has them.
 */
#define ct_fence_ops(fence)	rcu_dereference_raw((fence)->ops)

/* Sets *domain to the PCI domain of a bus that may be no bus.  0, or -EFAULT. */
static inline int ct_pci_domain_nofault(const struct pci_bus *bus, int *domain)
{
#ifdef CONFIG_X86
	void *sysdata;

	if (get_kernel_nofault(sysdata, &bus->sysdata))
		return -EFAULT;
	return get_kernel_nofault(*domain, &((struct pci_sysdata *)sysdata)->domain);
#else
	return get_kernel_nofault(*domain, &bus->domain_nr);
#endif
}

/* Stop a timer and prevent that it is armed again. */
#if CT_TIMER_SHUTDOWN == 1
#define ct_timer_shutdown(t)	timer_shutdown_sync(t)
#else
#define ct_timer_shutdown(t)	del_timer_sync(t)
#endif

/* Compare and exchange: true if old was replaced by new.  Atomic against this CPU alone. */
static __always_inline bool ct_local64_replace(local64_t *l, s64 old, s64 new)
{
#if CT_LOCAL64_CMPXCHG == 1
	return local64_try_cmpxchg(l, &old, new);
#else
	return local64_cmpxchg(l, old, new) == old;
#endif
}

/*
 * The arguments of a handler of sched_switch.  Where the tracepoint does not pass the state of the
 * thread that leaves, it is the thread's own.
 */
#if CT_SCHED_SWITCH == 1
#define CT_SCHED_SWITCH_ARGS(data, preempt, prev, next, state)	\
	void *data, bool preempt, struct task_struct *prev,	\
	struct task_struct *next, unsigned int state
#define ct_sched_switch_state(prev, state)	(state)
#elif CT_SCHED_SWITCH == 2
#define CT_SCHED_SWITCH_ARGS(data, preempt, prev, next, state)	\
	void *data, bool preempt, unsigned int state,		\
	struct task_struct *prev, struct task_struct *next
#define ct_sched_switch_state(prev, state)	(state)
#else
#define CT_SCHED_SWITCH_ARGS(data, preempt, prev, next, state)	\
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next
#if CT_TASK_STATE == 1
#define ct_sched_switch_state(prev, state)	READ_ONCE((prev)->__state)
#else
#define ct_sched_switch_state(prev, state)	((unsigned int)READ_ONCE((prev)->state))
#endif
#endif

/* ------------------------------------------------------------- probes ------ */

/*
 * The last argument of ftrace's functions, and the flag by which ftrace keeps them from recursion
 * (older kernels do so without a flag).  Not defined where the kernel is without DYNAMIC_FTRACE.
 */
#if CT_FTRACE_ARGS == 1
#define CT_FTRACE_REGS		struct ftrace_regs
#define CT_FTRACE_RECURSION	FTRACE_OPS_FL_RECURSION
#elif CT_FTRACE_ARGS == 2
#define CT_FTRACE_REGS		struct pt_regs
#define CT_FTRACE_RECURSION	0
#endif

#ifdef CT_FTRACE_REGS
/* Let ops also be called for these functions, for all or for none.  Older kernels take only one. */
static inline int ct_ftrace_filter(struct ftrace_ops *ops, unsigned long *ip, u32 count)
{
#if CT_FTRACE_FILTER_IPS == 1
	return ftrace_set_filter_ips(ops, ip, count, 0, 0);
#else
	return count == 1 ? ftrace_set_filter_ip(ops, *ip, 0, 0) : -EINVAL;
#endif
}
#endif

/* Is this in the memory of modules, which has no device's registers?  Where it matters: on x86. */
static inline bool ct_in_module_area(unsigned long address)
{
#ifdef CONFIG_X86_64
	return address >= MODULES_VADDR && address < MODULES_END;
#else
	return false;
#endif
}

#if CT_KRETPROBE < 4
/*
 * Does the handler of a kprobe, which got these registers, run in a breakpoint's exception?  Not if
 * the function has an ftrace site, nor if the kernel has replaced the breakpoint by a jump.  A jump
 * saves the registers right below the function's stack pointer, in older kernels without the last
 * one; an exception has its frame between.
 */
static __always_inline bool ct_in_breakpoint(const struct kprobe *kp, const struct pt_regs *regs)
{
	if (kp->flags & KPROBE_FLAG_FTRACE)
		return false;
#ifdef CONFIG_X86_64
	return regs->sp - (unsigned long)&regs->ss > sizeof(regs->ss);
#else
	return true;
#endif
}

/* The kretprobe that this call's return is hooked for, or NULL: it was disarmed. */
static __always_inline struct kretprobe *ct_kretprobe_of(const struct kretprobe_instance *ri)
{
#if CT_KRETPROBE == 3
	return READ_ONCE(ri->rp);
#else
	return get_kretprobe((struct kretprobe_instance *)ri);
#endif
}

/*
 * The newest of the current task's pending return hooks; it leads to the older ones.  NULL where
 * the kernel keeps them in a table of its own: there depths of calls are not known.
 */
static __always_inline struct llist_node *ct_pending_returns(void)
{
#if CT_KRETPROBE == 1
	return READ_ONCE(current->rethooks.first);
#elif CT_KRETPROBE == 2
	return READ_ONCE(current->kretprobe_instances.first);
#else
	return NULL;
#endif
}

/* The kretprobe instance of such a hook. */
static __always_inline struct kretprobe_instance *ct_return_instance(struct llist_node *n)
{
#if CT_KRETPROBE == 1
	return container_of(container_of(n, struct rethook_node, llist),
			    struct kretprobe_instance, node);
#elif CT_KRETPROBE == 2
	return container_of(n, struct kretprobe_instance, llist);
#else
	return NULL;
#endif
}

/*
 * The kretprobe of a pending hook, if it may be read, else NULL.
 * @live:	a call of the kretprobe whose handler calls this
 *
 * The hook may belong to another tracer, or to a probe that was disarmed (and freed) while the call
 * slept.  Of rethooks only one with the same handler as ours, which is that of kretprobes, has a
 * kretprobe: a disarmed hook loses its handler before the grace period after which the probe is
 * freed.  So the handler of live itself is read once, and may be gone, too.  Before rethooks, a
 * disarmed kretprobe left its calls in the same way.
 */
static __always_inline struct kretprobe *ct_pending_kretprobe(const struct kretprobe_instance *a,
							      const struct kretprobe_instance *live)
{
#if CT_KRETPROBE == 1
	typeof(live->node.rethook->handler) ours = READ_ONCE(live->node.rethook->handler);

	if (!ours || READ_ONCE(a->node.rethook->handler) != ours)
		return NULL;
#endif
	return ct_kretprobe_of(a);
}

/*
 * Bytes that the kernel keeps for the calls of an armed kretprobe.  Where each CPU has a list with
 * room for all instances, that is rounded up to a power of two.
 */
static inline u64 ct_kretprobe_memory(const struct kretprobe *rp)
{
	u64 bytes = rp->maxactive * (sizeof(struct kretprobe_instance) + rp->data_size);

#if CT_KRETPROBE_POOL == 1
	bytes += num_possible_cpus() * roundup_pow_of_two(rp->maxactive) * sizeof(void *);
#endif
	return bytes;
}
#endif

#endif
