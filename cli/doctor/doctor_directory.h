/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A check of doctor: the current directory, in which record makes its trace. */
#ifndef CT_CLI_DOCTOR_DIRECTORY_H
#define CT_CLI_DOCTOR_DIRECTORY_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_space(struct ct_doctor *d);

#endif
