// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is there a module for the running kernel, and is it loaded?  Must never load it.
 */
#include "doctor/module.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* A signature follows the module's own bytes. */
static bool module_is_signed(const char *path)
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
static void module_find(struct ct_doctor *d)
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
	if (!ct_doctor_has(d->module_path))
		*d->module_path = 0;
}

struct ct_check_result ct_check_built(struct ct_doctor *d)
{
	module_find(d);
	if (*d->module_path) {
		d->module_signed = module_is_signed(d->module_path);
		return ct_check_result(CT_FINDING_OK, NULL, "the module is built for this kernel: %s%s",
				  d->module_path, d->module_signed ? ", signed" : "");
	}
	if (d->loaded || !d->may_load)
		return ct_no_finding();
	return ct_check_result(CT_FINDING_MISSING, "make dkms-install   (or: make module)",
			  "there is no module for kernel %s", d->release);
}

struct ct_check_result ct_check_loaded(struct ct_doctor *d)
{
	char version[64];

	(void)d;
	if (!ct_first_line("/sys/module/cudatrace/version", version, sizeof(version)))
		strcpy(version, "of unknown version");
	return ct_check_result(CT_FINDING_OK, NULL, "the module is loaded (%s)", version);
}

struct ct_check_result ct_check_signed(struct ct_doctor *d)
{
	if (!*d->module_path || !d->must_sign || d->module_signed)
		return ct_no_finding();
	return ct_check_result(CT_FINDING_MISSING, "make sign, then reboot and enrol the key",
			  "the module is not signed, and this kernel wants it signed");
}

struct ct_check_result ct_check_not_loaded(struct ct_doctor *d)
{
	char cure[4200] = "";

	if (!*d->module_path || !d->may_load)
		*cure = 0;
	else if (!strncmp(d->module_path, "/lib/", 5))
		snprintf(cure, sizeof(cure), "modprobe cudatrace");
	else
		snprintf(cure, sizeof(cure), "insmod %s", d->module_path);
	return ct_check_result(CT_FINDING_MISSING, cure, "the module is not loaded");
}
