// SPDX-License-Identifier: GPL-2.0
/*
 * After a suspend a clock record has the time of the other clocks.  Stamps are of CLOCK_MONOTONIC,
 * which stops meanwhile.  (The recorder writes a clock record at the start and at the end.)
 */
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include "core/power.h"
#include "core/record.h"

static void power_write_clock(void)
{
	struct ct_cpu_record *rec;
	struct ct_clock *clock;
	struct ct_cpu *cpu;
	u64 stamp;

	preempt_disable_notrace();
	cpu = ct_cpu_writing();
	if (cpu) {
		rec = ct_record_new(cpu, CT_CLASS_clock, sizeof(*clock), CT_F_TASK, &stamp);
		if (rec) {
			rec->op = 0;
			rec->duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
			rec->result = 0;
			clock = (void *)(rec + 1);
			clock->monotonic = stamp;
			clock->realtime = ktime_mono_to_any(stamp, TK_OFFS_REAL);
			clock->boottime = ktime_mono_to_any(stamp, TK_OFFS_BOOT);
			ct_record_done(cpu, 1);
		}
	}
	preempt_enable_notrace();
}

static int power_on(struct notifier_block *nb, unsigned long event, void *data)
{
	switch (event) {
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		power_write_clock();
	}
	return NOTIFY_DONE;
}

static struct notifier_block power = { .notifier_call = power_on };

int ct_power_init(void)
{
	return register_pm_notifier(&power);
}

void ct_power_exit(void)
{
	unregister_pm_notifier(&power);
}
