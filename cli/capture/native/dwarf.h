/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of compiled code, by elfutils' libdw where the machine has it. */
#ifndef CT_CLI_NATIVE_DWARF_H
#define CT_CLI_NATIVE_DWARF_H

#include <stdbool.h>
#include <stdint.h>

struct ct_dwarf;

/* The lines of @path; NULL: there are none.  Only of files of root and of who records: libdw believes what it reads. */
struct ct_dwarf *ct_dwarf_open(const char *path);

/*
 * The line at @address, an address as the file has it, of the function that begins at @begin, and its source file, until
 * the close; *dir: of the compiler, where the file is below it, else NULL.  false: not known.
 */
bool ct_dwarf_line(struct ct_dwarf *d, uint64_t address, uint64_t begin, const char **file, const char **dir, int *line);
void ct_dwarf_close(struct ct_dwarf *d);

#endif
