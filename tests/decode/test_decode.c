// SPDX-License-Identifier: LGPL-2.1
/*
 * test_decode [--list | --only PATTERN] - unit test of the decoder, in TAP
 *
 * The recorded trace is vectoradd-h200.txt beside this file.
 * Blocks are copies of exactly their length, so that a sanitizer sees a read
 * beyond one.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/decode/function_names.h"
#include "../../cli/decode/tables/nv_tables.h"
#include "ioctl.h"
#include "trace.h"

#define V515	NV_VERSION(515, 43, 4)
#define V535	NV_VERSION(535, 261, 3)
#define V550	NV_VERSION(550, 163, 1)
#define V580	NV_VERSION(580, 159, 4)

/* _IOWR('F', nr, size) */
#define RM(nr, size)	(0xc0004600U | (uint32_t)(size) << 16 | (nr))

static unsigned int tests, failures;
/* Of the test under way. */
static bool failed;

static void expect(bool ok, const char *what, int line)
{
	if (ok)
		return;
	failed = true;
	printf("# line %d: %s\n", line, what);
}

#define EXPECT(cond)	expect(cond, #cond, __LINE__)
#define EXPECT_NAME(name, want)	expect_name(name, want, #name, __LINE__)

static void expect_name(const char *name, const char *want, const char *what, int line)
{
	if (!name == !want && (!name || !strcmp(name, want)))
		return;
	failed = true;
	printf("# line %d: %s is %s, not %s\n", line, what, name ? name : "NULL",
	       want ? want : "NULL");
}

static void done(const char *what)
{
	tests++;
	failures += failed;
	printf("%sok %u - %s\n", failed ? "not " : "", tests, what);
	failed = false;
}

/* A copy that ends where memory ends, for the sanitizer. */
static void *exactly(const void *block, size_t len)
{
	void *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, block, len);
	return copy;
}

static bool decode(enum nv_dev dev, unsigned int version, uint32_t request, const void *block,
		   size_t len, struct nv_ioctl *io)
{
	void *copy = exactly(block, len);
	bool named = nv_ioctl_decode(dev, version, request, copy, len, io);

	free(copy);
	return named;
}

static void test_escape_names(void)
{
	EXPECT_NAME(nv_escape_name(0x27), "NV_ESC_RM_ALLOC_MEMORY");	/* the first */
	EXPECT_NAME(nv_escape_name(0x2a), "NV_ESC_RM_CONTROL");
	EXPECT_NAME(nv_escape_name(0x5e), "NV_ESC_RM_UPDATE_DEVICE_MAPPING_INFO");
	EXPECT_NAME(nv_escape_name(0xc8), "NV_ESC_CARD_INFO");
	EXPECT_NAME(nv_escape_name(0xd7), "NV_ESC_NUMA_INFO");
	EXPECT_NAME(nv_escape_name(0xda), "NV_ESC_WAIT_OPEN_COMPLETE");	/* the last */
	EXPECT_NAME(nv_escape_name(0), NULL);
	EXPECT_NAME(nv_escape_name(0x26), NULL);
	EXPECT_NAME(nv_escape_name(0x2c), NULL);
	EXPECT_NAME(nv_escape_name(0xff), NULL);
	EXPECT_NAME(nv_escape_name(~0U), NULL);
	EXPECT_NAME(nv_escape_name_at(0x5f, V535), "NV_ESC_RM_NVLOG_CTRL");
	EXPECT_NAME(nv_escape_name_at(0x5f, V580), "NV_ESC_RM_LOCKLESS_DIAGNOSTIC");
	done("escapes have their names, other numbers none");
}

static void test_uvm_names(void)
{
	EXPECT_NAME(nv_uvm_ioctl_name(37), "UVM_REGISTER_GPU");
	EXPECT_NAME(nv_uvm_ioctl_name(34), "UVM_FREE");
	EXPECT_NAME(nv_uvm_ioctl_name(39), "UVM_PAGEABLE_MEM_ACCESS");
	EXPECT_NAME(nv_uvm_ioctl_name(51), "UVM_MIGRATE");
	EXPECT_NAME(nv_uvm_ioctl_name(75), "UVM_MM_INITIALIZE");
	EXPECT_NAME(nv_uvm_ioctl_name(200), "UVM_TEST_GET_GPU_REF_COUNT");
	EXPECT_NAME(nv_uvm_ioctl_name(0x30000001), "UVM_INITIALIZE");
	EXPECT_NAME(nv_uvm_ioctl_name(0x30000002), "UVM_DEINITIALIZE");
	EXPECT_NAME(nv_uvm_ioctl_name(0), NULL);
	EXPECT_NAME(nv_uvm_ioctl_name(0x30000003), NULL);
	EXPECT_NAME(nv_uvm_ioctl_name(~0U), NULL);
	done("UVM ioctls have their names, other numbers none");
}

