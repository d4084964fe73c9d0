/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a registry, which several processes may do at once: each line is appended by one
 * write, without a lock (module/uapi/cudatrace.h, section 3).  Each function returns 0 or a
 * negative errno.
 */
#ifndef CT_CLI_WRITE_REGISTRY_H
#define CT_CLI_WRITE_REGISTRY_H

#include <stdint.h>

#include "base/error.h"
#include "trace/class.h"

struct ct_registry_writer {
	int fd;
};

int ct_registry_create(struct ct_registry_writer *w, const char *dir, const uint8_t uuid[16],
		       uint64_t start, uint64_t realtime, struct ct_error *err);
/* Opens one that is there. */
int ct_registry_append(struct ct_registry_writer *w, const char *dir, struct ct_error *err);
int ct_registry_add_define(struct ct_registry_writer *w, const struct ct_define *define);
int ct_registry_add_string(struct ct_registry_writer *w, uint32_t id, const char *text);
int ct_registry_add_info(struct ct_registry_writer *w, const char *key, const char *text);
void ct_registry_close(struct ct_registry_writer *w);

#endif
