/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this user may do with /dev/cudatrace, and which probes resolve. */
#ifndef CT_CLI_DOCTOR_DEVICE_H
#define CT_CLI_DOCTOR_DEVICE_H

#include <stddef.h>

#include "doctor/doctor.h"

struct ct_check_result ct_check_device_there(struct ct_doctor *d);
struct ct_check_result ct_check_device_records(struct ct_doctor *d);
struct ct_check_result ct_check_device_reads(struct ct_doctor *d);
struct ct_check_result ct_check_version(struct ct_doctor *d);
struct ct_check_result ct_check_refused_probes(struct ct_doctor *d);
struct ct_check_result ct_check_probes(struct ct_doctor *d);
struct ct_check_result ct_check_absent_probes(struct ct_doctor *d);

/*
 * How many probes there are, and in which states: only those in which there are any.
 * @count:	by enum ct_probe_state, @states of them
 */
void ct_doctor_probes(char *text, size_t size, const unsigned int *count, size_t states);

#endif
