/* SPDX-License-Identifier: GPL-2.0 */
/* A probe of one function: its state, and one arming of it. */
#ifndef CT_KPROBE_H
#define CT_KPROBE_H

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "probes/count.h"
#include "core/probe_desc.h"

struct ct_armed;

/* A probe, of the table or a user's own, armed or not.  Under ct_session_lock. */
struct ct_kprobe {
	const struct ct_probe_desc *desc;
	struct ct_armed *armed; /* NULL: it is not */
	struct ct_count __percpu *count;
	u64 missed; /* of earlier armings */
	u32 id;
	u32 sample; /* 1 in so many calls is recorded; 0: all */
	u32 class[CT_ALTERNATIVES];
	u16 state[CT_ALTERNATIVES];
	s32 error[CT_ALTERNATIVES];
	u8 variant; /* the alternative that is armed */
	bool added; /* desc is freed with the probe */
};

/*
 * One arming.  It lives from arming to disarming and is never used twice: when the probed module
 * is unloaded, the kernel disables the kretprobe for ever.  What the handlers read first stands
 * behind rp.
 */
struct ct_armed {
	struct kretprobe rp;
	struct ct_kprobe *probe;
	const struct ct_probe_desc *desc;
	u16 class; /* of its records */
	u8 category;
	bool special; /* it records entries, or wants other arguments than most */
	u8 stacked;
	u8 variant;
	bool verified;
	char symbol[184]; /* "module:symbol" */
};

/*
 * Instances of a kretprobe: calls of the function that can be open at once, in all tasks.  Further
 * ones count as missed.  At least one a CPU, so that a function that does not sleep may run on all
 * of them; but no more, because newer kernels keep a list of all instances for each CPU, so the
 * memory grows with the square of the CPUs.
 */
#define CT_KPROBE_CALLS 256
#define CT_KPROBE_CALLS_SLEEPS 512

static inline int ct_kprobe_max_active(const struct ct_probe_desc *d)
{
	return max_t(int, num_possible_cpus(),
		     d->sleeps ? CT_KPROBE_CALLS_SLEEPS : CT_KPROBE_CALLS);
}

#endif
