// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Room on disk, allocated before it is mapped; see preallocate.h.
 *
 * Must never map what is not allocated: a store into it would be SIGBUS.
 */
#include "tracedir/preallocate.h"

u64 ct_preallocate_limit(void)
{
	struct { u64 cur, max; } limit;

	return ct_sys4(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */, NULL, &limit) ? ~0ull : limit.cur;
}

bool ct_preallocate_beyond(u64 size)
{
	return size > ct_preallocate_limit();
}

static const char zeros[4096];

long ct_preallocate_append(int fd, u64 size)
{
	return ct_write(fd, zeros, size);
}

static long write_zeros(int fd, u64 offset, u64 size)
{
	while (size) {
		u64 part = size < sizeof(zeros) ? size : sizeof(zeros);
		long n = ct_sys4(SYS_pwrite64, fd, zeros, part, offset);

		if (n <= 0)
			return n ? n : -28;
		offset += (u64)n;
		size -= (u64)n;
	}
	return 0;
}

long ct_preallocate(int fd, u64 offset, u64 size)
{
	long err;

	if (ct_preallocate_beyond(offset + size))
		return -27;	/* EFBIG */
	err = ct_sys4(SYS_fallocate, fd, 0, offset, size);
	/* EOPNOTSUPP, ENOSYS; EPERM: seccomp filters of older containers refuse it so */
	if (err == -95 || err == -38 || err == -1)
		err = write_zeros(fd, offset, size);
	if (err)
		ct_sys2(SYS_ftruncate, fd, offset);
	return err;
}
