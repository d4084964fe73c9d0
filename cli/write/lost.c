// SPDX-License-Identifier: LGPL-2.1-or-later
/* See lost.h. */
#include "write/lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/directory.h"

#define PAGE 4096

int ct_lost_create(int dirfd)
{
	/* Written whole: once the disk is full, a store into a hole of the file is SIGBUS. */
	union {
		struct ct_lost_page head;
		uint8_t bytes[PAGE];
	} page = { .head = { .magic = CT_MAGIC, .abi = CT_ABI_VERSION } };
	char name[32];
	int fd, rc;

	snprintf(name, sizeof(name), CT_LOST_PREFIX "%u", geteuid());
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = ct_pwrite_all(fd, &page, sizeof(page), 0);
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int ct_lost_write(const struct ct_trace *t)
{
	struct ct_packet packet[2] = { { 0 } };
	char path[4096], temporary[4096];
	int fd, rc;

	if (t->lost_here <= t->lost_reported)
		return 0;
	if (ct_path(path, sizeof(path), t->dir, CT_LOST_STREAM) ||
	    ct_path(temporary, sizeof(temporary), t->dir, CT_LOST_TEMPORARY))
		return -ENAMETOOLONG;
	for (unsigned int i = 0; i < 2; i++) {
		packet[i] = (struct ct_packet){
			.magic = CT_MAGIC,
			.stream_class = CT_STREAM_THREAD,
			.seq = i,
			.content_size = 8ull * CT_PACKET_HEAD,
			.packet_size = 8ull * CT_PACKET_HEAD,
			.ts_begin = i ? t->end : t->reg.start,
			.ts_end = i ? t->end : t->reg.start,
			.lost = i ? t->lost_here : 0,
		};
		memcpy(packet[i].uuid, t->reg.uuid, sizeof(packet[i].uuid));
	}
	/* A command that was killed here may have left it. */
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	rc = ct_pwrite_all(fd, packet, sizeof(packet), 0);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	return rc;
}
