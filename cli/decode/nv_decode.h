/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Names of NVIDIA's numbers, at read time: escapes and UVM's ioctls, control commands, classes,
 * statuses, and CUDA's results.  Nothing is allocated, every function may be called from any thread.
 *
 * Names are constant strings.  An unknown number has the name NULL: there are numbers that no published
 * header names, and newer drivers add some.
 *
 * Versions are driver versions as in nv_names.h (0: not known, taken as the newest).  They matter, since
 * numbers were renamed.
 */
#ifndef CUDATRACE_NV_DECODE_H
#define CUDATRACE_NV_DECODE_H

#include <stdint.h>

#include "module/uapi/nv_names.h"

/* The newest name. */
const char *nv_escape_name(unsigned int nr);
const char *nv_uvm_ioctl_name(uint32_t cmd);
const char *nv_ctrl_name(uint32_t cmd);
const char *nv_class_name(uint32_t hclass);
const char *nv_status_name(uint32_t status);
const char *cu_result_name(int result);
const char *cudart_error_name(int error);

/* The name that a number had in driver @version. */
const char *nv_escape_name_at(unsigned int nr, unsigned int version);
const char *nv_ctrl_name_at(uint32_t cmd, unsigned int version);
const char *nv_class_name_at(uint32_t hclass, unsigned int version);
const char *nv_uvm_ioctl_name_at(uint32_t cmd, unsigned int version);

#endif /* CUDATRACE_NV_DECODE_H */
