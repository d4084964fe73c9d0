/* SPDX-License-Identifier: GPL-2.0 */
/* Probes on the functions of NVIDIA's driver. */
#ifndef CT_PROBE_H
#define CT_PROBE_H

#include <linux/kprobes.h>
#include <linux/types.h>
#include "cudatrace.h"

struct module;

/* What an entry handler keeps for the return of the same call. */
struct ct_call {
	u64 begin;		/* ns */
	u64 op;
	unsigned long arg[7];	/* as many as the description asks for */
	u16 depth_flags; /* CT_DEPTH_FLAGS() of its records */
	unsigned long stacked;	/* the one that the alternative asks for */
	u8 variant;		/* which alternative name is armed, for fill */
};

/* So many arguments are kept without asking how many the description wants. */
#define CT_ARGS_ALWAYS	3

/*
 * The upper 16 bits of a record's duration, kept as one.  depth: calls of ours that
 * are open below this one; flags: CT_F_*.
 */
#define CT_DEPTH_FLAGS(depth, flags) ((depth) | (flags) << 8)
#define CT_DEPTH_FLAGS_CONTEXT(depth_flags) ((depth_flags) >> 8 & CT_F_CONTEXT)

/* Index of ct_call.arg where the return value goes. */
#define CT_ARG_RETURNED	6

/* How a function is called in one generation of the driver. */
struct ct_alternative {
	const char *symbol;
	u8 first_arg;		/* added to the number of every argument */
	u8 stacked;		/* number of one more argument, from 6: on the stack */
	/*
	 * The first driver version with this signature and the first without, as
	 * ct_driver_version writes them; 0: no bound.
	 */
	u32 since;
	u32 before;
};

#define CT_ALTERNATIVES	5

/*
 * Where a field of a probe that a user added comes from; ends with mask 0.  Each
 * takes 8 bytes: ((arg & mask) ^ sign) - sign.
 */
struct ct_fetch {
	u64 mask;		/* bits of the argument that count */
	u64 sign;		/* the highest of them, if it is a sign */
	u32 number;		/* argument, or CT_ARG_RETURNED */
};

struct ct_probe_desc {
	const char *name;	/* of the event class, the same for all drivers */
	const char *module;
	enum ct_group group;
	u8 category;
	u8 op;
	u8 layout;
	u8 args;		/* how many arguments to keep */
	bool sleeps;		/* may block: many calls can be open at once */
	bool entry;		/* also recorded when it is entered */
	bool count;		/* only counted: no records */
	bool later; /* armed by ct_multi_probe_arm() alone */
	bool fetch_signed;	/* one of fetch has a sign */
	bool xid;		/* called when the driver reports an Xid, arg[1] */
	u32 size;		/* bytes of the layout */
	struct ct_alternative alt[CT_ALTERNATIVES];
	/*
	 * Fill the payload.  Runs in the context of the probed function, where
	 * nothing may sleep or fault; at entry ret is 0 and entry is true.
	 */
	void (*fill)(void *payload, const struct ct_call *c, s64 ret, bool entry);
	const struct ct_fetch *fetch;	/* instead, for a probe that was added */
};

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

extern const struct ct_probe_desc ct_probe_table[];
extern const unsigned int ct_probe_table_size;

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
