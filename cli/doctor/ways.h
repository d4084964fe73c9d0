/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the ways into a program beside starting it: attaching, standby, stacks. */
#ifndef CT_CLI_DOCTOR_WAYS_H
#define CT_CLI_DOCTOR_WAYS_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_attach(struct ct_doctor *d);
struct ct_check_result ct_check_standby(struct ct_doctor *d);
struct ct_check_result ct_check_stacks(struct ct_doctor *d);

#endif
