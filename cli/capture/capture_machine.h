/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace says of the machine and of the program: lines of info that trace/about/machine.h
 * reads.  Must never run code of the program, nor wake a GPU: it reads files.
 */
#ifndef CT_CLI_CAPTURE_MACHINE_H
#define CT_CLI_CAPTURE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "write/write_registry.h"

/* Notes the GPUs.  @root: "" (a folder with proc in it, for tests). */
void ct_machine_note(struct ct_registry_writer *w, const char *root);

/* Notes our environment, as far as CUDA reads it: of a program that gets it from us. */
void ct_machine_environment(struct ct_registry_writer *w);

/**
 * ct_machine_versions() - note the versions of the libraries that the programs loaded
 * @dir: the trace, whose registry has their paths
 *
 * By the files beside them: of a package of Python by its folder of metadata, else by the name
 * that the library's link leads to.
 */
void ct_machine_versions(struct ct_registry_writer *w, const char *dir);

/*
 * The version of the library at @path in @version, and in @name of what: "torch", "2.5.1+cu124".
 * False: no file says it.
 */
bool ct_machine_library(const char *path, char *name, char *version, size_t size);

#endif
