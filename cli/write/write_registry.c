// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing a registry.  Several processes append to one file, without a lock: a line is
 * written by one write, and what is there is never changed.
 */
#include "write/write_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "write/registry_line.h"
#include "trace/directory.h"

/*
 * Appends by one write.  Nobody holds a lock, so a part that was written of @line stays
 * (the disk is full): the next append makes it void.
 */
static int registry_put(struct ct_registry_writer *w, const char *line)
{
	off_t end = lseek(w->fd, 0, SEEK_END);
	char *after = NULL, last = '\n';
	ssize_t n;
	size_t len;

	if (end > 0 && pread(w->fd, &last, 1, end - 1) != 1)
		return -EIO;
	if (last != '\n' && asprintf(&after, " %%\n%s", line) < 0)
		return -ENOMEM;
	if (after)
		line = after;
	len = strlen(line);
	n = write(w->fd, line, len);
	if (n >= 0)
		n = (size_t)n == len ? 0 : -ENOSPC;
	else
		n = -errno;
	free(after);
	return n;
}

/* Appends @line, which is NULL where there was no memory for it, and frees it. */
static int registry_put_line(struct ct_registry_writer *w, char *line)
{
	int rc = line ? registry_put(w, line) : -ENOMEM;

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
	return registry_open_in(w, dir, 0, err);
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
	rc = registry_put_line(w, ct_registry_class_line(class->id, class));
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
