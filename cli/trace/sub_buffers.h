/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of a busy thread that are not in its stream yet: the sub-buffers of
 * struct ct_subbufs in cudatrace.h.  The thread may be writing: a copy is consistent
 * only if the packet's head is still the same afterwards.
 */
#ifndef CT_CLI_SUB_BUFFERS_H
#define CT_CLI_SUB_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "module/uapi/cudatrace.h"

struct ct_sub_buffers {
	int fd;			/* .open-PID-N; -1: none */
	struct ct_subbufs head;
};

/**
 * ct_sub_buffers_open() - open the sub-buffers of a stream's thread
 * @stream: its name, u-PID-N
 *
 * Where there are none, they are empty; no error is reported.
 */
void ct_sub_buffers_open(struct ct_sub_buffers *s, const char *dir, const char *stream);
void ct_sub_buffers_close(struct ct_sub_buffers *s);

/* Reads their head again from s->fd; false if the file has none, or a damaged one. */
bool ct_sub_buffers_read(struct ct_sub_buffers *s);

/**
 * ct_sub_buffers_find() - the packet with the lowest number that is at least @seq
 * @head: of that packet
 *
 * Return: where in the file it begins, or 0 if there is none.
 */
uint64_t ct_sub_buffers_find(const struct ct_sub_buffers *s, uint64_t seq, struct ct_packet *head);

/* Is the packet that was found at @at still the same?  Its thread may have gone on in it. */
bool ct_sub_buffers_same(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head);

/* ... and it did not go on in it, either. */
bool ct_sub_buffers_still(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head);

#endif
