/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of a busy thread that are not in its stream yet: the slots of
 * struct ct_subbufs in cudatrace.h.  Its thread may be at work: what was read is good
 * only if its head is still the same afterwards.
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
 * ct_sub_buffers_open() - open the slots of a stream's thread
 * @stream: its name, u-PID-N
 *
 * Where there are none, there is nothing in them; nothing else is an error.
 */
void ct_sub_buffers_open(struct ct_sub_buffers *s, const char *dir, const char *stream);
void ct_sub_buffers_close(struct ct_sub_buffers *s);

/* The same from a file that is open; false if it has none, or they make no sense. */
bool ct_sub_buffers_read(struct ct_sub_buffers *s);

/**
 * ct_sub_buffers_find() - the packet with the lowest number that is at least @seq
 * @head: of that packet
 *
 * Return: where in the file it begins, or 0 if there is none.
 */
uint64_t ct_sub_buffers_find(const struct ct_sub_buffers *s, uint64_t seq, struct ct_packet *head);

/* Is the packet that was found there still the same? */
bool ct_sub_buffers_same(const struct ct_sub_buffers *s, uint64_t at, const struct ct_packet *head);

#endif
