// SPDX-License-Identifier: GPL-2.0
/*
 * A clock source that can be moved: the kernel's clocks, CLOCK_MONOTONIC among them, then jump
 * forward.  Its name is ct_clock; writing that to current_clocksource makes the kernel use it.
 *
 * /dev/ct_clock takes a number, one a write(): how many seconds the clock jumps.
 */
#include <linux/clocksource.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/uaccess.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "trigger.h"

static u64 moved; /* ns */

/* ns, from the time-stamp counter. */
static u64 clock_read(struct clocksource *cs)
{
	return mul_u64_u32_div(rdtsc_ordered(), 1000000, tsc_khz) + READ_ONCE(moved);
}

static struct clocksource clock = {
	.name = "ct_clock",
	.rating = 1,
	.read = clock_read,
	.mask = CLOCKSOURCE_MASK(64),
	/* 1 ns a count.  The kernel reckons that a count must not be older than years. */
	.mult = 1 << 8,
	.shift = 8,
	.flags = CLOCK_SOURCE_IS_CONTINUOUS | CLOCK_SOURCE_VALID_FOR_HRES,
	.owner = THIS_MODULE,
};

static ssize_t clock_write(struct file *file, const char __user *user, size_t len, loff_t *at)
{
	char word[16] = "";
	u32 seconds;
	int err;

	if (copy_from_user(word, user, min(len, sizeof(word) - 1)))
		return -EFAULT;
	err = kstrtou32(strim(word), 10, &seconds);
	if (err)
		return err;
	WRITE_ONCE(moved, moved + (u64)seconds * NSEC_PER_SEC);
	return len;
}

TRIGGER("ct_clock", clock_write);

static int __init clock_init(void)
{
	int err = __clocksource_register(&clock);

	if (err)
		return err;
	err = misc_register(&trigger);
	if (err)
		clocksource_unregister(&clock);
	return err;
}

static void __exit clock_exit(void)
{
	misc_deregister(&trigger);
	clocksource_unregister(&clock);
}

module_init(clock_init);
module_exit(clock_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A clock that cudatrace's tests move");
