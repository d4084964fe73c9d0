// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the flags of a memory area.
 * 1: vm_flags_mod() (6.3)	2: they are a member like others
 */
#include <linux/mm.h>

void conftest(struct vm_area_struct *vma);
void conftest(struct vm_area_struct *vma)
{
#if CT_FORM == 1
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE);
#elif CT_FORM == 2
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
}
