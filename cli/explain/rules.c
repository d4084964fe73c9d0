// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of rules.  docs/rules.md is printed from it ('cudatrace explain --rules').  A
 * threshold is a share of the scope's wall time in %, unless its unit says otherwise.
 */
#include "explain/rules.h"

#include "analysis/gpu/idle_causes.h"
#include "analysis/gpu/gpu_metrics.h"
#include "analysis/ranks/job.h"
#include "explain/rules/rule_common.h"
#include "view/term.h"

#define SHARE	"% of the steady state's wall time"
#define LINES(cost)	CT_COST_BIT(CT_COST_##cost)
#define STARTUP	"% of the startup's wall time"

const struct ct_rule ct_rules[] = {
	{ "host-late", "the GPU has nothing to do, because the host is late", 2, "findings that show it",
	  "Where two or more of host-bound, gpu-idle, cuda-graph, sync-each-iteration, application and getters find "
	  "something, they are parts of this one: they count the same time.",
	  NULL, NULL, CT_CAUSE_HOST, 0 },
	{ "host-bound", "the host limits: it launches more slowly than the GPU works", 10,
	  "% of the steady state in synchronisations, at most",
	  "If the host hardly ever waits although it synchronises, the GPU was done before. At least 10 launches "
	  "an iteration and a synchronisation in every second one; otherwise the records do not show it. From a synchronisation "
	  "that left nothing to do until the next launch it is not launching that takes the time; nor where a launch takes more than "
	  "5 ms with what is between it and the next one.",
	  NULL, ct_rule_host_bound, CT_CAUSE_HOST, LINES(APP) | LINES(TIME) },
	{ "gpu-idle", "idle times of the GPU between its work, and what the host did meanwhile", 5, SHARE,
	  "Only where the GPU was recorded (record --gpu). A gap is from the end of all work of a GPU to the begin of the "
	  "next.",
	  &ct_gpu_idle_analyser, ct_rule_gpu_idle, CT_CAUSE_HOST, LINES(IDLE) },
	{ "gpu-kernels", "the kernels that a busy GPU works on", 90, "% of the steady state in which the GPU works",
	  "Only where the GPU was recorded. A GPU that hardly ever waits is what limits.",
	  &ct_gpu_kernels_analyser, ct_rule_gpu_kernels, CT_CAUSE_OWN, LINES(GPU) },
	{ "gpu-clocks", "clocks of a GPU that its power, its temperature or a setting holds down while it works", 10,
	  "% of the looks at the GPU in the steady state",
	  "Only where the GPUs were looked at (record --gpu, --gpu-metrics), the GPU was not idle, and the median clock is below "
	  "97 % of the highest one. The cost is what all kernels would gain if they followed the clock, at most.",
	  &ct_gpu_metrics_analyser, ct_rule_gpu_clocks, CT_CAUSE_OWN, 0 },
	{ "cuda-graph", "sequences of launches that repeat exactly and could be one CUDA graph", 5, SHARE,
	  "Between two synchronisations the same kernels with the same grids, at least 8 launches, at least 5 times. "
	  "A graph costs about one launch.",
	  &ct_repeats_analyser, ct_rule_graph, CT_CAUSE_HOST, LINES(LAUNCHES) },
	{ "sync-each-iteration", "synchronisations after which the GPU has nothing to do", 5, SHARE,
	  "A wait costs nothing by itself, since the GPU works meanwhile. Lost is the time from the end of a "
	  "synchronisation that left nothing to do until the next submission, and no more than the host waits. What explains less "
	  "than a third of that time is not told, nor what the host would then wait for something else, by samples (a data "
	  "loader, requests), nor what lies between iterations. Without records of the GPU the time until the next submission begins must be as much. "
	  "It is possible only where the host is mostly in the application after them, and neither samples nor context switches say whether it works.",
	  NULL, ct_rule_sync, CT_CAUSE_HOST, LINES(WAIT) },
	{ "application", "time of the launching thread in the application, between calls", 30, SHARE,
	  "Below a third of the time, calls are the better place to look. Time before a call of cuEventQuery or cuStreamQuery that says "
	  "that the GPU is not done does not count: it works meanwhile. It is possible only where nothing synchronises and the GPU was not "
	  "recorded.",
	  NULL, ct_rule_application, CT_CAUSE_HOST, LINES(APP) },
	{ "off-cpu", "the launching thread off the CPU, and who ran instead", 2, SHARE,
	  "Context switches of the kernel module, those inside synchronisations left out: there the thread waits for "
	  "the GPU.",
	  &ct_off_cpu_analyser, ct_rule_off_cpu, CT_CAUSE_OWN, 0 },
	{ "late-rank", "the rank of a job that makes the others wait in collectives, and what it does meanwhile", 5,
	  "% of the steady state of the rank that waits most",
	  "Waiting is the time of a collective's kernel until the last rank's has begun (record --gpu). Without records of the "
	  "GPU it is what synchronisations took longer than the GPU can have worked, at least. Why is told by what the rank has more of in a step than the others.",
	  &ct_job_analyser, ct_rule_late_rank, CT_CAUSE_OWN, LINES(APP) },
	{ "pageable-copies", "copies from or to pageable memory", 3, SHARE,
	  "Such copies go through a buffer of the driver and hold the host. Only copies over 64 KiB count, and only "
	  "where all pinning of memory was recorded.",
	  &ct_copies_analyser, ct_rule_pageable, CT_CAUSE_OWN, LINES(COPY) },
	{ "blocking-copies", "copies that block although memory is pinned, or that are small", 3, SHARE,
	  "A blocking copy waits for what was launched before it. One that does not block takes as long: no more is gained than what else "
	  "the host does takes.",
	  &ct_copies_analyser, ct_rule_blocking_copies, CT_CAUSE_OWN, LINES(COPY) },
	{ "small-copies", "many small copies", 2, SHARE,
	  "At least 16 copies of at most 64 KiB an iteration: their cost does not depend on their size. Where most of them "
	  "block, it is a part of blocking-copies.",
	  &ct_copies_analyser, ct_rule_small_copies, CT_CAUSE_OWN, LINES(COPY) },
	{ "alloc-in-loop", "allocations and frees in the steady state", 1, SHARE,
	  "In at least every second iteration. cuMemFree waits for the GPU, and both take locks of the driver.",
	  NULL, ct_rule_allocations, CT_CAUSE_OWN, LINES(MEMORY) },
	{ "memory-growth", "device memory that only grows", 1, "% of what was there after the first eighth",
	  "The steady state is divided into eight parts, by its iterations: memory must have grown in nearly each of them, by 1 MiB in "
	  "all at least. It is possible only if the last three parts have less than a fifth of it: a cache that fills grows so.",
	  &ct_growth_analyser, ct_rule_growth, CT_CAUSE_OWN, LINES(HELD) },
	{ "lazy-loading", "code that is loaded in the steady state", 0.5, SHARE,
	  "At least 1 ms: loading of a module stops the launching thread, often for many iterations.",
	  NULL, ct_rule_lazy_loading, CT_CAUSE_OWN, LINES(LOAD) },
	{ "getters", "calls that only ask for a value (getters), made very often", 1, SHARE,
	  "At least 1,000 and half of all calls.",
	  &ct_getters_analyser, ct_rule_getters, CT_CAUSE_HOST, 0 },
	{ "ignored-errors", "errors that the program ignores", 3, "failures of one function in the steady state",
	  "A program that calls a function again after it failed may have ignored the failure. "
	  "CUDA_ERROR_NOT_READY is no failure.",
	  NULL, ct_rule_errors, CT_CAUSE_OWN, 0 },
	{ "last-error", "an error after which the program gave the GPU no more work", 1, "failure",
	  "Of a launch, a copy, an allocation, a synchronisation, a context or a load of code. The program may have ended because of "
	  "it. CUDA_ERROR_DEINITIALIZED does not count, which is what programs meet as they end.",
	  NULL, ct_rule_last_error, CT_CAUSE_OWN, 0 },
	{ "ioctls", "time in ioctls of the kernel driver, with RM command or class and object", 5,
	  "% of the wall time of startup or steady state",
	  "In the steady state a program needs hardly any: launches do not enter the kernel.",
	  &ct_ioctls_analyser, ct_rule_ioctls, CT_CAUSE_OWN, 0 },
	{ "failing-ioctls", "ioctls that fail in the steady state", 3, "failures",
	  "Libcuda asks for much that a GPU does not have while it starts; later a failure is a sign.",
	  &ct_ioctls_analyser, ct_rule_failing_ioctls, CT_CAUSE_OWN, 0 },
	{ "thread-contention", "threads of a process that wait for each other in libcuda", 1, SHARE,
	  "At least 50 launches alone and 50 at the same time as another thread's, and those take a quarter longer.",
	  &ct_contention_analyser, ct_rule_contention, CT_CAUSE_OWN, 0 },
	{ "shared-gpu", "several processes that use the GPU at the same time", 10, SHARE " beside another process",
	  "The cost is only known where the process also has iterations alone. Processes whose contexts are on other "
	  "devices do not count.",
	  &ct_contention_analyser, ct_rule_shared_gpu, CT_CAUSE_OWN, 0 },
	{ "startup-application", "time before the first call to libcuda", 20, STARTUP,
	  "Often most of a startup is no CUDA at all.", NULL, ct_rule_startup_application, CT_CAUSE_OWN,
	  LINES(BEFORE) },
	{ "startup-init", "initialisation of libcuda and of contexts", 10, STARTUP,
	  "The kernel driver sets up the GPU when its first user comes.", NULL, ct_rule_startup_init, CT_CAUSE_OWN, LINES(INIT) },
	{ "startup-communicators", "making of communicators of NCCL", 10, STARTUP,
	  "All ranks meet, look for their links and open channels, once for each group. A communicator that its call only begins (in "
	  "ncclGroupStart, or one that does not block) counts until it is made.", NULL, ct_rule_startup_communicators, CT_CAUSE_OWN, 0 },
	{ "startup-modules", "loading of code in the startup", 10, STARTUP,
	  "Large libraries hold code for many GPUs; what is not there for this one is compiled.",
	  NULL, ct_rule_startup_modules, CT_CAUSE_OWN, LINES(LOAD) },
};
const unsigned int ct_rules_count = sizeof(ct_rules) / sizeof(*ct_rules);

