/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of what a program holds handles of: its NVTX domains and registered strings. */
#ifndef CT_NVTX_NAMES_H
#define CT_NVTX_NAMES_H

#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#define TEXT	2048	/* more than a marker takes, which says that it has cut it */

enum name_kind { NAME_DOMAIN, NAME_STRING };

/*
 * Keeps a text for this handle; handle 0: for one that it makes up, the same for the same
 * text.  Gives the handle; 0 if there is no room for the text.
 */
u64 names_learn(enum name_kind kind, u64 handle, const char *text);

/* NULL if it is not known. */
const char *names_text(enum name_kind kind, u64 handle);

#endif
