// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of functions at once, each only counted.
 *
 * A kretprobe on a function with an ftrace site makes ftrace look at every site of the
 * kernel when it is armed, and again when it is disarmed: a minute for thousands.  So
 * all those of one module get one fprobe, which ftrace arms and disarms in one pass; its
 * handler finds the function by its address.  Functions without a site (the driver's
 * prebuilt core) get a kretprobe each, which stays a breakpoint: while the kernel turns
 * some into jumps it lets nobody register another, for an RCU grace period each time.
 *
 * A kernel without fprobe (Debian's 6.1) takes kretprobes for all.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "clock.h"
#include "compat.h"
#include "driver.h"
#include "many.h"
#include "probe.h"
#include "session.h"

#ifdef CONFIG_FPROBE
#include <linux/fprobe.h>

struct row {
	unsigned long address;
	struct ct_probe_slot *slot;
};

/* The functions of one module and owner that were armed together. */
struct ct_many {
	struct list_head list;
	struct fprobe fp;
	const void *owner;
	char module[MODULE_NAME_LEN];
	u32 count;
	struct row row[];	/* by address */
};

static LIST_HEAD(all);		/* under ct_session_lock */

/* Between the entry and the return of one call. */
struct call {
	u64 begin;
	struct ct_probe_slot *slot;
};

/* ------------------------------------------------------------ handlers ----- */

/* The address that ftrace tells is that of the site, some bytes behind the begin. */
static struct ct_probe_slot *slot_of(const struct ct_many *m, unsigned long address)
{
	u32 low = 0, high = m->count, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (m->row[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return m->row[low].slot;
}

/* 0: hook the return, too. */
static int on_entry(struct fprobe *fp, unsigned long address, unsigned long ret,
		    ct_fprobe_regs *regs, void *data)
{
	struct ct_many *m = container_of(fp, struct ct_many, fp);
	struct call *c = data;

	if (!ct_cpu_writing())
		return 1;
	c->slot = slot_of(m, address);
	c->begin = ct_clock_ns();
	return 0;
}

static void on_return(struct fprobe *fp, unsigned long address, unsigned long ret,
		      ct_fprobe_regs *regs, void *data)
{
	struct call *c = data;

	this_cpu_inc(c->slot->count->hits);
	this_cpu_add(c->slot->count->time, ct_clock_ns() - c->begin);
}
NOKPROBE_SYMBOL(on_entry);
NOKPROBE_SYMBOL(on_return);

/* ------------------------------------------------------------- batches ----- */

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->slot->desc->alt[0].symbol, y->slot->desc->alt[0].symbol);
}

/* Does an ftrace site begin there, in a kernel that leaves a nop or a call? */
static bool has_site(unsigned long address)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	u8 code[sizeof(endbr) + sizeof(nop)];
	const u8 *at = code;

	if (copy_from_kernel_nofault(code, (void *)address, sizeof(code)))
		return false;
	if (!memcmp(at, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	return !memcmp(at, nop, sizeof(nop)) || *at == 0xe8;
}

/* Give the rows, which are sorted by name, their addresses; those with a site first. */
static u32 find_sites(struct row *row, u32 count, struct module *mod)
{
	/* Those that stay as long as the module does, unlike those of its init. */
	const struct mod_kallsyms *symbols = &mod->core_kallsyms;
	u32 i, low, high, middle, found = 0;
	const char *name;
	int d;

	for (i = 1; i < symbols->num_symtab; i++) {
		if (!(i % 1024))
			cond_resched();
		name = symbols->strtab + symbols->symtab[i].st_name;
		for (low = 0, high = count; low < high;) {
			middle = (low + high) / 2;
			d = strcmp(name, row[middle].slot->desc->alt[0].symbol);
			if (!d) {
				/* Of several of one name none: which is meant? */
				row[middle].address = row[middle].address ? ULONG_MAX :
						      symbols->symtab[i].st_value;
				break;
			}
			if (d < 0)
				high = middle;
			else
				low = middle + 1;
		}
	}
	for (i = 0; i < count; i++) {
		if (!row[i].address || row[i].address == ULONG_MAX || !has_site(row[i].address))
			continue;
		swap(row[found], row[i]);
		found++;	/* not in swap(), which asks for it more than once */
	}
	return found;
}

/* One fprobe for all rows; their slots are armed if it could be registered. */
static int arm_rows(struct ct_many *m)
{
	unsigned long *address;
	u32 i;
	int err;

	address = kvmalloc_array(m->count, sizeof(*address), GFP_KERNEL);
	if (!address)
		return -ENOMEM;
	sort(m->row, m->count, sizeof(*m->row), by_address, NULL);
	for (i = 0; i < m->count; i++)
		address[i] = m->row[i].address;
	m->fp = (struct fprobe){
		.entry_handler = on_entry,
		.exit_handler = on_return,
		.entry_data_size = sizeof(struct call),
	};
	ct_fprobe_maxactive(&m->fp, max(4096u, 64 * num_possible_cpus()));
	err = register_fprobe_ips(&m->fp, address, m->count);
	kvfree(address);
	if (err)
		return err;
	for (i = 0; i < m->count; i++) {
		m->row[i].slot->many = m;
		m->row[i].slot->state[0] = CT_PROBE_ARMED;
	}
	list_add(&m->list, &all);
	return 0;
}

/* No handler of it runs any more; of calls that are open the return is not counted. */
static void disarm_rows(struct ct_many *m)
{
	u32 i;

	unregister_fprobe(&m->fp);
	synchronize_rcu();
	for (i = 0; i < m->count; i++) {
		m->row[i].slot->missed += i ? 0 : m->fp.nmissed;
		m->row[i].slot->many = NULL;
		m->row[i].slot->state[0] = CT_PROBE_IDLE;
	}
	list_del(&m->list);
}

/* Those of the waiting probes that are of this module and have a site. */
static int arm_sites(const char *module, const void *owner)
{
	struct ct_probe_slot *p;
	struct module *mod;
	struct ct_many *m;
	unsigned long id = 0;
	u32 n = 0;
	int err;

	while ((p = ct_probe_slot_next(&id)))
		n += ct_probe_waits(p, owner) && !strcmp(p->desc->module, module);
	mod = *module ? ct_driver_get(module) : NULL;
	if (!n || !mod)
		return 0;
	m = kvzalloc(struct_size(m, row, n), GFP_KERNEL);
	if (!m) {
		ct_driver_put(mod);
		return -ENOMEM;
	}
	m->owner = owner;
	strscpy(m->module, module, sizeof(m->module));
	id = 0;
	while ((p = ct_probe_slot_next(&id)) && m->count < n)
		if (ct_probe_waits(p, owner) && !strcmp(p->desc->module, module))
			m->row[m->count++].slot = p;
	sort(m->row, m->count, sizeof(*m->row), by_name, NULL);
	m->count = find_sites(m->row, m->count, mod);
	ct_driver_put(mod);
	err = m->count ? arm_rows(m) : -ENOENT;
	if (err)
		kvfree(m);	/* they are tried one by one */
	return 0;
}

void ct_many_disarm(const char *module, const void *owner)
{
	struct ct_many *m, *next;

	list_for_each_entry_safe(m, next, &all, list) {
		if ((module && strcmp(m->module, module)) || (owner && m->owner != owner))
			continue;
		disarm_rows(m);
		kvfree(m);
	}
}

/* The others are armed again without it, and miss what is called in between. */
void ct_many_drop(struct ct_probe_slot *p)
{
	struct ct_many *m = p->many;
	u32 i, n = 0;

	if (!m)
		return;
	disarm_rows(m);
	for (i = 0; i < m->count; i++)
		if (m->row[i].slot != p)
			m->row[n++] = m->row[i];
	m->count = n;
	if (!n || arm_rows(m))
		kvfree(m);
}
#else
static int arm_sites(const char *module, const void *owner)
{
	return 0;
}

void ct_many_disarm(const char *module, const void *owner)
{
}

void ct_many_drop(struct ct_probe_slot *p)
{
}
#endif

/* What is left has no site, but where all is left because there is no fprobe. */
static void arm_rest(const void *owner)
{
	struct ct_probe_slot *p;
	unsigned long id = 0;

	while ((p = ct_probe_slot_next(&id)))
		if (ct_probe_waits(p, owner))
			ct_probe_slot_arm(p, IS_ENABLED(CONFIG_FPROBE));
}

int ct_many_arm(const void *owner)
{
	char module[sizeof_field(struct ct_probe_add, module)];
	struct ct_probe_slot *p;
	unsigned long id = 0;
	int err = 0;

	mutex_lock(&ct_session_lock);
	if (!ct_probe_arming(CT_GROUP_ADDED))
		err = -ENODATA;
	/* Module by module: arming sets the state of those that it took. */
	*module = '\0';
	while (!err && (p = ct_probe_slot_next(&id))) {
		if (!ct_probe_waits(p, owner) || !strcmp(p->desc->module, module))
			continue;
		strscpy(module, p->desc->module, sizeof(module));
		err = arm_sites(module, owner);
	}
	if (!err)
		arm_rest(owner);
	mutex_unlock(&ct_session_lock);
	return err;
}
