// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reports that are groupings, each a declaration: of what, by which keys, which columns.
 * Names and columns are those of nsys where the content is the same.
 */
#include "analysis/grouped.h"

#define SUMS_SPEC(columns_)	.columns = columns_, .columns_count = sizeof(columns_) / sizeof(*(columns_))
#define SUMS_KEY(name, head, type, rank, n)	{ { name, head, type, rank }, CT_FIGURE_KEY + (n), NULL }
#define SUMS_FAILED				{ { "Failed", "failed", CT_CELL_COUNT, 1 }, CT_FIGURE_FAILED, NULL }

/* ------------------------------------------------------------ cuda_api_sum --- */

static const struct ct_group_column api_columns[] = {
	CT_GROUP_TIMES("Num Calls", "calls"),
	SUMS_KEY("Name", "name", CT_CELL_TEXT, 0, 0),
	{ { "P95 (ns)", "p95", CT_CELL_NS, 6 }, CT_FIGURE_P95, NULL },
	{ { "P99 (ns)", "p99", CT_CELL_NS, 5 }, CT_FIGURE_P99, NULL },
	SUMS_FAILED,
};

static const struct ct_group_spec api_sum = {
	.of = CT_OF_CALLS, .by = { CT_BY_FUNCTION }, .keys = 1, SUMS_SPEC(api_columns),
	.title = { "CUDA API calls" },
};

const struct ct_analyser ct_report_cuda_api_sum = {
	CT_GROUPED(&api_sum, CT_IS_API),
	.name = "cuda_api_sum",
	.steady = true,
	.summary = "calls of libcuda (and libcudart) by function: time, count, percentiles, failures",
};

/* ------------------------------------------------------------- cuda_gpu_... --- */

static const struct ct_group_column kern_columns[] = {
	CT_GROUP_TIMES("Instances", "launches"),
	SUMS_KEY("Name", "kernel", CT_CELL_KERNEL, 0, 0),
};

static const struct ct_group_spec kern_sum = {
	.of = CT_OF_KERNELS, .by = { CT_BY_KERNEL }, .keys = 1, SUMS_SPEC(kern_columns),
	.title = { "GPU kernels: times of the launch calls on the host, without records of the GPU",
		   "GPU kernels: times on the GPU, from its records" },
};

const struct ct_analyser ct_report_cuda_gpu_kern_sum = {
	CT_GROUPED(&kern_sum, CT_IS_LAUNCH | CT_IS_GPU_KERNEL | CT_IS_GPU_GRAPH),
	.name = "cuda_gpu_kern_sum",
	.steady = true,
	.summary = "kernels by name: launches and times, from the GPU's records or else the calls",
	.needs = ct_grouped_needs_gpu,
};

static const struct ct_group_column gpu_columns[] = {
	CT_GROUP_TIMES("Instances", "instances"),
	SUMS_KEY("Category", "category", CT_CELL_TEXT, 1, 0),
	SUMS_KEY("Operation", "operation", CT_CELL_KERNEL, 0, 1),
};

static const struct ct_group_spec gpu_sum = {
	.of = CT_OF_WORK, .by = { CT_BY_CATEGORY, CT_BY_WORK }, .keys = 2, SUMS_SPEC(gpu_columns),
	.title = { "Work of the GPU: kernels, copies and memory sets, from its records" },
};

const struct ct_analyser ct_report_cuda_gpu_sum = {
	CT_GROUPED(&gpu_sum, CT_IS_GPU_KERNEL | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH),
	.name = "cuda_gpu_sum",
	.steady = true,
	.summary = "kernels, copies and memory sets together: what the GPU's time went to",
	.needs = ct_grouped_needs_gpu,
};

#define SUMS_TRANSFERS	(CT_IS_TRANSFER | CT_IS_GRAPH_LAUNCH | CT_IS_GPU_COPY | CT_IS_GPU_SET | CT_IS_GPU_GRAPH)

static const struct ct_group_column mem_time_columns[] = {
	CT_GROUP_TIMES("Count", "count"),
	SUMS_KEY("Operation", "operation", CT_CELL_TEXT, 0, 0),
};

