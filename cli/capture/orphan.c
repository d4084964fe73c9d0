// SPDX-License-Identifier: LGPL-2.1-or-later
/* See orphan.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/device.h"
#include "capture/orphan.h"
#include "write/write_registry.h"
#include "write/state.h"
#include "trace/directory.h"

/* What was defined since the recorder last wrote its registry. */
static int orphan_complete_registry(const struct ct_trace *t, struct ct_device *dev,
				    struct ct_error *err)
{
	struct ct_registry_writer w;
	unsigned int id;
	int ret;

	for (id = CT_CLASS_DYNAMIC; id <= CT_CLASS_MAX; id++)
		if (ct_registry_class(&t->reg, id))
			dev->classes = id + 1 - CT_CLASS_DYNAMIC;
	dev->strings = t->reg.strings_count ? t->reg.strings_count - 1 : 0;
	ret = ct_registry_append(&w, t->dir, err);
	if (ret)
		return ret;
	ret = ct_device_registry(dev, &w);
	ct_registry_close(&w);
	return ret ? ct_fail(err, -ret, "%s/%s: %s", t->dir, CT_REGISTRY_FILE, strerror(-ret)) : 0;
}

/* Cuts the file of @s after its last whole packet.  Return: the file, or a negative errno. */
static int orphan_cut(const struct ct_trace *t, const struct ct_stream_file *s)
{
	int fd = ct_stream_reopen(s, t->dir, O_WRONLY | O_APPEND);

	if (fd >= 0 && ftruncate(fd, s->tail)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

/* Sets where the recorder was in each ring: after the last whole packet of its file. */
static int orphan_find_places(const struct ct_trace *t, struct ct_device *dev, int dirfd,
			      struct ct_error *err)
{
	unsigned int i;
	int fd;

	for (i = 0; i < t->streams_count; i++) {
		const struct ct_stream_file *s = &t->streams[i];
		struct ct_packet_view last;
		struct ct_device_ring *r;

		/* Of a thread's stream only a packet that was being written is cut off. */
		if (s->kind == CT_STREAM_THREAD && s->unfinished) {
			fd = orphan_cut(t, s);
			if (fd < 0)
				return ct_fail(err, -fd, "%s/%s: %s", t->dir, s->name,
					       strerror(-fd));
			close(fd);
			if (s->torn)
				fprintf(stderr,
					"cudatrace: %s/%s: its last packet was not written whole (%llu bytes): its records are lost\n",
					t->dir, s->name, (unsigned long long)s->torn);
		}
		/* The first packet of a CPU was not written whole: the ring still has it. */
		if (s->kind == CT_STREAM_CPU && !s->packets_count && unlinkat(dirfd, s->name, 0))
			return ct_fail(err, errno, "%s/%s: %s", t->dir, s->name, strerror(errno));
		if (s->kind != CT_STREAM_CPU || s->cpu >= dev->session.cpus || !s->packets_count)
			continue;
		r = &dev->ring[s->cpu];
		ct_stream_packet(s, s->packets_count - 1, &last);
		r->pos = (last.seq + 1) * dev->session.subbuf_size;
		fd = orphan_cut(t, s);
		if (fd < 0)
			return ct_fail(err, -fd, "%s/%s: %s", t->dir, s->name, strerror(-fd));
		r->fd = fd;
	}
	return 0;
}

/* The recorder writes its state at the end, so there is none yet. */
static void orphan_write_state(const struct ct_trace *t, struct ct_device *dev, int dirfd)
{
	struct ct_state st;
	uint32_t cpu;

	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_STATE && t->streams[i].packets_count)
			return;
	unlinkat(dirfd, CT_STATE_FILE, 0);
	if (ct_state_open(&st, dirfd, t->reg.uuid))
		return;
	ct_state_clock(&st);
	for (cpu = 0; cpu < dev->session.cpus; cpu++)
		if (dev->ring[cpu].status)
			ct_state_stream(&st, cpu, dev->ring[cpu].status);
	ct_state_close(&st);
}

/* Copies all unread records, of CPUs and of threads. */
static int orphan_drain(struct ct_device *dev, int dirfd, struct ct_error *err)
{
	int n = ct_device_drain(dev, dirfd, true, err);
	int threadbufs = n < 0 ? n : ct_device_drain_threadbufs(dev, dirfd, true, err);

	return threadbufs < 0 ? threadbufs : n + threadbufs;
}

int ct_orphan_complete(const struct ct_trace *t, struct ct_error *err)
{
	struct ct_device dev;
	int dirfd, ret;

	if (ct_device_adopt(&dev, err))
		return 0;
	if (memcmp(dev.session.uuid, t->reg.uuid, sizeof(dev.session.uuid))) {
		ct_device_close(&dev);
		return 0;
	}
	dirfd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = dirfd < 0 ? ct_fail(err, errno, "%s: %s", t->dir, strerror(errno)) :
			  orphan_complete_registry(t, &dev, err);
	if (!ret)
		ret = orphan_find_places(t, &dev, dirfd, err);
	if (!ret)
		ret = orphan_drain(&dev, dirfd, err);
	if (ret >= 0) {
		orphan_write_state(t, &dev, dirfd);
		/* The module may forget the session: its records are in the files now. */
		ct_device_stop(&dev);
		fprintf(stderr,
			"cudatrace: %s: its recorder was killed; %d packets that the module had kept were added\n",
			t->dir, ret);
		ret++; /* the state stream was written in any case */
	}
	if (dirfd >= 0)
		close(dirfd);
	ct_device_close(&dev);
	return ret;
}
