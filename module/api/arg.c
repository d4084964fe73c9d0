// SPDX-License-Identifier: GPL-2.0
/* See arg.h. */
#include <linux/ioctl.h>
#include <linux/string.h>
#include "api/arg.h"

#define IS_CLEAR(array) (!memchr_inv(array, 0, sizeof(array)))

bool ct_arg_reserved_clear(unsigned int nr, const union ct_arg *arg)
{
	bool clear = true;
	u32 i;

	switch (nr) {
	case _IOC_NR(CT_IOC_VERSION):
		return !arg->version.reserved;
	case _IOC_NR(CT_IOC_DEFINE):
	case _IOC_NR(CT_IOC_GET_DEFINE):
		for (i = 0; i < CT_FIELDS_MAX; i++)
			clear &= IS_CLEAR(arg->define.fields[i].reserved);
		return clear && !arg->define.reserved;
	case _IOC_NR(CT_IOC_STRING):
	case _IOC_NR(CT_IOC_GET_STRING):
		return !arg->string.reserved;
	case _IOC_NR(CT_IOC_PROBE_ADD):
	case _IOC_NR(CT_IOC_PROBE_REMOVE):
	case _IOC_NR(CT_IOC_PROBE_SET):
		for (i = 0; i < CT_ARGS_MAX; i++)
			clear &= IS_CLEAR(arg->add.arg[i].reserved);
		return clear;
	case _IOC_NR(CT_IOC_COUNT_ADD):
		return !arg->count_add.reserved;
	case _IOC_NR(CT_IOC_WATERMARK):
		return !arg->watermark.reserved;
	case _IOC_NR(CT_IOC_LIMITS):
	case _IOC_NR(CT_IOC_GET_LIMITS):
		return !arg->limits.reserved;
	case _IOC_NR(CT_IOC_THREADBUF_READ):
		return !arg->threadbuf_read.reserved;
	default: /* has none */
		return true;
	}
}
