// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the phases of all processes.  A pid may be used again, and exec gives a process
 * another image: each is a process of its own here.
 */
#include "phases/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "phases/iterations.h"
#include "phases/stages.h"

/* A process or image, while the list is made. */
struct find_image {
	uint32_t pid, generation, parent;	/* parent: its pid */
	uint64_t from, to;		/* records between them are its own */
	uint64_t first, last;		/* where it was seen */
	bool command;			/* it is the command that was recorded */
};

struct find_images {
	struct find_image *list;
	uint32_t count;
};

static int find_birth_order(const void *a, const void *b)
{
	const struct ct_phase_birth *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->own != y->own)
		return x->own ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int find_span_order(const void *a, const void *b)
{
	const struct ct_phase_span *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int find_pid_order(const void *a, const void *b)
{
	const struct find_image *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int find_begin_order(const void *a, const void *b)
{
	const struct ct_process_phases *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->generation < y->generation ? -1 : 1;
}

/* The next image of a pid, since @at; @first: there is none before.  */
static void find_add_image(struct find_images *images, const struct ct_phase_birth *birth, uint64_t at, bool first)
{
	struct find_image *image = &images->list[images->count];

	if (!first && at <= image[-1].from)
		return;
	*image = (struct find_image){
		.pid = birth->pid, .to = UINT64_MAX, .first = UINT64_MAX,
		.generation = first ? 0 : image[-1].generation + 1, .from = first ? 0 : at,
		.command = first && birth->command, .parent = first ? birth->parent : 0,
	};
	if (!first)
		image[-1].to = at;
	images->count++;
}

/*
 * When the image of a record began that was written as its packet was dropped, which may be long after: at least before each stream
 * of a thread that goes on then.
 */
static uint64_t find_began(const struct ct_phase_records *h, const struct ct_phase_birth *birth)
{
	uint32_t low = 0, high = h->spans_count;

	/* They are sorted by pid and begin: a trace may have as many processes as streams. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (h->spans[middle].pid < birth->pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i < h->spans_count && h->spans[i].pid == birth->pid && h->spans[i].first < birth->at; i++)
		if (h->spans[i].thread && h->spans[i].last >= birth->at)
			return h->spans[i].first;
	return birth->at;
}

/* Is the same said by one of the process's own, or by one of @list before the @i-th? */
static bool find_said(const struct ct_phase_birth *list, uint32_t count, uint32_t i)
{
	for (uint32_t k = 0; k < count; k++)
		if ((list[k].own || (list[k].dropped && k < i)) && list[k].text == list[i].text)
			return true;
	return false;
}

/*
 * The births of one pid, @count of them: a process writes its record once, so each of its own
 * is another image; so is each that the recorder has dropped, which are the oldest.  The module repeats its records: there another
 * command or parent is one.
 */
static void find_births(struct find_images *images, const struct ct_phase_records *h, const struct ct_phase_birth *birth, uint32_t count)
{
	uint32_t before = images->count;
	bool own = birth->own;

	for (uint32_t i = 0; i < count; i++)
		if (birth[i].dropped && !find_said(birth, count, i))
			find_add_image(images, &birth[i], find_began(h, &birth[i]), images->count == before);
	for (uint32_t i = 0; i < count; i++)
		if (own ? birth[i].own : !birth[i].dropped && (!i || birth[i].text != birth[i - 1].text))
			find_add_image(images, &birth[i], birth[i].at, images->count == before);
}

/* The image of @pid at @at: the last one that begins before, else the first. */
static struct find_image *find_image(const struct find_images *images, uint32_t pid,
					 uint64_t at)
{
	uint32_t low = 0, high = images->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct find_image *image = &images->list[middle];

		if (image->pid < pid || (image->pid == pid && image->from <= at))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || images->list[low - 1].pid != pid)
		return NULL;
	return &images->list[low - 1];
}

/* Has another one with the command's line forked it?  A child may call CUDA before its parent does. */
static bool find_forked(const struct find_images *images, const struct find_image *image)
{
	const struct find_image *parent = find_image(images, image->parent, 0);

	return parent && parent != image && parent->command;
}

/*
 * The command that was recorded began when the trace did; its first record comes with its first
 * call.  Where several processes have its command line, that is the first of them that none of the others has forked.
 */
static void find_command(struct find_images *images)
{
	struct find_image *command = NULL;

	for (uint32_t i = 0; i < images->count; i++) {
		struct find_image *image = &images->list[i];

		if (image->command && image->first != UINT64_MAX && !find_forked(images, image) &&
		    (!command || image->first < command->first))
			command = image;
	}
	if (command && !command->from)
		command->first = 0;
}

/* A program that the recorded one starts (a rank of torchrun) began before its first call, too: its samples say so. */
static void find_sampled(struct find_images *images, const struct ct_phase_records *h)
{
	for (size_t i = 0; i < h->sampled.count; i++) {
		const struct ct_phase_sampled *s = &h->sampled.list[i];
		struct find_image *image = find_image(images, s->pid, s->first);

		if (image && image->first != UINT64_MAX && s->first >= image->from && s->first < image->first)
			image->first = s->first;
	}
}

static int find_make_images(struct find_images *images, struct ct_phase_records *h)
{
	uint32_t next;

	images->list = calloc(h->births_count + h->spans_count + 1ul, sizeof(*images->list));
	if (!images->list)
		return -ENOMEM;
	if (h->births_count)
		qsort(h->births, h->births_count, sizeof(*h->births), find_birth_order);
	if (h->spans_count)
		qsort(h->spans, h->spans_count, sizeof(*h->spans), find_span_order);
	for (uint32_t i = 0; i < h->births_count; i = next) {
		next = i + 1;
		while (next < h->births_count && h->births[next].pid == h->births[i].pid)
			next++;
		find_births(images, h, &h->births[i], next - i);
	}
	next = images->count;
	for (uint32_t i = 0; i < h->spans_count; i++) {
		struct find_images born = { images->list, next };
		uint32_t pid = h->spans[i].pid;

		if (find_image(&born, pid, UINT64_MAX) || (i && h->spans[i - 1].pid == pid))
			continue;
		images->list[images->count++] = (struct find_image){
			.pid = pid, .to = UINT64_MAX, .first = UINT64_MAX,
		};
	}
	if (images->count)
		qsort(images->list, images->count, sizeof(*images->list), find_pid_order);
	for (uint32_t i = 0; i < h->spans_count; i++) {
		const struct ct_phase_span *s = &h->spans[i];
		struct find_image *image = find_image(images, s->pid, s->first);
		struct find_image *end = images->list + images->count;

		for (; image && image < end && image->pid == s->pid && image->from <= s->last;
		     image++) {
			uint64_t first = s->first > image->from ? s->first : image->from;
			uint64_t last = s->last < image->to ? s->last : image->to;

			image->first = first < image->first ? first : image->first;
			image->last = last > image->last ? last : image->last;
		}
	}
	find_command(images);
	find_sampled(images, h);
	return 0;
}

/* Merges the sorted lists @a and @b into @to. */
static void find_merge(uint64_t *to, const uint64_t *a, uint32_t a_count, const uint64_t *b,
		       uint32_t b_count)
{
	while (a_count && b_count)
		if (*a <= *b) {
			*to++ = *a++;
			a_count--;
		} else {
			*to++ = *b++;
			b_count--;
		}
	memcpy(to, a, a_count * sizeof(*to));
	memcpy(to + a_count, b, b_count * sizeof(*to));
}

/* The launches of all threads: each thread's are sorted, two lists at a time are merged. */
static int find_launches(struct ct_phase_work *w)
{
	uint32_t *end = calloc(w->slices_count + 1ul, sizeof(*end)), all = 0, runs = 0;
	uint64_t *list, *other;

	for (unsigned int i = 0; i < w->slices_count; i++)
		all += w->slices[i].launches;
	list = calloc(all + 1ul, sizeof(*list));
	other = calloc(all + 1ul, sizeof(*other));
	w->launches = list;
	if (!end || !list || !other) {
		free(end);
		free(other);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < w->slices_count; i++) {
		for (uint32_t k = 0; k < w->slices[i].count; k++)
			if (ct_phase_record_launch(&w->slices[i].list[k]))
				list[w->launches_count++] = w->slices[i].list[k].at;
		if (w->slices[i].launches)
			end[runs++] = w->launches_count;
	}
	while (runs > 1) {
		uint32_t merged = 0, from = 0;

		for (uint32_t i = 0; i < runs; i += 2) {
			uint32_t last = i + 1 < runs ? end[i + 1] : end[i];

			find_merge(other + from, list + from, end[i] - from, list + end[i],
				   last - end[i]);
			from = end[merged++] = last;
		}
		runs = merged;
		w->launches = other;
		other = list;
		list = w->launches;
	}
	free(end);
	free(other);
	return 0;
}

/* What was not kept of a thread while process @w lived.  Its streams may have been kept to different moments: until when everything is there. */
static struct ct_phase_more find_more(const struct ct_phase_work *w, const struct ct_phase_thread *t)
{
	struct ct_phase_more all = { .from = UINT64_MAX };

	for (uint32_t i = 0; i < t->more_count; i++) {
		const struct ct_phase_more *more = &t->more[i];

		if (more->to < w->from || more->from >= w->to)
			continue;
		all.from = more->from < all.from ? more->from : all.from;
		all.last_end = more->last_end > all.last_end ? more->last_end : all.last_end;
		all.launches += more->launches;
		all.works += more->works;
	}
	return all;
}

/* What the threads of process @w did while it lived.  @threads: those of its pid */
static int find_slices(struct ct_phase_work *w, const struct ct_phase_records *h,
			 const uint32_t *threads, uint32_t count)
{
	uint64_t last_use = 0;

	w->slices = calloc(count + 1ul, sizeof(*w->slices));
	if (!w->slices)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct ct_phase_thread *t = &h->threads[threads[i]];
		struct ct_thread_events *s = &w->slices[w->slices_count];
		struct ct_phase_more more = find_more(w, t);
		uint32_t from = ct_phase_records_find(t, w->from), to = ct_phase_records_find(t, more.from < w->to ? more.from : w->to);
		bool partial = more.from < UINT64_MAX;

		to = to > from ? to : from;
		if (to == from && !partial)
			continue;
		*s = (struct ct_thread_events){ .thread = t, .list = t->list + from, .count = to - from };
		for (uint32_t k = 0; k < s->count; k++) {
			const struct ct_phase_record *e = &s->list[k];

			w->process->calls |= e->kind < CT_PHASE_PUSH;
			if (e->kind >= CT_PHASE_CONTEXT && e->kind <= CT_PHASE_ALLOC && ct_phase_record_end(e) > last_use)
				last_use = ct_phase_record_end(e);
			if (ct_phase_record_launch(e)) {
				s->launches++;
				w->weight += ct_launch_weight(e);
			}
			s->works += ct_phase_record_work(e);
			if ((ct_phase_record_work(e) || ct_phase_record_wait(e)) &&
			    ct_phase_record_end(e) > w->last_end)
				w->last_end = ct_phase_record_end(e);
		}
		w->last_end = more.last_end > w->last_end ? more.last_end : w->last_end;
		if (w->to == UINT64_MAX && t->last_use > last_use)
			last_use = t->last_use;
		s->works_more = more.works;
		w->weight += more.launches;
		w->partial |= partial;
		w->launches_more += more.launches;
		w->works += s->works + more.works;
		w->kept_until = more.from < w->kept_until ? more.from : w->kept_until;
		w->slices_count++;
	}
	w->last_end = w->last_end ? : last_use;
	return find_launches(w);
}

/* The threads that give the GPU work. */
static int find_launching(const struct ct_phase_work *w)
{
	struct ct_process_phases *p = w->process;

	p->launching = calloc(w->slices_count + 1ul, sizeof(*p->launching));
	if (!p->launching)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->slices_count; i++)
		if (w->slices[i].works || w->slices[i].works_more)
			p->launching[p->launching_count++] = w->slices[i].thread->tid;
	if (!p->launching_count && p->iterations_count)
		p->launching[p->launching_count++] = p->tid;
	return 0;
}

