// SPDX-License-Identifier: LGPL-2.1-or-later
/* See pages.h. */
#include "trace/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

int ct_inflight_page_read(const char *dir, const char *name, struct ct_inflight_page *page)
{
	char path[4096];
	ssize_t n;
	int fd;

	if (ct_path(path, sizeof(path), dir, name))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (fd < 0)
		return -errno;
	n = pread(fd, page, sizeof(*page), 0);
	close(fd);
	if (n != sizeof(*page) || page->magic != CT_MAGIC || page->abi != CT_ABI_VERSION)
		return -EBADMSG;
	if (page->depth > CT_INFLIGHT_MAX)
		page->depth = CT_INFLIGHT_MAX;
	return page->depth;
}

uint64_t ct_lost_read(const char *dir, const char *name)
{
	struct ct_lost_page page;
	char path[4096];
	ssize_t n;
	int fd;

	if (ct_path(path, sizeof(path), dir, name))
		return 0;
	fd = open(path, O_RDONLY | CT_O_FOREIGN);
	if (fd < 0)
		return 0;
	n = pread(fd, &page, sizeof(page), 0);
	close(fd);
	if (n != sizeof(page) || page.magic != CT_MAGIC || page.abi != CT_ABI_VERSION)
		return 0;
	return page.lost;
}
