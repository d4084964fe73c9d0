// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking up a function's layout; see decode.h.
 */
#include "call/decode.h"

#include "call/decode_table.h"
#include "backend/backend.h"

static const struct ct_binding bindings[] = {
#define CT_ROW(function, from, to, layout, extractor)			\
	{ #function, from, to, CT_LAYOUT_##layout, sizeof(struct ct_##layout), \
	  ct_x_##extractor },
	CT_BINDINGS(CT_ROW)
#undef CT_ROW
};

const struct ct_binding *ct_binding_of(const char *name, unsigned version)
{
	for (size_t i = 0; i < sizeof(bindings) / sizeof(*bindings); i++) {
		const struct ct_binding *b = &bindings[i];

		if (version >= b->from && version <= b->to && !strcmp(b->name, name))
			return b;
	}
	return NULL;
}

cold u32 ct_string_id(const char *s)
{
	size_t n = 0;

	if (!s)
		return 0;
	while (n < CT_STRING_MAX && s[n])
		n++;
	return ct_backend->string(s, n);
}
