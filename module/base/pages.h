/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is shared with a program: how it is allocated and mapped. */
#ifndef CT_PAGES_H
#define CT_PAGES_H

#include <linux/gfp.h>
#include <linux/types.h>

struct vm_area_struct;

/*
 * For memory whose size a user chooses.  It is charged to the memory cgroup of the task that
 * asks for it.  If there is too little memory, the allocation fails: no process is killed for
 * it, and the kernel's log gets no memory report, because the caller returns ENOMEM.
 */
#define CT_GFP_USER_SIZED	\
	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * ct_pages_map - map vmalloc()ed memory, shared, into all of vma.
 * @area:	its first byte; size bytes
 * @writable:	false: the mapping cannot be made writable later either
 *
 * The mapping is not executable and a child process does not inherit it.  Each page has a
 * reference until it is unmapped, also after vfree().
 * Called with the mmap lock held for writing.  Returns 0, -EINVAL, -EPERM or -ENOMEM.
 */
int ct_pages_map(struct vm_area_struct *vma, void *area, size_t size, bool writable);

#endif
