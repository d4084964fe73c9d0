// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The timeline.  Memory is bounded by threads, depth and width: must never keep a
 * call, only what it adds to the columns that it covers.
 */
#include "analysis/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engine.h"
#include "base/grow.h"
#include "view/term.h"

#define TRACKS_MAX	512
#define LABEL		24
#define NAME		(LABEL - 6)	/* of it, in front of the share or the depth */

enum kind { INIT, MEMORY, TRANSFER, LAUNCH, KERNEL, SYNC, DRIVER, OTHER, KINDS };

static const struct {
	char busy, some;	/* at least half of a column; less */
	const char *word, *colour;
} kinds[KINDS] = {
	[INIT] = { 'I', 'i', "init", "\033[30;45m" },
	[MEMORY] = { 'M', 'm', "memory", "\033[30;43m" },
	[TRANSFER] = { 'T', 't', "transfer", "\033[30;46m" },
	[LAUNCH] = { 'L', 'l', "launch", "\033[30;42m" },
	[KERNEL] = { 'K', 'k', "kernel", "\033[30;102m" },
	[SYNC] = { 'S', 's', "sync", "\033[37;41m" },
	[DRIVER] = { 'D', 'd', "driver", "\033[37;44m" },
	[OTHER] = { ':', '.', "other", "" },
};

static enum kind timeline_kind_of(const struct ct_class *class)
{
	if (class->layer == CT_LAYER_GPU)
		return class->category == CT_CAT_TRANSFER ? TRANSFER : class->category == CT_CAT_MEMORY ? MEMORY : KERNEL;
	if (class->layer != CT_LAYER_USER)
		return DRIVER;
	switch (class->category) {
	case CT_CAT_INIT: case CT_CAT_CONTEXT: case CT_CAT_MODULE:
		return INIT;
	case CT_CAT_MEMORY:
		return MEMORY;
	case CT_CAT_TRANSFER:
		return TRANSFER;
	case CT_CAT_KERNEL: case CT_CAT_GRAPH:
		return LAUNCH;
	case CT_CAT_SYNC:
		return SYNC;
	case CT_CAT_IOCTL: case CT_CAT_SYSCALL: case CT_CAT_UVM:
		return DRIVER;
	}
	return OTHER;
}

struct track {
	uint64_t key, busy;	/* busy: ns in calls of depth 0 */
	uint32_t pid, tid;
	uint32_t gpu, context;	/* of the GPU, and its stream */
	uint64_t stream;
	unsigned int rows;	/* depths that are in use */
	uint64_t *bins;		/* [depth][column][kind], ns; NULL: it has nothing */
};

struct picture {
	const struct ct_timeline_options *options;
	FILE *out;
	uint64_t from, to;	/* ns */
	unsigned int columns;
	struct track *tracks;	/* by the index of a track */
	size_t tracks_count;
	unsigned int used;	/* of them, those that have something */
	unsigned int too_many;
	bool contexts;		/* a process has several on a GPU */
};

/* 0; 1: there are too many; -ENOMEM. */
static int timeline_use_track(struct picture *pic, const struct ct_trace_event *e, struct track *track)
{
	if (pic->used == TRACKS_MAX) {
		pic->too_many++;
		return 1;
	}
	track->bins = calloc((size_t)pic->options->depth * pic->columns * KINDS, sizeof(*track->bins));
	if (!track->bins)
		return -ENOMEM;
	pic->used++;
	track->key = e->track->key;
	track->pid = e->record->pid;
	track->tid = e->record->tid;
	if (track->key & CT_TRACK_GPU) {
		track->gpu = ct_record_known(e->record, CT_KNOWN_GPU);
		track->context = ct_record_known(e->record, CT_KNOWN_CONTEXT);
		track->stream = ct_record_gpu_stream(e->record);
	}
	return 0;
}

