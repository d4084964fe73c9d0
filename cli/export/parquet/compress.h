/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* zstd, where the command was built with it. */
#ifndef CT_CLI_PARQUET_COMPRESS_H
#define CT_CLI_PARQUET_COMPRESS_H

#include "export/parquet/bytes.h"

bool ct_compress_possible(void);

struct ct_compress;

/* NULL: no memory, or it is not possible. */
struct ct_compress *ct_compress_new(void);
void ct_compress_free(struct ct_compress *c);

/* Writes @from compressed to the end of @out; how many bytes, 0: out->failed. */
size_t ct_compress_put(struct ct_compress *c, struct ct_bytes *out, const struct ct_bytes *from);

#endif
