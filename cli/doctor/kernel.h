/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the running kernel allows. */
#ifndef CT_CLI_DOCTOR_KERNEL_H
#define CT_CLI_DOCTOR_KERNEL_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_kernel(struct ct_doctor *d);
struct ct_check_result ct_check_modules_disabled(struct ct_doctor *d);
struct ct_check_result ct_check_modules(struct ct_doctor *d);
struct ct_check_result ct_check_secure_boot(struct ct_doctor *d);
struct ct_check_result ct_check_signed_only(struct ct_doctor *d);
struct ct_check_result ct_check_confidential(struct ct_doctor *d);
struct ct_check_result ct_check_headers(struct ct_doctor *d);

#endif
