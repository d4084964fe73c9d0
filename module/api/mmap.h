/* SPDX-License-Identifier: GPL-2.0 */
/* Mapping a session's rings into user space. */
#ifndef CT_MMAP_H
#define CT_MMAP_H

#include <linux/types.h>

struct file;
struct vm_area_struct;
struct ct_session_state;

/*
 * ct_mmap_session - mmap() of session s by the offsets CT_MMAP_*.
 * @privileged:	may map a CPU's data, which has addresses of the kernel, of a session that is not
 *		the file's own
 * @data:	set when it is a CPU's data that is mapped
 * Called with the mmap lock held for writing.  0, -EINVAL, -EPERM, -ENOMEM.
 */
int ct_mmap_session(struct file *file, struct vm_area_struct *vma, struct ct_session_state *s,
		    bool privileged, bool *data);

#endif
