// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Patching global offset tables; see got.h.
 *
 * A slot that the loader has bound holds an address in libcuda.  One that is
 * bound at its first call holds an address of its own object; it is bound here,
 * by the loader's rule: the first object of the list that defines the name.
 * Must never write a slot whose value is neither.
 *
 * An object may be here while another thread still relocates it: its slots are filled one
 * after the other, each once, and its RELRO pages are protected at the end.
 */
#include "hook/got.h"

#include "hook/driver.h"
#include "hook/slot.h"

#define PAGE	4096ull

static bool of_driver(const char *name)
{
	if (name[0] != 'c' || name[1] != 'u')
		return false;
	if (name[2] == 'd' && name[3] == 'a')
		name += 2;
	return name[2] >= 'A' && name[2] <= 'Z';
}

struct definition {
	const char *name;
	u64 address;
};

static int find_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	struct definition *d = data;
	struct ct_object o;
	const ElfW(Sym) *s;

	(void)size;
	if (!ct_object_read(&o, info))
		return 0;
	s = ct_object_find(&o, d->name);
	if (!s)
		return 0;
	d->address = o.base + s->st_value;
	return 1;
}

static u64 bound_later(const char *name)
{
	struct definition d = { name, 0 };

	ct_each_object(find_definition, &d);
	return d.address;
}

/* By the kernel, which stores nothing into a page that is protected. */
static bool store_if_writable(u64 *slot, void *thunk)
{
	struct { u64 base, len; } from = { (u64)&thunk, 8 }, to = { (u64)slot, 8 };

	return ct_sys6(SYS_process_vm_writev, ct_sys0(SYS_getpid), &from, 1, &to, 1, 0) == 8;
}

static void store(const struct ct_object *o, u64 *slot, void *thunk)
{
	u64 page = (u64)slot & -PAGE;
	bool relro = page >= o->relro_start && page < o->relro_end;

	if (!ct_object_writable(o, (u64)slot))
		return;
	/*
	 * A page that is not protected yet must not be, before the loader is done with it;
	 * it may be protected at any instruction.
	 */
	if (relro && store_if_writable(slot, thunk))
		return;
	if (relro && ct_sys3(SYS_mprotect, page, PAGE, PROT_READ | PROT_WRITE) < 0)
		return;
	__atomic_store_n(slot, (u64)thunk, __ATOMIC_RELEASE);
	if (relro)
		ct_sys3(SYS_mprotect, page, PAGE, PROT_READ);
}

/* False if the loader has yet to fill the slot. */
static bool patch_one(const struct ct_object *o, const ElfW(Rela) *r)
{
	u32 type = (u32)ELF64_R_TYPE(r->r_info);
	const ElfW(Sym) *s;
	const char *name;
	u64 *slot, value;
	void *thunk;

	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
	    (type != R_X86_64_64 || r->r_addend))
		return true;
	s = &o->symbols[ELF64_R_SYM(r->r_info)];
	name = o->strings + s->st_name;
	if (!of_driver(name))
		return true;

	slot = (u64 *)(o->base + r->r_offset);
	value = *slot;
	if (!ct_driver_contains(value)) {
		if (type != R_X86_64_JUMP_SLOT || value < o->start || value >= o->end)
			/* What is not relocated yet is where the object was linked at. */
			return value && (type != R_X86_64_JUMP_SLOT ||
					 value + o->base < o->start || value + o->base >= o->end);
		value = bound_later(name);
		if (!ct_driver_contains(value))
			return true;
	}
	thunk = ct_thunk_for(name, (void *)value);
	if ((u64)thunk != value)
		store(o, slot, thunk);
	return true;
}

bool ct_got_patch(const struct ct_object *o)
{
	bool all = true;

	for (size_t i = 0; i < o->plt_count; i++)
		all &= patch_one(o, &o->plt[i]);
	for (size_t i = 0; i < o->rela_count; i++)
		all &= patch_one(o, &o->rela[i]);
	return all;
}

static void replace_one(const struct ct_object *o, const ElfW(Rela) *r, const char *name,
			void *from, void *to)
{
	u32 type = (u32)ELF64_R_TYPE(r->r_info);
	u64 *slot = (u64 *)(o->base + r->r_offset);

	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
	    strcmp(o->strings + o->symbols[ELF64_R_SYM(r->r_info)].st_name, name))
		return;
	/* One that is bound at its first call leads into its own object. */
	if (*slot == (u64)from || (*slot >= o->start && *slot < o->end))
		store(o, slot, to);
}

void ct_got_replace(const struct ct_object *o, const char *name, void *from, void *to)
{
	for (size_t i = 0; i < o->plt_count; i++)
		replace_one(o, &o->plt[i], name, from, to);
	for (size_t i = 0; i < o->rela_count; i++)
		replace_one(o, &o->rela[i], name, from, to);
}
