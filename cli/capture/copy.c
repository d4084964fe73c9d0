// SPDX-License-Identifier: LGPL-2.1-or-later
/* See copy.h.  Must never write into the directory that it copies. */
#include "capture/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "capture/device.h"
#include "capture/finish.h"
#include "capture/recording.h"
#include "capture/writers.h"
#include "trace/directory.h"
#include "trace/pages.h"
#include "trace/reader.h"

/* ------------------------------------------------------ where it is --------- */

/* "DIR/NAME" where NAME begins with @prefix. */
static bool copy_take_directory(const char *path, const char *prefix, char dir[PATH_MAX])
{
	const char *file = ct_proc_file(path);

	if (file == path || strncmp(file, prefix, strlen(prefix)) || file - path >= PATH_MAX)
		return false;
	snprintf(dir, PATH_MAX, "%.*s", (int)(file - path - 1), path);
	return true;
}

static bool copy_of_program(pid_t pid, char dir[PATH_MAX])
{
	FILE *maps = ct_proc_maps(pid);
	struct ct_proc_mapping m;
	bool found = false;

	while (maps && !found && ct_proc_next_mapping(maps, &m))
		found = copy_take_directory(m.path, CT_INFLIGHT_PREFIX, dir);
	if (maps)
		fclose(maps);
	return found;
}

static bool copy_of_recorder(pid_t pid, char dir[PATH_MAX])
{
	char path[64], to[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && !found && (entry = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, to, sizeof(to) - 1);

		if (n > 0) {
			to[n] = '\0';
			found = copy_take_directory(to, CT_LOCK_FILE, dir);
		}
	}
	if (d)
		closedir(d);
	return found;
}

int ct_copy_find(pid_t pid, char dir[PATH_MAX], struct ct_error *err)
{
	struct ct_proc_stat stat;

	if (!ct_proc_stat(pid, &stat))
		return ct_fail(err, ESRCH, "there is no process %d", pid);
	if (!copy_of_program(pid, dir) && !copy_of_recorder(pid, dir))
		return ct_fail(err, ENODATA, "nothing is recorded of process %d (%s) without the module: it made no call yet, is not recorded, or is another user's",
			       pid, stat.name);
	return 0;
}

/* ------------------------------------------------------ the copy ------------ */

static int copy_create(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	return fd < 0 ? -errno : fd;
}

/* Its whole lines; one that says that older packets are no loss. */
static int copy_registry(const struct ct_trace *t, int dirfd)
{
	static const char keeps[] = "info " CT_KEEP_INFO " snapshot\n";
	char path[4096], *line = NULL;
	size_t size = 0;
	ssize_t n;
	int fd, rc = 0;
	FILE *from;

	if (ct_path(path, sizeof(path), t->dir, CT_REGISTRY_FILE))
		return -ENAMETOOLONG;
	fd = copy_create(dirfd, CT_REGISTRY_FILE);
	if (fd < 0)
		return fd;
	from = fopen(path, "re");
	if (!from)
		rc = -errno;
	while (!rc && (n = getline(&line, &size, from)) > 0 && line[n - 1] == '\n')
		rc = ct_write_all(fd, line, (size_t)n);
	if (!rc && !ct_registry_info(&t->reg, CT_KEEP_INFO))
		rc = ct_write_all(fd, keeps, strlen(keeps));
	free(line);
	if (from)
		fclose(from);
	return close(fd) && !rc ? -errno : rc;
}

/*
 * Of a stream whose first packet is too old, the process record that is its first one, as a packet of its own: else the
 * process would have no name.  *@fd: of the copy, which is made where there is none yet.  @seq, @ts: of that packet.
 */
static int copy_process(const struct ct_trace *t, const struct ct_stream_file *s, uint64_t seq, uint64_t ts, int dirfd, int *fd)
{
	uint8_t buffer[CT_PACKET_HEAD + CT_RECORD_MAX];
	struct ct_packet_view p;
	struct ct_packet head;
	struct ct_record r;
	const char *why;
	uint64_t stamp;
	uint32_t size;

	if (s->kind != CT_STREAM_THREAD || !s->packets_count)
		return 0;
	ct_stream_packet(s, 0, &p);
	size = p.seq ? 0 : ct_record_parse(&p, CT_PACKET_HEAD, &t->reg, &r, &why);
	if (!size || size > CT_RECORD_MAX || r.class->id != CT_CLASS_process)
		return 0;
	if (*fd < 0)
		*fd = copy_create(dirfd, s->name);
	if (*fd < 0)
		return *fd;
	memcpy(&head, p.data, sizeof(head));
	head.seq = seq;
	head.ts_begin = head.ts_end = ts;
	head.content_size = head.packet_size = 8ull * (CT_PACKET_HEAD + size);
	memcpy(buffer, &head, sizeof(head));
	memcpy(buffer + CT_PACKET_HEAD, p.data + CT_PACKET_HEAD, size);
	stamp = CT_STAMP(ts, CT_CLASS_process);
	memcpy(buffer + CT_PACKET_HEAD, &stamp, sizeof(stamp));
	return ct_write_all(*fd, buffer, CT_PACKET_HEAD + size);
}

