/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which libcupti is taken. */
#ifndef CT_GPU_FIND_H
#define CT_GPU_FIND_H

#include <stdbool.h>

#include "plugins/gpu/cupti_abi.h"

struct found {
	char path[4096];
	char why[256];		/* or why there is none */
	u32 version;
};

/* Which libcupti to take in this process, and loads it: its handle, or NULL. */
void *find_cupti(struct found *f);

/* The first that is in this process already, if there is one. */
void *find_cupti_loaded(void);

/* The object with this code; NULL for the program itself. */
void *find_object(const void *code);

#endif
