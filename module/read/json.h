/* SPDX-License-Identifier: GPL-2.0 */
/* Formats records as JSON Lines. */
#ifndef CT_JSON_H
#define CT_JSON_H

#include "core/session.h"

/*
 * The longest line.  After escaping, a string is cut to CT_STRING_SHOWN bytes and a text to
 * CT_TEXT_SHOWN.  A line has up to CT_FIELDS_MAX strings and a text, some of them twice.
 */
#define CT_LINE_MAX	(32u << 10)

struct pid_namespace;

/* For whom a file's lines are written.  Nobody in a user namespace reads: uids are the host's. */
struct ct_viewer {
	struct pid_namespace *pids; /* pids are shown as numbers of this one */
	bool addresses; /* the kernel's are shown; otherwise their hashes */
};

/*
 * ct_json_record - format a record as one line.
 * @out:	2 * CT_LINE_MAX bytes
 * @rec:	a copy of the whole record
 * @stamp:	its full time in ns
 * @cpu:	the CPU that wrote it
 * @event_id:	number of the line
 * Any task; may sleep.  Returns the line's length; 0: the class is unknown.
 */
size_t ct_json_record(char *out, const struct ct_session_state *s, const struct ct_viewer *viewer,
		      const struct ct_cpu_record *rec, u64 stamp, u32 cpu, u64 event_id);

/* ct_json_lost - format a line that reports count lost records.  Returns its length. */
size_t ct_json_lost(char *out, const struct ct_session_state *s, u32 cpu, u64 count,
		    const char *reason, u64 stamp, u64 event_id);

#endif
