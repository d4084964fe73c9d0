// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a record says about its call. */
#include "trace/record.h"

void ct_record_copy_fields(uint8_t *to, const struct ct_record *r, size_t size)
{
	memcpy(to, r->fields, size);
	for (unsigned int i = 0; r->source && i < r->class->fields_count; i++) {
		const struct ct_class_field *f = &r->class->fields[i];
		uint64_t value = f->shift ? ct_record_field(r, i) : 0;

		/* Little-endian, as all of a record. */
		if (f->shift)
			memcpy(to + f->offset, &value, f->bytes);
	}
}

bool ct_record_result(const struct ct_record *r, int64_t *code)
{
	bool ioctl = ct_record_is_ioctl(r);

	*code = ioctl ? (int64_t)ct_record_known(r, CT_KNOWN_RET) : r->result;
	return r->class->call && !(r->flags & CT_F_BEGIN) &&
	       (ioctl ? r->fields != NULL : !(r->flags & CT_F_NO_RESULT));
}

/* An ioctl that the kernel refused has no status of its own. */
struct ct_failure ct_record_failure(const struct ct_record *r)
{
	struct ct_failure f = { 0 };

	ct_record_result(r, &f.code);
	if (ct_record_is_ioctl(r) && f.code >= 0 && (ct_record_known(r, CT_KNOWN_HAVE) & CT_IOCTL_STATUS))
		f = (struct ct_failure){ ct_record_known(r, CT_KNOWN_STATUS), true };
	return f;
}

/*
 * CUDA_ERROR_NOT_READY answers a question (cuStreamQuery, cuEventQuery), it is
 * no failure, nor is ncclInProgress.  A kernel function's value is only known to be an error when it is
 * an errno, an ioctl's also when its parameter block says so.
 */
bool ct_record_failed(const struct ct_record *r)
{
	if (!r->class->call || (r->flags & CT_F_BEGIN))
		return false;
	if (ct_record_is_ioctl(r)) {
		struct ct_failure f = ct_record_failure(r);

		return f.status ? f.code : f.code < 0;
	}
	if (r->flags & CT_F_NO_RESULT)
		return false;
	if (r->class->layer == CT_LAYER_USER)
		return r->result && r->result != (ct_class_is(r->class, CT_IS_NCCL) ? 7 : CT_NOT_READY);
	return r->result < 0 && r->result >= -4095;
}
