// SPDX-License-Identifier: GPL-2.0
/*
 * Maps the module's memory into a program.  A mapping that is read-only must never become
 * writable, and none may become executable: VM_MAYWRITE and VM_MAYEXEC are taken away, so
 * that mprotect() fails.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "base/compat.h"
#include "base/pages.h"

int ct_pages_map(struct vm_area_struct *vma, void *area, size_t size, bool writable)
{
	size_t at;
	int err = 0;

	if (vma->vm_end - vma->vm_start != size)
		return -EINVAL;
	if (!writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		ct_vm_flags_mod(vma, 0, VM_MAYWRITE);
	}
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	ct_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	for (at = 0; at < size && !err; at += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + at, vmalloc_to_page(area + at));
	return err;
}
