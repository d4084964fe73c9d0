/* SPDX-License-Identifier: GPL-2.0 */
/* What an open file of /dev/cudatrace holds: its private_data. */
#ifndef CT_FILE_H
#define CT_FILE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "read/json.h"

struct ct_reader;
struct ct_session_state;

struct ct_file {
	struct mutex lock; /* reader; one read() at a time */
	struct ct_reader *reader;
	u32 number; /* of the reader's session */
	struct ct_viewer viewer; /* who opened it; only of readers */
	bool privileged; /* who opened it was; only of readers */
	struct ct_watermark watermark; /* each word by itself: no lock */
	struct list_head node; /* of those without privileges: see ct_file_drop_old() */
	wait_queue_head_t wait; /* who is in poll() */
	struct timer_list look; /* wakes them, so that poll() looks again */
	bool mapped; /* has mapped a CPU's data */
	bool counts; /* may count functions */
	atomic_t defines; /* it has defined something: it keeps the registry */
	/* session, adopted.  Not lock, with which a read() may sleep. */
	struct mutex start;
	struct ct_session_state *session; /* that it started last, or has adopted since then */
	bool adopted; /* session was adopted */
	spinlock_t session_lock; /* likewise: for mmap(), which must not wait for start */
};

/* ct_file_init - a new file, all zeros.  ct_file_look_later - poll() looks again in 10 ms. */
void ct_file_init(struct ct_file *f);
void ct_file_look_later(struct ct_file *f);

/*
 * A reader keeps its session's rings in memory until it has read them to the end, which it may
 * never do.  Each time a session starts, readers without privileges lose the sessions before the
 * previous one.  So their files keep one session that has ended, however many they are, but for a
 * file on which a read() is going on.
 *
 * ct_file_add_reader, ct_file_remove_reader - such a file was opened, is closed.
 * ct_file_drop_old - a session has begun.  May sleep.
 */
void ct_file_add_reader(struct ct_file *f);
void ct_file_remove_reader(struct ct_file *f);
void ct_file_drop_old(void);

/* ct_file_adopted - the session that this file has adopted, with a reference, or NULL. */
struct ct_session_state *ct_file_adopted(struct ct_file *f);

/*
 * ct_file_set_session - replace f->session by s (NULL: none), whose reference it takes over.  The
 * caller holds f->start.
 */
void ct_file_set_session(struct ct_file *f, struct ct_session_state *s, bool adopted);

#endif
