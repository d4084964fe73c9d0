// SPDX-License-Identifier: LGPL-2.1-or-later
/* See proto.h. */
#include "export/perfetto/proto.h"

#include "base/out.h"

#define REPLACEMENT	"\xef\xbf\xbd"

/* Bytes of the character at @text, 0: it is none that may stand. */
static unsigned int proto_character(const char *text, size_t left)
{
	if (!*text)
		return 0;
	return (unsigned char)*text < 0x80 ? 1 : ct_utf8(text, left);
}

void ct_proto_text(struct ct_proto *p, unsigned int field, const char *text, size_t len)
{
	size_t size = 0, i;
	unsigned int n;

	for (i = 0; i < len; i += n ? n : 1) {
		n = proto_character(text + i, len - i);
		size += n ? n : sizeof(REPLACEMENT) - 1;
	}
	ct_proto_put_varint(p, field << 3 | 2);
	ct_proto_put_varint(p, size);
	if (!ct_proto_reserve(p, size))
		return;
	for (i = 0; i < len; i += n ? n : 1) {
		n = proto_character(text + i, len - i);
		memcpy(p->data + p->used, n ? text + i : REPLACEMENT, n ? n : sizeof(REPLACEMENT) - 1);
		p->used += n ? n : sizeof(REPLACEMENT) - 1;
	}
}
