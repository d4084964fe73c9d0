// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the running kernel allows.  Must never load anything, and never need root to
 * look.
 */
#include "doctor/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/kernel_symbols.h"

struct ct_check_result ct_check_kernel(struct ct_doctor *d)
{
	struct utsname uts;

	d->loaded = ct_doctor_has("/sys/module/cudatrace");
	uname(&uts);
	snprintf(d->release, sizeof(d->release), "%.79s", uts.release);
	return ct_check_result(CT_FINDING_NOTE, NULL, "kernel %s", d->release);
}

struct ct_check_result ct_check_modules_disabled(struct ct_doctor *d)
{
	char line[128];

	if (!ct_first_line("/proc/sys/kernel/modules_disabled", line, sizeof(line)) || *line != '1')
		return ct_no_finding();
	d->may_load = false;
	return ct_check_result(CT_FINDING_MISSING, "reboot; nothing less undoes it",
			  "the kernel loads no more modules (kernel.modules_disabled=1)");
}

struct ct_check_result ct_check_modules(struct ct_doctor *d)
{
	if (ct_doctor_has("/proc/modules"))
		return ct_no_finding();
	d->may_load = false;
	return ct_check_result(CT_FINDING_MISSING, "use a kernel with CONFIG_MODULES=y",
			  "this kernel has no modules");
}

/* The last byte of an EFI variable (after 4 bytes of attributes). */
static bool kernel_secure_boot(void)
{
	unsigned char bytes[5] = { 0 };
	FILE *f = fopen("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
			"re");
	size_t n;

	if (!f)
		return false;
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return n == sizeof(bytes) && bytes[4] == 1;
}

struct ct_check_result ct_check_secure_boot(struct ct_doctor *d)
{
	if (!kernel_secure_boot())
		return ct_no_finding();
	d->must_sign = true;
	return ct_check_result(CT_FINDING_NOTE, NULL, "Secure Boot is on");
}

struct ct_check_result ct_check_signed_only(struct ct_doctor *d)
{
	char line[128];

	if (ct_first_line("/sys/module/module/parameters/sig_enforce", line, sizeof(line)) &&
	    *line == 'Y')
		d->must_sign = true;
	if (ct_first_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	    (strstr(line, "[integrity]") || strstr(line, "[confidentiality]")))
		d->must_sign = true;
	if (!d->must_sign)
		return ct_no_finding();
	return ct_check_result(
		CT_FINDING_NOTE, NULL,
		"the kernel loads only signed modules ('make sign', then enrol the key with mokutil)");
}

struct ct_check_result ct_check_confidential(struct ct_doctor *d)
{
	(void)d;
	if (!ct_kernel_is_confidential())
		return ct_no_finding();
	return ct_check_result(CT_FINDING_NOTE, NULL,
			  "the kernel is locked down (confidentiality): 'probe add' is refused");
}

struct ct_check_result ct_check_headers(struct ct_doctor *d)
{
	char path[200], cure[200];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", d->release);
	snprintf(cure, sizeof(cure), "apt-get install linux-headers-%s", d->release);
	if (ct_doctor_has(path))
		return ct_check_result(CT_FINDING_OK, NULL, "the kernel's headers are installed");
	if (!d->may_load || d->loaded)
		return ct_no_finding();
	return ct_check_result(CT_FINDING_MISSING, cure,
			  "the kernel's headers: no module can be built for it");
}
