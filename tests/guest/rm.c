// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls NVIDIA's kernel driver without libcuda: ioctls of RM and UVM with valid arguments
 * and with every kind of invalid one, then faults on managed memory.  For each ioctl it
 * prints a line of JSON with what it sent and what it got back; the trace must agree.  Names
 * and offsets are copied from NVIDIA's headers, independently of the tables of cudatrace.
 *
 * rm                all tests
 * rm selftest       UVM's self-test of its queues (wants uvm_enable_builtin_tests=1)
 * rm open N         opens /dev/nvidia0 N times
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define NV(nr, size)	_IOC(_IOC_READ | _IOC_WRITE, 'F', (nr), (size))
#define NONE		-1

static const char *const devices[] = { "nvidiactl", "nvidia0", "nvidia-uvm" };
enum { CTL, GPU, UVM };

/* The offsets of the words in a parameter block; NONE: it has no such word. */
struct layout {
	const char *name;
	int client, object, code, status, parent;
};

static int fd[3];
static unsigned char block[4096];

static uint32_t get(const void *p, int at)
{
	uint32_t v;

	memcpy(&v, (const char *)p + at, sizeof(v));
	return v;
}

static void put(int at, uint32_t v)
{
	memcpy(block + at, &v, sizeof(v));
}

static void put64(int at, uint64_t v)
{
	memcpy(block + at, &v, sizeof(v));
}

static const char *status_name(uint32_t status)
{
	static const struct { uint32_t status; const char *name; } names[] = {
		{ 0x00, "NV_OK" }, { 0x1a, "NV_ERR_INSUFFICIENT_RESOURCES" },
		{ 0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS" },
		{ 0x1e, "NV_ERR_INVALID_ADDRESS" }, { 0x1f, "NV_ERR_INVALID_ARGUMENT" },
		{ 0x22, "NV_ERR_INVALID_CLASS" }, { 0x23, "NV_ERR_INVALID_CLIENT" },
		{ 0x24, "NV_ERR_INVALID_COMMAND" }, { 0x26, "NV_ERR_INVALID_DEVICE" },
		{ 0x31, "NV_ERR_INVALID_OBJECT" }, { 0x33, "NV_ERR_INVALID_OBJECT_HANDLE" },
		{ 0x36, "NV_ERR_INVALID_OBJECT_PARENT" }, { 0x3a, "NV_ERR_INVALID_PARAM_STRUCT" },
		{ 0x3b, "NV_ERR_INVALID_PARAMETER" }, { 0x3d, "NV_ERR_INVALID_POINTER" },
		{ 0x40, "NV_ERR_INVALID_STATE" }, { 0x51, "NV_ERR_NO_MEMORY" },
		{ 0x56, "NV_ERR_NOT_SUPPORTED" }, { 0x57, "NV_ERR_OBJECT_NOT_FOUND" },
		{ 0x59, "NV_ERR_OPERATING_SYSTEM" }, { 0x16, "NV_ERR_ILLEGAL_ACTION" },
		{ 0xffff, "NV_ERR_GENERIC" },
	};
	static char hex[16];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].name;
	snprintf(hex, sizeof(hex), "0x%x", status);
	return hex;
}

static void word(const char *key, int at, const char *name)
{
	if (at == NONE)
		printf(",\"%s\":null", key);
	else if (name)
		printf(",\"%s\":\"%s\"", key, name);
	else
		printf(",\"%s\":\"0x%x\"", key, get(block, at));
}

/*
 * Prints the line of an ioctl, with the words of its block after the call.  readable: the
 * tracer can read the block too.
 */
