// SPDX-License-Identifier: LGPL-2.1-or-later
/* See compress.h. */
#include "export/parquet/compress.h"

#ifdef CT_HAVE_ZSTD
#include <zstd.h>

#define LEVEL	3	/* of zstd: the next ones gain some percent and take twice the time */

struct ct_compress {
	ZSTD_CCtx *context;
};

bool ct_compress_possible(void)
{
	return true;
}

struct ct_compress *ct_compress_new(void)
{
	struct ct_compress *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = ZSTD_createCCtx();
	if (!c->context) {
		free(c);
		return NULL;
	}
	return c;
}

void ct_compress_free(struct ct_compress *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->context);
	free(c);
}

size_t ct_compress_put(struct ct_compress *c, struct ct_bytes *out, const struct ct_bytes *from)
{
	size_t bound = ZSTD_compressBound(from->len), len;
	uint8_t *to = ct_bytes_room(out, bound);

	if (!to)
		return 0;
	len = ZSTD_compressCCtx(c->context, to, bound, from->data, from->len, LEVEL);
	if (ZSTD_isError(len)) {
		out->failed = true;
		return 0;
	}
	out->len += len;
	return len;
}

#else

bool ct_compress_possible(void)
{
	return false;
}

struct ct_compress *ct_compress_new(void)
{
	return NULL;
}

void ct_compress_free(struct ct_compress *c)
{
	(void)c;
}

size_t ct_compress_put(struct ct_compress *c, struct ct_bytes *out, const struct ct_bytes *from)
{
	(void)c;
	(void)from;
	out->failed = true;
	return 0;
}

#endif
