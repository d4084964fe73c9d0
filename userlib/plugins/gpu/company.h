/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether another part of the program uses CUPTI's activity interface. */
#ifndef CT_GPU_COMPANY_H
#define CT_GPU_COMPANY_H

#include <stdbool.h>

extern bool company;

#endif
