// SPDX-License-Identifier: LGPL-2.1-or-later
/* See file.h. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ct_write_all(int fd, const void *from, size_t size)
{
	while (size) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from = (const uint8_t *)from + n;
		size -= n;
	}
	return 0;
}

int ct_pwrite_all(int fd, const void *from, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pwrite(fd, from, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from = (const uint8_t *)from + n;
		offset += n;
		size -= n;
	}
	return 0;
}

int ct_pwrite_packets(int fd, const void *from, size_t size, uint64_t offset)
{
	int rc = ct_pwrite_all(fd, (const uint8_t *)from + 8, size - 8, offset + 8);

	return rc ? rc : ct_pwrite_all(fd, from, 8, offset);
}

uint64_t ct_file_hole(int fd, uint64_t size)
{
	off_t data = lseek(fd, 0, SEEK_DATA);

	return data >= 0 ? (uint64_t)data & -8ull : errno == ENXIO ? size : 0;
}

uint64_t ct_zeros(const uint8_t *data, uint64_t size)
{
	uint64_t word;

	for (uint64_t at = 0; size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		if (word)
			return at;
	}
	return size;
}

bool ct_first_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got;

	if (!f)
		return false;
	got = fgets(line, size, f) != NULL;
	if (got)
		line[strcspn(line, "\n")] = 0;
	fclose(f);
	return got;
}

int ct_path(char *path, size_t size, const char *dir, const char *name)
{
	return snprintf(path, size, "%s/%s", dir, name) < (int)size ? 0 : -ENAMETOOLONG;
}
