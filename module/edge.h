/* SPDX-License-Identifier: GPL-2.0 */
/* Functions at the very end of a module's memory, which must not be probed. */
#ifndef CT_EDGE_H
#define CT_EDGE_H

#include <linux/types.h>

/*
 * ct_edge_unsafe - would a breakpoint on this function of this module crash the
 * kernel?  May sleep; the caller holds ct_session_lock.
 */
bool ct_edge_unsafe(const char *module, const char *symbol);

/* A module comes or goes: what was found out about one of its name is over. */
void ct_edge_forget(const char *module);

#endif
