/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the machine's GPUs were like while the program ran, by the records gpu_metrics: clocks and what limited
 * them, power, temperature, memory, and how far the parts of a GPU were used.
 */
#ifndef CT_CLI_GPU_METRICS_H
#define CT_CLI_GPU_METRICS_H

#include "analysis/engine.h"
#include "base/keyed.h"
#include "group/histogram.h"

/* Why a GPU's clocks were not higher; X(ID, words, NVML's bits). */
#define CT_CLOCK_LIMITS(X)						\
	X(POWER, "power", 0x4 | 0x80)					\
	X(HEAT, "temperature", 0x20 | 0x40)				\
	X(HARDWARE, "the hardware's slowdown", 0x8)			\
	X(SYNC, "the clocks of other GPUs", 0x10)			\
	X(SETTING, "a setting", 0x2 | 0x100)
#define CT_CLOCK_LIMIT_ROW(id, words, bits)	CT_CLOCK_LIMIT_##id,
enum ct_clock_limit { CT_CLOCK_LIMITS(CT_CLOCK_LIMIT_ROW) CT_CLOCK_LIMIT_COUNT };
#undef CT_CLOCK_LIMIT_ROW

extern const char *const ct_clock_limit_words[CT_CLOCK_LIMIT_COUNT];

struct ct_metric {
	uint64_t count;			/* of looks at which it was known */
	double sum;
	uint64_t max;
};

/* Of some looks at a GPU. */
struct ct_gpu_figures {
	uint64_t looks;
	uint64_t working;		/* of them, those at which it was not idle, as NVML says */
	uint64_t limited[CT_CLOCK_LIMIT_COUNT];	/* of .working */
	struct ct_histogram clock;	/* MHz, of .working */
	struct ct_metric power, temperature, memory, busy, sm, occupancy, tensor, dram;
	struct ct_metric pcie_tx, pcie_rx, nvlink_tx, nvlink_rx;
};

struct ct_gpu_metrics_device {
	uint64_t gpu;			/* NVML's number */
	const char *uuid, *name;	/* "": not known; the first is not ended, see .uuid_length */
	int uuid_length;
	int device;			/* its number in CUDA, -1: no program asked for it */
	bool used;			/* a program asked CUDA for it, or none asked for any */
	uint32_t clock_max, power_limit;	/* MHz, mW; 0: not known */
	struct ct_gpu_figures all;	/* between --from and --to */
	struct ct_gpu_figures *processes;	/* in the main stage of each, as the phases have them */
};

struct ct_gpu_metrics_state {
	CT_KEYED(struct ct_gpu_metrics_device);
	unsigned int processes_count;
};

/* Its state is a struct ct_gpu_metrics_state. */
extern const struct ct_analyser ct_gpu_metrics_analyser;

/* The mean; 0 where it was never known. */
static inline double ct_metric_mean(const struct ct_metric *m)
{
	return m->count ? m->sum / m->count : 0;
}

/* The device that a process knows as @gpu, or NULL. */
const struct ct_gpu_metrics_device *ct_gpu_metrics_of(const struct ct_gpu_metrics_state *s, int gpu);

/* What limited its clocks most often, at how many of .working; 0: nothing did. */
uint64_t ct_gpu_metrics_limit(const struct ct_gpu_figures *f, enum ct_clock_limit *which);

#endif
