// SPDX-License-Identifier: LGPL-2.1-or-later
/* See clocks.h. */
#include "ranks/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "view/term.h"

#define SLOPE_POINTS	256	/* of which each pair gives a slope: their median is the first guess */
#define SAMPLES_MAX	(1u << 16)
#define OUTLIER		6.0	/* times the median deviation */
#define RATE_MOST	1e-3	/* no clock drifts faster */
#define ROUNDS		4
#define SLICES		16	/* of the samples by time: of each the shortest quarter counts */
#define SLICE_LEAST	16

/* The end of an operation: on the clock to be fitted, and how far the known ones are from it. */
struct clocks_sample {
	double at;		/* ns since the first one */
	double ahead;		/* ns, less that of the first one */
	uint64_t moves;		/* ns, of the shortest of its kernels: that one waited least */
};

struct clocks {
	struct ct_source *sources;
	unsigned int sources_count;
	const struct ct_collectives *collectives;
	struct ct_source_clock *guess;	/* by which the collectives' times were made */
	bool *known;
	uint64_t *ends;		/* by operation: ns, when it ended on the known clocks; 0: not known */
	uint64_t *moves;	/* by operation: ns, of the shortest of its kernels */
	uint32_t *parts;	/* indices, by source and then as they are */
	uint32_t *first;	/* by source: where its parts begin there; one more */
	struct clocks_sample *samples;
	size_t count;
	uint64_t from;		/* ns of its own clock, and ahead of it, of the first sample */
	int64_t ahead;
};

/* Its ranks end together, and that is not what they were joined by: not so where one rank alone has, or gets, the data. */
static bool clocks_together(const struct ct_collectives *c, const struct ct_operation *o)
{
	return !o->pair && o->complete && o->measured && !o->mismatched && c->parts[o->first].root < 0 &&
	       !c->communicators[o->communicator].made_before;
}

/* When a kernel ended on the clock of its host.  The guess has no drift: so this is exact. */
static uint64_t clocks_own(const struct clocks *f, const struct ct_part *p)
{
	return p->gpu_end - (uint64_t)f->guess[ct_collectives_source(f->collectives, p->pid)].offset;
}

/* The mean of moments that lie near each other. */
struct clocks_mean {
	uint64_t first, sum, n;
};

static void clocks_add(struct clocks_mean *m, uint64_t ns)
{
	m->first = m->n++ ? m->first : ns;
	m->sum += ns - m->first;
}

static uint64_t clocks_mean(const struct clocks_mean *m)
{
	return m->n ? m->first + (uint64_t)((int64_t)m->sum / (int64_t)m->n) : 0;
}

/* When each operation ended, by the clocks that are known now. */
static void clocks_ends(struct clocks *f)
{
	const struct ct_collectives *c = f->collectives;

	for (size_t i = 0; i < c->operations_count; i++) {
		const struct ct_operation *o = &c->operations[i];
		struct clocks_mean mean = { 0 };

		f->ends[i] = 0;
		f->moves[i] = UINT64_MAX;
		for (uint32_t k = 0; k < o->count && clocks_together(c, o); k++) {
			const struct ct_part *p = &c->parts[o->first + k];
			uint32_t source = ct_collectives_source(c, p->pid);
			uint64_t ns = p->gpu_end - p->gpu_begin;

			f->moves[i] = ns < f->moves[i] ? ns : f->moves[i];
			if (f->known[source])
				clocks_add(&mean, ct_source_time(&f->sources[source], clocks_own(f, p)));
		}
		f->ends[i] = clocks_mean(&mean);
	}
}

static void clocks_sample(struct clocks *f, size_t operation, uint64_t own)
{
	int64_t ahead = (int64_t)(f->ends[operation] - own);

	if (!f->ends[operation] || f->count == SAMPLES_MAX)
		return;
	if (!f->count) {
		f->from = own;
		f->ahead = ahead;
	}
	f->samples[f->count++] = (struct clocks_sample){
		(double)(int64_t)(own - f->from), (double)(ahead - f->ahead), f->moves[operation],
	};
}

/* The operations of a host, each with its end there: the mean of its ranks'. */
static void clocks_samples(struct clocks *f, unsigned int source)
{
	const struct ct_collectives *c = f->collectives;
	uint32_t i = f->first[source], end = f->first[source + 1];

	f->count = 0;
	while (i < end) {
		uint32_t operation = c->parts[f->parts[i]].operation;
		struct clocks_mean mean = { 0 };

		for (; i < end && c->parts[f->parts[i]].operation == operation; i++)
			clocks_add(&mean, clocks_own(f, &c->parts[f->parts[i]]));
		clocks_sample(f, operation, clocks_mean(&mean));
	}
}

