/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What users ask of a session: start, stop, pause, flush, limits, filter, and taking over a
 * session whose owner has closed its file.
 *
 * A task that waits for ct_session_lock here can be killed, and then nothing was done: -EINTR, or
 * NULL.  Where something is given back (a file is closed, the module unloaded) it cannot.
 */
#ifndef CT_CONTROL_H
#define CT_CONTROL_H

#include <linux/types.h>
#include "cudatrace.h"

struct ct_session_state;

/*
 * ct_control_start - start a session for owner, an open file.
 * @arg:	in and out as CT_IOC_START says
 * @is_default:	a read() that found no session starts it
 *
 * May sleep.  Returns 0, -EBUSY (arg->owner_pid is the other session's owner), -EINVAL,
 * -ENOMEM, or -EINTR: the task is being killed.
 */
int ct_control_start(struct ct_session *arg, const void *owner, bool is_default);

/*
 * ct_control_stop - end the session.  Its owner may; a persistent session may be ended by
 * everybody who is privileged to start one.  May sleep.  -ENODATA: none is running; -EPERM.
 */
int ct_control_stop(const void *owner, bool privileged);

/*
 * ct_control_closed - the owner's file is closed.  Its session ends unless it is persistent.
 * If the owner has not consumed all of it, it is kept for ct_control_adopt().  May sleep.
 */
void ct_control_closed(const void *owner);

/*
 * ct_control_adopt - the session that was kept (the orphan), with a reference; NULL: there is
 * none.  Fills arg as CT_IOC_ADOPT says.
 * ct_control_drop_orphan - stop keeping s.  -ENODATA: it is not the one that is kept.
 * Both may sleep.
 */
struct ct_session_state *ct_control_adopt(struct ct_session *arg);
int ct_control_drop_orphan(struct ct_session_state *s);

/* ct_control_exit - the module is unloaded: end the running session, drop the orphan. */
void ct_control_exit(void);

/*
 * ct_control_extra_reader - a reader that is not the owner wants every record.  It does not see
 * thread buffers, so while there are such readers, no thread buffer is accepted, and the threads
 * record into the rings.  0 or -EINTR: the task is being killed.
 * ct_control_extra_reader_gone - once for each that returned 0.
 * The caller holds a reference.  Both may sleep.
 */
int ct_control_extra_reader(struct ct_session_state *s);
void ct_control_extra_reader_gone(struct ct_session_state *s);

/*
 * ct_control_may - may this file change what the session records?  Its owner may, unless a
 * read() started the session; so may everybody who is privileged to start one.  The caller holds
 * ct_session_lock, so that the answer still holds for what it does next.  0, -EPERM, -ENODATA.
 */
int ct_control_may(const void *owner, bool privileged);

/*
 * CT_IOC_PAUSE and RESUME, CT_IOC_FILTER.  The caller holds ct_session_lock and ct_control_may()
 * returned 0.  May sleep.  Errors as in cudatrace.h.
 */
void ct_control_pause(bool pause);
int ct_control_set_filter(const struct ct_filter *arg);

/*
 * CT_IOC_FLUSH, and CT_IOC_GET_SESSION with ct_session_lock held, for every reader.  May sleep.
 * 0 or -ENODATA.
 */
int ct_control_flush(void);
int ct_control_describe(struct ct_session *arg);

#endif
