// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with NVTX inside, as far as the injection's protocol goes; with -DTOOL the
 * library of another tool, which counts depths.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "../../userlib/nvtx_abi.h"

#ifdef TOOL
static __thread int depth;

static int push(const char *s)
{
	printf("tool: push %s\n", s);
	return depth++;
}

static int pop(void)
{
	return --depth;
}

static u64 domain(const char *s)
{
	printf("tool: domain %s\n", s);
	return 0x1234;
}

int InitializeInjectionNvtx2(nvtx_get_table *get)
{
	const struct nvtx_callbacks *c = get(NVTX_TABLE_CALLBACKS);
	nvtx_function ***table;
	unsigned count;

	c->module(NVTX_CORE, &table, &count);
	*table[NVTX_RANGE_PUSH_A] = (nvtx_function *)push;
	*table[NVTX_RANGE_POP] = (nvtx_function *)pop;
	c->module(NVTX_CORE2, &table, &count);
	*table[NVTX_DOMAIN_CREATE_A] = (nvtx_function *)domain;
	return 1;
}
#else
static void first_time(void) { abort(); }

static nvtx_function *core[16], *core2[16], **core_table[16], **core2_table[16];

static int module(int m, nvtx_function ****table, unsigned *count)
{
	*table = m == NVTX_CORE ? core_table : m == NVTX_CORE2 ? core2_table : NULL;
	*count = 16;
	return *table != NULL;
}

static const struct nvtx_callbacks callbacks = { sizeof(callbacks), module };

static const void *table(u32 n)
{
	return n == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void start(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *l = path ? dlopen(path, RTLD_LAZY) : NULL;
	nvtx_initialize *init = l ? (nvtx_initialize *)dlsym(l, "InitializeInjectionNvtx2") : NULL;
	int ok;

	for (int i = 1; i < 16; i++) {
		core[i] = core2[i] = first_time;
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	ok = init && init(table);
	for (int i = 1; i < 16; i++) {
		if (!ok || core[i] == first_time)
			core[i] = NULL;
		if (!ok || core2[i] == first_time)
			core2[i] = NULL;
	}
}

#define CALL(table, n, type, ...)	(table[n] ? ((type)table[n])(__VA_ARGS__) : 0)

int main(void)
{
	struct nvtx_attributes a = { .version = 2, .size = sizeof(a),
				     .message_type = NVTX_MESSAGE_ASCII, .message = "attributes" };
	u64 d, s, r;

	start();
	printf("depth %d", core[NVTX_RANGE_PUSH_A] ? CALL(core, NVTX_RANGE_PUSH_A, int (*)(const char *), "forward") : -2);
	printf(" %d\n", core[NVTX_RANGE_PUSH_A] ? CALL(core, NVTX_RANGE_PUSH_A, int (*)(const char *), "layer 1") : -2);
	if (core[NVTX_MARK_W])
		((void (*)(const wchar_t *))core[NVTX_MARK_W])(L"gr\u00fc\u00df \u20ac \U0001f600");
	printf("depth %d\n", core[NVTX_RANGE_POP] ? CALL(core, NVTX_RANGE_POP, int (*)(void)) : -2);
	if (core[NVTX_RANGE_POP])
		CALL(core, NVTX_RANGE_POP, int (*)(void));
	d = CALL(core2, NVTX_DOMAIN_CREATE_A, u64 (*)(const char *), "torch");
	s = CALL(core2, NVTX_DOMAIN_REGISTER_STRING_A, u64 (*)(u64, const char *), d, "registered");
	if (core2[NVTX_DOMAIN_MARK_EX])
		((void (*)(u64, struct nvtx_attributes *))core2[NVTX_DOMAIN_MARK_EX])(d, &a);
	a.message_type = NVTX_MESSAGE_REGISTERED;
	a.message = (void *)s;
	CALL(core2, NVTX_DOMAIN_RANGE_PUSH_EX, int (*)(u64, struct nvtx_attributes *), d, &a);
	CALL(core2, NVTX_DOMAIN_RANGE_POP, int (*)(u64), d);
	a.size = 4;
	CALL(core, NVTX_RANGE_PUSH_EX, int (*)(struct nvtx_attributes *), &a);
	CALL(core, NVTX_RANGE_POP, int (*)(void));
	r = CALL(core, NVTX_RANGE_START_A, u64 (*)(const char *), "async");
	if (core[NVTX_RANGE_END])
		((void (*)(u64))core[NVTX_RANGE_END])(r);
	return 0;
}
#endif
