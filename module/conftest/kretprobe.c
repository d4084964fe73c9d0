// SPDX-License-Identifier: GPL-2.0
/*
 * How the kernel keeps the calls of a kretprobe that have not returned.
 * 1: in a list of the task, of rethooks (5.18 on x86)
 * 2: in a list of the task (5.11)
 * 3: in a table that modules cannot read
 * 4: it has no kretprobes
 */
#include <linux/kprobes.h>
#include <linux/sched.h>

#if CT_FORM != 4 && !defined(CONFIG_KRETPROBES)
#error "no kretprobes"
#endif

struct kretprobe *conftest(void);
struct kretprobe *conftest(void)
{
#if CT_FORM == 1
	struct rethook_node *node = container_of(READ_ONCE(current->rethooks.first),
						 struct rethook_node, llist);

	return get_kretprobe(container_of(node, struct kretprobe_instance, node));
#elif CT_FORM == 2
	return get_kretprobe(container_of(READ_ONCE(current->kretprobe_instances.first),
					  struct kretprobe_instance, llist));
#elif CT_FORM == 3
	return container_of((char (*)[])current, struct kretprobe_instance, data)->rp;
#elif CT_FORM == 4
#ifdef CONFIG_KRETPROBES
#error "kretprobes of a form that is not known"
#endif
	return NULL;
#endif
}
