// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ioctls.c - the ioctls that a real libcuda makes, issued to NVIDIA's real
 * kernel driver where it is loaded, in the order of a recording
 * (ioctl_steps.h), so that what traces the driver has something real to see.
 *
 * The blocks are zero but for handles, commands and sizes: without a usable
 * GPU the driver refuses most of them, and those refusals are real. Results
 * are noted for later steps (the client's handle) and otherwise ignored; no
 * failure here may reach the program. Where a GPU works, it must not be given
 * such blocks: there only the check of the version is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim.h"

/* Escapes of the driver's ioctls, type 'F'. */
#define NV_TYPE 'F'
#define NV_FREE 0x29
#define NV_CONTROL 0x2a
#define NV_ALLOC 0x2b
#define NV_MAP_MEMORY 0x4e
#define NV_CARD_INFO 0xc8
#define NV_REGISTER_FD 0xc9
#define NV_ALLOC_OS_EVENT 0xce
#define NV_CHECK_VERSION 0xd2

#define UVM_FREE 34

/* Large enough for every parameter block of RM and UVM. */
#define BLOCK_SIZE (64 << 10)

enum device { CTL, GPU };
enum phase { INIT, CONTEXT, MEMORY };

struct step {
	unsigned char phase, kind, device;
	uint32_t parent, object, what, bytes;
};

enum kind { K_ALLOC, K_CONTROL, K_FREE, K_MAP, K_EVENT, K_ESCAPE, K_UVM };

/* The table is one list of steps; a phase starts a new array of them. */
#define ALLOC(dev, parent, object, class) \
	{ 0, K_ALLOC, dev, parent, object, class, 0 },
#define CONTROL(object, command, bytes) \
	{ 0, K_CONTROL, CTL, 0, object, command, bytes },
#define FREE(object) { 0, K_FREE, CTL, 0, object, 0, 0 },
#define MAP(parent, object, bytes) \
	{ 0, K_MAP, CTL, parent, object, 0, bytes },
#define EVENT(object) { 0, K_EVENT, GPU, 0, object, 0, 0 },
#define ESCAPE(dev, number, bytes) \
	{ 0, K_ESCAPE, dev, 0, 0, number, bytes },
#define UVM(number) { 0, K_UVM, CTL, 0, 0, number, 0 },
#define PHASE(name) { 1 + name, 0, 0, 0, 0, 0, 0 },

static const struct step steps[] = {
#include "ioctl_steps.h"
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ctl = -1, uvm = -1, gpu = -1;
static uint32_t client;
static bool whole;			/* all steps, not only the version's */
static unsigned int contexts, last_object;
static bool refused;			/* the last object was */
static void *block, *inner;		/* the block, and what it points to */

/* libcuda makes the node when it is missing, and so do the tests' guests; a
 * node with nothing behind it (ENXIO, ENODEV) is simply "no driver". */
static int open_node(const char *path)
{
	int saved = errno, fd = open(path, O_RDWR | O_CLOEXEC);

	errno = saved;
	return fd;
}

static int issue(int fd, unsigned int nr, size_t bytes)
{
	return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, NV_TYPE, nr, bytes),
		     block);
}

static uint32_t get32(size_t at)
{
	uint32_t value;

	memcpy(&value, (char *)block + at, sizeof(value));
	return value;
}

static void put32(size_t at, uint32_t value)
{
	memcpy((char *)block + at, &value, sizeof(value));
}

static void put_pointer(size_t at, void *pointer)
{
	uint64_t value = (uintptr_t)pointer;

	memcpy((char *)block + at, &value, sizeof(value));
}

static uint32_t handle(uint32_t object)
{
	return object ? object : client;
}

/* One step of the table. The offsets are those of the driver's interface. An
 * allocation's object is numbered anew, as in the recording. */
static void take(const struct step *step, uint32_t new_object)
{
	int fd = step->device == GPU && gpu >= 0 ? gpu : ctl;

	/* What /dev/nvidia0 alone understands; the rest goes to either. */
	if (step->device == GPU && step->kind == K_ESCAPE && gpu < 0)
		return;
	memset(block, 0, BLOCK_SIZE);
	memset(inner, 0, BLOCK_SIZE);
	switch (step->kind) {
	case K_ALLOC:
		/* A new client names itself; so its parent is nothing. */
		if (step->object) {
			put32(0, client);
			put32(4, handle(step->parent));
			put32(8, new_object ? new_object : step->object);
			put_pointer(16, inner);
		}
		put32(12, step->what);
		refused = issue(fd, NV_ALLOC, 48) || get32(40);
		if (!step->object)
			client = get32(8);
		break;
	case K_CONTROL:
		put32(0, client);
		put32(4, handle(step->object));
		put32(8, step->what);
		if (step->bytes)
			put_pointer(16, inner);
		put32(24, step->bytes);
		issue(fd, NV_CONTROL, 32);
		break;
	case K_FREE:
		put32(0, client);
		put32(4, client);
		put32(8, handle(step->object));
		issue(fd, NV_FREE, 16);
		break;
	case K_MAP:
		put32(0, client);
		put32(4, handle(step->parent));
		put32(8, step->object);
		put32(24, step->bytes);
		put32(48, ctl);
		issue(fd, NV_MAP_MEMORY, 56);
		break;
	case K_EVENT:
		put32(0, client);
		put32(4, step->object);
		put32(8, fd);
		issue(fd, NV_ALLOC_OS_EVENT, 16);
		break;
	case K_ESCAPE:
		if (step->what == NV_REGISTER_FD)
			put32(0, ctl);
		issue(fd, step->what, step->bytes);
		break;
	case K_UVM:
		if (uvm >= 0)
			ioctl(uvm, (unsigned long)step->what, block);
		break;
	}
}

