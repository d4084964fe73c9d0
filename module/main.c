// SPDX-License-Identifier: GPL-2.0
/* cudatrace.ko: what goes up, in order, and comes down in reverse. */
#include <linux/module.h>
#include "base/clock.h"
#include "core/power.h"
#include "api/chardev.h"
#include "probes/probe.h"
#include "core/registry.h"
#include "probes/tracepoint.h"

static int __init cudatrace_init(void)
{
	int err;

	err = ct_clock_init();
	if (err)
		return err;
	err = ct_registry_init();
	if (err)
		goto err_clock;
	err = ct_probe_init();
	if (err)
		goto err_registry;
	err = ct_tracepoint_init();
	if (err)
		goto err_probe;
	err = ct_power_init();
	if (err)
		goto err_tracepoint;
	err = ct_chardev_init();
	if (err)
		goto err_suspend;
	return 0;
err_suspend:
	ct_power_exit();
err_tracepoint:
	ct_tracepoint_exit();
err_probe:
	ct_probe_exit();
err_registry:
	ct_registry_exit();
err_clock:
	ct_clock_exit();
	return err;
}

static void __exit cudatrace_exit(void)
{
	ct_chardev_exit();
	ct_power_exit();
	ct_tracepoint_exit();
	ct_probe_exit();
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
