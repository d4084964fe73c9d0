// SPDX-License-Identifier: LGPL-2.1-or-later
/* See state.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "write/state.h"
#include "trace/directory.h"

#define PACKET_SIZE (32u << 10)

static int state_open(struct ct_state *st, int dirfd, const char *name, int flags, const uint8_t uuid[16])
{
	memset(st, 0, sizeof(*st));
	memcpy(st->uuid, uuid, sizeof(st->uuid));
	st->packet = calloc(1, PACKET_SIZE);
	if (!st->packet)
		return -ENOMEM;
	st->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (st->fd < 0) {
		free(st->packet);
		st->packet = NULL;
		return -errno;
	}
	/* Its first packet is written at the end, when the trace may have filled the disk. */
	if (fallocate(st->fd, FALLOC_FL_KEEP_SIZE, 0, PACKET_SIZE) && errno == ENOSPC) {
		ct_state_close(st);
		return -ENOSPC;
	}
	return 0;
}

int ct_state_open(struct ct_state *st, int dirfd, const uint8_t uuid[16])
{
	return state_open(st, dirfd, CT_STATE_FILE, O_EXCL, uuid);
}

int ct_state_append(struct ct_state *st, int dirfd, const uint8_t uuid[16])
{
	int rc = state_open(st, dirfd, CT_STATE_FILE, O_NOFOLLOW, uuid);
	off_t size = rc ? 0 : lseek(st->fd, 0, SEEK_END);

	if (!rc && size > 0)
		st->seq = (uint64_t)size / PACKET_SIZE;
	return rc;
}

/* Another process of this pid may have had numbers before. */
int ct_state_open_samples(struct ct_state *st, int dirfd, int pid, char name[CT_STATE_NAME], const uint8_t uuid[16])
{
	int rc = -EEXIST;

	for (unsigned int i = 0; i < 1000 && rc == -EEXIST; i++) {
		snprintf(name, CT_STATE_NAME, "s-%d-%u", pid, i);
		rc = state_open(st, dirfd, name, O_EXCL, uuid);
	}
	return rc;
}

static int state_write_packet(struct ct_state *st)
{
	struct ct_packet *p = st->packet;
	uint64_t offset = (st->seq - 1) * PACKET_SIZE;
	int ret;

	if (!st->at)
		return 0;
	p->content_size = st->at * 8ull;
	ret = ct_pwrite_all(st->fd, p, PACKET_SIZE, offset);
	if (ret) {
		/* A part of a packet would make all of it unreadable. */
		return ftruncate(st->fd, offset) ? -errno : ret;
	}
	memset(p, 0, PACKET_SIZE);
	st->at = 0;
	return 0;
}

/* @size bytes of fields, a multiple of 8. */
static int state_put(struct ct_state *st, uint64_t now, uint32_t pid, uint32_t tid, uint16_t class, const void *fields,
		     uint32_t size)
{
	struct ct_cpu_record rec = { .pid = pid, .tid = tid };
	struct ct_packet *p = st->packet;
	int ret;

	if (st->at + sizeof(rec) + size > PACKET_SIZE) {
		ret = state_write_packet(st);
		if (ret)
			return ret;
	}
	if (!st->at) {
		*p = (struct ct_packet){
			.magic = CT_MAGIC,
			.stream_class = CT_STREAM_STATE,
			.ts_begin = now,
			.packet_size = PACKET_SIZE * 8ull,
			.seq = st->seq++,
		};
		memcpy(p->uuid, st->uuid, sizeof(p->uuid));
		st->at = CT_PACKET_HEAD;
	}
	p->ts_end = now;
	rec.stamp = CT_STAMP(now, class);
	rec.duration = CT_DURATION(0, 0, CT_F_INSTANT | CT_F_NO_RESULT);
	memcpy((char *)p + st->at, &rec, sizeof(rec));
	memcpy((char *)p + st->at + sizeof(rec), fields, size);
	st->at += sizeof(rec) + size;
	return 0;
}

