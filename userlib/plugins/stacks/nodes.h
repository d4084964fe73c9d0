/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree of all stacks of the process: a node is a line of a function and what called it.
 * Each is a string of the trace's registry, whose id is the node's; see section 9 of the ABI header.
 */
#ifndef CT_STACKS_NODES_H
#define CT_STACKS_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"

/* For texts, as the stack of the program's thread may have no room for them: they may be as small as 16 KiB. */
struct nodes_room {
	char text[CT_STRING_MAX], file[2300], exe[2048];
};

/*
 * The id of a function; 0: none could be had.  language: "python"; name and file: UTF-8, without
 * control characters.
 */
uint32_t nodes_function(struct nodes_room *room, const char *language, const char *name, size_t name_size, const char *file,
			size_t file_size);

/* The id of a node; parent: 0 for the outermost; line: 0 if it is not known.  0: none could be had. */
uint32_t nodes_node(uint32_t parent, uint32_t function, uint32_t line);

/* Goes up when another trace begins: ids of the one before mean nothing. */
extern uint32_t nodes_generation;

struct ct_host;

/* Another trace begins in a process that was attached to; false: none that can be written to. */
bool nodes_begin(const struct ct_host *(*get)(void));

/* A line about the recording, once for each key. */
void nodes_info(const char *key, const char *text);

#endif
