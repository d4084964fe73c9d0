/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing down records that were lost and that no packet of a thread counts. */
#ifndef CT_CLI_WRITE_LOST_H
#define CT_CLI_WRITE_LOST_H

#include "trace/reader.h"

#define CT_LOST_TEMPORARY	".lost"

/*
 * Creates the page of lost records of this user, before the trace can have filled
 * the disk.  Return: 0 or a negative errno.
 */
int ct_lost_create(int dirfd);

/**
 * ct_lost_write() - write the stream that tells every reader what the pages count
 *
 * Two packets without records: of the first packet of a stream, babeltrace2 can't tell
 * how many records are lost.  Does nothing where the stream has that count already.
 *
 * Return: 0 or a negative errno.
 */
int ct_lost_write(const struct ct_trace *t);

#endif