static int clocks_by_time(const void *a, const void *b)
{
	const struct clocks_sample *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int clocks_by_moves(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The rank that came last ends later by up to a tenth of the time that moving the data takes (seen on H200: 13 us of
 * 130 us, 1 us of 75 us): only the shortest operations of each part of the time count.
 */
static void clocks_choose(struct clocks *f, uint64_t *work)
{
	size_t slice = f->count / SLICES > SLICE_LEAST ? f->count / SLICES : SLICE_LEAST, kept = 0;

	qsort(f->samples, f->count, sizeof(*f->samples), clocks_by_time);
	for (size_t at = 0; at < f->count; at += slice) {
		size_t n = f->count - at < slice ? f->count - at : slice;
		uint64_t most;

		for (size_t i = 0; i < n; i++)
			work[i] = f->samples[at + i].moves;
		qsort(work, n, sizeof(*work), clocks_by_moves);
		most = work[f->count < 4 * CT_CLOCKS_LEAST ? n - 1 : n / 4];
		for (size_t i = 0; i < n; i++)
			if (f->samples[at + i].moves <= most)
				f->samples[kept++] = f->samples[at + i];
	}
	f->count = kept;
}

static double clocks_residual(const struct clocks_sample *s, double offset, double slope)
{
	return s->ahead - offset - slope * s->at;
}

/* The median of the slopes between points that stand well apart: half of the points may be wrong. */
static double clocks_slope(const struct clocks *f, double *work)
{
	size_t step = f->count / SLOPE_POINTS + 1, n = 0;
	double least = 0, slope;

	for (size_t i = 0; i < f->count; i++)
		least = f->samples[i].at > least ? f->samples[i].at : least;
	least /= 4;
	for (size_t i = 0; i < f->count; i += step)
		for (size_t k = i + step; k < f->count; k += step) {
			double apart = fabs(f->samples[k].at - f->samples[i].at);

			if (apart > 0 && apart >= least)
				work[n++] = (f->samples[k].ahead - f->samples[i].ahead) /
					    (f->samples[k].at - f->samples[i].at);
		}
	slope = n ? ct_median_double(work, n) : 0;
	return fabs(slope) > RATE_MOST ? 0 : slope;
}

static double clocks_deviation(const struct clocks *f, double *work, double offset, double slope)
{
	for (size_t i = 0; i < f->count; i++)
		work[i] = fabs(clocks_residual(&f->samples[i], offset, slope));
	return ct_median_double(work, f->count);
}

static int clocks_by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Least squares over those that are no outliers.  Return: how many these are. */
static size_t clocks_refine(const struct clocks *f, double most, double *offset, double *slope)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, spread;

	for (size_t i = 0; i < f->count; i++) {
		const struct clocks_sample *s = &f->samples[i];

		if (fabs(clocks_residual(s, *offset, *slope)) > most)
			continue;
		n++;
		x += s->at;
		y += s->ahead;
		xx += s->at * s->at;
		xy += s->at * s->ahead;
	}
	spread = n * xx - x * x;
	if (n < CT_CLOCKS_LEAST || spread <= 0)
		return n;
	*slope = (n * xy - x * y) / spread;
	*offset = (y - *slope * x) / n;
	return n;
}

static void clocks_fit(struct clocks *f, unsigned int source, double *work)
{
	struct ct_source *s = &f->sources[source];
	double slope = clocks_slope(f, work), offset, most = 0, worst;
	size_t n = f->count, kept = 0;

	for (size_t i = 0; i < f->count; i++)
		work[i] = clocks_residual(&f->samples[i], 0, slope);
	offset = ct_median_double(work, f->count);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* A deviation of 0 would leave out all that is not exact. */
		most = OUTLIER * (clocks_deviation(f, work, offset, slope) + 1);
		n = clocks_refine(f, most, &offset, &slope);
	}
	for (size_t i = 0; i < f->count; i++) {
		double residual = fabs(clocks_residual(&f->samples[i], offset, slope));

		if (residual <= most)
			work[kept++] = residual;
	}
	qsort(work, kept, sizeof(*work), clocks_by_number);
	worst = kept ? work[kept - 1 - kept / 20] : 0;	/* 95 of 100 are nearer */
	s->clock = (struct ct_source_clock){
		.from = f->from, .offset = f->ahead + (int64_t)llround(offset), .rate = llround(slope * CT_SOURCE_RATE),
		.uncertainty = (uint64_t)ceil(worst) + 1, .fitted = n, .outliers = f->count - n,
	};
	f->known[source] = true;
}