static void test_ctrl_names(void)
{
	EXPECT_NAME(nv_ctrl_name(0), "NV0000_CTRL_CMD_NULL");
	EXPECT_NAME(nv_ctrl_name(0x101), "NV0000_CTRL_CMD_SYSTEM_GET_BUILD_VERSION");
	EXPECT_NAME(nv_ctrl_name(0x20800102), "NV2080_CTRL_CMD_GPU_GET_INFO_V2");
	EXPECT_NAME(nv_ctrl_name(0xa06c0101), "NVA06C_CTRL_CMD_GPFIFO_SCHEDULE");
	/* The spelling without CMD. */
	EXPECT_NAME(nv_ctrl_name(0x906f0101), "NV906F_CTRL_GET_CLASS_ENGINEID");
	/* No number of a class's own, and not of its class's header. */
	EXPECT_NAME(nv_ctrl_name(0xcb330101), "NV_CONF_COMPUTE_CTRL_CMD_SYSTEM_GET_CAPABILITIES");
	/* Only the driver's method tables name it. */
	EXPECT_NAME(nv_ctrl_name(0x20800145), "subdeviceCtrlCmdGpuAcquireComputeModeReservation");
	EXPECT_NAME(nv_ctrl_name(0x20808159), NULL);
	EXPECT_NAME(nv_ctrl_name(0x2080ffff), NULL);
	EXPECT_NAME(nv_ctrl_name(~0U), NULL);
	done("control commands have their names, other numbers none");
}

static void test_ctrl_versions(void)
{
	/* A number that was given to another command. */
	EXPECT_NAME(nv_ctrl_name_at(0x107, V535), "NV0000_CTRL_CMD_SYSTEM_SET_MEMORY_SIZE");
	EXPECT_NAME(nv_ctrl_name_at(0x107, V580), "NV0000_CTRL_SYSTEM_GET_VRR_COOKIE_PRESENT");
	EXPECT_NAME(nv_ctrl_name_at(0x107, 0), "NV0000_CTRL_SYSTEM_GET_VRR_COOKIE_PRESENT");
	EXPECT_NAME(nv_ctrl_name(0x107), "NV0000_CTRL_SYSTEM_GET_VRR_COOKIE_PRESENT");
	/* Older than any version read. */
	EXPECT_NAME(nv_ctrl_name_at(0x107, 1), "NV0000_CTRL_CMD_SYSTEM_SET_MEMORY_SIZE");
	done("a control command's name follows the driver's version");
}

static void test_other_names(void)
{
	EXPECT_NAME(nv_class_name(0), "NV01_ROOT");
	EXPECT_NAME(nv_class_name(0x41), "NV01_ROOT_CLIENT");
	EXPECT_NAME(nv_class_name(0x3e), "NV01_MEMORY_SYSTEM");
	EXPECT_NAME(nv_class_name(0x79), "NV01_EVENT_OS_EVENT");
	EXPECT_NAME(nv_class_name(0xc86f), "HOPPER_CHANNEL_GPFIFO_A");
	EXPECT_NAME(nv_class_name(0xcbc0), "HOPPER_COMPUTE_A");
	EXPECT_NAME(nv_class_name(0xdead), NULL);
	EXPECT_NAME(nv_class_name(~0U), NULL);
	EXPECT_NAME(nv_status_name(0), "NV_OK");
	EXPECT_NAME(nv_status_name(0x23), "NV_ERR_INVALID_CLIENT");
	EXPECT_NAME(nv_status_name(0x56), "NV_ERR_NOT_SUPPORTED");
	EXPECT_NAME(nv_status_name(0xffff), "NV_ERR_GENERIC");
	EXPECT_NAME(nv_status_name(0x1000), NULL);
	EXPECT_NAME(cu_result_name(0), "CUDA_SUCCESS");
	EXPECT_NAME(cu_result_name(3), "CUDA_ERROR_NOT_INITIALIZED");
	EXPECT_NAME(cu_result_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
	EXPECT_NAME(cu_result_name(999), "CUDA_ERROR_UNKNOWN");
	EXPECT_NAME(cu_result_name(-1), NULL);
	EXPECT_NAME(cudart_error_name(0), "cudaSuccess");
	EXPECT_NAME(cudart_error_name(35), "cudaErrorInsufficientDriver");
	EXPECT_NAME(cudart_error_name(-1), NULL);
	done("classes, statuses and CUDA's results have their names, other numbers none");
}

static bool sorted(const struct nv_name *t, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count; i++)
		if (t[i].nr < t[i - 1].nr ||
		    (t[i].nr == t[i - 1].nr && t[i].since <= t[i - 1].since))
			return false;
	return count > 0;
}

