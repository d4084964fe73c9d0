// SPDX-License-Identifier: LGPL-2.1-or-later
/* See elf_symbols.h. */
#include "capture/native/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"

static int symbols_map(struct ct_symbols *s, const char *path)
{
	int fd = open(path, O_RDONLY | CT_O_FOREIGN);
	struct stat st;
	void *map;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		close(fd);
		return -ENOEXEC;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	s->file = map;
	s->size = st.st_size;
	return 0;
}

/* @size bytes of the file from @at on; NULL: it has none there. */
static const void *symbols_at(const struct ct_symbols *s, uint64_t at, uint64_t size)
{
	return at <= s->size && size <= s->size - at ? s->file + at : NULL;
}

static const Elf64_Ehdr *symbols_head(const struct ct_symbols *s)
{
	const Elf64_Ehdr *head = symbols_at(s, 0, sizeof(*head));

	return head && !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_ident[EI_DATA] == ELFDATA2LSB ? head : NULL;
}

static bool symbols_note(const uint8_t *at, size_t size, char id[129])
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, text;

		memcpy(&note, at, sizeof(note));
		name = (note.n_namesz + 3ull) & ~3ull;
		text = (note.n_descsz + 3ull) & ~3ull;
		if (name > size - sizeof(note) || text > size - sizeof(note) - name)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at + sizeof(note), "GNU", 4)) {
			for (size_t i = 0; i < note.n_descsz && i < 64; i++)
				sprintf(id + 2 * i, "%02x", at[sizeof(note) + name + i]);
			return true;
		}
		at += sizeof(note) + name + text;
		size -= sizeof(note) + name + text;
	}
	return false;
}

/* Is it this build? */
static bool symbols_is(const struct ct_symbols *s, const Elf64_Ehdr *head, const char *id)
{
	const Elf64_Phdr *p = symbols_at(s, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*p));
	char its[129] = "";

	for (unsigned int i = 0; p && i < head->e_phnum; i++) {
		const uint8_t *notes = p[i].p_type == PT_NOTE ? symbols_at(s, p[i].p_offset, p[i].p_filesz) : NULL;

		if (notes && symbols_note(notes, p[i].p_filesz, its))
			break;
	}
	return !strcmp(its, id);
}

static int symbols_compare(const void *a, const void *b)
{
	const struct ct_symbol *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int symbols_table(struct ct_symbols *s, const Elf64_Ehdr *head, uint32_t type)
{
	const Elf64_Shdr *sections = symbols_at(s, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections)), *names;
	const Elf64_Sym *list;

	for (unsigned int i = 0; sections && i < head->e_shnum; i++) {
		if (sections[i].sh_type != type || sections[i].sh_link >= head->e_shnum)
			continue;
		names = &sections[sections[i].sh_link];
		list = symbols_at(s, sections[i].sh_offset, sections[i].sh_size);
		s->names = symbols_at(s, names->sh_offset, names->sh_size);
		s->names_size = names->sh_size;
		if (!list || !s->names || !s->names_size || s->names[s->names_size - 1])
			return 0;
		for (size_t k = 0; k < sections[i].sh_size / sizeof(*list); k++) {
			const Elf64_Sym *one = &list[k];
			unsigned int kind = ELF64_ST_TYPE(one->st_info);

			if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || one->st_shndx == SHN_UNDEF || one->st_name >= s->names_size)
				continue;
			if (!ct_room(s->list, s->count, s->room))
				return -ENOMEM;
			s->list[s->count++] = (struct ct_symbol){ one->st_value, one->st_value + one->st_size, one->st_name };
		}
		return 0;
	}
	return 0;
}

static int symbols_read(struct ct_symbols *s, const char *path, const char *id)
{
	const Elf64_Ehdr *head;
	int rc = symbols_map(s, path);

	if (rc)
		return rc;
	head = symbols_head(s);
	/* Tables that are not aligned are none that a linker made. */
	if (!head || head->e_phoff % 8 || head->e_shoff % 8)
		return -ENOEXEC;
	if (*id && !symbols_is(s, head, id))
		return -ESTALE;
	rc = symbols_table(s, head, SHT_SYMTAB);
	if (!rc && !s->count)
		rc = symbols_table(s, head, SHT_DYNSYM);
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), symbols_compare);
	return rc;
}

int ct_symbols_open(struct ct_symbols *s, const char *path, const char *id)
{
	char debug[300];
	int rc;

	*s = (struct ct_symbols){ 0 };
	if (strlen(id) > 2 && snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2) < (int)sizeof(debug)) {
		rc = symbols_read(s, debug, id);
		if (!rc && s->count)
			return 0;
		ct_symbols_close(s);
	}
	rc = symbols_read(s, path, id);
	if (rc)
		ct_symbols_close(s);
	return rc;
}

const char *ct_symbols_find(const struct ct_symbols *s, uint64_t address, uint64_t *begin)
{
	size_t from = 0, to = s->count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (s->list[middle].from <= address)
			from = middle + 1;
		else
			to = middle;
	}
	/* Functions inside others, and other names of one, come close before. */
	for (size_t i = from; i-- && from - i < 8;)
		if (address < s->list[i].to || (s->list[i].to == s->list[i].from && i == from - 1)) {
			*begin = s->list[i].from;
			return s->names + s->list[i].name;
		}
	return NULL;
}

void ct_symbols_close(struct ct_symbols *s)
{
	if (s->file)
		munmap((void *)s->file, s->size);
	free(s->list);
	*s = (struct ct_symbols){ 0 };
}