static void report(int device, unsigned int request, int ret, const struct layout *l,
		   const char *code, bool readable)
{
	static const struct layout nothing = { NULL, NONE, NONE, NONE, NONE, NONE };
	const struct layout *w = readable && l ? l : &nothing;

	printf("{\"device\":\"%s\",\"cmd\":%u,\"ret\":%d,\"name\":", devices[device], request, ret);
	printf(l && l->name ? "\"%s\"" : "null", l ? l->name : NULL);
	word("client", w->client, NULL);
	word("object", w->object, NULL);
	word("parent", w->parent, NULL);
	/* RM makes a client of one of its two classes, and stores which one in the block. */
	if (w->code != NONE && code && !strncmp(code, "NV01_ROOT", 9))
		code = get(block, w->code) == 0x41 ? "NV01_ROOT_CLIENT" : "NV01_ROOT";
	word("code", w->code, code);
	/* The driver writes into the block only if the call succeeds. */
	word("status", ret ? NONE : w->status,
	     ret || w->status == NONE ? NULL : status_name(get(block, w->status)));
	printf("}\n");
}

static int call(int device, unsigned int request, void *arg)
{
	return ioctl(fd[device], request, arg) ? -errno : 0;
}

/* An ioctl with this block; code: the name of the command or class at l->code. */
static int issue(int device, unsigned int request, const struct layout *l, const char *code)
{
	int ret = call(device, request, block);

	report(device, request, ret, l, code, true);
	return ret;
}

/* The same inside an NV_ESC_IOCTL_XFER_CMD. */
static int issue_wrapped(unsigned int nr, unsigned int size, const struct layout *l,
			 const char *code)
{
	struct { uint32_t cmd, size; uint64_t ptr; } xfer = { nr, size, (uintptr_t)block };
	int ret = call(CTL, NV(0xd3, sizeof(xfer)), &xfer);

	report(CTL, NV(nr, size), ret, l, code, true);
	return ret;
}

static void clear(void)
{
	memset(block, 0, sizeof(block));
}

/* -------------------------------------------------------------------- RM --- */
static const struct layout version = { "NV_ESC_CHECK_VERSION_STR", NONE, NONE, NONE, NONE, NONE };
static const struct layout params = { "NV_ESC_SYS_PARAMS", NONE, NONE, NONE, NONE, NONE };
static const struct layout card = { "NV_ESC_CARD_INFO", NONE, NONE, NONE, NONE, NONE };
static const struct layout control = { "NV_ESC_RM_CONTROL", 0, 4, 8, 28, NONE };
static const struct layout alloc = { "NV_ESC_RM_ALLOC", 0, 8, 12, 28, 4 };
static const struct layout alloc64 = { "NV_ESC_RM_ALLOC", 0, 8, 12, 40, 4 };
static const struct layout release = { "NV_ESC_RM_FREE", 0, 8, NONE, 12, 4 };
static const struct layout dup_object = { "NV_ESC_RM_DUP_OBJECT", 0, 8, NONE, 24, 4 };
static const struct layout new_event = { "NV_ESC_ALLOC_OS_EVENT", 0, 4, NONE, 12, NONE };
static const struct layout old_event = { "NV_ESC_FREE_OS_EVENT", 0, 4, NONE, 12, NONE };
static const struct layout only_name = { "NV_ESC_RM_CONTROL", NONE, NONE, NONE, NONE, NONE };
static const struct layout unknown = { NULL, NONE, NONE, NONE, NONE, NONE };

static void set_control(uint32_t client, uint32_t object, uint32_t cmd, void *p, uint32_t size)
{
	clear();
	put(0, client);
	put(4, object);
	put(8, cmd);
	put64(16, (uintptr_t)p);
	put(24, size);
}

/* Returns the new handle. */
static uint32_t new_object(uint32_t client, uint32_t parent, uint32_t handle, uint32_t class,
			   const char *name, void *p, bool wide)
{
	clear();
	put(0, client);
	put(4, parent);
	put(8, handle);
	put(12, class);
	put64(16, (uintptr_t)p);
	issue(CTL, NV(0x2b, wide ? 48 : 32), wide ? &alloc64 : &alloc, name);
	return get(block, 8);
}

static void free_object(uint32_t client, uint32_t parent, uint32_t handle)
{
	clear();
	put(0, client);
	put(4, parent);
	put(8, handle);
	issue(CTL, NV(0x29, 16), &release, NULL);
}