/* The recorder may drop a packet meanwhile: it clears the magic first. */
static int copy_packets(const struct ct_trace *t, const struct ct_stream_file *s, int dirfd, uint64_t since)
{
	uint64_t given = 0;
	uint8_t *buffer = NULL;
	int fd = -1, rc = 0;

	for (uint32_t i = 0; !rc && i < s->packets_count; i++) {
		const struct ct_packet_index *p = &s->packets[i];
		const volatile uint32_t *magic = (const void *)(s->map + p->offset);
		struct ct_packet head;
		bool first;

		if (p->ts_end < since)
			continue;
		first = fd < 0;
		if (first)
			fd = copy_create(dirfd, s->name);
		if (fd < 0)
			return fd;
		free(buffer);
		buffer = malloc(p->size);
		if (!buffer) {
			rc = -ENOMEM;
			break;
		}
		memcpy(buffer, s->map + p->offset, p->size);
		/* The thread may have gone on in it. */
		memcpy(&head, buffer, sizeof(head));
		head.content_size = p->content * 8ull;
		head.ts_end = p->ts_end;
		memcpy(buffer, &head, sizeof(head));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (*magic == CT_MAGIC && head.magic == CT_MAGIC) {
			rc = first && i && head.seq ? copy_process(t, s, head.seq - 1, head.ts_begin, dirfd, &fd) : 0;
			rc = rc ? rc : ct_write_all(fd, buffer, p->size);
		} else if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
			rc = -errno;	/* those before it are dropped, too: no gap */
		ct_stream_give_back(s, &given, p->offset, CT_WINDOW / 16);
	}
	free(buffer);
	/* The thread did nothing since then. */
	if (!rc && fd < 0 && since)
		rc = copy_process(t, s, 0, since, dirfd, &fd);
	return fd >= 0 && close(fd) && !rc ? -errno : rc;
}

/* The calls that are not over, and the losses that no packet counts. */
static int copy_page(const struct ct_trace *t, const char *name, int dirfd)
{
	struct ct_inflight_page page;
	uint8_t bytes[4096] = { 0 };
	char path[4096];
	int fd, rc;

	if (ct_is_inflight_page(name)) {
		if (ct_inflight_page_read(t->dir, name, &page) <= 0)
			return 0;
		memcpy(bytes, &page, sizeof(page));
	} else {
		if (ct_path(path, sizeof(path), t->dir, name))
			return -ENAMETOOLONG;
		fd = open(path, O_RDONLY | CT_O_FOREIGN);
		rc = fd < 0 ? -errno : pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) ? 0 : -EIO;
		if (fd >= 0)
			close(fd);
		if (rc)
			return 0;
	}
	fd = copy_create(dirfd, name);
	if (fd < 0)
		return fd;
	rc = ct_write_all(fd, bytes, sizeof(bytes));
	return close(fd) && !rc ? -errno : rc;
}

static int copy_pages(const struct ct_trace *t, int dirfd)
{
	DIR *d = opendir(t->dir);
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return -errno;
	while (!rc && (entry = readdir(d)))
		if (ct_is_inflight_page(entry->d_name) || ct_is_lost_page(entry->d_name))
			rc = copy_page(t, entry->d_name, dirfd);
	closedir(d);
	return rc;
}

/* States, clocks and processes are few, and needed whole. */
static bool copy_is_whole(const struct ct_stream_file *s)
{
	return !strcmp(s->name, CT_STATE_FILE) || !strcmp(s->name, CT_LOST_STREAM) ||
	       ct_stream_is_gpu_states(s->name);
}

/*
 * Does a packet lack that comes between two others?  It was on its way from its thread's memory to the
 * file while both were read.
 */
static bool copy_has_gap(const struct ct_trace *t)
{
	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].packets_lost)
			return true;
	return false;
}

#define COPY_TRIES	5
#define COPY_NS		200000000ull	/* on a busy machine the thread that fills the gap may wait for a processor */

/* The copy ends now, also where no call has ended for long: that may be why it is made. */
static int copy_end(const struct ct_trace *t, int dirfd)
{
	struct ct_state state;
	int rc = ct_state_append(&state, dirfd, t->reg.uuid);

	if (rc)
		return rc;
	ct_state_clock(&state);
	return ct_state_close(&state);
}

/* Opened again while it has such a gap.  What is missing then is lost, and counted. */
static int copy_open(struct ct_trace *t, const char *dir, struct ct_error *err)
{
	uint64_t until = ct_now_ns() + COPY_NS;
	int rc;

	for (int i = 0;; i++) {
		rc = ct_trace_open(t, dir, err);
		if (rc || (i >= COPY_TRIES && ct_now_ns() > until) || !copy_has_gap(t))
			return rc;
		ct_trace_close(t);
		usleep(1000);
	}
}

int ct_copy_take(const char *dir, const char *to, bool force, uint64_t since, struct ct_device *dev,
		 char made[PATH_MAX], struct ct_error *err)
{
	struct ct_recording rec = CT_RECORDING_INIT;
	struct ct_trace t = { 0 };
	int rc = copy_open(&t, dir, err);

	if (!rc)
		rc = ct_recording_directory(&rec, to, force, err);
	if (rc) {
		ct_trace_close(&t);
		return rc;
	}
	rc = copy_registry(&t, rec.dirfd);
	for (unsigned int i = 0; !rc && i < t.streams_count; i++)
		rc = copy_packets(&t, &t.streams[i], rec.dirfd, copy_is_whole(&t.streams[i]) ? 0 : since);
	if (!rc)
		rc = copy_pages(&t, rec.dirfd);
	if (!rc)
		rc = copy_end(&t, rec.dirfd);
	if (rc)
		ct_fail(err, -rc, "%s: %s", rec.dir, strerror(-rc));
	if (!rc && dev)
		rc = ct_device_copy_open(dev, rec.dirfd, err);
	if (!rc)
		rc = ct_finish(rec.dir, CT_FINISH_LOCKED, err);
	ct_trace_close(&t);
	snprintf(made, PATH_MAX, "%s", rec.dir);
	if (rc) {
		ct_recording_abandon(&rec);
		if (rec.lock >= 0)
			close(rec.lock);
		return rc;
	}
	ct_trace_unlock(rec.dir, rec.lock);
	return 0;
}
