/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of lines of the program, where its files can be read here and are as they were. */
#ifndef CT_CLI_SOURCE_TEXT_H
#define CT_CLI_SOURCE_TEXT_H

#include "trace/registry.h"
#include "trace/stacks/stacks.h"

struct ct_source_file;

/* Zeros are none; files that were read. */
struct ct_sources {
	struct ct_source_file *files;
	unsigned int count, room;
};

/*
 * The frame's line into @buf, without blanks at its ends; "": not known.  A file that was changed after the
 * trace began is not shown, nor is one that is no source.  @buf holds no control characters.
 */
const char *ct_source_text(struct ct_sources *s, const struct ct_registry *reg, const struct ct_stack_frame *f, char *buf,
			   size_t size);
void ct_sources_free(struct ct_sources *s);

#endif
