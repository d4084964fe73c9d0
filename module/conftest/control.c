// SPDX-License-Identifier: GPL-2.0
/* Do the compiler and the headers work at all?  See run. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#if CT_FORM == 1
#define control()	schedule()
#elif CT_FORM == 2
#define control()	ct_no_kernel_has_this_function()
#endif

void conftest(void);
void conftest(void)
{
	control();
}
