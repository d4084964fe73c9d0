// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See device.h.  Section 5 of cudatrace.h describes the protocol of the rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "capture/device.h"
#include "capture/ring.h"
#include "trace/packet.h"

/* Is this namespace of the process not the host's, whose number is fixed? */
static bool device_other_namespace(const char *link, const char *hosts)
{
	char name[64];
	ssize_t len = readlink(link, name, sizeof(name) - 1);

	if (len < 0)
		return false;
	name[len] = 0;
	return strcmp(name, hosts);
}

void ct_device_how_to_open(char *text, size_t size)
{
	struct group *group = NULL;
	struct stat st;

	if (device_other_namespace("/proc/self/ns/pid", "pid:[4026531836]") ||
	    device_other_namespace("/proc/self/ns/user", "user:[4026531837]")) {
		snprintf(text, size,
			 "in a container only the host's CAP_PERFMON gives the right (docker run --cap-add PERFMON); or read on the host");
		return;
	}
	if (!stat(CT_DEVICE_PATH, &st) && st.st_gid)
		group = getgrgid(st.st_gid);
	if (group)
		snprintf(text, size, "run as root, or: usermod -aG %s USER, then log in again",
			 group->gr_name);
	else
		snprintf(text, size,
			 "run as root; for others install the udev rule, which gives the device a group");
}

static int device_explain_open(struct ct_error *err)
{
	char how[256];

	switch (errno) {
	case ENOENT:
		return ct_fail(err, ENOENT, "the module is not loaded (insmod cudatrace.ko, or modprobe cudatrace)");
	case EACCES:
	case EPERM:
		ct_device_how_to_open(how, sizeof(how));
		return ct_fail(err, EACCES, "%s may not be opened by this user (%s)",
			       CT_DEVICE_PATH, how);
	}
	return ct_fail(err, errno, "%s: %s", CT_DEVICE_PATH, strerror(errno));
}

bool ct_device_is_older(const struct ct_version *version)
{
	return version->abi != CT_ABI_VERSION ? version->abi < CT_ABI_VERSION :
	       version->schema < CT_SCHEMA_VERSION;
}

static int device_open(struct ct_device *dev, int mode, struct ct_error *err)
{
	struct ct_version version = { .size = sizeof(version) };
	int ret;

	memset(dev, 0, sizeof(*dev));
	dev->fd = open(CT_DEVICE_PATH, mode | O_CLOEXEC);
	if (dev->fd < 0)
		return device_explain_open(err);
	if (ioctl(dev->fd, CT_IOC_VERSION, &version)) {
		ret = ct_fail(err, errno, "%s is not cudatrace's device", CT_DEVICE_PATH);
		goto fail;
	}
	if (version.abi != CT_ABI_VERSION || version.schema != CT_SCHEMA_VERSION) {
		ret = ct_fail(err, EPROTO, "the loaded module (%.55s, ABI %u, schema %u) and this command (%s, ABI %u, schema %u) differ: update the %s",
			      version.module, version.abi, version.schema, CT_VERSION,
			      CT_ABI_VERSION, CT_SCHEMA_VERSION,
			      ct_device_is_older(&version) ? "module" : "command");
		goto fail;
	}
	return 0;
fail:
	close(dev->fd);
	dev->fd = -1;
	return ret;
}

int ct_device_open(struct ct_device *dev, struct ct_error *err)
{
	return device_open(dev, O_RDWR, err);
}

int ct_device_open_producer(struct ct_device *dev, struct ct_error *err)
{
	return device_open(dev, O_WRONLY, err);
}