/* A record at this moment. */
static int state_record(struct ct_state *st, uint16_t class, const void *fields, uint32_t size)
{
	return state_put(st, ct_now_ns(), 0, 0, class, fields, size);
}

int ct_state_sample(struct ct_state *st, uint64_t ts, uint32_t pid, uint32_t tid, uint32_t node,
		    enum ct_sample_state state)
{
	struct ct_sample sample = { .stack = node, .state = state };

	return state_put(st, ts, pid, tid, CT_CLASS_sample, &sample, sizeof(sample));
}

int ct_state_gil_wait(struct ct_state *st, uint64_t ts, uint32_t pid, uint32_t tid, const struct ct_gil_wait *wait)
{
	struct ct_gil_wait sample = *wait;

	sample.state = CT_SAMPLE_GIL;
	return state_put(st, ts, pid, tid, CT_CLASS_gil_wait, &sample, sizeof(sample));
}

int ct_state_gpu_metrics(struct ct_state *st, const struct ct_gpu_metrics *m)
{
	return state_record(st, CT_CLASS_gpu_metrics, m, sizeof(*m));
}

int ct_state_process(struct ct_state *st, uint32_t pid, const void *fields, uint32_t size)
{
	return state_put(st, ct_now_ns(), pid, pid, CT_CLASS_process, fields, size);
}

int ct_state_flush(struct ct_state *st)
{
	if (!st->packet || !st->at)
		return 0;
	st->packet->content_size = st->at * 8ull;
	return ct_pwrite_packets(st->fd, st->packet, PACKET_SIZE, (st->seq - 1) * PACKET_SIZE);
}

int ct_state_clock(struct ct_state *st)
{
	struct ct_clock clock = {
		.monotonic = ct_now_ns(),
		.realtime = ct_clock_ns(CLOCK_REALTIME),
		.boottime = ct_clock_ns(CLOCK_BOOTTIME),
	};

	return state_record(st, CT_CLASS_clock, &clock, sizeof(clock));
}

int ct_state_probe(struct ct_state *st, const struct ct_probe_info *info)
{
	const uint32_t fixed = offsetof(struct ct_probe, text) + 2;
	const uint32_t len = strnlen(info->module, sizeof(info->module)) + 1 +
			     strnlen(info->symbol, sizeof(info->symbol));
	char buf[sizeof(struct ct_probe) + 192] = { 0 };
	struct ct_probe *p = (void *)buf;

	*p = (struct ct_probe){
		.hits = info->hits,
		.missed = info->missed,
		.lost = info->lost,
		.address = info->address,
		.state = info->state,
		.group = info->group,
		.text = CT_TEXT_BYTES(fixed, len),
	};
	strcat(strcat(strcpy(buf + fixed, info->module), ":"), info->symbol);
	return state_record(st, CT_CLASS_probe, buf, fixed + p->text);
}

int ct_state_stream(struct ct_state *st, uint32_t cpu, const struct ct_cpu_status *status)
{
	struct ct_stream_stat stat = {
		.records = status->records,
		.overwritten = status->overwritten,
		.cpu = cpu,
	};
	uint32_t i;
	int ret = 0;

	/* The first always, so that each CPU has its numbers. */
	for (i = 0; i < CT_LOST_REASONS && !ret; i++) {
		stat.lost = status->lost[i];
		stat.reason = i;
		if (!i || stat.lost)
			ret = state_record(st, CT_CLASS_stream_stat, &stat, sizeof(stat));
	}
	return ret;
}

int ct_state_close(struct ct_state *st)
{
	int ret;

	if (!st->packet)
		return 0; /* never opened */
	ret = state_write_packet(st);

	if (close(st->fd) && !ret)
		ret = -errno;
	free(st->packet);
	st->packet = NULL;
	return ret;
}
