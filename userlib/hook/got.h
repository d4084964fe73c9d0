/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are linked to libcuda call it through slots of their global
 * offset table.
 */
#ifndef CT_GOT_H
#define CT_GOT_H

#include "base/elf.h"

/*
 * Puts thunks into those slots of an object that lead into libcuda, or that
 * will once the loader binds them.  Call inside dl_iterate_phdr().  False if there are
 * some that the loader has not filled yet: look again.
 */
bool ct_got_patch(const struct ct_object *o);

/* Every slot of this name that holds one address gets another. */
void ct_got_replace(const struct ct_object *o, const char *name, void *from, void *to);

#endif
