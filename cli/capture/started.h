/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that came from a program that was started here, and may outlive it: a server that puts itself into
 * the background, a launcher's workers.  They have its environment, which names the trace.
 */
#ifndef CT_CLI_STARTED_H
#define CT_CLI_STARTED_H

#include <stddef.h>
#include <stdint.h>

/* How many run whose records go to the trace @uuid, or may; @text: one of them, as "server[4711]"; NULL: whether there is any is all that is asked.  Only those that this user may look at. */
unsigned int ct_started(const uint8_t uuid[16], char *text, size_t size);

#endif
