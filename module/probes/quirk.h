/* SPDX-License-Identifier: GPL-2.0 */
/* Functions at the very end of a module's memory, which must not be probed. */
#ifndef CT_QUIRK_H
#define CT_QUIRK_H

struct module;

/*
 * ct_quirk_check - may a breakpoint be set on this function of this module?  0; -EINVAL if it
 * could crash the kernel; -ENOENT if the module is not loaded (yet).  May sleep; the caller holds
 * ct_session_lock.
 */
int ct_quirk_check(const char *module, const char *symbol);

/*
 * ct_quirk_learn - a module is being loaded: it cannot be found by its name yet.  The caller holds
 * ct_session_lock.
 */
void ct_quirk_learn(const struct module *mod);

/* ct_quirk_forget - a module is loaded or unloaded: drop its result.  The caller needs no lock. */
void ct_quirk_forget(const char *module);

#endif