/* Times as records have them. */
static void find_absolute(struct ct_process_phases *p, uint64_t base)
{
	p->begin += base;
	p->end += base;
	for (unsigned int i = 0; i < p->stages_count; i++) {
		p->stages[i].begin += base;
		p->stages[i].end += base;
	}
	for (uint32_t i = 0; i < p->iterations_count; i++) {
		p->iterations[i].begin += base;
		p->iterations[i].end += base;
	}
	for (uint32_t i = 0; i < p->makings_count; i++) {
		p->makings[i].begin += base;
		p->makings[i].end += base;
	}
}

static int find_process(struct ct_process_phases *p, const struct find_image *image,
			  const struct ct_phase_records *h, const uint32_t *threads, uint32_t count,
			  uint64_t *weight, uint64_t *works)
{
	struct ct_phase_work w = {
		.records = h, .process = p, .from = image->from, .to = image->to,
		.kept_until = UINT64_MAX,
	};
	const struct ct_phase_gpu *gpu = ct_keyed_get(&h->gpu, image->pid);
	int rc;

	/* Where a pid is used again it is not asked whose the work was. */
	if (gpu && !image->from && image->to == UINT64_MAX) {
		w.gpu_first = gpu->first;
		w.gpu_last = gpu->last;
	}
	p->pid = image->pid;
	p->generation = image->generation;
	p->begin = image->first < image->last ? image->first : image->last;
	p->end = image->last;
	rc = find_slices(&w, h, threads, count);
	if (!rc)
		rc = ct_iterations_find(&w);
	if (!rc)
		rc = ct_stages_find(&w);
	if (!rc)
		rc = find_launching(&w);
	find_absolute(p, h->trace->reg.start);
	p->works = w.works || w.gpu_last;
	*weight = w.weight;
	*works = w.works;
	free(w.slices);
	free(w.launches);
	return rc;
}

