// SPDX-License-Identifier: GPL-2.0
/* cudatrace.ko: its parts start in this order and stop in reverse. */
#include <linux/module.h>
#include "api/chardev.h"
#include "control/control.h"
#include "control/mark.h"
#include "probes/counter.h"
#include "probes/gpu_events.h"
#include "probes/probe.h"
#include "probes/sched_events.h"
#include "core/power.h"
#include "core/registry.h"
#include "base/clock.h"

static int __init cudatrace_init(void)
{
	int err;

	err = ct_clock_init();
	if (err)
		return err;
	err = ct_registry_init();
	if (err)
		goto err_clock;
	err = ct_power_init();
	if (err)
		goto err_registry;
	/* Sources: CT_IOC_GET_PROBE lists their rows in this order. */
	err = ct_probe_init();
	if (err)
		goto err_power;
	err = ct_counter_init();
	if (err)
		goto err_probe;
	err = ct_sched_events_init();
	if (err)
		goto err_counter;
	err = ct_gpu_events_init();
	if (err)
		goto err_sched_events;
	err = ct_mark_init();
	if (err)
		goto err_gpu_events;
	/* Last: users can open the device from here on. */
	err = ct_chardev_init();
	if (err)
		goto err_mark;
	return 0;

err_mark:
	ct_mark_exit();
err_gpu_events:
	ct_gpu_events_exit();
err_sched_events:
	ct_sched_events_exit();
err_counter:
	ct_counter_exit();
err_probe:
	ct_probe_exit();
err_power:
	ct_power_exit();
err_registry:
	ct_registry_exit();
err_clock:
	ct_clock_exit();
	return err;
}

static void __exit cudatrace_exit(void)
{
	ct_chardev_exit();
	ct_control_exit();
	ct_mark_exit();
	ct_gpu_events_exit();
	ct_sched_events_exit();
	ct_counter_exit();
	ct_probe_exit();
	ct_power_exit();
	ct_registry_exit();
	ct_clock_exit();
}

module_init(cudatrace_init);
module_exit(cudatrace_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The cudatrace authors");
MODULE_DESCRIPTION("Tracing of CUDA programs and of NVIDIA's kernel driver");
MODULE_VERSION(CT_VERSION);
MODULE_INFO(abi, __stringify(CT_ABI_VERSION));
MODULE_INFO(schema, __stringify(CT_SCHEMA_VERSION));
