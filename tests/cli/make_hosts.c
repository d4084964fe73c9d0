// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes traces of jobs from a real recording, by shifting and copying its records: what is known of them is
 * exact, and they are said to be made.
 *
 *	make_hosts DIR OUT [WHAT=VALUE...]
 *
 *	pids=A,B	these processes alone (all)
 *	host=NAME	the host's name
 *	ahead=NS	its clock is ahead by so much when the trace begins, and
 *	ppm=X		runs so much too fast
 *	wall=NS		its CLOCK_REALTIME is wrong by so much
 *	slow=PID:X	kernels of this process but libnccl's take X times as long; the other ranks wait for it
 *	late=PID:NS	this process comes later to each collective by so much; the other ranks wait for it.  Less
 *			than 0: it comes earlier, as far as it was late
 *	repeat=N	all of it N times, one after the other
 *
 *	make_hosts fit A B ahead=NS ppm=X
 *
 * B was made of A's recording with this clock: prints by how many ns the fitted clock is wrong at most while there
 * are collectives, how many it says itself, and by how many it is wrong at most in the whole trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ranks/clocks.h"
#include "ranks/collectives.h"
#include "spans/spans.h"
#include "trace/reader.h"

/* A process's time as it is made: from x on, y. */
struct knot {
	double x, y;
};

struct process {
	uint32_t pid;
	struct knot *knots;
	size_t count, room;
};

struct count {
	uint64_t key;
	uint32_t last;
};

struct job {
	struct ct_trace trace;
	struct ct_collectives collectives;
	const char *pids, *host;
	double ahead, ppm, wall, slow, late;
	uint32_t slow_pid, late_pid;
	unsigned int repeat, copy;	/* so often; which of them is written */
	CT_KEYED(struct count) numbers, correlations;	/* the last ones, by communicator, by process */
	struct process processes[64];
	unsigned int processes_count;
	/* Kernels of the slow process. */
	struct knot *kernels;
	size_t kernels_count, kernels_room;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "make_hosts: %s: %s\n", what, why);
	exit(2);
}

static void knot(struct knot **list, size_t *count, size_t *room, double x, double y)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 1024;
		*list = realloc(*list, *room * sizeof(**list));
		if (!*list)
			die("memory", strerror(errno));
	}
	(*list)[(*count)++] = (struct knot){ x, y };
}

static struct process *process_of(struct job *j, uint32_t pid)
{
	for (unsigned int i = 0; i < j->processes_count; i++)
		if (j->processes[i].pid == pid)
			return &j->processes[i];
	if (j->processes_count == 64)
		die("processes", "too many");
	j->processes[j->processes_count].pid = pid;
	return &j->processes[j->processes_count++];
}

/* The time of a process as it is made, and then on its host's clock; ns since the trace's begin are exact. */
static uint64_t job_time(struct job *j, uint32_t pid, uint64_t ns)
{
	double t = (double)(int64_t)(ns - j->trace.reg.start);
	const struct process *p = NULL;

	for (unsigned int i = 0; i < j->processes_count; i++)
		if (j->processes[i].pid == pid)
			p = &j->processes[i];
	if (p && p->count) {
		size_t low = 0, high = p->count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (p->knots[middle].x <= t)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == p->count)
			t += p->knots[low - 1].y - p->knots[low - 1].x;
		else if (low) {
			const struct knot *a = &p->knots[low - 1], *b = &p->knots[low];

			t = b->x > a->x ? a->y + (t - a->x) * (b->y - a->y) / (b->x - a->x) : b->y;
		}
	}
	t += (double)j->copy * (j->trace.end - j->trace.reg.start + 1000000);
	return j->trace.reg.start + (uint64_t)(int64_t)llround(t + j->ahead + t * j->ppm / 1e6);
}

/* ------------------------------------------------------- delays ---------- */

static int kernel_span(void *arg, const struct ct_span *s, unsigned int orders)
{
	struct job *j = arg;
	const char *name = ct_registry_string(&j->trace.reg, ct_record_known(s->record, CT_KNOWN_KERNEL));

	(void)orders;
	if (s->pid == j->slow_pid && !(name && strstr(name, "nccl")))
		knot(&j->kernels, &j->kernels_count, &j->kernels_room, (double)(s->begin - j->trace.reg.start),
		     (double)(s->end - j->trace.reg.start));
	return 0;
}

static unsigned int kernel_wants(void *arg, const struct ct_class *class)
{
	(void)arg;
	return ct_class_is(class, CT_IS_GPU_KERNEL) ? CT_WANTS_SPANS : 0;
}

static int by_x(const void *a, const void *b)
{
	const struct knot *x = a, *y = b;

	return x->x < y->x ? -1 : x->x > y->x;
}

