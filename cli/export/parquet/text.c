// SPDX-License-Identifier: LGPL-2.1-or-later
/* See text.h. */
#include "export/parquet/text.h"

#include "export/columns.h"

static const char *text_utf8(struct ct_bytes *room, const char *text, size_t *len)
{
	unsigned int n;
	char c[4];

	room->len = 0;
	for (size_t i = 0; i < *len;) {
		i += ct_utf8_next(text + i, *len - i, c, &n);
		ct_bytes_put(room, c, n);
	}
	*len = room->len;
	return (const char *)room->data;
}

void ct_parquet_text(struct ct_bytes *room, struct ct_chunk *c, struct ct_compress *z, const char *text, size_t len,
		     bool kept)
{
	bool known = kept && ct_chunk_known(c, text)->text == text;

	if (!known && ct_utf8_plain(text, len) < len) {
		text = text_utf8(room, text, &len);
		kept = false;
	}
	if (!room->failed)
		ct_chunk_text(c, z, text, len, kept);
}
