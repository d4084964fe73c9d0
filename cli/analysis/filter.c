// SPDX-License-Identifier: LGPL-2.1-or-later
/* See filter.h.  A name is compared once for each class and each kernel. */
#include "analysis/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER_NOT_KNOWN, FILTER_YES, FILTER_NO, FILTER_BY_KERNEL };

bool ct_filter_chooses(const struct ct_report_filter *f)
{
	return f->from || f->to || f->pid || f->tid || f->layer >= 0 || f->category >= 0 || f->name ||
	       f->steady;
}

int ct_filter_begin(struct ct_filter_state *f, const struct ct_report_filter *filter, struct ct_names *names,
		    const struct ct_registry *reg)
{
	*f = (struct ct_filter_state){
		.filter = *filter,
		.names = names,
		.strings_count = reg->strings_count,
		.all = !ct_filter_chooses(filter),
	};
	f->classes = calloc(CT_CLASS_MAX + 1, 1);
	f->strings = calloc(reg->strings_count + 1, 1);
	return f->classes && f->strings ? 0 : -ENOMEM;
}

static unsigned char filter_class(const struct ct_filter_state *f, const struct ct_class *class)
{
	if (f->filter.layer >= 0 && class->layer != f->filter.layer)
		return FILTER_NO;
	if (f->filter.category >= 0 && class->category != f->filter.category)
		return FILTER_NO;
	if (!f->filter.name || !fnmatch(f->filter.name, class->name, 0) ||
	    !fnmatch(f->filter.name, class->symbol, 0))
		return FILTER_YES;
	return class->known[CT_KNOWN_KERNEL] >= 0 ? FILTER_BY_KERNEL : FILTER_NO;
}

static bool filter_kernel(struct ct_filter_state *f, const struct ct_record *r)
{
	uint64_t id = r ? ct_record_known(r, CT_KNOWN_KERNEL) : 0;
	const char *name;

	if (!id || id >= f->strings_count)
		return false;
	if (f->strings[id] == FILTER_NOT_KNOWN) {
		name = ct_names_string(f->names, id);
		f->strings[id] = name && !fnmatch(f->filter.name, name, 0) ? FILTER_YES : FILTER_NO;
	}
	return f->strings[id] == FILTER_YES;
}

/* Is this moment in the steady state of this process? */
static bool filter_steady(struct ct_filter_state *f, uint32_t pid, uint64_t begin)
{
	const struct ct_phases *phases = f->filter.steady;
	const struct ct_stage_span *s;

	if (f->process && f->process->pid == pid && begin >= f->steady_from && begin < f->steady_to)
		return true;
	for (unsigned int i = 0; i < phases->processes_count; i++) {
		if (phases->processes[i].pid != pid)
			continue;
		s = ct_phases_steady(&phases->processes[i]);
		if (!s || begin < s->begin || begin >= s->end)
			continue;
		f->process = &phases->processes[i];
		f->steady_from = s->begin;
		f->steady_to = s->end;
		return true;
	}
	return false;
}

bool ct_filter_pass(struct ct_filter_state *f, const struct ct_class *class, uint32_t pid,
		    uint32_t tid, uint64_t begin, const struct ct_record *r)
{
	unsigned char *known = &f->classes[class->id];

	if (f->all)
		return true;
	if (begin < f->filter.from || (f->filter.to && begin >= f->filter.to))
		return false;
	if (f->filter.steady && !filter_steady(f, pid, begin))
		return false;
	if ((f->filter.pid && pid != f->filter.pid) || (f->filter.tid && tid != f->filter.tid))
		return false;
	if (*known == FILTER_NOT_KNOWN)
		*known = filter_class(f, class);
	return *known == FILTER_YES || (*known == FILTER_BY_KERNEL && filter_kernel(f, r));
}

static bool filter_text(const struct ct_filter_state *f, const struct ct_record *r)
{
	char name[UINT16_MAX + 1];
	uint16_t len;
	const char *text = ct_record_text(r, &len);

	if ((f->filter.layer >= 0 && r->class->layer != f->filter.layer) ||
	    (f->filter.category >= 0 && r->class->category != f->filter.category))
		return false;
	if (text)
		memcpy(name, text, len);
	name[text ? len : 0] = 0;
	return !fnmatch(f->filter.name, name, 0);
}

bool ct_filter_pass_text(struct ct_filter_state *f, const struct ct_record *r, uint32_t pid, uint32_t tid,
			 uint64_t begin)
{
	const struct ct_report_filter *only = &f->filter;

	if (!only->name)
		return ct_filter_pass(f, r->class, pid, tid, begin, r);
	if (only->steady && !filter_steady(f, pid, begin))
		return false;
	return begin >= only->from && (!only->to || begin < only->to) && (!only->pid || pid == only->pid) &&
	       (!only->tid || tid == only->tid) && filter_text(f, r);
}

bool ct_filter_pass_span(struct ct_filter_state *f, const struct ct_span *span)
{
	uint32_t pid = span->track->pid, tid = span->cause ? span->cause->tid : span->track->tid;

	if (span->kind == CT_SPAN_RANGE)
		return ct_filter_pass_text(f, span->record, pid, tid, span->begin);
	return ct_filter_pass(f, span->class, pid, tid, span->begin, span->record);
}

void ct_filter_end(struct ct_filter_state *f)
{
	free(f->classes);
	free(f->strings);
	*f = (struct ct_filter_state){ 0 };
}
