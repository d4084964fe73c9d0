/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the running kernel was built without, and what the module loses by it. */
#ifndef CT_CLI_KERNEL_OPTIONS_H
#define CT_CLI_KERNEL_OPTIONS_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_options(struct ct_doctor *d);

#endif
