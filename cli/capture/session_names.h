/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a snapshot of the module's session says of its processes, as the library would in a trace's directory: which rank
 * of a job each is, and names of threads.  Of those that are still there; of the others the trace has what their records say.
 */
#ifndef CT_CLI_SESSION_NAMES_H
#define CT_CLI_SESSION_NAMES_H

#include "write/write_registry.h"

/* @page: the file that processes of the session have mapped, CT_DEVICE_CLOCK_PAGE. */
void ct_session_names(struct ct_registry_writer *w, const char *page);

#endif
