/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GPUs of this machine, as NVML shows them. Nothing of a GPU is changed. One thread at a time.
 */
#ifndef CT_CLI_NVML_H
#define CT_CLI_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "module/uapi/cudatrace.h"

#define CT_NVML_DEVICES	64	/* more are left out */

struct ct_nvml;

/**
 * ct_nvml_open() - load libnvidia-ml and find the GPUs
 * @why: a reason in words, where there is none of them
 *
 * CUDATRACE_NVML is the path of another library. Return: NULL without the library or a GPU.
 */
struct ct_nvml *ct_nvml_open(const char **why);
void ct_nvml_close(struct ct_nvml *n);

unsigned int ct_nvml_count(const struct ct_nvml *n);

/*
 * "0 5a3f...-... 00000000:1B:00.0 1980 700000 NVIDIA H200": number, UUID, PCI address, highest clock of the SMs in
 * MHz, limit of the power in mW (0: not known), name.
 */
void ct_nvml_describe(const struct ct_nvml *n, unsigned int device, char *text, size_t size);

/* All that is known of a device now; GPM's are averages since the last look at it. */
void ct_nvml_read(struct ct_nvml *n, unsigned int device, struct ct_gpu_metrics *m);

struct ct_nvml_process {
	uint64_t pid;			/* in the first namespace of pids */
	uint64_t bytes;			/* that it uses of this device: with its contexts, and what it keeps for later */
};

/*
 * Processes that have a context on a device, in @list with room for @room.  Return: how many there are; 0 where the
 * driver does not say.
 */
unsigned int ct_nvml_processes(struct ct_nvml *n, unsigned int device, struct ct_nvml_process *list, unsigned int room);

#endif
