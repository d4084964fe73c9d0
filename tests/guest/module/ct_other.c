// SPDX-License-Identifier: GPL-2.0
/* A module that no probe and no row of cudatrace names; it has a tracepoint, as others have. */
#include "trigger.h"

DECLARE_TRACE_EVENT(ct_other, TP_PROTO(int n), TP_ARGS(n));
DEFINE_TRACE(ct_other, TP_PROTO(int n), TP_ARGS(n));

static int __init ct_other_init(void)
{
	trace_ct_other(1);
	return 0;
}

static void __exit ct_other_exit(void)
{
}

module_init(ct_other_init);
module_exit(ct_other_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A module that cudatrace's tests load");
