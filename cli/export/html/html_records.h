/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records that an HTML report keeps, and the zoom levels of its tracks: the second pass. */
#ifndef CT_CLI_HTML_RECORDS_H
#define CT_CLI_HTML_RECORDS_H

#include "export/html/sampling.h"
#include "export/html/levels.h"
#include "export/html/html_strings.h"

struct ct_html_record {
	int64_t  begin;			/* ns since the trace began */
	uint64_t duration;		/* ns */
	uint64_t op_id, parent;		/* op_ids; 0: none */
	const uint8_t *fields;		/* a copy; NULL: not known */
	int64_t  result;
	uint32_t track, detail;		/* index; string number */
	int32_t  cpu;
	uint16_t class, text_len;
	uint16_t depth;
	uint32_t stack;			/* node, 0: none */
	uint8_t  flags, record_flags;	/* CT_HTML_*; CT_F_* */
};

#define CT_HTML_CHUNK		(1u << 14)	/* records */
#define CT_HTML_FIELDS_BYTES	(256u << 20)	/* of all fields: those that follow are left out */

struct ct_html_records {
	const struct ct_registry *reg;
	struct ct_names *names;
	struct ct_html_sampling *sampling;
	struct ct_html_strings strings;
	struct ct_html_record **chunks;	/* as they came, until they are put into order */
	struct ct_html_record *sorted;	/* by track and begin */
	uint32_t count, chunks_count, chunks_room;
	struct ct_html_levels *levels;	/* by track */
	const struct ct_html_tracks *tracks;
	uint32_t tracks_count;
	uint32_t *kernels;		/* string numbers by id of the registry's string */
	/* Copies of fields. */
	uint8_t **blocks;
	uint32_t blocks_count, blocks_room;
	size_t block_used, fields_used;
	uint64_t details_left_out;	/* records without fields */
};

/* 0 or -ENOMEM; free also after an error. */
int ct_html_records_init(struct ct_html_records *r, const struct ct_registry *reg, struct ct_names *names,
			 struct ct_html_sampling *sampling, const struct ct_html_tracks *tracks);

/* A record of the second pass. */
int ct_html_records_add(struct ct_html_records *r, const struct ct_html_item *item);

/* Makes .sorted, by the order of each track.  0 or -ENOMEM. */
int ct_html_records_sort(struct ct_html_records *r, const uint32_t *order);
void ct_html_records_free(struct ct_html_records *r);

/* The record as the reader knew it. */
struct ct_record ct_html_record_of(const struct ct_html_records *r, const struct ct_html_record *kept);

#endif
