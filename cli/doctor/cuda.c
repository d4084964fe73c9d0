// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * NVIDIA's driver and libcuda, and our preload library.  Must never load libcuda:
 * that would start the driver.
 */
#include "doctor/doctor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/launch.h"

static void doctor_check_driver(struct ct_doctor *d, char version[64])
{
	char line[256];

	*version = 0;
	ct_doctor_read("/sys/module/nvidia/version", version, 64);
	d->driver = !access("/sys/module/nvidia", F_OK) ||
		    ct_doctor_read("/proc/driver/nvidia/version", line, sizeof(line));
	if (!d->driver) {
		ct_finding(d, CT_FINDING_NOTE, "apt-get install nvidia-driver, if this machine has a GPU",
			   "NVIDIA's driver is not loaded: programs that need a GPU will fail");
		return;
	}
	ct_finding(d, CT_FINDING_OK, NULL, "NVIDIA's driver %s is loaded%s", version,
		   access("/sys/module/nvidia_uvm", F_OK) ?
		   ", nvidia-uvm is not (it comes with the first CUDA program)" : " with nvidia-uvm");
	if (access("/dev/nvidiactl", F_OK))
		ct_finding(d, CT_FINDING_NOTE, "nvidia-modprobe, as root",
			   "/dev/nvidiactl is not there yet");
	else if (access("/dev/nvidiactl", R_OK | W_OK))
		ct_finding(d, CT_FINDING_NOTE, "join the group that owns it",
			   "/dev/nvidiactl can't be opened by this user");
}

/* The loader looks there first. */
static bool doctor_find_in_environment(char path[PATH_MAX])
{
	const char *dirs = getenv("LD_LIBRARY_PATH");

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		if (len && len < PATH_MAX - 32) {
			snprintf(path, PATH_MAX, "%.*s/libcuda.so.1", (int)len, dirs);
			if (!access(path, R_OK))
				return true;
		}
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

/* Where the loader looks by itself, also where no cache was made. */
static bool doctor_find_in_default_dirs(char path[PATH_MAX])
{
	static const char *const dirs[] = { "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
		"/lib64", "/usr/lib64", "/lib", "/usr/lib" };

	for (unsigned int i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, PATH_MAX, "%s/libcuda.so.1", dirs[i]);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1" */
static bool doctor_find_libcuda(char path[PATH_MAX])
{
	const char *const tools[] = { "/sbin/ldconfig -p 2>/dev/null", "ldconfig -p 2>/dev/null" };
	bool found = false;
	char line[PATH_MAX + 256];

	for (unsigned int i = 0; i < 2 && !found; i++) {
		FILE *f = popen(tools[i], "re");

		while (f && fgets(line, sizeof(line), f)) {
			char *arrow = strstr(line, "=> ");

			if (found || !arrow || !strstr(line, "\tlibcuda.so.1 ") ||
			    (sizeof(long) == 8 && !strstr(line, "64")))
				continue;
			arrow[strcspn(arrow, "\n")] = 0;
			snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, arrow + 3);
			found = true;
		}
		if (f)
			pclose(f);
	}
	return found || doctor_find_in_default_dirs(path);
}

static void doctor_check_libcuda(struct ct_doctor *d, const char *driver)
{
	char path[PATH_MAX], real[PATH_MAX];
	const char *version;

	d->libcuda = doctor_find_in_environment(path) || doctor_find_libcuda(path);
	if (!d->libcuda) {
		ct_finding(d, CT_FINDING_NOTE, "apt-get install libcuda1",
			   "there is no libcuda.so.1: no CUDA program runs here");
		return;
	}
	if (!realpath(path, real))
		strcpy(real, path);
	version = strstr(real, "libcuda.so.");
	version = version ? version + strlen("libcuda.so.") : "";
	ct_finding(d, CT_FINDING_OK, NULL, "libcuda %s: %s", version, path);
	if (*driver && strchr(version, '.') && strcmp(version, driver))
		ct_finding(d, CT_FINDING_NOTE, "install both of one version, then reboot",
			   "libcuda is %s, but the loaded driver is %s: CUDA programs will fail",
			   version, driver);
}

void ct_doctor_cuda(struct ct_doctor *d)
{
	char path[PATH_MAX], driver[64];
	struct ct_error err;

	doctor_check_driver(d, driver);
	doctor_check_libcuda(d, driver);
	d->library = !ct_launch_library(path, sizeof(path), &err);
	if (d->library)
		ct_finding(d, CT_FINDING_OK, NULL, "preload library: %s", path);
	else
		ct_finding(d, CT_FINDING_MISSING, "make install", "%s", err.text);
}