static int by_end(const void *a, const void *b, void *arg)
{
	const struct ct_collectives *c = arg;
	const struct ct_operation *x = &c->operations[*(const size_t *)a], *y = &c->operations[*(const size_t *)b];

	return x->gone < y->gone ? -1 : x->gone > y->gone;
}

/*
 * What a delay does to a job: the process that has it is later from then on, and the others from inside the
 * collective on in which they wait for it.  Each collective ends on all ranks at one moment, as before.
 */
static void job_delays(struct job *j)
{
	struct ct_collectives *c = &j->collectives;
	size_t *order = malloc((c->operations_count + 1) * sizeof(*order)), count = 0, kernel = 0;
	double shift = 0, begin, last = 0;

	for (size_t i = 0; i < c->operations_count; i++)
		if (c->operations[i].measured && c->operations[i].expected > 1)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), by_end, c);
	for (size_t i = 0; i < count; i++) {
		const struct ct_operation *o = &c->operations[order[i]];
		double add = 0, most = 0, own = 0, most_begin = 0;
		uint32_t culprit = j->slow ? j->slow_pid : j->late_pid;
		struct process *p = process_of(j, culprit);

		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];

			begin = (double)(part->gpu_begin - j->trace.reg.start);
			if (part->pid == culprit)
				own = begin;
			else
				most = part->waiting > most ? part->waiting : most;
			most_begin = begin > most_begin ? begin : most_begin;
		}
		if (!own || own <= last)
			continue;
		if (j->slow) {
			/* Each kernel by itself. */
			for (; kernel < j->kernels_count && j->kernels[kernel].y <= own; kernel++) {
				const struct knot *x = &j->kernels[kernel];
				double more = (x->y - x->x) * (j->slow - 1);

				if (x->x <= last || (p->count && x->x <= p->knots[p->count - 1].x))
					continue;
				knot(&p->knots, &p->count, &p->room, x->x, x->x + shift + add);
				add += more;
				knot(&p->knots, &p->count, &p->room, x->y, x->y + shift + add);
			}
		} else {
			/* It comes no earlier than the others make possible. */
			add = j->late < 0 && -j->late > most ? -most : j->late;
			if (add < 0 && -add > own - last)
				add = -(own - last) * 0.9;
			knot(&p->knots, &p->count, &p->room, last > own - 40e6 ? last : own - 40e6, (last > own - 40e6 ? last : own - 40e6) + shift);
			knot(&p->knots, &p->count, &p->room, own, own + shift + add);
		}
		for (uint32_t k = 0; k < o->count; k++) {
			const struct ct_part *part = &c->parts[o->first + k];
			struct process *other = process_of(j, part->pid);

			if (part->pid == culprit)
				continue;
			begin = (double)(part->gpu_begin - j->trace.reg.start);
			if (other->count && begin <= other->knots[other->count - 1].x)
				begin = other->knots[other->count - 1].x + 1;
			knot(&other->knots, &other->count, &other->room, begin, begin + shift);
			begin = (double)(part->until > part->gpu_begin ? part->until : part->gpu_begin + 1) - j->trace.reg.start;
			if (begin <= other->knots[other->count - 1].x)
				begin = other->knots[other->count - 1].x + 1;
			knot(&other->knots, &other->count, &other->room, begin, begin + shift + add);
		}
		shift += add;
		last = (double)(o->gone - j->trace.reg.start);
	}
	free(order);
}

/* ------------------------------------------------------- writing --------- */

static bool job_has(const struct job *j, uint32_t pid)
{
	char word[16];

	if (!j->pids || !pid)
		return true;
	snprintf(word, sizeof(word), "%u", pid);
	for (const char *p = j->pids; (p = strstr(p, word)); p++)
		if ((p == j->pids || p[-1] == ',') && (!p[strlen(word)] || p[strlen(word)] == ','))
			return true;
	return false;
}

/* Numbers that go on from copy to copy. */
static void job_numbers(const struct job *j, const struct ct_record *r, const uint8_t *from, uint8_t *copy)
{
	int field = r->class->known[CT_KNOWN_CORRELATION];
	const struct count *last = ct_keyed_get(&j->correlations, r->pid);
	uint32_t number;
	uint8_t *at;

	if (!j->copy || !r->fields)
		return;
	if (ct_class_is(r->class, CT_IS_COLLECTIVE) && !ct_class_is(r->class, CT_IS_SEND | CT_IS_RECEIVE)) {
		field = r->class->known[CT_KNOWN_NUMBER];
		last = ct_keyed_get(&j->numbers, ct_record_known(r, CT_KNOWN_COMMUNICATOR));
	}
	if (field < 0 || !last)
		return;
	at = copy + (r->fields - from) + r->class->fields[field].offset;
	memcpy(&number, at, sizeof(number));
	number += number ? j->copy * last->last : 0;
	memcpy(at, &number, sizeof(number));
}

