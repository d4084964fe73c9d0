/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The libraries that say what a program is made of: PyTorch, JAX, NCCL ...  Their paths stand in
 * the trace; the recorder finds their versions by them.
 */
#ifndef CT_LIBRARIES_H
#define CT_LIBRARIES_H

#include "base/elf.h"

/* Inside dl_iterate_phdr(): keeps the object's path, if it is one of them, or has a libnccl inside. */
void ct_libraries_note(const struct ct_object *o, bool nccl_inside);

/* Lines of info for those that are new, when there is a trace. */
void ct_libraries_tell(void);

#endif
