/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots of global offset tables: through these programs that are linked to libcuda call it,
 * and objects call libc's functions past ours.
 */
#ifndef CT_GOT_H
#define CT_GOT_H

#include "base/elf.h"

/*
 * A function of libc that an object may have bound past us, because it was opened
 * with RTLD_DEEPBIND, or before we were loaded: its slots get ours instead.
 */
struct ct_got_function {
	const char *name;
	void *real, *ours;
	bool lazy;		/* also in slots that are not bound yet */
};

enum { CT_GOT_DLSYM, CT_GOT_DLVSYM, CT_GOT_IOCTL, CT_GOT_FUNCTIONS };
extern struct ct_got_function ct_got_functions[CT_GOT_FUNCTIONS];

/* Objects that the program was started with are bound to ours. */
extern bool ct_got_bound;

enum ct_got_result {
	CT_GOT_DONE,
	CT_GOT_AGAIN,		/* slots that the loader fills, or may be filling: look again */
	CT_GOT_REFUSED,		/* one could not be written, which was said */
};

/*
 * Puts ours into the object's slots of those functions, and thunks into those that lead into a
 * libcuda without a known table, or will once the loader binds them (not where libcuda calls
 * itself).  Call inside dl_iterate_phdr().
 */
enum ct_got_result ct_got_patch(const struct ct_object *o);

/* Puts back what ct_got_patch() replaced.  Call inside dl_iterate_phdr(). */
void ct_got_put_back(const struct ct_object *o);

#endif
