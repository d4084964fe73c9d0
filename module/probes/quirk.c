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
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "probes/quirk.h"
#include "nvidia/driver.h"
#include "core/session.h"
#include "base/compat.h"

/* Longest instruction of x86. */
#define INSTRUCTION	15

static struct module *quirk_module; /* that the caller loads; under ct_session_lock */

int ct_quirk_check(unsigned long address)
{
	unsigned long page = PAGE_ALIGN(address + 1), size;
	char text[KSYM_SYMBOL_LEN], *at;
	u8 byte;

	/* After the kernel's own text its data is mapped. */
	if (!ct_in_module_area(address) ||
	    !copy_from_kernel_nofault(&byte, (void *)page, sizeof(byte)))
		return 0;
	/* "name+0x0/0x42 [module]", with the size that the kernel goes by. */
	sprint_symbol(text, address);
	at = strstr(text, "/0x");
	if (!at || sscanf(at, "/0x%lx", &size) != 1)
		return -EINVAL;
	return address + size + INSTRUCTION > page ? -EINVAL : 0;
}

/* Where the module has this function; 0: nowhere. */
static unsigned long quirk_address(const struct mod_kallsyms *all, const char *symbol)
{
	unsigned int i;

	for (i = 1; i < all->num_symtab; i++) {
		if (!(i % 1024))
			cond_resched();
		if (!strcmp(all->strtab + all->symtab[i].st_name, symbol))
			return all->symtab[i].st_value;
	}
	return 0;
}

int ct_quirk_check_name(const char *module, const char *symbol)
{
	unsigned long address;
	struct module *mod;

	lockdep_assert_held(&ct_session_lock);
	if (!*module)
		return 0;
	if (quirk_module && !strcmp(quirk_module->name, module)) {
		/* Its initialization has not run, so it has these symbols until we return. */
		address = quirk_address(rcu_dereference_raw(quirk_module->kallsyms), symbol);
	} else {
		mod = ct_driver_get(module);
		if (!mod)
			return -ENOENT;
		/* Symbols that live as long as the module, unlike those of its init section. */
		address = quirk_address(&mod->core_kallsyms, symbol);
		ct_driver_put(mod);
	}
	return address ? ct_quirk_check(address) : -ENOENT;
}

void ct_quirk_coming(struct module *mod)
{
	lockdep_assert_held(&ct_session_lock);
	quirk_module = mod;
}
