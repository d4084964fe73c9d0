// SPDX-License-Identifier: LGPL-2.1-or-later
/* See several.h. */
#include "trace/several.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

#define SAME_CLOCK	100000000ll	/* ns: traces of one host whose clocks are nearer have one */

/* ------------------------------------------------------------- registry ------ */

/* Of a class that the whole has: that one.  0 or -ENOMEM; full: its records are left out. */
static int several_class(struct ct_registry *reg, struct ct_source *s, unsigned int id, const struct ct_class *class,
			 unsigned int *free_id)
{
	char spec[CT_SPEC_MAX];
	struct ct_class *copy;
	const char *why = NULL;

	if (class->id < CT_CLASS_DYNAMIC || class->id != id) {
		/* A static one, or one whose text an id before it has. */
		s->classes[id] = class->id < CT_CLASS_DYNAMIC ? reg->classes[class->id] : s->classes[class->id];
		return 0;
	}
	while (*free_id <= CT_CLASS_MAX && reg->classes[*free_id])
		++*free_id;
	if (*free_id > CT_CLASS_MAX)
		return 0;
	ct_class_spec(class, spec);
	copy = ct_class_new(*free_id, class->layer, class->category, class->operation, spec, class->name, class->symbol, &why);
	if (!copy || ct_registry_put_class(reg, copy))
		return -ENOMEM;
	s->classes[id] = reg->classes[*free_id];
	if (s->classes[id]->id != *free_id) {	/* the whole had it: the id stays free */
		reg->classes[*free_id] = NULL;
		reg->classes_count--;
	}
	return 0;
}

static int several_classes(struct ct_registry *reg, struct ct_source *s, const struct ct_registry *of)
{
	unsigned int free_id = CT_CLASS_DYNAMIC;
	int rc = 0;

	s->classes = calloc(CT_CLASS_MAX + 1, sizeof(*s->classes));
	if (!s->classes)
		return -ENOMEM;
	for (unsigned int id = 0; id <= CT_CLASS_MAX && !rc; id++)
		if (of->classes[id])
			rc = several_class(reg, s, id, of->classes[id], &free_id);
	return rc;
}

static int several_strings(struct ct_registry *reg, struct ct_source *s, const struct ct_registry *of)
{
	uint32_t last = 0;
	int rc = 0;

	/* First: a string that names others is of this trace. */
	reg->bases[reg->bases_count++] = s->strings;
	for (uint32_t id = 1; id < of->strings_count && !rc; id++)
		if (of->strings[id]) {
			rc = ct_registry_put_string(reg, s->strings + id, of->strings[id]);
			last = id;
		}
	(s + 1)->strings = s->strings + last + 1;
	return rc;
}

/* Which numbers of its host stand at the begin of an info's text. */
static int several_info(struct ct_registry *reg, const struct ct_source *s, const char *key, const char *text)
{
	bool device = !strncmp(key, "device_", 7), thread = !strcmp(key, "thread_name");
	bool task = thread || !strcmp(key, "rank") || !strcmp(key, CT_LEFT_INFO);
	unsigned long first, second = 0;
	char *end, *buf;
	int rc;

	first = device || task ? strtoul(text, &end, 10) : 0;
	if ((!device && !task) || end == text || *end != ' ')
		return ct_registry_put_info(reg, key, text);
	text = end;
	if (thread) {
		second = strtoul(text, &end, 10);
		text = end;
	}
	if (thread ? asprintf(&buf, "%lu %lu%s", first + s->tasks, second + s->tasks, text) < 0 :
		     asprintf(&buf, "%lu%s", first + (device ? s->gpus : s->tasks), text) < 0)
		return -ENOMEM;
	rc = ct_registry_put_info(reg, key, buf);
	free(buf);
	return rc;
}

/* GPUs of the host, by what its programs asked for, or by its cards. */
static unsigned int several_gpus(const struct ct_registry *of)
{
	unsigned int devices = 0, cards = 0;

	for (unsigned int i = 0; i < of->infos_count; i++) {
		cards += !strcmp(of->infos[i].key, "gpu_card");
		if (!strcmp(of->infos[i].key, "device_name") && (unsigned int)atoi(of->infos[i].text) + 1 > devices)
			devices = atoi(of->infos[i].text) + 1;
	}
	devices = devices > cards ? devices : cards;
	return devices && devices < 64 ? devices : 1;
}

static const char *several_host(const struct ct_trace *t)
{
	const char *host = ct_registry_info(&t->reg, "hostname");

	return host ? host : "?";
}

