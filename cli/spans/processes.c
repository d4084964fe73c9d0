// SPDX-License-Identifier: LGPL-2.1-or-later
/* See processes.h. */
#include "spans/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/term.h"

int ct_processes_record(struct ct_processes *p, const struct ct_record *r)
{
	struct ct_process_name *process;
	const char *text, *word;
	uint16_t len;
	size_t n;

	if (r->class->id != CT_CLASS_process)
		return 0;
	text = ct_record_text(r, &len);
	process = text ? ct_keyed_put(&p->names, r->pid) : NULL;
	if (!process)
		return text ? -ENOMEM : 0;
	/* The last part of the first word: "/usr/bin/python3 x.py". */
	n = 0;
	while (n < len && text[n] && text[n] != ' ')
		n++;
	word = memrchr(text, '/', n);
	word = word ? word + 1 : text;
	free(process->name);
	process->name = strndup(word, text + n - word);
	free(process->command);
	process->command = strndup(text, len);
	return process->name && process->command ? 0 : -ENOMEM;
}

const char *ct_processes_name(const struct ct_processes *p, uint32_t pid, char *buf,
			      unsigned int size)
{
	const char *name = ct_processes_word(p, pid);
	char line[256], clean[64];

	if (!pid)
		return "(interrupt)";
	snprintf(line, sizeof(line), "%s (%u)", name ? ct_term_clean(clean, sizeof(clean), name, 40) : "?", pid);
	snprintf(buf, size, "%s", line);
	return buf;
}

const char *ct_processes_word(const struct ct_processes *p, uint32_t pid)
{
	const struct ct_process_name *process = ct_keyed_get(&p->names, pid);

	return process ? process->name : NULL;
}

const char *ct_processes_command(const struct ct_processes *p, uint32_t pid)
{
	const struct ct_process_name *process = ct_keyed_get(&p->names, pid);

	return process ? process->command : NULL;
}

void ct_processes_free(struct ct_processes *p)
{
	for (size_t i = 0; i < p->names.count; i++)
		free(p->names.list[i].name), free(p->names.list[i].command);
	ct_keyed_free(&p->names);
}
