// SPDX-License-Identifier: LGPL-2.1-or-later
/* See days.h. */
#include "export/parquet/days.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/unfinished.h"

/* A host's name comes out of the trace: what it may do in a path is only to be a name. */
static void days_host(char *to, size_t size, const char *name)
{
	size_t n = 0;

	for (; name && name[n] && n + 1 < size; n++) {
		bool plain = (name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z') ||
			     (name[n] >= '0' && name[n] <= '9') || name[n] == '-' || name[n] == '_' ||
			     (name[n] == '.' && n);

		to[n] = plain ? name[n] : '_';
	}
	to[n] = 0;
	if (!n)
		snprintf(to, size, "unknown");
}

void ct_days_init(struct ct_days *d, const char *dir, const char *ending, const struct ct_registry *reg)
{
	unsigned int at = 0;

	*d = (struct ct_days){ .dir = dir, .ending = ending };
	days_host(d->host, sizeof(d->host), ct_registry_info(reg, "hostname"));
	for (unsigned int i = 0; i < 16; i++)
		at += snprintf(d->uuid + at, sizeof(d->uuid) - at, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", reg->uuid[i]);
}

static int days_fail(struct ct_error *err, const char *path)
{
	return ct_fail(err, errno, "%s: %s", path, strerror(errno));
}

static int days_mkdir(const char *path, struct ct_error *err)
{
	return mkdir(path, 0777) && errno != EEXIST ? days_fail(err, path) : 0;
}

/* Makes the folders, and the file under the name that it has until it is complete. */
static int days_create(struct ct_days *d, struct ct_day *day, struct ct_error *err)
{
	char folder[PATH_MAX], date[16];
	time_t t = (time_t)day->day * 86400;
	int fd, rc;

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&t));
	if (snprintf(folder, sizeof(folder), "%s/day=%s", d->dir, date) >= PATH_MAX - 256)
		return ct_fail(err, ENAMETOOLONG, "%s: %s", d->dir, strerror(ENAMETOOLONG));
	rc = days_mkdir(folder, err);
	if (rc)
		return rc;
	snprintf(folder + strlen(folder), 100, "/host=%s", d->host);
	rc = days_mkdir(folder, err);
	if (rc)
		return rc;
	if (asprintf(&day->path, "%s/%s.%s", folder, d->uuid, d->ending) < 0) {
		day->path = NULL;
		return ct_fail(err, ENOMEM, "no memory");
	}
	/* Readers leave out what begins with a dot. */
	fd = ct_unfinished(day->path, &day->partial);
	if (fd < 0)
		return ct_fail(err, -fd, "%s: %s", day->path, strerror(-fd));
	rc = ct_parquet_begin(&day->file, fd);
	return rc ? ct_fail(err, -rc, "%s: %s", day->partial, strerror(-rc)) : 0;
}

struct ct_day *ct_days_get(struct ct_days *d, uint32_t day, struct ct_error *err)
{
	struct ct_day *more;

	for (unsigned int i = d->count; i > 0; i--)
		if (d->list[i - 1].day == day)
			return &d->list[i - 1];
	if (d->count == CT_DAYS_MAX) {
		ct_fail(err, EINVAL, "the times of the trace are on more than %d days: it is damaged",
			CT_DAYS_MAX);
		return NULL;
	}
	more = realloc(d->list, (d->count + 1) * sizeof(*more));
	if (!more) {
		ct_fail(err, ENOMEM, "no memory");
		return NULL;
	}
	d->list = more;
	d->list[d->count] = (struct ct_day){ .day = day, .file.fd = -1 };
	return days_create(d, &d->list[d->count++], err) ? NULL : &d->list[d->count - 1];
}

static bool days_has(const struct ct_days *d, const char *path)
{
	for (unsigned int i = 0; i < d->count; i++)
		if (!strcmp(d->list[i].path, path))
			return true;
	return false;
}

static void days_remove_others(const struct ct_days *d)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(d->dir);

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "day=", 4) &&
		    snprintf(path, sizeof(path), "%s/%s/host=%s/%s.%s", d->dir, entry->d_name, d->host,
			     d->uuid, d->ending) < PATH_MAX && !days_has(d, path))
			unlink(path);
	if (dir)
		closedir(dir);
}

int ct_days_publish(struct ct_days *d, struct ct_error *err)
{
	for (unsigned int i = 0; i < d->count; i++) {
		struct ct_day *day = &d->list[i];
		int fd = day->file.fd;

		day->file.fd = -1;
		if (close(fd))
			return days_fail(err, day->partial);
	}
	for (unsigned int i = 0; i < d->count; i++) {
		struct ct_day *day = &d->list[i];

		if (rename(day->partial, day->path))
			return days_fail(err, day->path);
		ct_unfinished_forget(day->partial);
		free(day->partial);
		day->partial = NULL;
	}
	days_remove_others(d);
	return 0;
}

void ct_days_free(struct ct_days *d)
{
	for (unsigned int i = 0; i < d->count; i++) {
		struct ct_day *day = &d->list[i];

		if (day->file.fd >= 0)
			close(day->file.fd);
		if (day->partial) {
			unlink(day->partial);
			ct_unfinished_forget(day->partial);
		}
		free(day->partial);
		free(day->path);
		ct_parquet_free(&day->file);
	}
	free(d->list);
	*d = (struct ct_days){ 0 };
}
