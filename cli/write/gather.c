// SPDX-License-Identifier: LGPL-2.1-or-later
/* See gather.h. */
#include "write/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/directory.h"

/* What is of the trace, finished or not. */
static bool gather_is_wanted(const char *name)
{
	return ct_is_trace_file(name) || ct_is_inflight_page(name);
}

/* A file system that can shares the blocks of both files. */
static int gather_file(int from, int to)
{
	char buffer[65536];
	ssize_t n;
	int rc;

	while ((n = copy_file_range(from, NULL, to, NULL, 1ul << 30, 0)) > 0)
		;
	if (!n)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return -errno;
	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		rc = ct_write_all(to, buffer, (size_t)n);
		if (rc)
			return rc;
	}
	return n < 0 ? -errno : 0;
}

static int gather_entry(int dirfd, int tofd, const char *name)
{
	int from = openat(dirfd, name, O_RDONLY | CT_O_FOREIGN), to, rc;
	struct stat st;

	if (from < 0)
		return errno == ELOOP ? 0 : -errno;
	if (fstat(from, &st) || !S_ISREG(st.st_mode)) {
		close(from);
		return 0;
	}
	to = openat(tofd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	rc = to < 0 ? -errno : gather_file(from, to);
	if (to >= 0 && close(to) && !rc)
		rc = -errno;
	close(from);
	return rc;
}

int ct_gather_copy(const char *dir, const char *to, struct ct_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int tofd, rc = 0;

	if (!d)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	if (mkdir(to, 0777)) {
		rc = ct_fail(err, errno, "%s: %s", to, strerror(errno));
		closedir(d);
		return rc;
	}
	tofd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tofd < 0)
		rc = ct_fail(err, errno, "%s: %s", to, strerror(errno));
	while (!rc && (entry = readdir(d))) {
		rc = gather_is_wanted(entry->d_name) ? gather_entry(dirfd(d), tofd, entry->d_name) : 0;
		if (rc)
			ct_fail(err, -rc, "%s/%s: %s", to, entry->d_name, strerror(-rc));
	}
	if (tofd >= 0)
		close(tofd);
	closedir(d);
	return rc;
}
