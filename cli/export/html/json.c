// SPDX-License-Identifier: LGPL-2.1-or-later
/* See json.h.  Must never write a '<' of a text as it is. */
#include "export/html/json.h"

#include <math.h>
#include <stdio.h>

static void json_escape(struct ct_out *out, unsigned int c)
{
	static const char digit[] = "0123456789abcdef";
	char escape[6] = { '\\', 'u', digit[c >> 12 & 15], digit[c >> 8 & 15], digit[c >> 4 & 15], digit[c & 15] };

	ct_out_bytes(out, escape, 6);
}

static bool json_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/* A character of more than one byte, or a byte that is none.  Return: its bytes. */
static unsigned int json_character(struct ct_out *out, const char *p, size_t left)
{
	unsigned int n = ct_utf8(p, left);

	if (!n)
		ct_out_bytes(out, "\xef\xbf\xbd", 3);
	else if (n == 2 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0)
		json_escape(out, (unsigned char)p[1]);
	else if (n == 3 && !memcmp(p, "\xe2\x80", 2) && ((unsigned char)p[2] & 0xfe) == 0xa8)
		json_escape(out, 0x2000 | ((unsigned char)p[2] & 0x3f));
	else
		ct_out_bytes(out, p, n);
	return n ? n : 1;
}

void ct_html_string_json(struct ct_out *out, const char *text, size_t len)
{
	const char *p = text, *end = text + len;

	ct_out_char(out, '"');
	while (p < end) {
		const char *plain = p;

		while (p < end && json_plain(*p))
			p++;
		if (p > plain)
			ct_out_bytes(out, plain, p - plain);
		if (p < end && (unsigned char)*p < 0x80)
			json_escape(out, *p++);
		else if (p < end)
			p += json_character(out, p, end - p);
	}
	ct_out_char(out, '"');
}

void ct_html_text(struct ct_out *out, const char *key, const char *text)
{
	ct_out_text(out, key);
	if (text)
		ct_html_string_json(out, text, strlen(text));
	else
		ct_out_text(out, "null");
}

void ct_html_u64(struct ct_out *out, const char *key, uint64_t value)
{
	ct_out_text(out, key);
	ct_out_u64(out, value);
}

void ct_html_s64(struct ct_out *out, const char *key, int64_t value)
{
	ct_out_text(out, key);
	ct_out_s64(out, value);
}

void ct_html_bool(struct ct_out *out, const char *key, bool value)
{
	ct_out_text(out, key);
	ct_out_text(out, value ? "true" : "false");
}

void ct_html_double(struct ct_out *out, const char *key, double value)
{
	char text[40];

	ct_out_text(out, key);
	if (!isfinite(value)) {
		ct_out_text(out, "null");
		return;
	}
	snprintf(text, sizeof(text), fabs(value) < 1e6 ? "%.6g" : "%.15g", value);
	ct_out_text(out, text);
}

void ct_html_escape(struct ct_out *out, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		unsigned char c = *text;
		unsigned int n = 1;
		char number[16];

		if (c >= 0x80) {
			n = ct_utf8(text, left);
			ct_out_bytes(out, n ? text : "\xef\xbf\xbd", n ? n : 3);
			n = n ? n : 1;
		} else if (c < 0x20 || c == 0x7f) {
			ct_out_char(out, ' ');
		} else if (strchr("<>&\"'", c)) {
			snprintf(number, sizeof(number), "&#%u;", c);
			ct_out_text(out, number);
		} else {
			ct_out_char(out, c);
		}
		text += n;
		left -= n;
	}
}
