// SPDX-License-Identifier: GPL-2.0
/*
 * Memory whose size a user chooses.
 *
 * It is not from __vmalloc(), which cannot be asked for all of this: plain flags let the kernel
 * kill a process for it, and of __GFP_RETRY_MAYFAIL Linux 6.19 warns in its log.
 *
 * In a program, a mapping that is read-only must never become writable, and none may become
 * executable: VM_MAYWRITE and VM_MAYEXEC are taken away, so that mprotect() fails.
 */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "base/compat.h"
#include "base/pages.h"

static struct page *pages_alloc_one(int node, gfp_t gfp)
{
	/* alloc_page() heeds the task's policy, which alloc_pages_node() does not. */
	return node == NUMA_NO_NODE ? alloc_page(gfp) : alloc_pages_node(node, gfp, 0);
}

void *ct_pages_alloc(size_t size, int node)
{
	const gfp_t gfp = CT_GFP_MAPPED | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	size_t count = DIV_ROUND_UP(size, PAGE_SIZE), i;
	void *memory = NULL;
	struct page **pages;

	pages = kvmalloc_array(count, sizeof(*pages), gfp);
	if (!pages)
		return NULL;
	for (i = 0; i < count && !fatal_signal_pending(current); i++) {
		pages[i] = pages_alloc_one(node, gfp | __GFP_ZERO);
		if (!pages[i])
			break;
		cond_resched();
	}
	/* vfree() frees pages and the array, too. */
	if (i == count)
		memory = vmap(pages, count, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!memory) {
		while (i)
			__free_page(pages[--i]);
		kvfree(pages);
	}
	return memory;
}

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
