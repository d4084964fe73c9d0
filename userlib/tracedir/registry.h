/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registry of a trace directory: ids for classes and strings that all
 * processes of a recording share, as the ABI header describes it.
 */
#ifndef CT_REGISTRY_H
#define CT_REGISTRY_H

#include "base/sys.h"

/* An event class before it has an id. */
struct ct_class_text {
	const char *name, *symbol;
	u8 category, op, layout;
};

/*
 * Opens the registry of this directory.  If create is set, the directory and the registry
 * are made if they are absent; but never if the recording's uuid is known (CUDATRACE_TRACE):
 * then they are there, or this is not the directory of the recording.  Under the lock.
 * False, with errno negated in *error, if they can't be used.
 */
bool ct_registry_open(const char *dir, bool create, long *error);

/* There is no directory now: lines of info go nowhere.  Under the lock. */
void ct_registry_none(void);

/* What to say to the user about that error; the directory's name follows. */
const char *ct_registry_why(long error);

/* The trace's uuid, of the registry's first head line. */
const u8 *ct_registry_uuid(void);

/* These take the lock.  0 if there is no id: the disk is full, we may not write, ... */
u32 ct_registry_class(const struct ct_class_text *c);
u32 ct_registry_string(const char *s, size_t n);
void ct_registry_info(const char *key, const char *text);

#endif
