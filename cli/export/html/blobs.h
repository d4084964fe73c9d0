/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of an HTML report: encoded and compressed, one blob behind the other. */
#ifndef CT_CLI_HTML_BLOBS_H
#define CT_CLI_HTML_BLOBS_H

#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* Numbers of a page are doubles: what is beyond this is cut. */
#define CT_HTML_MOST	((1ull << 53) - 1)

enum ct_html_coding {
	CT_HTML_PLAIN,		/* unsigned, of the type that holds the largest */
	CT_HTML_SIGNED,		/* the same with a sign: values are those of an int64_t */
	CT_HTML_VARINT,
	CT_HTML_DELTA,		/* differences of values that are those of an int64_t */
};

struct ct_html_blob {
	char     name[24];
	uint64_t at, size;
	uint64_t count, value;
	const char *type, *coding;
};

struct ct_html_blobs {
	uint8_t *data;			/* the compressed blobs */
	size_t size, room;
	struct ct_html_blob *list;
	uint32_t count, capacity;
	uint8_t *raw;			/* a column as it is compressed */
	size_t raw_room;
	void *stream;			/* zlib's */
	int error;			/* the first negative errno */
};

/* 0; -ENOMEM; -ENOTSUP: this build has no zlib. */
int ct_html_blobs_init(struct ct_html_blobs *b);

/* Adds a column of @count values under a name.  Errors are kept. */
void ct_html_column(struct ct_html_blobs *b, enum ct_html_coding coding, const uint64_t *values, size_t count,
		    const char *name, ...) __attribute__((format(printf, 5, 6)));

/* Adds bytes of JSON. */
void ct_html_json_blob(struct ct_html_blobs *b, const char *name, const char *bytes, size_t size);

/* manifest.blobs. */
void ct_html_blobs_list(const struct ct_html_blobs *b, struct ct_out *out);

/* The bytes of all blobs as base64. */
void ct_html_blobs_base64(const struct ct_html_blobs *b, struct ct_out *out);
void ct_html_blobs_free(struct ct_html_blobs *b);

#endif
