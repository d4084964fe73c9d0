// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers.  When a call fulfils the condition, the module writes a record of class trigger and
 * increments a count in the facts page.  A recorder in user space takes the snapshot.
 */
#include <linux/kernel.h>
#include "core/record.h"
#include "core/trigger.h"

struct ct_trigger_set ct_trigger;

int ct_trigger_set(const struct ct_trigger_set *arg)
{
	if (arg->flags &
		    ~(CT_TRIGGER_STATUS | CT_TRIGGER_ERRNO | CT_TRIGGER_SLOW | CT_TRIGGER_XID) ||
	    (arg->flags & CT_TRIGGER_SLOW && !arg->slow_ns))
		return -EINVAL;
	WRITE_ONCE(ct_trigger.slow_ns, arg->slow_ns);
	WRITE_ONCE(ct_trigger.flags, arg->flags);
	return 0;
}

/* The trigger has the context of its call. */
static void trigger_fire(struct ct_cpu *cpu, const struct ct_cpu_record *call, u64 value,
			 u32 reason)
{
	u8 context = call->duration >> 56 & CT_F_CONTEXT;
	struct ct_cpu_record *rec;
	struct ct_trigger *t;
	u64 stamp;

	rec = ct_record_new(cpu, CT_CLASS_trigger, sizeof(*t), context, &stamp);
	if (rec) {
		rec->op = 0;
		rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT | context);
		rec->result = 0;
		t = (void *)(rec + 1);
		*t = (struct ct_trigger){
			.op = call->op,
			.value = value,
			.function = CT_RECORD_CLASS(call->stamp),
			.reason = reason,
		};
		ct_record_done(cpu, 1);
	}
	/* Counted also if the record was lost: the recorder must take its snapshot. */
	__atomic_fetch_add(&cpu->s->facts->triggers, 1, __ATOMIC_RELAXED);
}

void ct_trigger_test(struct ct_cpu *cpu, const struct ct_cpu_record *rec, u64 duration,
		     const struct ct_ioctl *io, const unsigned long *xid)
{
	u32 flags = READ_ONCE(ct_trigger.flags);
	u64 slow = READ_ONCE(ct_trigger.slow_ns);

	if (flags & CT_TRIGGER_SLOW && slow && duration >= slow)
		trigger_fire(cpu, rec, duration, CT_TRIGGER_SLOW);
	if (xid && flags & CT_TRIGGER_XID)
		trigger_fire(cpu, rec, (u32)*xid, CT_TRIGGER_XID); /* an int in a register */
	if (!io)
		return;
	if (flags & CT_TRIGGER_ERRNO && io->ret < 0)
		trigger_fire(cpu, rec, -(s64)io->ret, CT_TRIGGER_ERRNO);
	else if (flags & CT_TRIGGER_STATUS && io->have & CT_IOCTL_STATUS && io->status)
		trigger_fire(cpu, rec, io->status, CT_TRIGGER_STATUS);
}
