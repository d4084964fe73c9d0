// SPDX-License-Identifier: LGPL-2.1-or-later
/* See nvml.h. */
#include "capture/nvml/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/nvml/abi.h"

#define UNKNOWN16	0xffffu
#define UNKNOWN32	0xffffffffu

struct nvml_gpu {
	nvml_device handle;
	char uuid[96], name[96], bus_id[32];
	nvml_gpm_sample samples[2];	/* the older one and the newer one; NULL: no GPM */
	bool sampled;
};

struct ct_nvml {
#define NVML_MEMBER(member, symbol, parameters) nvml_result (*member) parameters;
	NVML_NEEDED(NVML_MEMBER)
	NVML_OPTIONAL(NVML_MEMBER)
#undef NVML_MEMBER
	void *library;
	unsigned int count;
	struct nvml_gpu gpus[CT_NVML_DEVICES];
	struct nvml_gpm_get get;
};

static bool nvml_load(struct ct_nvml *n)
{
	const char *path = getenv("CUDATRACE_NVML");

	n->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return false;
#define NVML_LOAD(member, symbol, parameters) *(void **)&n->member = dlsym(n->library, #symbol);
	NVML_NEEDED(NVML_LOAD)
	NVML_OPTIONAL(NVML_LOAD)
#undef NVML_LOAD
#define NVML_THERE(member, symbol, parameters) && n->member
	return true NVML_NEEDED(NVML_THERE);
#undef NVML_THERE
}

static void nvml_gpm(const struct ct_nvml *n, struct nvml_gpu *gpu)
{
	struct nvml_gpm_support support = { .version = 1 };

	if (!n->gpm_support || !n->gpm_alloc || !n->gpm_free || !n->gpm_sample || !n->gpm_get ||
	    n->gpm_support(gpu->handle, &support) || !support.supported)
		return;
	if (n->gpm_alloc(&gpu->samples[0]) || n->gpm_alloc(&gpu->samples[1]))
		gpu->samples[0] = NULL;
}

static void nvml_find(struct ct_nvml *n)
{
	unsigned int count = 0;

	if (n->count_devices(&count))
		return;
	for (unsigned int i = 0; i < count && i < CT_NVML_DEVICES; i++) {
		struct nvml_gpu *gpu = &n->gpus[n->count++];
		struct nvml_pci pci = { .bus_id = "-" };

		/* Numbers stay NVML's: one that can't be asked has no handle. */
		if (n->by_index(i, &gpu->handle) || n->uuid(gpu->handle, gpu->uuid, sizeof(gpu->uuid))) {
			gpu->handle = NULL;
			continue;
		}
		if (n->name)
			n->name(gpu->handle, gpu->name, sizeof(gpu->name));
		if (n->pci)
			n->pci(gpu->handle, &pci);
		snprintf(gpu->bus_id, sizeof(gpu->bus_id), "%.31s", pci.bus_id);
		nvml_gpm(n, gpu);
	}
}

struct ct_nvml *ct_nvml_open(const char **why)
{
	struct ct_nvml *n = calloc(1, sizeof(*n));

	*why = "no memory";
	if (!n)
		return NULL;
	*why = "there is no libnvidia-ml.so.1, which comes with NVIDIA's driver";
	if (nvml_load(n)) {
		*why = "nvmlInit fails: no driver is loaded, or its devices are out of reach";
		if (!n->init()) {
			nvml_find(n);
			*why = "there is no GPU";
			if (n->count)
				return n;
			n->shutdown();
		}
	}
	if (n->library)
		dlclose(n->library);
	free(n);
	return NULL;
}

void ct_nvml_close(struct ct_nvml *n)
{
	if (!n)
		return;
	for (unsigned int i = 0; i < n->count; i++)
		for (unsigned int k = 0; k < 2; k++)
			if (n->gpus[i].samples[k])
				n->gpm_free(n->gpus[i].samples[k]);
	n->shutdown();
	dlclose(n->library);
	free(n);
}

unsigned int ct_nvml_count(const struct ct_nvml *n)
{
	return n->count;
}

void ct_nvml_describe(const struct ct_nvml *n, unsigned int device, char *text, size_t size)
{
	const struct nvml_gpu *gpu = &n->gpus[device];
	unsigned int clock = 0, power = 0;
	const char *uuid = gpu->uuid;

	if (gpu->handle && n->clock_max && n->clock_max(gpu->handle, NVML_CLOCK_SM, &clock))
		clock = 0;
	if (gpu->handle && n->power_limit && n->power_limit(gpu->handle, &power))
		power = 0;
	snprintf(text, size, "%u %s %s %u %u %s", device, !strncmp(uuid, "GPU-", 4) ? uuid + 4 : *uuid ? uuid : "-",
		 *gpu->bus_id ? gpu->bus_id : "-", clock, power, gpu->name);
}

/* ------------------------------------------------------ one look ----------- */

static uint16_t nvml_u16(unsigned int value)
{
	return value < UNKNOWN16 ? (uint16_t)value : UNKNOWN16 - 1;
}