static void say_hello(void)
{
	char text[64] = "";
	FILE *f = fopen("/sys/module/nvidia/version", "r");

	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = '\0';
	if (f)
		fclose(f);
	clear();
	memcpy(block + 8, text, sizeof(text));
	issue(CTL, NV(0xd2, 72), &version, NULL);
	clear();
	strcpy((char *)block + 8, "1.2.3");
	issue(CTL, NV(0xd2, 72), &version, NULL);
	clear();
	issue(CTL, NV(0xd6, 8), &params, NULL);
	clear();
	issue(CTL, NV(0xc8, 2304), &card, NULL);
}

static void controls(uint32_t client)
{
	static uint32_t ids[32];
	static const char attached[] = "NV0000_CTRL_CMD_GPU_GET_ATTACHED_IDS";

	set_control(client, client, 0x201, ids, sizeof(ids));
	issue(CTL, NV(0x2a, 32), &control, attached);
	set_control(client, client, 0x201, ids, sizeof(ids));
	issue_wrapped(0x2a, 32, &control, attached);
	/* a command that no header names */
	set_control(client, client, 0x12345678, ids, sizeof(ids));
	issue(CTL, NV(0x2a, 32), &control, NULL);
	/* a client and an object that do not exist */
	set_control(0xbad, 0xbad, 0x201, ids, sizeof(ids));
	issue(CTL, NV(0x2a, 32), &control, attached);
	set_control(client, 0xcafe, 0x201, ids, sizeof(ids));
	issue(CTL, NV(0x2a, 32), &control, attached);
	/* parameters of another size, and at an address that is not mapped */
	set_control(client, client, 0x201, ids, 4);
	issue(CTL, NV(0x2a, 32), &control, attached);
	set_control(client, client, 0x201, (void *)8, sizeof(ids));
	issue(CTL, NV(0x2a, 32), &control, attached);
}

/* Blocks that the driver does not read. */
static void malformed(void)
{
	struct { uint32_t cmd, size; uint64_t ptr; } xfer = { 0x2a, 32, 8 };
	int ret;

	ret = call(CTL, NV(0x2a, 32), (void *)8);
	report(CTL, NV(0x2a, 32), ret, &only_name, NULL, false);
	/* a block that is too short */
	clear();
	issue(CTL, NV(0x2a, 24), &only_name, NULL);
	clear();
	issue(CTL, NV(0xfe, 16), &unknown, NULL);
	issue(CTL, _IOC(_IOC_READ | _IOC_WRITE, 'G', 0x2a, 32), &unknown, NULL);
	ret = call(CTL, NV(0xd3, sizeof(xfer)), &xfer);
	report(CTL, NV(0x2a, 32), ret, &only_name, NULL, false);
}

static void rm(void)
{
	uint32_t client, object;
	int event[2] = { -1, -1 };

	say_hello();
	client = new_object(0, 0, 0, 0x41, "NV01_ROOT_CLIENT", NULL, false);
	controls(client);
	malformed();
	/* objects of every kind that a context is made of: without a GPU RM refuses them */
	object = new_object(client, client, 0x5c000001, 0x80, "NV01_DEVICE_0", NULL, false);
	new_object(client, object, 0x5c000002, 0x2080, "NV20_SUBDEVICE_0", NULL, true);
	new_object(client, object, 0x5c000003, 0x90f1, "FERMI_VASPACE_A", NULL, true);
	new_object(client, object, 0x5c000004, 0xa06c, "KEPLER_CHANNEL_GROUP_A", NULL, true);
	new_object(client, object, 0x5c000005, 0x9067, "FERMI_CONTEXT_SHARE_A", NULL, true);
	new_object(client, object, 0x5c000006, 0xc56f, "AMPERE_CHANNEL_GPFIFO_A", NULL, true);
	new_object(client, object, 0x5c000007, 0x3e, "NV01_MEMORY_SYSTEM", NULL, false);
	new_object(client, client, 0x5c000008, 0xdead, NULL, NULL, false);
	/* a second client, from which the first one duplicates an object */
	object = new_object(0, 0, 0, 0x0, "NV01_ROOT", NULL, true);
	clear();
	put(0, client);
	put(4, client);
	put(8, 0x5c000009);
	put(12, object);
	put(16, 0x5c000001);
	issue(CTL, NV(0x34, 28), &dup_object, NULL);
	free_object(object, object, object);
	if (!pipe(event)) {
		clear();
		put(0, client);
		put(8, event[0]);
		issue(CTL, NV(0xce, 16), &new_event, NULL);
		clear();
		put(0, client);
		put(8, event[0]);
		issue(CTL, NV(0xcf, 16), &old_event, NULL);
	}
	free_object(client, client, 0xcafe);
	free_object(client, client, client);
	free_object(client, client, client);
}