/* Of a key with one text the first one's counts; of the hosts all names. */
static int several_infos(struct ct_trace *t, const struct ct_trace *of, unsigned int count)
{
	char hosts[200] = "";
	size_t used = 0;
	int rc = 0;

	for (unsigned int i = count; i-- > 0 && !rc;)
		for (unsigned int k = 0; k < of[i].reg.infos_count && !rc; k++)
			rc = several_info(&t->reg, &t->sources[i], of[i].reg.infos[k].key, of[i].reg.infos[k].text);
	for (unsigned int i = 0, shown = 0; i < count; i++) {
		bool again = false;

		for (unsigned int k = 0; k < i; k++)
			again |= !strcmp(several_host(&of[k]), several_host(&of[i]));
		if (again || used >= sizeof(hosts) - 80)
			continue;
		used += snprintf(hosts + used, sizeof(hosts) - used, "%s%.64s", shown++ ? ", " : "", several_host(&of[i]));
		if (used >= sizeof(hosts) - 80 && i + 1 < count)
			strcat(hosts, " ...");
	}
	return rc ? rc : ct_registry_put_info(&t->reg, "hostname", hosts);
}

/* --------------------------------------------------------------- streams ----- */

/* "HOST", or "DIR" where several traces are of one. */
static char *several_label(const struct ct_trace *of, unsigned int count, unsigned int i)
{
	const char *slash, *host = several_host(&of[i]);
	size_t n = strlen(of[i].dir);

	for (unsigned int k = 0; k < count; k++)
		if (k != i && !strcmp(several_host(&of[k]), host))
			host = NULL, k = count;
	if (host)
		return strndup(host, 64);
	while (n && of[i].dir[n - 1] == '/')
		n--;
	slash = memrchr(of[i].dir, '/', n);
	slash = slash ? slash + 1 : of[i].dir;
	return strndup(slash, of[i].dir + n - slash);
}

static int several_stream(struct ct_trace *t, struct ct_source *s, struct ct_stream_file *from)
{
	struct ct_stream_file *to = &t->streams[t->streams_count];
	char *name;

	if (asprintf(&name, "%s/%s", s->label, from->name) < 0)
		return -ENOMEM;
	*to = *from;
	memset(from, 0, sizeof(*from));
	free(to->name);
	to->name = name;
	to->index = t->streams_count++;
	to->source = s;
	to->pid += to->pid ? s->tasks : 0;
	to->tid += to->tid ? s->tasks : 0;
	to->cpu += s->cpus;
	return 0;
}

static void several_pending(struct ct_trace *t, struct ct_source *s, const struct ct_trace *of, unsigned int streams)
{
	for (unsigned int i = 0; i < of->inflight_count; i++) {
		const struct ct_class *class = ct_source_class(s, of->inflight[i].class);
		struct ct_inflight *p = &t->inflight[t->inflight_count];

		if (!class)
			continue;
		*p = of->inflight[i];
		p->class = class->id;
		p->pid += s->tasks;
		p->tid += s->tasks;
		p->raw = p->begin;
		p->source = s;
		p->stream += p->stream < 0 ? 0 : (int)streams;
		t->inflight_count++;
	}
}

static void several_clock(struct ct_source *s, const struct ct_source *first, bool host)
{
	int64_t offset = (int64_t)(s->realtime - s->start) - (int64_t)(first->realtime - first->start);

	s->clock = (struct ct_source_clock){ .from = s->start, .offset = offset, .uncertainty = UINT64_MAX };
	if (s != first && (!host || offset > SAME_CLOCK || offset < -SAME_CLOCK))
		return;
	s->clock.same = true;
	s->clock.offset = 0;
	s->clock.uncertainty = 0;
}

static void several_sum(struct ct_trace *t, const struct ct_trace *of)
{
	t->records += of->records;
	t->lost = ct_sum(t->lost, of->lost);
	t->lost_here = ct_sum(t->lost_here, of->lost_here);
	t->lost_reported = ct_sum(t->lost_reported, of->lost_reported);
	t->packets_lost = ct_sum(t->packets_lost, of->packets_lost);
	t->packets_bad += of->packets_bad;
	t->unfinished |= of->unfinished;
	t->has_kernel |= of->has_kernel;
	t->has_gpu |= of->has_gpu;
	t->simulated |= of->simulated;
	for (unsigned int i = 0; i < sizeof(t->reg.uuid); i++)
		t->reg.uuid[i] = (uint8_t)(t->reg.uuid[i] * 31 + of->reg.uuid[i]);
}

static int several_source(struct ct_trace *t, struct ct_trace *of, unsigned int count, unsigned int i)
{
	unsigned int streams = t->streams_count;
	struct ct_source *s = &t->sources[i];
	int rc;

	s->dir = strdup(of[i].dir);
	s->label = several_label(of, count, i);
	if (!s->dir || !s->label)
		return -ENOMEM;
	s->tasks = i * CT_SOURCE_TASKS;
	s->cpus = i * CT_SOURCE_CPUS;
	(s + 1)->gpus = s->gpus + several_gpus(&of[i].reg);
	s->start = of[i].reg.start;
	s->realtime = of[i].reg.realtime;
	several_clock(s, &t->sources[0], !strcmp(several_host(&of[0]), several_host(&of[i])));
	rc = several_classes(&t->reg, s, &of[i].reg);
	rc = rc ? rc : several_strings(&t->reg, s, &of[i].reg);
	for (unsigned int k = 0; k < of[i].streams_count && !rc; k++)
		rc = several_stream(t, s, &of[i].streams[k]);
	if (!rc)
		several_pending(t, s, &of[i], streams);
	several_sum(t, &of[i]);
	t->has_metadata &= of[i].has_metadata;
	return rc;
}

