// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a record says about its call. */
#include "trace/record.h"

/*
 * CUDA_ERROR_NOT_READY answers a question (cuStreamQuery, cuEventQuery), it is
 * no failure.  A kernel function's value is only known to be an error when it is
 * an errno, an ioctl's also when its parameter block says so.
 */
bool ct_record_failed(const struct ct_record *r)
{
	if (!r->class->call || (r->flags & CT_F_BEGIN))
		return false;
	if (ct_record_is_ioctl(r)) {
		if ((int64_t)ct_record_quick(r, CT_QUICK_RET) < 0)
			return true;
		return (ct_record_quick(r, CT_QUICK_HAVE) & CT_IOCTL_STATUS) &&
		       ct_record_quick(r, CT_QUICK_STATUS);
	}
	if (r->flags & CT_F_NO_RESULT)
		return false;
	if (r->class->layer == CT_LAYER_USER)
		return r->result && r->result != 600;
	return r->result < 0 && r->result >= -4095;
}
