// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * NVIDIA's driver and libcuda, and our preload library.  Must never load libcuda:
 * that would start the driver.
 */
#include "doctor/cuda.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/launch.h"

struct ct_check_result ct_check_driver(struct ct_doctor *d)
{
	char line[256];

	ct_first_line("/sys/module/nvidia/version", d->driver_version, sizeof(d->driver_version));
	d->driver = ct_doctor_has("/sys/module/nvidia") ||
		    ct_first_line("/proc/driver/nvidia/version", line, sizeof(line));
	if (!d->driver)
		return ct_check_result(
			CT_FINDING_NOTE, "apt-get install nvidia-driver, if this machine has a GPU",
			"NVIDIA's driver is not loaded: programs that need a GPU will fail");
	return ct_check_result(CT_FINDING_OK, NULL, "NVIDIA's driver %s is loaded%s", d->driver_version,
			  ct_doctor_has("/sys/module/nvidia_uvm") ?
				  " with nvidia-uvm" :
				  ", nvidia-uvm is not (it comes with the first CUDA program)");
}

struct ct_check_result ct_check_nvidiactl(struct ct_doctor *d)
{
	(void)d;
	if (!ct_doctor_has("/dev/nvidiactl"))
		return ct_check_result(CT_FINDING_NOTE, "nvidia-modprobe, as root",
				  "/dev/nvidiactl is not there yet");
	if (access("/dev/nvidiactl", R_OK | W_OK))
		return ct_check_result(CT_FINDING_NOTE, "join the group that owns it",
				  "/dev/nvidiactl can't be opened by this user");
	return ct_no_finding();
}

/* The loader looks there first. */
static bool cuda_find_in_environment(char path[PATH_MAX])
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
static bool cuda_find_in_default_dirs(char path[PATH_MAX])
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
static bool cuda_find_libcuda(char path[PATH_MAX])
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
	return found || cuda_find_in_default_dirs(path);
}

struct ct_check_result ct_check_libcuda(struct ct_doctor *d)
{
	char real[PATH_MAX];
	const char *version;

	if (!cuda_find_in_environment(d->libcuda) && !cuda_find_libcuda(d->libcuda)) {
		*d->libcuda = 0;
		return ct_check_result(CT_FINDING_NOTE, "apt-get install libcuda1",
				  "there is no libcuda.so.1: no CUDA program runs here");
	}
	if (!realpath(d->libcuda, real))
		strcpy(real, d->libcuda);
	version = strstr(real, "libcuda.so.");
	snprintf(d->libcuda_version, sizeof(d->libcuda_version), "%.63s",
		 version ? version + strlen("libcuda.so.") : "");
	return ct_check_result(CT_FINDING_OK, NULL, "libcuda %s: %s", d->libcuda_version, d->libcuda);
}

struct ct_check_result ct_check_libcuda_version(struct ct_doctor *d)
{
	if (!*d->libcuda || !*d->driver_version || !strchr(d->libcuda_version, '.') ||
	    !strcmp(d->libcuda_version, d->driver_version))
		return ct_no_finding();
	return ct_check_result(CT_FINDING_NOTE, "install both of one version, then reboot",
			  "libcuda is %s, but the loaded driver is %s: CUDA programs will fail",
			  d->libcuda_version, d->driver_version);
}

struct ct_check_result ct_check_library(struct ct_doctor *d)
{
	char path[PATH_MAX];
	struct ct_error err;

	d->library = !ct_launch_library(path, sizeof(path), &err);
	if (d->library)
		return ct_check_result(CT_FINDING_OK, NULL, "preload library: %s", path);
	return ct_check_result(CT_FINDING_MISSING, "make install", "%s", err.text);
}

/* The plugin knows which it would take: here, in a process without the program's libraries. */
struct ct_check_result ct_check_cupti(struct ct_doctor *d)
{
	bool (*find)(char *path, size_t path_size, char *why, size_t why_size, unsigned int *version);
	char library[PATH_MAX], plugin[PATH_MAX], path[PATH_MAX], why[512];
	unsigned int version;
	struct ct_error err;
	void *handle;

	(void)d;
	if (ct_launch_library(library, sizeof(library), &err))
		return ct_no_finding();
	handle = ct_launch_plugin(library, "gpu", plugin, sizeof(plugin)) ?
		 dlopen(plugin, RTLD_NOW | RTLD_LOCAL) : NULL;
	find = handle ? (__typeof__(find))dlsym(handle, "cudatrace_gpu_find") : NULL;
	if (!find)
		return ct_check_result(CT_FINDING_NOTE, "make install", "record --gpu: cannot load %s", plugin);
	if (!find(path, sizeof(path), why, sizeof(why), &version))
		return ct_check_result(CT_FINDING_NOTE, "install CUDA's CUPTI (Python: nvidia-cuda-cupti)",
				  "record --gpu: %s", why);
	return ct_check_result(CT_FINDING_OK, NULL, "record --gpu takes %s (version %u): %s; a program that has its own libcupti gets that",
			  path, version, why);
}