/* 1/10 %. */
static uint16_t nvml_tenths(double percent)
{
	return percent >= 0 && percent <= 1000 ? (uint16_t)(percent * 10 + 0.5) : UNKNOWN16;
}

static uint32_t nvml_kib(double mib)
{
	return mib >= 0 && mib < 4e6 ? (uint32_t)(mib * 1024 + 0.5) : UNKNOWN32;
}

static void nvml_gpm_read(struct ct_nvml *n, struct nvml_gpu *gpu, struct ct_gpu_metrics *m)
{
	static const unsigned int ids[] = { NVML_GPM_SM, NVML_GPM_OCCUPANCY, NVML_GPM_TENSOR, NVML_GPM_DRAM,
					    NVML_GPM_PCIE_TX, NVML_GPM_PCIE_RX, NVML_GPM_NVLINK_TX, NVML_GPM_NVLINK_RX };
	const unsigned int count = sizeof(ids) / sizeof(*ids);
	uint32_t rates[4];
	uint16_t shares[4];
	nvml_gpm_sample older = gpu->samples[0];

	if (n->gpm_sample(gpu->handle, older))
		return;
	gpu->samples[0] = gpu->samples[1];
	gpu->samples[1] = older;
	if (!gpu->sampled) {
		gpu->sampled = true;
		return;
	}
	n->get.version = 1;
	n->get.count = count;
	n->get.first = gpu->samples[0];
	n->get.second = gpu->samples[1];
	for (unsigned int i = 0; i < count; i++)
		n->get.metrics[i] = (struct nvml_gpm_metric){ .id = ids[i] };
	if (n->gpm_get(&n->get))
		return;
	for (unsigned int i = 0; i < 4; i++) {
		shares[i] = n->get.metrics[i].result ? UNKNOWN16 : nvml_tenths(n->get.metrics[i].value);
		rates[i] = n->get.metrics[i + 4].result ? UNKNOWN32 : nvml_kib(n->get.metrics[i + 4].value);
	}
	m->sm = shares[0];
	m->occupancy = shares[1];
	m->tensor = shares[2];
	m->dram = shares[3];
	m->pcie_tx = rates[0];
	m->pcie_rx = rates[1];
	m->nvlink_tx = rates[2];
	m->nvlink_rx = rates[3];
}

void ct_nvml_read(struct ct_nvml *n, unsigned int device, struct ct_gpu_metrics *m)
{
	struct nvml_gpu *gpu = &n->gpus[device];
	struct nvml_utilization used;
	struct nvml_memory memory;
	unsigned long long limited;
	unsigned int value;

	memset(m, 0xff, sizeof(*m));
	m->gpu = (uint16_t)device;
	if (!gpu->handle)
		return;
	if (n->clock && !n->clock(gpu->handle, NVML_CLOCK_SM, &value))
		m->clock = nvml_u16(value);
	if (n->limited && !n->limited(gpu->handle, &limited))
		m->limited = (uint32_t)limited;
	if (n->power && !n->power(gpu->handle, &value))
		m->power = value;
	if (n->temperature && !n->temperature(gpu->handle, NVML_TEMPERATURE_GPU, &value))
		m->temperature = nvml_u16(value);
	if (n->memory && !n->memory(gpu->handle, &memory))
		m->memory = memory.used;
	if (n->utilization && !n->utilization(gpu->handle, &used))
		m->busy = nvml_tenths(used.gpu);
	if (gpu->samples[0])
		nvml_gpm_read(n, gpu, m);
}

/* ------------------------------------------------------ processes ---------- */

#define PROCESSES_MOST	4096u	/* of a device; more are left out */

unsigned int ct_nvml_processes(struct ct_nvml *n, unsigned int device, struct ct_nvml_process *list, unsigned int room)
{
	nvml_result (*ask)(nvml_device, unsigned int *, struct nvml_process *) = n->processes ? n->processes : n->processes_v2;
	struct nvml_process *all = NULL;
	unsigned int count = 16, had, given = 0;
	nvml_result result = NVML_INSUFFICIENT_SIZE;

	if (!ask || !n->gpus[device].handle)
		return 0;
	/* More may begin between two questions. */
	for (unsigned int tries = 0; result == NVML_INSUFFICIENT_SIZE && tries < 4 && count <= PROCESSES_MOST; tries++) {
		free(all);
		had = count;
		all = calloc(had, sizeof(*all));
		if (!all)
			return 0;
		result = ask(n->gpus[device].handle, &count, all);
		if (result == NVML_INSUFFICIENT_SIZE)
			count = count > had ? count + 16 : 2 * had;
	}
	for (unsigned int i = 0; !result && i < count && i < had; i++) {
		if (all[i].bytes == ~0ull)
			continue;
		if (given < room)
			list[given] = (struct ct_nvml_process){ .pid = all[i].pid, .bytes = all[i].bytes };
		given++;
	}
	free(all);
	return given;
}
