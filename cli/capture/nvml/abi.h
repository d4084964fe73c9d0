/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is used of NVML's interface (libnvidia-ml.so.1), declared here so that nothing of NVIDIA's is needed to
 * build. The layouts are those of all drivers since 418; GPM came with 520.
 */
#ifndef CT_CLI_NVML_ABI_H
#define CT_CLI_NVML_ABI_H

#include <stdint.h>

typedef int nvml_result;		/* 0: done */
typedef void *nvml_device;
typedef void *nvml_gpm_sample;

enum { NVML_CLOCK_SM = 1 };
enum { NVML_TEMPERATURE_GPU = 0 };

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned int gpu, memory;	/* % of the time since the last look, which the driver chooses */
};

/* Of _v2 and _v3; bytes: all bits where the driver does not know. */
struct nvml_process {
	unsigned int pid;		/* in the first namespace of pids */
	unsigned long long bytes;
	unsigned int gpu_instance, compute_instance;
};

enum { NVML_INSUFFICIENT_SIZE = 7 };

struct nvml_pci {
	char legacy[16];
	unsigned int domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct nvml_gpm_support {
	unsigned int version;		/* 1 */
	unsigned int supported;
};

struct nvml_gpm_metric {
	unsigned int id;
	nvml_result result;
	double value;
	struct {
		char *short_name, *long_name, *unit;
	} info;
};

/* NVML_GPM_METRIC_*: in %, and in MiB a second. */
enum {
	NVML_GPM_SM = 2, NVML_GPM_OCCUPANCY = 3, NVML_GPM_TENSOR = 5, NVML_GPM_DRAM = 10,
	NVML_GPM_PCIE_TX = 20, NVML_GPM_PCIE_RX = 21, NVML_GPM_NVLINK_RX = 60, NVML_GPM_NVLINK_TX = 61,
};

/* Newer drivers have more metrics; only the first .count are looked at. */
#define NVML_GPM_METRICS	512

struct nvml_gpm_get {
	unsigned int version;		/* 1 */
	unsigned int count;
	nvml_gpm_sample first, second;
	struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};

/* X(member, symbol, parameters): what must be there, and what may be missing. */
#define NVML_NEEDED(X)								\
	X(init, nvmlInit_v2, (void))						\
	X(shutdown, nvmlShutdown, (void))					\
	X(count_devices, nvmlDeviceGetCount_v2, (unsigned int *))			\
	X(by_index, nvmlDeviceGetHandleByIndex_v2, (unsigned int, nvml_device *)) \
	X(uuid, nvmlDeviceGetUUID, (nvml_device, char *, unsigned int))
#define NVML_OPTIONAL(X)							\
	X(name, nvmlDeviceGetName, (nvml_device, char *, unsigned int))		\
	X(pci, nvmlDeviceGetPciInfo_v3, (nvml_device, struct nvml_pci *))	\
	X(clock, nvmlDeviceGetClockInfo, (nvml_device, int, unsigned int *))	\
	X(clock_max, nvmlDeviceGetMaxClockInfo, (nvml_device, int, unsigned int *)) \
	X(limited, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *)) \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device, unsigned int *))	\
	X(power_limit, nvmlDeviceGetEnforcedPowerLimit, (nvml_device, unsigned int *)) \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device, int, unsigned int *)) \
	X(memory, nvmlDeviceGetMemoryInfo, (nvml_device, struct nvml_memory *))	\
	X(processes, nvmlDeviceGetComputeRunningProcesses_v3, (nvml_device, unsigned int *, struct nvml_process *)) \
	X(processes_v2, nvmlDeviceGetComputeRunningProcesses_v2, (nvml_device, unsigned int *, struct nvml_process *)) \
	X(utilization, nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilization *)) \
	X(gpm_support, nvmlGpmQueryDeviceSupport, (nvml_device, struct nvml_gpm_support *)) \
	X(gpm_alloc, nvmlGpmSampleAlloc, (nvml_gpm_sample *))			\
	X(gpm_free, nvmlGpmSampleFree, (nvml_gpm_sample))			\
	X(gpm_sample, nvmlGpmSampleGet, (nvml_device, nvml_gpm_sample))		\
	X(gpm_get, nvmlGpmMetricsGet, (struct nvml_gpm_get *))

#endif
