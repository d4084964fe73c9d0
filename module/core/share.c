// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of a lossless ring.  For each CPU's ring: the bytes that were ever charged to each
 * entry, and for each packet of the ring a copy of these counters from when the packet was
 * opened.  The owner consumes whole packets.  So an entry holds what was charged to it since
 * the first packet that is not consumed was opened: a difference of two counters, however much
 * the owner consumes at once.  A sub-buffer switch costs one copy.
 *
 * The counter that an entry may reach only grows as the owner consumes.  So it is remembered for
 * the task whose records were charged last, up to the packet's end: its next records only compare
 * with it (ct_share_spend()).
 *
 * Only the ring's CPU changes these counters, but one writer may interrupt another, so each
 * change is one instruction.  What a writer charges that interrupts the copying may be
 * missing from what its entry holds, until that packet is consumed.  What it charges while
 * another one compares may exceed the share, by a record.
 *
 * A record is charged to the packet that is open when it is charged.  The record itself may
 * go into the next packet, so it can be uncharged one packet too early.
 *
 * The counters of packets have 32 bits and may wrap: a ring has at most 1 GiB.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "core/share.h"
#include "base/pages.h"

struct ct_share {
	local64_t charged[CT_PRODUCERS];	/* bytes, since the session began */
	u32 before[][CT_PRODUCERS];	/* the same when the packet at that place was opened */
};

/* The counters when the packet was opened in which this position of the ring lies. */
static u32 *share_before(const struct ct_ring *r, struct ct_share *sh, u64 position)
{
	return sh->before[(position & r->mask) >> ilog2(r->subbuf_size)];
}

/* What the entry holds, if the owner has consumed the packets up to this position. */
static s64 share_held(const struct ct_ring *r, struct ct_share *sh, u32 entry, u64 charged,
		      u64 consumed)
{
	/* Signed: what was uncharged one packet too early makes it less than nothing. */
	return (s32)((u32)charged - READ_ONCE(share_before(r, sh, consumed)[entry]));
}

/* The ring calls this before the packet that begins at start is opened. */
static void share_open_packet(struct ct_ring *r, u64 start)
{
	struct ct_cpu *cpu = container_of(r, struct ct_cpu, ring);
	struct ct_share *sh = cpu->share;
	u32 *before = share_before(r, sh, start);
	u32 i;

	ct_share_settle(cpu);
	for (i = 0; i < CT_PRODUCERS; i++)
		WRITE_ONCE(before[i], local64_read(&sh->charged[i]));
}

local64_t *ct_share_charge(struct ct_cpu *cpu, u32 entry, u32 size, u64 most, bool remember)
{
	struct ct_ring *r = &cpu->ring;
	struct ct_share *sh = cpu->share;
	local64_t *counter = &sh->charged[entry];
	u64 charged = local64_add_return(size, counter);
	/* The ring's last valid value first: reading the owner's costs more. */
	s64 held = share_held(r, sh, entry, charged, READ_ONCE(r->consumed));

	if (held > (s64)most)
		held = share_held(r, sh, entry, charged, ct_ring_consumed(r));
	if (held > (s64)most) {
		local64_sub(size, counter);
		return NULL;
	}
	if (remember) {
		cpu->charged = counter;
		WRITE_ONCE(cpu->charged_max, charged + most - held);
	}
	return counter;
}

int ct_share_init(struct ct_cpu *cpu, u32 subbuf_count)
{
	cpu->share = ct_pages_alloc(struct_size(cpu->share, before, subbuf_count),
				    cpu_to_node(cpu->ring.cpu));
	if (!cpu->share)
		return -ENOMEM;
	cpu->ring.before_packet = share_open_packet;
	return 0;
}

void ct_share_free(struct ct_cpu *cpu)
{
	vfree(cpu->share);
}
