/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a session as text, merged over the CPUs in the order of time. */
#ifndef CT_READER_H
#define CT_READER_H

#include <linux/poll.h>
#include <linux/types.h>

struct ct_session_state;
struct ct_watermark;
struct ct_viewer;
struct ct_reader;

/*
 * ct_reader_open - a reader of this session, placed behind what is written now.
 * @viewer:	whose numbers its lines have, whoever reads or waits; lives longer
 * Takes over the caller's reference of s, also on failure.
 * Returns ERR_PTR(-ENOMEM).
 */
struct ct_reader *ct_reader_open(struct ct_session_state *s, const struct ct_viewer *viewer);
void ct_reader_close(struct ct_reader *rd);

/*
 * ct_reader_watch - file reads or waits: unless it is the session's owner, it wants to
 * see here what would go through thread buffers.  May sleep; serialised with ct_reader_read().
 */
void ct_reader_watch(struct ct_reader *rd, const struct file *file);

/*
 * ct_reader_read - lines into user memory.
 * The caller serialises calls.  Sleeps unless nonblock.
 * Returns bytes; 0 when the session is over and all of it was read; -EAGAIN,
 * -ERESTARTSYS, -EFAULT.
 */
ssize_t ct_reader_read(struct ct_reader *rd, char __user *to, size_t room,
		       const struct ct_watermark *wm, bool nonblock);

/*
 * ct_reader_poll - mapped: the file reads by mmap(), so only what stands in the rings
 * counts.  The caller serialises it with ct_reader_read().
 */
__poll_t ct_reader_poll(struct ct_reader *rd, struct file *file, poll_table *wait,
			const struct ct_watermark *wm, bool mapped);

/* ct_reader_done - CT_IOC_READ_DONE. */
void ct_reader_done(struct ct_reader *rd);

#endif
