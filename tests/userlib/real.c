// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with NVIDIA's own libcuda, on a machine without a GPU.  Prints how many functions
 * libcuda exports, and how many words of its writable memory lead to thunks; then
 * what cuInit answers by dlsym(), by an address from the file's symbols, and by
 * cuGetProcAddress.  Exit status 0, or 1 if something is missing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)	do { if (!(x)) { printf("%d: %s\n", __LINE__, #x); exit(1); } } while (0)

static unsigned long from, to;		/* where our library is */

static int find_ours(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!strstr(info->dlpi_name, "libcudatrace.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		unsigned long at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = !from || at < from ? at : from;
		to = at + info->dlpi_phdr[i].p_memsz > to ? at + info->dlpi_phdr[i].p_memsz : to;
	}
	return 1;
}

/* As thunks.S has it: endbr64, and the begin of a lea to r11. */
static int is_thunk(unsigned long at)
{
	return at >= from && at < to && !memcmp((void *)at, "\xf3\x0f\x1e\xfa\x4c\x8d\x1d", 7);
}

static int count_words(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libcuda.so."))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		unsigned long *at = (unsigned long *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		for (unsigned long n = p->p_filesz / 8; n; n--, at++)
			*(unsigned *)count += is_thunk(*at);
	}
	return 1;
}

/* The file's dynamic symbols, without the loader. */
static unsigned exports(const char *file, unsigned long *init)
{
	FILE *f = fopen(file, "r");
	unsigned count = 0;
	Elf64_Shdr *s;
	Elf64_Ehdr *e;
	char *image;
	long size;

	CHECK(f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) > 0);
	rewind(f);
	CHECK((image = malloc((size_t)size)) && fread(image, 1, (size_t)size, f) == (size_t)size);
	e = (Elf64_Ehdr *)image;
	s = (Elf64_Shdr *)(image + e->e_shoff);
	for (int i = 0; i < e->e_shnum; i++) {
		const Elf64_Sym *y = (const Elf64_Sym *)(image + s[i].sh_offset);

		if (s[i].sh_type != SHT_DYNSYM)
			continue;
		for (unsigned long n = s[i].sh_size / sizeof(*y); n; n--, y++) {
			const char *name = image + s[s[i].sh_link].sh_offset + y->st_name;

			if (y->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(y->st_info) != STT_FUNC ||
			    strncmp(name, "cu", 2) || name[2] < 'A' || name[2] > 'Z')
				continue;
			count++;
			if (!strcmp(name, "cuInit"))
				*init = y->st_value;
		}
	}
	free(image);
	fclose(f);
	return count;
}

int main(void)
{
	struct link_map *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned), (*by_file)(unsigned), (*asked)(unsigned) = NULL;
	int (*ask)(const char *, void **, int, unsigned long);
	unsigned words = 0, count;
	unsigned long offset = 0;

	CHECK(lib);
	count = exports(lib->l_name, &offset);
	init = (int (*)(unsigned))dlsym(lib, "cuInit");
	ask = (int (*)(const char *, void **, int, unsigned long))dlsym(lib, "cuGetProcAddress");
	by_file = (int (*)(unsigned))(lib->l_addr + offset);
	CHECK(init && offset);
	dl_iterate_phdr(find_ours, NULL);
	dl_iterate_phdr(count_words, &words);
	printf("%u exports, %u words\n", count, words);
	printf("cuInit %d %d", init(0), by_file(0));
	if (ask)	/* since CUDA 11.3 */
		printf(" %d", ask("cuInit", (void **)&asked, 11030, 0) || !asked ? -1 : asked(0));
	putchar('\n');
	return 0;
}
