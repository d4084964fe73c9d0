// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See html.h.  Two passes: the first makes the reports and counts what there is, the second keeps
 * the records that the page shows.  The file is written when all is there, so it is whole or has
 * no end.
 */
#include "export/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/reports.h"
#include "export/html/html_columns.h"
#include "export/html/html_fields.h"
#include "export/html/json.h"
#include "export/html/html_lines.h"
#include "export/html/gpus.h"
#include "export/html/html_memory.h"
#include "export/html/manifest.h"
#include "export/html/tables.h"
#include "export/html/template.h"


struct html {
	const struct ct_trace *trace;
	struct ct_engine *first, *second;
	struct ct_engine_options options;
	struct ct_explain explain;
	struct ct_html_source source;
	struct ct_html_tracks tracks;
	struct ct_html_sampling sampling;
	struct ct_html_records records;
	struct ct_html_blobs blobs;
	struct ct_html_columns columns;
	struct ct_html_manifest manifest;
	struct ct_names names;
	struct ct_error *err;
	bool judged;
};

/* ------------------------------------------------------------ the passes --- */

static int html_count(void *arg, const struct ct_html_item *item)
{
	struct html *h = arg;

	ct_html_sampling_count(&h->sampling, item);
	ct_html_track_count(&h->tracks.list[item->track], item->begin, item->depth);
	return 0;
}

static int html_keep(void *arg, const struct ct_html_item *item)
{
	return ct_html_records_add(&((struct html *)arg)->records, item);
}

static void html_source(struct html *h, bool make, int (*item)(void *, const struct ct_html_item *))
{
	ct_html_source_free(&h->source);
	h->source = (struct ct_html_source){ .tracks = &h->tracks, .make = make, .item = item, .arg = h };
	h->options = (struct ct_engine_options){
		.filter = { .layer = -1, .category = -1 }, .arg = &h->source,
		.phases = h->explain.phases,
	};
}

/* The reports, the findings, and what there is. */
static int html_first(struct html *h)
{
	struct ct_analysers analysers = { 0 };
	int rc;

	ct_explain_analysers(&analysers);
	ct_reports_add(&analysers);
	ct_analysers_add(&analysers, &ct_html_memory_analyser);
	ct_analysers_add(&analysers, &ct_html_gpus_analyser);
	ct_analysers_add(&analysers, &ct_html_source_analyser);
	html_source(h, true, html_count);
	h->first = ct_engine_run(h->trace, analysers.list, analysers.count, &h->options, h->err);
	if (!h->first)
		return -h->err->code;
	h->judged = true;
	rc = ct_explain_judge(&h->explain, h->trace, h->first);
	if (!rc)
		rc = ct_html_manifest_records(&h->manifest, &h->sampling);
	return rc ? rc : ct_html_sampling_decide(&h->sampling, &h->tracks);
}

/* The records that are kept, and the zoom levels. */
static int html_second(struct html *h)
{
	static const struct ct_analyser *const analysers[] = { &ct_html_source_analyser };
	int rc = ct_html_records_init(&h->records, &h->trace->reg, &h->names, &h->sampling, &h->tracks);

	if (rc)
		return rc;
	h->tracks.left_out = 0;
	html_source(h, false, html_keep);
	h->second = ct_engine_run(h->trace, analysers, 1, &h->options, h->err);
	return h->second ? 0 : -h->err->code;
}

static void html_place_findings(struct html *h)
{
	const struct ct_html_columns *c = &h->columns;

	for (uint32_t i = 0; i < h->records.count && h->sampling.always.count; i++) {
		const struct ct_html_record *r = &h->records.sorted[i];

		ct_html_sampling_place(&h->sampling, r->op_id, r->begin, h->tracks.list[r->track].tid, c->order[r->track]);
	}
}

/* ---------------------------------------------------------- the manifest --- */

static void html_left_out(const struct html *h, struct ct_out *out)
{
	const struct ct_html_sampling *c = &h->sampling;

	ct_out_text(out, "\"left_out\":");
	if (!c->left_out && !h->tracks.left_out && !h->records.details_left_out && !h->records.strings.left_out &&
	    !h->records.strings.cut) {
		ct_out_text(out, "null,\n");
		return;
	}
	ct_html_u64(out, "{\"records\":", c->left_out);
	ct_html_u64(out, ",\"shorter_than_ns\":", c->left_out ? c->longest + 1 : 0);
	ct_html_u64(out, ",\"instants\":", c->left_out_instants);
	ct_html_u64(out, ",\"tracks\":", h->tracks.left_out);
	ct_html_u64(out, ",\"details\":", h->records.details_left_out);
	ct_html_u64(out, ",\"strings\":", h->records.strings.left_out);
	ct_html_u64(out, ",\"cut\":", h->records.strings.cut);
	ct_out_text(out, "},\n");
}

