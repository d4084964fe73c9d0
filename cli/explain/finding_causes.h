/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings that show one cause become parts of one finding: what shows it, and what to try, by what
 * each could gain.  What findings gain never adds up to more than the wall time.
 */
#ifndef CT_CLI_FINDING_CAUSES_H
#define CT_CLI_FINDING_CAUSES_H

#include "explain/rule.h"

/* The findings of the process that was judged last: those of the list from @first on. */
void ct_explain_causes(struct ct_explain *x, unsigned int first);

#endif
