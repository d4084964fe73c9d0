/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an HTML report says of a trace beside its records: head, verdicts, stages, findings. */
#ifndef CT_CLI_HTML_MANIFEST_H
#define CT_CLI_HTML_MANIFEST_H

#include "explain/explain.h"
#include "export/html/blobs.h"
#include "export/html/sampling.h"

struct ct_html_manifest {
	const struct ct_trace *trace;
	struct ct_explain *explain;		/* its findings */
	/* In .always: the order of the track of a record that a finding points to, plus 1. */
	const struct ct_html_sampling *sampling;
};

/* Adds the records that findings point to to those that are always kept.  0 or -ENOMEM. */
int ct_html_manifest_records(const struct ct_html_manifest *s, struct ct_html_sampling *sampling);

/* The keys trace to findings of the manifest, each with a comma behind it. */
int ct_html_manifest_write(struct ct_html_manifest *s, struct ct_html_blobs *blobs, struct ct_out *out);

/* The page's title. */
const char *ct_html_manifest_title(const struct ct_html_manifest *s);

#endif
