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

#include "analysis/losses.h"
#include "base/clock.h"
#include "base/file.h"
#include "capture/finish.h"
#include "capture/capture_machine.h"
#include "write/lost.h"
#include "capture/recording.h"
#include "capture/ring.h"
#include "capture/writers.h"
#include "trace/directory.h"
#include "userlib/plugins/stacks/page.h"

/* ------------------------------------------------------ the directory ---- */

static bool recording_begins_with(int dirfd, const char *name, const char *text)
{
	int fd = openat(dirfd, name, O_RDONLY | CT_O_FOREIGN);
	char begin[64];
	ssize_t n = fd < 0 ? -1 : read(fd, begin, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && !memcmp(begin, text, n);
}

/* Do the first bytes of the registry or of metadata say that this is our trace? */
static bool recording_is_trace(int dirfd)
{
	return recording_begins_with(dirfd, CT_REGISTRY_FILE, "cudatrace ") ||
	       recording_begins_with(dirfd, CT_METADATA_FILE,
				     "/* CTF 1.8 */\n/*\nA trace of cudatrace ");
}

static bool recording_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Only what a recording made is ever removed. */
static bool recording_is_ours(int dirfd, const char *name)
{
	char stream[280];
	struct stat st;
	bool known;

	if (ct_is_inflight_page(name)) {
		known = !ct_stream_of_page(stream, sizeof(stream), name);
	} else if (!strncmp(name, ".metadata.", 10)) {
		known = recording_is_number(name + 10);
	} else if (!strncmp(name, PAGE_PREFIX, strlen(PAGE_PREFIX))) {
		/* Of a recorder that was killed. */
		known = recording_is_number(name + strlen(PAGE_PREFIX));
	} else {
		known = ct_is_trace_file(name) || !strcmp(name, CT_LOCK_FILE) || !strcmp(name, CT_RECORDER_FILE) ||
			!strcmp(name, CT_LOST_TEMPORARY);
	}
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	return known ? S_ISREG(st.st_mode) : !strcmp(name, CT_LIBRARY_LINK) && S_ISLNK(st.st_mode);
}

/* May all of it be removed?  Asked before the first file is removed. */
static int recording_may_replace(DIR *d, const char *dir, struct ct_error *err)
{
	struct dirent *entry;

	if (!recording_is_trace(dirfd(d)))
		return ct_fail(err, EEXIST, "%s is no trace and is not replaced (give another -o)", dir);
	while ((entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    !recording_is_ours(dirfd(d), entry->d_name))
			return ct_fail(err, EEXIST, "%s/%s is no file of a trace: nothing is replaced (give another -o)",
				       dir, entry->d_name);
	rewinddir(d);
	return 0;
}

static void recording_remove_files(DIR *d)
{
	struct dirent *entry;

	while ((entry = readdir(d)))
		if (recording_is_ours(dirfd(d), entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
}

static int recording_remove_trace(const char *dir, struct ct_error *err)
{
	DIR *d;
	int lock, ret;

	/* An empty directory is no trace: it is replaced. */
	if (!rmdir(dir))
		return 0;
	d = opendir(dir);
	if (!d)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	ret = recording_may_replace(d, dir, err);
	if (ret)
		goto out;
	lock = ct_trace_lock(dir);
	if (lock == -EWOULDBLOCK || (lock >= 0 && ct_trace_lives(dir) > 0))
		ret = ct_fail(err, EBUSY, "%s is still being recorded and is not replaced (give another -o, or end the programs that record into it)",
			      dir);
	else if (lock < 0)
		ret = ct_fail(err, -lock, "%s: %s", dir, strerror(-lock));
	else
		recording_remove_files(d);
	if (!ret && rmdir(dir))
		ret = ct_fail(err, errno, "%s can't be removed: %s (give another -o)", dir,
			      strerror(errno));
	if (ret && lock >= 0)
		ct_trace_unlock(dir, lock);
	else if (lock >= 0)
		close(lock);
out:
	closedir(d);
	return ret;
}

/* Where nobody has said a name; others may begin in the same second, as the ranks of a job. */
static int recording_make_default(char *name, size_t size)
{
	time_t now = time(NULL);
	size_t len = strftime(name, size, "cudatrace-%Y%m%d-%H%M%S", localtime(&now));
	unsigned int n = 1;

	while (mkdir(name, 0777)) {
		if (errno != EEXIST)
			return -errno;
		snprintf(name + len, size - len, ".%u", ++n);
	}
	return 0;
}

/* @dir was made, and is the recording's from now on. */
static int recording_enter(struct ct_recording *rec, const char *dir, struct ct_error *err)
{
	if (!realpath(dir, rec->dir))
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->dirfd = open(rec->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec->dirfd < 0)
		return ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	rec->lock = ct_trace_lock(rec->dir);
	return rec->lock < 0 ? ct_fail(err, -rec->lock, "%s: %s", dir, strerror(-rec->lock)) : 0;
}

int ct_recording_directory(struct ct_recording *rec, const char *dir, bool force,
			   struct ct_error *err)
{
	char name[64];
	int ret;

	if (!dir) {
		ret = recording_make_default(name, sizeof(name));
		return ret ? ct_fail(err, -ret, "%s can't be made: %s", name, strerror(-ret)) : recording_enter(rec, name, err);
	}
	if (!access(dir, F_OK)) {
		if (!force)
			return ct_fail(err, EEXIST, "%s exists already: give another -o, or -f to replace it", dir);
		ret = recording_remove_trace(dir, err);
		if (ret)
			return ret;
	}
	/* Programs that change their user write into it too. */
	if (mkdir(dir, 0777))
		return ct_fail(err, errno, "%s can't be made: %s", dir, strerror(errno));
	return recording_enter(rec, dir, err);
}

void ct_recording_abandon(struct ct_recording *rec)
{
	DIR *d;

	ct_registry_close(&rec->registry);
	ct_state_close(&rec->state);
	ct_device_close(&rec->device);
	d = rec->dir[0] ? opendir(rec->dir) : NULL;
	if (d) {
		recording_remove_files(d);
		closedir(d);
		rmdir(rec->dir);
	}
}

/* ------------------------------------------------------ the trace -------- */

/* What a report needs in order to say which ring would have been large enough. */
static void recording_add_ring(struct ct_recording *rec)
{
	char number[24];
	uint64_t largest = ct_ring_largest(
		ct_ring_memory("") + ct_ring_bytes(&rec->device.session) * ct_ring_cpus(""),
		ct_ring_cpus(""));

	snprintf(number, sizeof(number), "%llu",
		 (unsigned long long)ct_ring_bytes(&rec->device.session));
	ct_registry_add_info(&rec->registry, CT_LOSSES_RING, number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)largest);
	ct_registry_add_info(&rec->registry, CT_LOSSES_LARGEST, number);
}

static void recording_add_infos(struct ct_recording *rec, const char *command)
{
	struct utsname uts;
	char line[256];

	uname(&uts);
	ct_registry_add_info(&rec->registry, "tracer", "cudatrace " CT_VERSION);
	ct_registry_add_info(&rec->registry, "way", rec->module ? "module" : "files");
	if (command)
		ct_registry_add_info(&rec->registry, "command", command);
	ct_registry_add_info(&rec->registry, "hostname", uts.nodename);
	ct_registry_add_info(&rec->registry, "kernel", uts.release);
	if (ct_first_line("/proc/driver/nvidia/version", line, sizeof(line)))
		ct_registry_add_info(&rec->registry, "driver", line);
	ct_machine_note(&rec->registry, "");
	if (rec->module)
		recording_add_ring(rec);
}

int ct_recording_registry(struct ct_recording *rec, const char *command, struct ct_error *err)
{
	uint64_t start = ct_now_ns(),
		 realtime = ct_clock_ns(CLOCK_REALTIME);
	int ret;

	if (rec->module) {
		memcpy(rec->uuid, rec->device.session.uuid, sizeof(rec->uuid));
		realtime -= start - rec->device.session.start;
		start = rec->device.session.start;
	} else if (getrandom(rec->uuid, sizeof(rec->uuid), 0) != sizeof(rec->uuid)) {
		return ct_fail(err, errno, "no random numbers: %s", strerror(errno));
	}
	ret = ct_registry_create(&rec->registry, rec->dir, rec->uuid, start, realtime, err);
	if (ret)
		return ret;
	recording_add_infos(rec, command);
	ret = ct_state_open(&rec->state, rec->dirfd, rec->uuid);
	if (ret)
		return ct_fail(err, -ret, "%s/state: %s", rec->dir, strerror(-ret));
	ct_state_clock(&rec->state);
	/* A snapshot is a copy: no program records into it. */
	ret = command ? ct_lost_create(rec->dirfd) : 0;
	return ret ? ct_fail(err, -ret, "%s/.lost: %s", rec->dir, strerror(-ret)) : 0;
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

/* A thread that is being killed needs a moment; a daemon is not waited for. */
#define DYING_MS	500

/* Somebody has removed the directory, or moved it away. */
static int recording_gone(const struct ct_recording *rec, struct ct_error *err)
{
	struct stat ours, there;

	if (fstat(rec->dirfd, &ours) || (stat(rec->dir, &there) ? errno != ENOENT : ours.st_ino == there.st_ino && ours.st_dev == there.st_dev))
		return 0;
	if (!ours.st_nlink)
		return ct_fail(err, ENOENT, "%s was removed while it was recorded: its records are lost", rec->dir);
	return ct_fail(err, ENOENT, "%s was moved while it was recorded: it is not finished, and later records are lost", rec->dir);
}

/* All that was written is there. */
static int recording_unfinished(const char *dir, int ret, struct ct_error *err)
{
	char why[sizeof(err->text)];

	snprintf(why, sizeof(why), "%s", err->text);
	return ct_fail(err, -ret, "%.300s; when there is room, 'cudatrace report %s' finishes the trace", why, dir);
}

static int recording_finish(const char *dir, struct ct_error *err)
{
	int ret = ct_finish(dir, CT_FINISH_LOCKED, err);

	for (int ms = 0; ret == 1 && ms < DYING_MS; ms += 20) {
		usleep(20000);
		if (ct_trace_lives(dir) <= 0)
			ret = ct_finish(dir, CT_FINISH_LOCKED, err);
	}
	if (ret == -ENOSPC || ret == -EDQUOT)
		return recording_unfinished(dir, ret, err);
	if (ret != 1)
		return ret;
	fprintf(stderr, "cudatrace: programs that were started here still run and are still recorded: the first command that opens %s after their end finishes the trace\n",
		dir);
	return 0;
}

int ct_recording_finish(struct ct_recording *rec, struct ct_error *err)
{
	int ret, gone;

	ct_state_clock(&rec->state);
	ret = ct_state_close(&rec->state);
	if (ret)
		ct_fail(err, -ret, "%s/state: %s", rec->dir, strerror(-ret));
	ct_machine_versions(&rec->registry, rec->dir);
	ct_registry_close(&rec->registry);
	ct_device_close(&rec->device);
	gone = recording_gone(rec, err);
	ret = gone ? gone : ret;
	if (!ret)
		ret = recording_finish(rec->dir, err);
	ct_trace_unlock(rec->dir, rec->lock);
	return ret;
}
