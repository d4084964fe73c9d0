/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words for the numbers of a record: results, devices, ioctls, contexts, kernels.
 * Every function returns a constant or long-lived string, or NULL.
 */
#ifndef CT_CLI_NAMES_H
#define CT_CLI_NAMES_H

#include "trace/record.h"

/* "CUDA_SUCCESS", "cudaErrorInvalidValue", "EINVAL". */
const char *ct_name_result(const struct ct_record *r);

/* "nvidiactl", "nvidia0", "nvidia-uvm"; @buf holds a name that is made. */
const char *ct_name_device(uint32_t device, char buf[24]);

/* An ioctl's escape or UVM ioctl: "NV_ESC_RM_CONTROL". */
const char *ct_name_ioctl(uint32_t cmd, uint32_t device);

/* The name of an ioctl's code, which the have field says the kind of. */
const char *ct_name_code(uint32_t code, uint32_t have);

/* "softirq", "hardirq", "nmi"; NULL in a task. */
const char *ct_name_context(unsigned int flags);

/*
 * The readable form of string @id of the registry, kept until
 * ct_names_forget().  NULL if there is no such string.
 */
struct ct_names {
	const struct ct_registry *reg;
	char **demangled;		/* by id; the string itself if it is plain */
};
int ct_names_init(struct ct_names *names, const struct ct_registry *reg);
const char *ct_names_string(struct ct_names *names, uint32_t id);
void ct_names_forget(struct ct_names *names);

/* A readable form, malloc()ed, or NULL if @mangled is not a mangled name. */
char *ct_demangle(const char *mangled);

#endif
