/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids of texts for a trace that is being made: claimed in its registry as processes claim them
 * (module/uapi/cudatrace.h, section 3), or from the module.
 */
#ifndef CT_CLI_WRITE_CLAIMS_H
#define CT_CLI_WRITE_CLAIMS_H

#include "base/keyed.h"
#include "write/write_registry.h"

struct ct_claim {
	uint64_t hash;
	uint32_t id;
};

struct ct_claims {
	CT_KEYED(struct ct_claim) ids;	/* of the lines that were read; with the module of what was asked */
	struct ct_registry_writer registry;
	int device;			/* the module, for writing; -1: it does not record */
	uint64_t offset;		/* of the first line that was not read */
	uint32_t last;			/* the highest id */
};

#define CT_CLAIMS_INIT	{ .device = -1, .registry.fd = -1 }

/* @module: the module assigns the ids.  0 or a negative errno. */
int ct_claims_open(struct ct_claims *s, const char *dir, bool module);

/* The id of @text; 0: none could be had. */
uint32_t ct_claims_id(struct ct_claims *s, const char *text);
void ct_claims_close(struct ct_claims *s);

#endif
