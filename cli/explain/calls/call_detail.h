/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a record says of a call, as a short text. */
#ifndef CT_CLI_CALL_DETAIL_H
#define CT_CLI_CALL_DETAIL_H

#include "spans/spans.h"
#include "trace/names.h"

#define CT_DETAIL_MAX	320

/*
 * "size 4.00 MiB, direction H2D"; of an ioctl "NV2080_CTRL_... (NV_ESC_RM_CONTROL,
 * nvidiactl)".  Bytes of
 * the trace are in it as they are: clean it before it goes to a terminal.  Returns @buf.
 */
char *ct_call_detail(char buf[CT_DETAIL_MAX], struct ct_names *names, const struct ct_record *r);

/*
 * The decoded name of an ioctl: its escape, and its command or class where it has one;
 * numbers without a name in hexadecimal.
 */
char *ct_call_ioctl_name(char buf[CT_DETAIL_MAX], const struct ct_record *r);

/* Wake-ups and facts about the trace say nothing of a call that is not said elsewhere. */
static inline bool ct_call_says_nothing(const struct ct_span *s)
{
	return s->kind == CT_SPAN_INSTANT && (ct_class_is(s->class, CT_IS_SWITCH) || s->class->category == CT_CAT_TRACER ||
					      s->class->category == CT_CAT_PROCESS);
}

/* A word for people: "libcuda", "syscall", "kernel", "irq" ... */
const char *ct_call_layer(const struct ct_class *class, bool interrupt, bool deferred);
const char *ct_call_name(const struct ct_class *class);

#endif
