// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The times of CUPTI's records on the trace's clock.
 *
 * Where CUPTI takes a clock of its user (cuptiActivityRegisterTimestampCallback), it gets the
 * trace's.  Whether it uses it is seen at once: cuptiGetTimestamp() answers by it, too.  Else
 * times are converted by pairs: CUPTI's clock between two readings of ours, the narrowest of
 * many, taken again with each batch of records, and interpolated.
 */
#include <time.h>

#include "plugins/gpu/clock.h"
#include "plugins/gpu/streams.h"

#define TRIES	32
#define APART	1000000000ull	/* ns: the two pairs of a line are at least so far apart */

struct pair {
	u64 cupti, ours;	/* ns, of one moment */
	u64 width;		/* ns between the two readings */
};

static bool by_callback, registered;
static struct pair before, since, last;	/* times lie on the line from before to last */
static u64 said;			/* uncertainty, ns */

static u64 clock_callback(void)
{
	return host->clock();
}

/* What CUPTI reads if nobody has registered anything. */
static u64 clock_of_cupti(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

static bool clock_pair(struct pair *best)
{
	best->width = ~0ull;
	for (int i = 0; i < TRIES; i++) {
		u64 first = host->clock(), theirs = 0, width;

		if (cupti.GetTimestamp(&theirs) != CUPTI_OK || !theirs)
			return false;
		width = host->clock() - first;
		if (width < best->width)
			*best = (struct pair){ theirs, first + width / 2, width };
	}
	return true;
}

/* Not each time: only where it is worse than was said, or much better. */
static void clock_say(u64 uncertainty)
{
	if (uncertainty <= said && uncertainty > said / 4)
		return;
	said = uncertainty;
	streams_clock(said, CT_GPU_CLOCK_PAIRS);
}

void clock_start(void)
{
	/* The first readings load code. */
	if (!clock_pair(&last))
		last = (struct pair){ 0 };
	if (cupti.ActivityRegisterTimestampCallback &&
	    cupti.ActivityRegisterTimestampCallback(clock_callback) == CUPTI_OK) {
		struct pair p;

		registered = true;
		by_callback = clock_pair(&p) && p.cupti + p.width >= p.ours && p.cupti <= p.ours + p.width;
		if (by_callback) {
			streams_clock(p.width, CT_GPU_CLOCK_CALLBACK);
			return;
		}
		/* Its records must not have another clock than the pairs. */
		clock_give_back();
	}
	if (!clock_pair(&last))
		last = (struct pair){ .width = ~0ull };
	before = since = last;
	clock_say(last.width);
}

void clock_update(void)
{
	struct pair now;
	s64 drift;

	if (by_callback || !clock_pair(&now))
		return;
	/* How far the two went apart since the last pair is how wrong a time between may be. */
	drift = (s64)((now.cupti - last.cupti) - (now.ours - last.ours));
	if (now.ours - since.ours > APART) {
		before = since;
		since = now;
	}
	last = now;
	clock_say(last.width + (u64)(drift < 0 ? -drift : drift));
}

u64 clock_ns(u64 t)
{
	s64 passed = (s64)(t - before.cupti), between = (s64)(last.cupti - before.cupti);
	s64 change = (s64)((last.ours - last.cupti) - (before.ours - before.cupti));
	u64 from = before.ours - before.cupti;

	if (by_callback || !t)
		return t;
	if (between > 0)
		from += (u64)(s64)((double)change * (double)passed / (double)between);
	return t + from;
}

void clock_give_back(void)
{
	if (registered)
		cupti.ActivityRegisterTimestampCallback(clock_of_cupti);
	registered = false;
}

void clock_forget(void)
{
	by_callback = registered = false;
	before = since = last = (struct pair){ 0 };
	said = 0;
}
