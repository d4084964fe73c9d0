/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace directory while it is being made: by record, and by snapshot.  Must never
 * remove a file that no recording made.
 */
#ifndef CT_CLI_RECORDING_H
#define CT_CLI_RECORDING_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "capture/device.h"
#include "write/write_registry.h"
#include "write/state.h"

struct ct_recording {
	char dir[PATH_MAX];		/* absolute */
	int dirfd;
	uint8_t uuid[16];		/* of the trace: ct_recording_registry() */
	int lock;			/* of the trace: ct_trace_lock() */
	bool module;			/* the module records: device is in use */
	struct ct_device device;
	struct ct_registry_writer registry;
	struct ct_state state;
};

#define CT_RECORDING_INIT	{ .dirfd = -1, .lock = -1, .device.fd = -1, .registry.fd = -1 }

/**
 * ct_recording_directory() - make the directory and lock it
 * @dir: NULL for cudatrace-DATE-TIME
 * @force: replace it if it holds a trace
 */
int ct_recording_directory(struct ct_recording *rec, const char *dir, bool force,
			   struct ct_error *err);

/* Registry with its first lines, and the state stream. @command may be NULL. */
int ct_recording_registry(struct ct_recording *rec, const char *command, struct ct_error *err);

/* Write the counters of the probes, and of the rings, into the state stream. */
void ct_recording_probes(struct ct_recording *rec);
void ct_recording_streams(struct ct_recording *rec);

/*
 * Closes everything and finishes the trace.  Where programs still live that record into
 * the trace, it prints that a later command will finish the trace: that is no error.
 */
int ct_recording_finish(struct ct_recording *rec, struct ct_error *err);

/* Nothing was recorded: removes the directory. */
void ct_recording_abandon(struct ct_recording *rec);

#endif
