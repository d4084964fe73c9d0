// SPDX-License-Identifier: LGPL-2.1-or-later
/* See fields.h. */
#include "export/fields.h"

#include <string.h>

#include "decode/nv_decode.h"

/* @text, or the number in hexadecimal where it has no name. */
static void field_word(struct ct_field_value *v, const char *text)
{
	v->kind = text ? CT_FIELD_WORD : CT_FIELD_HEX;
	v->text = text;
	v->len = text ? strlen(text) : 0;
}

void ct_field_value(struct ct_names *names, const struct ct_record *r, unsigned int i,
		    struct ct_field_value *v)
{
	const struct ct_class *class;
	uint16_t len;

	v->number = ct_record_field(r, i);
	if (r->class->id == CT_CLASS_gpu_metrics && !((v->number + 1) & (~0ull >> (64 - 8 * r->class->fields[i].bytes)))) {
		v->kind = CT_FIELD_NULL;
		return;
	}
	switch (r->class->fields[i].type) {
	case CT_TYPE_u8:
	case CT_TYPE_u16:
	case CT_TYPE_u32:
	case CT_TYPE_u64:
		v->kind = CT_FIELD_UNSIGNED;
		break;
	case CT_TYPE_s8:
	case CT_TYPE_s16:
	case CT_TYPE_s32:
	case CT_TYPE_s64:
		v->kind = CT_FIELD_SIGNED;
		break;
	case CT_TYPE_str:
		field_word(v, ct_names_string(names, v->number));
		if (!v->text)
			v->kind = CT_FIELD_NULL;
		break;
	case CT_TYPE_class:
		class = ct_registry_class(names->reg, v->number);
		field_word(v, class ? class->name : NULL);
		if (!class)
			v->kind = CT_FIELD_UNSIGNED;
		break;
	case CT_TYPE_dir:
		field_word(v, ct_name_direction(v->number));
		break;
	case CT_TYPE_memk:
		field_word(v, v->number < CT_MEMKIND_COUNT ? ct_memkind_word[v->number] : NULL);
		break;
	case CT_TYPE_dev:
		field_word(v, ct_name_device(v->number, v->buf));
		break;
	case CT_TYPE_cures:
		field_word(v, cu_result_name(v->number));
		break;
	case CT_TYPE_nvst:
		field_word(v, nv_status_name(v->number));
		break;
	case CT_TYPE_text:
		v->kind = CT_FIELD_TEXT;
		v->text = ct_record_text(r, &len);
		v->len = len;
		break;
	default: /* x8 to x64, nvcode */
		v->kind = CT_FIELD_HEX;
	}
}

bool ct_field_missing(const struct ct_record *r, unsigned int i)
{
	static const struct { enum ct_known field; uint32_t have; } words[] = {
		{ CT_KNOWN_CLIENT, CT_IOCTL_CLIENT }, { CT_KNOWN_OBJECT, CT_IOCTL_OBJECT },
		{ CT_KNOWN_CODE, CT_IOCTL_CONTROL | CT_IOCTL_CLASS }, { CT_KNOWN_PARENT, CT_IOCTL_PARENT },
		{ CT_KNOWN_STATUS, CT_IOCTL_STATUS },
	};

	for (unsigned int k = 0; ct_record_has(r, CT_KNOWN_HAVE) && k < sizeof(words) / sizeof(*words); k++)
		if (r->class->known[words[k].field] == (int)i)
			return !(ct_record_known(r, CT_KNOWN_HAVE) & words[k].have);
	return false;
}
