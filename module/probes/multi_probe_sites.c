// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of a multi-probe that have an ftrace site.  Where the kernel offers no ftrace_ops
 * that can be used (CT_FTRACE_SITES), all functions count as without one.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "probes/multi_probe_handlers.h"
#include "probes/multi_probe_sites.h"
#include "base/compat.h"

#ifdef CT_FTRACE_SITES
/*
 * Where the ftrace site of a function may be; 0: nowhere.  A site is a nop or a call at the
 * function's begin, or after an endbr or whatever instruction the kernel has put in its place.
 */
static unsigned long multi_sites_site_of(unsigned long address)
{
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	const u32 endbr = 4;
	u8 code[sizeof(nop) + 4];
	u32 at;

	if (copy_from_kernel_nofault(code, (void *)address, sizeof(code)))
		return 0;
	for (at = 0; at <= endbr; at += endbr)
		if (code[at] == 0xe8 || !memcmp(code + at, nop, sizeof(nop)))
			return address + at;
	return 0;
}

static void notrace multi_sites_nothing(unsigned long ip, unsigned long parent,
					struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/* A filter that no tracer uses: ftrace accepts only addresses with a site. */
int ct_multi_probe_sites_find(struct ct_row *row, u32 count)
{
	struct ftrace_ops *asks = kzalloc(sizeof(*asks), GFP_KERNEL);
	unsigned long site;

	if (!asks)
		return -ENOMEM;
	asks->func = multi_sites_nothing;
	for (; count; row++, count--) {
		site = multi_sites_site_of(row->address);
		row->site = site && !ftrace_set_filter_ip(asks, site, 0, 1);
		if (row->site)
			row->address = site;
		cond_resched();
	}
	ftrace_free_filter(asks);
	kfree(asks);
	return 0;
}

/* Of the addresses ftrace takes all or none. */
static int multi_sites_filter(struct ftrace_ops *ops, unsigned long *site, u32 count, bool remove)
{
#if CT_FTRACE_FILTER_IPS == 1
	return ftrace_set_filter_ips(ops, site, count, remove, 0);
#else
	u32 i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = ftrace_set_filter_ip(ops, site[i], remove, 0);
		cond_resched();
	}
	for (i = err ? i - 1 : 0; i > 0; i--)
		ftrace_set_filter_ip(ops, site[i - 1], !remove, 0);
	return err;
#endif
}

/* ftrace frees the filter and leaves the pointer to it, so the whole struct is reset. */
static void multi_sites_reset(struct ct_multi_probe *m)
{
	ftrace_free_filter(&m->ops);
	ct_multi_probe_set_ops(m);
}

void ct_multi_probe_sites_init(struct ct_multi_probe *m)
{
	ct_multi_probe_set_ops(m);
}

int ct_multi_probe_sites_arm(struct ct_multi_probe *m, unsigned long *site, u32 count)
{
	int err;

	if (!count)
		return 0;
	err = multi_sites_filter(&m->ops, site, count, false);
	if (!err && !m->sites)
		err = register_ftrace_function(&m->ops);
	if (!err)
		m->sites += count;
	else if (!m->sites)
		multi_sites_reset(m);
	return err;
}

void ct_multi_probe_sites_disarm(struct ct_multi_probe *m, unsigned long *site, u32 count)
{
	u32 i;

	m->sites -= count;
	/* An empty filter would mean all functions. */
	if (!m->sites) {
		unregister_ftrace_function(&m->ops);
		multi_sites_reset(m);
	} else if (multi_sites_filter(&m->ops, site, count, true)) {
		/* ftrace takes all or none: remove one by one what can be removed. */
		for (i = 0; i < count; i++)
			ftrace_set_filter_ip(&m->ops, site[i], 1, 0);
	}
}

#else
int ct_multi_probe_sites_find(struct ct_row *row, u32 count)
{
	return 0;
}

void ct_multi_probe_sites_init(struct ct_multi_probe *m)
{
}

int ct_multi_probe_sites_arm(struct ct_multi_probe *m, unsigned long *site, u32 count)
{
	return count ? -EOPNOTSUPP : 0;
}

void ct_multi_probe_sites_disarm(struct ct_multi_probe *m, unsigned long *site, u32 count)
{
}
#endif
