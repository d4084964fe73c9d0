/* SPDX-License-Identifier: GPL-2.0 */
/* Records as JSON Lines. */
#ifndef CT_JSON_H
#define CT_JSON_H

#include "core/session.h"

/*
 * No line is longer: up to CT_FIELDS_MAX strings of CT_STRING_SHOWN bytes and a text
 * of CT_TEXT_SHOWN, some of them twice, after escaping; what is longer is cut.
 */
#define CT_LINE_MAX	(32u << 10)

/* Whose numbers stand in the lines: processes and users as they are known there. */
struct pid_namespace;
struct user_namespace;
struct ct_viewer {
	struct pid_namespace *pids;
	struct user_namespace *users;
};

/*
 * ct_json_record - one line for a record.
 * @out:	room for CT_LINE_MAX bytes
 * @rec:	a copy of the whole record, size bytes
 * @stamp:	its time, made whole
 * @cpu:	where it was written
 * @event_id:	number of the line
 * Whoever is the current task.  May sleep.  Returns the line's
 * length.
 */
size_t ct_json_record(char *out, const struct ct_session_state *s, const struct ct_viewer *viewer,
		      const struct ct_cpu_record *rec, u32 size, u64 stamp, u32 cpu, u64 event_id);

/* ct_json_lost - the line that tells of a loss. */
size_t ct_json_lost(char *out, const struct ct_session_state *s, u32 cpu, u64 count,
		    const char *reason, u64 stamp, u64 event_id);

#endif
