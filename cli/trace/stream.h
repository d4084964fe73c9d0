/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening one stream of a trace: its packets checked and indexed. */
#ifndef CT_CLI_STREAM_H
#define CT_CLI_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "trace/record.h"
#include "trace/stream_file.h"

/**
 * ct_stream_open() - map and index file @name of directory @dir
 * @finished: the trace has been finished: a part of a packet at the end is a damaged one.
 *	Otherwise its recorder was killed while it wrote the packet
 *
 * Checks every packet and every record.  A packet that is damaged, truncated, or of another trace is
 * left out: @s->packets_bad counts those.  Changes nothing.
 *
 * Return: 0; -EBADMSG the file does not begin like a stream of this trace (@err says why); -ENOMEM;
 * what open() and mmap() return.
 */
int ct_stream_open(struct ct_stream_file *s, const char *dir, const char *name,
		   const struct ct_registry *reg, bool finished, struct ct_error *err);
void ct_stream_close(struct ct_stream_file *s);

#endif
