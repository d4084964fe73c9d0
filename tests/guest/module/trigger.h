/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests' modules have in common: a device by which a test makes them do things. */
#ifndef CT_TESTS_TRIGGER_H
#define CT_TESTS_TRIGGER_H

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/tracepoint.h>

/* Newer kernels give a tracepoint without an event another name. */
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT	DECLARE_TRACE
#endif

/* Of a function that stays as it stands, for whoever looks for it by name. */
#define CALLED	__attribute__((__noipa__)) __used

/* /dev/device_name, whose write() is do_write(); `trigger' is to be registered. */
#define TRIGGER(device_name, do_write)					\
	static const struct file_operations trigger_fops = {		\
		.owner = THIS_MODULE, .write = do_write,		\
	};								\
	static struct miscdevice trigger = {				\
		.minor = MISC_DYNAMIC_MINOR, .name = device_name,	\
		.fops = &trigger_fops,					\
	}

#endif