static void run_phase(enum phase phase, uint32_t new_object)
{
	bool in = false;
	size_t i;

	for (i = 0; i < STEPS; i++) {
		if (steps[i].phase)
			in = steps[i].phase == 1 + phase;
		else if (in)
			take(&steps[i], new_object);
	}
}

/* The loaded driver's version, since it refuses any other. */
static bool driver_version(char *text, size_t size)
{
	FILE *file = fopen("/sys/module/nvidia/version", "re");
	char line[256], *at;
	bool found = false;

	if (file) {
		found = fscanf(file, "%63s", line) == 1;
		fclose(file);
		if (found)
			snprintf(text, size, "%.63s", line);
		return found;
	}
	file = fopen("/proc/driver/nvidia/version", "re");
	if (!file)
		return false;
	/* "... Module  550.163.01  Release Build ..." or "... for x86_64 ..." */
	if (fgets(line, sizeof(line), file))
		for (at = strtok(line, " \t"); at && !found;
		     at = strtok(NULL, " \t")) {
			unsigned int a, b;

			found = sscanf(at, "%u.%u", &a, &b) == 2;
			if (found)
				snprintf(text, size, "%.63s", at);
		}
	fclose(file);
	return found;
}

/* Block: command, reply, then the version in 64 bytes. */
static void check_version(void)
{
	memset(block, 0, BLOCK_SIZE);
	if (driver_version((char *)block + 8, 64))
		issue(ctl, NV_CHECK_VERSION, 72);
}

/* 32 cards of 72 bytes; the first byte of each says whether it is one. */
static bool has_card(void)
{
	memset(block, 0, BLOCK_SIZE);
	return !issue(ctl, NV_CARD_INFO, 32 * 72) && get32(0) & 0xff;
}

static void init(void)
{
	struct pollfd ready;

	block = calloc(1, BLOCK_SIZE);
	inner = calloc(1, BLOCK_SIZE);
	if (!block || !inner)
		return;
	ctl = open_node("/dev/nvidiactl");
	if (ctl < 0)
		return;
	check_version();
	if (has_card())
		gpu = open_node("/dev/nvidia0");
	whole = gpu < 0 || sim_knobs()->ioctls_forced;
	if (!whole) {
		close(gpu);
		gpu = -1;
		return;
	}
	uvm = open_node("/dev/nvidia-uvm");
	run_phase(INIT, 0);
	ready = (struct pollfd){ .fd = ctl, .events = POLLIN };
	poll(&ready, 1, 0);
}

void sim_ioctls_init(void)
{
	if (!sim_knobs()->ioctls)
		return;
	pthread_mutex_lock(&lock);
	init();
	pthread_mutex_unlock(&lock);
}

/* A further context costs few ioctls; only the first one is recorded. */
void sim_ioctls_context(void)
{
	pthread_mutex_lock(&lock);
	if (whole && !contexts++)
		run_phase(CONTEXT, 0);
	pthread_mutex_unlock(&lock);
}

/* A number for sim_ioctls_free(), or 0 where there is no driver: the object's
 * own, with the highest bit set if the driver refused to make it. */
#define FIRST_OBJECT 0x5c000100
#define REFUSED 0x80000000

unsigned int sim_ioctls_alloc(void)
{
	unsigned int object = 0;

	pthread_mutex_lock(&lock);
	if (whole) {
		object = FIRST_OBJECT + last_object++;
		run_phase(MEMORY, object);
		if (refused)
			object |= REFUSED;
	}
	pthread_mutex_unlock(&lock);
	return object;
}

/* Not in the recording, whose program ended without freeing: the range is
 * taken from UVM, then the object freed, if there is one. */
void sim_ioctls_free(unsigned int object)
{
	const struct step unmap = { 0, K_UVM, CTL, 0, 0, UVM_FREE, 0 };
	const struct step drop = { 0, K_FREE, CTL, 0, object, 0, 0 };

	pthread_mutex_lock(&lock);
	if (whole) {
		take(&unmap, 0);
		if (!(object & REFUSED))
			take(&drop, 0);
	}
	pthread_mutex_unlock(&lock);
}
