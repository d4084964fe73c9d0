/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every difference between the kernels that the module builds for stands here,
 * so that no other file asks for a version.
 */
#ifndef CT_COMPAT_H
#define CT_COMPAT_H

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/asm.h>
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
 * The operations of a dma_fence that was just made; protected by RCU in kernels where
 * they may go before the fence does.
 */
#define ct_fence_ops(fence)	rcu_dereference_raw((fence)->ops)

/* Stop a timer for good. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ct_timer_shutdown(t)	del_timer_sync(t)
#else
#define ct_timer_shutdown(t)	timer_shutdown_sync(t)
#endif

/*
 * Copy 8 bytes of user memory; between user_access_begin() and _end().  Where they
 * can't be read it goes to fault.
 *
 * unsafe_get_user() needs a register and a test for each word where the compiler
 * can't have outputs and labels at once: Debian's.
 */
#ifdef CONFIG_X86_64
#define ct_copy_user_word(to, from, fault)				\
	asm goto("1:	movq %[src], %%rax\n"				\
		 "	movq %%rax, %[dst]\n"				\
		 _ASM_EXTABLE_UA(1b, %l2)				\
		 : : [src] "m" (*(const u64 __force *)(from)),		\
		     [dst] "m" (*(u64 *)(to))				\
		 : "rax", "memory" : fault)
/* Go to differs if they are not value, or can't be read. */
#define ct_check_user_word(from, value, differs)			\
	asm goto("1:	cmpq %[val], %[src]\n"				\
		 "	jne %l2\n"				\
		 _ASM_EXTABLE_UA(1b, %l2)			\
		 : : [src] "m" (*(const u64 __force *)(from)),		\
		     [val] "r" (value)					\
		 : "cc", "memory" : differs)
#else
#define ct_copy_user_word(to, from, fault)	unsafe_get_user(*(to), from, fault)
#define ct_check_user_word(from, value, differs)			\
do {									\
	u64 __word;							\
	unsafe_get_user(__word, from, differs);				\
	if (__word != (value))						\
		goto differs;						\
} while (0)
#endif

/* Put new where old is, if it is there: atomic against this CPU alone. */
static __always_inline bool ct_local64_replace(local64_t *l, s64 old, s64 new)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return local64_cmpxchg(l, old, new) == old;
#else
	return local64_try_cmpxchg(l, &old, new);
#endif
}

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
