/* SPDX-License-Identifier: GPL-2.0 */
/* Functions at the very end of a module's memory, which must not be probed. */
#ifndef CT_QUIRK_H
#define CT_QUIRK_H

struct module;

/*
 * ct_quirk_check - may a breakpoint be set on this function of this module?  0; -EINVAL if
 * it would crash the kernel; -ENOENT where the module is not there, or not yet.  May
 * sleep; the caller holds ct_session_lock.
 */
int ct_quirk_check(const char *module, const char *symbol);

/* A module comes: it can't be found by its name yet, but its functions can. */
void ct_quirk_learn(struct module *mod);

/* A module goes: what was found out about one of its name is over. */
void ct_quirk_forget(const char *module);

#endif
