// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lets a traced process make its calls past the library, and through it again, so that
 * the same work in the same place can be compared: past(1), past(0).  Each thunk's way
 * then is to jump to its target.  For benchmarks alone: knows the library's inside.
 */
#define _GNU_SOURCE
#include "../../../userlib/call/frame.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

__asm__("	.text\n"
	"straight:\n"
	"	jmp	*(%r11)\n");
void straight(void) __attribute__((visibility("hidden")));

static struct {
	const char *path;
	unsigned long base;
} library;

static struct ct_slot *slots;
static unsigned long count;
static ct_way *kept[CT_THUNKS];

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)data;
	if (!name || strncmp(name, "/libcudatrace", 13))
		return 0;
	library.path = info->dlpi_name;
	library.base = info->dlpi_addr;
	return 1;
}

/* In the library's table of all symbols: it exports none of its own. */
static int find_slots(const char *file, size_t size)
{
	const Elf64_Ehdr *elf = (const void *)file;
	const Elf64_Shdr *s = (const void *)(file + elf->e_shoff);

	if (elf->e_shoff + elf->e_shnum * sizeof(*s) > size)
		return -1;
	for (int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Sym *symbol = (const void *)(file + s[i].sh_offset);

		if (s[i].sh_type != SHT_SYMTAB)
			continue;
		for (unsigned long n = 0; n < s[i].sh_size / sizeof(*symbol); n++)
			if (!strcmp(file + s[s[i].sh_link].sh_offset + symbol[n].st_name, "ct_slots")) {
				slots = (void *)(library.base + symbol[n].st_value);
				count = symbol[n].st_size >> CT_SLOT_SHIFT;
				return 0;
			}
	}
	return -1;
}

/* Returns how many functions are meant; -1: there is no library. */
int past(int on)
{
	int functions = 0;

	if (!slots) {
		struct stat st;
		char *file;
		int fd;

		dl_iterate_phdr(find, NULL);
		fd = library.path ? open(library.path, O_RDONLY) : -1;
		if (fd < 0 || fstat(fd, &st))
			return -1;
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
		if (file == MAP_FAILED || find_slots(file, (size_t)st.st_size) || count > CT_THUNKS) {
			slots = NULL;
			return -1;
		}
		munmap(file, (size_t)st.st_size);
	}
	for (unsigned long i = 0; i < count; i++) {
		if (on && slots[i].way && slots[i].way != straight) {
			kept[i] = slots[i].way;
			__atomic_store_n(&slots[i].way, straight, __ATOMIC_RELEASE);
		} else if (!on && slots[i].way == straight) {
			__atomic_store_n(&slots[i].way, kept[i], __ATOMIC_RELEASE);
		}
		functions += slots[i].way != NULL;
	}
	return functions;
}
