// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the records of thread streams as text, one a line, and checks what a
 * valid CTF packet must hold: the test's own reader, so that the tests need
 * nothing else.  Exit status 1, with a line "bad: ...", for anything that a
 * strict reader would not accept.
 *
 *	dump DIR	all streams of a trace directory
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../module/uapi/cudatrace.h"

static const char *names[CT_CLASS_MAX + 1], *symbols[CT_CLASS_MAX + 1];
static const char *fields[CT_CLASS_MAX + 1], *kinds[CT_CLASS_MAX + 1];
static const char *strings[1 << 16];
static unsigned char uuid[16];
static int bad;

#define BAD(...)	(bad = 1, printf("bad: " __VA_ARGS__), putchar('\n'))

static void static_class(int id, const char *name, const char *spec)
{
	names[id] = symbols[id] = name;
	fields[id] = spec;
	kinds[id] = "-";
}

static void read_registry(const char *dir)
{
	static char line[1 << 16];
	const char *info[256];
	int heads = 0, infos = 0;
	char path[4096];
	FILE *f;

#define CT_CLASS_ROW(id, name, layer, cat, op, layout)	\
	static_class(id, #name, CT_LAYOUT_SPEC(layout));
	CT_STATIC_CLASSES(CT_CLASS_ROW)
	snprintf(path, sizeof(path), "%s/.registry", dir);
	f = fopen(path, "r");
	if (!f) {
		BAD("no registry");
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		char hex[33] = "", layer[32], cat[32], op[32], spec[512], name[256];
		char symbol[256];
		unsigned id;
		size_t len = strcspn(line, "\n");

		if (!line[len])
			break;		/* its writer died in it, or still writes */
		line[len] = 0;
		if (!len || (len > 1 && !strcmp(line + len - 2, " %")))
			continue;	/* cut */
		if (!strncmp(line, "cudatrace ", 10)) {
			if (heads++)
				continue;
			if (sscanf(line, "cudatrace 1 uuid=%32s start=", hex) != 1)
				BAD("registry: head %s", line);
			for (int i = 0; i < 16; i++)
				sscanf(hex + 2 * i, "%2hhx", &uuid[i]);
		} else if (sscanf(line, "class %u %31s %31s %31s %511s %255s %255s", &id,
				  layer, cat, op, spec, name, symbol) == 7) {
			char kind[80];

			if (id < CT_CLASS_DYNAMIC || id > CT_CLASS_MAX || names[id]) {
				/* The first line of an id counts. */
				if (id < CT_CLASS_DYNAMIC || id > CT_CLASS_MAX)
					BAD("registry: class id %u", id);
				continue;
			}
			for (int i = CT_CLASS_DYNAMIC; i <= CT_CLASS_MAX; i++)
				if (symbols[i] && !strcmp(symbols[i], symbol))
					BAD("registry: two ids for %s", symbol);
			snprintf(kind, sizeof(kind), "%s/%s", cat, op);
			names[id] = strdup(name);
			symbols[id] = strdup(symbol);
			fields[id] = strdup(strcmp(spec, "-") ? spec : "");
			kinds[id] = strdup(kind);
			printf("%s\n", line);
		} else if (sscanf(line, "string %u %511s", &id, spec) == 2) {
			if (id >= 1 << 16 || strings[id]) {
				if (id >= 1 << 16)
					BAD("registry: string id %u", id);
				continue;
			}
			strings[id] = strdup(spec);
			printf("%s\n", line);
		} else if (!strncmp(line, "info ", 5)) {
			bool known = false;

			for (int i = 0; i < infos; i++)
				known |= !strcmp(info[i], line);
			if (known || infos == 256)
				continue;	/* two processes that began at once */
			info[infos++] = strdup(line);
			printf("%s\n", line);
		} else {
			BAD("registry: %s", line);
		}
	}
	if (!heads)
		BAD("registry: no head");
	fclose(f);
}

/* Prints the fields and gives their size. */
static unsigned print_fields(const char *spec, const unsigned char *p, unsigned max)
{
	unsigned at = 0;

	while (*spec) {
		char name[64], type[16];
		unsigned long long v = 0;
		unsigned bytes = 0;

		if (sscanf(spec, "%63[^:]:%15[^,],", name, type) != 2)
			break;
		spec = strchr(spec, ',') + 1;
#define CT_TYPE_ROW(t, ctype, size)	\
		if (!strcmp(type, #t))	\
			bytes = size;
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
		if (!bytes || at + bytes > max)
			return ~0u;
		memcpy(&v, p + at, bytes);
		at += bytes;
		if (!strcmp(type, "text")) {
			printf(" %s=\"%.*s\"", name, (int)v, p + at);
			at += CT_TEXT_BYTES(at, v);
		} else if (!strcmp(type, "str")) {
			printf(" %s=%s", name, v && v < 1 << 16 && strings[v] ?
			       strings[v] : "-");
		} else if (*type == 'x') {
			printf(" %s=0x%llx", name, v);
		} else if (*type == 's' && bytes == 4) {
			printf(" %s=%d", name, (int)v);
		} else {
			printf(" %s=%llu", name, v);
		}
	}
	return at;
}

#define TAIL	(CT_INFLIGHT_PACKET + (1u << 20))	/* slots, at most */

static void dump_packet(const struct ct_packet *p, unsigned long long *last,
			const char *file)
{
	const unsigned char *b = (const void *)p;
	unsigned long long at = CT_PACKET_HEAD, end = p->content_size / 8;

	if (memcmp(p->uuid, uuid, 16))
		BAD("%s: uuid", file);
	if (p->stream_class != CT_STREAM_THREAD)
		BAD("%s: stream class %u", file, p->stream_class);
	if (p->content_size > p->packet_size || p->content_size % 64)
		BAD("%s: content %llu of %llu", file, p->content_size, p->packet_size);
	if (p->ts_begin < *last)
		BAD("%s: packet %llu begins before the last one ended", file, p->seq);
	*last = p->ts_begin;
	while (at + sizeof(struct ct_thread_record) <= end) {
		const struct ct_thread_record *r = (const void *)(b + at);
		unsigned class = CT_RECORD_CLASS(r->stamp), size;
		unsigned long long ts = CT_UNSTAMP(p->ts_begin, r->stamp);

		at += sizeof(*r);
		if (!names[class]) {
			BAD("%s: unknown class %u", file, class);
			return;
		}
		if (ts < *last || ts > p->ts_end)
			BAD("%s: time %llu not in %llu..%llu", file, ts, *last, p->ts_end);
		*last = ts;
		printf("%s %u %u op=%llu ts=%llu depth=%u flags=%x result=%u dur=%llu cpu=%u %s %s",
		       file, p->pid, p->tid, p->op_base + r->op, ts, r->depth, r->flags,
		       r->result, r->duration & CT_DURATION_MAX,
		       (unsigned)(r->duration >> 48), kinds[class], symbols[class]);
		size = print_fields(fields[class], b + at, (unsigned)(end - at));
		putchar('\n');
		if (size == ~0u) {
			BAD("%s: record beyond the packet", file);
			return;
		}
		at += size;
	}
	if (at != end)
		BAD("%s: %llu bytes behind the last record", file, end - at);
	if (p->ts_end < *last)
		BAD("%s: ts_end", file);
	*last = p->ts_end;
}

/* The packets that the thread had in its slots and the stream does not hold. */
static long add_tail(const char *dir, const char *file, unsigned char *all, long size)
{
	static unsigned char page[TAIL];
	struct ct_subbufs *h = (void *)(page + CT_INFLIGHT_SUBBUFS);
	unsigned long long seq = 0;
	char path[4096];
	long at = 0;
	FILE *f;

	while (size - at >= (long)sizeof(struct ct_packet) &&
	       ((struct ct_packet *)(all + at))->magic == CT_MAGIC) {
		if (((struct ct_packet *)(all + at))->packet_size / 8 < CT_PACKET_HEAD) {
			BAD("%s: packet at %ld has no size", file, at);
			return size;
		}
		seq = ((struct ct_packet *)(all + at))->seq + 1;
		at += ((struct ct_packet *)(all + at))->packet_size / 8;
	}
	snprintf(path, sizeof(path), "%s/.open-%s", dir, file + 2);
	f = fopen(path, "r");
	memset(page, 0, sizeof(page));
	if (f && !fread(page, 1, sizeof(page), f))
		h->subbufs = 0;
	if (f)
		fclose(f);
	for (unsigned i = 0; i < h->subbufs && i < CT_SUBBUFS_MAX; i++) {
		struct ct_packet *p = (void *)(page + CT_INFLIGHT_PACKET + i * h->subbuf_size);

		if (p->magic != CT_MAGIC || p->seq != seq)
			continue;
		p->packet_size = p->content_size;
		memcpy(all + at, p, p->content_size / 8);
		at += p->content_size / 8;
		size = at;
		seq++;
		i = -1;		/* its follower may be before it */
	}
	return size;
}

static void dump_stream(const char *dir, const char *file)
{
	static char path[4096];
	unsigned long long last = 0, seq = 0, lost = 0;
	unsigned char *all;
	long size, at = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	all = malloc(size + TAIL);
	if (fread(all, 1, size, f) != (size_t)size)
		BAD("%s: cannot read", file);
	fclose(f);
	size = add_tail(dir, file, all, size);
	while (at < size) {
		const struct ct_packet *p = (const void *)(all + at);

		if (size - at >= 8 && at && !p->magic) {
			printf("tail of %ld bytes\n", size - at);
			break;		/* killed before the packet began */
		}
		if (size - at < (long)sizeof(*p) || p->magic != CT_MAGIC) {
			BAD("%s: no packet at %ld of %ld", file, at, size);
			break;
		}
		if (p->seq != seq++)
			BAD("%s: packet %llu is out of order", file, p->seq);
		dump_packet(p, &last, file);
		lost = p->lost;
		at += p->packet_size / 8;
	}
	printf("stream %s packets=%llu lost=%llu\n", file, seq, lost);
	free(all);
}

static void dump_open(const char *dir, const char *file)
{
	struct ct_inflight_page p;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	memset(&p, 0, sizeof(p));
	if (!f || (fread(&p, 1, sizeof(p), f) && p.magic && p.magic != CT_MAGIC))
		BAD("%s: no open page", file);
	if (f)
		fclose(f);
	if (!p.magic)
		return;		/* killed before it was made */
	for (unsigned i = 0; i < p.depth && i < CT_INFLIGHT_MAX; i++)
		printf("open %s %u %u op=%llu level=%u begin=%llu %s\n", file, p.pid, p.tid,
		       p.entry[i].op, i, p.entry[i].begin,
		       p.entry[i].class <= CT_CLASS_MAX && names[p.entry[i].class] ?
		       symbols[p.entry[i].class] : "?");
}

/* What no stream counts.  (A finished trace says the same in a stream.) */
static void dump_lost(const char *dir, const char *file)
{
	struct ct_lost_page p;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	/* Its maker may have been killed in the middle of it: then nobody counted in it. */
	if (f && (fread(&p, sizeof(p), 1, f) != 1 || !p.magic)) {
		fclose(f);
		return;
	}
	if (!f || p.magic != CT_MAGIC)
		BAD("%s: no page of lost records", file);
	else
		printf("no stream lost=%llu\n", p.lost);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	struct dirent **list;
	int n;

	if (argc != 2) {
		fprintf(stderr, "usage: dump DIR\n");
		return 2;
	}
	read_registry(argv[1]);
	n = scandir(argv[1], &list, NULL, versionsort);
	for (int i = 0; i < n; i++)
		if (!strncmp(list[i]->d_name, "u-", 2) && strcmp(list[i]->d_name, CT_LOST_STREAM))
			dump_stream(argv[1], list[i]->d_name);
	for (int i = 0; i < n; i++)
		if (!strncmp(list[i]->d_name, ".open-", 6))
			dump_open(argv[1], list[i]->d_name);
	for (int i = 0; i < n; i++)
		if (!strncmp(list[i]->d_name, ".lost-", 6))
			dump_lost(argv[1], list[i]->d_name);
	return bad;
}
