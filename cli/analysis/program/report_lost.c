// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report lost: what the trace lacks, where, why, and what to do about it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "analysis/losses.h"
#include "base/sum.h"

enum { STREAM, PID, TID, REASON, RECORDS, PACKETS, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
	[STREAM] = { "Stream", "stream", CT_CELL_TEXT, 0 },
	[PID] = { "Pid", "pid", CT_CELL_ID, 1 },
	[TID] = { "Tid", "tid", CT_CELL_ID, 1 },
	[REASON] = { "Reason", "reason", CT_CELL_TEXT, 0 },
	[RECORDS] = { "Records", "records", CT_CELL_COUNT, 0 },
	[PACKETS] = { "Packets", "packets", CT_CELL_COUNT, 0 },
};

#define ROW(id, word)	[CT_LOST_##id] = word,
static const char *const lost_word[CT_LOST_REASONS] = { CT_LOSSES(ROW) };
#undef ROW

static struct ct_cell *lost_row(struct ct_table *t, struct ct_cell stream, const char *reason)
{
	struct ct_cell *row = ct_table_row(t);

	row[STREAM] = stream;
	row[REASON] = ct_const(reason);
	return row;
}

static void lost_rows(struct ct_table *t, const struct ct_trace *trace,
		      const struct ct_losses_cpu *cpus, unsigned int count)
{
	uint64_t packets = trace->packets_bad;
	struct ct_cell *row;

	for (unsigned int i = 0; i < count; i++)
		for (unsigned int why = 0; why < CT_LOST_REASONS; why++)
			if (cpus[i].lost[why]) {
				row = lost_row(t, ct_format(t, "k-%llu", (unsigned long long)cpus[i].cpu),
					       lost_word[why]);
				row[RECORDS] = ct_u64(cpus[i].lost[why]);
			}
	for (unsigned int i = 0; i < trace->streams_count; i++) {
		const struct ct_stream_file *s = &trace->streams[i];

		packets = ct_sum(packets, s->packets_lost);
		if (s->kind != CT_STREAM_CPU && s->lost) {
			row = lost_row(t, ct_text(t, s->name), s->kind == CT_STREAM_GPU ? "GPU" : s->pid ? "thread" : "no stream");
			row[RECORDS] = ct_u64(s->lost);
			if (s->pid) {
				row[PID] = ct_u64(s->pid);
				if (s->tid)
					row[TID] = ct_u64(s->tid);
			}
		}
		if (s->packets_lost) {
			row = lost_row(t, ct_text(t, s->name), "packets");
			row[PACKETS] = ct_u64(s->packets_lost);
		}
		if (s->packets_bad) {
			row = lost_row(t, ct_text(t, s->name), "damaged");
			row[PACKETS] = ct_u64(s->packets_bad);
		}
	}
	if (trace->lost_here > trace->lost_reported)
		lost_row(t, ct_const(NULL), "no stream")[RECORDS] =
			ct_u64(trace->lost_here - trace->lost_reported);
	if (trace->packets_lost > packets)
		lost_row(t, ct_const(NULL), "overwritten")[PACKETS] =
			ct_u64(trace->packets_lost - packets);
}

/* What the losses' own text says becomes notes, a line each. */
static int lost_notes(struct ct_table *t, const struct ct_losses *l)
{
	char *text = NULL, *next;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	ct_losses_print(l, out);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	for (char *line = text; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		ct_table_note(t, "%s", line + (strncmp(line, "    ", 4) ? 0 : 4));
	}
	free(text);
	return 0;
}

static int lost_end(struct ct_analysis *a)
{
	struct ct_table *t = ct_analysis_table(a, "lost",
		"Records and packets that the trace lacks", columns, COLUMNS);
	struct ct_losses_cpu *cpus;
	struct ct_losses losses;
	unsigned int count;
	int rc = ct_losses_by_cpu(&losses, a->trace, &cpus, &count);

	if (rc)
		return rc;
	lost_rows(t, a->trace, cpus, count);
	free(cpus);
	return a->trace->lost ? lost_notes(t, &losses) : 0;
}

const struct ct_analyser ct_report_lost = {
	.name = "lost",
	.summary = "records that the trace lacks, by stream and reason, and what to do",
	.single = true,
	.unfiltered = true,
	.end = lost_end,
};
