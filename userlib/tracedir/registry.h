/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registry of a trace directory: ids for classes and strings that all
 * processes of a recording share, as the ABI header describes it.
 */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include "backend/backend.h"

/* Forgets what was read, in a child and at the start; under the lock. */
void ct_registry_renew(void);

/*
 * Says which directory; makes the registry there if it is absent and create is
 * set.  Under the lock.  False, with errno negated in *error, if it can't be
 * used.
 */
bool ct_registry_open(const char *dir, bool create, long *error);

/* The trace's uuid, of the registry's first line. */
const u8 *ct_registry_uuid(void);

/* These take the lock.  0 if the line could not be written. */
u32 ct_registry_class(const struct ct_class_text *c);
u32 ct_registry_string(const char *s, size_t n);
void ct_registry_info(const char *key, const char *text);

#endif