static void test_tables(void)
{
	unsigned int i;

	EXPECT(sorted(nv_escape_names, NV_COUNT(nv_escape_names)));
	EXPECT(sorted(nv_ctrl_names, nv_ctrl_names_count));
	EXPECT(sorted(nv_class_names, nv_class_names_count));
	EXPECT(sorted(nv_status_names, nv_status_names_count));
	EXPECT(sorted(cu_result_names, cu_result_names_count));
	EXPECT(sorted(cudart_error_names, cudart_error_names_count));
	for (i = 1; i < NV_COUNT(nv_uvm_layouts); i++)
		EXPECT(nv_uvm_layouts[i].cmd > nv_uvm_layouts[i - 1].cmd ||
		       (nv_uvm_layouts[i].cmd == nv_uvm_layouts[i - 1].cmd &&
			nv_uvm_layouts[i].since > nv_uvm_layouts[i - 1].since));
	/* All that is named can be found, and all that has a layout is named. */
	for (i = 0; i < nv_ctrl_names_count; i++)
		EXPECT_NAME(nv_ctrl_name_at(nv_ctrl_names[i].nr, nv_ctrl_names[i].since),
			    nv_ctrl_names[i].name);
	for (i = 0; i < NV_COUNT(nv_uvm_layouts); i++)
		EXPECT_NAME(nv_uvm_ioctl_name_at(nv_uvm_layouts[i].cmd, nv_uvm_layouts[i].since),
			    nv_uvm_layouts[i].name);
	for (i = 0; i < NV_COUNT(nv_esc_layouts); i++)
		EXPECT(nv_escape_name(nv_esc_layouts[i].nr));
	EXPECT(nv_ctrl_names_count >= 1422);	/* those of 535 alone */
	done("tables are sorted and can be searched");
}

