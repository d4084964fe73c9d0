// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing a registry.  Several processes append to one file: must never write a
 * part of a line, and never without the lock.
 */
#include "write/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "write/registry_line.h"
#include "trace/directory.h"

/* Where the last line begins if its writer was killed while writing it; else the end. */
static off_t registry_last_line(int fd)
{
	char buf[4096];
	off_t end = lseek(fd, 0, SEEK_END), from;
	ssize_t n;

	for (; end > 0; end = from) {
		from = end > (off_t)sizeof(buf) ? end - (off_t)sizeof(buf) : 0;
		n = pread(fd, buf, end - from, from);
		if (n != end - from)
			return -1;
		while (n && buf[n - 1] != '\n')
			n--;
		if (n)
			return from + n;
	}
	return 0;
}

/* Under the lock: removes the part of a line that a killed writer left.  Returns the size. */
static off_t registry_cut_half_line(int fd)
{
	off_t end = registry_last_line(fd);

	return end < 0 || ftruncate(fd, end) ? -errno : end;
}

static int registry_put(struct ct_registry_writer *w, const char *line, size_t len)
{
	ssize_t n;
	off_t end;
	int rc = 0;

	while (flock(w->fd, LOCK_EX))
		if (errno != EINTR)
			return -errno;
	end = registry_cut_half_line(w->fd);
	if (end < 0) {
		rc = end;
	} else {
		n = write(w->fd, line, len);
		if (n < 0)
			rc = -errno;
		else if ((size_t)n != len)
			rc = -ENOSPC;
	}
	/* A line after a part of one would be damaged. */
	if (rc && end >= 0 && ftruncate(w->fd, end))
		rc = -errno;
	flock(w->fd, LOCK_UN);
	return rc;
}

/* Appends @line, which is NULL where there was no memory for it, and frees it. */
static int registry_put_line(struct ct_registry_writer *w, char *line)
{
	int rc = line ? registry_put(w, line, strlen(line)) : -ENOMEM;

	free(line);
	return rc;
}

static int registry_open_in(struct ct_registry_writer *w, const char *dir, int flags,
			    struct ct_error *err)
{
	char path[4096];

	if (ct_path(path, sizeof(path), dir, CT_REGISTRY_FILE))
		return ct_fail(err, ENAMETOOLONG, "%.100s...: the path is too long", dir);
	w->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	if (w->fd < 0)
		return ct_fail(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

int ct_registry_create(struct ct_registry_writer *w, const char *dir, const uint8_t uuid[16],
		       uint64_t start, uint64_t realtime, struct ct_error *err)
{
	int rc;

	rc = registry_open_in(w, dir, O_CREAT | O_EXCL, err);
	if (rc)
		return rc;
	rc = registry_put_line(w, ct_registry_head_line(uuid, start, realtime));
	if (rc) {
		ct_fail(err, -rc, "%s/%s: %s", dir, CT_REGISTRY_FILE, strerror(-rc));
		ct_registry_close(w);
	}
	return rc;
}

int ct_registry_append(struct ct_registry_writer *w, const char *dir, struct ct_error *err)
{
	off_t end;
	int rc;

	rc = registry_open_in(w, dir, 0, err);
	if (rc)
		return rc;
	flock(w->fd, LOCK_EX);
	end = registry_cut_half_line(w->fd);
	rc = end < 0 ? end : 0;
	flock(w->fd, LOCK_UN);
	if (rc) {
		ct_fail(err, -rc, "%s/%s: %s", dir, CT_REGISTRY_FILE, strerror(-rc));
		ct_registry_close(w);
	}
	return rc;
}

int ct_registry_add_define(struct ct_registry_writer *w, const struct ct_define *define)
{
	char spec[CT_SPEC_MAX], *p = spec;
	struct ct_class *class;
	const char *why;
	int rc;

	if (define->fields_count > CT_FIELDS_MAX ||
	    !memchr(define->name, 0, sizeof(define->name)) ||
	    !memchr(define->symbol, 0, sizeof(define->symbol)))
		return -EINVAL;
	*p = 0;
	for (unsigned int i = 0; i < define->fields_count; i++) {
		const struct ct_field *field = &define->fields[i];

		if (field->type >= CT_TYPE_COUNT || !memchr(field->name, 0, sizeof(field->name)))
			return -EINVAL;
		p = stpcpy(stpcpy(stpcpy(stpcpy(p, field->name), ":"), ct_type_word[field->type]),
			   ",");
	}
	class = ct_class_new(define->id, define->layer, define->category, define->op, spec,
			     define->name, define->symbol, &why);
	if (!class)
		return -EINVAL;
	rc = registry_put_line(w, ct_registry_class_line(class));
	free(class);
	return rc;
}

int ct_registry_add_string(struct ct_registry_writer *w, uint32_t id, const char *text)
{
	return registry_put_line(w, ct_registry_string_line(id, text));
}

int ct_registry_add_info(struct ct_registry_writer *w, const char *key, const char *text)
{
	return registry_put_line(w, ct_registry_info_line(key, text));
}

void ct_registry_close(struct ct_registry_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}
