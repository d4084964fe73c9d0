/* SPDX-License-Identifier: GPL-2.0 */
/* Memory whose size a user chooses: how it is allocated, and mapped into a program. */
#ifndef CT_PAGES_H
#define CT_PAGES_H

#include <linux/numa.h>
#include <linux/types.h>

struct vm_area_struct;

/*
 * ct_pages_alloc - size bytes, zeroed and page by page; vfree() frees them.
 * @node:	the NUMA node on which they should lie; if it has no memory left, others give it.
 *		NUMA_NO_NODE: as the task's policy says
 *
 * They are charged to the memory cgroup of the task that asks for them (not before Linux 5.11,
 * which could not map them then).  If there is too little memory, it returns NULL: no process is
 * killed for it, and the kernel's log gets no report.  Also if the task is being killed.  May
 * sleep.
 */
void *ct_pages_alloc(size_t size, int node);

/*
 * ct_pages_map - map memory of ct_pages_alloc(), shared, into all of vma.
 * @area:	its first byte; size bytes
 * @writable:	false: the mapping cannot be made writable later either
 *
 * The mapping is not executable and a child process does not inherit it.  Each page has a
 * reference until it is unmapped, also after vfree().
 * Called with the mmap lock held for writing.  Returns 0, -EINVAL, -EPERM or -ENOMEM.
 */
int ct_pages_map(struct vm_area_struct *vma, void *area, size_t size, bool writable);

#endif