/* The last numbers of the recording. */
static void job_last_numbers(struct job *j)
{
	struct ct_cursor cursor;
	struct ct_record r;

	for (size_t i = 0; i < j->collectives.parts_count; i++) {
		const struct ct_part *p = &j->collectives.parts[i];
		struct count *last = ct_keyed_put(&j->numbers, j->collectives.communicators[p->communicator].id);

		if (last && p->number > last->last)
			last->last = p->number;
	}
	for (unsigned int i = 0; i < j->trace.streams_count; i++) {
		ct_cursor_init(&cursor, &j->trace, i);
		while (ct_cursor_next(&cursor, &r) > 0) {
			struct count *last = r.fields && r.class->known[CT_KNOWN_CORRELATION] >= 0 ? ct_keyed_put(&j->correlations, r.pid) : NULL;

			if (last && ct_record_known(&r, CT_KNOWN_CORRELATION) > last->last)
				last->last = ct_record_known(&r, CT_KNOWN_CORRELATION);
		}
	}
}

static void job_packet(struct job *j, const struct ct_stream_file *s, uint32_t i, FILE *out)
{
	struct ct_packet_view p;
	struct ct_packet head;
	struct ct_record r;
	const char *why;
	uint8_t *copy;
	uint32_t size;

	ct_stream_packet(s, i, &p);
	copy = malloc(p.content);
	if (!copy)
		die("memory", strerror(errno));
	memcpy(copy, p.data, p.content);
	for (uint32_t at = CT_PACKET_HEAD; at < p.content; at += size) {
		uint64_t end, duration, word;

		size = ct_record_parse(&p, at, &j->trace.reg, &r, &why);
		if (!size)
			die(s->name, why);
		end = job_time(j, r.pid, r.end);
		duration = r.duration ? end - job_time(j, r.pid, ct_record_begin(&r)) : 0;
		word = CT_STAMP(end, r.class->id);
		memcpy(copy + at, &word, 8);
		if (ct_packet_short_head(&p)) {
			struct ct_thread_record t;

			memcpy(&t, copy + at, sizeof(t));
			t.duration = (t.duration & ~CT_TS_MASK) | (duration & CT_TS_MASK);
			memcpy(copy + at, &t, sizeof(t));
		} else {
			struct ct_cpu_record t;

			memcpy(&t, copy + at, sizeof(t));
			t.duration = (t.duration & ~CT_TS_MASK) | (duration & CT_TS_MASK);
			memcpy(copy + at, &t, sizeof(t));
		}
		job_numbers(j, &r, p.data, copy);
		if (r.class->id == CT_CLASS_call_open) {
			uint64_t begin = job_time(j, r.pid, ct_record_known(&r, CT_KNOWN_BEGIN));

			memcpy(copy + (r.fields - p.data), &begin, 8);
		}
	}
	memcpy(&head, copy, sizeof(head));
	head.ts_begin = job_time(j, p.pid, p.ts_begin);
	head.ts_end = job_time(j, p.pid, p.ts_end);
	head.seq += (uint64_t)j->copy * s->packets_count;
	head.op_base += (uint64_t)j->copy << 40;
	head.packet_size = head.content_size = p.content * 8ull;
	memcpy(copy, &head, sizeof(head));
	if (fwrite(copy, p.content, 1, out) != 1)
		die(s->name, strerror(errno));
	free(copy);
}

static FILE *job_file(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (!f)
		die(path, strerror(errno));
	return f;
}

static void job_streams(struct job *j, const char *out)
{
	for (unsigned int i = 0; i < j->trace.streams_count; i++) {
		const struct ct_stream_file *s = &j->trace.streams[i];
		FILE *f;

		if (!job_has(j, s->pid))
			continue;
		f = job_file(out, s->name);
		for (j->copy = 0; j->copy < (s->kind == CT_STREAM_THREAD || s->kind == CT_STREAM_GPU ? j->repeat : 1); j->copy++)
			for (uint32_t k = 0; k < s->packets_count; k++)
				job_packet(j, s, k, f);
		j->copy = 0;
		fclose(f);
	}
}

/* The registry, or where the trace is finished its copy in metadata. */
static void job_registry(struct job *j, const char *dir, const char *out)
{
	FILE *f = job_file(out, ".registry"), *from;
	char *line = NULL, path[4096];
	size_t size = 0, mark = 2;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	from = fopen(path, "re");
	if (!from) {
		mark = 0;
		snprintf(path, sizeof(path), "%s/.registry", dir);
		from = fopen(path, "re");
	}
	if (!from)
		die(path, strerror(errno));
	while (getline(&line, &size, from) > 0) {
		const char *text = line + mark, *start;

		if (strncmp(line, "@ ", mark))
			continue;
		start = strncmp(text, "cudatrace ", 10) ? NULL : strstr(text, "start=");
		if (start)
			fprintf(f, "%.*sstart=%llu realtime=%lld\n", (int)(start - text), text,
				(unsigned long long)job_time(j, 0, j->trace.reg.start),
				(long long)(j->trace.reg.realtime + (int64_t)j->wall));
		else if (j->host && !strncmp(text, "info hostname ", 14))
			fprintf(f, "info hostname %s\n", j->host);
		else
			fputs(text, f);
	}
	free(line);
	fclose(from);
	fclose(f);
}

