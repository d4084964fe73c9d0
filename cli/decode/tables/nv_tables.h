/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The generated tables.  Only nv_decode.c uses them: other files call its functions.
 * Each is sorted by number, then version.
 */
#ifndef CUDATRACE_NV_TABLES_H
#define CUDATRACE_NV_TABLES_H

#include "decode/tables/nv_kinds.h"
#include "module/uapi/nv_names.h"

extern const struct nv_name nv_ctrl_names[];
extern const unsigned int nv_ctrl_names_count;

/* Number: class << 8 | category, a category being bits 8 to 15 of a command. */
extern const struct nv_name nv_ctrl_categories[];
extern const unsigned int nv_ctrl_categories_count;

extern const struct nv_name nv_class_names[];
extern const unsigned int nv_class_names_count;

extern const struct nv_name nv_status_names[];
extern const unsigned int nv_status_names_count;

extern const struct nv_name cu_result_names[];
extern const unsigned int cu_result_names_count;

extern const struct nv_name cudart_error_names[];
extern const unsigned int cudart_error_names_count;

/* One field of a parameter block. */
struct nv_arg_field {
	const char	*name;
	unsigned short	offset;
	unsigned short	size;
	enum nv_arg_kind kind;
};

/* The fields of one block: @count of nv_arg_fields[], from @first on. */
struct nv_arg_layout {
	enum nv_dev	dev;
	unsigned int	nr;
	unsigned int	since;
	unsigned short	size;
	unsigned short	first;
	unsigned short	count;
};

extern const struct nv_arg_field nv_arg_fields[];
extern const struct nv_arg_layout nv_arg_layouts[];
extern const unsigned int nv_arg_layouts_count;

#endif /* CUDATRACE_NV_TABLES_H */
