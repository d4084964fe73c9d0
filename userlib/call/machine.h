/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program's own questions to libcuda say of the machine; see machine.c. */
#ifndef CT_MACHINE_H
#define CT_MACHINE_H

#include "call/frame.h"

ct_extract ct_x_cuda_version, ct_x_device_name, ct_x_device_memory, ct_x_device_uuid;

#endif
