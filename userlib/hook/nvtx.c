// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ranges and marks that the program makes by NVTX, into the trace as its own markers.
 * A library that was to be injected before us (CUDATRACE_NVTX_NEXT) is, and is called
 * first; what it answers is what the program gets.
 *
 * Each part of a program that was compiled with NVTX has an instance of it and calls
 * InitializeInjectionNvtx2() for itself; all of them share what follows.
 */
#include <dlfcn.h>

#include "base/elf.h"
#include "call/mark.h"
#include "hook/nvtx_abi.h"
#include "base/options.h"
#include "base/process.h"

#define TEXT	CT_RECORD_MAX	/* more than a mark takes, which says that it has cut it */

/* The functions of the library behind us; NULL where it has none. */
static nvtx_function *next_core[NVTX_CORE_COUNT], *next_core2[NVTX_CORE2_COUNT];

/* ---------------------------------------------------- names of handles ----- */
/* Domains and registered strings: the program holds handles of them. */
#define NAMES	4096
static struct name {
	u64 handle;
	const char *text;
} names[NAMES];
static u32 used;		/* under the process's lock */

static const char *name_of(u64 handle)
{
	u32 n = ct_load(&used);

	for (u32 i = 0; handle && i < n; i++)
		if (names[i].handle == handle)
			return ct_load(&names[i].text);
	return NULL;
}

/*
 * Gives the handle; one of our own where the library behind us gave none: the same for the
 * same text, which a program may register as often as it likes.  The other library's may
 * come again for something else.
 */
static u64 learn(u64 handle, const char *text)
{
	u64 mask = ct_lock();
	bool full = false;
	char *copy;
	u32 i = 0;

	while (i < used && (handle ? names[i].handle != handle :
			    names[i].handle != (u64)names[i].text || strcmp(names[i].text, text)))
		i++;
	if (i < used && !strcmp(names[i].text, text)) {
		handle = names[i].handle;
	} else if (i < NAMES && (copy = ct_map_private(4096))) {
		struct ct_text t = { copy, 4096, 0 };

		ct_put(&t, text);
		if (!handle)
			handle = (u64)copy;
		names[i].handle = handle;
		ct_store(&names[i].text, copy);
		if (i == used)
			ct_store(&used, i + 1);
	} else {
		full = true;
	}
	ct_unlock(mask);
	if (full)
		ct_say_once(CT_ONCE_NAMES, "more NVTX domains and registered strings than 4096: "
			    "later ones are recorded without their text, from ", text);
	return handle;
}

/* ------------------------------------------------------------- texts ------- */
static void put_wide(struct ct_text *t, const u32 *s)
{
	for (; *s; s++) {
		char c[4];
		int n = *s < 0x80 ? 1 : *s < 0x800 ? 2 : *s < 0x10000 ? 3 : 4;

		for (int i = n - 1; i > 0; i--)
			c[i] = (char)(0x80 | ((*s >> 6 * (n - 1 - i)) & 0x3f));
		c[0] = (char)(n == 1 ? *s : (0xf00u >> n & 0xff) | *s >> 6 * (n - 1));
		ct_put_n(t, c, (size_t)n);
	}
}

/* "domain: message" */
static void describe(struct ct_text *t, u64 domain, const struct nvtx_attributes *a)
{
	const char *name = name_of(domain);

	if (name) {
		ct_put(t, name);
		ct_put(t, ": ");
	}
	if (!a || a->size < sizeof(*a) || !a->message)
		return;
	if (a->message_type == NVTX_MESSAGE_ASCII)
		ct_put(t, a->message);
	else if (a->message_type == NVTX_MESSAGE_UNICODE)
		put_wide(t, a->message);
	else if (a->message_type == NVTX_MESSAGE_REGISTERED && name_of((u64)a->message))
		ct_put(t, name_of((u64)a->message));
}

