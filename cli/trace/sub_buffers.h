/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The packets of a busy thread that are not in its stream yet: the slots of
 * struct ct_handover in cudatrace.h.  Its thread may be at work: what was read is good
 * only if its head is still the same afterwards.
 */
#ifndef CT_CLI_SLOTS_H
#define CT_CLI_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "module/uapi/cudatrace.h"

struct ct_slots {
	int fd;			/* .open-PID-N; -1: none */
	struct ct_handover head;
};

/**
 * ct_slots_open() - open the slots of a stream's thread
 * @stream: its name, u-PID-N
 *
 * Where there are none, there is nothing in them; nothing else is an error.
 */
void ct_slots_open(struct ct_slots *s, const char *dir, const char *stream);
void ct_slots_close(struct ct_slots *s);

/* The same from a file that is open; false if it has none, or they make no sense. */
bool ct_slots_read(struct ct_slots *s);

/**
 * ct_slots_find() - the packet with the lowest number that is at least @seq
 * @head: of that packet
 *
 * Return: where in the file it begins, or 0 if there is none.
 */
uint64_t ct_slots_find(const struct ct_slots *s, uint64_t seq, struct ct_packet *head);

/* Is the packet that was found there still the same? */
bool ct_slots_same(const struct ct_slots *s, uint64_t at, const struct ct_packet *head);

#endif