static bool is_function(const char *name)
{
	unsigned int low = 0, high = ct_function_names_count;

	while (low < high) {
		unsigned int mid = (low + high) / 2;
		int d = strcmp(name, ct_function_names[mid]);

		if (!d)
			return true;
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

/* Whatever the library has a row for is known, by its name without _v2. */
static void test_function_names(void)
{
	static const char *const symbols[] = {
#define CT_PARAM(symbol, words, vector)	#symbol,
#include "../../userlib/call/tables/param_counts.h"
	};

	for (unsigned int i = 1; i < ct_function_names_count; i++)
		EXPECT(strcmp(ct_function_names[i - 1], ct_function_names[i]) < 0);
	for (unsigned int i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		char name[64];
		char *version;

		snprintf(name, sizeof(name), "%s", symbols[i]);
		version = strstr(name, "_v");
		if (version)
			*version = 0;
		if (!is_function(name))
			EXPECT_NAME(NULL, name);
	}
	EXPECT(is_function("cudaMallocAsync"));
	EXPECT(is_function("cudaThreadSynchronize"));	/* of CUDA 12 and older */
	EXPECT(is_function("ncclAllReduce"));
	EXPECT(!is_function("cuMemAlloc_v2"));
	done("names of functions are sorted, and those that the library knows are there");
}

static void test_devices(void)
{
	EXPECT(nv_dev_of("/dev/nvidiactl") == NV_DEV_RM);
	EXPECT(nv_dev_of("/dev/nvidia0") == NV_DEV_RM);
	EXPECT(nv_dev_of("nvidia127") == NV_DEV_RM);
	EXPECT(nv_dev_of("/dev/nvidia-uvm") == NV_DEV_UVM);
	EXPECT(nv_dev_of("/dev/nvidia-uvm-tools") == NV_DEV_NONE);
	EXPECT(nv_dev_of("/dev/nvidia-modeset") == NV_DEV_NONE);
	EXPECT(nv_dev_of("/dev/nvidia") == NV_DEV_NONE);
	EXPECT(nv_dev_of("/dev/nvidia0x") == NV_DEV_NONE);
	EXPECT(nv_dev_of("/dev/null") == NV_DEV_NONE);
	EXPECT(nv_dev_of("/") == NV_DEV_NONE);
	EXPECT(nv_dev_of("") == NV_DEV_NONE);
	EXPECT(nv_dev_of(NULL) == NV_DEV_NONE);
	done("paths of devices are told apart");
}

static void test_versions(void)
{
	EXPECT(nv_version_parse("535.261.03") == V535);
	EXPECT(nv_version_parse("580.159.04  Release Build") == V580);
	EXPECT(nv_version_parse("550.100\n") == NV_VERSION(550, 100, 0));
	EXPECT(nv_version_parse("525.53") == NV_VERSION(525, 53, 0));
	EXPECT(!nv_version_parse(""));
	EXPECT(!nv_version_parse("535"));
	EXPECT(!nv_version_parse("535."));
	EXPECT(!nv_version_parse("x535.1"));
	EXPECT(!nv_version_parse("99999.1.1"));
	EXPECT(!nv_version_parse("535.1000.1"));
	done("versions are read");
}

static void test_control(void)
{
	/* A control command that RM does not know, of a bogus object. */
	uint32_t block[8] = { 0xc1d0001a, 0x5c000003, 0x2080ffff, 2, 0x1000, 0x7ffe, 0x28, 0x56 };
	struct nv_ioctl io;

	EXPECT(decode(NV_DEV_RM, 0, 0xc020462a, block, sizeof(block), &io));
	EXPECT(io.dir == 3 && io.type == 'F' && io.nr == 0x2a && io.size == 32);
	EXPECT_NAME(io.name, "NV_ESC_RM_CONTROL");
	EXPECT(io.known && !io.xfer && io.code_kind == NV_CODE_CMD);
	EXPECT(io.w.has == (NV_HAS_CLIENT | NV_HAS_OBJECT | NV_HAS_CODE | NV_HAS_PARAMS |
			    NV_HAS_PARAMS_SIZE | NV_HAS_STATUS));
	EXPECT(io.w.client == 0xc1d0001a && io.w.object == 0x5c000003);
	EXPECT(io.w.code == 0x2080ffff && !io.code_name);
	EXPECT(io.w.params == 0x7ffe00001000 && io.w.params_size == 0x28);
	EXPECT(io.w.status == 0x56);
	EXPECT_NAME(io.status_name, "NV_ERR_NOT_SUPPORTED");

	block[2] = 0x20800102;
	block[7] = 0x12345678;
	EXPECT(decode(NV_DEV_RM, 0, 0xc020462a, block, sizeof(block), &io));
	EXPECT_NAME(io.code_name, "NV2080_CTRL_CMD_GPU_GET_INFO_V2");
	EXPECT(io.w.status == 0x12345678 && !io.status_name);

	block[2] = 0x107;
	decode(NV_DEV_RM, V535, 0xc020462a, block, sizeof(block), &io);
	EXPECT_NAME(io.code_name, "NV0000_CTRL_CMD_SYSTEM_SET_MEMORY_SIZE");
	done("RM_CONTROL: client, object, command, parameters, status");
}

static void test_alloc(void)
{
	uint32_t nvos64[12] = { 0xc1, 0xc2, 0xc3, 0x2080, 0x1000, 0x7ffe, 7, 8, 4, 9, 0x23, 0 };
	uint32_t nvos21[8] = { 0xc1, 0xc2, 0xc3, 0xa06c, 0x1000, 0x7ffe, 0x51, 0x1f };
	struct nv_ioctl io;

	EXPECT(decode(NV_DEV_RM, 0, 0xc030462b, nvos64, sizeof(nvos64), &io));
	EXPECT(io.w.client == 0xc1 && io.w.object == 0xc2 && io.w.sub == 0xc3);
	EXPECT(io.w.params == 0x7ffe00001000 && io.w.params_size == 4);
	EXPECT(io.code_kind == NV_CODE_CLASS);
	EXPECT_NAME(io.code_name, "NV20_SUBDEVICE_0");
	EXPECT_NAME(io.status_name, "NV_ERR_INVALID_CLIENT");

	EXPECT(decode(NV_DEV_RM, 0, 0xc020462b, nvos21, sizeof(nvos21), &io));
	EXPECT(io.w.client == 0xc1 && io.w.object == 0xc2 && io.w.sub == 0xc3);
	EXPECT(io.w.params_size == 0x51 && io.w.status == 0x1f);
	EXPECT_NAME(io.code_name, "KEPLER_CHANNEL_GROUP_A");
	EXPECT_NAME(io.status_name, "NV_ERR_INVALID_ARGUMENT");

	/* The first drivers had the status elsewhere in a block of that size. */
	EXPECT(decode(NV_DEV_RM, V515, 0xc020462b, nvos21, sizeof(nvos21), &io));
	EXPECT(io.w.status == 0x51 && !(io.w.has & NV_HAS_PARAMS_SIZE));

	nvos64[3] = 0xdead;
	EXPECT(decode(NV_DEV_RM, 0, 0xc030462b, nvos64, sizeof(nvos64), &io));
	EXPECT(io.w.has & NV_HAS_CODE && io.w.code == 0xdead && !io.code_name);
	done("RM_ALLOC: both blocks, and the block of older drivers");
}

static void test_other_escapes(void)
{
	/* Where the words of each are; the values are their offsets. */
	static const struct {
		unsigned int nr, size, version, client, object, sub, code, status;
	} blocks[] = {
		{ 0x29, 16, 0, 0, 4, 8, NV_NO, 12 },		/* free */
		{ 0x27, 56, 0, 0, 4, 8, 12, 40 },		/* allocate memory */
		{ 0x28, 20, 0, 0, 4, 8, 12, 16 },		/* allocate object */
		{ 0x4e, 56, 0, 0, 4, 8, NV_NO, 40 },		/* map memory */
		{ 0x4f, 32, 0, 0, 4, 8, NV_NO, 24 },		/* unmap memory */
		{ 0x57, 56, 0, 0, 4, 12, NV_NO, 48 },		/* map DMA */
		{ 0x57, 64, V580, 0, 4, 12, NV_NO, 56 },
		{ 0x58, 40, 0, 0, 4, 12, NV_NO, 32 },		/* unmap DMA */
		{ 0x58, 48, V550, 0, 4, 12, NV_NO, 40 },
		{ 0x34, 28, 0, 0, 4, 8, NV_NO, 24 },		/* duplicate object */
		{ 0x4a, 184, 0, 0, 4, NV_NO, 8, 20 },		/* video heap */
		{ 0xce, 16, 0, 0, 4, NV_NO, NV_NO, 12 },	/* OS event */
		{ 0xd9, 2600, V550, 4, NV_NO, NV_NO, NV_NO, 2592 },
	};
	unsigned char block[2600];
	struct nv_ioctl io;
	size_t i;

	for (i = 0; i < sizeof(block); i += 4)
		memcpy(block + i, &(uint32_t) { 0x70000000 | i }, 4);
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		unsigned int nr = blocks[i].nr, size = blocks[i].size;

		EXPECT(decode(NV_DEV_RM, blocks[i].version, RM(nr, size), block, size, &io));
		EXPECT(io.known && io.nr == nr && io.size == size);
#define SAME(field, bit)							\
		EXPECT(blocks[i].field == NV_NO ? !(io.w.has & (bit)) && !io.w.field :	\
		       (io.w.has & (bit)) && io.w.field == (0x70000000 | blocks[i].field))
		SAME(client, NV_HAS_CLIENT);
		SAME(object, NV_HAS_OBJECT);
		SAME(sub, NV_HAS_SUB);
		SAME(code, NV_HAS_CODE);
		SAME(status, NV_HAS_STATUS);
#undef SAME
	}
	done("words of other escapes");
}

static void test_short(void)
{
	unsigned char *block = calloc(1, 65536);
	struct nv_ioctl io;
	unsigned int i;
	size_t len;

	if (!block)
		abort();
	for (i = 0; i < NV_COUNT(nv_esc_layouts); i++) {
		const struct nv_esc_layout *l = &nv_esc_layouts[i];

		if (l->size > 256)
			continue;
		for (len = 0; len <= l->size; len++) {
			EXPECT(decode(NV_DEV_RM, l->since, RM(l->nr, l->size), block, len, &io));
#define INSIDE(field, bit, bytes)						\
			EXPECT(!!(io.w.has & (bit)) ==				\
			       (l->field != NV_NO && l->field + (bytes) <= (int)len))
			INSIDE(client, NV_HAS_CLIENT, 4);
			INSIDE(object, NV_HAS_OBJECT, 4);
			INSIDE(sub, NV_HAS_SUB, 4);
			INSIDE(code, NV_HAS_CODE, 4);
			INSIDE(params, NV_HAS_PARAMS, 8);
			INSIDE(params_size, NV_HAS_PARAMS_SIZE, 4);
			INSIDE(status, NV_HAS_STATUS, 4);
#undef INSIDE
			EXPECT(!io.status_name == !(io.w.has & NV_HAS_STATUS));
		}
	}
	for (i = 0; i < NV_COUNT(nv_uvm_layouts); i++) {
		const struct nv_uvm_layout *l = &nv_uvm_layouts[i];

		for (len = 0; len <= l->size; len += l->size > 256 ? 61 : 1) {
			decode(NV_DEV_UVM, l->since, l->cmd, block, len, &io);
			EXPECT(io.known && io.size == l->size);
			EXPECT(!!(io.w.has & NV_HAS_STATUS) ==
			       (l->status != NV_NO && (size_t)l->status + 4 <= len));
		}
	}
	EXPECT(nv_ioctl_decode(NV_DEV_RM, 0, 0xc020462a, NULL, 0, &io) && !io.w.has);
	EXPECT(nv_ioctl_decode(NV_DEV_UVM, 0, 37, NULL, 0, &io) && !io.w.has);
	free(block);
	done("short blocks: words beyond the end are left out");
}

static void test_wrong(void)
{
	uint32_t block[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	struct nv_ioctl io;

	/* Known escape, wrong size: a name, but no words. */
	EXPECT(decode(NV_DEV_RM, 0, RM(0x2a, 40), block, sizeof(block), &io));
	EXPECT_NAME(io.name, "NV_ESC_RM_CONTROL");
	EXPECT(!io.known && !io.w.has && io.code_kind == NV_CODE_NONE && io.size == 40);
	EXPECT(decode(NV_DEV_RM, 0, RM(0x2a, 0), block, sizeof(block), &io));
	EXPECT(!io.known && !io.w.has);
	EXPECT(decode(NV_DEV_RM, V535, RM(0x5f, 8), block, sizeof(block), &io));
	EXPECT_NAME(io.name, "NV_ESC_RM_NVLOG_CTRL");
	/* Unknown escape. */
	EXPECT(!decode(NV_DEV_RM, 0, RM(0x2c, 32), block, sizeof(block), &io));
	EXPECT(!io.name && !io.known && !io.w.has && io.nr == 0x2c && io.size == 32);
	/* Another type byte: not one of RM's. */
	EXPECT(!decode(NV_DEV_RM, 0, 0xc020472a, block, sizeof(block), &io));
	EXPECT(!io.name && !io.known && io.type == 'G' && io.nr == 0x2a);
	EXPECT(!decode(NV_DEV_NONE, 0, 0xc020462a, block, sizeof(block), &io));
	EXPECT(!io.name && !io.known && io.request == 0xc020462a);
	/* UVM's numbers are none of RM's, and the other way round. */
	EXPECT(!decode(NV_DEV_UVM, 0, 0xc020462a, block, sizeof(block), &io));
	EXPECT(!io.known && !io.w.has && io.nr == 0xc020462a);
	EXPECT(!decode(NV_DEV_RM, 0, 37, block, sizeof(block), &io));
	/* A longer recording than the block: what follows is not the ioctl's. */
	EXPECT(decode(NV_DEV_RM, 0, RM(0x29, 16), block, sizeof(block), &io));
	EXPECT(io.w.status == 4);
	nv_ioctl_decode(NV_DEV_RM, 0, RM(0x29, 16), block, (size_t)UINT32_MAX + 1, &io);
	EXPECT(io.w.has & NV_HAS_STATUS && io.w.status == 4);
	EXPECT(!decode(NV_DEV_UVM, 0, 0x30000003, block, sizeof(block), &io));
	EXPECT(!io.known && !io.size);
	done("wrong sizes, unknown numbers, other devices");
}

static void test_xfer(void)
{
	uint32_t xfer[4] = { 0x2a, 32, 0x1000, 0x7ffe };
	uint32_t inner[8] = { 0xc1, 0xc2, 0x20800102, 0, 0, 0, 0, 0x23 };
	unsigned int nr = 7, size = 8;
	unsigned long long ptr = 9;
	struct nv_ioctl io;
	void *copy;

	EXPECT(decode(NV_DEV_RM, 0, 0xc01046d3, xfer, sizeof(xfer), &io));
	EXPECT(io.xfer && io.nr == 0x2a && io.size == 32 && io.inner == 0x7ffe00001000);
	EXPECT_NAME(io.name, "NV_ESC_RM_CONTROL");
	EXPECT(!io.w.has && !io.code_name);
	copy = exactly(inner, sizeof(inner));
	nv_ioctl_decode_inner(&io, copy, sizeof(inner));
	EXPECT(io.w.client == 0xc1 && io.w.status == 0x23);
	EXPECT_NAME(io.code_name, "NV2080_CTRL_CMD_GPU_GET_INFO_V2");
	free(copy);

	/* Its block is cut off: all that is known is that it was one. */
	EXPECT(decode(NV_DEV_RM, 0, 0xc01046d3, xfer, 15, &io));
	EXPECT(!io.xfer && !io.w.has);
	EXPECT_NAME(io.name, "NV_ESC_IOCTL_XFER_CMD");
	copy = exactly(inner, sizeof(inner));
	nv_ioctl_decode_inner(&io, copy, sizeof(inner));
	EXPECT(!io.w.has);
	free(copy);

	EXPECT(!nv_xfer_unwrap(xfer, 15, &nr, &size, &ptr) && nr == 7 && size == 8 && ptr == 9);
	EXPECT(nv_xfer_unwrap(xfer, 16, &nr, &size, &ptr) && nr == 0x2a && size == 32);
	/* The driver refuses one of another size. */
	EXPECT(decode(NV_DEV_RM, 0, RM(0xd3, 32), inner, sizeof(inner), &io));
	EXPECT(!io.xfer && io.nr == 0xd3);
	/* What came without one has no inner block. */
	decode(NV_DEV_RM, 0, RM(0x2a, 32), inner, 0, &io);
	nv_ioctl_decode_inner(&io, inner, sizeof(inner));
	EXPECT(!io.w.has);

	/* Inner numbers are the program's: any value may come. */
	xfer[0] = 0xffffffff;
	xfer[1] = 0xffffffff;
	EXPECT(!decode(NV_DEV_RM, 0, 0xc01046d3, xfer, sizeof(xfer), &io));
	EXPECT(io.xfer && !io.known && io.nr == 0xffffffff && io.size == 0xffffffff);
	copy = exactly(inner, sizeof(inner));
	nv_ioctl_decode_inner(&io, copy, sizeof(inner));
	EXPECT(!io.w.has);
	free(copy);
	/* An XFER_CMD in an XFER_CMD is not unwrapped twice. */
	xfer[0] = 0xd3;
	xfer[1] = 16;
	EXPECT(decode(NV_DEV_RM, 0, 0xc01046d3, xfer, sizeof(xfer), &io));
	EXPECT(io.xfer && io.nr == 0xd3);
	EXPECT_NAME(io.name, "NV_ESC_IOCTL_XFER_CMD");
	done("XFER_CMD is unwrapped");
}

static void test_uvm(void)
{
	unsigned char block[40] = { 0 };
	struct nv_ioctl io;

	memcpy(block + 32, &(uint32_t) { 0x1f }, 4);
	memcpy(block + 36, &(uint32_t) { 0x56 }, 4);
	EXPECT(decode(NV_DEV_UVM, V535, 42, block, sizeof(block), &io));
	EXPECT_NAME(io.name, "UVM_SET_PREFERRED_LOCATION");
	EXPECT(io.known && io.size == 40 && io.w.has == NV_HAS_STATUS);
	EXPECT_NAME(io.status_name, "NV_ERR_INVALID_ARGUMENT");
	EXPECT(decode(NV_DEV_UVM, V580, 42, block, sizeof(block), &io));
	EXPECT_NAME(io.status_name, "NV_ERR_NOT_SUPPORTED");
	EXPECT(decode(NV_DEV_UVM, 0, 42, block, sizeof(block), &io) && io.w.status == 0x56);

	memcpy(block + 8, &(uint32_t) { 0x3b }, 4);
	EXPECT(decode(NV_DEV_UVM, 0, 0x30000001, block, 16, &io));
	EXPECT(io.size == 16 && io.w.status == 0x3b && !io.dir && !io.type);
	EXPECT(decode(NV_DEV_UVM, 0, 0x30000002, block, sizeof(block), &io));
	EXPECT(io.known && !io.size && !io.w.has);

	EXPECT(nv_uvm_layout_find(33, V535)->size == 1200);
	EXPECT(nv_uvm_layout_find(33, V580)->size == 9264);
	EXPECT(nv_uvm_layout_find(33, V580)->status == 9260);
	EXPECT(!nv_uvm_layout_find(0x30000003, 0));
	done("UVM: status, by the driver's version");
}

static void test_trace(void)
{
	/* Numbers that no published header names. */
	static const uint32_t unnamed[] = { 0x20808159, 0x20808162, 0x20809038, 0x20810108 };
	unsigned int lines = 0, controls = 0, allocs = 0, maps = 0, no_name = 0, ok = 0, i;
	const char *slash = strrchr(__FILE__, '/');
	char path[4096], text[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%.*svectoradd-h200.txt",
		 slash ? (int)(slash + 1 - __FILE__) : 0, __FILE__);
	f = fopen(path, "r");
	EXPECT(f);
	while (f && fgets(text, sizeof(text), f)) {
		struct trace_line t;
		struct nv_ioctl io;
		int kind = trace_parse(text, &t);

		EXPECT(kind >= 0);
		if (kind <= 0)
			continue;
		lines++;
		EXPECT(decode(nv_dev_of(t.device), V580, t.request, t.word, t.words * 4, &io));
		EXPECT(io.dev != NV_DEV_NONE);
		controls += io.dev == NV_DEV_RM && io.nr == 0x2a;
		allocs += io.dev == NV_DEV_RM && io.nr == 0x2b;
		maps += io.dev == NV_DEV_RM && io.nr == 0x4e;
		ok += io.status_name && !strcmp(io.status_name, "NV_OK");
		if (io.code_kind != NV_CODE_NONE)
			EXPECT(io.w.has & NV_HAS_CODE);
		if (!(io.w.has & NV_HAS_CODE) || io.code_name)
			continue;
		for (i = 0; i < 4 && unnamed[i] != io.w.code; i++)
			;
		EXPECT(io.code_kind == NV_CODE_CMD && i < 4);
		no_name++;
	}
	if (f)
		fclose(f);
	EXPECT(lines == 475 && controls == 194 && allocs == 122 && maps == 30);
	EXPECT(no_name == 4);
	EXPECT(ok == 363);
	done("a recorded trace: every number but four has its name");
}

static const struct {
	const char *name;
	void (*run)(void);
} all_tests[] = {
	{ "escape_names", test_escape_names },
	{ "uvm_names", test_uvm_names },
	{ "ctrl_names", test_ctrl_names },
	{ "ctrl_versions", test_ctrl_versions },
	{ "other_names", test_other_names },
	{ "tables", test_tables },
	{ "function_names", test_function_names },
	{ "devices", test_devices },
	{ "versions", test_versions },
	{ "control", test_control },
	{ "alloc", test_alloc },
	{ "other_escapes", test_other_escapes },
	{ "short", test_short },
	{ "wrong", test_wrong },
	{ "xfer", test_xfer },
	{ "uvm", test_uvm },
	{ "trace", test_trace },
};

/* [--list | --only PATTERN]: PATTERN is a word of the shell (tests/pick.sh). */
int main(int argc, char **argv)
{
	bool list = argc > 1 && !strcmp(argv[1], "--list");
	const char *only = argc > 2 && !strcmp(argv[1], "--only") ? argv[2] : "";
	char pattern[256];
	unsigned int i;

	snprintf(pattern, sizeof(pattern), "*%s*", only);
	for (i = 0; i < sizeof(all_tests) / sizeof(*all_tests); i++)
		if (list)
			puts(all_tests[i].name);
		else if (!fnmatch(pattern, all_tests[i].name, 0))
			all_tests[i].run();
	if (!list)
		printf("1..%u\n", tests);
	return failures != 0;
}
