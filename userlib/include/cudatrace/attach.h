/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What cudatrace record --pid and cudatrace session attach call in a process that they have brought the library into.
 */
#ifndef CUDATRACE_ATTACH_H
#define CUDATRACE_ATTACH_H

#include <stdint.h>

/* What cudatrace_attach() returns; a negative errno: nothing was changed. */
#define CT_ATTACHED		0
#define CT_ATTACHED_EARLY	1	/* there is no libcuda yet: it is recorded when it comes */
#define CT_ATTACHED_PARTLY	2	/* functions that were looked up before are not seen */

/* With CUDATRACE_SINK=device: the device can't be used, for the negative errno that is so much higher (EPROTO: its version). */
#define CT_ATTACH_NO_DEVICE	1000

/*
 * cudatrace_attach() - record from now on
 * @options: as in the environment, "CUDATRACE_DIR=..." and so on, each with its NUL; an empty
 *	one ends them
 * @stack: cudatrace_stack() of the plugin for stacks, with CUDATRACE_STACKS; else NULL
 *
 * Again after cudatrace_detach(), as often as is wanted.  EPERM: the program has other rights than
 * its caller's.  EBUSY: the process is being recorded.  EACCES: it can't make files in the trace's directory.
 */
int cudatrace_attach(const char *options, uint32_t (*stack)(void));

/* What is asked for: addresses in the process, 0: not wanted. */
struct ct_attach_asked {
	uint64_t stack, stacks_begin, gpu_begin;
	uint32_t sample;
	uint32_t mark;			/* whose beginning it is: any number, another one each time */
	char stacks_what[32], gpu_what[32];
	char options[8192];
};

/*
 * cudatrace_attach_start() - cudatrace_attach(), and the begin of plugins, in a thread of the library's own
 * @asked: it is copied
 *
 * Return: a ticket, the number of this beginning.  EBUSY: the process is being recorded.  EAGAIN: another beginning is not
 * over yet.  Both leave it, and its answer, alone.
 *
 * The answer is in cudatrace_attach_answer, where the recorder reads it: when @ticket is its own and @done is not 0.  Who
 * does not wait for it any more stores the ticket in @cancelled: then the library leaves again by itself, unless
 * @done was CT_ATTACH_DONE by then.  Where no thread can be made all is done at once.
 */
#define CT_ATTACH_DONE		1u
#define CT_ATTACH_LEFT		2u	/* it came too late */
struct ct_attach_answer {
	uint32_t ticket;
	uint32_t done;
	int32_t result;			/* of cudatrace_attach() */
	uint32_t gpu;			/* CUPTI begins */
	uint32_t number;		/* of the recording that began */
	uint32_t cancelled;
	uint32_t running;		/* the number of the recording that runs now; 0: none */
	uint64_t begins;		/* CT_ATTACH_BEGINS() while a beginning is not over; who undoes cudatrace_attach_start() clears its own */
};

/* The process's pid, as a child that was forked meanwhile has its parent's; and whose beginning it is. */
#define CT_ATTACH_BEGINS(pid, mark)	((uint64_t)(uint32_t)(pid) << 32 | (mark))

extern struct ct_attach_answer cudatrace_attach_answer;
int cudatrace_attach_start(const struct ct_attach_asked *asked);

/* Steps of cudatrace_detach(), in this order. */
#define CT_DETACH_PUT_BACK	0	/* no call comes to us any more; returns words that stay */
#define CT_DETACH_LEAVE		1	/* lets go of the trace; calls that are not over are lost */

/* @number: of the recording that is meant, another one goes on; 0: any. */
int cudatrace_detach(int step, uint32_t number);

/*
 * Standby: a program that was started with LD_PRELOAD and CUDATRACE_STANDBY=1 has this page mapped
 * from its first call of libcuda on, from a file CT_STANDBY_PREFIX "PID-..." of its own root that its user alone
 * may write.  A thread of the library waits for @request to change (FUTEX_WAKE).
 */
#define CT_STANDBY_PREFIX	"/dev/shm/cudatrace-standby-"
#define CT_STANDBY_VERSION	3

/* Commands: cudatrace_attach(), with plugins; cudatrace_gpu_end(); both steps of cudatrace_detach() */
#define CT_STANDBY_ATTACH	1
#define CT_STANDBY_GPU_END	2
#define CT_STANDBY_PUT_BACK	3
#define CT_STANDBY_LEAVE	4

/*
 * In the options of CT_STANDBY_ATTACH besides those of cudatrace_attach(): paths of plugins, which the
 * library looks for beside itself first; and what CUPTI is to collect;
 * and whether threads are sampled.
 */
#define CT_STANDBY_GPU		"CUDATRACE_PLUGIN_GPU"
#define CT_STANDBY_GPU_WHAT	"CUDATRACE_GPU"
#define CT_STANDBY_STACKS	"CUDATRACE_PLUGIN_STACKS"
#define CT_STANDBY_STACKS_WHAT	"CUDATRACE_STACKS"
#define CT_STANDBY_SAMPLE	"CUDATRACE_SAMPLE"

struct ct_standby_page {
	uint64_t magic;		/* CT_MAGIC, once the rest is there */
	uint32_t version;
	uint32_t schema;	/* CT_SCHEMA_VERSION of the library */
	uint32_t pid;		/* in its own namespace */
	uint32_t request;	/* one more: there is a command */
	uint32_t answer;	/* the request that was served last */
	uint32_t command;
	int32_t result;		/* of the command; -ENOEXEC: a plugin can't be loaded */
	uint32_t gpu;		/* of CT_STANDBY_ATTACH: CUPTI begins */
	uint64_t pid_ns;	/* the number of that namespace; 0: not known */
	uint32_t number;	/* after CT_STANDBY_ATTACH: of the recording that began; with PUT_BACK and LEAVE: as of cudatrace_detach() */
	uint32_t running;	/* the number of the recording that runs now; 0: none */
	char options[8192];	/* as of cudatrace_attach() */
};

/*
 * Of the plugins, which are brought in the same way.  @get: the library's cudatrace_host().
 *
 * cudatrace_gpu_begin() - begins to collect in a thread of its own, which writes info lines:
 *	"gpu_begun PID NS" when it has begun, which took so long, "gpu_ended PID" when it has ended
 * @what: as CUDATRACE_GPU
 * cudatrace_gpu_end() - asks it to end
 * cudatrace_stacks_begin() - forgets what it knows of another trace
 * @what: as CUDATRACE_STACKS: python, native or all
 * @sample: the recorder samples threads from outside
 */
struct ct_host;
int cudatrace_gpu_begin(const char *what, const struct ct_host *(*get)(void));
int cudatrace_gpu_end(void);
int cudatrace_stacks_begin(const struct ct_host *(*get)(void), const char *what, uint32_t sample);

#endif
