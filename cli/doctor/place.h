/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of where and what is to be recorded: the file system, a container, the program. */
#ifndef CT_CLI_DOCTOR_PLACE_H
#define CT_CLI_DOCTOR_PLACE_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_file_system(struct ct_doctor *d);
struct ct_check_result ct_check_container(struct ct_doctor *d);

/* Of d->program: can a library be preloaded into it? */
struct ct_check_result ct_check_program(struct ct_doctor *d);

#endif
