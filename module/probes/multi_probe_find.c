// SPDX-License-Identifier: GPL-2.0
/*
 * Finds functions by name: all functions of that name in a module (an inline function may have
 * several copies).
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "probes/multi_probe_find.h"
#include "nvidia/driver.h"

/* How many functions of a module have these sorted names; with a table they are added to it. */
static u32 multi_find_in_module(struct ct_row *row, u32 count, struct module *mod,
				struct ct_table *t)
{
	/* Symbols that live as long as the module, unlike those of its init section. */
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
			d = strcmp(name, ct_row_name(&row[middle]));
			if (!d) {
				found++;
				row[middle].address = symbols->symtab[i].st_value;
				if (t && t->count < t->room)
					t->row[t->count++] = row[middle];
				break;
			}
			if (d < 0)
				high = middle;
			else
				low = middle + 1;
		}
	}
	return found;
}

/*
 * The same for the kernel itself.  Modules cannot read its symbols, but registering a kprobe finds
 * the address.
 */
static u32 multi_find_in_kernel(struct ct_row *row, u32 count, struct ct_table *t)
{
	const u32 room = 64; /* registered together, so that there is one wait for all of them */
	struct kprobe *kp = t ? kvcalloc(room, sizeof(*kp), GFP_KERNEL) : NULL, *asked[64];
	u32 i, k, n;

	for (i = 0; kp && i < count; i += k) {
		for (n = k = 0; k < room && i + k < count; k++) {
			kp[n] = (struct kprobe){
				.symbol_name = ct_row_name(&row[i + k]),
				.flags = KPROBE_FLAG_DISABLED,
			};
			if (register_kprobe(&kp[n]))
				continue;
			row[i + k].address = (unsigned long)kp[n].addr;
			if (t->count < t->room)
				t->row[t->count++] = row[i + k];
			asked[n] = &kp[n];
			n++;
		}
		if (n)
			unregister_kprobes(asked, n);
		cond_resched();
	}
	kvfree(kp);
	return count;
}

u32 ct_multi_probe_find(struct ct_row *row, u32 count, struct ct_table *t)
{
	struct module *mod;
	u32 i, n, found = 0;
	const char *of;

	for (i = 0; i < count; i += n) {
		of = row[i].slot->desc->module;
		for (n = 1; i + n < count && !strcmp(row[i + n].slot->desc->module, of); n++)
			;
		if (!*of) {
			found += multi_find_in_kernel(row + i, n, t);
			continue;
		}
		mod = ct_driver_get(of);
		if (!mod)
			continue;
		found += multi_find_in_module(row + i, n, mod, t);
		ct_driver_put(mod);
	}
	return found;
}
