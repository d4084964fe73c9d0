/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a trace was recorded, as lines of the summary. */
#ifndef CT_CLI_SUMMARY_MACHINE_H
#define CT_CLI_SUMMARY_MACHINE_H

#include "analysis/program/page.h"
#include "trace/registry.h"

/* Adds what the trace knows: the GPU, versions, variables that CUDA reads.  0 or -ENOMEM. */
int ct_page_machine(struct ct_page *page, const struct ct_registry *reg);

#endif