/* ns of CLOCK_REALTIME at which the clock of a trace was 0. */
static int64_t several_zero(const struct ct_trace *t)
{
	return (int64_t)(t->reg.realtime - t->reg.start);
}

/*
 * The clock of the first one is that of the whole.  A trace of a time before that clock was 0, as of a machine that was
 * started later, has no place on it: then the one whose clock began first is taken for the first.
 */
static void several_order(struct ct_trace *of, unsigned int count)
{
	unsigned int first = 0;
	bool before = false;

	for (unsigned int i = 1; i < count; i++) {
		before |= (int64_t)of[i].reg.realtime < several_zero(&of[0]);
		first = several_zero(&of[i]) < several_zero(&of[first]) ? i : first;
	}
	if (before) {
		struct ct_trace t = of[0];

		of[0] = of[first];
		of[first] = t;
	}
}

/* Those of traces are theirs until here: of those that were not moved, ct_trace_close() frees what they have. */
int ct_trace_several(struct ct_trace *t, struct ct_trace *of, unsigned int count, const char *name,
		     struct ct_error *err)
{
	unsigned int streams = 0, inflight = 0;
	int rc = 0;

	memset(t, 0, sizeof(*t));
	if (count > CT_SOURCES_MAX)
		return ct_fail(err, E2BIG, "%s: %u traces; at most %u are read as one", name, count, CT_SOURCES_MAX);
	several_order(of, count);
	for (unsigned int i = 0; i < count; i++) {
		streams += of[i].streams_count;
		inflight += of[i].inflight_count;
	}
	t->dir = strdup(name);
	t->sources = calloc(count + 1ul, sizeof(*t->sources));	/* one more takes where ids go on */
	t->streams = calloc(streams + 1ul, sizeof(*t->streams));
	t->inflight = calloc(inflight + 1ul, sizeof(*t->inflight));
	if (!t->dir || !t->sources || !t->streams || !t->inflight || ct_registry_init(&t->reg))
		rc = -ENOMEM;
	t->reg.bases = rc ? NULL : calloc(count + 1ul, sizeof(*t->reg.bases));
	if (!t->reg.bases)
		rc = -ENOMEM;
	t->has_metadata = true;
	for (unsigned int i = 0; i < count && !rc; i++) {
		rc = several_source(t, of, count, i);
		t->sources_count++;
	}
	rc = rc ? rc : several_infos(t, of, count);
	for (unsigned int i = 0; i < count && !rc; i++)
		ct_trace_close(&of[i]);
	if (rc)
		return ct_fail(err, ENOMEM, "no memory");
	t->reg.head = true;
	ct_trace_reclock(t);
	return 0;
}

/* Records that began before their packet, of a stream: their times again. */
static void several_early(const struct ct_trace *t, struct ct_stream_file *s)
{
	for (uint32_t i = 0; i < s->early_count; i++) {
		struct ct_early_record *early = &s->early[i];
		struct ct_packet_view p;
		struct ct_record r;
		const char *why;

		ct_stream_packet(s, early->packet, &p);
		if (!ct_record_parse(&p, early->offset, &t->reg, &r, &why))
			continue;
		early->begin = early->open ? ct_record_known(&r, CT_KNOWN_BEGIN) : ct_record_begin(&r);
		early->end = early->open ? ~0ull : r.end;
		if (early->begin > r.end)
			early->begin = r.end;
	}
}

void ct_trace_reclock(struct ct_trace *t)
{
	const struct ct_source *first = &t->sources[0];

	t->end = 0;
	t->reg.start = UINT64_MAX;
	for (unsigned int i = 0; i < t->sources_count; i++) {
		uint64_t start = ct_source_time(&t->sources[i], t->sources[i].start);

		t->reg.start = start < t->reg.start ? start : t->reg.start;
	}
	t->reg.realtime = first->realtime + (t->reg.start - first->start);
	for (unsigned int i = 0; i < t->streams_count; i++) {
		struct ct_stream_file *s = &t->streams[i];
		uint64_t end = s->packets_count ? ct_stream_time(s, s->packets[s->packets_count - 1].ts_end) : 0;

		several_early(t, s);
		t->end = end > t->end ? end : t->end;
	}
	t->end = t->end > t->reg.start ? t->end : t->reg.start;
	for (unsigned int i = 0; i < t->inflight_count; i++)
		t->inflight[i].begin = ct_source_time(t->inflight[i].source, t->inflight[i].raw);
}
