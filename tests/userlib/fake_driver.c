// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded behind the library: answers the driver's ioctls on a device node that
 * has no driver, as NVIDIA's would, and passes on the rest.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int ioctl(int fd, unsigned long cmd, ...)
{
	unsigned **block;
	va_list args;

	va_start(args, cmd);
	block = va_arg(args, unsigned **);
	va_end(args);
	if ((cmd >> 8 & 0xff) != 'F' || fd == 1)
		return (int)syscall(SYS_ioctl, fd, cmd, block);
	if ((unsigned long)block < 4096) {
		errno = EFAULT;
		return -1;
	}
	if (cmd == 0xc01046d3)
		block = (unsigned **)block[1];
	((unsigned *)block)[7] = 0x56;		/* not supported */
	return 0;
}
