// SPDX-License-Identifier: GPL-2.0
/*
 * Where the free instances of a kretprobe are.
 * 1: in a pool with room for all of them on each CPU (6.7)	2: in one list
 */
#include <linux/kprobes.h>

#if CT_FORM == 1
unsigned long conftest(const struct kretprobe *rp);
unsigned long conftest(const struct kretprobe *rp)
{
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	return sizeof(rp->rh->pool.cpu_slots);
#else
	return sizeof(rp->rph->pool.cpu_slots);
#endif
}
#elif CT_FORM == 2
#endif