/* On a terminal a table of such long cells can't be read. */
static void rules_print_wrapped(FILE *out, unsigned int width)
{
	char text[1024];

	for (unsigned int i = 0; i < ct_rules_count; i++) {
		snprintf(text, sizeof(text), "%s, from %g %s", ct_rules[i].summary, ct_rules[i].threshold, ct_rules[i].unit);
		fprintf(out, "%s\n  ", ct_rules[i].name);
		ct_term_wrap(out, text, width, 2, 2);
		fputs("  ", out);
		ct_term_wrap(out, ct_rules[i].reason, width, 2, 2);
		fputc('\n', out);
	}
	ct_term_wrap(out, "A finding is sure if the records show it and what it costs, likely if the cost is a bound or an estimate, and "
			  "possible if something else may fit the records too.  A cause that no record shows is never named.", width, 0, 0);
}

void ct_explain_print_rules(FILE *out, unsigned int width)
{
	if (width) {
		rules_print_wrapped(out, width);
		return;
	}
	fprintf(out, "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
		"# Rules of `cudatrace explain`\n\n"
		"What `explain` looks for, from which threshold on, and why. This page is printed by\n"
		"`cudatrace explain --rules`; the table is in `cli/explain/rules.c`.\n\n"
		"| rule | finds | threshold | reason |\n|---|---|---|---|\n");
	for (unsigned int i = 0; i < ct_rules_count; i++)
		fprintf(out, "| `%s` | %s | %g %s | %s |\n", ct_rules[i].name, ct_rules[i].summary,
			ct_rules[i].threshold, ct_rules[i].unit, ct_rules[i].reason);
	fprintf(out, "\nA finding is *sure* if the records show it and what it costs, *likely* if the cost is a bound or\n"
		"an estimate, and *possible* if something else may fit the records too. A cause that no record\n"
		"shows is never named.\n");
}
