/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words for the numbers of a record: results, devices, ioctls, contexts, kernels.
 * Every function returns a constant or long-lived string, or NULL.
 */
#ifndef CT_CLI_NAMES_H
#define CT_CLI_NAMES_H

#include "trace/record.h"

/* Kinds of results, by who named them: X(ID, word). */
#define CT_RESULTS(X)	X(CUDA, "cuda") X(CUDART, "cudart") X(NCCL, "nccl") X(ERRNO, "errno") X(NV, "nvidia")
#define CT_RESULTS_ROW(id, word)	CT_RESULTS_##id,
enum ct_results_kind { CT_RESULTS_NONE, CT_RESULTS(CT_RESULTS_ROW) };
#undef CT_RESULTS_ROW

extern const char *const ct_results_word[];

/* The kind of what records of the class return. */
enum ct_results_kind ct_results_of(const struct ct_class *class);

/* "CUDA_SUCCESS", "cudaErrorInvalidValue", "EINVAL": of ct_record_result()'s code. */
const char *ct_name_result(const struct ct_record *r);

/* The same of why it failed: for an ioctl also "NV_ERR_INVALID_ARGUMENT". */
const char *ct_name_failure(const struct ct_record *r);

/* "HtoD" */
const char *ct_name_direction(uint64_t direction);

/* "nvidiactl", "nvidia0", "nvidia-uvm"; @buf holds a name that is made. */
const char *ct_name_device(uint32_t device, char buf[24]);

/* An ioctl's escape or UVM ioctl: "NV_ESC_RM_CONTROL". */
const char *ct_name_ioctl(uint32_t cmd, uint32_t device);

/* The words of an ioctl's record. */
struct ct_ioctl_words {
	uint32_t cmd, device, have, code, status;
	const char *escape;		/* as ct_name_ioctl() */
	const char *code_kind;		/* "control" or "class"; NULL: it has no code */
	const char *code_name;
	const char *status_name;	/* NULL too where have says that there is none */
	const char *device_name;
	char buf[24];
};
void ct_ioctl_words(struct ct_ioctl_words *w, const struct ct_record *r);

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
