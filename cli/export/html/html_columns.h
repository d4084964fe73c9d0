/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of an HTML report as columns, and what the manifest says of them. */
#ifndef CT_CLI_HTML_COLUMNS_H
#define CT_CLI_HTML_COLUMNS_H

#include "spans/processes.h"
#include "export/html/blobs.h"
#include "export/html/html_records.h"

struct ct_html_columns {
	struct ct_html_records *records;
	const struct ct_html_tracks *tracks;
	struct ct_html_blobs *blobs;
	uint32_t *track_order;		/* indices of tracks as they are drawn */
	uint32_t *order;			/* of a track in it */
	uint32_t *track_first;		/* by order: its first record; one more than tracks */
	uint32_t *class_number;		/* by class id: its index in manifest.classes, plus 1 */
	uint16_t *classes;		/* class ids by index */
	uint32_t classes_count;
	uint32_t *class_first;		/* by index: of its records in .by_class; one more */
	uint32_t *by_class;		/* indices of records, by class, then in their order */
	uint64_t *values;		/* a column in the making */
};

/* Puts the records into their order and makes all columns.  0 or a negative errno. */
int ct_html_columns_make(struct ct_html_columns *c);

/* manifest.tracks */
void ct_html_columns_tracks(const struct ct_html_columns *c, const struct ct_processes *processes,
			    struct ct_out *out);
void ct_html_columns_free(struct ct_html_columns *c);

#endif
