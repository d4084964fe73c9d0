/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of a timeline that are of the machine's GPUs: clocks, power, use; see gpu_metrics of the ABI. */
#ifndef CT_CLI_SLICE_METRICS_H
#define CT_CLI_SLICE_METRICS_H

#include "base/keyed.h"
#include "trace/record.h"

/* X(ID, name, unit, field, factor): the value is the field times the factor. */
#define CT_SLICE_METRICS(X)						\
	X(CLOCK, "SM clock", "MHz", clock, 1)				\
	X(LIMITED, "reasons why the clocks are not higher", "", limited, 1) \
	X(POWER, "power", "mW", power, 1)				\
	X(TEMPERATURE, "temperature", "C", temperature, 1)		\
	X(MEMORY, "memory of all processes", "bytes", memory, 1)	\
	X(BUSY, "busy", "permille", busy, 1)				\
	X(SM, "SM active", "permille", sm, 1)				\
	X(OCCUPANCY, "SM occupancy", "permille", occupancy, 1)		\
	X(TENSOR, "tensor active", "permille", tensor, 1)		\
	X(DRAM, "DRAM active", "permille", dram, 1)			\
	X(PCIE_TX, "PCIe sent", "bytes/s", pcie_tx, 1024)		\
	X(PCIE_RX, "PCIe received", "bytes/s", pcie_rx, 1024)		\
	X(NVLINK_TX, "NVLink sent", "bytes/s", nvlink_tx, 1024)		\
	X(NVLINK_RX, "NVLink received", "bytes/s", nvlink_rx, 1024)
#define CT_SLICE_METRIC_ROW(id, name, unit, field, factor)	CT_SLICE_METRIC_##id,
enum ct_slice_metric { CT_SLICE_METRICS(CT_SLICE_METRIC_ROW) CT_SLICE_METRIC_COUNT };
#undef CT_SLICE_METRIC_ROW

extern const char *const ct_slice_metric_name[CT_SLICE_METRIC_COUNT];
extern const char *const ct_slice_metric_unit[CT_SLICE_METRIC_COUNT];

struct ct_slice_metric_last {
	uint64_t key;
	uint64_t value;
};

struct ct_slice_metrics {
	/* Is told of each new value; NULL: the format has no such counters. */
	int (*give)(void *arg, enum ct_slice_metric which, uint32_t gpu, uint64_t ts, uint64_t value);
	void *arg;
	CT_KEYED(struct ct_slice_metric_last) last;
};

/* Gives what has changed; @r is a gpu_metrics record.  0 or a negative errno. */
int ct_slice_metrics_record(struct ct_slice_metrics *m, const struct ct_record *r, uint64_t ts);
void ct_slice_metrics_free(struct ct_slice_metrics *m);

#endif
