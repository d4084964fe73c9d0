/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The generated tables.  Only nv_decode.c uses them: other files call its functions.
 * Each is sorted by number, then version.
 */
#ifndef CUDATRACE_NV_TABLES_H
#define CUDATRACE_NV_TABLES_H

#include "module/uapi/nv_names.h"

extern const struct nv_name nv_ctrl_names[];
extern const unsigned int nv_ctrl_names_count;

extern const struct nv_name nv_class_names[];
extern const unsigned int nv_class_names_count;

extern const struct nv_name nv_status_names[];
extern const unsigned int nv_status_names_count;

extern const struct nv_name cu_result_names[];
extern const unsigned int cu_result_names_count;

extern const struct nv_name cudart_error_names[];
extern const unsigned int cudart_error_names_count;

#endif /* CUDATRACE_NV_TABLES_H */
