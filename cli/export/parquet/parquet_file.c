// SPDX-License-Identifier: LGPL-2.1-or-later
/* See parquet_file.h. */
#include "export/parquet/parquet_file.h"

#include <errno.h>

#include "base/file.h"
#include "module/uapi/cudatrace.h"

#define MAGIC	"PAR1"

int ct_parquet_group_init(struct ct_parquet_group *g, const struct ct_parquet_column *columns,
			  unsigned int count)
{
	int rc = 0;

	*g = (struct ct_parquet_group){ .columns = columns, .count = count };
	g->compress = ct_compress_new();
	g->chunks = calloc(count, sizeof(*g->chunks));
	if (!g->compress || !g->chunks)
		return -ENOMEM;
	for (unsigned int i = 0; i < count && !rc; i++)
		rc = ct_chunk_init(&g->chunks[i], &columns[i]);
	return rc;
}

void ct_parquet_group_free(struct ct_parquet_group *g)
{
	for (unsigned int i = 0; i < g->count && g->chunks; i++)
		ct_chunk_free(&g->chunks[i]);
	free(g->chunks);
	ct_compress_free(g->compress);
	*g = (struct ct_parquet_group){ 0 };
}

size_t ct_parquet_group_size(const struct ct_parquet_group *g)
{
	size_t size = 0;

	for (unsigned int i = 0; i < g->count; i++)
		size += ct_chunk_size(&g->chunks[i]);
	return size;
}

static int file_write(struct ct_parquet_file *f, const void *from, size_t len)
{
	int rc = ct_write_all(f->fd, from, len);

	f->size += len;
	return rc;
}

int ct_parquet_begin(struct ct_parquet_file *f, int fd)
{
	*f = (struct ct_parquet_file){ .fd = fd };
	return file_write(f, MAGIC, 4);
}

int ct_parquet_rows(struct ct_parquet_file *f, struct ct_parquet_group *g)
{
	uint64_t begin = f->size, rows = g->rows, plain = 0;
	struct ct_thrift t = ct_thrift(&f->groups);
	struct ct_bytes chunk = { 0 };
	int rc = 0;

	g->rows = 0;
	if (!rows)
		return 0;
	ct_thrift_struct(&t);
	ct_thrift_field_list(&t, 1, CT_THRIFT_STRUCT, g->count);
	for (unsigned int i = 0; i < g->count && !rc; i++) {
		chunk.len = 0;
		rc = ct_chunk_end(&g->chunks[i], g->compress, f->size, &t, &chunk);
		plain += g->chunks[i].ended_size;
		if (!rc)
			rc = file_write(f, chunk.data, chunk.len);
	}
	ct_bytes_free(&chunk);
	ct_thrift_field_i64(&t, 2, plain);
	ct_thrift_field_i64(&t, 3, rows);
	ct_thrift_field_i64(&t, 5, begin);
	ct_thrift_field_i64(&t, 6, f->size - begin);
	ct_thrift_end(&t);
	f->groups_count++;
	f->rows += rows;
	return rc;
}

static void file_schema(struct ct_thrift *t, const struct ct_parquet_group *g, const char *table)
{
	ct_thrift_field_list(t, 2, CT_THRIFT_STRUCT, g->count + 1);
	ct_thrift_struct(t);
	ct_thrift_field_text(t, 4, table);
	ct_thrift_field_i32(t, 5, g->count);
	ct_thrift_end(t);
	for (unsigned int i = 0; i < g->count; i++)
		ct_chunk_schema(&g->columns[i], t);
}

int ct_parquet_end(struct ct_parquet_file *f, const struct ct_parquet_group *g, const char *table)
{
	struct ct_bytes end = { 0 };
	struct ct_thrift t = ct_thrift(&end);
	size_t len;
	int rc;

	ct_thrift_struct(&t);
	ct_thrift_field_i32(&t, 1, 2);
	file_schema(&t, g, table);
	ct_thrift_field_i64(&t, 3, f->rows);
	ct_thrift_field_list(&t, 4, CT_THRIFT_STRUCT, f->groups_count);
	ct_bytes_put(&end, f->groups.data, f->groups.len);
	ct_thrift_field_text(&t, 6, "cudatrace version " CT_VERSION);
	/* Ranges are in the order of the types. */
	ct_thrift_field_list(&t, 7, CT_THRIFT_STRUCT, g->count);
	for (unsigned int i = 0; i < g->count; i++) {
		ct_thrift_struct(&t);
		ct_thrift_field_struct(&t, 1);
		ct_thrift_end(&t);
		ct_thrift_end(&t);
	}
	ct_thrift_end(&t);
	len = end.len;
	ct_bytes_number(&end, len, 4);
	ct_bytes_put(&end, MAGIC, 4);
	rc = end.failed || f->groups.failed ? -ENOMEM : file_write(f, end.data, end.len);
	ct_bytes_free(&end);
	return rc;
}

void ct_parquet_free(struct ct_parquet_file *f)
{
	ct_bytes_free(&f->groups);
}