/* ------------------------------------------------------------------- UVM --- */
static struct layout uvm_status(const char *name, int at)
{
	return (struct layout){ name, NONE, NONE, NONE, at, NONE };
}

static void uvm_issue(unsigned int cmd, const char *name, int status)
{
	struct layout l = uvm_status(name, status);

	issue(UVM, cmd, &l, NULL);
}

static void faults(void)
{
	char *at = (char *)0x7e0000000000;
	/* Each page in its own block, or UVM migrates a neighbour with it. */
	const size_t step = 2 << 20, size = 4 * step;
	char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd[UVM],
		       (off_t)(uintptr_t)at);
	unsigned int i, sum = 0;

	if (p == MAP_FAILED) {
		fprintf(stderr, "managed memory: %s\n", strerror(errno));
		return;
	}
	for (i = 0; i < 4; i++)
		p[i * step] = i + 1;
	for (i = 0; i < 4; i++)
		sum += p[i * step];
	fprintf(stderr, "managed memory at %p sum %u\n", (void *)p, sum);
	clear();
	put64(0, (uintptr_t)p);
	put64(8, size);
	memset(block + 16, 0, 16);
	/* to the CPU, where the memory already is */
	uvm_issue(51, "UVM_MIGRATE", 72);
	clear();
	put64(0, (uintptr_t)p);
	put64(8, size);
	uvm_issue(34, "UVM_FREE", 16);
	munmap(p, size);
}

static void uvm(void)
{
	struct layout none = uvm_status("UVM_PAGEABLE_MEM_ACCESS", NONE);
	int ret;

	clear();
	uvm_issue(39, "UVM_PAGEABLE_MEM_ACCESS", 4);	/* before it is initialised */
	clear();
	uvm_issue(0x30000001, "UVM_INITIALIZE", 8);
	clear();
	uvm_issue(39, "UVM_PAGEABLE_MEM_ACCESS", 4);
	clear();
	put(24, -1);
	uvm_issue(37, "UVM_REGISTER_GPU", 36);	/* a GPU that is not there */
	clear();
	uvm_issue(23, "UVM_CREATE_RANGE_GROUP", 8);
	uvm_issue(24, "UVM_DESTROY_RANGE_GROUP", 8);
	uvm_issue(24, "UVM_DESTROY_RANGE_GROUP", 8);	/* twice */
	faults();
	ret = call(UVM, 39, (void *)8);
	report(UVM, 39, ret, &none, NULL, false);
	clear();
	uvm_issue(9999, NULL, NONE);
}

static int selftest(void)
{
	clear();
	call(UVM, 0x30000001, block);
	clear();
	return call(UVM, 200 + 45, block) || get(block, 0);
}

int main(int argc, char **argv)
{
	int i, n = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "open")) {
		for (i = 0; i < n; i++)
			printf("%s\n", open("/dev/nvidia0", O_RDWR) < 0 ? strerror(errno) : "open");
		return 0;
	}
	fd[CTL] = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	fd[UVM] = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);
	if (fd[CTL] < 0 || fd[UVM] < 0) {
		fprintf(stderr, "no driver: %s\n", strerror(errno));
		return 2;
	}
	if (argc > 1 && !strcmp(argv[1], "selftest"))
		return selftest();
	rm();
	uvm();
	return 0;
}
