// SPDX-License-Identifier: LGPL-2.1-or-later
/* See output.h. */
#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unfinished.h"

static int output_fail(struct ct_error *err, int rc, const char *output)
{
	return ct_fail(err, -rc, "%s: %s", output, strerror(-rc));
}

/* What a format returned: says where, and what strerror() says if it said nothing. */
static int output_result(struct ct_error *err, int rc, const char *output)
{
	struct ct_error said = *err;

	if (!rc || rc == -EPIPE)
		return rc;
	return ct_fail(err, -rc, "%.200s: %s", output, *said.text ? said.text : strerror(-rc));
}

static int output_to_directory(const struct ct_exporter *format, struct ct_export *x,
			       const char *output, struct ct_error *err)
{
	struct stat st;

	if (mkdir(output, 0777)) {
		if (errno != EEXIST)
			return output_fail(err, -errno, output);
		if (stat(output, &st) || !S_ISDIR(st.st_mode))
			return ct_fail(err, ENOTDIR, "%s: is no directory, and format %s writes into one",
				       output, format->name);
	}
	x->path = output;
	return output_result(err, format->export(x, err), output);
}

/* A device, a pipe, the standard output. */
static int output_to_stream(const struct ct_exporter *format, struct ct_export *x, const char *name,
			    struct ct_error *err)
{
	if (format->to != CT_EXPORT_STREAM)
		return ct_fail(err, ESPIPE, "%s: format %s goes into a %s: name it with -o", name,
			       format->name, format->to == CT_EXPORT_FILE ? "file" : "directory");
	return output_result(err, format->export(x, err), name);
}

static int output_to_device(const struct ct_exporter *format, struct ct_export *x, const char *output,
			    struct ct_error *err)
{
	int rc;

	x->fd = open(output, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (x->fd < 0)
		return output_fail(err, -errno, output);
	rc = output_to_stream(format, x, output, err);
	if (close(x->fd) && !rc)
		rc = output_fail(err, -errno, output);
	return rc;
}

static int output_close(int fd)
{
	return close(fd) ? -errno : 0;
}

/* @there: what -f is to replace; NULL: there is no file yet. */
static int output_to_file(const struct ct_exporter *format, struct ct_export *x, const char *output,
			  bool force, const struct stat *there, struct ct_error *err)
{
	char *partial;
	int rc;

	x->fd = ct_unfinished(output, &partial);
	if (x->fd < 0)
		return output_fail(err, x->fd, output);
	x->path = partial;
	/* What only some could read stays so.  Not each file system knows that, and SQLite opens it once more. */
	if (there)
		fchmod(x->fd, (there->st_mode & 0777) | 0600);
	rc = format->export(x, err);
	if (there)
		fchmod(x->fd, there->st_mode & 0777);
	/* A file system over the network may tell only now that it is full. */
	rc = rc ? output_close(x->fd), rc : output_close(x->fd);
	if (!rc && renameat2(AT_FDCWD, partial, AT_FDCWD, output, force ? 0 : RENAME_NOREPLACE))
		rc = -errno;
	/* Not each file system knows how to keep what is there. */
	if (rc == -EINVAL && !force && access(output, F_OK) && !rename(partial, output))
		rc = 0;
	if (rc)
		unlink(partial);
	ct_unfinished_forget(partial);
	free(partial);
	return output_result(err, rc, output);
}

/* A file that is there. */
static int output_replace(const struct ct_exporter *format, struct ct_export *x, const char *output,
			  bool force, const struct stat *there, struct ct_error *err)
{
	struct stat stdout_stat;
	char *real;
	int rc;

	/* /dev/stdout, which somebody sent to a file. */
	if (!fstat(STDOUT_FILENO, &stdout_stat) && stdout_stat.st_dev == there->st_dev &&
	    stdout_stat.st_ino == there->st_ino)
		return output_to_stream(format, x, output, err);
	if (!force)
		return ct_fail(err, EEXIST, "%s: is there already; -f replaces it", output);
	/* What a link leads to is replaced, not the link. */
	real = realpath(output, NULL);
	rc = real ? output_to_file(format, x, real, force, there, err) : output_fail(err, -errno, output);
	free(real);
	return rc;
}

int ct_export_write(const struct ct_exporter *format, const struct ct_trace *trace, const char *output,
		    bool force, unsigned int weight, struct ct_error *err)
{
	struct ct_export x = { .trace = trace, .fd = STDOUT_FILENO, .weight = weight };
	struct stat st;

	*err = (struct ct_error){ 0 };
	if (!output || !strcmp(output, "-"))
		return output_to_stream(format, &x, "standard output", err);
	if (format->to == CT_EXPORT_DIRECTORY)
		return output_to_directory(format, &x, output, err);
	if (stat(output, &st)) {
		if (errno != ENOENT)
			return output_fail(err, -errno, output);
		if (!lstat(output, &st))
			return ct_fail(err, ENOENT, "%s: is a link to what is not there", output);
		return output_to_file(format, &x, output, force, NULL, err);
	}
	if (S_ISDIR(st.st_mode))
		return output_fail(err, -EISDIR, output);
	if (!S_ISREG(st.st_mode))
		return output_to_device(format, &x, output, err);
	return output_replace(format, &x, output, force, &st, err);
}
