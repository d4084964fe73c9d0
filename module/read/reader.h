/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a session as text: the records of all CPUs, merged in the order of time. */
#ifndef CT_READER_H
#define CT_READER_H

#include <linux/jiffies.h>
#include <linux/poll.h>
#include <linux/types.h>

struct ct_session_state;
struct ct_watermark;
struct ct_viewer;
struct ct_reader;

/* Jiffies between two looks of a reader that waits. */
#define CT_READER_PERIOD	max_t(long, HZ / 100, 1)

/*
 * ct_reader_open - a reader of this session, which begins behind the records written so far.
 * @viewer:	the namespaces of the pids and uids in its lines; must outlive the reader
 * Consumes the caller's reference of s, also on failure.  May sleep.
 * Returns the reader or ERR_PTR(-ENOMEM).  Free it by ct_reader_close().
 */
struct ct_reader *ct_reader_open(struct ct_session_state *s, const struct ct_viewer *viewer);
void ct_reader_close(struct ct_reader *rd);

/*
 * ct_reader_read - copy lines to user memory.
 * @file:	who reads; unless it is the session's owner, it becomes an extra reader: then
 *		threads record into the rings instead of thread buffers
 * @room:	bytes at to
 * @wm:		the file's watermark
 * Waits for lines unless the file is O_NONBLOCK; may sleep.  The caller serialises calls.
 * Returns the number of bytes; 0 when the session has ended and all of it was read;
 * -EAGAIN, -ERESTARTSYS, -EFAULT, or -EINTR: the task is being killed.
 */
ssize_t ct_reader_read(struct ct_reader *rd, const struct file *file, char __user *to,
		       size_t room, const struct ct_watermark *wm);

/*
 * ct_reader_poll - what poll() of the file returns now; the file becomes an extra reader as in
 * ct_reader_read().
 * @mapped:	the file has mapped a CPU's data: if it owns the session, its consumer page says how
 *		far it has read
 * If it is 0, the caller asks again after CT_READER_PERIOD, and serialises it with
 * ct_reader_read().  May sleep.
 */
__poll_t ct_reader_poll(struct ct_reader *rd, const struct file *file,
			const struct ct_watermark *wm, bool mapped);

#endif
