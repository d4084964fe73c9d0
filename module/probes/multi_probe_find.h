/* SPDX-License-Identifier: GPL-2.0 */
/* For many.c alone: its table of functions, and where they are. */
#ifndef CT_MULTI_PROBE_FIND_H
#define CT_MULTI_PROBE_FIND_H

#include <linux/types.h>
#include "probes/probe.h"

/* One function; several of one name (copies of an inline one) have one slot. */
struct ct_row {
	unsigned long address;		/* of the ftrace site, or of the function */
	struct ct_kprobe *slot; /* NULL: it is gone */
	struct ct_plain *plain;		/* its probe, if it has no site */
	bool site, armed;
};

struct ct_table {
	struct rcu_head rcu;
	u32 count, room;
	/* Room for what is armed or goes together, so that disarming can't fail. */
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
 * ct_find_functions - where functions of these names are.
 * @row:	names, by their slots; sorted by module and name.  Those that are found
 *		get an address, though not without a table, of the kernel itself.
 * @t:		NULL, or what they are added to, as long as there is room
 * Sleeps; the caller holds ct_session_lock.  Returns how many there are, at most.
 *
 * ct_find_sites - which of them have an ftrace site; those get its address.  Sleeps.
 * Returns 0 or -ENOMEM.
 */
u32 ct_find_functions(struct ct_row *row, u32 count, struct ct_table *t);
int ct_find_sites(struct ct_row *row, u32 count);

#endif
