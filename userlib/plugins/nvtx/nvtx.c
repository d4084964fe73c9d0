// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libcudatrace-nvtx.so: the program's NVTX ranges and marks, as markers of the recording.
 *
 * NVTX loads the library that NVTX_INJECTION64_PATH names; `cudatrace record` puts this one
 * there, and the one that was there before into CUDATRACE_NVTX_NEXT.  That one is called
 * as well, and its answers are what the program gets.
 *
 * Each part of a program that was compiled with NVTX has an instance of it and calls
 * InitializeInjectionNvtx2() for itself; all of them share what follows.
 *
 * A plugin: it writes markers by the functions of <cudatrace/cudatrace.h> and uses nothing
 * else of libcudatrace.so.  Programs annotate in signal handlers, too, and in children that
 * were forked at any time.  So everything but the initialisation takes no lock, allocates
 * nothing and calls of libc only memory and string functions.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "include/cudatrace/cudatrace.h"
#include "plugins/nvtx/names.h"
#include "plugins/nvtx/nvtx_abi.h"

/* Of libcudatrace.so; set before any function below is called. */
static __typeof__(&cudatrace_mark) record_mark, record_push;
static __typeof__(&cudatrace_range_pop) record_pop;

/* The functions of the library behind us; NULL where it has none. */
static nvtx_function *next_core[NVTX_CORE_COUNT], *next_core2[NVTX_CORE2_COUNT];

/* ------------------------------------------------------------- texts ------- */
struct text {
	size_t len;
	char buf[TEXT];
};

static void text_begin(struct text *t)
{
	t->len = 0;
	t->buf[0] = 0;
}

static void text_put(struct text *t, const char *s, size_t n)
{
	if (n > TEXT - 1 - t->len)
		n = TEXT - 1 - t->len;
	memcpy(t->buf + t->len, s, n);
	t->len += n;
	t->buf[t->len] = 0;
}

static void text_put_string(struct text *t, const char *s)
{
	text_put(t, s, strnlen(s, TEXT));
}

/* As UTF-8. */
static void text_put_wide(struct text *t, const wchar_t *wide)
{
	for (const u32 *s = (const u32 *)wide; *s && t->len < TEXT - 1; s++) {
		char c[4];
		int n = *s < 0x80 ? 1 : *s < 0x800 ? 2 : *s < 0x10000 ? 3 : 4;

		for (int i = n - 1; i > 0; i--)
			c[i] = (char)(0x80 | ((*s >> 6 * (n - 1 - i)) & 0x3f));
		c[0] = (char)(n == 1 ? *s : (0xf00u >> n & 0xff) | *s >> 6 * (n - 1));
		text_put(t, c, (size_t)n);
	}
}

static void text_put_number(struct text *t, u64 v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	text_put(t, digits + n, sizeof(digits) - n);
}

/* Of each kind: the text itself, or one that is made in t. */
static const char *text_plain(struct text *t, const char *s)
{
	(void)t;
	return s ? s : "";
}

static const char *text_wide(struct text *t, const wchar_t *s)
{
	text_begin(t);
	if (s)
		text_put_wide(t, s);
	return t->buf;
}

/* "domain: message" */
static const char *text_of(struct text *t, u64 domain, const struct nvtx_attributes *a)
{
	const char *name = names_text(NAME_DOMAIN, domain), *message = NULL;
	const void *given = a && a->size >= sizeof(*a) ? a->message : NULL;
	bool wide = given && a->message_type == NVTX_MESSAGE_UNICODE;

	if (given && a->message_type == NVTX_MESSAGE_ASCII)
		message = given;
	else if (given && a->message_type == NVTX_MESSAGE_REGISTERED)
		message = names_text(NAME_STRING, (u64)given);
	if (!name && !wide)
		return message ? message : "";
	text_begin(t);
	if (name) {
		text_put_string(t, name);
		text_put(t, ": ", 2);
	}
	if (wide)
		text_put_wide(t, given);
	else if (message)
		text_put_string(t, message);
	return t->buf;
}

/* Ranges that begin in one thread and may end in another: two marks with a number. */
static void range_number(struct text *t, u64 id)
{
	text_begin(t);
	text_put_string(t, "range ");
	text_put_number(t, id);
}

static u64 range_begins(u64 id, const char *text)
{
	static u64 last = 1ull << 40;
	struct text t;

	if (!id)
		id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	range_number(&t, id);
	text_put_string(&t, " begins: ");
	text_put_string(&t, text);
	record_mark(t.buf);
	return id;
}

static void range_ends(u64 id)
{
	struct text t;

	range_number(&t, id);
	text_put_string(&t, " ends");
	record_mark(t.buf);
}