#define TEXT_OF(t, domain, a)						\
	char t##_buf[TEXT];						\
	struct ct_text t = { t##_buf, TEXT, 0 };			\
	t##_buf[0] = 0;							\
	describe(&t, (u64)(domain), a)

#define WIDE(t, s)							\
	char t##_buf[TEXT];						\
	struct ct_text t = { t##_buf, TEXT, 0 };			\
	t##_buf[0] = 0;							\
	if (s)								\
		put_wide(&t, (const u32 *)(s))

/* Ranges that begin in one thread and may end in another: two marks with a number. */
static u64 start(u64 id, const char *text)
{
	static u64 last = 1ull << 40;
	char buf[TEXT + 64];
	struct ct_text t = { buf, sizeof(buf), 0 };

	if (!id)
		id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	ct_put(&t, "range ");
	ct_put_u(&t, id);
	ct_put(&t, " begins: ");
	ct_put(&t, text);
	cudatrace_mark(buf);
	return id;
}

static void stop(u64 id)
{
	char buf[64];
	struct ct_text t = { buf, sizeof(buf), 0 };

	ct_put(&t, "range ");
	ct_put_u(&t, id);
	ct_put(&t, " ends");
	cudatrace_mark(buf);
}

/* ------------------------------------------------------ the functions ------ */
#define NEXT(table, n, type, ...)					\
	(ct_load(&table[n]) ? ((type)ct_load(&table[n]))(__VA_ARGS__) : 0)
#define NEXT_VOID(table, n, type, ...)					\
	do { if (ct_load(&table[n])) ((type)ct_load(&table[n]))(__VA_ARGS__); } while (0)
#define NEXT_DEPTH(table, n, type, ...)					\
	(ct_load(&table[n]) ? ((type)ct_load(&table[n]))(__VA_ARGS__) : NVTX_NO_DEPTH)

typedef const struct nvtx_attributes attributes;

static void mark_ex(attributes *a)
{
	TEXT_OF(t, 0, a);
	NEXT_VOID(next_core, NVTX_MARK_EX, void (*)(attributes *), a);
	cudatrace_mark(t.buf);
}

static void mark_a(const char *s)
{
	NEXT_VOID(next_core, NVTX_MARK_A, void (*)(const char *), s);
	cudatrace_mark(s ? s : "");
}

static void mark_w(const wchar_t *s)
{
	WIDE(t, s);
	NEXT_VOID(next_core, NVTX_MARK_W, void (*)(const wchar_t *), s);
	cudatrace_mark(t.buf);
}

static u64 start_ex(attributes *a)
{
	TEXT_OF(t, 0, a);
	return start(NEXT(next_core, NVTX_RANGE_START_EX, u64 (*)(attributes *), a), t.buf);
}

static u64 start_a(const char *s)
{
	return start(NEXT(next_core, NVTX_RANGE_START_A, u64 (*)(const char *), s), s ? s : "");
}

static u64 start_w(const wchar_t *s)
{
	WIDE(t, s);
	return start(NEXT(next_core, NVTX_RANGE_START_W, u64 (*)(const wchar_t *), s), t.buf);
}

static void end(u64 id)
{
	NEXT_VOID(next_core, NVTX_RANGE_END, void (*)(u64), id);
	stop(id);
}

static int push_ex(attributes *a)
{
	TEXT_OF(t, 0, a);
	cudatrace_range_push(t.buf);
	return NEXT_DEPTH(next_core, NVTX_RANGE_PUSH_EX, int (*)(attributes *), a);
}

static int push_a(const char *s)
{
	cudatrace_range_push(s ? s : "");
	return NEXT_DEPTH(next_core, NVTX_RANGE_PUSH_A, int (*)(const char *), s);
}

static int push_w(const wchar_t *s)
{
	WIDE(t, s);
	cudatrace_range_push(t.buf);
	return NEXT_DEPTH(next_core, NVTX_RANGE_PUSH_W, int (*)(const wchar_t *), s);
}

static int pop(void)
{
	int depth = NEXT_DEPTH(next_core, NVTX_RANGE_POP, int (*)(void));

	cudatrace_range_pop();
	return depth;
}

static void domain_mark(u64 d, attributes *a)
{
	TEXT_OF(t, d, a);
	NEXT_VOID(next_core2, NVTX_DOMAIN_MARK_EX, void (*)(u64, attributes *), d, a);
	cudatrace_mark(t.buf);
}

static u64 domain_start(u64 d, attributes *a)
{
	TEXT_OF(t, d, a);
	return start(NEXT(next_core2, NVTX_DOMAIN_RANGE_START_EX, u64 (*)(u64, attributes *), d,
			  a), t.buf);
}

static void domain_end(u64 d, u64 id)
{
	NEXT_VOID(next_core2, NVTX_DOMAIN_RANGE_END, void (*)(u64, u64), d, id);
	stop(id);
}

static int domain_push(u64 d, attributes *a)
{
	TEXT_OF(t, d, a);
	cudatrace_range_push(t.buf);
	return NEXT_DEPTH(next_core2, NVTX_DOMAIN_RANGE_PUSH_EX, int (*)(u64, attributes *), d, a);
}

static int domain_pop(u64 d)
{
	int depth = NEXT_DEPTH(next_core2, NVTX_DOMAIN_RANGE_POP, int (*)(u64), d);

	cudatrace_range_pop();
	return depth;
}

static u64 string_a(u64 d, const char *s)
{
	return learn(NEXT(next_core2, NVTX_DOMAIN_REGISTER_STRING_A, u64 (*)(u64, const char *), d,
			  s), s ? s : "");
}

static u64 string_w(u64 d, const wchar_t *s)
{
	WIDE(t, s);
	return learn(NEXT(next_core2, NVTX_DOMAIN_REGISTER_STRING_W,
			  u64 (*)(u64, const wchar_t *), d, s), t.buf);
}

static u64 domain_a(const char *s)
{
	return learn(NEXT(next_core2, NVTX_DOMAIN_CREATE_A, u64 (*)(const char *), s), s ? s : "");
}

static u64 domain_w(const wchar_t *s)
{
	WIDE(t, s);
	return learn(NEXT(next_core2, NVTX_DOMAIN_CREATE_W, u64 (*)(const wchar_t *), s), t.buf);
}

#define F(f)	(nvtx_function *)f

static nvtx_function *const core[NVTX_CORE_COUNT] = {
	[NVTX_MARK_EX] = F(mark_ex), [NVTX_MARK_A] = F(mark_a), [NVTX_MARK_W] = F(mark_w),
	[NVTX_RANGE_START_EX] = F(start_ex), [NVTX_RANGE_START_A] = F(start_a),
	[NVTX_RANGE_START_W] = F(start_w), [NVTX_RANGE_END] = F(end),
	[NVTX_RANGE_PUSH_EX] = F(push_ex), [NVTX_RANGE_PUSH_A] = F(push_a),
	[NVTX_RANGE_PUSH_W] = F(push_w), [NVTX_RANGE_POP] = F(pop),
};

static nvtx_function *const core2[NVTX_CORE2_COUNT] = {
	[NVTX_DOMAIN_MARK_EX] = F(domain_mark), [NVTX_DOMAIN_RANGE_START_EX] = F(domain_start),
	[NVTX_DOMAIN_RANGE_END] = F(domain_end), [NVTX_DOMAIN_RANGE_PUSH_EX] = F(domain_push),
	[NVTX_DOMAIN_RANGE_POP] = F(domain_pop),
	[NVTX_DOMAIN_REGISTER_STRING_A] = F(string_a),
	[NVTX_DOMAIN_REGISTER_STRING_W] = F(string_w),
	[NVTX_DOMAIN_CREATE_A] = F(domain_a), [NVTX_DOMAIN_CREATE_W] = F(domain_w),
};

/* The library behind us sets what it wants; it is that which we call, and are set. */
static void take_over(const struct nvtx_callbacks *c, int module, nvtx_function *const *ours,
		      nvtx_function **next, unsigned ours_count, nvtx_function **before)
{
	nvtx_function ***slots = NULL;
	unsigned count = 0;

	if (!c->module(module, &slots, &count) || !slots)
		return;
	for (unsigned i = 1; i < ours_count && i < count; i++) {
		nvtx_function **slot = slots[i];

		if (!ours[i] || !slot)
			continue;
		if (before[i] && *slot != before[i] && *slot != ours[i])
			ct_store(&next[i], *slot);
		*slot = ours[i];
	}
}

/* What stands there before anybody has set anything. */
static void look(const struct nvtx_callbacks *c, int module, unsigned ours_count,
		 nvtx_function **before)
{
	nvtx_function ***slots = NULL;
	unsigned count = 0;

	if (!c->module(module, &slots, &count) || !slots)
		return;
	for (unsigned i = 1; i < ours_count && i < count; i++)
		before[i] = slots[i] ? *slots[i] : NULL;
}

static nvtx_initialize *next_library(void)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))ct_find_any("dlopen");
	void *(*sym)(void *, const char *) = (void *(*)(void *, const char *))ct_find_any("dlsym");
	void *handle;

	if (!*ct_options.nvtx_next || !open || !sym)
		return NULL;
	handle = open(ct_options.nvtx_next, RTLD_LAZY);
	return handle ? (nvtx_initialize *)sym(handle, "InitializeInjectionNvtx2") : NULL;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table *get);

int InitializeInjectionNvtx2(nvtx_get_table *get)
{
	nvtx_function *before[NVTX_CORE_COUNT] = { 0 }, *before2[NVTX_CORE2_COUNT] = { 0 };
	const struct nvtx_callbacks *c = get(NVTX_TABLE_CALLBACKS);
	nvtx_initialize *next = next_library();
	int answer = 0;

	if (c && c->size >= sizeof(*c)) {
		look(c, NVTX_CORE, NVTX_CORE_COUNT, before);
		look(c, NVTX_CORE2, NVTX_CORE2_COUNT, before2);
	}
	if (next && next != InitializeInjectionNvtx2)
		answer = next(get);
	if (!c || c->size < sizeof(*c) || !ct_ready)
		return answer;
	take_over(c, NVTX_CORE, core, next_core, NVTX_CORE_COUNT, before);
	take_over(c, NVTX_CORE2, core2, next_core2, NVTX_CORE2_COUNT, before2);
	return 1;
}
