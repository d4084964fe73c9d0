/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writers of a trace: the recorder that holds its lock, and the threads that live. */
#ifndef CT_CLI_WRITERS_H
#define CT_CLI_WRITERS_H

/**
 * ct_trace_lock() - become the only command that writes the trace in @dir
 *
 * A recorder holds the lock from the first packet to the last.  It also keeps two
 * commands from finishing one trace.  The lock ends with the process.
 *
 * Return: a file descriptor for ct_trace_unlock(); -EWOULDBLOCK: another process
 * holds it; what open() returns.
 */
int ct_trace_lock(const char *dir);
void ct_trace_unlock(const char *dir, int fd);

/* How many threads live that record into @dir by themselves; or a negative errno. */
int ct_trace_lives(const char *dir);

/*
 * Does a process have the file open or mapped for writing?  A read lease is refused then,
 * also where the process is in another pid namespace.  1: yes; 0: no; -1: not known (the
 * file is another user's, or its file system has no leases).
 */
int ct_is_written(const char *path);

#endif
