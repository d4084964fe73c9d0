// SPDX-License-Identifier: GPL-2.0
/*
 * Functions at the very end of a module's memory, which must not be probed.
 *
 * When a kprobe sets a breakpoint, the kernel checks whether a jump could replace it, and for that
 * decodes the function up to the next symbol.  After the last function of a module's text there is
 * no symbol before the end of the page.  The bytes there are not code, and the last "instruction"
 * that is decoded may reach into the next page.  If that page is not mapped, the kernel oopses
 * (seen on 6.12 with nvidia_frontend_exit_module, the last function of nvidia's .exit.text).  Users
 * who probe all functions of a module would hit this, so these few functions are found first, and
 * refused.  docs/upstream.md has a reproducer.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "probes/quirk.h"
#include "nvidia/driver.h"
#include "core/session.h"

/* Longest instruction of x86. */
#define INSTRUCTION	15
#define NAMES		16

/*
 * The result for one module: users ask for thousands of its functions, one after the other.  Under
 * ct_session_lock; its name also under known_lock, so that it can be forgotten without the other.
 */
static DEFINE_SPINLOCK(known_lock);
static struct {
	char module[MODULE_NAME_LEN];
	unsigned int count;
	bool too_many;
	char name[NAMES][KSYM_NAME_LEN];
} known;

static bool quirk_is_text(const struct mod_kallsyms *all, unsigned int i)
{
	return all->typetab[i] == 't' || all->typetab[i] == 'T';
}

/* Where the function ends for the kernel: the next symbol, or the end of its page. */
static unsigned long quirk_end_of(const struct mod_kallsyms *all, unsigned long address)
{
	unsigned long end = PAGE_ALIGN(address + 1), value;
	unsigned int i;

	for (i = 1; i < all->num_symtab; i++) {
		value = all->symtab[i].st_value;
		if (value > address && value < end)
			end = value;
	}
	return end;
}

static bool quirk_readable(unsigned long address)
{
	u8 byte;

	return !copy_from_kernel_nofault(&byte, (void *)address, sizeof(byte));
}

static void quirk_look(const struct mod_kallsyms *all)
{
	unsigned long page = 0, next, address;
	bool last = false;
	unsigned int i;

	for (i = 1; i < all->num_symtab; i++) {
		address = all->symtab[i].st_value;
		if (!quirk_is_text(all, i) || !address)
			continue;
		next = PAGE_ALIGN(address + 1);
		if (next != page) {
			page = next;
			last = !quirk_readable(page);
		}
		if (!last || quirk_end_of(all, address) + INSTRUCTION <= page)
			continue;
		if (known.count == NAMES) {
			known.too_many = true;
			break;
		}
		strscpy(known.name[known.count++], all->strtab + all->symtab[i].st_name,
			KSYM_NAME_LEN);
	}
}

void ct_quirk_learn(const struct module *mod)
{
	lockdep_assert_held(&ct_session_lock);
	known.count = 0;
	known.too_many = false;
	spin_lock(&known_lock);
	strscpy(known.module, mod->name, sizeof(known.module));
	spin_unlock(&known_lock);
	rcu_read_lock_sched();
	quirk_look(rcu_dereference_sched(mod->kallsyms));
	rcu_read_unlock_sched();
}

static bool quirk_is_known(const char *module)
{
	bool is;

	spin_lock(&known_lock);
	is = !strcmp(known.module, module);
	spin_unlock(&known_lock);
	return is;
}

int ct_quirk_check(const char *module, const char *symbol)
{
	struct module *mod;
	unsigned int i;

	lockdep_assert_held(&ct_session_lock);
	if (!*module)
		return 0; /* after the kernel's own text its data is mapped */
	if (!quirk_is_known(module)) {
		mod = ct_driver_get(module);
		if (!mod)
			return -ENOENT;
		ct_quirk_learn(mod);
		ct_driver_put(mod);
	}
	for (i = 0; i < known.count; i++)
		if (!strcmp(known.name[i], symbol))
			return -EINVAL;
	return known.too_many ? -EINVAL : 0;
}

void ct_quirk_forget(const char *module)
{
	spin_lock(&known_lock);
	if (!strcmp(known.module, module))
		known.module[0] = '\0';
	spin_unlock(&known_lock);
}
