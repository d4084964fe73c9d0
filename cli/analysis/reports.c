// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See reports.h.  A new report is a file with "const struct ct_analyser ct_report_NAME", and
 * a row here.  They are listed in this order.
 */
#include "analysis/reports.h"

#include <string.h>

#define REPORTS(X)							\
	X(summary)							\
	X(stages)							\
	X(iterations)							\
	X(gaps)								\
	X(sync)								\
	X(cuda_api_sum)							\
	X(cuda_api_trace)						\
	X(cuda_gpu_kern_sum)						\
	X(cuda_gpu_mem_time_sum)					\
	X(cuda_gpu_mem_size_sum)					\
	X(cuda_gpu_sum)							\
	X(cuda_gpu_trace)						\
	X(cuda_kern_exec_sum)						\
	X(gpu_metrics)							\
	X(nvtx_sum)							\
	X(nvtx_kern_sum)						\
	X(nvtx_gpu_proj_sum)						\
	X(lines)							\
	X(stacks)							\
	X(graph_lines)							\
	X(ranks)							\
	X(collectives_sum)						\
	X(collectives)							\
	X(osrt_sum)							\
	X(memory)							\
	X(errors)							\
	X(threads)							\
	X(processes)							\
	X(ioctl_sum)							\
	X(driver_sum)							\
	X(switches)							\
	X(handles)							\
	X(blocks)							\
	X(lost)

#define REPORT_DECLARE(name)	extern const struct ct_analyser ct_report_##name;
REPORTS(REPORT_DECLARE)

#define REPORT_ROW(name)	&ct_report_##name,
const struct ct_analyser *const ct_reports[] = { REPORTS(REPORT_ROW) };
const unsigned int ct_reports_count = sizeof(ct_reports) / sizeof(*ct_reports);

const struct ct_analyser *ct_report_find(const char *name)
{
	for (unsigned int i = 0; i < ct_reports_count; i++)
		if (!strcmp(ct_reports[i]->name, name))
			return ct_reports[i];
	return NULL;
}

void ct_reports_add(struct ct_analysers *analysers)
{
	for (unsigned int i = 0; i < ct_reports_count; i++)
		if (!ct_reports[i]->streams)
			ct_analysers_add(analysers, ct_reports[i]);
}