static void job_option(struct job *j, char *word)
{
	char *value = strchr(word, '='), *colon = value ? strchr(value, ':') : NULL;

	if (!value)
		die(word, "WHAT=VALUE is wanted");
	*value++ = 0;
	if (!strcmp(word, "pids"))
		j->pids = value;
	else if (!strcmp(word, "host"))
		j->host = value;
	else if (!strcmp(word, "ahead"))
		j->ahead = atof(value);
	else if (!strcmp(word, "ppm"))
		j->ppm = atof(value);
	else if (!strcmp(word, "wall"))
		j->wall = atof(value);
	else if (!strcmp(word, "slow") && colon)
		j->slow_pid = atoi(value), j->slow = atof(colon + 1);
	else if (!strcmp(word, "late") && colon)
		j->late_pid = atoi(value), j->late = atof(colon + 1);
	else if (!strcmp(word, "repeat"))
		j->repeat = atoi(value);
	else
		die(word, "is no option");
}

static int job_fit(struct job *j, const char *a, const char *b)
{
	struct ct_trace of[2] = { 0 }, *t = &j->trace;
	const struct ct_source *s;
	struct ct_error err;
	double worst = 0, among = 0;
	uint64_t start, first = UINT64_MAX, last = 0;

	if (ct_trace_open(&of[0], a, &err) || ct_trace_open(&of[1], b, &err) ||
	    ct_trace_several(t, of, 2, "both", &err))
		die(b, err.text);
	if (ct_clocks_fit(t))
		die(b, "no memory");
	if (ct_collectives_find(&j->collectives, t))
		die(b, "no memory");
	for (size_t i = 0; i < j->collectives.operations_count; i++) {
		const struct ct_operation *o = &j->collectives.operations[i];

		first = o->measured && o->arrived < first ? o->arrived : first;
		last = o->measured && o->gone > last ? o->gone : last;
	}
	s = &t->sources[1];
	start = t->sources[0].start;
	for (uint64_t ns = start; ns < t->end; ns += 1000000) {
		double since = (double)(ns - start);
		uint64_t there = ns + (uint64_t)(int64_t)llround(j->ahead + since * j->ppm / 1e6);
		double error = fabs((double)(int64_t)(ct_source_time(s, there) - ns));

		worst = error > worst ? error : worst;
		among = ns >= first && ns <= last && error > among ? error : among;
	}
	printf("%.0f %llu %.0f\n", among, (unsigned long long)s->clock.uncertainty, worst);
	ct_collectives_free(&j->collectives);
	ct_trace_close(t);
	return 0;
}

int main(int argc, char **argv)
{
	static struct job j = { .repeat = 1 };
	struct ct_spans spans = {
		.trace = &j.trace, .span = kernel_span, .wants = kernel_wants, .arg = &j, .orders = CT_SPANS_BY_END,
	};
	struct ct_error err;

	if (argc < 3)
		die("usage", "make_hosts DIR OUT [WHAT=VALUE...]");
	for (int i = strcmp(argv[1], "fit") ? 3 : 4; i < argc; i++)
		job_option(&j, argv[i]);
	if (!strcmp(argv[1], "fit"))
		return job_fit(&j, argv[2], argv[3]);
	if (ct_trace_open(&j.trace, argv[1], &err))
		die(argv[1], err.text);
	if (j.slow || j.late) {
		if (ct_collectives_find(&j.collectives, &j.trace) || (j.slow && ct_spans_run(&spans)))
			die(argv[1], "no memory");
		if (j.kernels_count)
			qsort(j.kernels, j.kernels_count, sizeof(*j.kernels), by_x);
		job_delays(&j);
		ct_spans_free(&spans);
	}
	if (j.repeat > 1) {
		if (!j.collectives.parts_count && ct_collectives_find(&j.collectives, &j.trace))
			die(argv[1], "no memory");
		job_last_numbers(&j);
	}
	if (mkdir(argv[2], 0777))
		die(argv[2], strerror(errno));
	job_registry(&j, argv[1], argv[2]);
	job_streams(&j, argv[2]);
	ct_collectives_free(&j.collectives);
	ct_trace_close(&j.trace);
	for (unsigned int i = 0; i < j.processes_count; i++)
		free(j.processes[i].knots);
	free(j.kernels);
	ct_keyed_free(&j.numbers);
	ct_keyed_free(&j.correlations);
	return 0;
}
