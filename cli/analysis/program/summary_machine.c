// SPDX-License-Identifier: LGPL-2.1-or-later
/* See summary_machine.h. */
#include "analysis/program/summary_machine.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/about/machine.h"
#include "view/term.h"

#define MACHINE_LINES	2	/* of versions, and of the environment */

int ct_page_machine(struct ct_page *page, const struct ct_registry *reg)
{
	struct ct_machine *m = calloc(1, sizeof(*m));
	char text[600], line[512];
	int rc = m ? ct_machine_read(m, reg) : -ENOMEM;
	size_t used = 0;

	page->style = CT_PAGE_LABELS;
	if (!rc && *ct_machine_gpus(m, text, sizeof(text)))
		ct_page_add(page, "GPU       %s", ct_term_clean(line, sizeof(line), text, sizeof(line) - 8));
	*text = 0;
	if (!rc && *m->driver)
		used += snprintf(text + used, sizeof(text) - used, "driver %s", m->driver);
	if (!rc && *m->cuda)
		used += snprintf(text + used, sizeof(text) - used, "%sCUDA %s", used ? ", " : "", m->cuda);
	if (!rc && m->versions_count) {
		ct_machine_versions_text(m, line, sizeof(line));
		used += snprintf(text + used, sizeof(text) - used, "%s%.300s", used ? ", " : "", line);
	}
	if (!rc && m->linux_release && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, "%sLinux %.80s", used ? ", " : "", m->linux_release);
	page->limit = page->count + MACHINE_LINES;
	if (*text)
		ct_page_add(page, "versions  %s", ct_term_clean(line, sizeof(line), text, sizeof(line) - 8));
	page->limit = page->count + MACHINE_LINES;
	for (unsigned int i = used = *text = 0; !rc && i < m->env_count && used < sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", m->env[i]);
	if (*text)
		ct_page_add(page, "with      %s", ct_term_clean(line, sizeof(line), text, sizeof(line) - 8));
	page->limit = 0;
	page->style = CT_PAGE_PLAIN;
	if (m)
		ct_machine_free(m);
	free(m);
	return rc;
}
