/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All checks of doctor. */
#ifndef CT_CLI_CHECKS_H
#define CT_CLI_CHECKS_H

#include <stddef.h>

#include "doctor/doctor.h"

/* They run in this order. */
extern const struct ct_check ct_checks[];
extern const size_t ct_checks_count;

#endif
