/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the environment asks for, read once when the library starts.
 *
 *   CUDATRACE_SINK		device, files or none; else the first that works
 *   CUDATRACE_DIR		the trace directory
 *   CUDATRACE_TRACE		the uuid of the trace in CUDATRACE_DIR, 32 hexadecimal digits, set by
 *			cudatrace record.  The library then uses that directory only if it
 *			holds this trace, and never makes one: in another root there is another
 *			directory of that name, or none
 *   CUDATRACE_DEVICE		instead of /dev/cudatrace
 *   CUDATRACE_PACKET		bytes of a packet (tests), a power of two
 *   CUDATRACE_TIME_QUERIES	1: queries get both ends of their time
 *   CUDATRACE_RUNTIME		1: the cuda* calls of a shared libcudart too
 *   CUDATRACE_INJECTION_NEXT	the CUDA_INJECTION64_PATH that ours took the place of
 *   CUDATRACE_THREADBUFS		0: every record to the device by ioctl
 *   CUDATRACE_STACKS		set: stacks of calls, which libcudatrace-stacks.so takes
 *   CUDATRACE_KEEP		BYTES: the trace directory is bounded, see struct ct_recorder_page; so much of it
 *				is for names, of which none is ever dropped
 *   CUDATRACE_ONLY		which functions to record, see call/chosen.h
 *   CUDATRACE_RANGE		which part of the process's time to record, see call/range.h
 *   CUDATRACE_STANDBY		1: records nothing until cudatrace record --pid asks; begin: records from the first
 *			call on, and stops when cudatrace record asks
 *   CUDATRACE_TABLE		0: do without libcuda's own table of pointers
 */
#ifndef CT_OPTIONS_H
#define CT_OPTIONS_H

#include "base/sys.h"

enum ct_backend_wish { CT_BACKEND_ANY, CT_BACKEND_DEVICE, CT_BACKEND_FILES, CT_BACKEND_NONE };

enum ct_standby { CT_STANDBY_NO, CT_STANDBY_WAITS, CT_STANDBY_BEGINS };

struct ct_options {
	enum ct_backend_wish backend;
	char device[256];
	char dir[2048];		/* absolute; "" if not asked for */
	char trace[33];		/* its uuid; "" if not known */
	char injection_next[512];
	u32 packet_size;	/* 0: as the backend thinks best */
	bool time_queries;
	bool threadbufs, runtime, table, stacks;
	u64 keep;		/* bytes of names; 0: without bounds */
	const char *only;	/* CUDATRACE_ONLY; NULL: all functions */
	const char *range;	/* CUDATRACE_RANGE; NULL: all of it */
	u8 standby;		/* enum ct_standby */
};

extern struct ct_options ct_options;

void ct_options_read(char *const *all);

/* Those variables that are ours, with a NULL behind them, in @ours of @room. */
char *const *ct_options_pick(char *const *env, char *ours[], int room);

/* A path made absolute: the program may change its directory later. */
void ct_path_absolute(struct ct_text *t, const char *path);

#endif
