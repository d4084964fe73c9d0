// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is every pointer that cuGetProcAddress gives also an exported symbol of libcuda?  The
 * library takes a pointer's name from there, and from the name the number of its arguments on
 * the stack.  Asks for each name that libcuda exports, and for those on standard input, in
 * all versions and with all flags.  Prints what is not exported, and the numbers at the end.
 *
 * Usage: proc_address </dev/null, on a machine with NVIDIA's driver.  No GPU work is done.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int get_function(const char *symbol, void **pfn, int version, unsigned long flags,
			 int *status);

static char *names[8192];
static unsigned count;

/* Without _vN, _ptsz and _ptds, once. */
static void add(const char *symbol)
{
	char base[256];
	char *v;
	size_t n = strlen(symbol);

	if (strncmp(symbol, "cu", 2) || n >= sizeof(base) || count == 8192)
		return;
	strcpy(base, symbol);
	if (n > 5 && (!strcmp(base + n - 5, "_ptsz") || !strcmp(base + n - 5, "_ptds")))
		base[n - 5] = 0;
	v = strrchr(base, '_');
	if (v && v[1] == 'v' && v[2] && strspn(v + 2, "0123456789") == strlen(v + 2))
		*v = 0;
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], base))
			return;
	names[count++] = strdup(base);
}

static unsigned symbols_of(const struct link_map *map)
{
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	const unsigned *hash = NULL;
	unsigned n = 0;

	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		if (d->d_tag == DT_GNU_HASH)
			hash = (const unsigned *)d->d_un.d_ptr;
	}
	if (!symbols || !strings || !hash)
		return 0;
	const unsigned *bucket = hash + 4 + hash[2] * 2, *chain = bucket + hash[0];

	for (unsigned b = 0; b < hash[0]; b++)
		for (unsigned i = bucket[b]; i >= hash[1] && i; i++) {
			if (symbols[i].st_value) {
				add(strings + symbols[i].st_name);
				n++;
			}
			if (chain[i - hash[1]] & 1)
				break;
		}
	return n;
}

int main(void)
{
	static const int versions[] = {
		2000, 2010, 2020, 3000, 3010, 3020, 4000, 4010, 5000, 5050, 6000, 6050, 7000, 7050,
		8000, 9000, 9010, 9020, 10000, 10010, 10020, 11000, 11010, 11020, 11030, 11040,
		11050, 11060, 11070, 11080, 12000, 12010, 12020, 12030, 12040, 12050, 12060, 12080,
		12090, 13000, 13010, 13020,
	};
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *p;
	unsigned exported, pointers = 0, strange = 0, other = 0;
	struct link_map *map;
	get_function *get;
	char line[256];
	Dl_info info;

	if (!cuda || dlinfo(cuda, RTLD_DI_LINKMAP, &map)) {
		fprintf(stderr, "no libcuda.so.1\n");
		return 2;
	}
	get = (get_function *)dlsym(cuda, "cuGetProcAddress_v2");
	exported = symbols_of(map);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		add(line);
	}
	for (unsigned i = 0; get && i < count; i++)
		for (unsigned v = 0; v < sizeof(versions) / sizeof(*versions); v++)
			for (unsigned long flags = 0; flags < 3; flags++) {
				p = NULL;
				if (get(names[i], &p, versions[v], flags, NULL) || !p)
					continue;
				pointers++;
				if (!dladdr(p, &info) || info.dli_saddr != p || !info.dli_sname) {
					printf("not exported: %s version %d flags %lu: %p\n", names[i],
					       versions[v], flags, p);
					strange++;
				} else if (strncmp(info.dli_sname, names[i], strlen(names[i]))) {
					printf("another name: %s version %d flags %lu: %s\n", names[i],
					       versions[v], flags, info.dli_sname);
					other++;
				}
			}
	printf("%u symbols exported, %u names, %u pointers, %u not exported, %u of another name\n",
	       exported, count, pointers, strange, other);
	return strange || other;
}
