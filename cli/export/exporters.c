// SPDX-License-Identifier: LGPL-2.1-or-later
/* See exporters.h. */
#include "export/exporters.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "export/chrome.h"
#include "export/csv.h"
#include "export/folded.h"
#include "export/html/html.h"
#include "export/jsonl.h"
#include "export/openmetrics/openmetrics.h"
#include "export/parquet/parquet.h"
#include "export/perfetto/perfetto.h"
#include "export/sqlite/sqlite.h"

const struct ct_exporter ct_exporters[] = {
	{ "jsonl", "a JSON object a line: B and E of calls, I of instants", "jsonl ndjson json",
	  CT_EXPORT_STREAM, ct_jsonl_export },
	{ "html", "one page for a browser or a mail: findings, timeline, reports", "html htm",
	  CT_EXPORT_STREAM, ct_html_export },
	{ "perfetto", "Perfetto's own format, a seventh of the size of chrome", "pftrace perfetto-trace",
	  CT_EXPORT_STREAM, ct_perfetto_export },
	{ "chrome", "Trace Event JSON, for ui.perfetto.dev and chrome://tracing", "json",
	  CT_EXPORT_STREAM, ct_chrome_export },
	{ "sqlite", "a database: tables as nsys has them, all records, the reports", "sqlite sqlite3 db",
	  CT_EXPORT_FILE, ct_sqlite_export },
	{ "csv", "a table: a row a call or instant, columns named as in jsonl", "csv",
	  CT_EXPORT_STREAM, ct_csv_export },
	{ "parquet", "that table in files by day and host: DuckDB, ClickHouse, Spark", "parquet",
	  CT_EXPORT_DIRECTORY, ct_parquet_export },
	{ "folded", "a line a stack with its ns: flamegraph.pl, speedscope.app", "folded collapsed",
	  CT_EXPORT_STREAM, ct_folded_export },
	{ "openmetrics", "counters and histograms of the trace, as Prometheus reads them", "prom openmetrics",
	  CT_EXPORT_STREAM, ct_openmetrics_export },
};
const size_t ct_exporters_count = sizeof(ct_exporters) / sizeof(*ct_exporters);

const struct ct_exporter *ct_exporter_find(const char *name)
{
	for (size_t i = 0; i < ct_exporters_count; i++)
		if (!strcmp(ct_exporters[i].name, name))
			return &ct_exporters[i];
	return NULL;
}

const char *ct_export_ending(const char *path)
{
	const char *name = strrchr(path, '/'), *dot;

	name = name ? name + 1 : path;
	dot = strrchr(name, '.');
	return dot && dot != name ? dot + 1 : "";
}

/* Is @word one of @list, which has spaces between its words? */
static bool exporter_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; n && *list; list += strcspn(list, " "), list += strspn(list, " "))
		if (!strncasecmp(list, word, n) && (!list[n] || list[n] == ' '))
			return true;
	return false;
}

const struct ct_exporter *ct_exporter_of_file(const char *path, const struct ct_exporter *after)
{
	for (size_t i = after ? after - ct_exporters + 1 : 0; i < ct_exporters_count; i++)
		if (exporter_has(ct_exporters[i].endings, ct_export_ending(path)))
			return &ct_exporters[i];
	return NULL;
}
