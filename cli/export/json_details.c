// SPDX-License-Identifier: LGPL-2.1-or-later
/* See json_details.h. */
#include "export/json_details.h"

#include <string.h>

#include "export/fields.h"

#define PUT(out, literal) ct_out_bytes(out, literal, sizeof(literal) - 1)

void ct_json_word_or_hex(struct ct_out *out, const char *word, uint64_t value)
{
	ct_out_char(out, '"');
	if (word)
		ct_out_text(out, word);
	else
		ct_out_hex(out, value);
	ct_out_char(out, '"');
}

static void json_put_value(struct ct_out *out, struct ct_names *names, const struct ct_record *r,
			   unsigned int i)
{
	struct ct_field_value v;

	ct_field_value(names, r, i, &v);
	switch (v.kind) {
	case CT_FIELD_UNSIGNED:
		ct_out_u64(out, v.number);
		break;
	case CT_FIELD_SIGNED:
		ct_out_s64(out, v.number);
		break;
	case CT_FIELD_HEX:
		ct_json_word_or_hex(out, NULL, v.number);
		break;
	case CT_FIELD_WORD:
	case CT_FIELD_TEXT:
		ct_out_json(out, v.text, v.len);
		break;
	case CT_FIELD_NULL:
		PUT(out, "null");
		break;
	}
}

void ct_json_details(struct ct_out *out, struct ct_names *names, const struct ct_record *r,
		     bool begin)
{
	const char *sep = "\"";

	ct_out_char(out, '{');
	for (unsigned int i = 0; r->fields && i < r->class->fields_count; i++) {
		const struct ct_class_field *field = &r->class->fields[i];

		if ((begin && field->output) || ct_field_missing(r, i))
			continue;
		ct_out_text(out, sep);
		ct_out_text(out, field->name);
		PUT(out, "\":");
		json_put_value(out, names, r, i);
		sep = ",\"";
	}
	ct_out_char(out, '}');
}
