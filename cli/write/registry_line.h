/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a registry as text, for .registry and for the copy in metadata.  Each ends
 * in a newline, is free()d by the caller, and is NULL where there is no memory.
 */
#ifndef CT_CLI_REGISTRY_LINE_H
#define CT_CLI_REGISTRY_LINE_H

#include <stdint.h>

#include "trace/class.h"

/* @start and @realtime: the same moment in both clocks, ns */
char *ct_registry_head_line(const uint8_t uuid[16], uint64_t start, uint64_t realtime);
/* @id: one of the ids of @class */
char *ct_registry_class_line(unsigned int id, const struct ct_class *class);
char *ct_registry_string_line(uint32_t id, const char *text);
char *ct_registry_info_line(const char *key, const char *text);

#endif