static const struct ct_group_spec mem_time_sum = {
	.of = CT_OF_COPIES, .by = { CT_BY_OPERATION }, .keys = 1, SUMS_SPEC(mem_time_columns),
	.title = { "GPU memory by time: of the calls on the host, without records of the GPU",
		   "GPU memory by time: on the GPU, from its records" },
};

const struct ct_analyser ct_report_cuda_gpu_mem_time_sum = {
	CT_GROUPED(&mem_time_sum, SUMS_TRANSFERS),
	.name = "cuda_gpu_mem_time_sum",
	.steady = true,
	.summary = "copies and memory sets by direction: how long they took",
	.needs = ct_grouped_needs_gpu,
};

static const struct ct_group_column mem_size_columns[] = {
	{ { "Total (MB)", "total", CT_CELL_MB, 0 }, CT_FIGURE_TOTAL, NULL },
	{ { "Count", "count", CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },
	{ { "Avg (MB)", "avg", CT_CELL_MB, 2 }, CT_FIGURE_MEAN, NULL },
	{ { "Med (MB)", "median", CT_CELL_MB, 3 }, CT_FIGURE_MEDIAN, NULL },
	{ { "Min (MB)", "min", CT_CELL_MB, 4 }, CT_FIGURE_MIN, NULL },
	{ { "Max (MB)", "max", CT_CELL_MB, 1 }, CT_FIGURE_MAX, NULL },
	{ { "StdDev (MB)", "stddev", CT_CELL_MB, 5 }, CT_FIGURE_DEVIATION, NULL },
	SUMS_KEY("Operation", "operation", CT_CELL_TEXT, 0, 0),
};

static const struct ct_group_spec mem_size_sum = {
	.of = CT_OF_COPIES, .by = { CT_BY_OPERATION }, .keys = 1, .measure = CT_MEASURE_BYTES,
	SUMS_SPEC(mem_size_columns),
	.title = { "GPU memory by size: from the calls, without records of the GPU",
		   "GPU memory by size: from the records of the GPU" },
};

const struct ct_analyser ct_report_cuda_gpu_mem_size_sum = {
	CT_GROUPED(&mem_size_sum, SUMS_TRANSFERS),
	.name = "cuda_gpu_mem_size_sum",
	.steady = true,
	.summary = "copies and memory sets by direction: how many bytes",
	.needs = ct_grouped_needs_gpu,
};

/* ---------------------------------------------------------------- nvtx_sum --- */

static const struct ct_group_column nvtx_columns[] = {
	CT_GROUP_TIMES("Instances", "count"),
	{ { "Style", "style", CT_CELL_TEXT, 9 }, CT_FIGURE_WORD, "PushPop" },
	SUMS_KEY("Range", "range", CT_CELL_TEXT, 0, 0),
};

static const struct ct_group_spec nvtx_sum = {
	.of = CT_OF_RANGES, .by = { CT_BY_RANGE }, .keys = 1, SUMS_SPEC(nvtx_columns),
	.title = { "NVTX ranges: a range's time has that of the ranges inside it" },
};

const struct ct_analyser ct_report_nvtx_sum = {
	CT_GROUPED(&nvtx_sum, 0),
	.name = "nvtx_sum",
	.summary = "ranges of NVTX and of cudatrace's own header, by their text",
};

/* -------------------------------------------------------------- the driver --- */

/* Their Name is that of the function, as in nsys; scripts that add up by Name get nsys's figures. */
static const struct ct_group_column osrt_columns[] = {
	CT_GROUP_TIMES("Num Calls", "calls"),
	{ { "Name", "name", CT_CELL_TEXT, 9 }, CT_FIGURE_WORD, "ioctl" },
	SUMS_KEY("Ioctl", "ioctl", CT_CELL_TEXT, 0, 0),
	SUMS_FAILED,
};

static const struct ct_group_spec osrt_sum = {
	.of = CT_OF_IOCTLS, .by = { CT_BY_IOCTL }, .keys = 1, SUMS_SPEC(osrt_columns),
	.title = { "OS runtime: ioctls of the driver, seen by the program",
		   "OS runtime: ioctls of the driver, seen in the kernel", "OS runtime: ioctls of the driver" },
};

const struct ct_analyser ct_report_osrt_sum = {
	CT_GROUPED(&osrt_sum, CT_IS_IOCTL),
	.name = "osrt_sum",
	.summary = "ioctls of the driver as an OS runtime summary: by their kind",
};

static const struct ct_group_column ioctl_columns[] = {
	{ { "Time (%)", "time", CT_CELL_PERCENT, 0 }, CT_FIGURE_SHARE, NULL },
	{ { "Total Time (ns)", "total", CT_CELL_NS, 0 }, CT_FIGURE_TOTAL, NULL },
	{ { "Num Calls", "calls", CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },
	{ { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 3 }, CT_FIGURE_MEAN, NULL },
	{ { "Med (ns)", "median", CT_CELL_NS_MEAN, 4 }, CT_FIGURE_MEDIAN, NULL },
	{ { "Max (ns)", "max", CT_CELL_NS, 2 }, CT_FIGURE_MAX, NULL },
	SUMS_FAILED,
	SUMS_KEY("Device", "device", CT_CELL_TEXT, 5, 0),
	SUMS_KEY("Ioctl", "ioctl", CT_CELL_TEXT, 0, 1),
	SUMS_KEY("Command", "command or class", CT_CELL_TEXT, 0, 2),
};

static const struct ct_group_spec ioctl_sum = {
	.of = CT_OF_IOCTLS, .by = { CT_BY_DEVICE, CT_BY_IOCTL, CT_BY_COMMAND }, .keys = 3, SUMS_SPEC(ioctl_columns),
	.title = { "Ioctls of the driver by command, as the programs saw them",
		   "Ioctls of the driver by command, as the kernel module saw them" },
};

const struct ct_analyser ct_report_ioctl_sum = {
	CT_GROUPED(&ioctl_sum, CT_IS_IOCTL),
	.name = "ioctl_sum",
	.summary = "ioctls of the driver: escapes, RM control commands, classes, UVM commands",
};

static const struct ct_group_column driver_columns[] = {
	{ { "Time (%)", "self", CT_CELL_PERCENT, 0 }, CT_FIGURE_SELF_SHARE, NULL },
	{ { "Total Time (ns)", "total", CT_CELL_NS, 0 }, CT_FIGURE_TOTAL, NULL },
	{ { "Self (ns)", "self time", CT_CELL_NS, 0 }, CT_FIGURE_SELF, NULL },
	{ { "Num Calls", "calls", CT_CELL_COUNT, 0 }, CT_FIGURE_COUNT, NULL },
	{ { "Avg (ns)", "avg", CT_CELL_NS_MEAN, 4 }, CT_FIGURE_MEAN, NULL },
	{ { "Med (ns)", "median", CT_CELL_NS_MEAN, 3 }, CT_FIGURE_MEDIAN, NULL },
	{ { "P99 (ns)", "p99", CT_CELL_NS, 5 }, CT_FIGURE_P99, NULL },
	{ { "Max (ns)", "max", CT_CELL_NS, 2 }, CT_FIGURE_MAX, NULL },
	SUMS_FAILED,
	SUMS_KEY("Type", "type", CT_CELL_TEXT, 1, 1),
	SUMS_KEY("Name", "name", CT_CELL_TEXT, 0, 0),
};

static const struct ct_group_spec driver_sum = {
	.of = CT_OF_DRIVER, .by = { CT_BY_FUNCTION, CT_BY_TYPE }, .keys = 2, .by_self = true,
	SUMS_SPEC(driver_columns),
	.title = { "Functions of the kernel driver; shares are of the time in the functions themselves" },
};

const struct ct_analyser ct_report_driver_sum = {
	CT_GROUPED(&driver_sum, 0),
	.name = "driver_sum",
	.summary = "functions of the kernel driver: time, self time, percentiles, failures",
};