static void *device_map(struct ct_device *dev, uint64_t offset, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, dev->fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t device_ring_size(const struct ct_device *dev)
{
	return ct_ring_bytes(&dev->session);
}

/* The ring of a CPU that is not possible stays unmapped.  0, or an errno. */
static int device_map_ring(struct ct_device *dev, uint32_t cpu, bool owner, bool data)
{
	struct ct_device_ring *r = &dev->ring[cpu];
	size_t page = sysconf(_SC_PAGESIZE);

	r->status = device_map(dev, CT_MMAP_STATUS(cpu), page, PROT_READ);
	if (owner)
		r->consumer = device_map(dev, CT_MMAP_CONSUMER(cpu), page, PROT_READ | PROT_WRITE);
	if (owner && r->status && !r->consumer)
		return errno;
	if (data)
		r->data = device_map(dev, CT_MMAP_DATA(cpu), device_ring_size(dev), PROT_READ);
	return data && r->status && !r->data ? errno : 0;
}

static int device_map_rings(struct ct_device *dev, bool owner, bool data, struct ct_error *err)
{
	struct ct_session *s = &dev->session;
	uint32_t cpu;
	int code;

	dev->facts = device_map(dev, CT_MMAP_FACTS, sysconf(_SC_PAGESIZE), PROT_READ);
	if (!dev->facts && errno == EPERM)
		return ct_fail(err, EPERM, "in a container a session can't be mapped: run this on the host");
	if (!dev->facts)
		return ct_fail(err, errno, "the module's facts can't be mapped: %s", strerror(errno));
	dev->ring = calloc(s->cpus, sizeof(*dev->ring));
	if (!dev->ring)
		return ct_fail(err, ENOMEM, "out of memory");
	for (cpu = 0; cpu < s->cpus; cpu++)
		dev->ring[cpu].fd = -1;
	for (cpu = 0; cpu < s->cpus; cpu++) {
		code = device_map_ring(dev, cpu, owner, data);
		if (code == EPERM)
			return ct_fail(err, EPERM, "copying records as they are needs CAP_PERFMON or CAP_SYS_ADMIN ('cudatrace live' needs less)");
		if (code)
			return ct_fail(err, code, "the ring of CPU %u can't be mapped: %s", cpu,
				       strerror(code));
	}
	return 0;
}

int ct_device_start(struct ct_device *dev, uint32_t subbuf_size, uint32_t subbuf_count,
		    uint64_t groups, bool threadbufs, struct ct_error *err)
{
	struct ct_session *s = &dev->session;
	int ret;

	*s = (struct ct_session){
		.size = sizeof(*s),
		.subbuf_size = subbuf_size,
		.subbuf_count = subbuf_count,
		.groups = groups,
		.flags = threadbufs ? CT_SESSION_THREADBUFS : 0,
	};
	ret = ct_ring_start(dev->fd, s, true, &dev->ring_wanted);
	if (ret == -EBUSY)
		return ct_fail(err, EBUSY, "the module already records for process %u",
			       s->owner_pid);
	if (ret == -EPERM)
		return ct_fail(err, EPERM, "starting a session needs CAP_PERFMON or CAP_SYS_ADMIN");
	if (ret)
		return ct_fail(err, -ret, "the module refused to start: %s", strerror(-ret));
	return device_map_rings(dev, true, true, err);
}

int ct_device_attach(struct ct_device *dev, bool data, struct ct_error *err)
{
	int ret = device_open(dev, O_RDONLY, err);

	if (ret)
		return ret;
	dev->session.size = sizeof(dev->session);
	if (ioctl(dev->fd, CT_IOC_GET_SESSION, &dev->session)) {
		ret = errno == ENODATA ?
		      ct_fail(err, ENODATA, "nothing is being recorded (cudatrace session start, or cudatrace record)") :
		      ct_fail(err, errno, "%s: %s", CT_DEVICE_PATH, strerror(errno));
		ct_device_close(dev);
		return ret;
	}
	return device_map_rings(dev, false, data, err);
}

int ct_device_adopt(struct ct_device *dev, struct ct_error *err)
{
	int ret = device_open(dev, O_RDWR, err);

	/* Without the right to write, it can still be read, but the module keeps it. */
	if (ret == -EACCES)
		ret = device_open(dev, O_RDONLY, err);
	if (ret)
		return ret;
	dev->session.size = sizeof(dev->session);
	if (ioctl(dev->fd, CT_IOC_ADOPT, &dev->session))
		ret = ct_fail(err, errno, "there is no orphaned session of a killed recorder");
	else
		ret = device_map_rings(dev, false, true, err);
	if (ret)
		ct_device_close(dev);
	return ret;
}

static void device_stream_name(const struct ct_device *dev, uint32_t cpu, char name[24])
{
	snprintf(name, 24, "k-%u", cpu + dev->ring[cpu].part * CT_DEVICE_PART);
}

static int device_write_packet(struct ct_device *dev, int dirfd, uint32_t cpu,
			       const struct ct_packet *packet, struct ct_error *err)
{
	struct ct_device_ring *r = &dev->ring[cpu];
	char name[24];
	off_t at;
	int ret;

	if (dev->room)
		dev->room(dev->room_arg, dev->session.subbuf_size);
	if (r->fd >= 0 && dev->stream_long && lseek(r->fd, 0, SEEK_END) >= (off_t)dev->stream_long) {
		close(r->fd);
		r->fd = -1;
		r->part++;
	}
	if (r->fd < 0) {
		device_stream_name(dev, cpu, name);
		r->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (r->fd < 0)
			return ct_fail(err, errno, "%s: %s", name, strerror(errno));
	}
	at = lseek(r->fd, 0, SEEK_END);
	ret = ct_write_all(r->fd, packet, dev->session.subbuf_size);
	/* A part of a packet is none. */
	if (ret && at >= 0 && !ftruncate(r->fd, at))
		lseek(r->fd, at, SEEK_SET);
	if (ret)
		return ct_fail(err, -ret, "k-%u: %s: the trace ends here", cpu, strerror(-ret));
	return 0;
}

static uint64_t device_lost_total(const struct ct_cpu_status *status)
{
	uint64_t lost = 0;
	int i;

	for (i = 0; i < CT_LOST_REASONS; i++)
		lost += __atomic_load_n(&status->lost[i], __ATOMIC_RELAXED);
	return lost;
}

/*
 * The packet at r->pos, which holds content bytes.  1: it is in copy, closed; 0: it
 * was overwritten meanwhile.
 */
static int device_copy_packet(struct ct_device *dev, struct ct_device_ring *r, uint64_t content,
			      struct ct_packet *copy)
{
	const uint32_t size = dev->session.subbuf_size;

	memcpy(copy, r->data + (r->pos & (device_ring_size(dev) - 1)), size);
	/* The copy before the second look at oldest. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&r->status->oldest, __ATOMIC_RELAXED) > r->pos)
		return 0;
	if (content < size)
		ct_packet_close(copy, content, device_lost_total(r->status), ct_now_ns());
	return 1;
}

static void device_skip_overwritten(struct ct_device_ring *r)
{
	uint64_t oldest = __atomic_load_n(&r->status->oldest, __ATOMIC_RELAXED);

	if (r->pos < oldest)
		r->pos = oldest;
}

uint32_t ct_device_look(struct ct_device *dev, uint32_t cpu, uint32_t known, struct ct_packet *copy, bool *full)
{
	const uint32_t size = dev->session.subbuf_size;
	struct ct_device_ring *r = &dev->ring[cpu];
	uint64_t pos = r->pos, limit, content;

	for (;;) {
		/* Before the records: the writer's release pairs with this. */
		limit = __atomic_load_n(&r->status->committed, __ATOMIC_ACQUIRE);
		device_skip_overwritten(r);
		content = limit <= r->pos ? 0 : limit - r->pos < size ? limit - r->pos : size;
		if (content <= CT_PACKET_HEAD || (r->pos == pos && content <= known))
			return 0;
		if (!device_copy_packet(dev, r, content, copy))
			continue;
		*full = content == size;
		return *full ? copy->content_size / 8 : content;
	}
}