static int timeline_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	struct picture *pic = a->arg;
	double per_column = (double)(pic->to - pic->from) / pic->columns;
	enum kind kind = timeline_kind_of(e->class);
	/*
	 * A call that never returned lasts until the end of the picture.  When one was abandoned is not known,
	 * only when that was noticed.
	 */
	uint64_t begin = e->begin, end = e->point->open ? pic->to : e->kind == CT_ON_END && !e->timed ? begin : e->end;
	uint32_t depth = e->point->depth;
	struct track *track;
	unsigned int first, last;
	int rc;

	if (e->kind == CT_ON_BEGIN && !e->point->open)
		return 0;
	if (begin < pic->from)
		begin = pic->from;
	if (end > pic->to)
		end = pic->to;
	if (begin > end || begin >= pic->to)
		return 0;
	if (!ct_room_at(pic->tracks, e->track->index, pic->tracks_count))
		return -ENOMEM;
	track = &pic->tracks[e->track->index];
	rc = track->bins ? 0 : timeline_use_track(pic, e, track);
	if (rc)
		return rc < 0 ? rc : 0;
	if (!depth)
		track->busy += end - begin + 1;
	if (depth >= pic->options->depth)
		return 0;
	if (depth >= track->rows)
		track->rows = depth + 1;
	first = (begin - pic->from) / per_column;
	last = (end - pic->from) / per_column;
	for (unsigned int i = first; i <= last && i < pic->columns; i++) {
		uint64_t left = pic->from + i * per_column;
		uint64_t right = pic->from + (i + 1) * per_column;
		uint64_t b = begin > left ? begin : left, e = end < right ? end : right;
		uint64_t *bin = track->bins + ((size_t)depth * pic->columns + i) * KINDS;

		if (b > e || (b == e && i != first))
			continue;
		/* A call shorter than 1 ns still shows. */
		bin[kind] += e - b + (i == first);
	}
	return 0;
}

/* ------------------------------------------------------------------ output --- */

static void timeline_put_row(const struct picture *pic, const struct track *track,
			     unsigned int depth, FILE *out)
{
	double half = (double)(pic->to - pic->from) / pic->columns / 2;
	int last = -1;

	for (unsigned int i = 0; i < pic->columns; i++) {
		const uint64_t *bin = track->bins + ((size_t)depth * pic->columns + i) * KINDS;
		uint64_t all = 0;
		int most = -1;

		for (int k = 0; k < KINDS; k++) {
			all += bin[k];
			if (bin[k] && (most < 0 || bin[k] > bin[most]))
				most = k;
		}
		if (pic->options->colour && most != last) {
			fputs("\033[0m", out);
			if (most >= 0)
				fputs(kinds[most].colour, out);
		}
		last = most;
		fputc(most < 0 ? ' ' : all >= half ? kinds[most].busy : kinds[most].some, out);
	}
	if (pic->options->colour)
		fputs("\033[0m", out);
	fputs("|\n", out);
}

/* How much of the picture's time the track is busy: "92%". */
static const char *timeline_share(const struct picture *pic, const struct track *track, char buf[8])
{
	double share = 100.0 * track->busy / (pic->to - pic->from);

	snprintf(buf, 8, share > 0 && share < 1 ? "<1%%" : "%.0f%%", share < 100 ? share : 100);
	return buf;
}

static void timeline_put_track(const struct picture *pic, const struct track *track,
			       const struct ct_processes *processes, FILE *out)
{
	const char *process = ct_processes_word(processes, track->pid);
	char label[96], name[64] = "", share[8];

	if (track->key & CT_TRACK_GPU && pic->contexts)
		snprintf(label, sizeof(label), "GPU%u c%u s%llu of %u", track->gpu, track->context,
			 (unsigned long long)track->stream, track->pid);
	else if (track->key & CT_TRACK_GPU)
		snprintf(label, sizeof(label), "GPU %u s%llu of %u", track->gpu,
			 (unsigned long long)track->stream, track->pid);
	else if (track->key >> 40)
		snprintf(label, sizeof(label), "interrupts CPU %u",
			 (unsigned int)(track->key >> 8 & 0xffff));
	else if (track->tid == track->pid)
		snprintf(label, sizeof(label), "%u", track->tid);
	else
		snprintf(label, sizeof(label), "%u of %u", track->tid, track->pid);
	if (process && !(track->key >> 40)) {
		ct_term_clean(name, sizeof(name), process, 10);
		if (strlen(label) + strlen(name) + 1 <= NAME) {
			strcat(label, " ");
			strcat(label, name);
		}
	}
	for (unsigned int depth = 0; depth < track->rows; depth++) {
		if (depth)
			fprintf(out, "%*s%-2u|", LABEL - 3, "", depth);
		else
			fprintf(out, "%-*.*s %4s|", NAME, NAME, label, timeline_share(pic, track, share));
		timeline_put_row(pic, track, depth, out);
	}
}

