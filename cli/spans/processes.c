// SPDX-License-Identifier: LGPL-2.1-or-later
/* See processes.h. */
#include "spans/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "view/term.h"

static void processes_communicator(struct ct_process_place *place, const struct ct_record *r)
{
	uint64_t id = ct_record_known(r, CT_KNOWN_COMMUNICATOR);
	uint32_t ranks = ct_record_known(r, CT_KNOWN_RANKS);
	int32_t rank = (int32_t)ct_record_known(r, CT_KNOWN_RANK);

	if (ranks > place->ranks && id) {
		place->ranks = ranks;
		place->communicator = id;
		/* All ranks are of this process. */
		place->rank = rank;
		place->last = strcmp(r->class->name, "ncclCommInitAll") ? rank : (int32_t)ranks - 1;
	} else if (id && id == place->communicator && place->rank >= 0) {
		place->rank = rank < place->rank ? rank : place->rank;
		place->last = rank > place->last ? rank : place->last;
	}
}

static int processes_place(struct ct_processes *p, const struct ct_record *r)
{
	struct ct_process_place *place;

	if (!r->fields || ct_record_failed(r) || (r->flags & CT_F_BEGIN))
		return 0;
	place = ct_keyed_get(&p->places, r->pid);
	if (!place) {
		place = ct_keyed_put(&p->places, r->pid);
		if (!place)
			return -ENOMEM;
		place->gpu = place->rank = place->last = -1;
	}
	if (!ct_class_is(r->class, CT_IS_COMMUNICATOR)) {
		if (place->gpu < 0 && ct_record_has(r, CT_KNOWN_CUDA_DEVICE))
			place->gpu = (int32_t)ct_record_known(r, CT_KNOWN_CUDA_DEVICE);
		return 0;
	}
	processes_communicator(place, r);
	return 0;
}

int ct_processes_ranks(struct ct_processes *p, const struct ct_registry *reg)
{
	return ct_ranks_read(&p->ranks, reg);
}

int32_t ct_processes_rank(const struct ct_processes *p, uint32_t pid)
{
	const struct ct_rank *rank = ct_ranks_of(&p->ranks, pid);
	const struct ct_process_place *place = ct_keyed_get(&p->places, pid);

	if (place && place->last > place->rank)
		return -1;
	return rank ? rank->rank : place && place->ranks > 1 ? place->rank : -1;
}

int32_t ct_processes_gpu(const struct ct_processes *p, uint32_t pid)
{
	const struct ct_process_place *place = ct_keyed_get(&p->places, pid);

	return place ? place->gpu : -1;
}

/* "python", of one of several traces "python@node2". */
static char *processes_named(const struct ct_record *r, const char *word, size_t len)
{
	char *name;

	if (!r->source)
		return strndup(word, len);
	return asprintf(&name, "%.*s@%s", (int)len, word, r->source->label) < 0 ? NULL : name;
}

#define PROCESSES_FORMER	64u	/* names of one pid; a damaged trace may have any number */

/* Its name until @ts was another one. */
static int processes_former(struct ct_process_name *process, uint64_t ts)
{
	if (process->former_count >= PROCESSES_FORMER)
		return 0;
	if (!ct_room(process->former, process->former_count, process->former_capacity))
		return -ENOMEM;
	process->former[process->former_count++] = (struct ct_process_former){ ts, process->name };
	process->name = NULL;
	return 0;
}

int ct_processes_record(struct ct_processes *p, const struct ct_record *r)
{
	struct ct_process_name *process;
	char *name;
	const char *text, *word;
	uint16_t len;
	size_t n;

	if (!ct_processes_wants(r->class))
		return 0;
	if (r->class->id != CT_CLASS_process)
		return processes_place(p, r);
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
	name = processes_named(r, word, text + n - word);
	if (name && process->name && strcmp(name, process->name) && processes_former(process, r->end)) {
		free(name);
		return -ENOMEM;
	}
	free(process->name);
	process->name = name;
	free(process->command);
	process->command = strndup(text, len);
	return process->name && process->command ? 0 : -ENOMEM;
}

int ct_processes_tell(struct ct_processes *p, uint32_t pid, const char *name, int32_t rank, int32_t gpu)
{
	struct ct_process_place *place = ct_keyed_put(&p->places, pid);
	struct ct_process_name *process = ct_keyed_put(&p->names, pid);

	if (!place || !process)
		return -ENOMEM;
	/* One more rank of the same process. */
	if (place->ranks && rank >= 0) {
		place->rank = rank < place->rank ? rank : place->rank;
		place->last = rank > place->last ? rank : place->last;
		return 0;
	}
	place->gpu = gpu;
	place->rank = place->last = rank;
	place->ranks = rank >= 0 ? INT32_MAX : 0;
	free(process->name);
	process->name = strdup(name);
	return process->name ? 0 : -ENOMEM;
}

static const char *processes_word_at(const struct ct_processes *p, uint32_t pid, uint64_t ts)
{
	const struct ct_process_name *process = ct_keyed_get(&p->names, pid);

	for (uint32_t i = 0; process && i < process->former_count; i++)
		if (ts < process->former[i].until)
			return process->former[i].name;
	return process ? process->name : NULL;
}

const char *ct_processes_name(const struct ct_processes *p, uint32_t pid, char *buf,
			      unsigned int size)
{
	return ct_processes_name_at(p, pid, UINT64_MAX, buf, size);
}

const char *ct_processes_name_at(const struct ct_processes *p, uint32_t pid, uint64_t ts, char *buf, unsigned int size)
{
	const char *name = processes_word_at(p, pid, ts);
	int32_t rank = ct_processes_rank(p, pid), gpu = ct_processes_gpu(p, pid);
	const struct ct_process_place *place = ct_keyed_get(&p->places, pid);
	char line[256], clean[64], of[24] = "";

	if (!pid)
		return "(interrupt)";
	name = name ? ct_term_clean(clean, sizeof(clean), name, 40) : "?";
	if (rank >= 0 && gpu >= 0)
		snprintf(of, sizeof(of), ", GPU %d", gpu);
	if (rank >= 0)
		snprintf(line, sizeof(line), "rank %d (%s %u%s)", rank, name, pid, of);
	else if (place && place->last > place->rank)
		snprintf(line, sizeof(line), "ranks %d-%d (%s %u)", place->rank, place->last, name, pid);
	else
		snprintf(line, sizeof(line), "%s (%u)", name, pid);
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
	for (size_t i = 0; i < p->names.count; i++) {
		for (uint32_t k = 0; k < p->names.list[i].former_count; k++)
			free(p->names.list[i].former[k].name);
		free(p->names.list[i].former);
		free(p->names.list[i].name);
		free(p->names.list[i].command);
	}
	ct_keyed_free(&p->names);
	ct_keyed_free(&p->places);
	ct_ranks_free(&p->ranks);
}