struct find_thread_of {
	uint32_t pid, index;
};

static int find_thread_order(const void *a, const void *b)
{
	const struct find_thread_of *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static int find_fill(struct ct_phases *phases, const struct find_images *images,
		       const struct ct_phase_records *h)
{
	struct find_thread_of *of = calloc(h->threads_count + 1ul, sizeof(*of));
	uint32_t *threads = calloc(h->threads_count + 1ul, sizeof(*threads));
	uint64_t weight, works, most = 0, most_works = 0, main_begin = 0;
	uint32_t main_pid = 0, k = 0, first;
	int rc = of && threads ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < h->threads_count && !rc; i++)
		of[i] = (struct find_thread_of){ h->threads[i].pid, i };
	if (h->threads_count && !rc)
		qsort(of, h->threads_count, sizeof(*of), find_thread_order);
	for (uint32_t i = 0; i < h->threads_count && !rc; i++)
		threads[i] = of[i].index;
	for (uint32_t i = 0; i < images->count && !rc; i++) {
		const struct find_image *image = &images->list[i];
		struct ct_process_phases *p = &phases->processes[phases->processes_count];

		if (image->first == UINT64_MAX)
			continue;	/* nothing of it but its name */
		while (k < h->threads_count && of[k].pid < image->pid)
			k++;
		for (first = k; first < h->threads_count && of[first].pid == image->pid; )
			first++;
		phases->processes_count++;
		rc = find_process(p, image, h, threads + k, first - k, &weight, &works);
		if (weight > most || (weight == most && works > most_works)) {
			most = weight;
			most_works = works;
			main_pid = p->pid;
			main_begin = p->begin;
		}
	}
	free(of);
	free(threads);
	if (rc || !phases->processes_count)
		return rc;
	qsort(phases->processes, phases->processes_count, sizeof(*phases->processes),
	      find_begin_order);
	for (unsigned int i = 0; i < phases->processes_count && most_works; i++)
		if (phases->processes[i].pid == main_pid &&
		    phases->processes[i].begin == main_begin)
			phases->main = i;
	return 0;
}

int ct_phases_find(struct ct_phases *phases, const struct ct_trace *t)
{
	return ct_phases_find_bounded(phases, t, 0);
}

int ct_phases_find_bounded(struct ct_phases *phases, const struct ct_trace *t, uint64_t max)
{
	struct ct_phase_records h = { .max = max };
	struct find_images images = { 0 };
	int rc;

	*phases = (struct ct_phases){ .main = -1 };
	rc = ct_phase_records_collect(&h, t);
	if (!rc)
		rc = find_make_images(&images, &h);
	if (!rc) {
		phases->processes = calloc(images.count + 1ul, sizeof(*phases->processes));
		rc = phases->processes ? find_fill(phases, &images, &h) : -ENOMEM;
	}
	if (!rc)
		rc = ct_phases_index(phases);
	free(images.list);
	ct_phase_records_free(&h);
	return rc;
}
