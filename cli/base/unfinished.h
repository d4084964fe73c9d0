/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that are not complete: they are removed if a signal ends the command.  One thread
 * writes files.
 */
#ifndef CT_CLI_UNFINISHED_H
#define CT_CLI_UNFINISHED_H

/*
 * @path is removed if SIGINT, SIGTERM or SIGHUP comes; it is the caller's, and stays until
 * ct_unfinished_forget().  Of more than some hundred files the last ones are not removed.
 */
void ct_unfinished(const char *path);

/* It has its own name now, or is removed. */
void ct_unfinished_forget(const char *path);

#endif
