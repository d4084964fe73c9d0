/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions in an ELF file, from .symtab or else .dynsym.  The file may be anybody's: nothing of it is believed. */
#ifndef CT_CLI_ELF_SYMBOLS_H
#define CT_CLI_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_symbol {
	uint64_t from, to;		/* addresses as the file has them */
	uint32_t name;			/* where in names */
};

struct ct_symbols {
	const uint8_t *file;
	size_t size;
	const char *names;		/* ends with a NUL */
	size_t names_size;
	struct ct_symbol *list;		/* by from */
	size_t count, room;
};

/*
 * Reads @path, if it is the build @id, in hex; @id "": whatever it is.  Of a build whose debug file is installed, the names
 * come from there.  0 or a negative errno: -ENOEXEC it is no such file, -ESTALE it is another build.
 */
int ct_symbols_open(struct ct_symbols *s, const char *path, const char *id);

/* The name of the function at @address, mangled, and where it begins; NULL: none is known. */
const char *ct_symbols_find(const struct ct_symbols *s, uint64_t address, uint64_t *begin);
void ct_symbols_close(struct ct_symbols *s);

#endif
