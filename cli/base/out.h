/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Output of millions of lines: a large buffer and numbers written by hand.  An
 * error (a full disk, a closed pipe) is kept, and ct_out_close() returns it; what is
 * written after it is dropped.
 */
#ifndef CT_CLI_OUT_H
#define CT_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CT_OUT_SIZE	(1u << 18)

struct ct_out {
	int fd;
	int error;		/* negative errno, 0: none */
	size_t used;
	char *buffer;		/* CT_OUT_SIZE bytes */
};

/* 0 or -ENOMEM.  @fd stays the caller's. */
int ct_out_open(struct ct_out *out, int fd);

/* Writes what is in the buffer; 0 or the first error. */
int ct_out_close(struct ct_out *out);
int ct_out_flush(struct ct_out *out);

/* For bytes that don't fit into the free part of the buffer. */
void ct_out_long(struct ct_out *out, const char *bytes, size_t len);

static inline void ct_out_bytes(struct ct_out *out, const void *bytes, size_t len)
{
	if (CT_OUT_SIZE - out->used < len) {
		ct_out_long(out, bytes, len);
		return;
	}
	memcpy(out->buffer + out->used, bytes, len);
	out->used += len;
}

static inline void ct_out_text(struct ct_out *out, const char *text)
{
	ct_out_bytes(out, text, strlen(text));
}

static inline void ct_out_char(struct ct_out *out, char c)
{
	if (out->used == CT_OUT_SIZE)
		ct_out_flush(out);
	out->buffer[out->used++] = c;
}

void ct_out_u64(struct ct_out *out, uint64_t value);
void ct_out_s64(struct ct_out *out, int64_t value);
void ct_out_hex(struct ct_out *out, uint64_t value);	/* 0x1f */

/* @value / 10^@digits with all @digits decimals: 1234 by 3 is 1.234. */
void ct_out_fixed(struct ct_out *out, int64_t value, unsigned int digits);

/* Bytes of the UTF-8 character of more than one byte at @text, 0 if it is none. */
unsigned int ct_utf8(const char *text, size_t left);

/*
 * A JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD, so that
 * the output is valid whatever a program called its kernels.
 */
void ct_out_json(struct ct_out *out, const char *text, size_t len);

#endif
