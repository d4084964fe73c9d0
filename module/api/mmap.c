// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of a session.  All are read-only but the consumer pages, whose words the module
 * checks before it uses them.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include "api/mmap.h"
#include "core/session.h"
#include "base/pages.h"

static int mmap_map_cpu(struct file *file, struct vm_area_struct *vma, struct ct_session_state *s,
			u64 offset, bool privileged, bool *data)
{
	u64 cpu = (offset >> 32) - 1;
	struct ct_ring *r;

	if (cpu >= s->cpus)
		return -EINVAL;
	/* The caller chooses it: no speculative load behind the array. */
	cpu = array_index_nospec(cpu, s->cpus);
	if (!s->cpu[cpu])
		return -EINVAL;
	r = &s->cpu[cpu]->ring;
	if (offset == CT_MMAP_STATUS(cpu))
		return ct_pages_map(vma, r->status, PAGE_SIZE, false);
	if (offset == CT_MMAP_DATA(cpu)) {
		if (!privileged && s->owner != file)
			return -EPERM;
		WRITE_ONCE(*data, true);
		return ct_pages_map(vma, r->data, r->size, false);
	}
	if (offset == CT_MMAP_CONSUMER(cpu)) {
		if (s->owner != file || !(file->f_mode & FMODE_WRITE))
			return -EPERM;
		return ct_pages_map(vma, r->consumer, PAGE_SIZE, true);
	}
	return -EINVAL;
}

int ct_mmap_session(struct file *file, struct vm_area_struct *vma, struct ct_session_state *s,
		    bool privileged, bool *data)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (offset == CT_MMAP_FACTS)
		return ct_pages_map(vma, s->facts, PAGE_SIZE, false);
	return mmap_map_cpu(file, vma, s, offset, privileged, data);
}
