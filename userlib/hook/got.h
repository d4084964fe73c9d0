/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that are linked to libcuda call it through slots of their global
 * offset table.
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

enum ct_got_result {
	CT_GOT_DONE,
	CT_GOT_AGAIN,		/* slots that the loader fills, or may be filling: look again */
	CT_GOT_REFUSED,		/* one could not be written, which was said */
};

/*
 * Puts thunks into those slots of an object that lead into libcuda, or that
 * will once the loader binds them.  driver: the object is libcuda itself, of which only the
 * slots of libc's functions are looked at.  Call inside dl_iterate_phdr().
 */
enum ct_got_result ct_got_patch(const struct ct_object *o, bool driver);

#endif
