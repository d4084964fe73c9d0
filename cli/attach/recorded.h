/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Does another command record a process: also one of another version, whose library is another one there? */
#ifndef CT_CLI_RECORDED_H
#define CT_CLI_RECORDED_H

#include <sys/types.h>

#include "base/error.h"

/*
 * ct_recorded_by_other() - may process @pid be recorded by this command?
 * @dir: this command's trace; NULL: the module's session
 *
 * Where the other recorder was killed this waits until the process has noticed, at most some seconds longer than
 * CT_RECORDER_GONE_NS; then the library there decides.  Return: 0; -EBUSY with @err: it is recorded.
 */
int ct_recorded_by_other(pid_t pid, const char *dir, struct ct_error *err);

#endif
