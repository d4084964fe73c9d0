// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of a session: all read-only but the consumer pages, of which every word is
 * a claim.  Must never let a mapping be made writable or executable later.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "base/compat.h"
#include "api/mmap.h"
#include "core/session.h"

int ct_map_pages(struct vm_area_struct *vma, void *area, size_t size, bool writable)
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
	/* Each page gets a reference: it lives on until it is unmapped. */
	for (at = 0; at < size && !err; at += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + at, vmalloc_to_page(area + at));
	return err;
}

static int mmap_map_cpu(struct file *file, struct vm_area_struct *vma, struct ct_session_state *s,
			u64 offset, bool *data)
{
	u64 cpu = (offset >> 32) - 1;
	struct ct_ring *r;

	if (cpu >= s->cpus || !s->cpu[cpu])
		return -EINVAL;
	r = &s->cpu[cpu]->ring;
	if (offset == CT_MMAP_STATUS(cpu))
		return ct_map_pages(vma, r->status, PAGE_SIZE, false);
	if (offset == CT_MMAP_DATA(cpu)) {
		WRITE_ONCE(*data, true);
		return ct_map_pages(vma, r->data, r->size, false);
	}
	if (offset == CT_MMAP_CONSUMER(cpu)) {
		if (s->owner != file || !(file->f_mode & FMODE_WRITE))
			return -EPERM;
		return ct_map_pages(vma, r->consumer, PAGE_SIZE, true);
	}
	return -EINVAL;
}

int ct_session_mmap(struct file *file, struct vm_area_struct *vma, struct ct_session_state *s,
		    bool *data)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (offset == CT_MMAP_FACTS)
		return ct_map_pages(vma, s->facts, PAGE_SIZE, false);
	return mmap_map_cpu(file, vma, s, offset, data);
}
