// SPDX-License-Identifier: LGPL-2.1-or-later
/* See lost.h. */
#include "trace/lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX	".lost-"
#define PAGE	4096

int ct_lost_create(int dirfd)
{
	/* All of it is written: to store into a hole, once the disk is full, is SIGBUS. */
	union {
		struct ct_lost_page head;
		uint8_t bytes[PAGE];
	} page = { .head = { .magic = CT_MAGIC, .abi = CT_ABI_VERSION } };
	char name[32];
	int fd, rc;

	snprintf(name, sizeof(name), PREFIX "%u", geteuid());
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = ct_stream_write(fd, &page, sizeof(page), 0);
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

bool ct_lost_is_page(const char *name)
{
	size_t n = strlen(PREFIX);

	return !strncmp(name, PREFIX, n) && name[n] && !name[n + strspn(name + n, "0123456789")];
}

uint64_t ct_lost_read(const char *dir, const char *name)
{
	struct ct_lost_page page;
	char path[4096];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	n = pread(fd, &page, sizeof(page), 0);
	close(fd);
	return n == sizeof(page) && page.magic == CT_MAGIC && page.abi == CT_ABI_VERSION ?
	       page.lost : 0;
}

int ct_lost_write(const struct ct_trace *t)
{
	struct ct_packet packet[2] = { { 0 } };
	char path[4096], temporary[4096];
	int fd, rc;

	if (t->lost_here <= t->lost_reported)
		return 0;
	if (snprintf(path, sizeof(path), "%s/" CT_LOST_STREAM, t->dir) >= (int)sizeof(path) ||
	    snprintf(temporary, sizeof(temporary), "%s/.lost", t->dir) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	for (unsigned int i = 0; i < 2; i++) {
		packet[i] = (struct ct_packet){
			.magic = CT_MAGIC, .stream_class = CT_STREAM_THREAD, .seq = i,
			.content_size = 8ull * CT_PACKET_HEAD,
			.packet_size = 8ull * CT_PACKET_HEAD,
			.ts_begin = i ? t->end : t->reg.start,
			.ts_end = i ? t->end : t->reg.start,
			.lost = i ? t->lost_here : 0,
		};
		memcpy(packet[i].uuid, t->reg.uuid, sizeof(packet[i].uuid));
	}
	/* Of somebody who was killed in here. */
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	rc = ct_stream_write(fd, packet, sizeof(packet), 0);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	return rc;
}
