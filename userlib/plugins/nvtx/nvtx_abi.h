/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface between NVTX (version 3, which lies in the program) and an injected
 * library, as far as it is used here: numbers and layouts of its public protocol.
 *
 * NVTX loads the library that NVTX_INJECTION64_PATH names and calls its
 * InitializeInjectionNvtx2() with a function that gives tables by number.  Table 1
 * gives, for a module, an array of pointers to function pointers, which the library
 * sets; what nobody sets does nothing.
 */
#ifndef CT_NVTX_ABI_H
#define CT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_TABLE_CALLBACKS	1u

typedef void nvtx_function(void);
typedef const void *nvtx_get_table(uint32_t table);
typedef int nvtx_initialize(nvtx_get_table *get);

struct nvtx_callbacks {
	size_t size;
	/* table: an array of pointers to function pointers */
	int (*module)(int module, nvtx_function ****table, unsigned *count);
};

/* Modules, and the functions in each by index. */
enum { NVTX_CORE = 1, NVTX_CORE2 = 5 };
enum {
	NVTX_MARK_EX = 1, NVTX_MARK_A, NVTX_MARK_W, NVTX_RANGE_START_EX, NVTX_RANGE_START_A,
	NVTX_RANGE_START_W, NVTX_RANGE_END, NVTX_RANGE_PUSH_EX, NVTX_RANGE_PUSH_A,
	NVTX_RANGE_PUSH_W, NVTX_RANGE_POP, NVTX_CORE_COUNT,
};
enum {
	NVTX_DOMAIN_MARK_EX = 1, NVTX_DOMAIN_RANGE_START_EX, NVTX_DOMAIN_RANGE_END,
	NVTX_DOMAIN_RANGE_PUSH_EX, NVTX_DOMAIN_RANGE_POP,
	NVTX_DOMAIN_REGISTER_STRING_A = 10, NVTX_DOMAIN_REGISTER_STRING_W,
	NVTX_DOMAIN_CREATE_A, NVTX_DOMAIN_CREATE_W, NVTX_CORE2_COUNT,
};

/* What describes a mark or a range; size tells how much of it there is. */
struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_REGISTERED };

/* What a push gives back when no tool keeps count. */
#define NVTX_NO_DEPTH	(-2)

#endif