/* Packets of one CPU.  Returns how many were copied, or an error. */
static int device_drain_ring(struct ct_device *dev, int dirfd, uint32_t cpu, bool last,
			     struct ct_packet *copy, struct ct_error *err)
{
	const uint32_t size = dev->session.subbuf_size;
	struct ct_device_ring *r = &dev->ring[cpu];
	uint64_t limit;
	int ret, n = 0;

	for (;;) {
		/* Before the records: the writer's release pairs with this. */
		limit = __atomic_load_n(&r->status->committed, __ATOMIC_ACQUIRE);
		device_skip_overwritten(r);
		if (limit <= r->pos || (limit - r->pos < size && !last))
			return n;
		if (!device_copy_packet(dev, r, limit - r->pos, copy))
			continue;
		ret = device_write_packet(dev, dirfd, cpu, copy, err);
		if (ret)
			return ret;
		r->pos += size;
		/* Only now may the module write there again. */
		if (r->consumer)
			__atomic_store_n(&r->consumer->consumed,
					 r->pos < limit ? r->pos : limit, __ATOMIC_RELEASE);
		n++;
	}
}

/* Copies what one CPU's ring holds now, without the records that are written meanwhile. */
static int device_snapshot_ring(struct ct_device *dev, int dirfd, uint32_t cpu, uint64_t since,
				struct ct_packet *copy, struct ct_error *err)
{
	const uint32_t size = dev->session.subbuf_size;
	struct ct_device_ring *r = &dev->ring[cpu];
	uint64_t limit = __atomic_load_n(&r->status->committed, __ATOMIC_ACQUIRE);
	int ret, n = 0;

	for (;;) {
		device_skip_overwritten(r);
		if (limit <= r->pos)
			return n;
		if (!device_copy_packet(dev, r, limit - r->pos, copy))
			continue;
		r->pos += size;
		if (copy->ts_end < since)
			continue;
		ret = device_write_packet(dev, dirfd, cpu, copy, err);
		if (ret)
			return ret;
		n++;
	}
}

