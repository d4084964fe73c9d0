/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that were started with CUDATRACE_STANDBY=1: the library is there and waits for what a
 * page of shared memory asks (struct ct_standby_page).  Nothing is traced and no thread stands still.
 */
#ifndef CT_CLI_STANDBY_H
#define CT_CLI_STANDBY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/attach.h"

/* Does process @pid stand by?  Also true where its page can't be opened. */
bool ct_standby_is(pid_t pid);

/* As ct_attach(), ct_attach_end_gpu() and ct_attach_end(), for such a process.  @kept: as there. */
int ct_standby_attach(struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err);
/* Of a process that began by itself (CUDATRACE_STANDBY=begin): 0, and a->gpu. */
int ct_standby_adopt(struct ct_attached *a, struct ct_error *err);
int ct_standby_end_gpu(const struct ct_attached *a, const struct ct_attach_to *to, struct ct_error *err);
int ct_standby_put_back(const struct ct_attached *a, unsigned int *kept, struct ct_error *err);
int ct_standby_leave(const struct ct_attached *a, struct ct_error *err);

#endif
