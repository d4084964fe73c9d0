// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the running kernel allows, and whether there is a module for it.  Must
 * never load anything, and never need root to look.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool doctor_has(const char *path)
{
	return !access(path, F_OK);
}

/* A line of a text file that begins with @start. */
static bool doctor_file_has_line(const char *path, const char *start)
{
	char line[512];
	bool found = false;
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, start, strlen(start));
	fclose(f);
	return found;
}

/* /proc/kallsyms names every function, without root too (then without addresses). */
static bool doctor_kernel_has(const char *function)
{
	char line[512], name[256];
	bool found = false;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*s %*c %255s", name) == 1 && !strcmp(name, function);
	fclose(f);
	return found;
}

static void doctor_check_kprobes(struct ct_doctor *d)
{
	char path[200];

	snprintf(path, sizeof(path), "/boot/config-%s", d->release);
	d->kprobes = doctor_kernel_has("register_kretprobe") ||
		     doctor_file_has_line(path, "CONFIG_KPROBES=y");
	if (d->kprobes)
		ct_finding(d, CT_FINDING_OK, NULL, "kprobes are built into the kernel");
	else
		ct_finding(d, CT_FINDING_MISSING,
			   "use a kernel with CONFIG_KPROBES=y, such as the distribution's",
			   "kprobes are not built into this kernel: the module can't work");
}

/* The last byte of an EFI variable (behind 4 bytes of attributes). */
static bool doctor_secure_boot(void)
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

static void doctor_check_loading(struct ct_doctor *d)
{
	char line[128];

	d->may_load = true;
	if (ct_doctor_read("/proc/sys/kernel/modules_disabled", line, sizeof(line)) &&
	    *line == '1') {
		d->may_load = false;
		ct_finding(d, CT_FINDING_MISSING, "reboot; nothing less undoes it",
			   "the kernel loads no more modules (kernel.modules_disabled=1)");
	}
	if (!doctor_has("/proc/modules")) {
		d->may_load = false;
		ct_finding(d, CT_FINDING_MISSING, "use a kernel with CONFIG_MODULES=y",
			   "this kernel has no modules");
	}
	if (ct_doctor_read("/sys/module/module/parameters/sig_enforce", line, sizeof(line)) &&
	    *line == 'Y')
		d->must_sign = true;
	if (ct_doctor_read("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	    (strstr(line, "[integrity]") || strstr(line, "[confidentiality]")))
		d->must_sign = true;
	if (doctor_secure_boot()) {
		d->must_sign = true;
		ct_finding(d, CT_FINDING_NOTE, NULL, "Secure Boot is on");
	}
	if (d->must_sign)
		ct_finding(d, CT_FINDING_NOTE, NULL,
			   "the kernel loads signed modules alone ('make sign', then enrol the key with mokutil)");
}

void ct_doctor_kernel(struct ct_doctor *d)
{
	struct utsname uts;
	char path[200], cure[200];

	d->loaded = doctor_has("/sys/module/cudatrace");
	uname(&uts);
	snprintf(d->release, sizeof(d->release), "%.79s", uts.release);
	ct_finding(d, CT_FINDING_NOTE, NULL, "kernel %s", d->release);
	doctor_check_kprobes(d);
	doctor_check_loading(d);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", d->release);
	snprintf(cure, sizeof(cure), "apt-get install linux-headers-%s", d->release);
	if (doctor_has(path))
		ct_finding(d, CT_FINDING_OK, NULL, "the kernel's headers are installed");
	else if (d->kprobes && d->may_load && !d->loaded)
		ct_finding(d, CT_FINDING_MISSING, cure,
			   "the kernel's headers: no module can be built for it");
}

/* ------------------------------------------------------------ the module --- */

/* A signature is behind the module's own bytes. */
static bool doctor_is_signed(const char *path)
{
	static const char magic[] = "~Module signature appended~\n";
	char end[sizeof(magic)] = "";
	FILE *f = fopen(path, "re");
	bool found;

	if (!f)
		return false;
	found = !fseek(f, -(long)(sizeof(magic) - 1), SEEK_END) &&
		fread(end, sizeof(magic) - 1, 1, f) == 1 && !strcmp(end, magic);
	fclose(f);
	return found;
}

/* Installed for this kernel, or built beside this program. */
static void doctor_find_module(struct ct_doctor *d)
{
	char path[200], line[1024], self[3000], *slash;
	ssize_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", d->release);
	f = fopen(path, "re");
	while (f && !*d->module_path && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':'), *name;

		if (!colon)
			continue;
		*colon = 0;
		name = strrchr(line, '/');
		if (name && !strncmp(name, "/cudatrace.ko", 13))
			snprintf(d->module_path, sizeof(d->module_path), "/lib/modules/%s/%s",
				 d->release, line);
	}
	if (f)
		fclose(f);
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (*d->module_path || len < 0)
		return;
	self[len] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(d->module_path, sizeof(d->module_path), "%s/%s/cudatrace.ko", self, d->release);
	if (!doctor_has(d->module_path))
		*d->module_path = 0;
}

void ct_doctor_module(struct ct_doctor *d)
{
	char version[64], cure[4200];

	doctor_find_module(d);
	if (*d->module_path) {
		d->module_signed = doctor_is_signed(d->module_path);
		ct_finding(d, CT_FINDING_OK, NULL, "the module is built for this kernel: %s%s",
			   d->module_path, d->module_signed ? ", signed" : "");
	} else if (!d->loaded && d->kprobes && d->may_load) {
		ct_finding(d, CT_FINDING_MISSING, "make dkms-install   (or: make module)",
			   "there is no module for kernel %s", d->release);
	}
	if (d->loaded) {
		if (!ct_doctor_read("/sys/module/cudatrace/version", version, sizeof(version)))
			strcpy(version, "of unknown version");
		ct_finding(d, CT_FINDING_OK, NULL, "the module is loaded (%s)", version);
		return;
	}
	if (*d->module_path && d->must_sign && !d->module_signed)
		ct_finding(d, CT_FINDING_MISSING, "make sign, then reboot and enrol the key",
			   "the module is not signed, and this kernel wants it signed");
	if (!strncmp(d->module_path, "/lib/", 5))
		snprintf(cure, sizeof(cure), "modprobe cudatrace");
	else
		snprintf(cure, sizeof(cure), "insmod %s", d->module_path);
	ct_finding(d, CT_FINDING_MISSING, *d->module_path && d->may_load && d->kprobes ? cure : NULL,
		   "the module is not loaded");
}
