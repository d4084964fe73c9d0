/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Parquet file of one flat table. */
#ifndef CT_CLI_PARQUET_FILE_H
#define CT_CLI_PARQUET_FILE_H

#include "export/parquet/chunk.h"

/* A file that is written: what its end will say. */
struct ct_parquet_file {
	int fd;
	uint64_t size, rows;
	struct ct_bytes groups;		/* the descriptions of the row groups */
	uint32_t groups_count;
};

/* What a row group is gathered in; one after the other, for whatever file. */
struct ct_parquet_group {
	const struct ct_parquet_column *columns;
	unsigned int count;
	struct ct_chunk *chunks;
	struct ct_compress *compress;
	uint64_t rows;
};

/* 0 or -ENOMEM; ends with ct_parquet_group_free(), also after an error. */
int ct_parquet_group_init(struct ct_parquet_group *g, const struct ct_parquet_column *columns,
			  unsigned int count);
void ct_parquet_group_free(struct ct_parquet_group *g);

/* Bytes that it holds, about. */
size_t ct_parquet_group_size(const struct ct_parquet_group *g);

/* Each returns 0, -ENOMEM or the error of write().  @fd stays the caller's. */
int ct_parquet_begin(struct ct_parquet_file *f, int fd);
/* Writes the rows of @g, which then has none. */
int ct_parquet_rows(struct ct_parquet_file *f, struct ct_parquet_group *g);
/* @table: what a row is, for people who look at the file. */
int ct_parquet_end(struct ct_parquet_file *f, const struct ct_parquet_group *g, const char *table);
void ct_parquet_free(struct ct_parquet_file *f);

#endif
