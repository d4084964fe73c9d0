/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The buffers that CUPTI fills. */
#ifndef CT_GPU_BUFFERS_H
#define CT_GPU_BUFFERS_H

#include <stdbool.h>

#include "plugins/gpu/cupti_abi.h"

/* CUPTI's callbacks; in any thread. */
void buffers_requested(u8 **buffer, size_t *size, size_t *most_records);
void buffers_completed(void *context, u32 stream, u8 *buffer, size_t size, size_t valid);
bool buffers_is_ours(const u8 *buffer);

/* Writes the records of all buffers that are complete.  One thread at a time. */
void buffers_write(void);

/*
 * The process ends and the writer, which is blocked, can't: what it has and what it would have
 * got counts as lost.
 */
void buffers_lose(void);

/* What still waits to be written is of a trace that has ended. */
void buffers_forget(void);

#endif
