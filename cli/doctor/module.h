/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is there a module for the running kernel, and is it loaded? */
#ifndef CT_CLI_DOCTOR_MODULE_H
#define CT_CLI_DOCTOR_MODULE_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_built(struct ct_doctor *d);
struct ct_check_result ct_check_loaded(struct ct_doctor *d);
struct ct_check_result ct_check_signed(struct ct_doctor *d);
struct ct_check_result ct_check_not_loaded(struct ct_doctor *d);

#endif