/* ------------------------------------------------------ the functions ------ */
/* What the next library's function answers; none if it has no such function. */
#define NEXT(table, n, none, type, args)				\
	(load(&table[n]) ? ((type)load(&table[n])) args : (none))
#define NEXT_VOID(table, n, type, args)					\
	do { if (load(&table[n])) ((type)load(&table[n])) args; } while (0)

typedef const struct nvtx_attributes attributes;

/* A mark, a range that has a number, and one that is pushed, by one kind of text. */
#define MARK_START_PUSH(name, table, MARK, START, PUSH, params, args, made)	\
static void mark_##name params						\
{									\
	struct text t;							\
									\
	NEXT_VOID(table, MARK, void (*) params, args);			\
	record_mark(made);						\
}									\
									\
static u64 start_##name params						\
{									\
	u64 id = NEXT(table, START, 0, u64 (*) params, args);		\
	struct text t;							\
									\
	return range_begins(id, made);					\
}									\
									\
static int push_##name params						\
{									\
	struct text t;							\
									\
	record_push(made);						\
	return NEXT(table, PUSH, NVTX_NO_DEPTH, int (*) params, args);	\
}

MARK_START_PUSH(ex, next_core, NVTX_MARK_EX, NVTX_RANGE_START_EX, NVTX_RANGE_PUSH_EX,
		(attributes *a), (a), text_of(&t, 0, a))
MARK_START_PUSH(a, next_core, NVTX_MARK_A, NVTX_RANGE_START_A, NVTX_RANGE_PUSH_A,
		(const char *s), (s), text_plain(&t, s))
MARK_START_PUSH(w, next_core, NVTX_MARK_W, NVTX_RANGE_START_W, NVTX_RANGE_PUSH_W,
		(const wchar_t *s), (s), text_wide(&t, s))
MARK_START_PUSH(domain, next_core2, NVTX_DOMAIN_MARK_EX, NVTX_DOMAIN_RANGE_START_EX,
		NVTX_DOMAIN_RANGE_PUSH_EX, (u64 d, attributes *a), (d, a), text_of(&t, d, a))

static void end(u64 id)
{
	NEXT_VOID(next_core, NVTX_RANGE_END, void (*)(u64), (id));
	range_ends(id);
}

static void domain_end(u64 d, u64 id)
{
	NEXT_VOID(next_core2, NVTX_DOMAIN_RANGE_END, void (*)(u64, u64), (d, id));
	range_ends(id);
}

static int pop(void)
{
	int depth = NEXT(next_core, NVTX_RANGE_POP, NVTX_NO_DEPTH, int (*)(void), ());

	record_pop();
	return depth;
}

static int domain_pop(u64 d)
{
	int depth = NEXT(next_core2, NVTX_DOMAIN_RANGE_POP, NVTX_NO_DEPTH, int (*)(u64), (d));

	record_pop();
	return depth;
}