/* ms with as many decimals as the range needs. */
static void timeline_put_axis(const struct picture *pic, const struct ct_trace *t, FILE *out)
{
	double from = ((double)pic->from - (double)t->reg.start) / 1e6;
	double to = ((double)pic->to - (double)t->reg.start) / 1e6;
	int decimals = to - from < 1 ? 6 : to - from < 100 ? 3 : 1;

	fprintf(out, "%-*s|", LABEL - 1, "ms");
	for (unsigned int i = 0; i < pic->columns;) {
		char tick[48];
		int len = snprintf(tick, sizeof(tick), "%.*f ", decimals,
				   from + (to - from) * i / pic->columns);

		if (i + len > pic->columns)
			break;
		fputs(tick, out);
		i += len;
		while (i < pic->columns && i % 20) {
			fputc(' ', out);
			i++;
		}
	}
	fputc('\n', out);
}

static void timeline_put_legend(const struct picture *pic, FILE *out)
{
	size_t used = fprintf(out, "legend:");

	for (int k = 0; k < KINDS; k++) {
		size_t word = strlen(kinds[k].word) + 3;

		if (used + word > 60)
			used = fprintf(out, "\n       ") - 1;
		fprintf(out, " %s%c%s %s", pic->options->colour ? kinds[k].colour : "",
			kinds[k].busy, pic->options->colour ? "\033[0m" : "", kinds[k].word);
		used += word;
	}
	fprintf(out, "\n        small letters: less than half of the column;"
		     "\n        %%: of the whole time\n");
}

static int timeline_by_busy(const void *a, const void *b)
{
	const struct track *x = *(struct track *const *)a, *y = *(struct track *const *)b;

	return x->busy > y->busy ? -1 : x->busy < y->busy;
}

/* Threads, then the GPU's streams, then CPUs' interrupts. */
static unsigned int timeline_order(const struct track *t)
{
	return t->key & CT_TRACK_GPU ? 1 : t->key >> 40 ? 2 : 0;
}

static int timeline_by_thread(const void *p, const void *q)
{
	const struct track *x = *(struct track *const *)p, *y = *(struct track *const *)q;

	unsigned int a = timeline_order(x), b = timeline_order(y);

	if (a != b)
		return a < b ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu != y->gpu || x->context != y->context)
		return x->gpu != y->gpu ? x->gpu < y->gpu ? -1 : 1 : x->context < y->context ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* The streams of the GPU say of which context they are where a process has several on a GPU. */
static bool timeline_contexts(struct track *const *list, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		for (unsigned int k = 0; k < i; k++) {
			const struct track *x = list[i], *y = list[k];

			if (x->key & y->key & CT_TRACK_GPU && x->pid == y->pid && x->gpu == y->gpu &&
			    x->context != y->context)
				return true;
		}
	return false;
}

/* Of each kind of track the busiest ones come to the front.  Return: how many those are. */
static unsigned int timeline_choose(const struct picture *pic, struct track **list)
{
	unsigned int of_kind[3] = { 0 }, shown = 0;

	qsort(list, pic->used, sizeof(*list), timeline_by_busy);
	for (unsigned int i = 0; i < pic->used; i++)
		if (of_kind[timeline_order(list[i])]++ < pic->options->threads)
			list[shown++] = list[i];
	qsort(list, shown, sizeof(*list), timeline_by_thread);
	return shown;
}