/* Fits those that have collectives with known ones.  0: there are none; 1: some were fitted; -ENOMEM. */
static int clocks_round(struct clocks *f)
{
	double *work = malloc((SAMPLES_MAX + SLOPE_POINTS * (SLOPE_POINTS + 2ul)) * sizeof(*work));
	int fitted = 0;

	if (!work)
		return -ENOMEM;
	clocks_ends(f);
	for (unsigned int i = 1; i < f->sources_count; i++) {
		if (f->known[i])
			continue;
		clocks_samples(f, i);
		if (f->count < CT_CLOCKS_LEAST)
			continue;
		clocks_choose(f, (uint64_t *)work);
		clocks_fit(f, i, work);
		fitted = 1;
	}
	free(work);
	return fitted;
}

/* The parts of each source, in the order of operations. */
static void clocks_sort(struct clocks *f)
{
	const struct ct_collectives *c = f->collectives;
	uint32_t at = 0;

	for (size_t i = 0; i < c->parts_count; i++)
		f->first[ct_collectives_source(c, c->parts[i].pid)]++;
	for (unsigned int i = 0; i <= f->sources_count; i++) {
		uint32_t n = f->first[i];

		f->first[i] = at;
		at += n;
	}
	for (size_t i = 0; i < c->parts_count; i++)
		f->parts[f->first[ct_collectives_source(c, c->parts[i].pid)]++] = i;
	/* Each has moved to where the next one begins. */
	memmove(f->first + 1, f->first, f->sources_count * sizeof(*f->first));
	f->first[0] = 0;
}

int ct_clocks_fit_to(struct ct_source *sources, unsigned int count, const struct ct_collectives *c)
{
	struct clocks f = {
		.sources = sources, .sources_count = count, .collectives = c,
		.guess = calloc(count, sizeof(*f.guess)), .known = calloc(count, sizeof(*f.known)),
		.ends = malloc((c->operations_count + 1) * sizeof(*f.ends)),
		.moves = malloc((c->operations_count + 1) * sizeof(*f.moves)),
		.parts = malloc((c->parts_count + 1) * sizeof(*f.parts)), .first = calloc(count + 1ul, sizeof(*f.first)),
		.samples = malloc(SAMPLES_MAX * sizeof(*f.samples)),
	};
	int rc = f.guess && f.known && f.ends && f.moves && f.parts && f.first && f.samples ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < count && !rc; i++) {
		f.guess[i] = sources[i].clock;
		f.known[i] = f.guess[i].same;
	}
	if (!rc) {
		clocks_sort(&f);
		/* Each round reaches hosts that share a communicator with those of the last one. */
		do
			rc = clocks_round(&f);
		while (rc > 0);
	}
	free(f.guess);
	free(f.known);
	free(f.ends);
	free(f.moves);
	free(f.parts);
	free(f.first);
	free(f.samples);
	return rc;
}

int ct_clocks_fit(struct ct_trace *t)
{
	struct ct_collectives c = { 0 };
	bool needed = false;
	int rc;

	for (unsigned int i = 0; i < t->sources_count; i++)
		needed |= !t->sources[i].clock.same;
	if (!needed || !t->has_gpu || !ct_collectives_there(&t->reg))
		return 0;
	rc = ct_collectives_find(&c, t);
	if (!rc)
		rc = ct_clocks_fit_to(t->sources, t->sources_count, &c);
	ct_collectives_free(&c);
	if (!rc)
		ct_trace_reclock(t);
	return rc;
}

const char *ct_clocks_text(const struct ct_source *s, char *buf, size_t size)
{
	const struct ct_source_clock *c = &s->clock;
	char exact[CT_TERM_TEXT], behind[CT_TERM_TEXT];
	double ppm = 1e6 * (double)c->rate / CT_SOURCE_RATE;

	if (c->same)
		snprintf(buf, size, "%s: its clock is the one that times are shown by", s->label);
	else if (!c->fitted)
		snprintf(buf, size, "%s: clock guessed by CLOCK_REALTIME: there are no %u collectives with the GPU's work "
			 "recorded that would say more. Times of its ranks are not compared with other hosts'",
			 s->label, CT_CLOCKS_LEAST);
	else
		snprintf(buf, size, "%s: clock fitted to the ends of %u collectives (%u left out), exact to %s: offset %s%s, drift "
			 "%.2f ppm", s->label, c->fitted, c->outliers, ct_term_ns(exact, c->uncertainty),
			 c->offset < 0 ? "-" : "", ct_term_ns(behind, c->offset < 0 ? -c->offset : c->offset), -ppm);
	return buf;
}
