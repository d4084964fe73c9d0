// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How the library reads the dynamic section of objects that are rare: one that is linked
 * at the top of the address space and not relocated (the vDSO of gVisor and of old
 * kernels), one at 0 that is not relocated either, a libc without a bias.  Prints TAP.
 */
#include "../../userlib/base/elf.c"
#include "../tap.h"

static struct image {
	ElfW(Dyn) dynamic[8];
	ElfW(Sym) symbols[2];
	u32 hash[5];
	char strings[32];
} image __attribute__((aligned(4096)));

#define OFFSET(member)	((u64)offsetof(struct image, member))

/* The image, as if linked at vaddr; add: what the loader added to its own addresses. */
static bool reads(u64 vaddr, u64 add)
{
	const ElfW(Phdr) phdr[] = {
		{ .p_type = PT_LOAD, .p_vaddr = vaddr, .p_memsz = sizeof(image) },
		{ .p_type = PT_DYNAMIC, .p_vaddr = vaddr + OFFSET(dynamic) },
	};
	struct dl_phdr_info info = {
		.dlpi_addr = (u64)&image - vaddr, .dlpi_phdr = phdr, .dlpi_phnum = 2,
	};
	u64 at = vaddr + add;
	const ElfW(Sym) *s;
	struct ct_object o;

	image = (struct image){
		.dynamic = {
			{ DT_HASH, { at + OFFSET(hash) } },
			{ DT_SYMTAB, { at + OFFSET(symbols) } },
			{ DT_STRTAB, { at + OFFSET(strings) } },
			{ DT_SONAME, { 1 } },
			{ DT_JMPREL, { 0x7fffffff0000 } },	/* leads nowhere */
			{ DT_PLTRELSZ, { sizeof(ElfW(Rela)) } },
		},
		.symbols = { [1] = { .st_name = 9, .st_shndx = 1, .st_value = vaddr + 64 } },
		.hash = { 1, 2, 1, 0, 0 },
		.strings = "\0vdso.so\0gettime",
	};
	if (!ct_object_read(&o, &info) || strcmp(o.soname, "vdso.so"))
		return false;
	s = ct_object_find(&o, "gettime");
	return s && o.base + s->st_value == (u64)&image + 64 && !o.plt_count;
}

int main(void)
{
	struct ct_object o;
	struct link_map *libc, prelinked;
	iterate_function *found;

	ok(reads(0, (u64)&image), "linked at 0 and relocated");
	ok(reads(0, 0), "linked at 0 and not relocated");
	ok(reads((u64)&image, 0), "linked where it is");
	ok(reads(0xffffffffff700000, 0), "linked at the top and not relocated");
	ok(reads(0xffffffffff700000, (u64)&image - 0xffffffffff700000), "... and relocated");
	ok(reads(0x400000, 0), "linked at 4 MiB and not relocated");

	found = find_iterate();
	for (libc = _r_debug.r_map; libc; libc = libc->l_next)
		if (libc->l_name && strstr(libc->l_name, "/libc.so.6"))
			break;
	ok(found && libc && read_libc(&o, libc) &&
	   (u64)found == o.base + ct_object_find(&o, "dl_iterate_phdr")->st_value,
	   "libc's dl_iterate_phdr() is found by what the loader tells debuggers");
	prelinked = *libc;
	prelinked.l_addr = 0;
	ok(read_libc(&o, &prelinked) && ct_object_find(&o, "dl_iterate_phdr"),
	   "... of a libc that is mapped where it was linked");
	return tap_done();
}
