// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with NVTX inside, as far as the injection's protocol goes.  It calls each
 * function that the library sets, with every kind of text, and prints what must be recorded
 * ("record"), and what it was answered ("depth", "handle"); or, with the argument "bench",
 * what an annotation costs, and with "threads" it registers texts in many at a time.  With -DTOOL the library of another tool, which says how it was
 * called and answers a number of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/sys.h"
#include "plugins/nvtx/nvtx_abi.h"

/* d: a domain's handle, i: a range's number, s: text, w: wide text, e: attributes. */
#define FUNCTIONS(X)							\
	X(CORE, MARK_EX, "e") X(CORE, MARK_A, "s") X(CORE, MARK_W, "w")	\
	X(CORE, RANGE_START_EX, "e") X(CORE, RANGE_START_A, "s")	\
	X(CORE, RANGE_START_W, "w") X(CORE, RANGE_END, "i")		\
	X(CORE, RANGE_PUSH_EX, "e") X(CORE, RANGE_PUSH_A, "s")		\
	X(CORE, RANGE_PUSH_W, "w") X(CORE, RANGE_POP, "")		\
	X(CORE2, DOMAIN_MARK_EX, "de") X(CORE2, DOMAIN_RANGE_START_EX, "de") \
	X(CORE2, DOMAIN_RANGE_END, "di")				\
	X(CORE2, DOMAIN_RANGE_PUSH_EX, "de") X(CORE2, DOMAIN_RANGE_POP, "d") \
	X(CORE2, DOMAIN_REGISTER_STRING_A, "ds")			\
	X(CORE2, DOMAIN_REGISTER_STRING_W, "dw")			\
	X(CORE2, DOMAIN_CREATE_A, "s") X(CORE2, DOMAIN_CREATE_W, "w")

typedef u64 function(u64 a, u64 b);	/* all of them, as they are called here */

#ifdef TOOL
static u64 say(int index, const char *name, const char *kinds, u64 a, u64 b)
{
	static u64 answers = 100, domains, strings;
	const struct nvtx_attributes *e;

	printf("tool: %s", name);
	for (; *kinds; kinds++, a = b) {
		e = (void *)a;
		if (*kinds == 's')
			printf(" %.50s", a ? (char *)a : "NULL");
		else if (*kinds == 'w')
			printf(" %.50ls", a ? (wchar_t *)a : L"NULL");
		else if (*kinds != 'e')
			printf(" %llu", (unsigned long long)a);
		else if (e)
			printf(" %u %d %u %llu", e->size, e->message_type, e->color,
			       (unsigned long long)e->payload);
	}
	putchar('\n');
	/* The fourth domain has the handle of the first, as if that were gone. */
	if (index >= NVTX_DOMAIN_CREATE_A && strstr(name, "CREATE"))
		return 1 + domains++ % 3;
	/* Strings are numbered as domains are. */
	if (strstr(name, "STRING"))
		return ++strings;
	return ++answers;
}

