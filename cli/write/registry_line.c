// SPDX-License-Identifier: LGPL-2.1-or-later
/* See registry_line.h. */
#include "write/registry_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes @text so that it is one word of a line; @out holds 3 * strlen + 1. */
static void line_escape(char *out, const char *text)
{
	static const char digit[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = *text;

		if (c < 0x21 || c > 0x7e || c == '%') {
			*out++ = '%';
			*out++ = digit[c >> 4];
			*out++ = digit[c & 15];
		} else {
			*out++ = c;
		}
	}
	*out = 0;
}

static char *line_of(const char *const *word, unsigned int words)
{
	size_t size = 2;
	char *line, *p;

	for (unsigned int i = 0; i < words; i++)
		size += 3 * strlen(word[i]) + 1;
	p = line = malloc(size);
	if (!line)
		return NULL;
	for (unsigned int i = 0; i < words; i++) {
		if (i)
			*p++ = ' ';
		line_escape(p, word[i]);
		p += strlen(p);
	}
	strcpy(p, "\n");
	return line;
}

char *ct_registry_head_line(const uint8_t uuid[16], uint64_t start, uint64_t realtime)
{
	char line[256], *p = line;

	p += sprintf(p, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (unsigned int i = 0; i < 16; i++)
		p += sprintf(p, "%02x", uuid[i]);
	sprintf(p, " start=%llu realtime=%llu\n", (unsigned long long)start,
		(unsigned long long)realtime);
	return strdup(line);
}

char *ct_registry_class_line(unsigned int id, const struct ct_class *class)
{
	char number[16], spec[CT_SPEC_MAX];
	const char *op = ct_op_word[class->operation];
	const char *word[] = {
		"class",
		number,
		ct_layer_word[class->layer],
		ct_category_word[class->category],
		*op ? op : "-",
		spec,
		class->name,
		*class->symbol ? class->symbol : class->name,
	};

	snprintf(number, sizeof(number), "%u", id);
	ct_class_spec(class, spec);
	return line_of(word, 8);
}

char *ct_registry_string_line(uint32_t id, const char *text)
{
	char number[16];
	const char *word[] = { "string", number, text };

	snprintf(number, sizeof(number), "%u", id);
	return line_of(word, 3);
}

char *ct_registry_info_line(const char *key, const char *text)
{
	const char *word[] = { "info", key, text };

	return line_of(word, 3);
}
