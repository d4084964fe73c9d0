// SPDX-License-Identifier: LGPL-2.1-or-later
/* See checks.h.  A check that fills in a field of struct ct_doctor precedes those that use it. */
#include "doctor/checks.h"

#include "capture/device.h"
#include "doctor/cuda.h"
#include "doctor/doctor_device.h"
#include "doctor/doctor_directory.h"
#include "doctor/kernel.h"
#include "doctor/module.h"
#include "doctor/kernel_options.h"
#include "doctor/place.h"
#include "doctor/selftest.h"
#include "doctor/ways.h"

static bool checks_loaded(const struct ct_doctor *d)
{
	return d->loaded;
}

static bool checks_not_loaded(const struct ct_doctor *d)
{
	return !d->loaded;
}

static bool checks_device_there(const struct ct_doctor *d)
{
	(void)d;
	return ct_doctor_has(CT_DEVICE_PATH);
}

static bool checks_device_opens(const struct ct_doctor *d)
{
	return d->device >= 0;
}

static bool checks_driver(const struct ct_doctor *d)
{
	return d->driver;
}

static bool checks_selftest(const struct ct_doctor *d)
{
	return d->selftest && d->library;
}

const struct ct_check ct_checks[] = {
	{ "kernel",		ct_check_kernel,		NULL },
	{ "kernel options",	ct_check_options,		NULL },
	{ "modules disabled",	ct_check_modules_disabled,	NULL },
	{ "modules",		ct_check_modules,		NULL },
	{ "Secure Boot",	ct_check_secure_boot,		NULL },
	{ "signed only",	ct_check_signed_only,		NULL },
	{ "confidential",	ct_check_confidential,		NULL },
	{ "headers",		ct_check_headers,		NULL },
	{ "module built",	ct_check_built,			NULL },
	{ "module loaded",	ct_check_loaded,		checks_loaded },
	{ "module signed",	ct_check_signed,		checks_not_loaded },
	{ "module not loaded",	ct_check_not_loaded,		checks_not_loaded },
	{ "device there",	ct_check_device_there,		NULL },
	{ "device records",	ct_check_device_records,	checks_device_there },
	{ "device reads",	ct_check_device_reads,		checks_device_there },
	{ "version",		ct_check_version,		checks_device_opens },
	{ "refused probes",	ct_check_refused_probes,	checks_device_opens },
	{ "probes",		ct_check_probes,		checks_device_opens },
	{ "absent probes",	ct_check_absent_probes,		checks_device_opens },
	{ "driver",		ct_check_driver,		NULL },
	{ "nvidiactl",		ct_check_nvidiactl,		checks_driver },
	{ "libcuda",		ct_check_libcuda,		NULL },
	{ "libcuda's version",	ct_check_libcuda_version,	NULL },
	{ "preload library",	ct_check_library,		NULL },
	{ "libcupti",		ct_check_cupti,			NULL },
	{ "stacks",		ct_check_stacks,		NULL },
	{ "attach",		ct_check_attach,		NULL },
	{ "standby",		ct_check_standby,		NULL },
	{ "container",		ct_check_container,		NULL },
	{ "program",		ct_check_program,		NULL },
	{ "space",		ct_check_space,			NULL },
	{ "file system",	ct_check_file_system,		NULL },
	{ "selftest",		ct_check_selftest,		checks_selftest },
};
const size_t ct_checks_count = sizeof(ct_checks) / sizeof(*ct_checks);
