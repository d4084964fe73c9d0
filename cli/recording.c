// SPDX-License-Identifier: LGPL-2.1-or-later
/* See recording.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "finish.h"
#include "recording.h"

/* ------------------------------------------------------ the directory ---- */

/* Only what a recording made is ever removed. */
static bool is_ours(const char *name)
{
	return !strcmp(name, "metadata") || !strcmp(name, "state") ||
	       !strcmp(name, CT_REGISTRY_FILE) || !strncmp(name, ".open-", 6) ||
	       !strncmp(name, "k-", 2) || !strncmp(name, "u-", 2) ||
	       !strncmp(name, ".metadata", 9) || !strcmp(name, ".lock");
}

static int remove_trace(const char *dir, struct ct_error *err)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	if (faccessat(dirfd(d), CT_REGISTRY_FILE, F_OK, 0) &&
	    faccessat(dirfd(d), CT_METADATA_FILE, F_OK, 0)) {
		readdir(d);
		closedir(d);
		if (!rmdir(dir))
			return 0;
		return ct_fail(err, EEXIST, "%s is no trace: it is left alone (give another -o)", dir);
	}
	while ((entry = readdir(d)))
		if (is_ours(entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	if (rmdir(dir))
		return ct_fail(err, errno, "%s holds files that are not of a trace: %s (give another -o)",
			       dir, strerror(errno));
	return 0;
}

int ct_recording_directory(struct ct_recording *rec, const char *dir, bool force,
			   struct ct_error *err)
{
	char name[64];
	time_t now = time(NULL);
	int ret;

	if (!dir) {
		strftime(name, sizeof(name), "cudatrace-%Y%m%d-%H%M%S", localtime(&now));
		dir = name;
	}
	if (!access(dir, F_OK)) {
		if (!force)
			return ct_fail(err, EEXIST, "%s exists already: give another -o, or -f to replace it", dir);
		ret = remove_trace(dir, err);
		if (ret)
			return ret;
	}
	/* Programs that change their user write into it too. */
	if (mkdir(dir, 0777))
		return ct_fail(err, errno, "%s can't be made: %s", dir, strerror(errno));
	if (!realpath(dir, rec->dir))
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->dirfd = open(rec->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec->dirfd < 0)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->lock = ct_trace_lock(rec->dir);
	return rec->lock < 0 ? ct_fail(err, -rec->lock, "%s: %s", dir, strerror(-rec->lock)) : 0;
}

void ct_recording_abandon(struct ct_recording *rec)
{
	struct ct_error ignored;

	ct_registry_close(&rec->registry);
	ct_state_close(&rec->state);
	ct_device_close(&rec->device);
	if (rec->dir[0])
		remove_trace(rec->dir, &ignored);
}

/* ------------------------------------------------------ the trace -------- */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void add_driver_version(struct ct_recording *rec)
{
	char line[256], *p;
	FILE *f = fopen("/proc/driver/nvidia/version", "re");

	if (!f)
		return;
	p = fgets(line, sizeof(line), f);
	fclose(f);
	if (p) {
		line[strcspn(line, "\n")] = '\0';
		ct_registry_add_info(&rec->registry, "driver", line);
	}
}

static void add_infos(struct ct_recording *rec, const char *command)
{
	struct utsname uts;

	uname(&uts);
	ct_registry_add_info(&rec->registry, "tracer", "cudatrace " CT_VERSION);
	ct_registry_add_info(&rec->registry, "way", rec->module ? "module" : "files");
	if (command)
		ct_registry_add_info(&rec->registry, "command", command);
	ct_registry_add_info(&rec->registry, "hostname", uts.nodename);
	ct_registry_add_info(&rec->registry, "kernel", uts.release);
	add_driver_version(rec);
}

int ct_recording_registry(struct ct_recording *rec, const char *command, struct ct_error *err)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), realtime = clock_ns(CLOCK_REALTIME);
	uint8_t uuid[16];
	int ret;

	if (rec->module) {
		memcpy(uuid, rec->device.session.uuid, sizeof(uuid));
		realtime -= start - rec->device.session.start;
		start = rec->device.session.start;
	} else if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid)) {
		return ct_fail(err, errno, "no random numbers: %s", strerror(errno));
	}
	ret = ct_registry_create(&rec->registry, rec->dir, uuid, start, realtime, err);
	if (ret)
		return ret;
	add_infos(rec, command);
	ret = ct_state_open(&rec->state, rec->dirfd, uuid);
	if (ret)
		return ct_fail(err, -ret, "%s/state: %s", rec->dir, strerror(-ret));
	ct_state_clock(&rec->state);
	return 0;
}

void ct_recording_probes(struct ct_recording *rec)
{
	struct ct_probe_info info;
	uint32_t i;

	for (i = 0;; i++) {
		info = (struct ct_probe_info){ .size = sizeof(info), .index = i };
		if (ioctl(rec->device.fd, CT_IOC_GET_PROBE, &info))
			break;
		ct_state_probe(&rec->state, &info);
	}
}

void ct_recording_streams(struct ct_recording *rec)
{
	uint32_t cpu;

	for (cpu = 0; cpu < rec->device.session.cpus; cpu++)
		if (rec->device.ring[cpu].status)
			ct_state_stream(&rec->state, cpu, rec->device.ring[cpu].status);
}

int ct_recording_finish(struct ct_recording *rec, struct ct_error *err)
{
	int ret;

	ct_state_clock(&rec->state);
	ret = ct_state_close(&rec->state);
	if (ret)
		ct_fail(err, -ret, "%s/state: %s", rec->dir, strerror(-ret));
	ct_registry_close(&rec->registry);
	ct_device_close(&rec->device);
	if (!ret)
		ret = ct_finish(rec->dir, CT_FINISH_ALL_DEAD, err);
	ct_trace_unlock(rec->dir, rec->lock);
	return ret;
}