static void timeline_put_left_out(const struct picture *pic, FILE *out)
{
	static const char *const words[3] = {
		"threads with less time in calls", "streams of the GPU with less work", "CPUs with less time in interrupts",
	};
	unsigned int of_kind[3] = { 0 };

	for (size_t i = 0; i < pic->tracks_count; i++)
		if (pic->tracks[i].bins)
			of_kind[timeline_order(&pic->tracks[i])]++;
	for (unsigned int k = 0; k < 3; k++)
		if (of_kind[k] > pic->options->threads)
			fprintf(out, "%u more %s: --threads shows them\n", of_kind[k] - pic->options->threads, words[k]);
	if (pic->too_many)
		fprintf(out, "more than %u threads and streams: --pid and --tid choose among them\n", TRACKS_MAX);
}

static int timeline_print(struct ct_analysis *a)
{
	struct picture *pic = a->arg;
	const struct ct_trace *t = a->trace;
	struct track **list = malloc((pic->used + 1) * sizeof(*list));
	const char *damage = ct_registry_info(&t->reg, CT_DAMAGED_INFO);
	unsigned int shown = 0;
	FILE *out = pic->out;
	char line[1024];

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < pic->tracks_count; i++)
		if (pic->tracks[i].bins)
			list[shown++] = &pic->tracks[i];
	pic->contexts = timeline_contexts(list, shown);
	shown = timeline_choose(pic, list);
	if (t->simulated)
		fprintf(out, "*** SIMULATED GPU: this is not the time of a device ***\n");
	if (damage)
		fprintf(out, "damaged: %s\n", ct_term_clean(line, sizeof(line), damage, pic->options->width - 9));
	if (shown) {
		timeline_put_legend(pic, out);
		timeline_put_axis(pic, t, out);
	} else {
		fprintf(out, t->records ? "no calls in this time\n" : "the trace has no records\n");
	}
	for (unsigned int i = 0; i < shown; i++)
		timeline_put_track(pic, list[i], a->processes, out);
	timeline_put_left_out(pic, out);
	free(list);
	return 0;
}

/* From the first begin to the last end of what programs and the driver did. */
static void timeline_whole_range(const struct ct_trace *t, struct picture *pic)
{
	pic->from = ~0ull;
	for (unsigned int i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];

		if (s->kind == CT_STREAM_STATE || !s->records)
			continue;
		if (s->first < pic->from)
			pic->from = s->first;
		/* A call that never returned began before its call_open record. */
		if (s->early_count && s->early[s->by_begin[0]].begin < pic->from)
			pic->from = s->early[s->by_begin[0]].begin;
		if (s->last > pic->to)
			pic->to = s->last;
	}
	for (unsigned int i = 0; i < t->inflight_count; i++)
		if (t->inflight[i].begin < pic->from)
			pic->from = t->inflight[i].begin;
	if (pic->from > pic->to)
		pic->from = pic->to;
}

static bool timeline_wants(const struct ct_class *class)
{
	return class->call;
}

static const struct ct_analyser timeline_analyser = {
	.on = CT_ON_BEGIN | CT_ON_END | CT_ON_INSTANT,
	.wants = timeline_wants,
	.event = timeline_event,
	.end = timeline_print,
};

int ct_timeline(const struct ct_trace *t, FILE *out, const struct ct_timeline_options *options)
{
	struct picture pic = { .options = options, .out = out, .columns = options->width - LABEL - 1 };
	int rc;

	timeline_whole_range(t, &pic);
	if (options->from)
		pic.from = options->from;
	if (options->to)
		pic.to = options->to;
	if (pic.to <= pic.from)
		pic.to = pic.from + 1;
	rc = ct_engine_one(t, &timeline_analyser, &pic);
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	for (size_t i = 0; i < pic.tracks_count; i++)
		free(pic.tracks[i].bins);
	free(pic.tracks);
	return rc;
}
