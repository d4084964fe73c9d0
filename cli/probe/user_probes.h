/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes that a user adds to the module's own. */
#ifndef CT_CLI_USER_PROBES_H
#define CT_CLI_USER_PROBES_H

#include "base/error.h"
#include "module/uapi/cudatrace.h"

/*
 * Add and remove a probe.  @name: as the user wrote it, for the message.
 * Return: 0 or a negative errno, with a line in @err that names the cure.
 */
int ct_user_probe_add(struct ct_probe_add *add, const char *name, struct ct_error *err);
int ct_user_probe_remove(struct ct_probe_add *add, const char *name, struct ct_error *err);

#endif