static int html_strings(struct html *h)
{
	const struct ct_html_strings *s = &h->records.strings;
	struct ct_out text = { .fd = -1 };
	char *bytes = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&bytes, &size);
	int rc;

	if (!f || ct_out_open(&text, -1)) {
		if (f)
			fclose(f);
		free(bytes);
		return -ENOMEM;
	}
	/* A string has at most as many bytes as the buffer: 6 for each of its own. */
	ct_out_char(&text, '[');
	for (uint32_t i = 0; i < s->count; i++) {
		if (i)
			ct_out_char(&text, ',');
		ct_html_string_json(&text, s->bytes + s->list[i].at, s->list[i].len);
		fwrite(text.buffer, 1, text.used, f);
		text.used = 0;
	}
	ct_out_char(&text, ']');
	fwrite(text.buffer, 1, text.used, f);
	free(text.buffer);
	rc = fclose(f) ? -ENOMEM : 0;
	if (!rc)
		ct_html_json_blob(&h->blobs, "strings", bytes, size);
	free(bytes);
	return rc ? rc : h->blobs.error;
}

/* Columns are made while the manifest is written, so it ends with the list of all blobs. */
static int html_manifest(struct html *h, struct ct_out *out)
{
	int rc;

	ct_out_text(out, "{\"format\":1,\n");
	rc = ct_html_manifest_write(&h->manifest, &h->blobs, out);
	ct_html_tables_write(h->first, out);
	if (!rc)
		rc = ct_html_lines_write(h->trace, h->first, out);
	if (!rc)
		rc = ct_html_memory_write(h->first, &h->blobs, out);
	if (!rc)
		rc = ct_html_gpus_write(h->first, &h->blobs, out);
	if (rc)
		return rc;
	ct_out_text(out, "\"classes\":[");
	rc = ct_html_fields(&h->columns, h->first, out);
	ct_out_text(out, "],\n\"tracks\":[");
	ct_html_columns_tracks(&h->columns, h->explain.analysis->processes, out);
	ct_out_text(out, "],\n\"strings\":\"strings\",\n");
	if (!rc)
		rc = html_strings(h);
	html_left_out(h, out);
	ct_out_text(out, "\"blobs\":");
	ct_html_blobs_list(&h->blobs, out);
	ct_out_char(out, '}');
	return rc ? rc : h->blobs.error;
}

static int html_write(struct html *h, const struct ct_html_template *page, int fd)
{
	struct ct_out out;
	int rc, closed;

	if (ct_out_open(&out, fd))
		return -ENOMEM;
	ct_out_bytes(&out, page->parts[0].text, page->parts[0].len);
	if (page->parts[0].len)
		ct_html_escape(&out, ct_html_manifest_title(&h->manifest));
	ct_out_bytes(&out, page->parts[1].text, page->parts[1].len);
	rc = html_manifest(h, &out);
	if (!rc) {
		ct_out_bytes(&out, page->parts[2].text, page->parts[2].len);
		ct_html_blobs_base64(&h->blobs, &out);
		ct_out_bytes(&out, page->parts[3].text, page->parts[3].len);
	}
	closed = ct_out_close(&out);
	return rc ? rc : closed;
}

static void html_free(struct html *h)
{
	if (h->judged)
		ct_explain_free(&h->explain);
	ct_html_columns_free(&h->columns);
	ct_html_records_free(&h->records);
	ct_html_blobs_free(&h->blobs);
	ct_html_source_free(&h->source);
	ct_html_tracks_free(&h->tracks);
	ct_keyed_free(&h->sampling.always);
	ct_names_forget(&h->names);
	ct_engine_free(h->second);
	ct_engine_free(h->first);
}

/* CUDATRACE_HTML_RECORDS: how many records are kept. */
static uint64_t html_limit(void)
{
	const char *text = getenv("CUDATRACE_HTML_RECORDS");
	unsigned long limit = text ? strtoul(text, NULL, 10) : 0;

	return limit ? limit : CT_HTML_KEPT;
}

static int html_make(struct html *h)
{
	int rc = ct_html_blobs_init(&h->blobs);

	if (rc == -ENOTSUP)
		return ct_fail(h->err, ENOTSUP, "this cudatrace was built without zlib: install zlib1g-dev, then "
			       "'make clean' and 'make'");
	if (!rc)
		rc = ct_names_init(&h->names, &h->trace->reg);
	if (!rc)
		rc = html_first(h);
	if (!rc)
		rc = html_second(h);
	if (rc)
		return rc;
	h->columns = (struct ct_html_columns){ .records = &h->records, .tracks = &h->tracks, .blobs = &h->blobs };
	rc = ct_html_columns_make(&h->columns);
	if (!rc)
		html_place_findings(h);
	return rc;
}

int ct_html_export(const struct ct_export *x, struct ct_error *err)
{
	struct ct_html_template page;
	struct html h = { .trace = x->trace, .err = err, .sampling.limit = html_limit() };
	int rc = ct_html_template(&page, err);

	if (rc)
		return rc;
	if (isatty(x->fd))
		return ct_fail(err, EINVAL, "an HTML report is for a browser: write it to a file with -o report.html");
	h.manifest = (struct ct_html_manifest){
		.trace = x->trace, .explain = &h.explain, .sampling = &h.sampling,
	};
	rc = html_make(&h);
	if (!rc)
		rc = html_write(&h, &page, x->fd);
	html_free(&h);
	return rc;
}
