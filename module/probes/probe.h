/* SPDX-License-Identifier: GPL-2.0 */
/* Probes on the functions of NVIDIA's driver. */
#ifndef CT_PROBE_H
#define CT_PROBE_H

#include <linux/kprobes.h>
#include <linux/types.h>
#include "core/probe_desc.h"

struct module;

/* Counters of a probe on one CPU. */
struct ct_count {
	u64 hits;		/* records tried; calls, of one that only counts */
	u64 lost;		/* records that the ring did not take */
	u64 time;		/* ns inside, of one that only counts */
	u64 missed;		/* calls without a hook for their return, of one armed with many */
	u64 cost;		/* ns in the handlers, of the calls that were timed */
	u32 timed;		/* how many were */
	u32 calls;		/* for sampling */
};

struct ct_armed;
struct ct_multi_probe;
struct ct_plain;

/* A probe, from the table or added, whether it is armed or not. */
struct ct_kprobe {
	const struct ct_probe_desc *desc;
	struct ct_armed *armed;
	struct ct_count __percpu *count;
	u64 missed;		/* of armings that are over */
	u32 id;
	u32 sample;		/* 1 in so many calls is recorded; 0: all */
	u32 class[CT_ALTERNATIVES];
	u16 state[CT_ALTERNATIVES];
	s32 error[CT_ALTERNATIVES];
	u8 variant;		/* the alternative that is armed */
	bool added;		/* desc is ours to free */
	struct ct_multi_probe *multi; /* armed together with others, instead of armed */
	struct ct_plain *plain;	/* then: the breakpoints, of what has no ftrace site */
	const void *owner;	/* the file that takes it along, or NULL */
};

/* The life of one arming: what the handlers look at first stands behind rp. */
struct ct_armed {
	struct kretprobe rp;
	struct ct_kprobe *probe;
	const struct ct_probe_desc *desc;
	u16 class;		/* of its records */
	u8 category;
	bool special;		/* counts, records entries, or wants other arguments */
	u8 first_arg;
	u8 stacked;
	u8 variant;
	char symbol[184];	/* "module:symbol" */
};

int ct_probe_init(void);
void ct_probe_exit(void);

/* How many rows CT_IOC_GET_PROBE has: one for each alternative name. */
u32 ct_probe_count(void);

/*
 * ct_probe_arm - arm all probes of these groups (bits 1 << CT_GROUP_*) whose
 * module is loaded; those of modules that come later are armed by then.
 * ct_probe_disarm_all - disarm all; no handler runs any more when it returns.
 * Both sleep; the caller holds ct_session_lock.
 */
void ct_probe_arm(u64 groups);
void ct_probe_disarm_all(void);

/* The handlers: probe_call.c. */
int ct_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
int ct_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs);

/*
 * Probes that a user adds: probe_add.c.  Errors as in cudatrace.h; may sleep, and
 * take ct_session_lock.
 */
int ct_probe_add(const struct ct_probe_add *arg, const void *owner);
int ct_probe_remove(struct ct_probe_add *arg);	/* fills in the last counts */
int ct_probe_set(const struct ct_probe_add *arg);

/* The file is closed: remove what it owns. */
void ct_probe_closed(const void *owner);

/*
 * For probe_add.c, under ct_session_lock: take desc into the list (armed at once if
 * a session wants it) or out of it.  added: desc is freed with the slot; class: of its
 * records, 0: made when it is armed.  Returns ERR_PTR().
 * ct_probe_next: *id from 0; NULL behind the last.
 */
struct ct_kprobe *ct_probe_new(const struct ct_probe_desc *desc, bool added, u32 class, u32 sample);
void ct_probe_free(struct ct_kprobe *p);
void ct_probe_disarm(struct ct_kprobe *p);
void ct_probe_sum(const struct ct_kprobe *p, u64 *hits, u64 *missed, u64 *lost, u64 *time);
struct ct_kprobe *ct_probe_next(unsigned long *id);

/*
 * For many.c, under ct_session_lock: does a session want this group?  Is the probe
 * there to be armed later, by this owner, and not yet?
 */
bool ct_probe_arming(enum ct_group group);
bool ct_probe_waits(const struct ct_kprobe *p, const void *owner);

/* Fill info for info->index; -ENOENT beyond the last. */
int ct_probe_info(struct ct_probe_info *info);

#endif
