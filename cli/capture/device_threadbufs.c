// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Draining thread buffers: the module returns one packet after another, and each is
 * appended to its thread's stream.  See device.h, and section 6 of cudatrace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/device.h"
#include "trace/directory.h"

/* Packets between two turns of draining the rings: more than threads fill in that time. */
#define AT_ONCE	1024

/* A thread whose stream is long goes on in another one. */
static void device_next_part(struct ct_device *dev, const struct ct_threadbuf_read *read)
{
	struct ct_device_part *part = ct_keyed_put(&dev->parts, (uint64_t)read->pid << 32 | read->stream);

	if (part)
		part->part++;
}

static int device_append(struct ct_device *dev, int dirfd, const struct ct_threadbuf_read *read, const void *buf,
			 struct ct_error *err)
{
	struct ct_device_part *part = ct_keyed_get(&dev->parts, (uint64_t)read->pid << 32 | read->stream);
	bool packet = read->what == CT_THREADBUF_PACKET;
	char name[40];
	off_t at;
	int fd, rc;

	if (dev->room)
		dev->room(dev->room_arg, read->bytes);
	snprintf(name, sizeof(name), packet ? "u-%u-%u" : CT_INFLIGHT_PREFIX "%u-%u", read->pid,
		 read->stream + (part ? part->part * CT_DEVICE_PART : 0));
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC | (packet ? O_APPEND : O_TRUNC),
		    0666);
	if (fd < 0) {
		rc = -errno;
	} else {
		at = lseek(fd, 0, SEEK_END);
		if (packet && dev->stream_long && (uint64_t)at + read->bytes >= dev->stream_long)
			device_next_part(dev, read);
		rc = ct_write_all(fd, buf, read->bytes);
		/* A part of a packet is no packet. */
		if (rc && ftruncate(fd, at))
			rc = -errno;
		close(fd);
	}
	if (rc)
		ct_fail(err, -rc, "%s: %s: the trace ends here", name, strerror(-rc));
	return rc ? -EIO : 0;
}

int ct_device_drain_threadbufs(struct ct_device *dev, int dirfd, bool last, struct ct_error *err)
{
	struct ct_threadbuf_read read = {
		.size = sizeof(read),
		.flags = last ? CT_THREADBUF_READ_ALL : 0,
		.len = CT_THREADBUF_SUBBUF_MAX,
	};
	void *buf = malloc(read.len);
	int ret = 0, n;

	if (!buf)
		return ct_fail(err, ENOMEM, "out of memory");
	read.buf = (uintptr_t)buf;
	for (n = 0; last || n < AT_ONCE; n++) {
		if (ioctl(dev->fd, CT_IOC_THREADBUF_READ, &read)) {
			if (errno != ENOENT)
				ret = ct_fail(err, errno,
					      "the module returns no thread buffers: %s",
					      strerror(errno));
			break;
		}
		ret = device_append(dev, dirfd, &read, buf, err);
		if (ret)
			break;
	}
	free(buf);
	return ret ? ret : n;
}
