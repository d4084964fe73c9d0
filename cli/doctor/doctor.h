/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A check of doctor and what it finds: a line, with the command that mends what is wrong.
 * A new check is a function of this type, and a row of the table in checks.c.
 */
#ifndef CT_CLI_DOCTOR_H
#define CT_CLI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

enum ct_check_level {
	CT_FINDING_NONE,	/* nothing to say */
	CT_FINDING_OK,
	CT_FINDING_NOTE,	/* good to know, nothing to mend */
	CT_FINDING_MISSING,	/* with it missing, recording with or without the module fails */
};

struct ct_check_result {
	enum ct_check_level level;
	bool more;		/* the check has another finding: call it again */
	char text[4400];
	char cure[4400];	/* a command, or what to do; "" if there is none */
};

/* What the checks know of this machine.  Later rows use what earlier ones found. */
struct ct_doctor {
	const char *program;	/* that is to be recorded; NULL: none was named */
	char release[80];	/* of the running kernel */
	char module_path[4096];	/* cudatrace.ko for it, "" if there is none */
	bool module_signed;
	bool loaded;		/* the module */
	bool may_load;		/* the kernel loads modules, maybe only signed ones */
	bool must_sign;
	int device;		/* file descriptor of /dev/cudatrace, -1: it does not open */
	bool device_records;	/* it opens for recording, and speaks our ABI */
	uint32_t next_probe;	/* index of the next to look at */
	bool driver;		/* NVIDIA's kernel modules are loaded */
	char driver_version[64];
	bool library;		/* libcudatrace.so was found */
	char libcuda[4096];	/* path, "" if there is none */
	char libcuda_version[64];
	unsigned int options;	/* bits of the kernel options that are there (kernel_options.c) */
	bool selftest;		/* --selftest */
	bool selftest_failed;
	unsigned int next_option;	/* index of the next to look at */
};

#define CT_DOCTOR_INIT	{ .device = -1, .may_load = true }

struct ct_check {
	const char *name;
	struct ct_check_result (*check)(struct ct_doctor *d);
	bool (*when)(const struct ct_doctor *d);	/* NULL: always */
};

/* @cure may be NULL. */
struct ct_check_result ct_check_result(enum ct_check_level level, const char *cure, const char *format,
			     ...) __attribute__((format(printf, 3, 4)));

static inline struct ct_check_result ct_no_finding(void)
{
	return (struct ct_check_result){ .level = CT_FINDING_NONE };
}

/* Is there a file of this name? */
bool ct_doctor_has(const char *path);

#endif
