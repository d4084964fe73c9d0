// SPDX-License-Identifier: LGPL-2.1-or-later
/* See files.h. */
#include "pack/files.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

bool ct_pack_is(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

bool ct_pack_begins(const char *path)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t first[4] = { 0 };
	struct stat st;
	/* A name may be a pipe's. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool begins = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, first, sizeof(first)) == sizeof(first);

	for (unsigned int i = 0; i < sizeof(magic); i++)
		begins &= first[i] == magic[i];
	if (fd >= 0)
		close(fd);
	return begins;
}
