/* SPDX-License-Identifier: GPL-2.0 */
/* The table of a multi-probe's functions, and finding where they are. */
#ifndef CT_MULTI_PROBE_FIND_H
#define CT_MULTI_PROBE_FIND_H

#include <linux/types.h>
#include "probes/kprobe.h"

/* One function.  Several of one name (copies of an inline function) have the same probe. */
struct ct_row {
	unsigned long address;		/* of the ftrace site, or of the function */
	struct ct_kprobe *slot; /* its probe; NULL: it was removed */
	struct ct_plain *plain;		/* its probe, if it has no site */
	bool site, armed;
};

struct ct_table {
	struct rcu_head rcu;
	u32 count, room;
	/* Space for all that is armed or disarmed together, so that disarming cannot fail. */
	unsigned long *site;
	struct kprobe **plain;
	struct ct_kprobe **gone;
	struct ct_row row[];		/* by address */
};

static inline const char *ct_row_name(const struct ct_row *row)
{
	return row->slot->desc->alt[0].symbol;
}

/*
 * ct_multi_probe_find - find the functions of these names.
 * @row:	one for each name, sorted by module and name.  Where a function is found, the row
 *		gets its address; for functions of the kernel itself only if t is not NULL.
 * @t:		NULL, or the table that functions are added to while it has room
 * May sleep; the caller holds ct_session_lock.  Returns how many functions there are at most.
 */
u32 ct_multi_probe_find(struct ct_row *row, u32 count, struct ct_table *t);

#endif
