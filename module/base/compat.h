/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the kernels that the module builds for.  No other file may
 * test the kernel's version.
 */
#ifndef CT_COMPAT_H
#define CT_COMPAT_H

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/local64.h>

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
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ct_timer_shutdown(t)	del_timer_sync(t)
#else
#define ct_timer_shutdown(t)	timer_shutdown_sync(t)
#endif

/* Compare and exchange: true if old was replaced by new.  Atomic against this CPU alone. */
static __always_inline bool ct_local64_replace(local64_t *l, s64 old, s64 new)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return local64_cmpxchg(l, old, new) == old;
#else
	return local64_try_cmpxchg(l, &old, new);
#endif
}

/*
 * Does the handler of a kprobe, which got these registers, run in a breakpoint's exception?  Not if
 * the function has an ftrace site, nor if the kernel has replaced the breakpoint by a jump.  A jump
 * saves the registers right below the function's stack pointer; an exception has its frame between.
 */
static __always_inline bool ct_in_breakpoint(const struct kprobe *kp, const struct pt_regs *regs)
{
	if (kp->flags & KPROBE_FLAG_FTRACE)
		return false;
#ifdef CONFIG_X86_64
	return regs->sp != (unsigned long)(regs + 1);
#else
	return true;
#endif
}

/* The newest of the current task's pending return hooks; it leads to the older ones. */
static inline struct llist_node *ct_pending_returns(void)
{
	return READ_ONCE(current->rethooks.first);
}

/*
 * Bytes that the kernel keeps for the calls of an armed kretprobe.  Since 6.7 each CPU has a list
 * with room for all instances, rounded up to a power of two.
 */
static inline u64 ct_kretprobe_memory(const struct kretprobe *rp)
{
	u64 bytes = rp->maxactive * (sizeof(struct kretprobe_instance) + rp->data_size);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	bytes += num_possible_cpus() * roundup_pow_of_two(rp->maxactive) * sizeof(void *);
#endif
	return bytes;
}

/* The kretprobe instance of such a hook. */
static inline struct kretprobe_instance *ct_return_instance(struct llist_node *n)
{
	return container_of(container_of(n, struct rethook_node, llist),
			    struct kretprobe_instance, node);
}

/*
 * Do both hooks have the same rethook handler?  live: the hook of the probe whose handler
 * calls this.  A hook whose probe was disarmed has no handler, so the answer is false.
 */
static inline bool ct_same_hook(const struct kretprobe_instance *a,
				const struct kretprobe_instance *live)
{
	return READ_ONCE(a->node.rethook->handler) == READ_ONCE(live->node.rethook->handler);
}

#endif
