/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thrift's compact protocol, in which Parquet writes its headers.  Fields of a struct come in
 * the order of their ids.
 */
#ifndef CT_CLI_PARQUET_THRIFT_H
#define CT_CLI_PARQUET_THRIFT_H

#include "export/parquet/bytes.h"

#define CT_THRIFT_DEPTH	8

struct ct_thrift {
	struct ct_bytes *out;
	unsigned int last[CT_THRIFT_DEPTH];	/* id of the last field, by struct */
	unsigned int depth;
};

/* As a field's type, and as that of a list's elements. */
enum ct_thrift_type { CT_THRIFT_I32 = 5, CT_THRIFT_BINARY = 8, CT_THRIFT_STRUCT = 12 };

static inline struct ct_thrift ct_thrift(struct ct_bytes *out)
{
	return (struct ct_thrift){ .out = out };
}

/* An element of a list; the outermost struct is one too.  Each ends by ct_thrift_end(). */
void ct_thrift_struct(struct ct_thrift *t);
void ct_thrift_end(struct ct_thrift *t);

/* Fields.  That of a struct is ended by ct_thrift_end(); behind a list its elements follow. */
void ct_thrift_field_struct(struct ct_thrift *t, unsigned int id);
void ct_thrift_field_list(struct ct_thrift *t, unsigned int id, enum ct_thrift_type of, size_t count);
void ct_thrift_field_bool(struct ct_thrift *t, unsigned int id, bool value);
void ct_thrift_field_i8(struct ct_thrift *t, unsigned int id, int8_t value);
void ct_thrift_field_i32(struct ct_thrift *t, unsigned int id, int32_t value);
void ct_thrift_field_i64(struct ct_thrift *t, unsigned int id, int64_t value);
void ct_thrift_field_bytes(struct ct_thrift *t, unsigned int id, const void *bytes, size_t len);
void ct_thrift_field_text(struct ct_thrift *t, unsigned int id, const char *text);

/* Elements of lists. */
void ct_thrift_i32(struct ct_thrift *t, int32_t value);
void ct_thrift_text(struct ct_thrift *t, const char *text);

#endif
