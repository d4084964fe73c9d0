/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of a trace in columns, which take UTF-8 alone. */
#ifndef CT_CLI_PARQUET_TEXT_H
#define CT_CLI_PARQUET_TEXT_H

#include "export/parquet/chunk.h"

/* As ct_chunk_text(), of any bytes.  @room: for one that has to be made UTF-8; no memory is kept as its error. */
void ct_parquet_text(struct ct_bytes *room, struct ct_chunk *c, struct ct_compress *z, const char *text, size_t len,
		     bool kept);

#endif
