// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Patching global offset tables; see got.h.
 *
 * A slot that the loader has bound holds the function's address.  One that is
 * bound at its first call holds an address of its own object; it is bound here,
 * by the loader's rule: the first object of the list that defines the name.
 * Must never write a slot whose value is neither.  Another thread may be binding it with its
 * first call, and then write over ours: so such an object is looked at again.
 *
 * An object may be here while another thread still relocates it: its slots are filled one
 * after the other, each once, and its RELRO pages are protected at the end.  Those of libc's
 * functions are waited for.
 */
#include "hook/got.h"

#include "base/process.h"
#include "hook/driver.h"
#include "hook/slot.h"

#define PAGE	4096ull

struct ct_got_function ct_got_functions[CT_GOT_FUNCTIONS];
early_data bool ct_got_bound;

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

/* False if it cannot be written. */
static bool store(const struct ct_object *o, u64 *slot, u64 value, void *thunk)
{
	u64 page = (u64)slot & -PAGE;
	bool relro = page >= o->relro_start && page < o->relro_end;

	if (!ct_object_writable(o, (u64)slot))
		return true;
	/*
	 * A page that is not protected yet must not be, before the loader is done with it;
	 * it may be protected at any instruction.
	 */
	if (relro && store_if_writable(slot, thunk))
		return true;
	if (relro && ct_sys3(SYS_mprotect, page, PAGE, PROT_READ | PROT_WRITE) < 0) {
		ct_say_once(CT_ONCE_SLOTS, "the kernel allows no change of a library's global "
			    "offset table: its CUDA calls are not traced, of ",
			    *o->path ? o->path : "the program");
		return false;
	}
	ct_cas(slot, value, (u64)thunk);
	if (relro)
		ct_sys3(SYS_mprotect, page, PAGE, PROT_READ);
	return true;
}

static const struct ct_got_function *function_of(const char *name)
{
	if ((name[0] != 'd' || name[1] != 'l') && name[0] != 'i')
		return NULL;
	for (int i = 0; i < CT_GOT_FUNCTIONS; i++)
		if (ct_got_functions[i].real && !strcmp(name, ct_got_functions[i].name))
			return &ct_got_functions[i];
	return NULL;
}

/* driver: it is a libcuda.  inside: it has a libnccl inside, of which its own calls count, too. */
static enum ct_got_result patch_one(const struct ct_object *o, const ElfW(Rela) *r, bool driver, bool inside)
{
	u32 type = (u32)ELF64_R_TYPE(r->r_info);
	const struct ct_got_function *f;
	bool lazy = false, own;
	const ElfW(Sym) *s;
	const char *name;
	u64 *slot, value, target;
	void *thunk;

	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
	    (type != R_X86_64_64 || r->r_addend))
		return CT_GOT_DONE;
	s = &o->symbols[ELF64_R_SYM(r->r_info)];
	name = o->strings + s->st_name;
	f = function_of(name);
	if (!f && (driver || !ct_driver_has_name(name)))
		return CT_GOT_DONE;
	slot = (u64 *)(o->base + r->r_offset);
	value = target = ct_load(slot);
	if (type == R_X86_64_JUMP_SLOT && ct_object_contains(o, value)) {
		own = s->st_shndx != SHN_UNDEF && value == o->base + s->st_value;
		if (own && !inside)
			return CT_GOT_DONE;	/* its own function */
		lazy = !own;
		if (lazy)
			target = !f ? bound_later(name) : f->lazy ? (u64)f->real : 0;
	} else if (f && (!value || (type == R_X86_64_JUMP_SLOT &&
				    ct_object_contains(o, value + o->base)))) {
		/* What is not relocated yet is where the object was linked at. */
		return CT_GOT_AGAIN;
	}
	if (f)
		thunk = target == (u64)f->real ? f->ours : (void *)target;
	else if ((ct_driver_needs_thunk(target) && !ct_object_contains(o, target)) ||
		 ct_driver_is_inside(target, name))
		thunk = ct_thunk_for(name, (void *)target);
	else
		return CT_GOT_DONE;
	if (!thunk || (u64)thunk == target)
		return CT_GOT_DONE;
	if (!store(o, slot, value, thunk))
		return CT_GOT_REFUSED;
	return lazy ? CT_GOT_AGAIN : CT_GOT_DONE;
}

/* What was in a slot that has this now; 0: it is none of ours. */
static u64 got_before(u64 value)
{
	for (int i = 0; i < CT_GOT_FUNCTIONS; i++)
		if (value == (u64)ct_got_functions[i].ours)
			return (u64)ct_got_functions[i].real;
	return ct_is_thunk((void *)value) ? (u64)ct_thunk_target((void *)value) : 0;
}

void ct_got_put_back(const struct ct_object *o)
{
	for (size_t i = 0; i < o->plt_count + o->rela_count; i++) {
		const ElfW(Rela) *r = i < o->plt_count ? &o->plt[i] : &o->rela[i - o->plt_count];
		u32 type = (u32)ELF64_R_TYPE(r->r_info);
		u64 *slot = (u64 *)(o->base + r->r_offset), value, before;

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64)
			continue;
		value = ct_load(slot);
		before = got_before(value);
		if (before)
			store(o, slot, value, (void *)before);
	}
}

enum ct_got_result ct_got_patch(const struct ct_object *o)
{
	bool again = false, refused = false, driver = ct_driver_is_real(o), inside = ct_driver_is_inside(o->start, NULL);

	for (size_t i = 0; i < o->plt_count + o->rela_count; i++) {
		const ElfW(Rela) *r = i < o->plt_count ? &o->plt[i] : &o->rela[i - o->plt_count];

		switch (patch_one(o, r, driver, inside)) {
		case CT_GOT_DONE: break;
		case CT_GOT_AGAIN: again = true; break;
		case CT_GOT_REFUSED: refused = true; break;
		}
	}
	return refused ? CT_GOT_REFUSED : again ? CT_GOT_AGAIN : CT_GOT_DONE;
}
