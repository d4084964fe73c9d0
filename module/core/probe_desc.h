/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a probed function is described: its names, the arguments that are kept, and what its
 * record holds.  The driver's table and a user's own probes fill this in; probes/ reads it.
 */
#ifndef CT_PROBE_DESC_H
#define CT_PROBE_DESC_H

#include <linux/types.h>
#include "cudatrace.h"

/* What an entry handler keeps for the return of the same call. */
struct ct_call {
	u64 begin;		/* ns */
	u64 op;
	unsigned long arg[7];	/* as many as the description asks for */
	u16 depth_flags; /* CT_DEPTH_FLAGS() of its records */
	unsigned long stacked;	/* the one that the alternative asks for */
	u8 variant;		/* which alternative name is armed, for fill */
	bool verified;		/* the driver's source has its signature: see ct_alternative */
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
	u8 stacked;		/* number of one more argument, from 6: on the stack */
	/*
	 * The first driver version with this signature and the first without, as
	 * ct_driver_version writes them; 0: no bound.
	 */
	u32 since;
	u32 before;
	/*
	 * The first and the last branch of the driver (535 is one) whose published source has this
	 * signature; 0: none.  With any other driver, no argument is followed as a pointer.
	 */
	u16 first_branch;
	u16 last_branch;
};

#define CT_ALTERNATIVES	3

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

#endif
