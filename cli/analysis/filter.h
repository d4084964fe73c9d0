/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events of a trace count: the options --from, --pid, --layer, --name ... */
#ifndef CT_CLI_FILTER_H
#define CT_CLI_FILTER_H

#include <stdbool.h>

#include "phases/phases.h"
#include "spans/spans.h"
#include "trace/names.h"

/* A call counts if it began in the range of time. */
struct ct_report_filter {
	uint64_t from, to;		/* ns as records have them; to 0: no end */
	uint32_t pid, tid;		/* 0: all; the GPU's work is of the thread that launched it */
	int layer, category;		/* -1: all */
	const char *name;		/* a glob on name, symbol or kernel, or a range's text; NULL: all */
	/* Not what counts, but what is shown: lines of libraries are not shown one by one, but of those that match. */
	bool fold;
	const char *modules;		/* a glob; NULL: none is */
	const struct ct_phases *steady;	/* each process counts in its own steady state alone; NULL: always */
};

/* What of the time from @begin to @end is in the range; ns, 0: nothing.  Sets both to that part. */
static inline uint64_t ct_filter_clip(const struct ct_report_filter *f, uint64_t *begin, uint64_t *end)
{
	*begin = *begin > f->from ? *begin : f->from;
	*end = f->to && f->to < *end ? f->to : *end;
	*end = *end > *begin ? *end : *begin;
	return *end - *begin;
}

/* Does this stage count where reports look at a process's main stage? */
static inline bool ct_filter_main(const struct ct_report_filter *f, unsigned int stage)
{
	return f->steady ? stage == CT_STAGE_STEADY : ct_stage_is_main(stage);
}

/* A filter with what it remembers of classes and kernels. */
struct ct_filter_state {
	struct ct_report_filter filter;
	struct ct_names *names;
	unsigned char *classes, *strings;	/* by id: FILTER_* */
	unsigned int strings_count;
	const struct ct_process_phases *process;	/* the last one that was looked for, with its steady state */
	uint64_t steady_from, steady_to;
	bool all;				/* it lets everything pass */
};

/* Does it leave anything out? */
bool ct_filter_chooses(const struct ct_report_filter *f);

/* 0 or -ENOMEM.  @names must outlive it. */
int ct_filter_begin(struct ct_filter_state *f, const struct ct_report_filter *filter, struct ct_names *names,
		    const struct ct_registry *reg);

/* Does this count?  @r: NULL where only class and thread are known.  @begin: ns. */
bool ct_filter_pass(struct ct_filter_state *f, const struct ct_class *class, uint32_t pid,
		    uint32_t tid, uint64_t begin, const struct ct_record *r);

/* The same of a mark or a range, whose text is its name. */
bool ct_filter_pass_text(struct ct_filter_state *f, const struct ct_record *r, uint32_t pid, uint32_t tid,
			 uint64_t begin);

/* The same of a span.  The GPU's work is of the thread whose call caused it, where that is known. */
bool ct_filter_pass_span(struct ct_filter_state *f, const struct ct_span *span);
void ct_filter_end(struct ct_filter_state *f);

#endif
