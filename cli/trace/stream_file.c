// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See stream_file.h.  The file may be foreign, hostile, or still being written: must
 * never write to it, follow a link, or block on it.
 */
#include "trace/stream_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "module/uapi/cudatrace.h"

void ct_stream_packet(const struct ct_stream_file *s, uint32_t i, struct ct_packet_view *p)
{
	const struct ct_packet_index *index = &s->packets[i];
	struct ct_packet head;

	memcpy(&head, s->map + index->offset, sizeof(head));
	p->data = s->map + index->offset;
	p->content = index->content;
	p->size = index->size;
	p->kind = s->kind;
	p->cpu = head.cpu;
	p->pid = head.pid;
	p->tid = head.tid;
	p->ts_begin = index->ts_begin;
	p->ts_end = index->ts_end;
	p->op_base = head.op_base;
	p->seq = head.seq;
	p->lost = head.lost;
	p->source = s->source;
}

int ct_stream_map(struct ct_stream_file *s, const char *dir, struct ct_error *err)
{
	char path[4096];
	struct stat st;
	int fd, rc = 0;

	if (ct_path(path, sizeof(path), dir, s->name))
		return ct_fail(err, ENAMETOOLONG, "the path is too long");
	/* Not to block on a fifo, not to touch a device, nor what a link leads to. */
	fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (fd < 0 && errno == ELOOP)
		return ct_fail(err, EBADMSG, "a symbolic link, not a regular file; " CT_AGAIN);
	if (fd < 0)
		return ct_fail(err, errno, "%s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = ct_fail(err, EBADMSG, "not a regular file; " CT_AGAIN);
		goto out;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->map_size = st.st_size;
	s->hole = ct_file_hole(fd, s->map_size);
	if (s->map_size) {
		void *map = mmap(NULL, s->map_size, PROT_READ, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED) {
			rc = ct_fail(err, errno, "mmap: %s", strerror(errno));
			s->map_size = 0;
		} else {
			s->map = map;
			s->map_file = s->map_size;
		}
	}
out:
	close(fd);
	return rc;
}

void ct_stream_unmap(struct ct_stream_file *s)
{
	if (s->map)
		munmap((void *)s->map, s->map_size);
	s->map = NULL;
	s->map_size = s->map_file = 0;
}

void ct_stream_give_back(const struct ct_stream_file *s, uint64_t *from, uint64_t to,
			 uint64_t least)
{
	uint64_t page = sysconf(_SC_PAGESIZE), begin;

	if (to > s->map_file)
		to = s->map_file;
	if (to <= *from || to - *from < least)
		return;
	/* Packets need not begin at a page: the last page is still in use. */
	begin = *from & -page;
	to = to == s->map_file ? (to + page - 1) & -page : to & -page;
	/* If the kernel refuses, the memory is used, no more. */
	if (begin < to)
		madvise((void *)(s->map + begin), to - begin, MADV_DONTNEED);
	*from = to;
}

int ct_stream_reopen(const struct ct_stream_file *s, const char *dir, int flags)
{
	char path[4096];
	struct stat st;
	int fd;

	if (ct_path(path, sizeof(path), dir, s->name))
		return -ENAMETOOLONG;
	fd = open(path, flags | CT_O_FOREIGN);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_dev != s->dev || st.st_ino != s->ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

bool ct_stream_grown(const struct ct_stream_file *s, const char *dir)
{
	struct stat st;
	int fd = ct_stream_reopen(s, dir, O_RDONLY);
	bool longer = fd >= 0 && !fstat(fd, &st) && (uint64_t)st.st_size > s->map_size;
	uint32_t magic = 0;

	/* The head of a packet is written last: then the size stays as it was. */
	if (s->map_size - s->tail >= sizeof(magic))
		memcpy(&magic, s->map + s->tail, sizeof(magic));
	if (fd >= 0)
		close(fd);
	return longer || magic;
}
