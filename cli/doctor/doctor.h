/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The findings of doctor: a line each, with the command that mends what is wrong.
 */
#ifndef CT_CLI_DOCTOR_H
#define CT_CLI_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

enum ct_finding {
	CT_FINDING_OK,
	CT_FINDING_NOTE,	/* as it should be known, nothing to mend */
	CT_FINDING_MISSING,	/* one of the two ways doesn't work without it */
};

struct ct_doctor {
	FILE *out;
	bool colour;
	char release[80];	/* of the running kernel */
	char module_path[4096];	/* cudatrace.ko for it, "" if there is none */
	bool module_signed;
	bool loaded;		/* the module */
	bool may_load;		/* the kernel accepts modules, maybe signed ones alone */
	bool must_sign;
	bool device_opens;	/* for recording */
	bool driver;		/* NVIDIA's kernel modules are loaded */
	bool library;		/* libcudatrace.so was found */
	bool libcuda;
	bool kprobes;
};

/* A finding; @cure (may be NULL) is a command or what to do. */
void ct_finding(struct ct_doctor *d, enum ct_finding what, const char *cure, const char *format,
		...) __attribute__((format(printf, 4, 5)));

/* The first line of a file of /proc or /sys without its end; false: not readable. */
bool ct_doctor_read(const char *path, char *buf, size_t size);

/*
 * How many probes there are, and in which states: those alone in which there are any.
 * @count:	by enum ct_probe_state, @states of them
 */
void ct_doctor_probes(char *text, size_t size, const unsigned int *count, size_t states);

/* Each finds out its part and tells it. */
void ct_doctor_kernel(struct ct_doctor *d);	/* doctor_kernel.c */
void ct_doctor_module(struct ct_doctor *d);
void ct_doctor_device(struct ct_doctor *d);	/* doctor_device.c */
void ct_doctor_cuda(struct ct_doctor *d);	/* doctor_cuda.c */

#endif
