// SPDX-License-Identifier: LGPL-2.1-or-later
/* Failures on demand of thread buffers and of counters. */
#include "faults.h"

static int owner, producer;

static int start(uint32_t flags)
{
	struct ct_session arg = { .size = sizeof(arg), .flags = flags, .subbuf_size = 4096,
				  .subbuf_count = 2, .groups = 1ull << CT_GROUP_ADDED };

	return call(owner, CT_IOC_START, &arg);
}

/* ---------------------------------------------------------- thread buffers -- */

static int op_start(void)
{
	int err = start(CT_SESSION_THREADBUFS);

	/* The session has begun; only the answer could not be stored. */
	if (err == EFAULT)
		call(owner, CT_IOC_STOP, NULL);
	return err;
}

static void undo_start(void)
{
	call(owner, CT_IOC_STOP, NULL);
}

static void undo_make(void)
{
	faults_unmap("[cudatrace-threadbuf]");
}

static int op_make(void)
{
	struct ct_threadbuf_new arg = { .size = sizeof(arg), .subbuf_size = 4096, .subbufs = 2,
					.previous = CT_THREADBUF_NONE };
	int err = call(producer, CT_IOC_THREADBUF, &arg);

	if (err == EFAULT)
		undo_make();
	return err;
}

/* Makes a thread buffer with one record and an in-flight call, and reads all that there is. */
static int op_read(void)
{
	static uint64_t packet[CT_THREADBUF_SUBBUF_MAX / 8];
	struct ct_threadbuf_new arg = { .size = sizeof(arg), .subbuf_size = 4096, .subbufs = 2,
					.previous = CT_THREADBUF_NONE };
	struct ct_threadbuf_read read = { .size = sizeof(read), .buf = (uintptr_t)packet,
					  .len = sizeof(packet), .flags = CT_THREADBUF_READ_ALL };
	int err = call(producer, CT_IOC_THREADBUF, &arg);
	struct ct_threadbuf_head *h = (void *)(uintptr_t)arg.address;
	struct ct_inflight_page *open;
	struct ct_thread_record *r;
	struct ct_packet *p;

	if (err) {
		if (err == EFAULT)
			undo_make();
		return err;
	}
	p = (void *)((uint8_t *)h + CT_THREADBUF_DATA);
	*p = (struct ct_packet){ .magic = CT_MAGIC, .ts_begin = now() };
	r = (void *)(p + 1);
	*r = (struct ct_thread_record){ .stamp = CT_STAMP(now(), CT_CLASS_range_pop) };
	h->produced = 1;
	__atomic_store_n(&p->content_size, (sizeof(*p) + sizeof(*r)) * 8, __ATOMIC_RELEASE);
	open = (void *)((uint8_t *)h + PAGE);
	open->entry[0] = (struct ct_inflight_call){ .begin = now(), .class = CT_CLASS_range_pop };
	open->depth = 1;
	munmap(h, arg.length);
	do
		err = call(owner, CT_IOC_THREADBUF_READ, &read);
	while (!err);
	return err == ENOENT ? 0 : err;
}

void faults_threadbufs(int owner_fd, int producer_fd)
{
	owner = owner_fd;
	producer = producer_fd;
	faults_each("start with thread buffers", op_start, undo_start);
	if (op_start())
		ok(0, "a session with thread buffers starts");
	faults_each("thread buffer", op_make, undo_make);
	faults_each("read a thread buffer", op_read, NULL);
	undo_start();
}

/* ---------------------------------------------------------------- counters -- */

/* With a site of ftrace; in its middle one; and one that the kernel refuses. */
static const char *const counted[] = { "do_sys_openat2", "vfs_read", "vfs_write",
				       "kprobe_ftrace_handler" };
#define COUNTED	(sizeof(counted) / sizeof(counted[0]))
static struct ct_count_function functions[COUNTED];

static void find_addresses(void)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[1024], name[512];
	size_t i;

	while (in && fgets(line, sizeof(line), in))
		for (i = 0; i < COUNTED; i++)
			if (sscanf(line, "%llx %*c %511s", &address, name) == 2 &&
			    !strcmp(name, counted[i]))
				functions[i].address = address;
	if (in)
		fclose(in);
}

static int op_count(void)
{
	int fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC), err;
	struct ct_count_add add = { .size = sizeof(add), .count = COUNTED,
				    .functions = (uintptr_t)functions };
	struct ct_function_count count[COUNTED];
	struct ct_count_read read = { .size = sizeof(read), .count = COUNTED,
				      .counts = (uintptr_t)count };

	if (fd < 0)
		return errno;
	err = call(fd, CT_IOC_COUNT_ADD, &add);
	if (!err)
		err = call(fd, CT_IOC_COUNT_READ, &read);
	/* Removes them. */
	close(fd);
	return err;
}

void faults_counter(int owner_fd)
{
	owner = owner_fd;
	find_addresses();
	if (start(0))
		ok(0, "a session for counters starts");
	faults_each("counter", op_count, NULL);
	undo_start();
}
