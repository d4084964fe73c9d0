/* SPDX-License-Identifier: GPL-2.0 */
/* The struct that an ioctl of /dev/cudatrace takes. */
#ifndef CT_ARG_H
#define CT_ARG_H

#include <linux/types.h>
#include "cudatrace.h"

/* The struct of any ioctl: they all begin with their size. */
union ct_arg {
	u32 size;
	struct ct_version version;
	struct ct_session session;
	struct ct_define define;
	struct ct_string string;
	struct ct_probe_info probe;
	struct ct_filter filter;
	struct ct_probe_add add;
	struct ct_count_add count_add;
	struct ct_count_read count_read;
	struct ct_trigger_set trigger;
	struct ct_clock_map clock;
	struct ct_watermark watermark;
	struct ct_limits limits;
	struct ct_threadbuf_new tb;
	struct ct_threadbuf_read threadbuf_read;
};

/*
 * ct_arg_reserved_clear - are the reserved fields of the struct of ioctl number nr 0?  A field that
 * may hold garbage today can never get a meaning.
 */
bool ct_arg_reserved_clear(unsigned int nr, const union ct_arg *arg);

#endif