#define DEFINE(table, name, kinds)					\
	static u64 tool_##name(u64 a, u64 b)				\
	{								\
		return say(NVTX_##name, #name, kinds, a, b);		\
	}
FUNCTIONS(DEFINE)

int InitializeInjectionNvtx2(nvtx_get_table *get)
{
	const struct nvtx_callbacks *c = get(NVTX_TABLE_CALLBACKS);
	nvtx_function ***table;
	unsigned count;

#define SET(module_, name, kinds)					\
	c->module(NVTX_##module_, &table, &count);			\
	*table[NVTX_##name] = (nvtx_function *)tool_##name;
	FUNCTIONS(SET)
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

#define NO_DEPTH	(-2)	/* NVTX_NO_PUSH_POP_TRACKING of its headers */

/* A function's answer as NVTX gives it; none: where no tool has set the function. */
static u64 call(nvtx_function *f, u64 none, const void *a, const void *b)
{
	return f ? ((function *)f)((u64)a, (u64)b) : none;
}

/* What the library must record; it cuts the text. */
static void record(const char *class, const char *format, ...)
{
	static char text[1984 + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("record %s %s\n", class, text);
}

static u64 handle(u64 h)
{
	printf("handle %llu\n", (unsigned long long)h);
	return h;
}

/* A mark, a range that has a number, and one of the stack; domain: NULL for the core's. */
static void three(int index, const void *text, const u64 *domain, const char *recorded)
{
	nvtx_function **f = domain ? core2 : core;
	int first = domain ? NVTX_DOMAIN_MARK_EX : NVTX_MARK_EX;
	int step = domain ? 1 : NVTX_RANGE_START_EX - NVTX_MARK_EX;
	/* After the starts come their end, then the pushes, then their pop. */
	int end = domain ? NVTX_DOMAIN_RANGE_END : NVTX_RANGE_END;
	const void *a = domain ? (void *)*domain : text, *b = domain ? text : NULL;
	const void *d = domain ? (void *)*domain : NULL;
	u64 id;

	call(f[first + index], 0, a, b);
	record("mark", "%s", recorded);
	id = handle(call(f[first + step + index], 0, a, b));
	record("mark", "range %llu begins: %s", (unsigned long long)id, recorded);
	printf("depth %d\n", (int)call(f[end + 1 + index], NO_DEPTH, a, b));
	record("range_push", "%s", recorded);
	call(f[end], 0, domain ? d : (void *)id, domain ? (void *)id : NULL);
	record("mark", "range %llu ends", (unsigned long long)id);
	printf("depth %d\n", (int)call(f[end + 1 + step], NO_DEPTH, d, NULL));
	printf("record range_pop\n");
}

#define WIDE	L"gr\u00fc\u00df \u20ac \U0001f600"
#define UTF8	"gr\u00fc\u00df \u20ac \U0001f600"

/* By attributes: what stands beside the text is not recorded. */
#define MESSAGE(type, text)	{ .version = 3, .size = sizeof(struct nvtx_attributes),	\
	.category = 1, .color_type = 1, .color = 0xff00ff, .payload_type = 1,		\
	.payload = 77, .message_type = type, .message = text }

static void attributes(const u64 *domain, const char *prefix, u64 string, u64 wide)
{
	static char longest[3000];
	struct {
		struct nvtx_attributes a;
		const char *text;
	} messages[] = {
		{ MESSAGE(NVTX_MESSAGE_ASCII, "attributes"), "attributes" },
		{ MESSAGE(NVTX_MESSAGE_ASCII, ""), "" },
		{ MESSAGE(NVTX_MESSAGE_ASCII, NULL), "" },
		{ MESSAGE(NVTX_MESSAGE_ASCII, longest), longest },
		{ MESSAGE(NVTX_MESSAGE_UNICODE, WIDE), UTF8 },
		{ MESSAGE(NVTX_MESSAGE_UNICODE, NULL), "" },
		{ MESSAGE(NVTX_MESSAGE_REGISTERED, (void *)string), "registered" },
		{ MESSAGE(NVTX_MESSAGE_REGISTERED, (void *)wide), UTF8 },
		{ MESSAGE(NVTX_MESSAGE_REGISTERED, (void *)9), "" },
		{ MESSAGE(0, "of no type"), "" },
		{ MESSAGE(NVTX_MESSAGE_REGISTERED + 1, "of an unknown type"), "" },
		{ { .version = 3, .size = 4, .message_type = NVTX_MESSAGE_ASCII,
		    .message = "beyond its size" }, "" },
	};
	static char text[sizeof(longest) + 100];

	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		snprintf(text, sizeof(text), "%s%s", prefix, messages[i].text);
		three(0, &messages[i].a, domain, text);
	}
	three(0, NULL, domain, prefix);
}

static u64 string(u64 domain, const char *s)
{
	return call(core2[NVTX_DOMAIN_REGISTER_STRING_A], 0, (void *)domain, s);
}

/* Texts of which there are too many are given up, those before them are not. */
static void too_many(u64 domain)
{
	struct nvtx_attributes first = MESSAGE(NVTX_MESSAGE_REGISTERED, NULL), last = first;
	char text[32];

	for (int i = 0; i < 5000; i++)
		if (string(domain, "again") != string(domain, "again"))
			printf("record another handle for the same text\n");
	first.message = (void *)string(domain, "first");
	for (int i = 0; i < 70000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		last.message = (void *)string(domain, text);
	}
	printf("record mark cudatrace: no room for more NVTX domains and registered strings: "
	       "ranges and marks with later ones have no text\n");
	three(0, &first, &domain, "again: first");
	three(0, &last, &domain, "again: ");
}

/* Threads that register the same texts at the same time: each text has one handle. */
#define THREADS		8
#define SAME_TEXTS	2000

static u64 same_domain, handles[THREADS][SAME_TEXTS];
static pthread_barrier_t together;

static void *same_texts(void *at)
{
	struct nvtx_attributes a = MESSAGE(NVTX_MESSAGE_REGISTERED, NULL);
	u64 *got = at;
	char text[32];

	pthread_barrier_wait(&together);
	for (int i = 0; i < SAME_TEXTS; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		got[i] = string(same_domain, text);
		a.message = (void *)got[i];
		call(core2[NVTX_DOMAIN_MARK_EX], 0, (void *)same_domain, &a);
	}
	return NULL;
}

static int threads(void)
{
	pthread_t thread[THREADS];

	same_domain = call(core2[NVTX_DOMAIN_CREATE_A], 0, "same", NULL);
	pthread_barrier_init(&together, NULL, THREADS);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, same_texts, handles[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (int t = 1; t < THREADS; t++)
		if (memcmp(handles[t], handles[0], sizeof(handles[0])))
			return 1;
	return 0;
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

#define BENCH_LOOPS	20000

#define BENCH(what, f, none, a, b, ...)					\
	do {								\
		u64 begin = now();					\
									\
		for (int i = 0; i < BENCH_LOOPS; i++) {			\
			call(f, none, a, b);				\
			__VA_ARGS__;					\
		}							\
		printf("%-28s %10.1f ns\n", what, (double)(now() - begin) / BENCH_LOOPS); \
	} while (0)

/* What annotating costs, with as many registered strings as a compiled model has. */
static void bench(void)
{
	struct nvtx_attributes plain = MESSAGE(NVTX_MESSAGE_ASCII, "fusion_123"), known = plain;
	void *domain = (void *)call(core2[NVTX_DOMAIN_CREATE_A], 0, "TSL", NULL);
	static char longest[1500];
	char text[32];

	memset(longest, 'x', sizeof(longest) - 1);
	known.message_type = NVTX_MESSAGE_REGISTERED;
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "fusion_%d", i);
		known.message = (void *)string((u64)domain, text);
	}
	BENCH("NVTX mark", core[NVTX_MARK_A], 0, "a step", NULL);
	BENCH("NVTX push and pop", core[NVTX_RANGE_PUSH_A], 0, "a step", NULL,
	      call(core[NVTX_RANGE_POP], 0, NULL, NULL));
	BENCH("NVTX push of 1,499 bytes", core[NVTX_RANGE_PUSH_A], 0, longest, NULL,
	      call(core[NVTX_RANGE_POP], 0, NULL, NULL));
	BENCH("NVTX domain push and pop", core2[NVTX_DOMAIN_RANGE_PUSH_EX], 0, domain, &plain,
	      call(core2[NVTX_DOMAIN_RANGE_POP], 0, domain, NULL));
	BENCH("NVTX registered string", core2[NVTX_DOMAIN_RANGE_PUSH_EX], 0, domain, &known,
	      call(core2[NVTX_DOMAIN_RANGE_POP], 0, domain, NULL));
	BENCH("NVTX start and end", core[NVTX_RANGE_END], 0,
	      (void *)call(core[NVTX_RANGE_START_A], 0, "a step", NULL), NULL);
}

int main(int argc, char **argv)
{
	u64 domains[4], unknown = 9, none = 0, s, w;

	setlinebuf(stdout);
	start();
	if (argc > 1 && !strcmp(argv[1], "bench")) {
		bench();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "threads"))
		return threads();
	three(1, "plain", NULL, "plain");
	three(1, UTF8, NULL, UTF8);
	three(1, "", NULL, "");
	three(1, NULL, NULL, "");
	three(2, WIDE, NULL, UTF8);
	three(2, L"", NULL, "");
	three(2, NULL, NULL, "");
	domains[0] = handle(call(core2[NVTX_DOMAIN_CREATE_A], 0, "torch", NULL));
	domains[1] = handle(call(core2[NVTX_DOMAIN_CREATE_W], 0, L"caf\u00e9", NULL));
	domains[2] = handle(call(core2[NVTX_DOMAIN_CREATE_A], 0, NULL, NULL));
	s = handle(string(domains[0], "registered"));
	w = handle(call(core2[NVTX_DOMAIN_REGISTER_STRING_W], 0, (void *)domains[0], WIDE));
	attributes(NULL, "", s, w);
	attributes(&none, "", s, w);
	attributes(&unknown, "", s, w);
	attributes(&domains[0], "torch: ", s, w);
	attributes(&domains[1], "caf\u00e9: ", s, w);
	attributes(&domains[2], ": ", s, w);
	domains[3] = handle(call(core2[NVTX_DOMAIN_CREATE_W], 0, L"again", NULL));
	attributes(&domains[3], "again: ", s, w);
	if (getenv("NVTX_MANY"))
		too_many(domains[3]);
	return 0;
}
#endif
