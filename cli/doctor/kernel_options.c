// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the running kernel was built without.  Its list of functions says it, for its configuration
 * is not on every machine.
 */
#include "doctor/kernel_options.h"

#include <stddef.h>
#include <string.h>

#include "base/kernel_symbols.h"

/* The kernel has this function with the option, or (old) in a form that is missing something. */
struct option {
	const char *function;
	const char *text;	/* what is said without it (old: with it) */
	bool old;
};

static const struct option options[] = {
	{ "register_kretprobe",
	  "this kernel is without CONFIG_KRETPROBES: no function of the driver is recorded, "
	  "and 'probe' does not work", false },
	{ "tracepoint_probe_register",
	  "this kernel is without CONFIG_TRACEPOINTS: no context switches, fences, interrupts and "
	  "Xids are recorded, and filters can't follow children", false },
	{ "register_ftrace_function",
	  "this kernel is without CONFIG_FUNCTION_TRACER: probes cost more, and 'probe discover' "
	  "takes longer to begin", false },
	{ "cgroup_get_from_fd",
	  "this kernel is without CONFIG_CGROUPS: no filters and limits by cgroup", false },
	{ "dma_fence_init",
	  "this kernel is without CONFIG_DMA_SHARED_BUFFER: it has no fences to record", false },
	{ "kretprobe_hash_lock",
	  "this kernel is older than 5.11: the text of /dev/cudatrace has no depth for functions of "
	  "the driver, and memory is not charged to cgroups", true },
};
#define OPTIONS (sizeof(options) / sizeof(*options))

static bool options_note(void *arg, const char *module, const char *name, uint64_t address)
{
	unsigned int *found = arg;
	size_t i;

	(void)address;
	if (!*module)
		for (i = 0; i < OPTIONS; i++)
			if (!strcmp(name, options[i].function))
				*found |= 1u << i;
	return true;
}

struct ct_check_result ct_check_options(struct ct_doctor *d)
{
	struct ct_check_result f;
	unsigned int i;

	if (!d->next_option && ct_symbols_each(options_note, &d->options)) {
		d->next_option = OPTIONS;
		return ct_check_result(CT_FINDING_NOTE, NULL,
				  "what this kernel was built without is not known: it tells no "
				  "functions (CONFIG_KALLSYMS, which probes need, too)");
	}
	while (d->next_option < OPTIONS) {
		i = d->next_option++;
		if (!(d->options >> i & 1) == options[i].old)
			continue;
		f = ct_check_result(CT_FINDING_NOTE, NULL, "%s", options[i].text);
		f.more = true;
		return f;
	}
	return ct_no_finding();
}
