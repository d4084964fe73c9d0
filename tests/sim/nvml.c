// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * nvml.c - a stand-in for libnvidia-ml: two GPUs whose figures are made up and change with each look, so that
 * what reads them can be tested. It says that it is simulated: cudatrace_simulated_nvml. The second GPU has the
 * UUID of the simulated libcuda's device.
 *
 * NVMLSIM_LIMITED: the reasons why the clocks are not higher (default: 0). NVMLSIM_NO_GPM: it is an older GPU.
 * NVMLSIM_LOWER: so many MHz lower clocks. NVMLSIM_GPUS: how many of the two there are. NVMLSIM_FAILS: nvmlInit fails.
 * NVMLSIM_PROCESSES=FILE: processes that use a GPU, a line each: GPU PID BYTES (-1: the driver does not know), read at each look.
 * NVMLSIM_HANGS: who asks for them waits for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/capture/nvml/abi.h"

#define EXPORT	__attribute__((visibility("default")))

#define GPUS		2u
#define NOT_FOUND	6
#define NOT_SUPPORTED	3
#define NOT_INITIALISED	1

EXPORT extern const char cudatrace_simulated_nvml[];
const char cudatrace_simulated_nvml[] = "simulated NVML";

static int begun;
static unsigned int looks[GPUS];
static char samples[64];
static unsigned int samples_count;

/* Handles are 1 and 2. */
static unsigned int number(nvml_device d)
{
	return (unsigned int)(unsigned long)d - 1;
}

EXPORT nvml_result nvmlInit_v2(void)
{
	if (getenv("NVMLSIM_FAILS"))
		return NOT_FOUND;
	begun++;
	return 0;
}

EXPORT nvml_result nvmlShutdown(void)
{
	return begun-- > 0 ? 0 : NOT_INITIALISED;
}

EXPORT nvml_result nvmlDeviceGetCount_v2(unsigned int *count)
{
	const char *gpus = getenv("NVMLSIM_GPUS");

	*count = gpus ? (unsigned int)atoi(gpus) : GPUS;
	return begun ? 0 : NOT_INITIALISED;
}

EXPORT nvml_result nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvml_device *d)
{
	*d = (nvml_device)(unsigned long)(index + 1);
	return index < GPUS ? 0 : NOT_FOUND;
}

EXPORT nvml_result nvmlDeviceGetUUID(nvml_device d, char *text, unsigned int size)
{
	static const char *const uuids[GPUS] = {
		"GPU-11111111-2222-3333-4444-555555555555", "GPU-63756461-7472-6163-6520-73696d475055",
	};

	strncpy(text, uuids[number(d)], size - 1);
	return 0;
}

EXPORT nvml_result nvmlDeviceGetName(nvml_device d, char *text, unsigned int size)
{
	(void)d;
	strncpy(text, "simulated GPU", size - 1);
	return 0;
}

EXPORT nvml_result nvmlDeviceGetPciInfo_v3(nvml_device d, struct nvml_pci *pci)
{
	strcpy(pci->bus_id, number(d) ? "00000000:02:00.0" : "00000000:01:00.0");
	return 0;
}

/* 1,000, 1,100 ... 1,900 MHz and again: the median of ten looks is 1,450. */
EXPORT nvml_result nvmlDeviceGetClockInfo(nvml_device d, int type, unsigned int *mhz)
{
	const char *lower = getenv("NVMLSIM_LOWER");

	*mhz = 1000 + 100 * (looks[number(d)]++ % 10) - (lower ? atoi(lower) : 0);
	return type == NVML_CLOCK_SM ? 0 : NOT_SUPPORTED;
}

EXPORT nvml_result nvmlDeviceGetMaxClockInfo(nvml_device d, int type, unsigned int *mhz)
{
	(void)d;
	(void)type;
	*mhz = 1980;
	return 0;
}

EXPORT nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device d, unsigned long long *reasons)
{
	const char *limited = getenv("NVMLSIM_LIMITED");

	(void)d;
	*reasons = limited ? strtoull(limited, NULL, 0) : 0;
	return 0;
}

EXPORT nvml_result nvmlDeviceGetPowerUsage(nvml_device d, unsigned int *mw)
{
	*mw = number(d) ? 350500 : 70000;
	return 0;
}

EXPORT nvml_result nvmlDeviceGetEnforcedPowerLimit(nvml_device d, unsigned int *mw)
{
	(void)d;
	*mw = 700000;
	return 0;
}

EXPORT nvml_result nvmlDeviceGetTemperature(nvml_device d, int sensor, unsigned int *celsius)
{
	(void)sensor;
	*celsius = 40 + number(d);
	return 0;
}

EXPORT nvml_result nvmlDeviceGetMemoryInfo(nvml_device d, struct nvml_memory *memory)
{
	*memory = (struct nvml_memory){ .total = 80ull << 30, .used = (1ull + number(d)) << 30 };
	return 0;
}

EXPORT nvml_result nvmlDeviceGetComputeRunningProcesses_v3(nvml_device d, unsigned int *count, struct nvml_process *list)
{
	const char *name = getenv("NVMLSIM_PROCESSES");
	FILE *file = name ? fopen(name, "r") : NULL;
	unsigned int gpu, pid, room = *count;
	long long bytes;

	while (getenv("NVMLSIM_HANGS"))
		pause();
	*count = 0;
	while (file && fscanf(file, "%u %u %lld", &gpu, &pid, &bytes) == 3) {
		if (gpu != number(d))
			continue;
		if (*count < room)
			list[*count] = (struct nvml_process){ .pid = pid, .bytes = (unsigned long long)bytes };
		++*count;
	}
	if (file)
		fclose(file);
	return *count > room ? NVML_INSUFFICIENT_SIZE : 0;
}

/* The driver says that it does not know. */
EXPORT nvml_result nvmlDeviceGetUtilizationRates(nvml_device d, struct nvml_utilization *used)
{
	*used = (struct nvml_utilization){ .gpu = 75 };
	return number(d) ? 0 : NOT_SUPPORTED;
}

EXPORT nvml_result nvmlGpmQueryDeviceSupport(nvml_device d, struct nvml_gpm_support *support)
{
	(void)d;
	support->supported = !getenv("NVMLSIM_NO_GPM");
	return support->version == 1 ? 0 : NOT_SUPPORTED;
}

EXPORT nvml_result nvmlGpmSampleAlloc(nvml_gpm_sample *sample)
{
	*sample = &samples[samples_count++ % sizeof(samples)];
	return 0;
}

EXPORT nvml_result nvmlGpmSampleFree(nvml_gpm_sample sample)
{
	return sample ? 0 : NOT_FOUND;
}

EXPORT nvml_result nvmlGpmSampleGet(nvml_device d, nvml_gpm_sample sample)
{
	(void)d;
	return sample ? 0 : NOT_FOUND;
}

/* Two samples of one GPU are needed; NVLink it has none. */
EXPORT nvml_result nvmlGpmMetricsGet(struct nvml_gpm_get *get)
{
	if (get->version != 1 || !get->first || !get->second || get->first == get->second)
		return NOT_SUPPORTED;
	for (unsigned int i = 0; i < get->count; i++) {
		struct nvml_gpm_metric *m = &get->metrics[i];

		m->result = m->id >= NVML_GPM_NVLINK_RX ? NOT_SUPPORTED : 0;
		m->value = m->id < NVML_GPM_PCIE_TX ? 10.25 * m->id : 100 * m->id;
	}
	return 0;
}
