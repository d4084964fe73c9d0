/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that are not complete: they are removed if a signal ends the command.  One thread
 * writes files.
 */
#ifndef CT_CLI_UNFINISHED_H
#define CT_CLI_UNFINISHED_H

/**
 * ct_unfinished() - make a file that gets its name when it is complete
 * @name: that name, "DIR/NAME"
 * @path: the name until then, in the same folder, which begins with a dot: "DIR/.NAME.PID.partial".
 *	It is a new one, whatever others have left or put there.
 *
 * It is removed if a signal ends the command (not SIGKILL).  Of more than some hundred files the
 * last ones are not removed.
 *
 * Return: a descriptor to read and write; a negative errno, and then there is no @path.  Ends with
 * ct_unfinished_forget(); @path is to be freed after that.
 */
int ct_unfinished(const char *name, char **path);

/* @path has its own name now, or is removed. */
void ct_unfinished_forget(const char *path);

#endif
