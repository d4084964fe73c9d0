/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of the module's session as they are written, of all CPUs in the order of time.  Only reads: what a
 * flight recorder overwrites before it was read here is left out.
 */
#ifndef CT_CLI_RINGS_H
#define CT_CLI_RINGS_H

#include "capture/device.h"
#include "trace/record.h"
#include "trace/registry.h"

struct ct_rings_cpu;

struct ct_rings {
	struct ct_device *device;	/* attached, with its data */
	struct ct_registry reg;
	struct ct_registry_writer lines;	/* of the registry that were not read yet */
	struct ct_rings_cpu *cpus;
};

/* What a record is given to; 0 or a negative errno, which ends ct_rings_read(). */
typedef int ct_rings_record(void *arg, const struct ct_registry *reg, const struct ct_record *r);

/* Begins with the oldest record that the rings hold. */
int ct_rings_open(struct ct_rings *r, struct ct_device *device, struct ct_error *err);

/* Gives records that ended until @until (ns); later ones come with the next call. */
int ct_rings_read(struct ct_rings *r, uint64_t until, ct_rings_record *record, void *arg);

void ct_rings_close(struct ct_rings *r);

#endif
