// SPDX-License-Identifier: LGPL-2.1-or-later
/* See rings.h.  A packet that is damaged, or of which a class is not known, is left out. */
#include "live/rings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "write/registry_line.h"

/* A CPU's packet, as far as it was copied, and the next record in it. */
struct ct_rings_cpu {
	struct ct_packet *packet;	/* NULL: the CPU is not possible */
	struct ct_packet_view view;
	uint32_t used;			/* bytes that were read, head included; 0: none of this packet */
	bool full;			/* no more comes to this packet */
	bool there;			/* the record is the next one */
	struct ct_record record;
};

/* What was defined since. */
static int rings_registry(struct ct_rings *r)
{
	char *line = NULL;
	struct ct_error err;
	size_t size = 0;
	ssize_t len;
	FILE *file;
	int fd, rc;

	if (lseek(r->lines.fd, 0, SEEK_SET) || ftruncate(r->lines.fd, 0))
		return -errno;
	rc = ct_device_registry(r->device, &r->lines);
	if (rc || !lseek(r->lines.fd, 0, SEEK_CUR) || lseek(r->lines.fd, 0, SEEK_SET))
		return rc;
	fd = dup(r->lines.fd);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	if (!file)
		return -ENOMEM;
	while (!rc && (len = getline(&line, &size, file)) > 0) {
		line[len - 1] = 0;
		rc = ct_registry_line(&r->reg, line, "the module's registry", &err);
	}
	free(line);
	fclose(file);
	return rc;
}

/* The classes that every trace has, whose trace it is, and when it began. */
static bool rings_head(struct ct_rings *r)
{
	const struct ct_session *s = &r->device->session;
	char *line = ct_registry_head_line(s->uuid, s->start, s->start);
	struct ct_error err;
	bool done;

	if (!line)
		return false;
	line[strlen(line) - 1] = '\0';
	done = !ct_registry_line(&r->reg, line, "the module's registry", &err);
	free(line);
	return done;
}

int ct_rings_open(struct ct_rings *r, struct ct_device *device, struct ct_error *err)
{
	const struct ct_session *s = &device->session;
	bool memory;

	*r = (struct ct_rings){ .device = device, .lines.fd = memfd_create("cudatrace-registry", MFD_CLOEXEC) };
	r->cpus = calloc(s->cpus ? s->cpus : 1, sizeof(*r->cpus));
	memory = r->cpus && r->lines.fd >= 0 && rings_head(r);
	for (uint32_t cpu = 0; memory && cpu < s->cpus; cpu++)
		if (device->ring[cpu].status)
			memory = (r->cpus[cpu].packet = malloc(s->subbuf_size)) != NULL;
	if (!memory) {
		ct_rings_close(r);
		return ct_fail(err, ENOMEM, "no memory");
	}
	return 0;
}

void ct_rings_close(struct ct_rings *r)
{
	for (uint32_t cpu = 0; r->cpus && cpu < r->device->session.cpus; cpu++)
		free(r->cpus[cpu].packet);
	free(r->cpus);
	r->cpus = NULL;
	if (r->lines.fd >= 0)
		close(r->lines.fd);
	r->lines.fd = -1;
	ct_registry_free(&r->reg);
}

static void rings_next_packet(struct ct_rings *r, uint32_t cpu)
{
	r->device->ring[cpu].pos += r->device->session.subbuf_size;
	r->cpus[cpu].used = 0;
	r->cpus[cpu].full = false;
}

/* Copies what was written since.  False: nothing. */
static bool rings_copy(struct ct_rings *r, uint32_t cpu)
{
	const uint32_t size = r->device->session.subbuf_size;
	struct ct_device_ring *ring = &r->device->ring[cpu];
	struct ct_rings_cpu *c = &r->cpus[cpu];
	uint64_t pos = ring->pos;
	struct ct_error ignored;

	if (!ct_device_look(r->device, cpu, c->used, c->packet, &c->full))
		return false;
	if (!c->used || ring->pos != pos)
		c->used = CT_PACKET_HEAD;
	if (ct_packet_check((const uint8_t *)c->packet, size, size, CT_STREAM_CPU, r->reg.uuid, &c->view, &ignored) != 1)
		c->view.content = 0;
	return true;
}

/* The next record of a CPU that is there by now. */
static int rings_advance(struct ct_rings *r, uint32_t cpu)
{
	struct ct_rings_cpu *c = &r->cpus[cpu];
	const char *why;
	uint32_t size;
	int rc;

	c->there = false;
	for (;;) {
		while (c->used >= c->view.content || !c->used) {
			if (c->full)
				rings_next_packet(r, cpu);
			if (!rings_copy(r, cpu))
				return 0;
			/* Full, and no more came. */
			if (c->used >= c->view.content && !c->full)
				return 0;
		}
		size = ct_record_parse(&c->view, c->used, &r->reg, &c->record, &why);
		if (!size) {
			rc = rings_registry(r);
			if (rc)
				return rc;
			size = ct_record_parse(&c->view, c->used, &r->reg, &c->record, &why);
		}
		if (size)
			break;
		/* What comes behind can't be found: the rest of the packet is left out. */
		c->used = c->view.content;
	}
	c->used += size;
	c->there = true;
	return 0;
}

int ct_rings_read(struct ct_rings *r, uint64_t until, ct_rings_record *record, void *arg)
{
	const uint32_t cpus = r->device->session.cpus;
	int rc = rings_registry(r);

	for (uint32_t cpu = 0; cpu < cpus && !rc; cpu++)
		if (r->cpus[cpu].packet && !r->cpus[cpu].there)
			rc = rings_advance(r, cpu);
	while (!rc) {
		uint32_t first = cpus;

		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			if (r->cpus[cpu].there && (first == cpus || r->cpus[cpu].record.end < r->cpus[first].record.end))
				first = cpu;
		if (first == cpus || r->cpus[first].record.end > until)
			break;
		rc = record(arg, &r->reg, &r->cpus[first].record);
		rc = rc ? rc : rings_advance(r, first);
	}
	return rc;
}
