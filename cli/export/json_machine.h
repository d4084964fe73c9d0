/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace says of the machine, as a line of JSON Lines has it. */
#ifndef CT_CLI_JSON_MACHINE_H
#define CT_CLI_JSON_MACHINE_H

#include "base/out.h"
#include "trace/about/machine.h"

/* The object "details": GPUs, versions, the environment that CUDA reads, names of threads. */
void ct_json_machine(struct ct_out *out, const struct ct_machine *m);

#endif
