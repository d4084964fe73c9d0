// SPDX-License-Identifier: LGPL-2.1-or-later
/* See json_details.h. */
#include "export/json_details.h"

#include <string.h>

#include "decode/nv_decode.h"

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
	uint64_t value = ct_record_field(r, i);
	const struct ct_class *class;
	const char *text;
	char buf[24];
	uint16_t len;

	switch (r->class->fields[i].type) {
	case CT_TYPE_u8:
	case CT_TYPE_u16:
	case CT_TYPE_u32:
	case CT_TYPE_u64:
		ct_out_u64(out, value);
		break;
	case CT_TYPE_s8:
	case CT_TYPE_s16:
	case CT_TYPE_s32:
	case CT_TYPE_s64:
		ct_out_s64(out, value);
		break;
	case CT_TYPE_str:
		text = ct_names_string(names, value);
		if (text)
			ct_out_json(out, text, strlen(text));
		else
			PUT(out, "null");
		break;
	case CT_TYPE_class:
		class = ct_registry_class(names->reg, value);
		if (class)
			ct_out_json(out, class->name, strlen(class->name));
		else
			ct_out_u64(out, value);
		break;
	case CT_TYPE_dir:
		ct_json_word_or_hex(out, value < CT_DIR_COUNT ? ct_direction_word[value] : NULL,
				    value);
		break;
	case CT_TYPE_dev:
		ct_json_word_or_hex(out, ct_name_device(value, buf), value);
		break;
	case CT_TYPE_cures:
		ct_json_word_or_hex(out, cu_result_name(value), value);
		break;
	case CT_TYPE_nvst:
		ct_json_word_or_hex(out, nv_status_name(value), value);
		break;
	case CT_TYPE_text:
		text = ct_record_text(r, &len);
		ct_out_json(out, text, len);
		break;
	default: /* x8 to x64, nvcode */
		ct_json_word_or_hex(out, NULL, value);
	}
}

/* Words of an ioctl's parameter block that were not there. */
static bool json_is_missing(const struct ct_record *r, unsigned int i)
{
	uint64_t have = ct_record_quick(r, CT_QUICK_HAVE);
	const char *name = r->class->fields[i].name;

	if (!ct_record_has(r, CT_QUICK_HAVE))
		return false;
	return (!strcmp(name, "client") && !(have & CT_IOCTL_CLIENT)) ||
	       (!strcmp(name, "object") && !(have & CT_IOCTL_OBJECT)) ||
	       (!strcmp(name, "code") && !(have & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS))) ||
	       (!strcmp(name, "parent") && !(have & CT_IOCTL_PARENT)) ||
	       (!strcmp(name, "status") && !(have & CT_IOCTL_STATUS));
}

void ct_json_details(struct ct_out *out, struct ct_names *names, const struct ct_record *r,
		     bool begin)
{
	const char *sep = "\"";

	ct_out_char(out, '{');
	for (unsigned int i = 0; r->fields && i < r->class->fields_count; i++) {
		const struct ct_class_field *field = &r->class->fields[i];

		if ((begin && field->output) || json_is_missing(r, i))
			continue;
		ct_out_text(out, sep);
		ct_out_text(out, field->name);
		PUT(out, "\":");
		json_put_value(out, names, r, i);
		sep = ",\"";
	}
	ct_out_char(out, '}');
}
