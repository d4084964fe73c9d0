/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lost records that no packet of a thread counts: struct ct_lost_page in cudatrace.h.
 */
#ifndef CT_CLI_LOST_H
#define CT_CLI_LOST_H

#include <stdbool.h>

#include "trace/reader.h"

/* Ours, before anybody can have filled the disk.  Return: 0 or a negative errno. */
int ct_lost_create(int dirfd);

bool ct_lost_is_page(const char *name);

/* What the page @dir/@name says; 0 if it is none. */
uint64_t ct_lost_read(const char *dir, const char *name);

/**
 * ct_lost_write() - the stream that says to every reader what the pages say
 *
 * Two packets without records: of the first of a stream, babeltrace2 can't tell how
 * much is lost.  Does nothing where the stream says it already.
 *
 * Return: 0 or a negative errno.
 */
int ct_lost_write(const struct ct_trace *t);

#endif
