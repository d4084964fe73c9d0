// SPDX-License-Identifier: LGPL-2.1-or-later
/* See user_probes.h. */
#include "probe/user_probes.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/kernel_symbols.h"
#include "capture/device.h"

/* Return: 0; 1: the module refused, with errno; a negative errno, with a line in @err. */
static int probes_ioctl(unsigned long cmd, struct ct_probe_add *add, struct ct_error *err)
{
	struct ct_device dev;
	int rc = ct_device_open(&dev, err), code;

	if (rc)
		return rc;
	rc = ioctl(dev.fd, cmd, add) ? 1 : 0;
	code = errno;
	ct_device_close(&dev);
	errno = code;
	return rc;
}

int ct_user_probe_add(struct ct_probe_add *add, const char *name, struct ct_error *err)
{
	int rc = probes_ioctl(CT_IOC_PROBE_ADD, add, err);

	if (rc <= 0)
		return rc;
	switch (errno) {
	case EEXIST:
		return ct_fail(err, EEXIST, "%s is probed already (cudatrace probe status)", name);
	case ENOENT:
		return ct_fail(err, ENOENT,
			       "there is no function %s (cudatrace probe list '%.3s*'); one that was inlined can't be probed",
			       name, add->symbol);
	case EPERM:
		if (ct_kernel_is_confidential())
			return ct_fail(err, EPERM, "the kernel is locked down (confidentiality): no probe can be added until it is booted without that");
		return ct_fail(err, EPERM, "adding a probe needs CAP_PERFMON or CAP_SYS_ADMIN");
	case EINVAL:
		return ct_fail(err, EINVAL, "the kernel does not let %s be probed", name);
	}
	return ct_fail(err, errno, "%s: %s", name, strerror(errno));
}

int ct_user_probe_remove(struct ct_probe_add *add, const char *name, struct ct_error *err)
{
	int rc = probes_ioctl(CT_IOC_PROBE_REMOVE, add, err);

	if (rc <= 0)
		return rc;
	if (errno == ENOENT)
		return ct_fail(err, ENOENT, "no probe of yours on %s (cudatrace probe status)", name);
	return ct_fail(err, errno, "%s: %s", name, strerror(errno));
}
