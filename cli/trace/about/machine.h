/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace says of where it was made: GPUs, driver, CUDA, libraries, the environment that CUDA
 * reads, names of threads.  From the lines of info that the recorder and the library wrote; a
 * trace of an older recorder has few of them.
 */
#ifndef CT_CLI_MACHINE_H
#define CT_CLI_MACHINE_H

#include "trace/registry.h"

struct ct_machine_gpu {
	char name[128];		/* "": not known, as each of what follows */
	char pci[32];		/* 0000:1b:00.0 */
	char uuid[48];		/* without "GPU-" */
	uint64_t memory;	/* bytes */
	int device;		/* its number in CUDA; -1: no program asked for it */
};

#define CT_MACHINE_GPUS		64
#define CT_MACHINE_LISTED	64

struct ct_thread_name {
	uint32_t pid, tid;
	const char *name;
};

/* Texts are those of the registry. */
struct ct_machine {
	struct ct_machine_gpu gpus[CT_MACHINE_GPUS];	/* those that CUDA numbers first */
	unsigned int gpus_count;
	const char *host, *linux_release;		/* NULL: not known */
	char driver[32], cuda[32];			/* "580.159.04", "13.0"; "": not known */
	const char *versions[CT_MACHINE_LISTED];	/* "torch 2.5.1+cu124" */
	unsigned int versions_count;
	const char *env[CT_MACHINE_LISTED];		/* "CUDA_VISIBLE_DEVICES=0" */
	unsigned int env_count;
	struct ct_thread_name *threads;			/* by pid, then tid: each one's last name */
	unsigned int threads_count;
};

/**
 * ct_machine_read() - what the registry says of the machine
 *
 * @reg must outlive @m.  Free with ct_machine_free(), also after an error.
 *
 * Return: 0 or -ENOMEM.
 */
int ct_machine_read(struct ct_machine *m, const struct ct_registry *reg);
void ct_machine_free(struct ct_machine *m);

/* NULL: it has none. */
const char *ct_machine_thread(const struct ct_machine *m, uint32_t pid, uint32_t tid);

/* "2 x NVIDIA H100 80GB HBM3 (79.65 GiB each)"; of one GPU also where it is; "" where none is known. */
char *ct_machine_gpus(const struct ct_machine *m, char *buf, size_t size);

/* "torch 2.5.1, nccl 2.21.5"; "" where nothing is known. */
char *ct_machine_versions_text(const struct ct_machine *m, char *buf, size_t size);

#endif
