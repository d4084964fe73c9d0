// SPDX-License-Identifier: LGPL-2.1-or-later
/* See session.h. */
#include "capture/session.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

void ct_session_totals(const struct ct_device *dev, struct ct_session_totals *t)
{
	*t = (struct ct_session_totals){
		.lost = dev->facts->threadbufs_limited,
		.lost_for[CT_LOST_RATE] = dev->facts->threadbufs_limited,
	};
	for (uint32_t cpu = 0; cpu < dev->session.cpus; cpu++) {
		const struct ct_cpu_status *st = dev->ring[cpu].status;

		if (!st)
			continue;
		t->records += st->records;
		t->overwritten += st->overwritten;
		for (unsigned int i = 0; i < CT_LOST_REASONS; i++) {
			t->lost += st->lost[i];
			t->lost_for[i] += st->lost[i];
		}
	}
}

static int session_none(const char *what, struct ct_error *err)
{
	return ct_fail(err, ENODATA, "%s: no session runs (cudatrace session start)", what);
}

int ct_session_runs(const char *what, struct ct_error *err)
{
	struct ct_clock_map map = { .size = sizeof(map) };
	struct ct_device dev;
	int rc = ct_device_open_producer(&dev, err);

	if (rc)
		return rc;
	if (ioctl(dev.fd, CT_IOC_CLOCK, &map)) {
		rc = ct_fail(err, errno, "%s: the module's clock can't be mapped: %s", what, strerror(errno));
	} else {
		const struct ct_clock_page *page = (const struct ct_clock_page *)map.address;

		rc = *(const volatile __u32 *)&page->running ? 0 : session_none(what, err);
		munmap((void *)map.address, sysconf(_SC_PAGESIZE));
	}
	ct_device_close(&dev);
	return rc;
}

int ct_session_control(unsigned long cmd, void *arg, const char *what, struct ct_error *err)
{
	struct ct_device dev;
	int rc = ct_device_open(&dev, err);

	if (rc)
		return rc;
	if (ioctl(dev.fd, cmd, arg))
		rc = errno == ENODATA ?
			     session_none(what, err) :
		     errno == EPERM ?
			     ct_fail(err, EPERM,
				     "%s: this needs CAP_PERFMON or CAP_SYS_ADMIN, or to be the session's owner",
				     what) :
		     errno == EINVAL && cmd == CT_IOC_LIMITS ?
			     ct_fail(err, EINVAL,
				     "limit: a flight recorder has no --share, because it overwrites (give --rate or --bandwidth)") :
			     ct_fail(err, errno, "%s: %s", what, strerror(errno));
	ct_device_close(&dev);
	return rc;
}
