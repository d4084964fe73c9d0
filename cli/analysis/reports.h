/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of all reports: the analysers that a user can ask for by name. */
#ifndef CT_CLI_REPORTS_H
#define CT_CLI_REPORTS_H

#include "analysis/engine.h"

extern const struct ct_analyser *const ct_reports[];
extern const unsigned int ct_reports_count;

/* The report of this name, or NULL. */
const struct ct_analyser *ct_report_find(const char *name);

/* Adds all reports but those that list every record. */
void ct_reports_add(struct ct_analysers *analysers);

#endif
