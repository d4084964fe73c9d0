/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVIDIA's driver, libcuda and the preload library. */
#ifndef CT_CLI_DOCTOR_CUDA_H
#define CT_CLI_DOCTOR_CUDA_H

#include "doctor/doctor.h"

struct ct_check_result ct_check_driver(struct ct_doctor *d);
struct ct_check_result ct_check_nvidiactl(struct ct_doctor *d);
struct ct_check_result ct_check_libcuda(struct ct_doctor *d);
struct ct_check_result ct_check_libcuda_version(struct ct_doctor *d);
struct ct_check_result ct_check_library(struct ct_doctor *d);
struct ct_check_result ct_check_cupti(struct ct_doctor *d);

#endif