int ct_device_snapshot(struct ct_device *dev, int dirfd, uint64_t since, struct ct_error *err)
{
	struct ct_packet *copy = malloc(dev->session.subbuf_size);
	uint32_t cpu;
	int ret = 0, n = 0;

	if (!copy)
		return ct_fail(err, ENOMEM, "out of memory");
	/* What was begun before now is committed then. */
	ioctl(dev->fd, CT_IOC_FLUSH);
	for (cpu = 0; cpu < dev->session.cpus && ret >= 0; cpu++) {
		if (!dev->ring[cpu].status)
			continue;
		ret = device_snapshot_ring(dev, dirfd, cpu, since, copy, err);
		n += ret;
	}
	free(copy);
	return ret < 0 ? ret : n;
}

int ct_device_copy_open(struct ct_device *dev, int dirfd, struct ct_error *err)
{
	const uint32_t size = dev->session.subbuf_size;
	struct ct_packet *copy = malloc(size);
	int rc = copy ? 0 : -ENOMEM;

	ioctl(dev->fd, CT_IOC_FLUSH);
	for (uint32_t cpu = 0; cpu < dev->session.cpus && !rc; cpu++) {
		struct ct_device_ring *r = &dev->ring[cpu];
		uint64_t limit = r->status ? __atomic_load_n(&r->status->committed, __ATOMIC_ACQUIRE) : 0;
		char name[24];
		int fd;

		/* One that is full is drained next. */
		if (!limit || limit <= r->pos || limit - r->pos >= size || !device_copy_packet(dev, r, limit - r->pos, copy))
			continue;
		device_stream_name(dev, cpu, name);
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
		rc = fd < 0 ? -errno : ct_write_all(fd, copy, size);
		if (fd >= 0 && close(fd) && !rc)
			rc = -errno;
	}
	free(copy);
	return rc ? ct_fail(err, -rc, "the module's newest records can't be copied: %s", strerror(-rc)) : 0;
}

int ct_device_drain(struct ct_device *dev, int dirfd, bool last, struct ct_error *err)
{
	struct ct_packet *copy = malloc(dev->session.subbuf_size);
	uint32_t cpu;
	int ret = 0, n = 0;

	if (!copy)
		return ct_fail(err, ENOMEM, "out of memory");
	for (cpu = 0; cpu < dev->session.cpus && ret >= 0; cpu++) {
		if (!dev->ring[cpu].status)
			continue;
		ret = device_drain_ring(dev, dirfd, cpu, last, copy, err);
		n += ret;
	}
	free(copy);
	return ret < 0 ? ret : n;
}

int ct_device_registry(struct ct_device *dev, struct ct_registry_writer *w)
{
	struct ct_define define;
	struct ct_string string;
	char text[CT_STRING_MAX + 1];
	int ret;

	/* Not all ids are in use: the answer is the next one that is. */
	for (;; dev->classes = define.id - CT_CLASS_DYNAMIC + 1) {
		define = (struct ct_define){
			.size = sizeof(define),
			.id = CT_CLASS_DYNAMIC + dev->classes,
		};
		if (ioctl(dev->fd, CT_IOC_GET_DEFINE, &define))
			break;
		ret = ct_registry_add_define(w, &define);
		if (ret)
			return ret;
	}
	for (;; dev->strings++) {
		string = (struct ct_string){
			.size = sizeof(string),
			.id = dev->strings + 1,
			.text = (uintptr_t)text,
			.len = CT_STRING_MAX,
		};
		if (ioctl(dev->fd, CT_IOC_GET_STRING, &string))
			break;
		text[string.len] = '\0';
		ret = ct_registry_add_string(w, string.id, text);
		if (ret)
			return ret;
	}
	return 0;
}

int ct_device_stop(struct ct_device *dev)
{
	return ioctl(dev->fd, CT_IOC_STOP) ? -errno : 0;
}

static void device_unmap(const void *map, size_t size)
{
	if (map)
		munmap((void *)map, size);
}

void ct_device_close(struct ct_device *dev)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (uint32_t cpu = 0; dev->ring && cpu < dev->session.cpus; cpu++) {
		struct ct_device_ring *r = &dev->ring[cpu];

		if (r->fd >= 0)
			close(r->fd);
		device_unmap(r->status, page);
		device_unmap(r->consumer, page);
		device_unmap(r->data, device_ring_size(dev));
	}
	free(dev->ring);
	dev->ring = NULL;
	ct_keyed_free(&dev->parts);
	device_unmap(dev->facts, page);
	dev->facts = NULL;
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}