static u64 learn(enum name_kind kind, u64 handle, const char *text)
{
	static bool said;
	u64 known = names_learn(kind, handle, text);

	if (!known && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		record_mark("cudatrace: no room for more NVTX domains and registered strings: "
			    "ranges and marks with later ones have no text");
	return known ? known : handle;
}

#define LEARN(name, kind, n, params, args, made)			\
static u64 name params							\
{									\
	u64 handle = NEXT(next_core2, n, 0, u64 (*) params, args);	\
	struct text t;							\
									\
	return learn(kind, handle, made);				\
}

LEARN(string_a, NAME_STRING, NVTX_DOMAIN_REGISTER_STRING_A, (u64 d, const char *s), (d, s),
      text_plain(&t, s))
LEARN(string_w, NAME_STRING, NVTX_DOMAIN_REGISTER_STRING_W, (u64 d, const wchar_t *s), (d, s),
      text_wide(&t, s))
LEARN(domain_a, NAME_DOMAIN, NVTX_DOMAIN_CREATE_A, (const char *s), (s), text_plain(&t, s))
LEARN(domain_w, NAME_DOMAIN, NVTX_DOMAIN_CREATE_W, (const wchar_t *s), (s), text_wide(&t, s))

/* ------------------------------------------------------ initialisation ----- */
#define F(f)	(nvtx_function *)f

static nvtx_function *const core[NVTX_CORE_COUNT] = {
	[NVTX_MARK_EX] = F(mark_ex), [NVTX_MARK_A] = F(mark_a), [NVTX_MARK_W] = F(mark_w),
	[NVTX_RANGE_START_EX] = F(start_ex), [NVTX_RANGE_START_A] = F(start_a),
	[NVTX_RANGE_START_W] = F(start_w), [NVTX_RANGE_END] = F(end),
	[NVTX_RANGE_PUSH_EX] = F(push_ex), [NVTX_RANGE_PUSH_A] = F(push_a),
	[NVTX_RANGE_PUSH_W] = F(push_w), [NVTX_RANGE_POP] = F(pop),
};

static nvtx_function *const core2[NVTX_CORE2_COUNT] = {
	[NVTX_DOMAIN_MARK_EX] = F(mark_domain), [NVTX_DOMAIN_RANGE_START_EX] = F(start_domain),
	[NVTX_DOMAIN_RANGE_END] = F(domain_end), [NVTX_DOMAIN_RANGE_PUSH_EX] = F(push_domain),
	[NVTX_DOMAIN_RANGE_POP] = F(domain_pop),
	[NVTX_DOMAIN_REGISTER_STRING_A] = F(string_a),
	[NVTX_DOMAIN_REGISTER_STRING_W] = F(string_w),
	[NVTX_DOMAIN_CREATE_A] = F(domain_a), [NVTX_DOMAIN_CREATE_W] = F(domain_w),
};

/* A module's functions by index, as NVTX keeps them; count: how many there are. */
static nvtx_function ***slots_of(const struct nvtx_callbacks *c, int module, unsigned *count)
{
	nvtx_function ***slots = NULL;

	*count = 0;
	if (!c || c->size < sizeof(*c) || !c->module(module, &slots, count) || !slots)
		*count = 0;
	return slots;
}

/* What stands there before anybody has set anything. */
static void look(const struct nvtx_callbacks *c, int module, unsigned ours_count,
		 nvtx_function **before)
{
	unsigned count;
	nvtx_function ***slots = slots_of(c, module, &count);

	for (unsigned i = 1; i < ours_count && i < count; i++)
		before[i] = slots[i] ? *slots[i] : NULL;
}

/* The library behind us has set what it wants: our functions call it, and are set. */
static void take_over(const struct nvtx_callbacks *c, int module, nvtx_function *const *ours,
		      nvtx_function **next, unsigned ours_count, nvtx_function **before)
{
	unsigned count;
	nvtx_function ***slots = slots_of(c, module, &count);

	for (unsigned i = 1; i < ours_count && i < count; i++) {
		nvtx_function **slot = slots[i];

		if (!ours[i] || !slot)
			continue;
		if (before[i] && *slot != before[i] && *slot != ours[i])
			store(&next[i], *slot);
		*slot = ours[i];
	}
}

/* Not the versions of new C libraries, so that older ones load us too. */
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");

static nvtx_initialize *next_library(void)
{
	const char *path = getenv("CUDATRACE_NVTX_NEXT");
	void *handle = path && *path ? dlopen(path, RTLD_LAZY) : NULL;

	return handle ? (nvtx_initialize *)dlsym(handle, "InitializeInjectionNvtx2") : NULL;
}

/*
 * By its name: the one that is loaded already (preloaded, or injected by libcuda), else that
 * beside us (DT_RUNPATH), which libcuda injects later.  False if nothing is recorded.
 */
static bool find_recorder(void)
{
	const char *backend = getenv("CUDATRACE_SINK");
	void *lib = NULL;

	if (!backend || strcmp(backend, "none"))
		lib = dlopen("libcudatrace.so", RTLD_NOW);
	if (!lib)
		return false;
	store(&record_mark, (__typeof__(record_mark))dlsym(lib, "cudatrace_mark"));
	store(&record_push, (__typeof__(record_push))dlsym(lib, "cudatrace_range_push"));
	store(&record_pop, (__typeof__(record_pop))dlsym(lib, "cudatrace_range_pop"));
	return record_mark && record_push && record_pop;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table *get);

int InitializeInjectionNvtx2(nvtx_get_table *get)
{
	nvtx_function *before[NVTX_CORE_COUNT] = { 0 }, *before2[NVTX_CORE2_COUNT] = { 0 };
	const struct nvtx_callbacks *c = get(NVTX_TABLE_CALLBACKS);
	nvtx_initialize *next = next_library();
	int answer = 0;

	look(c, NVTX_CORE, NVTX_CORE_COUNT, before);
	look(c, NVTX_CORE2, NVTX_CORE2_COUNT, before2);
	if (next && next != InitializeInjectionNvtx2)
		answer = next(get);
	if (!c || c->size < sizeof(*c) || !find_recorder())
		return answer;
	take_over(c, NVTX_CORE, core, next_core, NVTX_CORE_COUNT, before);
	take_over(c, NVTX_CORE2, core2, next_core2, NVTX_CORE2_COUNT, before2);
	return 1;
}
