/* SPDX-License-Identifier: GPL-2.0 */
/* Probes on the functions of NVIDIA's driver. */
#ifndef CT_PROBE_H
#define CT_PROBE_H

#include <linux/types.h>
#include "cudatrace.h"

struct module;

/* What an entry handler keeps for the return of the same call. */
struct ct_call {
	u64 begin;		/* ns */
	u64 op;
	unsigned long arg[6];	/* as many as the description asks for */
	u8 depth;		/* calls of ours that are open below this one */
	u8 flags;		/* CT_F_* of the record */
	u8 variant;		/* which alternative name is armed */
};

/* How a function is called in one generation of the driver. */
struct ct_alternative {
	const char *symbol;
	u8 first_arg;		/* added to the number of every argument */
	/*
	 * The first driver version with this signature and the first without, as
	 * ct_driver_version writes them; 0: no bound.
	 */
	u32 since;
	u32 before;
};

#define CT_ALTERNATIVES	5

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
	u32 size;		/* bytes of the layout */
	struct ct_alternative alt[CT_ALTERNATIVES];
	/*
	 * Fill the payload.  Runs in the context of the probed function, where
	 * nothing may sleep or fault; at entry ret is 0 and entry is true.
	 */
	void (*fill)(void *payload, const struct ct_call *c, s64 ret, bool entry);
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

/* Fill info for info->index; -ENOENT beyond the last. */
int ct_probe_info(struct ct_probe_info *info);

#endif
