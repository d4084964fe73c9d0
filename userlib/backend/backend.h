/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where records go: the device, or files of the trace directory.
 *
 * attach and detach are called with the process's lock held, the others without it, but
 * for forget.  None of them touches errno or allocates by malloc.
 */
#ifndef CT_SINK_H
#define CT_SINK_H

#include "record/thread.h"
#include "tracedir/registry.h"

/* A record to be written; payload: size bytes (a multiple of 8), aligned. */
struct ct_record {
	u16 class;
	u8 depth;
	u8 flags;		/* CT_F_* */
	u32 size;
	const void *payload;
	u64 op;
	u64 begin;		/* 0 with CT_F_INSTANT */
	u64 end;		/* when it happened; 0: now */
	u64 result;
};

struct ct_backend {
	const char *name;

	/* Sets t->open; false if there is no memory for that. */
	bool (*attach)(struct ct_thread *t);
	/*
	 * After fork: lets go of what the parent's thread had, but leaves memory where an
	 * interrupted call may still write.  In fork() itself, if libc tells, and again with
	 * the first call (with the lock).
	 */
	void (*forget)(struct ct_thread *t);
	/* The thread ends. */
	void (*detach)(struct ct_thread *t);
	/* A record of the thread could not even be made. */
	void (*lose)(struct ct_thread *t);
	/* The process ends normally; calls may still come.  NULL: nothing to do. */
	void (*end)(struct ct_thread *t);

	/* Ids of a class and of a string; 0 if none could be had. */
	u32 (*define)(const struct ct_class_text *c);
	u32 (*string)(const char *s, size_t n);

	/* A line about the recording, once for all processes. */
	void (*info)(const char *key, const char *text);

	/*
	 * A call begins: sets e->op and e->begin if a record says so, else gives
	 * false.  NULL if the open call of the thread says it all.
	 */
	bool (*begin)(struct ct_thread *t, struct ct_record *e);

	/*
	 * The thread's packet takes no more: a new one for the record with this op
	 * and time (0: not stamped yet); false if there is none.  Signals are
	 * blocked, and no writer but the caller is inside.  NULL: record is no
	 * ct_packet_record.
	 */
	bool (*next)(struct ct_thread *t, u64 op, u64 end);
	void (*record)(struct ct_thread *t, const struct ct_record *e);
};

extern const struct ct_backend *ct_backend;
extern const struct ct_backend ct_backend_none, ct_backend_files, ct_backend_device;

/* With the lock held, at the first call of a process: chooses, or renews. */
void ct_backend_renew(void);

/* Says in the registry which way was taken and what libcuda there is. */
void ct_backend_announce(void);

/* Can the device be used?  Opens it. */
bool ct_device_open(void);
/* Makes the trace directory and its registry usable; false if that failed. */
bool ct_files_open(void);

/* A private page for the open calls of a thread that has none in a file. */
struct ct_inflight_page *ct_open_page_private(struct ct_thread *t);

#endif
