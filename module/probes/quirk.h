/* SPDX-License-Identifier: GPL-2.0 */
/* Functions at the very end of a module's memory, which must not be probed. */
#ifndef CT_QUIRK_H
#define CT_QUIRK_H

struct module;

/*
 * ct_quirk_check - may a breakpoint be set on the function that begins at this address?  0, or
 * -EINVAL if it could crash the kernel.  The kernel looks for the function's size, so this takes
 * as long as registering a kprobe does.  Task context.
 */
int ct_quirk_check(unsigned long address);

/*
 * ct_quirk_check_name - the same for a function of this module ("": of the kernel itself).  Also
 * -ENOENT: the module is not loaded, or has no such function.  May sleep; the caller holds
 * ct_session_lock.
 */
int ct_quirk_check_name(const char *module, const char *symbol);

/*
 * ct_quirk_coming - the caller loads this module, which cannot be found by its name yet; NULL:
 * it does no longer.  The caller holds ct_session_lock.
 */
void ct_quirk_coming(struct module *mod);

#endif
