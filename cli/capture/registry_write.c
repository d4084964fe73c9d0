// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing a registry.  Several processes append to one file: must never write a
 * part of a line, and never without the lock.
 */
#include "trace/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Whoever wrote it died in its last line: where that begins. */
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

/* Under the lock: the file, without the half line in which a writer died. */
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
	/* Half a line, and the next behind it, would be a damaged one. */
	if (rc && end >= 0 && ftruncate(w->fd, end))
		rc = -errno;
	flock(w->fd, LOCK_UN);
	return rc;
}

static int registry_put_words(struct ct_registry_writer *w, const char *const *word,
			      unsigned int words)
{
	size_t size = 2;
	char *line, *p;
	int rc;

	for (unsigned int i = 0; i < words; i++)
		size += 3 * strlen(word[i]) + 1;
	p = line = malloc(size);
	if (!line)
		return -ENOMEM;
	for (unsigned int i = 0; i < words; i++) {
		if (i)
			*p++ = ' ';
		ct_registry_escape(p, word[i]);
		p += strlen(p);
	}
	*p++ = '\n';
	rc = registry_put(w, line, p - line);
	free(line);
	return rc;
}

static int registry_open_in(struct ct_registry_writer *w, const char *dir, int flags,
			    struct ct_error *err)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dir, CT_REGISTRY_FILE) >= (int)sizeof(path))
		return ct_fail(err, ENAMETOOLONG, "%.100s...: the path is too long", dir);
	w->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	if (w->fd < 0)
		return ct_fail(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

int ct_registry_create(struct ct_registry_writer *w, const char *dir, const uint8_t uuid[16],
		       uint64_t start, uint64_t realtime, struct ct_error *err)
{
	char line[256], *p = line;
	int rc;

	rc = registry_open_in(w, dir, O_CREAT | O_EXCL, err);
	if (rc)
		return rc;
	p += sprintf(p, "cudatrace %u uuid=", CT_ABI_VERSION);
	for (unsigned int i = 0; i < 16; i++)
		p += sprintf(p, "%02x", uuid[i]);
	p += sprintf(p, " start=%llu realtime=%llu\n", (unsigned long long)start,
		     (unsigned long long)realtime);
	rc = registry_put(w, line, p - line);
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

int ct_registry_add_class(struct ct_registry_writer *w, const struct ct_class *class)
{
	char id[16], spec[CT_SPEC_MAX];
	const char *op = ct_op_word[class->op];
	const char *word[] = {
		"class", id, ct_layer_word[class->layer], ct_category_word[class->category],
		*op ? op : "-", spec, class->name, *class->symbol ? class->symbol : class->name,
	};

	snprintf(id, sizeof(id), "%u", class->id);
	ct_class_spec(class, spec);
	return registry_put_words(w, word, 8);
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
		p = stpcpy(stpcpy(stpcpy(stpcpy(p, field->name), ":"),
				  ct_type_word[field->type]), ",");
	}
	class = ct_class_new(define->id, define->layer, define->category, define->op, spec,
			     define->name, define->symbol, &why);
	if (!class)
		return -EINVAL;
	rc = ct_registry_add_class(w, class);
	free(class);
	return rc;
}

int ct_registry_add_string(struct ct_registry_writer *w, uint32_t id, const char *text)
{
	char number[16];
	const char *word[] = { "string", number, text };

	snprintf(number, sizeof(number), "%u", id);
	return registry_put_words(w, word, 3);
}

int ct_registry_add_info(struct ct_registry_writer *w, const char *key, const char *text)
{
	const char *word[] = { "info", key, text };

	return registry_put_words(w, word, 3);
}

void ct_registry_close(struct ct_registry_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}
