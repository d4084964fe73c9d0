/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The newest packets of a busy thread: they are in its sub-buffers, not in its stream. */
#ifndef CT_CLI_STREAM_TAIL_H
#define CT_CLI_STREAM_TAIL_H

#include "trace/stream_file.h"

/**
 * ct_stream_tail_add() - add them to the map of @s, after its tail
 * @uuid: of the trace
 *
 * Return: 1: added, s->added bytes; 0: there are none; -EAGAIN: the thread went on
 * meanwhile, so the stream is to be mapped and indexed further first; -ENOMEM.
 */
int ct_stream_tail_add(struct ct_stream_file *s, const char *dir, const uint8_t uuid[16]);

#endif
